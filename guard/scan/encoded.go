package scan

import (
	"bytes"
	"unicode/utf8"
)

// Shortest runs that are looked at as text in an encoding.
const (
	shortBase64 = 20
	shortHex    = 24
	shortGroups = 6
)

// decodeAt decodes a run of base64, hexadecimal, binary or single letters that
// begins at src[i] and reads as text; size 0 if there is none. It writes to buf
// as far as that has room.
func decodeAt(src []byte, i int, buf []byte) (text []byte, size int, name string) {
	if !letterOrDigit(src[i]) || src[i] == '_' || i > 0 && base64Byte[src[i-1]] {
		return nil, 0, ""
	}
	if text, size := spaced(src, i, buf[:0]); size > 0 {
		return text, size, "spaced"
	}
	if !behindGroup(src, i, 8, 2) {
		if size := groups(src[i:], 8, 2); size > 0 {
			return ungroup(buf[:0], src[i:i+size], 8, 2), size, "binary"
		}
	}
	if !behindGroup(src, i, 2, 16) {
		if size := groups(src[i:], 2, 16); size > 0 {
			if text := ungroup(buf[:0], src[i:i+size], 2, 16); readable(text) {
				return text, size, "hex"
			}
		}
	}
	return decodeRun(src[i:], buf[:0])
}

// decodeRun decodes a run without spaces that src begins with.
func decodeRun(src, buf []byte) (text []byte, size int, name string) {
	end, hexadecimal := 0, true
	for end < len(src) && base64Byte[src[end]] {
		hexadecimal = hexadecimal && digit(src[end]) >= 0
		end++
	}
	if hexadecimal && end >= shortHex && end%2 == 0 && readableHex(src[:16]) {
		if text := ungroup(buf, src[:end], 2, 16); readable(text) {
			return text, end, "hex"
		}
	}
	if end < shortBase64 || !readableStart(src) {
		return nil, 0, ""
	}
	text, end = buf, 0
	v, n, line := uint32(0), 0, 0
	for ; end < len(src); end++ {
		if !base64Byte[src[end]] {
			next := nextLine(src, end)
			if line < fullLine || line%4 != 0 || next == 0 {
				break
			}
			end, line = next, 0
		}
		v = v<<6 | uint32(sextet(src[end]))
		switch n % 4 {
		case 1:
			text = append(text, byte(v>>4)) //nolint:gosec // the byte there
		case 2:
			text = append(text, byte(v>>2)) //nolint:gosec // the byte there
		case 3:
			text = append(text, byte(v)) //nolint:gosec // the byte there
		}
		n++
		line++
	}
	if !readable(text) {
		return text, 0, "" // the room that was made for it can be used again
	}
	for pad := 0; end < len(src) && src[end] == '=' && pad < 3; pad++ {
		end++
	}
	return text, end, "base64"
}

// fullLine is how long lines of base64 are at least that are broken.
const fullLine = 60

// nextLine is where a line of base64 goes on behind a line break at src[at], or 0.
func nextLine(src []byte, at int) int {
	if at < len(src) && src[at] == '\r' {
		at++
	}
	if at+1 >= len(src) || src[at] != '\n' || !base64Byte[src[at+1]] {
		return 0
	}
	return at + 1
}

// base64Byte: of the alphabets of base64.
var base64Byte = base64Bytes() //nolint:gochecknoglobals // a table that nothing changes, read for each byte

func base64Bytes() (is [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		is[c] = true
	}
	return is
}

// readableStart reports whether the first 16 bytes of a run can be the base64
// of text. It takes no memory: most runs are names and paths.
func readableStart(src []byte) bool {
	if len(src) < 16 {
		return false
	}
	var v uint32
	for i, c := range src[:16] {
		v = v<<6 | uint32(sextet(c))
		if i%4 == 3 {
			for shift := 16; shift >= 0; shift -= 8 {
				if b := byte(v >> shift); b < ' ' && b != '\n' && b != '\t' && b != '\r' || b == 0x7f || b >= 0xf5 { //nolint:gosec // the byte there
					return false
				}
			}
			v = 0
		}
	}
	return true
}

func sextet(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c - 'A'
	case 'a' <= c && c <= 'z':
		return c - 'a' + 26
	case '0' <= c && c <= '9':
		return c - '0' + 52
	case c == '+' || c == '-':
		return 62
	default:
		return 63
	}
}

func readableHex(src []byte) bool {
	for i := 0; i+1 < len(src); i += 2 {
		if b := digit(src[i])<<4 | digit(src[i+1]); b < ' ' && b != '\n' && b != '\t' && b != '\r' || b >= 0x7f {
			return false
		}
	}
	return true
}

// readable: valid, and nearly all letters and what stands between words.
func readable(text []byte) bool {
	if len(text) < shortGroups || !utf8.Valid(text) {
		return false
	}
	odd := 0
	for _, b := range text {
		if b < ' ' && b != '\n' && b != '\t' && b != '\r' || b == 0x7f {
			return false
		}
		if b < utf8.RuneSelf && b > ' ' && !wordByte(b) && b != '.' && b != ',' && b != '\'' {
			odd++
		}
	}
	return odd*3 <= len(text)
}

// groups is the size of a run of at least six groups of digits, one space
// apart, at the start of src; else 0.
func groups(src []byte, digits, base int) int {
	at, count := 0, 0
	for {
		if _, ok := number(src, at, digits, base); !ok {
			break
		}
		count++
		at += digits
		if at+1 >= len(src) || src[at] != ' ' {
			break
		}
		at++
	}
	if at > 0 && at <= len(src) && src[at-1] == ' ' {
		at--
	}
	if count < shortGroups || at < len(src) && (wordByte(src[at]) || digit(src[at]) >= 0) {
		return 0
	}
	// Text has spaces; tables of numbers do not.
	blank := []byte("00100000")
	if base == 16 {
		blank = []byte(" 20 ")
	}
	if !bytes.Contains(src[:at], blank) {
		return 0
	}
	return at
}

// behindGroup reports whether another group stands before src[i]: a run begins
// with its first.
func behindGroup(src []byte, i, digits, base int) bool {
	at := i - 1 - digits
	if at < 0 || src[i-1] != ' ' || at > 0 && letterOrDigit(src[at-1]) {
		return false
	}
	_, ok := number(src, at, digits, base)
	return ok
}

// ungroup reads digits as bytes, with or without spaces between.
func ungroup(out, src []byte, digits, base int) []byte {
	for at := 0; at < len(src); {
		if src[at] == ' ' {
			at++
			continue
		}
		v, ok := number(src, at, digits, base)
		if !ok {
			break
		}
		out = append(out, byte(v)) //nolint:gosec // at most 255
		at += digits
	}
	return out
}

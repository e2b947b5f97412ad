package secret

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escape is what stands at one place of a text for something else.
type escape struct {
	bytes uint32 // what it stands for, the first byte lowest
	n     int    // how many bytes that is
	size  int    // of the escape; 0: it is none; negative: the text ends before that is known
}

func (e escape) byte(i int) byte { return byte(e.bytes >> (8 * i)) } //nolint:gosec // one of them

// unfinished is an escape that the text ends in.
const unfinished = -1

// meant is what a backslash and a letter stand for in JSON, Go and C; 0: nothing.
func meant(c byte) byte {
	switch c {
	case '\\', '"', '/', '\'':
		return c
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'a':
		return '\a'
	case 'v':
		return '\v'
	}
	return 0
}

// read reads an escape at the beginning of s, which is what it begins with: a
// backslash or a percent sign.
func read(s string, way byte) escape {
	if len(s) < 2 {
		return escape{size: unfinished}
	}
	if way == '%' {
		v, state := hexNumber(s[1:], 2)
		return single(v, state, 3)
	}
	if b := meant(s[1]); b != 0 {
		return escape{bytes: uint32(b), n: 1, size: 2}
	}
	return backslash(s)
}

// backslash reads an escape of JSON, Go or C at the beginning of s, which is a
// backslash.
func backslash(s string) escape {
	if len(s) < 2 {
		return escape{size: unfinished}
	}
	switch c := s[1]; c {
	case 'u':
		return pairOf(s)
	case 'U':
		const most = 0x10ffff
		v, state := hexNumber(s[2:], 8)
		if state > 0 && v > most {
			state = 0
		}
		return character(v, state, 10)
	case 'x':
		v, state := hexNumber(s[2:], 2)
		return single(v, state, 4)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return octal(s)
	default:
		if b := meant(c); b != 0 {
			return escape{bytes: uint32(b), n: 1, size: 2}
		}
		return escape{}
	}
}

// hexNumber reads a number of so many hex digits. The state is that of the size
// of an escape.
func hexNumber(s string, digits int) (v rune, state int) {
	for i := range digits {
		if i >= len(s) {
			return 0, unfinished
		}
		d := hexDigit(s[i])
		if d < 0 {
			return 0, 0
		}
		v = v<<4 | d
	}
	return v, 1
}

func hexDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// single is an escape of one byte.
func single(v rune, state, size int) escape {
	if state <= 0 {
		return escape{size: state}
	}
	return escape{bytes: uint32(v) & 0xff, n: 1, size: size} //nolint:gosec // it is not negative
}

// character is an escape of one character; half a pair becomes U+FFFD.
func character(v rune, state, size int) escape {
	if state <= 0 {
		return escape{size: state}
	}
	var b [4]byte
	n := utf8.EncodeRune(b[:], v)
	return escape{binary.LittleEndian.Uint32(b[:]), n, size}
}

// pairOf is \uXXXX, or a pair of them.
func pairOf(s string) escape {
	v, state := hexNumber(s[2:], 4)
	if state <= 0 || v < 0xd800 || v >= 0xdc00 {
		return character(v, state, 6)
	}
	rest := s[6:]
	if len(rest) < 2 && strings.HasPrefix(`\u`, rest) {
		return escape{size: unfinished}
	}
	if strings.HasPrefix(rest, `\u`) {
		low, state := hexNumber(rest[2:], 4)
		switch {
		case state < 0:
			return escape{size: unfinished}
		case state > 0 && 0xdc00 <= low && low < 0xe000:
			return character(utf16.DecodeRune(v, low), 1, 12)
		}
	}
	return character(v, 1, 6)
}

// octal is one to three digits, as C has them.
func octal(s string) escape {
	v, i := rune(0), 1
	for ; i < 4; i++ {
		if i == len(s) {
			return escape{size: unfinished}
		}
		if s[i] < '0' || s[i] > '7' || v<<3 > 0xff {
			break
		}
		v = v<<3 | rune(s[i]-'0')
	}
	return single(v, 1, i)
}

// endsOpen reads an escape again that the text ended in, now that no more comes.
func endsOpen(s string) escape {
	if s[0] != '\\' || len(s) < 2 {
		return escape{}
	}
	switch {
	case s[1] >= '0' && s[1] <= '7': // with fewer digits
		return octal(s + " ")
	case s[1] == 'u' && len(s) >= 6: // half a pair
		v, state := hexNumber(s[2:], 4)
		return character(v, state, 6)
	}
	return escape{}
}

package flow

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is compared in one form: letters and digits, escapes undone, case gone. Both
// sides are brought to it, so that a copy is found whichever of them is encoded, and
// whatever signs stand between its letters.

// form is a text in that form. at has for each byte the offset in the original
// that it comes from, and one more for the end; nil: nobody asked.
type form struct {
	text string
	at   []int32
}

// span is where bytes i to j of the form stand in the original.
func (f form) span(i, j int) (start, end int) {
	return int(f.at[i]), int(f.at[j])
}

// rounds of escapes that are undone: an address within an address is twice.
const escapeRounds = 4

// formOf brings a text to its form.
func formOf(s string, offsets bool) form {
	s, at := unescape(s, offsets)
	return fold(s, at)
}

// fold drops what can be changed without changing what a text says: case, white
// space, signs, characters that show nothing.
func fold(s string, at []int32) form {
	b := make([]byte, 0, len(s))
	if at == nil { // most are, and ASCII
		b = b[:len(s)]
		n, i := 0, 0
		for ; i < len(s) && s[i] < utf8.RuneSelf; i++ {
			c := foldByte(s[i])
			b[n] = c
			n += int((uint(c) + 0xff) >> 8) // 1 but for 0: what is dropped is hard to foresee
		}
		if b = b[:n]; i == len(s) {
			return form{text: string(b)}
		}
		return foldFrom(s[i:], nil, b)
	}
	return foldFrom(s, at, b)
}

// foldFrom is fold behind what is folded already.
func foldFrom(s string, at []int32, b []byte) form {
	var to []int32
	if at != nil {
		to = make([]int32, 0, len(s)+1)
	}
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c = foldByte(c); c != 0 {
				b = append(b, c)
				if at != nil {
					to = append(to, at[i])
				}
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r = foldRune(r); r >= 0 {
			before := len(b)
			b = utf8.AppendRune(b, r)
			for n := before; at != nil && n < len(b); n++ {
				to = append(to, at[i])
			}
		}
		i += size
	}
	if at != nil {
		to = append(to, at[len(s)])
	}
	return form{string(b), to}
}

// foldByte is foldRune for ASCII; 0: not at all.
func foldByte(c byte) byte { return folded[c&0x7f] }

// folded has what foldByte says of each byte, as results are read byte by byte.
const folded = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"0123456789\x00\x00\x00\x00\x00\x00" +
	"\x00abcdefghijklmnopqrstuvwxyz\x00\x00\x00\x00\x00" +
	"\x00abcdefghijklmnopqrstuvwxyz\x00\x00\x00\x00\x00"

// foldRune is a character as it is compared; below 0: not at all.
func foldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if c := foldByte(byte(r)); c != 0 { //nolint:gosec // it is ASCII
			return rune(c)
		}
		return -1
	case 0xFF01 <= r && r <= 0xFF5E: // ASCII in full width
		return foldRune(r - 0xFEE0)
	case !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != utf8.RuneError:
		return -1
	}
	return unicode.ToLower(r)
}

// unescape undoes the escapes of JSON, addresses and HTML. Without offsets at is
// nil.
func unescape(s string, offsets bool) (text string, at []int32) {
	if offsets {
		at = make([]int32, len(s)+1)
		for i := range at {
			at[i] = int32(i)
		}
	}
	for range escapeRounds {
		if !escapes(s) {
			break
		}
		before := len(s)
		if s, at = unescapeOnce(s, at); len(s) == before {
			break // there was none
		}
	}
	return s, at
}

// escapes reports whether a text may hold one.
func escapes(s string) bool {
	return strings.IndexByte(s, '\\') >= 0 || strings.IndexByte(s, '%') >= 0 || strings.IndexByte(s, '&') >= 0
}

func unescapeOnce(s string, at []int32) (string, []int32) {
	var b strings.Builder
	b.Grow(len(s))
	var to []int32
	for i := 0; i < len(s); {
		text, size := unescapeAt(s[i:])
		before := b.Len()
		b.WriteString(text)
		for n := before; at != nil && n < b.Len(); n++ {
			to = append(to, at[i])
		}
		i += size
	}
	if at != nil {
		to = append(to, at[len(s)])
	}
	return b.String(), to
}

// unescapeAt reads one character, and how many bytes it is written in.
func unescapeAt(s string) (text string, size int) {
	switch {
	case s[0] == '%' && len(s) >= 3:
		if n, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
			return string([]byte{byte(n)}), 3
		}
	case s[0] == '\\' && len(s) >= 2:
		switch s[1] {
		case 'n', 'r', 't', 'b', 'f':
			return " ", 2
		case '"', '\\', '/', '\'':
			return s[1:2], 2
		case 'x':
			if len(s) >= 4 {
				if n, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
					return string([]byte{byte(n)}), 4
				}
			}
		case 'u':
			if len(s) >= 6 {
				if n, err := strconv.ParseUint(s[2:6], 16, 16); err == nil {
					return string(rune(n)), 6
				}
			}
		}
	case s[0] == '&':
		if end := strings.IndexByte(s[:min(len(s), 12)], ';'); end > 1 {
			if text := html.UnescapeString(s[:end+1]); text != s[:end+1] {
				return text, end + 1
			}
		}
	}
	return s[:1], 1
}

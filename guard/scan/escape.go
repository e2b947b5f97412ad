package scan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// escaped gives the character that an entity, a JSON escape or a percent
// encoding at the start of src stands for, and its size; 0 if there is none.
func escaped(src []byte) (rune, int) {
	switch src[0] {
	case '\\':
		return backslash(src)
	case '&':
		return entity(src)
	default:
		return percent(src)
	}
}

// backslash reads an escape behind any number of backslashes: text that was
// quoted twice has two.
func backslash(src []byte) (rune, int) {
	i := 0
	for i < len(src) && i < 8 && src[i] == '\\' {
		i++
	}
	if i == len(src) {
		return 0, 0
	}
	switch src[i] {
	case 'n', 'r':
		return '\n', i + 1
	case 't':
		return ' ', i + 1
	case '"', '\'', '/':
		return rune(src[i]), i + 1
	case 'x':
		if r, ok := hex(src, i+1, 2); ok {
			return r, i + 3
		}
	case 'u':
		r, ok := hex(src, i+1, 4)
		if !ok {
			return 0, 0
		}
		if utf16.IsSurrogate(r) {
			j := i + 5
			for j < len(src) && j < i+13 && src[j] == '\\' {
				j++
			}
			if j > i+5 && j < len(src) && src[j] == 'u' {
				if low, ok := hex(src, j+1, 4); ok {
					if r := utf16.DecodeRune(r, low); r != utf8.RuneError {
						return r, j + 5
					}
				}
			}
		}
		return r, i + 5
	}
	return 0, 0
}

// entity reads a character reference. Of those with names it knows the ones
// that hide something or that quoting makes.
func entity(src []byte) (rune, int) {
	end := bytes.IndexByte(src[:min(len(src), 12)], ';')
	if end < 3 {
		return 0, 0
	}
	name := src[1:end]
	if name[0] == '#' {
		base, digits := 10, name[1:]
		if digits[0] == 'x' || digits[0] == 'X' {
			base, digits = 16, digits[1:]
		}
		digits = bytes.TrimPrefix(digits, []byte("+"))
		v, ok := number(digits, 0, len(digits), base)
		if !ok || v <= 0 || v > utf8.MaxRune {
			return 0, 0
		}
		return rune(v), end + 1
	}
	r := rune(0)
	var buf [tagName]byte
	switch string(lowered(buf[:0], name)) {
	case "amp":
		r = '&'
	case "lt":
		r = '<'
	case "gt":
		r = '>'
	case "quot":
		r = '"'
	case "apos":
		r = '\''
	case "nbsp", "tab":
		r = ' '
	case "newline":
		r = '\n'
	case "shy", "zwnj", "zwj", "lrm", "rlm":
		r = 0xad
	default:
		return 0, 0
	}
	return r, end + 1
}

// percent reads one character in percent encoding, of up to four bytes.
func percent(src []byte) (rune, int) {
	var enc [utf8.UTFMax]byte
	for n := range enc {
		v, ok := hex(src, 3*n+1, 2)
		if !ok || src[3*n] != '%' {
			return 0, 0
		}
		enc[n] = byte(v) //nolint:gosec // two digits
		if utf8.FullRune(enc[:n+1]) {
			r, size := utf8.DecodeRune(enc[:n+1])
			if r == utf8.RuneError || size != n+1 {
				return 0, 0
			}
			return r, 3 * (n + 1)
		}
	}
	return 0, 0
}

// hex reads hexadecimal digits at src[at:].
func hex(src []byte, at, digits int) (rune, bool) {
	v, ok := number(src, at, digits, 16)
	return rune(v), ok //nolint:gosec // at most four digits
}

// number reads digits at src[at:].
func number(src []byte, at, digits, base int) (int, bool) {
	if at+digits > len(src) {
		return 0, false
	}
	v := 0
	for _, c := range src[at : at+digits] {
		d := digit(c)
		if d < 0 || d >= base {
			return 0, false
		}
		v = v*base + d
	}
	return v, true
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}

// insideWord is the size of a comment or of inline markup that parts a word at
// src[i], or 0.
func insideWord(src []byte, i int) int {
	if i == 0 || !wordByte(src[i-1]) {
		return 0
	}
	at := i
	for at < len(src) && at-i < 128 && src[at] == '<' {
		rest := src[at:min(len(src), at+72)]
		size := 0
		if bytes.HasPrefix(rest, []byte("<!--")) {
			if end := bytes.Index(rest, []byte("-->")); end > 0 {
				size = end + 3
			}
		} else {
			size = inline(rest)
		}
		if size == 0 {
			break
		}
		at += size
	}
	if at == i || at >= len(src) || !wordByte(src[at]) {
		return 0
	}
	return at - i
}

// inline is the size of a tag that does not part words, or 0.
func inline(src []byte) int {
	end := bytes.IndexByte(src, '>')
	if end < 2 {
		return 0
	}
	name := bytes.TrimPrefix(src[1:end], []byte("/"))
	if cut := bytes.IndexByte(name, ' '); cut > 0 {
		name = name[:cut]
	}
	var buf [tagName]byte
	switch string(lowered(buf[:0], bytes.TrimSuffix(name, []byte("/")))) {
	case "b", "i", "u", "em", "strong", "span", "font", "wbr", "mark", "small", "s":
		return end + 1
	default:
		return 0
	}
}

// tagName is how long names of entities and tags are that are known.
const tagName = 8

// lowered is a name in lower case, as far as there is room for it.
func lowered(buf, name []byte) []byte {
	if len(name) > cap(buf) {
		return nil
	}
	for _, b := range name {
		buf = append(buf, lower(b))
	}
	return buf
}

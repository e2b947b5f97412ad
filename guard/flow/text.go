package flow

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is compared in one form: escapes undone, case and white space gone. Both
// sides are brought to it, so that a copy is found whichever of them is encoded.

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
const escapeRounds = 2

// formOf brings a text to its form.
func formOf(s string, offsets bool) form {
	s, at := unescape(s, offsets)
	return fold(s, at)
}

// fold drops what can be changed without changing what a text says: case, white
// space, characters that show nothing, + as forms write a space.
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
	"\x00!\"#$%&'()*\x00,-./0123456789:;<=>?" +
	"@abcdefghijklmnopqrstuvwxyz[\\]^_" +
	"`abcdefghijklmnopqrstuvwxyz{|}~\x00"

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
	case unicode.IsSpace(r) || unicode.Is(unicode.C, r) || unicode.Is(unicode.Mn, r):
		return -1
	case r == '‘' || r == '’':
		return '\''
	case r == '“' || r == '”':
		return '"'
	case '‐' <= r && r <= '―':
		return '-'
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
		s, at = unescapeOnce(s, at)
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

// hidden is text that stands encoded in another, and where.
type hidden struct {
	text       string
	start, end int
}

// minEncoded is the shortest run that is taken for encoded text.
const minEncoded = 12

// encoded finds runs of base64 and hexadecimal digits that decode to text.
func encoded(s string) []hidden {
	var all []hidden
	for i := 0; i+minEncoded <= len(s); {
		// From the end of what must be a run: most words are shorter, and are left
		// out without a look at each letter.
		k := i + minEncoded - 1
		for k >= i && codeByte(s[k]) {
			k--
		}
		if k >= i {
			i = k + 1
			continue
		}
		start := i
		for i += minEncoded; i < len(s) && codeByte(s[i]); {
			i++
		}
		if text, ok := decoded(s[start:i]); ok {
			all = append(all, hidden{text, start, i})
			continue
		}
		// The parts of an address are joined by / and -, which are digits too.
		for from := start; from < i; {
			to := from
			for to < i && s[to] != '/' && s[to] != '-' && s[to] != '_' {
				to++
			}
			if to-from >= minEncoded {
				if text, ok := decoded(s[from:to]); ok {
					all = append(all, hidden{text, from, to})
				}
			}
			from = to + 1
		}
	}
	return all
}

// codeByte reports whether a byte is a digit of base64 or hexadecimal.
func codeByte(c byte) bool {
	// A bit for each of + - / 0 to 9, then one for each of A to Z, _ and a to z.
	const low, high = 0x3ffa80000000000, 0x7fffffe87fffffe
	bits := uint64(low)
	if c >= 64 {
		bits = high
	}
	return c < utf8.RuneSelf && bits>>(c&63)&1 != 0
}

func decoded(run string) (string, bool) {
	if len(run)%2 == 0 && strings.Trim(run, "0123456789abcdefABCDEF") == "" {
		if b, err := hex.DecodeString(run); err == nil && readable(b) {
			return string(b), true
		}
	}
	if len(run)%4 == 1 {
		run = run[:len(run)-1] // cut
	}
	code := base64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		code = base64.RawURLEncoding
	}
	var first [3 * minEncoded / 4]byte
	if n, err := code.Decode(first[:], []byte(run[:minEncoded/4*4])); err != nil || !begins(first[:n]) {
		return "", false // most words end here, and cost nothing
	}
	b, err := code.DecodeString(run)
	if err != nil || !readable(b) {
		return "", false
	}
	return string(b), true
}

// begins reports whether bytes are text that may be cut within a character.
func begins(b []byte) bool {
	for len(b) > 0 && utf8.FullRune(b) {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
		b = b[size:]
	}
	return true
}

// readable reports whether bytes are text: ordinary words, read as base64, are not.
func readable(b []byte) bool {
	if len(b) > 3 && !utf8.Valid(b) {
		b = b[:len(b)-3] // a character that was cut
	}
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

package secret

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A text may have been written down in ways that can be undone, one after
// another; how is that list, with the one to undo first at its beginning: 'j' for
// the escapes of a JSON string (and those of Go and C that look the same), 'u' for
// those of a URL. "": the text is read as it stands.

// hows are the ways that are looked for beside "".
func hows() [8]string { return [...]string{"j", "u", "jj", "ju", "uj", "uu", "jjj", "juu"} }

// reader reads a text that more may be coming of.
type reader struct {
	text  string
	final bool // nothing more is coming
}

// unit is what is read at one place of a text: a character, or a byte.
type unit struct {
	b    [4]byte
	n    int8 // how many of them; 0: the text ends before it is known
	next int  // place behind it
}

// unit reads at p, where a text of what is more than one way is read by undoing
// all but the last of them first. An escape that is none is the character that it
// begins with.
func (r *reader) unit(p int, how string) unit {
	if p >= len(r.text) {
		return unit{}
	}
	if c := r.text[p]; how == "" || c != '\\' && c != '%' {
		return unit{b: [4]byte{c}, n: 1, next: p + 1}
	}
	inner, way := how[:len(how)-1], how[len(how)-1]
	u := r.unit(p, inner)
	if u.n != 1 {
		return u
	}
	var e unit
	known := true
	switch {
	case way == 'u' && u.b[0] == '%':
		e, known = r.hexByte(u.next, inner)
	case way == 'j' && u.b[0] == '\\':
		e, known = r.escape(u.next, inner)
	default:
		return u
	}
	switch {
	case known && e.n > 0:
		return e
	case known || r.final:
		return u
	}
	return unit{} // the text ends in it
}

// hexByte is a byte that two hex digits at p stand for. It is known, perhaps to be
// none, unless the text ends before.
func (r *reader) hexByte(p int, how string) (u unit, known bool) {
	v, next, known := r.hex(p, 2, how)
	if next < 0 {
		return unit{}, known
	}
	return unit{b: [4]byte{byte(v)}, n: 1, next: next}, true //nolint:gosec // two digits are a byte
}

// hex is a number of so many hex digits; next is negative where there is none.
func (r *reader) hex(p, digits int, how string) (v rune, next int, known bool) {
	for range digits {
		u := r.unit(p, how)
		if u.n == 0 {
			return 0, -1, false
		}
		d := hexDigit(u.b[0])
		if u.n != 1 || d < 0 {
			return 0, -1, true
		}
		v, p = v<<4|d, u.next
	}
	return v, p, true
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

// escape is what stands for a backslash and what is behind it, at p.
func (r *reader) escape(p int, how string) (u unit, known bool) {
	e := r.unit(p, how)
	if e.n != 1 {
		return unit{}, e.n > 0
	}
	const letters, meant = `nrtbf"\/'`, "\n\r\t\b\f\"\\/'"
	switch c := e.b[0]; c {
	case 'u':
		return r.unicode(e.next, how)
	case 'x':
		return r.hexByte(e.next, how)
	default:
		i := strings.IndexByte(letters, c)
		if i < 0 {
			return unit{}, true
		}
		return unit{b: [4]byte{meant[i]}, n: 1, next: e.next}, true
	}
}

// unicode is the character of \uXXXX, or of a pair of them, behind the u.
func (r *reader) unicode(p int, how string) (u unit, known bool) {
	v, next, known := r.hex(p, 4, how)
	if next < 0 {
		return unit{}, known
	}
	if 0xd800 <= v && v < 0xdc00 {
		low, after, known := r.lowHalf(next, how)
		switch {
		case !known && !r.final:
			return unit{}, false
		case after >= 0:
			v, next = utf16.DecodeRune(v, low), after
		}
	}
	u.n, u.next = int8(utf8.EncodeRune(u.b[:], v)), next //nolint:gosec // at most 4; half a pair becomes U+FFFD
	return u, true
}

// lowHalf is the second of a pair.
func (r *reader) lowHalf(p int, how string) (v rune, next int, known bool) {
	for _, want := range []byte(`\u`) {
		u := r.unit(p, how)
		if u.n == 0 {
			return 0, -1, false
		}
		if u.n != 1 || u.b[0] != want {
			return 0, -1, true
		}
		p = u.next
	}
	v, next, known = r.hex(p, 4, how)
	if next >= 0 && (v < 0xdc00 || v >= 0xe000) {
		next = -1
	}
	return v, next, known
}

// maxBreak is how many characters a line break within an encoded value has at
// most, with those that the next line is set in by.
const maxBreak = 32

// unbroken reads at p, behind a line break if there is one.
func (r *reader) unbroken(p int, how string) unit {
	u := r.unit(p, how)
	if u.n != 1 || u.b[0] != '\n' && u.b[0] != '\r' {
		return u
	}
	for range maxBreak {
		if u.n != 1 || u.b[0] != '\n' && u.b[0] != '\r' && u.b[0] != ' ' && u.b[0] != '\t' {
			return u
		}
		u = r.unit(u.next, how)
	}
	return u
}

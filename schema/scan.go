package schema

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// walker reads JSON text once, from left to right. A part that several
// schemas apply to is read once for each.
type walker struct {
	s      string
	i      int
	depth  int // of schemas that apply to the same text
	levels int // of arrays and objects that may still be entered
	fuel   int // bytes that may be read again; bounds what unions cost
}

func (w *walker) space() {
	for w.i < len(w.s) {
		switch w.s[w.i] {
		case ' ', '\n', '\t', '\r':
			w.i++
		default:
			return
		}
	}
}

func (w *walker) literal(word string) bool {
	if !strings.HasPrefix(w.s[w.i:], word) {
		return false
	}
	w.i += len(word)
	return true
}

// more reads what follows a member or item: a comma, or the end.
func (w *walker) more(end byte) (more, ok bool) {
	if w.space(); w.i >= len(w.s) {
		return false, false
	}
	c := w.s[w.i]
	w.i++
	if c == end {
		return false, true
	}
	w.space()
	return true, c == ','
}

// name reads a member's name that has no escapes.
func (w *walker) name() (string, bool) {
	if w.i >= len(w.s) || w.s[w.i] != '"' {
		return "", false
	}
	start := w.i + 1
	_, escaped, ok := w.scan()
	return w.s[start:max(start, w.i-1)], ok && !escaped
}

// scan reads a string and counts its characters, eight bytes at a time where
// they are plain.
func (w *walker) scan() (count int, escaped, ok bool) {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	s, i := w.s, w.i+1
	start, beyond := i, 0 // beyond: bytes that are not characters of their own
	for {
		for i+8 <= len(s) {
			x := load(s, i)
			// A byte's high bit is set here if it is a quote, a backslash, a
			// control character or not ASCII; below the first such byte none is.
			m := (((x ^ 0x22*ones) - ones) | ((x ^ 0x5c*ones) - ones) | (x - 0x20*ones) | x) & highs
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(s) {
			return w.bad(i)
		}
		switch c := s[i]; {
		case c == '"':
			w.i = i + 1
			return i - start - beyond, escaped, true
		case c == '\\':
			n := escape(s, i)
			if n == 0 {
				return w.bad(i)
			}
			escaped = true
			i += n
			beyond += n - 1
		case c < 0x20:
			return w.bad(i)
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				return w.bad(i)
			}
			i += n
			beyond += n - 1
		}
	}
}

// bad ends a scan at i, so that what it read counts.
func (w *walker) bad(i int) (count int, escaped, ok bool) {
	w.i = i
	return 0, false, false
}

func load(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// escape is the length of the escape at s[i], 0 if it is bad or one half of a
// surrogate pair.
func escape(s string, i int) int {
	if i+1 >= len(s) {
		return 0
	}
	switch s[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if i+6 > len(s) {
			return 0
		}
		for _, c := range []byte(s[i+2 : i+6]) {
			digit, letter := '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'f'
			if !digit && !letter {
				return 0
			}
		}
		if s[i+2]|0x20 == 'd' && s[i+3]|0x20 >= '8' {
			return 0
		}
		return 6
	}
	return 0
}

// digits reads a number; whole is whether it has neither point nor exponent.
func (w *walker) digits() (whole, ok bool) {
	s, i := w.s, w.i
	if i < len(s) && s[i] == '-' {
		i++
	}
	first := i
	w.i = digitsFrom(s, first)
	if w.i == first || s[first] == '0' && w.i > first+1 {
		return false, false
	}
	whole = true
	if w.i < len(s) && s[w.i] == '.' {
		whole = false
		from := w.i + 1
		if w.i = digitsFrom(s, from); w.i == from {
			return false, false
		}
	}
	if w.i < len(s) && s[w.i]|0x20 == 'e' {
		whole = false
		if w.i++; w.i < len(s) && (s[w.i] == '+' || s[w.i] == '-') {
			w.i++
		}
		from := w.i
		if w.i = digitsFrom(s, from); w.i == from {
			return false, false
		}
	}
	return whole, true
}

func digitsFrom(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

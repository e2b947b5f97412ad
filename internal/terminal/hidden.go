package terminal

import (
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"golang.org/x/text/unicode/bidi"
)

// reader goes through a text and knows what the next character stands beside.
type reader struct {
	base  rune // what marks would stand on; 0: nothing
	marks int  // those that stand on it
	left  bool // the last letter is written from right to left
}

// most is how many marks a letter has in the scripts that people write.
const most = 2

// hides reports whether a character cannot be seen as what it is where it
// stands.
func (r *reader) hides(c rune) bool {
	switch {
	case c < utf8.RuneSelf:
		return hidden(c)
	case jamo(c):
		return r.marks >= most || hidden(c) || !unicode.Is(unicode.Hangul, r.base)
	case unicode.Is(unicode.M, c):
		return r.base == 0 || r.marks >= most || hidden(c) || overlay(c)
	}
	return hidden(c)
}

// turns reports whether a character would change places with the letters before
// it, in a terminal that writes them from right to left. After such a phrase
// nothing may follow up to the next letter from left to right but signs, which
// stay where they are.
func (r *reader) turns(c rune, rest string) bool {
	if !r.left || c == ' ' || leftward(c) || unicode.Is(unicode.M, c) || rightward(c) {
		return false
	}
	for _, c := range rest {
		switch {
		case leftward(c) || digit(c):
			return true
		case rightward(c) || hidden(c): // the latter is written with letters
			return false
		}
	}
	return false
}

// next takes a character that is written as it is.
func (r *reader) next(c rune) {
	switch {
	case unicode.Is(unicode.M, c) || jamo(c):
		r.marks++
		return
	case c == ' ' || c == '\n':
		r.base, r.marks = 0, 0
	default:
		r.base, r.marks = c, 0
	}
	if leftward(c) || rightward(c) {
		r.left = leftward(c)
	}
}

// hidden reports whether a character cannot be seen as what it is wherever it
// stands: controls, formats such as those of direction, other spaces than the
// one, line ends, fillers and blanks, what only changes how its neighbour looks,
// characters that belong to nobody.
func hidden(c rune) bool {
	switch {
	case c < utf8.RuneSelf:
		return c < ' ' || c == 0x7f
	case c == utf8.RuneError || blank(c):
		return true
	case !unicode.IsGraphic(c) || unicode.In(c, unicode.Zs, unicode.Cf, unicode.Co, unicode.Me,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Regional_Indicator):
		return true
	}
	return !unicode.Is(unicode.M, c) && lipgloss.Width(string(c)) == 0
}

// blank reports whether a character counts as a sign or a letter and shows
// nothing, or changes the one before it.
func blank(c rune) bool {
	switch c {
	case '\u2800', // an empty braille cell
		'\u303F',                   // half a space
		'\uFFFC',                   // the place of an object
		'\U0001D159',               // a note without a head
		'\U00013441', '\U00013442', // empty hieroglyphs
		'\U00016FE4': // a filler
		return true
	}
	return c >= '\U0001F3FB' && c <= '\U0001F3FF' // colours of skin
}

// overlay reports whether a mark strikes its letter out.
func overlay(c rune) bool {
	switch {
	case c >= '\u0334' && c <= '\u0338', c == '\u20D2', c == '\u20D3', c >= '\u20D8' && c <= '\u20DA',
		c == '\u20E5', c == '\u20E6', c == '\u20EA', c == '\u20EB', c == '\U0001BC9E':
		return true
	}
	return false
}

// jamo reports whether a character is the middle or the end of a syllable in
// Hangul, which takes no room of its own.
func jamo(c rune) bool {
	return c >= '\u1160' && c <= '\u11FF' || c >= '\uD7B0' && c <= '\uD7FF'
}

// leftward reports whether a character is written from right to left.
func leftward(c rune) bool {
	if c < utf8.RuneSelf {
		return false
	}
	switch class(c) {
	case bidi.R, bidi.AL, bidi.AN:
		return true
	default:
		return false
	}
}

// rightward reports whether a character is written from left to right wherever
// it stands. Digits are not.
func rightward(c rune) bool { return class(c) == bidi.L }

func digit(c rune) bool { return class(c) == bidi.EN }

func class(c rune) bidi.Class {
	p, _ := bidi.LookupRune(c)
	return p.Class()
}

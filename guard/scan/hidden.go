package scan

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// hide adds findings for invisible text.
func (w *scratch) hide(text []byte) {
	eachInvisible(text, func(u unseen) {
		if u.rule != "" {
			w.add(Finding{Rule: u.rule, Family: Hidden, Start: w.base + u.start, End: w.base + u.end})
		}
	})
}

// unseen is a run of characters that show nothing and that no script or emoji
// needs.
type unseen struct {
	start, end int
	// rule names why it is a finding; where that is empty, the run is only good
	// for stripping.
	rule string
	// apart: on both sides are bytes that are no characters. Side by side they
	// might become one, be it one that shows nothing.
	apart bool
}

// strip is what stands in place of the run when it is taken out.
func (u *unseen) strip() string {
	if u.apart {
		return string(utf8.RuneError)
	}
	return ""
}

// eachInvisible calls fn for each run. A run is kept or goes as a whole: so what is
// left is kept the next time, too.
func eachInvisible(text []byte, fn func(unseen)) {
	before := rune(0)
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			for i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&highest == 0 {
				i += 8
			}
			for i < len(text) && text[i] < utf8.RuneSelf {
				i++
			}
			before = rune(text[i-1])
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if !invisible(r) {
			if before = r; size == 1 {
				before = broken
			}
			i += size
			continue
		}
		var c census
		start := i
		for i < len(text) {
			r, size := utf8.DecodeRune(text[i:])
			if !invisible(r) {
				break
			}
			c.count(r)
			i += size
		}
		after := rune(0)
		if i < len(text) {
			if after, size = utf8.DecodeRune(text[i:]); size == 1 && after == utf8.RuneError {
				after = broken
			}
		}
		if !c.needed(before, after) {
			fn(unseen{start, i, c.rule(before, after), before == broken && after == broken})
		}
	}
}

// broken is no character, but a byte of none.
const broken rune = -1

// census is what a run of invisible characters is made of.
type census struct {
	all, tags, overrides, variations, zero int
	first, last                            rune
}

func (c *census) count(r rune) {
	c.all++
	if c.all == 1 {
		c.first = r
	}
	c.last = r
	switch {
	case isTag(r):
		c.tags++
	case r == 0x202d || r == 0x202e:
		c.overrides++
	case variation(r):
		c.variations++
	case 0x200b <= r && r <= 0x200d || r == 0x2060 || r == 0xfeff:
		c.zero++
	}
}

// needed reports whether a script or an emoji is written so.
func (c *census) needed(before, after rune) bool {
	joiner := c.last == 0x200c || c.last == 0x200d
	switch {
	case before == 0x1f3f4 && c.tags == c.all && c.last == tagBase+0x7f:
		return 3 <= c.all && c.all <= 8 // the flag of a region
	case c.all == 2 && c.variations == 1 && joiner:
		return pictograph(before) && pictograph(after)
	case c.all > 1 || c.tags > 0 || c.overrides > 0:
		return false
	case c.variations == 1:
		return before > ' '
	case joiner:
		return joined(before, after)
	default: // marks of direction, fillers
		return rightToLeft(before) || rightToLeft(after) || shaped(before) ||
			unicode.Is(unicode.Hangul, before) || unicode.Is(unicode.Hangul, after)
	}
}

func rightToLeft(r rune) bool {
	return r >= 0x590 && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// rule names what is wrong with a run, or "".
func (c *census) rule(before, after rune) string {
	inWord := before < utf8.RuneSelf && after < utf8.RuneSelf && unicode.IsLetter(before) && unicode.IsLetter(after)
	switch {
	case c.tags > 0:
		return "hidden-tags"
	case c.overrides > 0:
		return "hidden-direction"
	case c.variations > 2:
		return "hidden-variations"
	case c.zero > 0 && inWord || c.zero > 3:
		return "hidden-zero-width"
	default:
		return ""
	}
}

package scan

import "unicode"

// tagBase is what a tag character is above the ASCII character it repeats.
const tagBase = 0xe0000

func isTag(r rune) bool { return tagBase <= r && r <= tagBase+0x7f }

// zeroWidth: joins, parts or orders what stands around it, and shows nothing.
func zeroWidth(r rune) bool {
	switch {
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r == 0xfeff:
		return true
	case 0x180b <= r && r <= 0x180f, 0x200b <= r && r <= 0x200f, 0x2060 <= r && r <= 0x2065, 0x206a <= r && r <= 0x206f, 0xfff0 <= r && r <= 0xfffb:
		return true
	default:
		return false
	}
}

// direction: turns the order in which a person reads.
func direction(r rune) bool { return 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 }

// variation: chooses a form of the character before it.
func variation(r rune) bool { return 0xfe00 <= r && r <= 0xfe0f || 0xe0100 <= r && r <= 0xe01ef }

func invisible(r rune) bool {
	return r >= 0xad && (zeroWidth(r) || direction(r) || variation(r) || isTag(r))
}

// joined reports whether a joiner or non-joiner between two characters is part
// of how they are written.
func joined(before, after rune) bool {
	return pictograph(before) && pictograph(after) || shaped(before) && (shaped(after) || after == 0 || unicode.IsSpace(after) || unicode.IsPunct(after))
}

func pictograph(r rune) bool {
	return 0x1f000 <= r && r <= 0x1faff || 0x2190 <= r && r <= 0x2bff || 0x3030 <= r && r <= 0x303d
}

// shaped: of a script in which joining is spelling.
func shaped(r rune) bool {
	return r >= 0x600 && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Thaana)
}

package mcptool

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// runes gives each character of a text, and what is wrong with it where a person
// does not see it; "": nothing.
func runes(text string, f func(r rune, size int, what string)) {
	coded := codedBlanks(text)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		var what string
		switch {
		case r == utf8.RuneError && size == 1:
			what = "is no character"
		case r == '\r' && !strings.HasPrefix(text[i+size:], "\n"):
			what = "is a control character"
		case coded && oddBlank(r):
			what = "is one of several kinds of blanks, which tell a program more than a person"
		default:
			if what = concealed(r); what != "" && needed(text, i, size, r) {
				what = ""
			}
		}
		f(r, size, what)
		i += size
	}
}

// concealed says what is wrong with a character that a person does not see, or that
// changes how others are seen; "": nothing.
func concealed(r rune) string {
	switch {
	case r == '\n', r == '\t', r == '\r', ' ' <= r && r <= '~':
		return ""
	case 0xE0000 <= r && r <= 0xE007F:
		return "is a tag character, which only programs see"
	case r == 0x061C, r == 0x200E, r == 0x200F, 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069:
		return "changes the direction of the text"
	case unicode.Is(unicode.Cc, r):
		return "is a control character"
	case 0x200B <= r && r <= 0x200D, r == 0x2060, r == 0xFEFF:
		return "has no width"
	// Characters that are to be ignored where they are not known, of the whole range
	// that is set aside for them too; and a sign of Braille without dots.
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point, unicode.Other_Default_Ignorable_Code_Point),
		0xE0000 <= r && r <= 0xE0FFF, 0xFFF0 <= r && r <= 0xFFF8, r == 0x2800:
		return "cannot be seen"
	}
	return ""
}

// oddBlank reports whether a character is a blank that is not the usual one.
func oddBlank(r rune) bool { return r != ' ' && unicode.Is(unicode.Zs, r) }

// codedBlanks reports whether a text has blanks of more kinds than writing needs. One
// or two beside the usual one are common (before a sign in French, between words in
// Japanese); with more, each can stand for something.
func codedBlanks(text string) bool {
	const most = 2
	var kinds []rune
	for _, r := range text {
		if r < utf8.RuneSelf || !oddBlank(r) {
			continue
		}
		if !strings.ContainsRune(string(kinds), r) {
			if kinds = append(kinds, r); len(kinds) > most {
				return true
			}
		}
	}
	return false
}

// needed reports whether a script or an emoji needs such a character where it stands:
// it is a part of how that is written then, and carries nothing.
func needed(text string, at, size int, r rune) bool {
	before, after := text[:at], text[at+size:]
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case r == 0xFE0E, r == 0xFE0F: // a symbol as text, or as an emoji
		return pictured(last) || next == 0x20E3 && last < utf8.RuneSelf && (unicode.IsDigit(last) || last == '#' || last == '*')
	case r == 0x200D:
		return (pictured(last) || last == 0xFE0F) && pictured(next) || joined(last)
	case r == 0x200C:
		return joined(last)
	case r == 0x200B: // where a line may be broken, in scripts without blanks
		return unbroken(last) && unbroken(next)
	case r == 0x200E, r == 0x200F, r == 0x061C:
		return concealed(last) == "" && (leftward(before, true) || leftward(after, false))
	case r == 0xFEFF: // how some editors begin a file
		return at == 0
	case 0x180B <= r && r <= 0x180F:
		return unicode.Is(unicode.Mongolian, last) && unicode.IsLetter(last)
	case 0xE0020 <= r && r <= 0xE007F:
		return inFlag(before, string(r)+after)
	}
	return false
}

// inFlag reports whether a tag character between these texts is a part of one of the
// three flags that are written with them.
func inFlag(before, after string) bool {
	const black, longest = "\U0001F3F4", 32
	before = before[max(0, len(before)-longest):]
	i := strings.LastIndex(before, black)
	if i < 0 {
		return false
	}
	whole := before[i+len(black):] + after
	for _, land := range []string{"gbeng", "gbsct", "gbwls"} {
		var b strings.Builder
		for _, c := range land {
			b.WriteRune(0xE0000 + c)
		}
		b.WriteRune(0xE007F)
		if tags := b.String(); strings.HasPrefix(whole, tags) && len(before)-i-len(black) < len(tags) {
			return true
		}
	}
	return false
}

// pictured reports whether a character is a picture, or the colour of one, or one that
// is drawn as text or as a picture.
func pictured(r rune) bool {
	switch r {
	case 0xA9, 0xAE, 0x203C, 0x2049, 0x2139, 0x2934, 0x2935, 0x3030, 0x303D:
		return true
	}
	return r > 0xFF && unicode.Is(unicode.So, r) || 0x1F3FB <= r && r <= 0x1F3FF || 0x2190 <= r && r <= 0x21FF || 0x25A0 <= r && r <= 0x27BF
}

// joined reports whether a letter belongs to a script whose letters are joined, or
// kept apart, by characters without width.
func joined(r rune) bool {
	return concealed(r) == "" && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
		unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar)
}

// unbroken reports whether a letter belongs to a script that has no blanks between
// words.
func unbroken(r rune) bool {
	return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// leftward reports whether a text ends, or begins, with a letter that is written from
// right to left, but for a few signs and blanks.
func leftward(text string, ends bool) bool {
	const few = 3
	for range few + 1 {
		r, size := utf8.DecodeRuneInString(text)
		if ends {
			r, size = utf8.DecodeLastRuneInString(text)
		}
		switch {
		case size == 0, concealed(r) != "":
			return false
		case unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko):
			return true
		case unicode.IsLetter(r):
			return false
		}
		if ends {
			text = text[:len(text)-size]
		} else {
			text = text[size:]
		}
	}
	return false
}

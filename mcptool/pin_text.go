package mcptool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Visible is a text in which what a person cannot see, or what changes how the rest
// is seen, is written as <U+200B>. Lines and tabs stay.
func Visible(text string) string {
	if !suspect(text) {
		return text
	}
	var b strings.Builder
	runes(text, func(r rune, size int, what string) {
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString("<not UTF-8>")
		case what != "":
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	})
	return b.String()
}

// visibleLine is [Visible] on one line, of at most so many characters.
func visibleLine(text string, most int) string {
	if len(text) > 4*most+utf8.UTFMax { // no more is looked at than may be shown
		text = strings.ToValidUTF8(text[:4*most], "")
	}
	all := []rune(Visible(strings.Join(strings.Fields(text), " ")))
	if len(all) > most {
		return string(all[:most-1]) + "…"
	}
	return string(all)
}

// suspect reports whether a text has more in it than printable ASCII and lines.
func suspect(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' && c != '\r' || c > '~' {
			return true
		}
	}
	return false
}

// runes gives each character of a text, and what is wrong with it where a person
// does not see it; "": nothing.
func runes(text string, f func(r rune, size int, what string)) {
	var last rune
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		what := concealed(r)
		if what != "" && needed(last, r, next) {
			what = ""
		}
		if r == utf8.RuneError && size == 1 {
			what = "is no character"
		}
		f(r, size, what)
		last = r
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
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point),
		0x2061 <= r && r <= 0x2065, r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0, r == 0x2800:
		return "cannot be seen"
	}
	return ""
}

// needed reports whether a script or an emoji needs such a character between these
// two: it is a part of how they are written then, and carries nothing.
func needed(last, r, next rune) bool {
	switch r {
	case 0xFE0E, 0xFE0F: // a symbol as text, or as an emoji
		return pictured(last) || next == 0x20E3 && last < utf8.RuneSelf && (unicode.IsDigit(last) || last == '#' || last == '*')
	case 0x200D:
		return (pictured(last) || last == 0xFE0F) && pictured(next) || joined(last) && joined(next)
	case 0x200C:
		return joined(last) && joined(next)
	}
	return false
}

// pictured reports whether a character is a picture, or the colour of one.
func pictured(r rune) bool {
	return r > 0xFF && unicode.Is(unicode.So, r) || 0x1F3FB <= r && r <= 0x1F3FF || 0x2190 <= r && r <= 0x21FF || 0x2600 <= r && r <= 0x27BF
}

// joined reports whether a letter belongs to a script whose letters are joined, or
// kept apart, by characters without width.
func joined(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
		unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar)
}

// maxFindings is how many findings of a definition are told.
const maxFindings = 20

// findingsOf are what a person would not see of a definition, in canonical JSON:
// where it is, and what.
func findingsOf(definition json.RawMessage) []string {
	text := string(definition)
	// Canonical JSON has no more escapes than it must: what has none of this has
	// nothing to find.
	if !suspect(text) && !strings.Contains(text, `\u`) && !strings.Contains(text, `\b`) && !strings.Contains(text, `\f`) && !strings.Contains(text, "<!--") {
		return nil
	}
	var all []string
	walk(definition, nil, func(at *way, value json.RawMessage) {
		text, where := "", "" // where is made for what has something to be told of
		switch {
		case value == nil:
			text, where = at.member, "the name of "
		default:
			text, _ = unquote(value)
		}
		if !suspect(text) && !strings.Contains(text, "<!--") {
			return
		}
		path := sync.OnceValue(func() string { return where + at.String() })
		counts := make(map[rune]int)
		whats := make(map[rune]string)
		runes(text, func(r rune, _ int, what string) {
			if what != "" {
				counts[r]++
				whats[r] = what
			}
		})
		for _, r := range slices.Sorted(maps.Keys(counts)) {
			times := ""
			if n := counts[r]; n > 1 {
				times = fmt.Sprintf(" (%d times)", n)
			}
			all = append(all, fmt.Sprintf("%s: <U+%04X> %s%s", path(), r, whats[r], times))
		}
		if _, comment, ok := strings.Cut(text, "<!--"); ok {
			inside, _, _ := strings.Cut(comment, "-->")
			all = append(all, fmt.Sprintf("%s: an HTML comment, which many programs do not show: %s", path(), visibleLine(inside, 80)))
		}
	})
	if more := len(all) - maxFindings; more > 0 {
		all = append(all[:maxFindings:maxFindings], fmt.Sprintf("and %d more", more))
	}
	return all
}

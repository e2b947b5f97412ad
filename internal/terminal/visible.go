package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible makes a text of one line that shows every character of it: what moves
// the cursor, turns the direction of writing round, or cannot be seen, stands
// there as ‹U+202E›. Nothing in it can control a terminal.
func Visible(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, c := range text {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, "‹0x%02X›", text[i])
		case hidden(c):
			fmt.Fprintf(&b, "‹U+%04X›", c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// VisibleLines is [Visible] for a text whose lines stay lines. Tabs become
// spaces.
func VisibleLines(text string) []string {
	text = strings.ReplaceAll(text, "\t", "    ")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = Visible(l)
	}
	return lines
}

// Brief is the beginning of a text on one line of at most so many characters.
func Brief(text string, most int) string {
	if end := 4 * most; len(text) > end { // no more is looked at than may be shown
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	r := []rune(Visible(strings.Join(strings.Fields(text), " ")))
	if len(r) > most {
		return string(r[:max(most-1, 0)]) + "…"
	}
	return string(r)
}

// VisibleJSON writes what is hidden in JSON as \u202e: it stays the same JSON.
func VisibleJSON(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '\n' || !hidden(c):
			b.WriteRune(c)
		default:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String()
}

// hidden reports whether a character cannot be seen as what it is: controls,
// formats such as those of direction, other spaces than the one, line ends,
// fillers, characters that belong to nobody.
func hidden(c rune) bool {
	switch {
	case c == ' ':
		return false
	case c < utf8.RuneSelf:
		return c < ' ' || c == 0x7f
	case c == utf8.RuneError, c == '\u2800': // the latter is an empty braille cell
		return true
	}
	return !unicode.IsGraphic(c) || unicode.In(c, unicode.Zs, unicode.Cf, unicode.Co,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

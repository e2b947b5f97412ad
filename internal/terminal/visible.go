package terminal

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible makes a text of one line that shows every character of it: what moves
// the cursor, turns the direction of writing round, or cannot be seen, stands
// there as ‹U+202E›, and so do marks that are heaped on a letter or stand on
// none; a byte that is no text as ‹xFF›. Nothing in it can control a terminal.
//
// Letters that are written from right to left stay as they are. What follows them
// and would change places with them (a digit, a sign before more such letters)
// stands there as ‹U+0031›: a terminal that turns such letters round turns
// nothing else round.
func Visible(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	var r reader
	for i, c := range text {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, "‹x%02X›", text[i])
			r = reader{}
		case r.hides(c) || r.turns(c, text[i:]):
			fmt.Fprintf(&b, "‹U+%04X›", c)
			r = reader{}
		default:
			b.WriteRune(c)
			r.next(c)
		}
	}
	return b.String()
}

// plain reports whether there is nothing but printable ASCII in a text.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
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

// VisibleJSON writes what is hidden in JSON as \u202e, and letters that are
// written from right to left too: it stays the same JSON.
func VisibleJSON(text string) string {
	var b strings.Builder
	var r reader
	for _, c := range text {
		if c == '\n' || !r.hides(c) && !leftward(c) {
			b.WriteRune(c)
			r.next(c)
			continue
		}
		for _, unit := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
		r = reader{}
	}
	return b.String()
}

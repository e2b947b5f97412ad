package mcptool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
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
		switch c := text[i]; {
		case c == '\r':
			if i+1 == len(text) || text[i+1] != '\n' {
				return true
			}
		case c < ' ' && c != '\n' && c != '\t', c > '~':
			return true
		}
	}
	return false
}

// maxFindings is how many findings of a definition are told.
const maxFindings = 20

// findingsOf are what a person would not see of a definition, in canonical JSON:
// where it is, and what.
func findingsOf(definition json.RawMessage) []string {
	text := string(definition)
	// Canonical JSON has no more escapes than it must: what has none of this has
	// nothing to find.
	if !suspect(text) && !strings.Contains(text, `\u`) && !strings.Contains(text, `\b`) && !strings.Contains(text, `\f`) && !strings.Contains(text, `\r`) && !strings.Contains(text, "<!--") {
		return nil
	}
	var all []string
	walk(definition, nil, func(at *way, value json.RawMessage) {
		text, where := at.member, "the name of "
		if value != nil {
			where = ""
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

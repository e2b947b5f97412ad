package mcptool

import (
	"strings"
	"unicode"
)

// unhidden is a text of a server as a person sees it: without characters that cannot be
// seen, and with HTML comments that can.
func unhidden(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var b strings.Builder
	runes(text, func(r rune, _ int, what string) {
		switch {
		case oddBlank(r) && what != "":
			b.WriteByte(' ')
		case what == "":
			b.WriteRune(r)
		}
	})
	return strings.ReplaceAll(b.String(), "<!--", "&lt;!--")
}

// below is a text that stands under a heading of the first level: its own headings are
// one level lower, so that it cannot end what it stands in and begin another's.
func below(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		// Quotes and lists may hold headings.
		start := len(line) - len(strings.TrimLeftFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune(">-*+", r)
		}))
		rest := line[start:]
		switch {
		case strings.HasPrefix(rest, "#"):
			lines[i] = line[:start] + "#" + rest
		case strings.HasPrefix(rest, "＃"), strings.HasPrefix(rest, "﹟"): // as wide, or as small
			lines[i] = line[:start] + "##" + strings.TrimLeft(rest, "＃﹟")
		case strings.Trim(rest, "= \t") == "" && strings.Contains(rest, "="): // what is above it is a heading
			lines[i] = line[:start] + strings.ReplaceAll(rest, "=", "-")
		case strings.Contains(rest, "<"):
			lines[i] = strings.NewReplacer("<h1", "<h2", "<H1", "<h2", "</h1", "</h2", "</H1", "</h2").Replace(line)
		}
	}
	return strings.Join(lines, "\n")
}

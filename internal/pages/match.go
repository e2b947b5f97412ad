package pages

import (
	"fmt"
	"regexp"
	"strings"
)

// Match says how what was printed differs from what a page shows; nil: it does not.
// A line of the page that is … stands for any lines, also none; … within a line for
// any text. Blanks at the ends of lines, and empty lines around it all, do not count.
func Match(got, want string) error {
	var expr strings.Builder
	expr.WriteString(`\A`)
	for _, line := range trimmed(want) {
		if line == "…" {
			expr.WriteString(`(?:.*\n)*?`)
			continue
		}
		expr.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + `\n`)
	}
	expr.WriteString(`\z`)
	shown, err := regexp.Compile(expr.String())
	if err != nil {
		return err
	}
	said := strings.Join(trimmed(got), "\n")
	if shown.MatchString(said + "\n") {
		return nil
	}
	return fmt.Errorf("prints other than the page says:\ngot:\n%s\nwant:\n%s", said, strings.TrimSpace(want))
}

// trimmed are the lines of a text.
func trimmed(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

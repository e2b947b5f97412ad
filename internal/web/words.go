package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// words are the functions of templates. What was written by others is shown by seen or
// lines: characters that nobody sees are made visible.
func (c *Console) words() template.FuncMap {
	return template.FuncMap{
		"seen":     terminal.Visible,
		"lines":    seenLines,
		"pretty":   func(text string) string { return seenLines(terminal.Pretty(text)) },
		"args":     argsText,
		"recorded": func(text string) string { return seenLines(terminal.Pretty(unescaped(text))) },
		"editable": func(text string) string { return terminal.VisibleJSON(terminal.Pretty(text)) },
		"partial": func(text string) bool {
			return strings.Contains(text, "more lines of the diff]") || strings.Contains(text, "more bytes of this line]")
		},
		"bounded":  bounded,
		"short":    func(text string, n int) string { return terminal.Brief(text, n) },
		"tail":     tailText,
		"part":     url.PathEscape, // of a path
		"clock":    func(t time.Time) string { return t.Local().Format("15:04:05") },
		"day":      func(t time.Time) string { return t.Local().Format("2 Jan 2006") },
		"stamp":    func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"took":     tookText,
		"after":    afterText,
		"offer":    terminal.OfferText,
		"diff":     diffLines,
		"isdiff":   isDiff,
		"claims":   func(q policy.Question) []claim { return claimsOf(q.Claims, c.says(q.Tool)) },
		"chips":    func(of *tool.Claims, name string) []claim { return claimsOf(*of, c.says(name)) },
		"destroys": func(q policy.Question) bool { return q.Claims.Destructive() },
		"choices":  choicesOf,
		"number":   grouping,
		"json":     jsonText,
		"tab":      tabOf,
		"dict":     dict,
		"question": func(q policy.Question, form string, several bool) asked {
			return asked{q, form, several}
		},
	}
}

// seenLines is a text of several lines with nothing hidden in it.
func seenLines(text string) string { return strings.Join(terminal.VisibleLines(text), "\n") }

// tailText is the end of a long name, by which one is told from another.
func tailText(text string) string {
	const most = 6
	if r := []rune(text); len(r) > 2*most {
		text = "…" + string(r[len(r)-most:])
	}
	return terminal.Visible(text)
}

func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return ""
	}
	return seenLines(strings.TrimRight(b.String(), "\n"))
}

// tookText is how long something took.
func tookText(ms float64) string {
	switch d := time.Duration(ms * float64(time.Millisecond)); {
	case ms <= 0:
		return ""
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// grouping is a number with commas between thousands.
func grouping(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// mostShown is how much of a text a page has. Nobody reads more at a glance.
const mostShown = 64 << 10

// bounded is the beginning of a text, with how much more there is.
func bounded(text string) string {
	if len(text) <= mostShown {
		return text
	}
	cut := mostShown
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n[%d more bytes: ferrule approvals show has all of it]", text[:cut], len(text)-cut)
}

// unescaped is JSON as somebody would write it: the record has some signs as escapes.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, `\u0026`):
			b.WriteByte('&')
			i += 5
		case strings.HasPrefix(rest, `\u003c`):
			b.WriteByte('<')
			i += 5
		case strings.HasPrefix(rest, `\u003e`):
			b.WriteByte('>')
			i += 5
		default: // with what it escapes, which may be such a sign itself
			b.WriteString(rest[:2])
			i++
		}
	}
	return b.String()
}

// argsText is the arguments of a call in a line: the value where there is one, else each
// with its name.
func argsText(text string, n int) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return terminal.Brief(text, n)
	}
	var names, values []string
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return terminal.Brief(text, n)
		}
		var word string
		if json.Unmarshal(value, &word) != nil {
			word = string(value)
		}
		names, values = append(names, fmt.Sprint(name)), append(values, word)
	}
	if len(values) == 1 {
		return terminal.Brief(values[0], n)
	}
	for i := range values {
		values[i] = names[i] + ": " + terminal.Brief(values[i], n/2)
	}
	return terminal.Brief(strings.Join(values, ", "), n)
}

// afterText is how long something was after something else.
func afterText(ms float64) string {
	switch {
	case ms < 0:
		return "-" + afterText(-ms) // the clock went back
	case ms == 0:
		return "0"
	}
	return "+" + tookText(ms)
}

// diffLine is a line of a preview.
type diffLine struct {
	Kind string // add, del, hunk, file, or "" for what stays
	Text string
}

// isDiff reports whether a preview shows what would change line by line.
func isDiff(text string) bool {
	return strings.HasPrefix(text, "--- ") || strings.Contains(text, "\n--- ") && strings.Contains(text, "\n+++ ")
}

func diffLines(text string) (all []diffLine) {
	for _, l := range terminal.VisibleLines(strings.TrimRight(text, "\n")) {
		kind := ""
		switch {
		case strings.HasPrefix(l, "--- "), strings.HasPrefix(l, "+++ "):
			kind = "file"
		case strings.HasPrefix(l, "@@"):
			kind = "hunk"
		case strings.HasPrefix(l, "+"):
			kind = "add"
		case strings.HasPrefix(l, "-"):
			kind = "del"
		}
		all = append(all, diffLine{kind, l})
	}
	return all
}

// claim is what a tool says of a call, or does not.
type claim struct {
	Word string
	Bad  bool
}

// says is what a tool claims of itself.
func (c *Console) says(name string) tool.Claims {
	if c.Says == nil {
		return tool.Claims{}
	}
	return c.Says(name)
}

// claimsOf are the claims of a call in words: what is not claimed is not assumed, and
// what only its tool says, which is not trusted, stands beside the warning and does not
// take it away.
func claimsOf(c, says tool.Claims) (all []claim) {
	switch {
	case c.ReadOnly:
		all = append(all, claim{"only reads", false})
	case c.Reversible:
		all = append(all, claim{"can be undone", false})
	default:
		all = append(all, claim{"may destroy", true})
		switch {
		case says.ReadOnly:
			all = append(all, claim{"says it only reads", false})
		case says.Reversible:
			all = append(all, claim{"says it can be undone", false})
		}
	}
	if c.Local {
		all = append(all, claim{"stays on this machine", false})
	} else {
		all = append(all, claim{"reaches outside", true})
		if says.Local {
			all = append(all, claim{"says it stays on this machine", false})
		}
	}
	if c.Idempotent && !c.ReadOnly {
		all = append(all, claim{"safe to repeat", false})
	}
	return all
}

// choicesOf are the answers that a tool of the program's own offers.
func choicesOf(q policy.Question) []string {
	var in struct{ Choices []string }
	if q.Wants == "" || q.Source.Trust != tool.BuiltIn || json.Unmarshal([]byte(q.Input), &in) != nil {
		return nil
	}
	return slices.DeleteFunc(in.Choices, func(c string) bool { return strings.TrimSpace(c) == "" || terminal.Visible(c) != c })
}

// tab is a link to one of the pages.
type tab struct {
	To, Word string
	Here     bool
	Count    int
}

func tabOf(p page, to, word string) tab {
	t := tab{To: to, Word: word, Here: p.At == to}
	if to == "/" {
		t.Count = p.Pending
	}
	return t
}

// asked is a question on a page.
type asked struct {
	Question policy.Question
	Form     string
	Several  bool
}

// dict is what a part of a page is given, by name.
func dict(pairs ...any) map[string]any {
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		m[name] = pairs[i+1]
	}
	return m
}

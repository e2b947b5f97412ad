package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/tool"
)

// How much of a server is shown, unless all is wanted.
const (
	maxTrustRows     = 60
	maxTrustFindings = 20
	maxFindingText   = 300 // characters
	maxOfServer      = 5   // findings in what it says of itself
)

// printScreen shows a server, and notes which of its tools were seen by that.
func (p *program) printScreen(s *trustScreen, all bool) {
	more := "--all shows them"
	if p.talks() {
		more = "say " + trustAll + " to see them"
	}
	p.printf("%s: %s\n", s.Server, s.Totals)
	lines := []terminal.Line{{Label: "reached by", Text: terminal.Brief(s.Identity, 400)}}
	for _, text := range s.Deciding {
		lines = append(lines, terminal.Line{Label: "!", Text: terminal.Brief(text, maxFindingText)})
	}
	if s.Trust >= tool.Own || len(s.Believe) > 0 {
		lines = append(lines, terminal.Line{Label: "ferrule.yaml", Text: s.believed()})
	}
	answered := "nobody has yet: every call is asked for that no rule allows"
	if a := s.Answer; a != nil {
		answered = fmt.Sprintf("%s, by %s, %s", a.Said, terminal.Visible(a.By), terminal.Ago(a.At, p.now()))
		if a.Earlier {
			answered = "nobody has, as it is reached now; what was left out before stays out: " + answered
		}
	}
	lines = append(lines, terminal.Line{Label: "answered", Text: answered})
	for _, l := range lines {
		p.printf("  %-13s %s\n", l.Label, l.Text)
	}
	p.printf("\n")
	rows, left := s.chosenRows(all)
	table := [][]string{{"#", "TOOL", "SAYS", "CALLS ARE", "TOKENS", "DESCRIPTION"}}
	for _, t := range rows {
		t.seen = true
		name, mark := mcptool.Visible(t.Tool), ""
		if len(t.Findings) > 0 {
			mark = " !"
		}
		if len(t.Content) > 0 {
			mark += " ?"
		}
		first, _, _ := strings.Cut(t.Description, "\n")
		stands := t.Stands
		if t.Rule != "" && stands != becomes("ask") {
			stands += ", " + "by " + t.Rule
		}
		table = append(table, []string{
			strconv.Itoa(t.Number), name + mark, cmp.Or(strings.Join(t.Says, ", "), "says nothing"), stands, strconv.Itoa(t.Tokens), terminal.Brief(first, 60),
		})
	}
	p.printTable(table)
	if left > 0 {
		p.printf("… and %s: %s\n", plural(int64(left), "tool more", "tools more"), more)
	}
	p.printFindings(s, all, more)
	p.printf("\nTo answer: ferrule trust %s --as %s --answer ask | reads | these --tools … | out [--tools …]\n", s.Server, s.Digest)
}

// believed is what the configuration says of the server.
func (s *trustScreen) believed() string {
	text := "trust " + s.Trust.String()
	switch {
	case s.Trust >= tool.Own:
		text += ": what its tools say of themselves is believed"
	case slices.Contains(s.Believe, "*"):
		text += ", believe: what its tools say of themselves is believed"
	default:
		text += ", believe: what these say of themselves is believed: " + someNames(s.Believe)
	}
	return text
}

// chosenRows are the tools that are shown, and how many are not: those that should
// be looked at come before others, then all are in their order.
func (s *trustScreen) chosenRows(all bool) (rows []*trustedTool, left int) {
	for i := range s.Tools {
		rows = append(rows, &s.Tools[i])
	}
	if all || len(rows) <= maxTrustRows {
		return rows, 0
	}
	weight := func(t *trustedTool) int {
		switch {
		case len(t.Findings)+len(t.Content) > 0:
			return 0
		case t.Destroys:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(rows, func(a, b *trustedTool) int { return weight(a) - weight(b) })
	left = len(rows) - maxTrustRows
	rows = rows[:maxTrustRows]
	slices.SortFunc(rows, func(a, b *trustedTool) int { return a.Number - b.Number })
	return rows, left
}

// printFindings prints what was found, and what cannot be used. more is how the rest
// is shown.
func (p *program) printFindings(s *trustScreen, all bool, more string) {
	var lines []string
	for i := range s.Tools {
		if t := &s.Tools[i]; len(t.Findings) > 0 {
			lines = append(lines, fmt.Sprintf("! %s: %s", mcptool.Visible(t.Tool), terminal.Brief(strings.Join(t.Findings, "; "), maxFindingText)))
			t.seen = t.seen && (all || len(lines) <= maxTrustFindings)
		}
	}
	found := len(lines)
	for i, r := range s.Content {
		if i == maxOfServer && !all { // they are not to push out what is of its tools
			lines = append(lines, fmt.Sprintf("? %s: and %d more: %s", s.Server, len(s.Content)-i, more))
			break
		}
		lines = append(lines, "? "+s.Server+": "+terminal.Brief(r.String(), maxFindingText))
	}
	for i := range s.Tools {
		t := &s.Tools[i]
		for _, r := range t.Content {
			lines = append(lines, fmt.Sprintf("? %s: %s", mcptool.Visible(t.Tool), terminal.Brief(r.String(), maxFindingText)))
		}
		t.seen = t.seen && (all || len(lines) <= maxTrustFindings || len(t.Content) == 0)
	}
	steering := len(lines) > found
	for _, a := range s.Unusable {
		lines = append(lines, fmt.Sprintf("%s cannot be offered: %s", terminal.Brief(a.Name, 128), terminal.Brief(a.Why, maxFindingText)))
	}
	if len(lines) == 0 {
		return
	}
	p.printf("\n")
	for i, line := range lines {
		if i == maxTrustFindings && !all {
			p.printf("… and %s: %s\n", plural(int64(len(lines)-i), "finding more", "findings more"), more)
			break
		}
		p.printf("%s\n", line)
	}
	if steering {
		p.printf("What has a ? reads like an attempt to steer a model: nothing is decided by that, so read it.\n")
	}
	if found > 0 {
		p.printf("What has a ! is allowed only by its name (these); ferrule pins diff %s shows it.\n", s.Server)
	}
}

// String is what there is, in words.
func (n trustTotals) String() string {
	words := []string{plural(int64(n.Tools), "tool", "tools")}
	for _, w := range []struct {
		n         int
		one, many string
	}{
		{n.Reads, "says that it only reads", "say that they only read"},
		{n.Destroys, "says that it destroys", "say that they destroy"},
		{n.Silent, "says nothing", "say nothing"},
		{n.Findings, "has findings", "have findings"},
		{n.Content, "may try to steer a model (?)", "may try to steer a model (?)"},
		{n.Allowed, "is allowed", "are allowed"},
	} {
		if w.n > 0 {
			words = append(words, plural(int64(w.n), w.one, w.many))
		}
	}
	return strings.Join(words, ", ") + "; about " + plural(int64(n.Tokens), "token", "tokens")
}

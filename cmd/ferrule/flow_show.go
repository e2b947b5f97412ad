package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// printFlow prints a session: a line for each call, and below it where its arguments
// came from and where they would go.
func (p *program) printFlow(l *flowLedger) {
	t := l.totals()
	refused := ""
	if t.Refused > 0 {
		refused = fmt.Sprintf(", %d refused", t.Refused)
	}
	p.printf("%s: %s, %d untrusted, %d sensitive, %d asked for%s\n", l.Session, plural(int64(t.Calls), "call", "calls"), t.Untrusted, t.Sensitive, t.Asked, refused)
	p.flowOff()
	p.printf("\n")
	for i, c := range l.Calls {
		line := fmt.Sprintf("%3d  %s  %s", i+1, c.Time.UTC().Format("15:04:05"), terminal.Brief(c.Tool, 60))
		if brought := c.brought(); brought != "" {
			line += "  brought " + brought
		}
		if c.Ended != "done" {
			line += "  [" + terminal.Brief(orWaits(c.Ended), 40) + "]"
		}
		p.printf("%s\n", line)
		for _, said := range c.said(l) {
			p.printf("       %s\n", terminal.Brief(said, 300))
		}
	}
	if l.More {
		p.printf("there is more on the record, which is older than what is shown\n")
	}
}

func orWaits(ended string) string {
	if ended == "" {
		return "has not ended"
	}
	return ended
}

// brought is what its result was.
func (c *flowCall) brought() string {
	var words []string
	if c.Untrusted {
		words = append(words, "untrusted")
	}
	if c.Sensitive {
		words = append(words, "sensitive")
	}
	text := strings.Join(words, " and ")
	if text != "" && c.From != "" {
		text += " content of " + terminal.Brief(c.From, 60)
	}
	return text
}

// said is what the flow of data had to say, a line each.
func (c *flowCall) said(l *flowLedger) (lines []string) {
	if c.Said == nil {
		return nil
	}
	for _, from := range c.Said.Copied {
		lines = append(lines, fmt.Sprintf("%s came from %s (%s)", from.Argument, l.origin(from), from.How))
	}
	if len(c.Said.Copied) == 0 && c.Said.Unseen != "" {
		lines = append(lines, "no origin is known: "+c.Said.Unseen)
	}
	what := ""
	switch {
	case c.Said.Refused != "":
		what = "refused: " + c.Said.Refused
	case c.Said.Shadow && len(c.Said.Flows) > 0:
		what = "would be asked for"
	case c.Asked:
		what = "asked for"
	}
	if what == "" {
		return lines
	}
	if len(c.Said.Flows) > 0 {
		what += " (" + strings.Join(c.Said.Flows, ", ") + ")"
	}
	if len(c.Said.To) > 0 {
		what += ", to " + strings.Join(c.Said.To, ", ")
	}
	if c.Answered != "" {
		what += "; " + c.Answered
	}
	return append(lines, what)
}

// origin names the call that an argument came from.
func (l *flowLedger) origin(from flow.Copied) string {
	for i, c := range l.Calls {
		if c.ID == from.Call {
			return fmt.Sprintf("call %d, %s", i+1, c.Tool)
		}
	}
	return from.Tool + ", which is not shown"
}

// dot is the session as a graph: what brought untrusted or private content is
// coloured, arguments are arrows, and where data would go is an oval.
func (l *flowLedger) dot() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  rankdir=LR;\n  node [shape=box, style=filled, fillcolor=white];\n", dotText(l.Session))
	places := make(map[string]string)
	for i, c := range l.Calls {
		colour, note := "white", ""
		switch {
		case c.Untrusted && c.Sensitive:
			colour = "orchid"
		case c.Untrusted:
			colour = "lightcoral"
		case c.Sensitive:
			colour = "khaki"
		}
		if brought := c.brought(); brought != "" {
			note = "\n" + brought
		}
		if c.Ended != "done" {
			note += "\n" + orWaits(c.Ended)
		}
		fmt.Fprintf(&b, "  c%d [label=%s, fillcolor=%s];\n", i+1, dotText(strconv.Itoa(i+1)+" "+c.Tool+note), colour)
		if c.Said == nil {
			continue
		}
		for _, from := range c.Said.Copied {
			for j, o := range l.Calls {
				if o.ID == from.Call {
					fmt.Fprintf(&b, "  c%d -> c%d [label=%s];\n", j+1, i+1, dotText(from.Argument))
				}
			}
		}
		for _, to := range c.Said.To {
			name, known := places[to]
			if !known {
				name = "d" + strconv.Itoa(len(places)+1)
				places[to] = name
				fmt.Fprintf(&b, "  %s [label=%s, shape=ellipse];\n", name, dotText(to))
			}
			style := "solid"
			if c.Ended != "done" {
				style = "dashed" // it did not get there
			}
			fmt.Fprintf(&b, "  c%d -> %s [label=%s, style=%s];\n", i+1, name, dotText(strings.Join(c.Said.Flows, ", ")), style)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// dotText is a text of DOT: nothing in it can end it.
func dotText(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(terminal.Brief(line, 80))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}

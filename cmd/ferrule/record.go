package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/store"
)

// columns are an entry as a row of a table: time, event, tool, call, session,
// what.
func columns(e *audit.Entry) []string {
	return []string{
		e.Time.UTC().Format("2006-01-02T15:04:05.000Z"), terminal.Visible(string(e.Kind)), terminal.Brief(e.Tool, 40),
		terminal.Brief(cmp.Or(e.ID, "-"), 40), terminal.Brief(cmp.Or(e.Session, "-"), 20), brief(said(e)),
	}
}

// said is what an entry says, in a few words.
func said(e *audit.Entry) string {
	switch {
	case e.Decision != nil:
		return decided(e)
	case e.Result != nil:
		return ended(e)
	case e.Args != "" && e.Text == "":
		return e.Args
	}
	text := e.Text
	if e.By != "" && text != "" {
		text = ": " + text
	}
	text = e.By + text
	if e.Question != "" {
		text += " (question " + e.Question + ")"
	}
	return text
}

// decided says who decided what by which rule.
func decided(e *audit.Entry) string {
	d := e.Decision
	text := d.Verdict
	if e.By != "" {
		text += " by " + e.By
	}
	if d.Rule != "" {
		text += ", rule " + d.Rule
	}
	if why := cmp.Or(d.Reason, e.Text); why != "" {
		text += ": " + why
	}
	return text
}

// ended says how a call ended.
func ended(e *audit.Entry) string {
	r := e.Result
	text := ""
	if r.IsError {
		text = r.Kind + ": " + cmp.Or(r.Detail, r.Text)
	} else {
		text = fmt.Sprintf("%d bytes", r.Bytes)
		if r.Blocks > 1 {
			text += fmt.Sprintf(" in %d blocks", r.Blocks)
		}
	}
	if e.Took > 0 {
		text += ", took " + e.Took.Round(time.Microsecond).String()
	}
	if e.Text != "" {
		text += ", " + e.Text
	}
	if r.Preview != "" && !r.IsError {
		text += ": " + r.Preview
	}
	return text
}

func (p *program) auditShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show CALL",
		Short: "Show the whole life of a call",
		Long: `Show the whole life of a call: what was asked for, who decided it by which rule,
what a person was asked and said, and how it ended. CALL is its id, or the one
that the model's provider gave it.`,
		Example: `  ferrule audit show fibc32d6eft2-1.0`,
		Args:    exactly("CALL"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			var all []store.Logged
			err := p.withLog(cmd.Context(), func(s *store.Store) (err error) {
				if s == nil {
					return p.errNoLog()
				}
				all, err = collect(s.Entries(cmd.Context(), store.Filter{Call: args[0]}))
				return err
			})
			if err != nil {
				return err
			}
			if all, err = oneCall(all, args[0]); err != nil {
				return err
			}
			if p.json {
				list := make([]printed, len(all))
				for i, l := range all {
					list[i] = printedOf(l)
				}
				return p.printJSON(list)
			}
			return p.printLife(all)
		}),
	}
	p.jsonFlag(cmd)
	return cmd
}

// oneCall refuses entries of no call, or of several.
func oneCall(all []store.Logged, id string) ([]store.Logged, error) {
	var ids []string
	seen := make(map[string]bool)
	for _, l := range all {
		if !seen[l.Entry.ID] {
			seen[l.Entry.ID] = true
			ids = append(ids, l.Entry.ID)
		}
	}
	switch {
	case len(ids) == 0:
		return nil, fmt.Errorf("audit: no call has the id %q: `ferrule audit list` has those of the last ones", id)
	case len(ids) > 1:
		const most = 10
		more := ""
		if n := len(ids) - most; n > 0 {
			ids, more = ids[n:], fmt.Sprintf(", and %d before them", n)
		}
		return nil, usage("audit: the provider gave the id %q to several calls: say which of %s%s", id, strings.Join(ids, ", "), more)
	}
	return all, nil
}

// printLife prints the entries of one call.
func (p *program) printLife(all []store.Logged) error {
	p.printLines(p.describeEntry(all))
	p.printf("\n")
	began := all[0].Entry.Time
	before := "" // what was decided
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, l := range all {
		e := l.Entry
		text := said(&e)
		switch {
		case e.Kind == audit.Requested: // stands above
			text = ""
		case e.Decision != nil && text == before: // it is decided again before it runs
			text = "still " + e.Decision.Verdict + ", as before"
		case e.Decision != nil:
			before = text
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", since(e.Time.Sub(began)), terminal.Visible(string(e.Kind)), terminal.Brief(text, 500))
	}
	return w.Flush()
}

// since is a time after the first.
func since(d time.Duration) string {
	if d < 0 {
		return "-" + since(-d) // the clock went back
	}
	return "+" + d.Round(time.Microsecond).String()
}

// describeEntry is what is known of a call.
func (p *program) describeEntry(all []store.Logged) (lines []terminal.Line) {
	e := all[0].Entry
	add := func(label, text string) {
		for _, line := range terminal.VisibleLines(text) {
			lines = append(lines, terminal.Line{Label: label, Text: line})
			label = ""
		}
	}
	maybe := func(label, text string) {
		if text != "" {
			add(label, text)
		}
	}
	add("call", e.ID)
	maybe("provider", e.CallID)
	add("tool", e.Tool)
	maybe("called as", e.CalledAs)
	if e.Trust != "" {
		add("source", cmp.Or(e.Source, "the program itself")+" ("+e.Trust+")")
	}
	maybe("claims", e.Class)
	who := cmp.Or(e.Principal, "local")
	if e.Tenant != "" {
		who += " (tenant " + e.Tenant + ")"
	}
	add("for", who)
	add("session", fmt.Sprintf("%s, turn %d, call %d", cmp.Or(e.Session, "-"), e.Turn, e.Index+1))
	for _, l := range [][2]string{{"client", e.Client}, {"agent", e.Agent}, {"run", e.Run}, {"mode", e.Mode}} {
		maybe(l[0], l[1])
	}
	add("at", e.Time.UTC().Format(time.RFC3339Nano))
	maybe("arguments", terminal.Pretty(e.Args))
	if c := e.ArgsCut; c != nil {
		add("", fmt.Sprintf("[cut: %d bytes, SHA-256 %s]", c.Bytes, c.SHA256))
	}
	return lines
}

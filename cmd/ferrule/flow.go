package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

func (p *program) flowCommand() *cobra.Command {
	var dot bool
	cmd := &cobra.Command{
		Use:   "flow [SESSION]",
		Short: "Show where the data of a session came from and where it went",
		Long: `Show from the record which results of a session strangers wrote and which were private,
which calls were asked for because of that, what of their arguments came from where, and
what was answered. Without a SESSION the sessions are listed.

--dot prints a graph: ferrule flow SESSION --dot | dot -Tsvg > flow.svg`,
		Example: `  ferrule flow
  ferrule flow call-37aztlpx
  ferrule flow call-37aztlpx --dot | dot -Tsvg > flow.svg`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return exactly("SESSION")(cmd, args)
		},
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			if dot && (p.json || len(args) == 0) {
				return usage("--dot: want a SESSION, and not --json")
			}
			return p.withLog(cmd.Context(), func(s *store.Store) error {
				if len(args) == 0 {
					return p.flowSessions(cmd.Context(), s)
				}
				l, err := flowOf(cmd.Context(), s, args[0])
				switch {
				case err != nil:
					return err
				case p.json:
					return p.printJSON(l)
				case dot:
					p.printf("%s", l.dot())
				default:
					p.printFlow(l)
				}
				return nil
			})
		}),
	}
	cmd.Flags().BoolVar(&dot, "dot", false, "print a graph, for Graphviz")
	p.jsonFlag(cmd)
	return cmd
}

// flowLedger is what the record says of the data of a session.
type flowLedger struct {
	Session string      `json:"session"`
	Calls   []*flowCall `json:"calls"`
	Last    time.Time   `json:"last"`
	More    bool        `json:"more,omitempty"` // there are calls that are not shown
}

// flowCall is one call of it.
type flowCall struct {
	ID     string    `json:"id"`
	Time   time.Time `json:"time"`
	Tool   string    `json:"tool"`
	Source string    `json:"source,omitempty"`
	// Untrusted and Sensitive are of its result, which is From another tool where it
	// only handed that on.
	Untrusted bool   `json:"untrusted,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
	From      string `json:"from,omitempty"`
	// Said is what the flow of data had to say before it ran, and Asked whether a
	// person was asked for that.
	Said     *flow.Verdict `json:"said,omitempty"`
	Asked    bool          `json:"asked,omitempty"`
	Refused  bool          `json:"refused,omitempty"`  // by only_one: nobody was asked
	Answered string        `json:"answered,omitempty"` // by whom and what
	Ended    string        `json:"ended,omitempty"`    // done, or the kind of its error; "": it has not
}

// maxFlowEntries is how much of the record is looked through, the newest of it.
const maxFlowEntries = 100_000

// flowOf reads a session from the record. One that is not there is an error that
// names those that are.
func flowOf(ctx context.Context, s *store.Store, session string) (*flowLedger, error) {
	var all map[string]*flowLedger
	var err error
	if s != nil {
		if all, err = flowsOf(ctx, s, store.Filter{Session: session, Newest: maxFlowEntries}); err != nil {
			return nil, err
		}
	}
	if l := all[session]; l != nil {
		return l, nil
	}
	var names []string
	if s != nil {
		if all, err = flowsOf(ctx, s, store.Filter{Newest: maxFlowEntries}); err != nil {
			return nil, err
		}
		for _, l := range newestFirst(all) {
			names = append(names, terminal.Brief(l.Session, 60))
		}
	}
	text := fmt.Sprintf("flow: there is no session %q on the record: ", session)
	if len(names) == 0 {
		return nil, usage("%sthere is none", text)
	}
	return nil, usage("%sthe last are %s", text, strings.Join(names[:min(len(names), 5)], ", "))
}

// flowsOf reads sessions from the record.
func flowsOf(ctx context.Context, s *store.Store, f store.Filter) (map[string]*flowLedger, error) {
	all := make(map[string]*flowLedger)
	calls, waited := make(map[string]*flowCall), make(map[string]*flowCall)
	n := 0
	for entry, err := range s.Entries(ctx, f) {
		if err != nil {
			return nil, fmt.Errorf("%w; `ferrule audit verify` says more", err)
		}
		n++
		e := &entry.Entry
		if e.ID == "" || e.Session == "" {
			continue
		}
		l := all[e.Session]
		if l == nil {
			l = &flowLedger{Session: e.Session, Calls: []*flowCall{}}
			all[e.Session] = l
		}
		key := e.Session + "\x00" + e.ID
		c := calls[key]
		if c == nil {
			c = &flowCall{ID: e.ID, Time: e.Time, Tool: e.Tool, Source: e.Source}
			calls[key] = c
			l.Calls = append(l.Calls, c)
		}
		l.Last = e.Time
		if e.Question != "" && !strings.HasPrefix(e.By, "rule ") {
			key = e.Session + "\x00" + e.Question
			l.goesOn(waited[key], c)
			waited[key] = c
		}
		c.take(e)
	}
	if n == f.Newest {
		for _, l := range all {
			l.More = true
		}
	}
	return all, nil
}

// goesOn takes out a call that waited for the answer to a question, where the same
// is called again and has it: the two are one to who made them.
func (l *flowLedger) goesOn(before, c *flowCall) {
	if before == nil || before == c || before.Ended != string(tool.Suspended) {
		return
	}
	l.Calls = slices.DeleteFunc(l.Calls, func(o *flowCall) bool { return o == before })
	c.Asked = c.Asked || before.Asked
	if c.Said == nil || len(c.Said.Flows) == 0 && before.Asked {
		c.Said = before.Said
	}
}

// take adds what an entry says.
func (c *flowCall) take(e *audit.Entry) {
	switch e.Kind {
	case audit.Decided:
		c.decide(e)
	case audit.Answered:
		if c.Asked {
			c.Answered = strings.TrimSuffix(e.By+": "+e.Text, ": ")
		}
	case audit.Ended:
		c.end(e)
	default:
	}
}

// decide takes what was said before it ran. A question that only rules ask is none of
// the flow's.
func (c *flowCall) decide(e *audit.Entry) {
	var v flow.Verdict
	if err := json.Unmarshal(e.Flow, &v); err == nil && (len(v.Flows) > 0 || len(v.Copied) > 0 || v.Refused != "") {
		c.Said = &v
	}
	if c.Refused = c.Said != nil && c.Said.Refused != ""; c.Refused {
		return
	}
	byFlow := e.By == string(policy.ByFlow)
	if d := e.Decision; d != nil && (d.Verdict == "ask" || d.Verdict == "deny") && (byFlow || c.Said != nil && c.Said.Asks()) {
		c.Asked = true
		if c.Said == nil {
			c.Said = &flow.Verdict{}
		}
	}
}

// end takes what became of it, and what its result was.
func (c *flowCall) end(e *audit.Entry) {
	c.Ended = "done"
	if r := e.Result; r != nil && r.IsError {
		c.Ended = cmp.Or(r.Kind, "failed")
	}
	var n flow.Noted
	if err := json.Unmarshal(e.Flow, &n); err == nil {
		c.Untrusted, c.Sensitive = n.Untrusted, n.Sensitive
		if from := tool.WireName(n.Source, n.Tool); n.Tool != "" && from != c.Tool && n.Tool != c.Tool {
			c.From = from
		}
	}
}

func newestFirst(all map[string]*flowLedger) []*flowLedger {
	var list []*flowLedger
	for _, l := range all {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *flowLedger) int {
		return cmp.Or(b.Last.Compare(a.Last), strings.Compare(a.Session, b.Session))
	})
	return list
}

// flowTotals are how many calls of a session there are of each kind.
type flowTotals struct {
	Session   string    `json:"session"`
	Calls     int       `json:"calls"`
	Untrusted int       `json:"untrusted"`
	Sensitive int       `json:"sensitive"`
	Asked     int       `json:"asked"`
	Refused   int       `json:"refused"`
	Last      time.Time `json:"last"`
}

func (l *flowLedger) totals() flowTotals {
	t := flowTotals{Session: l.Session, Calls: len(l.Calls), Last: l.Last}
	for _, c := range l.Calls {
		for n, is := range map[*int]bool{&t.Untrusted: c.Untrusted, &t.Sensitive: c.Sensitive, &t.Asked: c.Asked, &t.Refused: c.Refused} {
			if is {
				*n++
			}
		}
	}
	return t
}

// flowSessions lists the sessions, the newest first.
func (p *program) flowSessions(ctx context.Context, s *store.Store) error {
	list := []flowTotals{}
	if s != nil {
		all, err := flowsOf(ctx, s, store.Filter{Newest: maxFlowEntries})
		if err != nil {
			return err
		}
		for _, l := range newestFirst(all) {
			list = append(list, l.totals())
		}
	}
	switch {
	case p.json:
		return p.printJSON(list)
	case len(list) == 0:
		p.printf("no session is on the record\n")
		return nil
	}
	rows := [][]string{{"SESSION", "CALLS", "UNTRUSTED", "SENSITIVE", "ASKED", "LAST"}}
	for _, t := range list {
		rows = append(rows, []string{t.Session, strconv.Itoa(t.Calls), strconv.Itoa(t.Untrusted), strconv.Itoa(t.Sensitive), strconv.Itoa(t.Asked), terminal.Ago(t.Last, p.now())})
	}
	p.printTable(rows)
	p.hintf("\nferrule flow SESSION shows one.\n")
	p.flowOff()
	return nil
}

// flowOff says that nothing is watched, where that is so: zeros would read as if
// there had been nothing to see.
func (p *program) flowOff() {
	if c, err := p.load(); err == nil && c.Content.Flow == string(flow.Off) {
		p.printf("content.flow is off: what calls bring, and where it goes, is not watched.\n")
	}
}

package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// State is how a call stands.
type State string

// How calls stand.
const (
	Waiting State = "waiting" // it has not begun: others are before it
	Asked   State = "asked"   // a person must answer
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
	Refused State = "refused" // by a rule, a person, a hook, a limit: it did not run
	Stopped State = "stopped"
	Lost    State = "lost" // what became of it is not known
)

// Call is a call as the record tells it.
type Call struct {
	ID        string `json:"id"`
	CallID    string `json:"call_id,omitempty"`
	Tool      string `json:"tool"`
	Source    string `json:"source,omitempty"` // "": the program itself
	Trust     string `json:"trust,omitempty"`
	Class     string `json:"class,omitempty"`
	Mode      string `json:"mode,omitempty"`
	Principal string `json:"principal,omitempty"`
	Session   string `json:"session"`
	Turn      int    `json:"turn"`
	Index     int    `json:"index"`
	Client    string `json:"client,omitempty"`
	Agent     string `json:"agent,omitempty"`

	Args    string `json:"args,omitempty"`
	ArgsCut bool   `json:"args_cut,omitempty"`

	State    State  `json:"state"`
	Kind     string `json:"kind,omitempty"`    // of an error
	Text     string `json:"text,omitempty"`    // of an error, for the model
	Detail   string `json:"detail,omitempty"`  // of an error, for the operator
	Preview  string `json:"preview,omitempty"` // of a result
	Bytes    int    `json:"bytes,omitempty"`
	Verdict  string `json:"verdict,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Question string `json:"question,omitempty"`
	Answer   string `json:"answer,omitempty"` // who answered, and what
	// Marks are what else happened to it: cut, blocked, scrubbed, retried, joined, late,
	// went on.
	Marks []string `json:"marks,omitempty"`

	Place     int64     `json:"place"` // of its first line
	Requested time.Time `json:"requested,omitzero"`
	AskedAt   time.Time `json:"asked,omitzero"`
	Answered  time.Time `json:"answered,omitzero"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Took      float64   `json:"took_ms,omitempty"`

	// After is the call that it waited for, where one can be told; Live what it says
	// while it runs in this process.
	After string `json:"after,omitempty"`
	Live  *Live  `json:"live,omitempty"`
	Here  bool   `json:"here,omitempty"` // it runs in this process, and can be stopped

	// Left is what the journal knows of it, where its process ended before it did.
	Left *Left `json:"left,omitempty"`

	earlier   []string  // ids of the same call, when it was made before
	questions []string  // all of its own
	back      bool      // it was handed back to its client, which must call again
	writer    string    // who wrote the last line that says how it goes on
	last      time.Time // of its lines
}

// Left is a call that may have changed something, and whose process is gone.
type Left struct {
	Call    string    `json:"call"`
	Tool    string    `json:"tool"`
	Source  string    `json:"source,omitempty"`
	For     string    `json:"for"`
	Session string    `json:"session"`
	Turn    int       `json:"turn"`
	Began   time.Time `json:"began"`
	Args    string    `json:"args,omitempty"`
	Why     string    `json:"why"`
	Again   bool      `json:"again,omitempty"` // it runs again when its turn goes on; else a person must say what became of it
}

// Over reports whether nothing more will become of it.
func (c *Call) Over() bool { return !slices.Contains([]State{Waiting, Asked, Running}, c.State) }

// fold makes calls of lines, in the order in which they arrived.
func fold(lines []Line) []*Call {
	var all []*Call
	known := make(map[string]*Call)
	for i := range lines {
		l := &lines[i]
		if l.ID == "" {
			continue
		}
		call := known[l.ID]
		if call == nil {
			call = &Call{ID: l.ID, Place: l.Place, State: Waiting}
			known[l.ID] = call
			all = append(all, call)
		}
		call.take(l)
	}
	all = joined(all)
	slices.SortStableFunc(all, func(a, b *Call) int { return cmp.Compare(a.Place, b.Place) })
	return all
}

// joined makes one of calls that are one to a person: a client that cannot wait for an
// answer makes its call anew, and that goes on from the same question. Two that share one
// are two where the earlier ran, or waits for another question by now.
func joined(all []*Call) []*Call {
	open := make(map[string]*Call) // by the question that it waits for
	return slices.DeleteFunc(all, func(c *Call) bool {
		var before *Call
		for _, q := range c.questions {
			if b := open[q]; b != nil && b != c {
				before = b
				delete(open, q)
				break
			}
		}
		first := c
		if before != nil {
			again := *c
			again.Place, again.Requested = before.Place, before.Requested
			if !before.AskedAt.IsZero() {
				again.AskedAt = before.AskedAt
			}
			if !before.Answered.IsZero() && (again.Answered.IsZero() || before.Answered.Before(again.Answered)) {
				again.Answered, again.Answer = before.Answered, before.Answer
			}
			again.earlier = append(before.earlier, before.ID)
			*before = again
			first = before
		}
		if q := first.Question; q != "" && (first.back || first.Started.IsZero() && !first.Over()) {
			open[q] = first
		}
		return before != nil
	})
}

// is reports whether an id is that of the call, or of one that it was made as before.
func (c *Call) is(id string) bool { return c.ID == id || slices.Contains(c.earlier, id) }

// lives are all lines of the calls that lines are of, and of those that share a question
// with one of them: so what is one call does not hang on what was asked for.
func (c *Console) lives(ctx context.Context, of []Line) ([]Line, error) {
	known, asked := make(map[string]bool, len(of)), make(map[string]bool)
	var lines []Line
	for len(of) > 0 {
		var ids, questions []string
		for i := range of {
			if id := of[i].ID; id != "" && !known[id] {
				known[id] = true
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			break
		}
		more, err := c.read(ctx, Filter{Calls: ids})
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
		for i := range more {
			if q := more[i].Question; q != "" && !asked[q] {
				asked[q] = true
				questions = append(questions, q)
			}
		}
		if of = nil; len(questions) > 0 {
			if of, err = c.read(ctx, Filter{Questions: questions}); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.Place, b.Place) })
	return lines, nil
}

// take is what one line says of the call.
func (c *Call) take(l *Line) {
	c.who(l)
	c.last = l.Time
	if q := l.Question; q != "" && !slices.Contains(c.questions, q) {
		c.questions = append(c.questions, q)
	}
	if !slices.Contains([]audit.Kind{audit.Answered, audit.Governed, audit.Resolved}, l.Kind) { // which others write
		c.writer = l.Writer
	}
	switch l.Kind { //nolint:exhaustive // the others say nothing of how it stands
	case audit.Requested:
		if c.Requested.IsZero() {
			c.Requested = l.Time
		}
		if c.back = false; c.Over() { // it goes on from a question
			c.State, c.Ended, c.Kind, c.Text = Waiting, time.Time{}, "", ""
		}
		c.arguments(l)
	case audit.Changed:
		c.arguments(l)
		c.mark("changed")
	case audit.Decided:
		if d := l.Decision; d != nil {
			c.Verdict, c.Rule, c.Reason = d.Verdict, d.Rule, d.Reason
		}
	case audit.Asked:
		c.State, c.AskedAt, c.Question = Asked, l.Time, l.Question
	case audit.Answered:
		c.answered(l)
	case audit.Governed:
		if l.Question != "" && c.State == Asked {
			c.answered(l)
		}
	case audit.Started:
		c.State, c.Started = Running, l.Time
	case audit.Blocked, audit.Cut, audit.Scrubbed, audit.Retried, audit.Joined, audit.Late, audit.WentOn:
		c.mark(string(l.Kind))
	case audit.Ended:
		c.end(l)
	case audit.GivenUp:
		c.mark("given up")
	case audit.Resolved:
		c.State, c.Kind, c.Text, c.Ended = Done, "", l.Text, l.Time
		if !strings.HasPrefix(l.Text, resolvedDone) {
			c.State = Stopped // as if it had not begun: it runs when its turn goes on
		}
		if l.By != "" {
			c.Text = l.By + ": " + l.Text
		}
	}
}

// resolvedDone begins what a person says of a call that was done.
const resolvedDone = "it was done"

// answered is that a person has said something: the call goes on, or its client does not
// know yet.
func (c *Call) answered(l *Line) {
	c.Answered, c.Question = l.Time, cmp.Or(l.Question, c.Question)
	c.Answer = l.Text
	if l.By != "" {
		c.Answer = l.By + ": " + l.Text
	}
	switch {
	case c.State != Asked:
	case !strings.HasPrefix(l.Text, "allow") && c.back:
		c.State, c.Ended = Refused, l.Time
	case c.back:
		c.State = Waiting
		c.mark("its client must call again")
	case !c.Started.IsZero(): // the tool itself has asked
		c.State = Running
	default:
		c.State = Waiting
	}
}

// who is for whom and of what tool it is.
func (c *Call) who(l *Line) {
	c.CallID, c.Tool, c.Source = cmp.Or(c.CallID, l.CallID), cmp.Or(l.Tool, c.Tool), cmp.Or(l.Source, c.Source)
	c.Trust, c.Class, c.Mode = cmp.Or(l.Trust, c.Trust), cmp.Or(l.Class, c.Class), cmp.Or(l.Mode, c.Mode)
	c.Principal, c.Session, c.Client, c.Agent = cmp.Or(l.Principal, c.Principal), cmp.Or(l.Session, c.Session), cmp.Or(l.Client, c.Client), cmp.Or(l.Agent, c.Agent)
	c.Turn, c.Index = cmp.Or(l.Turn, c.Turn), cmp.Or(l.Index, c.Index)
}

func (c *Call) arguments(l *Line) {
	if l.Args != "" || l.ArgsCut != nil {
		c.Args, c.ArgsCut = l.Args, l.ArgsCut != nil
	}
}

func (c *Call) mark(text string) {
	if !slices.Contains(c.Marks, text) {
		c.Marks = append(c.Marks, text)
	}
}

func (c *Call) end(l *Line) {
	c.Ended, c.Took = l.Time, float64(l.Took)/float64(time.Millisecond)
	c.State = Done
	r := l.Result
	if r == nil {
		return
	}
	if r.IsError {
		c.State = stateOf(tool.Kind(r.Kind))
	}
	if c.State == Asked { // it was handed back, and is not over
		c.Ended, c.Took, c.back = time.Time{}, 0, true
		return
	}
	c.Preview, c.Bytes, c.Kind, c.Text, c.Detail = r.Preview, r.Bytes, r.Kind, r.Text, r.Detail
}

// stateOf is how a call stands that ended with an error.
func stateOf(k tool.Kind) State {
	switch k {
	case tool.Denied, tool.Rejected, tool.Expired, tool.NeedsUser, tool.HookBlocked, tool.FlowBlocked, tool.RateLimited, tool.Loop, tool.Sandbox,
		tool.UnknownTool, tool.NotLoaded, tool.InvalidInput, tool.InvalidValue:
		return Refused
	case tool.Pending, tool.Suspended:
		return Asked
	case tool.Aborted:
		return Stopped
	case tool.OutcomeUnknown:
		return Lost
	case tool.Failed, tool.Timeout, tool.InvalidOutput, tool.UnsafeContent:
	}
	return Failed
}

package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
)

// life is all that is known of one call.
type life struct {
	Call    *Call    `json:"call"`
	Phases  []phase  `json:"phases"`
	Flow    flowing  `json:"flow,omitzero"`   // where arguments came from, and where they go
	Changes []Change `json:"changes"`         // that it made to files
	Lines   []Line   `json:"lines"`           // as they are on the record
	Result  Piece    `json:"result,omitzero"` // its beginning; zero: the record alone has some of it
	Wrong   string   `json:"wrong,omitempty"`
	Undoes  bool     `json:"-"`
}

// phase is one thing that happened to a call.
type phase struct {
	Kind  audit.Kind `json:"kind"`
	Time  time.Time  `json:"time"`
	After float64    `json:"after_ms"` // from the first
	By    string     `json:"by,omitempty"`
	Rule  string     `json:"rule,omitempty"`
	Text  string     `json:"text,omitempty"`
	Args  string     `json:"args,omitempty"` // where they are others now
	// Look is how it is to be taken: asked, running, done, failed, refused, stopped,
	// lost; "" for what says nothing of how the call stands.
	Look State `json:"look,omitempty"`
}

// flowing is what the flow of data had to say of a call.
type flowing struct {
	Flows   []string `json:"flows,omitempty"`
	To      []string `json:"to,omitempty"`
	Copied  []copied `json:"copied,omitempty"`
	Unseen  string   `json:"unseen,omitempty"`
	Refused string   `json:"refused,omitempty"`
	Shadow  bool     `json:"shadow,omitempty"`
	// Untrusted and Sensitive are of what it brought, which Source is the source of.
	Untrusted bool   `json:"untrusted,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
	Source    string `json:"source,omitempty"`
}

// copied is an argument that came from the result of another call.
type copied struct {
	Argument  string `json:"argument"`
	How       string `json:"how"`
	Source    string `json:"source,omitempty"`
	Tool      string `json:"tool"`
	Call      string `json:"call"`
	Untrusted bool   `json:"untrusted,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
}

// Any reports whether there is something to say.
func (f *flowing) Any() bool {
	return len(f.Flows) > 0 || len(f.Copied) > 0 || f.Refused != "" || f.Untrusted || f.Sensitive
}

func (f *flowing) take(l *Line) {
	if len(l.Flow) == 0 {
		return
	}
	switch l.Kind { //nolint:exhaustive // no other has one
	case audit.Decided:
		var said flowing
		if json.Unmarshal(l.Flow, &said) == nil && said.Any() {
			f.Flows, f.To, f.Copied, f.Unseen, f.Refused, f.Shadow = said.Flows, said.To, said.Copied, said.Unseen, said.Refused, said.Shadow
		}
	case audit.Ended, audit.Late:
		var brought struct {
			Source               string
			Untrusted, Sensitive bool
		}
		if json.Unmarshal(l.Flow, &brought) == nil {
			f.Source, f.Untrusted, f.Sensitive = brought.Source, brought.Untrusted, brought.Sensitive
		}
	}
}

// life is one call, by Ferrule's id, with what it changed and brought.
func (c *Console) life(ctx context.Context, id string) (*life, error) {
	all, err := c.lived(ctx, id)
	if err != nil {
		return nil, err
	}
	if all.Result, err = c.piece(ctx, all.Call, all.Lines, 0, firstPiece); err != nil {
		all.Wrong = "the whole result cannot be read: " + err.Error() // the rest can, all the same
	}
	if c.Changes == nil {
		return all, nil
	}
	made, err := c.Changes(ctx)
	if err != nil {
		all.Wrong = "what it changed in files cannot be said: " + err.Error()
	}
	for _, change := range made {
		if all.Call.is(change.Call) {
			all.Changes = append(all.Changes, change)
		}
	}
	return all, nil
}

// lived is what the record says of one call.
func (c *Console) lived(ctx context.Context, id string) (*life, error) {
	gone := missing(fmt.Sprintf("no call on the record has the id %q: History lists those that there are", id))
	if c.Lines == nil {
		return nil, gone
	}
	if _, err := c.asking(ctx); err != nil { // before the record: see waits
		return nil, err
	}
	lines, err := c.lives(ctx, []Line{{Entry: audit.Entry{ID: id}}})
	if err != nil {
		return nil, err
	}
	calls := fold(lines)
	at := slices.IndexFunc(calls, func(c *Call) bool { return c.is(id) })
	if at < 0 {
		return nil, gone
	}
	if calls, err = c.alive(ctx, calls[at:at+1]); err != nil {
		return nil, err
	}
	lines = slices.DeleteFunc(lines, func(l Line) bool { return !calls[0].is(l.ID) })
	all := &life{Call: calls[0], Phases: phases(lines), Lines: lines, Changes: []Change{}, Undoes: c.Undo != nil}
	for i := range lines {
		all.Flow.take(&lines[i])
	}
	return all, nil
}

// Group has the call alone, for its bar.
func (l *life) Group() Group { return grouped([]*Call{l.Call}, time.Now())[0] }

// Cut reports whether the record has only the beginning of its result.
func (l *life) Cut() bool { return l.Call.Bytes > len(l.Call.Preview) }

// Size is how much its result was.
func (l *life) Size() string { return size(l.Call.Bytes) }

// Tool is where the tool's page is.
func (l *life) Tool() string { return "/tools/" + url.PathEscape(l.Call.Tool) }

// phases are what happened to a call, one after another.
func phases(lines []Line) (all []phase) {
	decided := "" // before
	for i := range lines {
		l := &lines[i]
		p := phase{Kind: l.Kind, Time: l.Time, After: float64(l.Time.Sub(lines[0].Time)) / float64(time.Millisecond), By: l.By, Text: l.Text}
		switch l.Kind { //nolint:exhaustive // the others say it in their text
		case audit.Decided:
			p.decide(l, &decided)
		case audit.Asked:
			p.Look = Asked
		case audit.Requested:
			p.By, p.Text = cmp.Or(l.By, l.Agent, l.Client), cmp.Or(l.Text, "asked for it")
			if i > 0 {
				p.Text = "it goes on"
			}
		case audit.Begun:
			p.Text = cmp.Or(l.Text, "it is about to change something")
		case audit.Changed:
			p.Args = l.Args
		case audit.Started:
			p.Look, p.Text = Running, cmp.Or(l.Text, "the tool runs")
		case audit.Retried, audit.WentOn:
			p.Look = Running
		case audit.Blocked:
			p.Look = Refused
		case audit.GivenUp:
			p.Look = Stopped
		case audit.Ended, audit.Late:
			p.end(l)
		case audit.Resolved:
			p.Look = Done
		}
		all = append(all, p)
	}
	return all
}

func (p *phase) decide(l *Line, before *string) {
	d := l.Decision
	if d == nil {
		return
	}
	p.Rule, p.Text = d.Rule, d.Verdict
	if why := cmp.Or(d.Reason, l.Text); why != "" {
		p.Text += ": " + why
	}
	switch d.Verdict {
	case "ask":
		p.Look = Asked
	case "deny":
		p.Look = Refused
	}
	if p.Text == *before { // it is decided again before it runs
		p.Text, p.Rule = "still "+d.Verdict, ""
		return
	}
	*before = p.Text
}

func (p *phase) end(l *Line) {
	var end Call
	end.end(l)
	p.Look = end.State
	var words []string
	switch r := l.Result; {
	case r != nil && r.IsError:
		words = append(words, r.Kind)
	case r != nil:
		words = append(words, size(r.Bytes))
	}
	if took := tookText(end.Took); took != "" {
		words = append(words, "took "+took)
	}
	p.Text = strings.Join(append(words, slices.DeleteFunc([]string{l.Text}, func(s string) bool { return s == "" })...), ", ")
}

// size is how much something is.
func size(bytes int) string {
	switch {
	case bytes == 1:
		return "1 byte"
	case bytes < 10_000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 10_000_000:
		return fmt.Sprintf("%d kB", bytes/1000)
	}
	return fmt.Sprintf("%d MB", bytes/1_000_000)
}

package ferrule

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// Replay is a recording that answers calls: with [Runtime.Replay] set no tool
// runs. A call has the result that it had then, as it was, or, where the
// recording has no such call, an error of kind failed whose Detail says what was
// recorded in its place. Rules, hooks, questions and limits had their say when it
// was recorded and are not asked again. Observers are told of each call and its
// end.
//
// The new call's ids stand in its result. Causes of errors were not recorded,
// but that a tool asked for the end of the run was.
//
// A session is answered from the recorded one of its own tenant, principal and
// name; without one, as with names that were made up, from the first of its
// tenant and principal that no other session has taken, those with made-up names
// first. Agents of a session are told apart.
//
// A Replay is for one [Runtime]. It is safe for concurrent use.
type Replay struct {
	// ByInput finds calls by name and input, wherever in the session they were:
	// equal calls get the recorded results in their order, then the last one
	// again. It is for turns that come in another order, as those of agents side
	// by side do. A call whose input was withheld is not found so. Zero: each
	// call is the one that was recorded at the same place of the same turn. Set
	// it before the first Session.
	ByInput bool

	mu       sync.Mutex
	sessions []*recording // in the order of their first lines
}

// recording is one recorded session.
type recording struct {
	name   sessionKey
	lines  []*line
	taken  bool
	places map[spot]*rerun
	inputs map[equalCall]*rerun // once ByInput needs them
}

// spot is where in its session a call stands.
type spot struct {
	agent       string
	turn, index int
}

// equalCall is what calls have in common that ByInput does not tell apart.
type equalCall struct{ agent, name, input string }

// rerun are the lines that answer one question, and how many of them have. A
// place has several where a session of that name began anew.
type rerun struct {
	lines []*line
	next  int
}

// line is the next one, or the last again.
func (r *rerun) line() *line { return r.lines[min(r.next, len(r.lines)-1)] }

// ReadReplay reads what a [Recorder] has written, or several of them one after
// another. The order of lines matters only between those of one place. What
// comes behind the last newline is left out if it is no JSON: a crash in the
// middle of a write left it there. Any other fault is an error with the number of
// its line.
func ReadReplay(r io.Reader) (*Replay, error) {
	p := new(Replay)
	byName := make(map[sessionKey]*recording)
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return nil, fmt.Errorf("read recording: line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(text)) > 0 && (!end || json.Valid(text)) {
			l, err := parseLine(bytes.TrimSpace(text))
			if err != nil {
				return nil, fmt.Errorf("read recording: line %d: %w", n, err)
			}
			s := byName[l.session]
			if s == nil {
				s = &recording{name: l.session, places: make(map[spot]*rerun)}
				byName[l.session] = s
				p.sessions = append(p.sessions, s)
			}
			s.lines = append(s.lines, l)
			put(s.places, spot{l.agent, l.turn, l.place}, l)
		}
		if end && len(p.sessions) == 0 && len(bytes.TrimSpace(text)) > 0 {
			return nil, fmt.Errorf("read recording: got %.40q, want lines that a Recorder wrote", text)
		}
		if end {
			return p, nil
		}
	}
}

func put[K comparable](all map[K]*rerun, key K, l *line) {
	if all[key] == nil {
		all[key] = new(rerun)
	}
	all[key].lines = append(all[key].lines, l)
}

// byInput orders the lines by what was asked: as the turns were numbered, and
// where a session of that name began anew, what came first.
func (s *recording) byInput() map[equalCall]*rerun {
	if s.inputs != nil {
		return s.inputs
	}
	round := make(map[*line]int, len(s.lines))
	for _, r := range s.places {
		for i, l := range r.lines {
			round[l] = i
		}
	}
	slices.SortStableFunc(s.lines, func(a, b *line) int {
		return cmp.Or(cmp.Compare(round[a], round[b]), cmp.Compare(a.turn, b.turn), cmp.Compare(a.place, b.place))
	})
	s.inputs = make(map[equalCall]*rerun)
	for _, l := range s.lines {
		if !l.withheld {
			put(s.inputs, equalCall{l.agent, l.call.Name, sameInput(l.call.Input)}, l)
		}
	}
	return s.inputs
}

// sameInput is a text that two inputs share if they are the same JSON value but
// for blanks, escapes and the order of keys, or the same text. Numbers are the
// same if they are written so: a tool may tell 1 from 1.0.
func sameInput(input json.RawMessage) string {
	text := string(input)
	if strings.TrimSpace(text) == "" {
		return "{}"
	}
	var once json.RawMessage
	if schema.Decode(text, &once) != nil { // also where it has more than one reading
		return text
	}
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	same, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(same)
}

// fits reports whether the line is about this call. An input that was withheld
// may be any.
func (l *line) fits(c tool.Call) bool {
	return l.call.Name == c.Name && (l.withheld || bytes.Equal(l.call.Input, c.Input) || sameInput(l.call.Input) == sameInput(c.Input))
}

// of is the recorded session that answers a session; nil: none is left.
func (p *Replay) of(c *conversation) *recording {
	if c.replay != nil {
		return c.replay
	}
	of := func(name string) int { // how well a recorded session fits that is not the one of this name
		if madeUp(name) {
			return 2
		}
		return 1
	}
	best := 0
	for _, s := range p.sessions {
		if s.name == c.key {
			c.replay = s
			break
		}
		same := s.name.tenant == c.key.tenant && s.name.principal == c.key.principal
		if fit := of(s.name.session); same && !s.taken && fit > best {
			c.replay, best = s, fit
		}
	}
	if c.replay != nil {
		c.replay.taken = true
	}
	return c.replay
}

// answer is the line about a call, or why there is none, in words for the
// operator.
func (p *Replay) answer(c *call) (l *line, missing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := c.turn
	s := p.of(t.view.session.conv)
	if s == nil {
		k := t.view.session.conv.key
		return nil, fmt.Sprintf("session %q of principal %q and tenant %q: the recording has none like it that another has not taken (it has %d in all)", k.session, k.principal, k.tenant, len(p.sessions))
	}
	given, agent := c.asGiven(), c.first.Caller.Agent
	var found *rerun
	if p.ByInput {
		found = s.byInput()[equalCall{agent, given.Name, sameInput(given.Input)}]
	} else {
		found = s.places[spot{agent, t.number, c.index}]
	}
	if found != nil {
		if l = found.line(); l.fits(given) {
			found.next++
			return l, ""
		}
	}
	secret, _ := c.secret()
	where := fmt.Sprintf("session %q, agent %q, turn %d, place %d", s.name.session, agent, t.number, c.index)
	switch got := shownCall(given, secret); {
	case p.ByInput:
		return nil, fmt.Sprintf("%s: got %s, and the recorded session has no such call of this agent", where, got)
	case l == nil:
		return nil, fmt.Sprintf("%s: got %s, and the recording has no call there", where, got)
	default:
		return nil, fmt.Sprintf("%s: got %s, want %s", where, got, shownCall(l.call, l.withheld))
	}
}

// shownCall is a call as the operator reads it.
func shownCall(c tool.Call, secret bool) string {
	if secret {
		return fmt.Sprintf("%.100q with %s", c.Name, withheld)
	}
	return fmt.Sprintf("%.100q with %.300q", c.Name, c.Input)
}

// recall is arrive where there is a recording: the call has its result at once,
// and no function of its tool or of the host is called for it.
func (c *call) recall() {
	t := c.turn
	c.entry = t.view.tools.find(c.first.CalledAs)
	if c.entry != nil && c.entry.calls {
		c.resolve()
		c.known, c.unresolved = nil, false
	}
	if c.entry != nil {
		r := c.first
		r.Tool, r.Source, r.Name = &c.entry.tool.Info, c.entry.source, c.entry.wire
		if t.noted() {
			r.Args, _ = c.entry.tool.Admit(c.arguments()) // else it has none, as it had none then
		}
	}
	c.trace()
	if t.noted() {
		c.emit(audit.Event{Kind: audit.Requested})
	}
	c.keepInput()
	res := tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: "This call is not in the recording."}}
	if l, missing := t.set.replay.answer(c); l != nil {
		c.replayed, res = l, copyResult(l.result)
	} else {
		res.Err.Detail = missing
	}
	res.ID, res.CallID = c.first.ID, c.first.CallID
	if res.Err != nil && res.Err.Kind == tool.NotLoaded && c.entry != nil && t.view.defers(c.entry) {
		t.view.session.conv.load(c.entry) // the next turn is offered what it was offered then
	}
	c.recorded, c.here = &res, true
}

package ferrule

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// flows is what a session knows of the data in it: a voice in phase 4, which
// remembers the yes of phase 6 and takes in what phase 11 lets through. Where all
// that was read is the program's own there is none, and nothing is paid for it.
type flows struct {
	ledger atomic.Pointer[flow.Ledger]
	news   atomic.Uint64 // grows with all that may change what it says
	saved  atomic.Uint64 // flow.Ledger.Changes that are kept for good

	mu   sync.Mutex
	kept string // as the runtime's ledger has it
}

// flowRules are the rules of a guard; nil: the defaults.
func flowRules(g *guard.Guard) *flow.Rules {
	if g == nil {
		return nil
	}
	return &g.Flow
}

func (s *settings) flowOff() bool {
	return s.flow != nil && s.flow.Mode == flow.Off || s.replay != nil
}

// watch is the ledger of the session, which is made if it is not there.
func (f *flows) watch(rules *flow.Rules) *flow.Ledger {
	if l := f.ledger.Load(); l != nil {
		return l
	}
	f.ledger.CompareAndSwap(nil, &flow.Ledger{Rules: rules})
	return f.ledger.Load()
}

// flowSays is what the flow of data has to say about the call as it stands, where
// the rules say this.
func (c *call) flowSays(rules tool.Decision) (said tool.Decision, speaks bool) {
	set, f := c.turn.set, &c.turn.view.session.conv.flows
	c.verdict, c.flowAt = nil, f.news.Load()
	l := f.ledger.Load()
	switch {
	case l == nil && c.req.Caller.Prompt == "" && (set.flow == nil || len(set.flow.OnlyOne) == 0):
		return said, false // what the person asked for is heard from the beginning
	case set.flowOff():
		return said, false
	}
	l = f.watch(set.flow)
	exact := rules.Verdict == tool.Allow && rules.Exact && !c.req.Tool.New
	v := l.Judge(c.req, exact)
	if !exact && v.Asks() && !slices.Equal(v.Flows, []string{"a"}) && c.pinned() {
		v = l.Judge(c.req, true)
	}
	if v.Empty() {
		return said, false
	}
	kept := v
	c.verdict = &kept
	return v.Decision(), true
}

// flowMoved reports whether the flow of data may have something else to say than
// when it was asked.
func (c *call) flowMoved() bool { return c.flowAt != c.turn.view.session.conv.flows.news.Load() }

// flowShadow puts on the record what would have been asked for, once, where the
// flow of data is only watched.
func (c *call) flowShadow() {
	v := c.verdict
	if v == nil || !v.Shadow || len(v.Flows) == 0 {
		return
	}
	d := v.Decision()
	if c.turn.noted() {
		c.emit(audit.Event{Kind: audit.Decided, By: string(policy.ByFlow), Decision: &d, Text: d.Reason, Flow: v.Record()})
	}
	if l := c.turn.view.session.conv.flows.ledger.Load(); l != nil {
		l.Agree(*v)
	}
	c.verdict = nil
}

// flowRecord is what a decision is put on the record with.
func (c *call) flowRecord() string {
	if c.verdict == nil {
		return ""
	}
	return c.verdict.Record()
}

// flowBlocked is the result of a call that the flow of data asks for, where nobody
// can be asked.
func flowBlocked(detail string) *tool.Error {
	return &tool.Error{
		Kind: tool.FlowBlocked, Text: "This call could carry data to where it should not go, and there is nobody to ask whether it may.",
		Detail: detail + ", or trust the flow in Runtime.Guard",
	}
}

// cameFrom says where arguments came from, whoever asks about the call.
func (c *call) cameFrom() []string {
	if c.verdict != nil {
		if from := c.verdict.From(); len(from) > 0 {
			return from
		}
	}
	l := c.turn.view.session.conv.flows.ledger.Load()
	if l == nil {
		return nil
	}
	return flow.Verdict{Copied: l.Trace(c.req)}.From()
}

// flowAgreed remembers a person's yes: it is about everything that was shown.
func (c *call) flowAgreed() {
	l := c.turn.view.session.conv.flows.ledger.Load()
	if c.verdict == nil || !c.verdict.Asks() || l == nil {
		return
	}
	l.Agree(*c.verdict)
	_ = c.flowKept(l) // else it is asked for again
}

// flowOnly denies a call that has another capability than the one that its session
// has. It is the last before the call runs.
func (c *call) flowOnly() *tool.Error {
	set := c.turn.set
	if set.flow == nil || len(set.flow.OnlyOne) == 0 || set.flowOff() {
		return nil
	}
	l := c.turn.view.session.conv.flows.watch(set.flow)
	if v := l.Only(c.req); v.Refused != "" {
		d := v.Decision()
		return &tool.Error{Kind: tool.Denied, Text: d.Message, Detail: "denied by flow, " + d.Rule + ": " + d.Reason}
	}
	if err := c.flowKept(l); err != nil {
		return unjournalled(fmt.Errorf("Runtime.Ledger: %w", err))
	}
	return nil
}

// flowNote takes in what the model will read of a call that has run, and returns
// what the model is told instead, where a session that goes on elsewhere would not
// know that it was read.
func (c *call) flowNote(res tool.Result) (instead *tool.Error) {
	if !c.begun && !c.settled || c.entry == nil || c.turn.imagined || c.turn.set.flowOff() {
		return nil
	}
	set, f := c.turn.set, &c.turn.view.session.conv.flows
	if len(res.Content) == 0 && !res.Err.Foreign() || !set.guard.Accepts(guard.Model, c.sensitivity()) {
		return nil // the model reads nothing that the tool said
	}
	l := f.ledger.Load()
	if l == nil {
		if set.flow == nil && !c.strange() && res.Trust == nil && res.Origin == nil && c.sensitivity() < tool.Secret {
			return nil // as most are
		}
		if set.flow.Notes(c.req, &res) == (flow.Noted{}) {
			return nil
		}
		l = f.watch(set.flow)
	}
	if n := l.Note(c.req, res); n != (flow.Noted{}) {
		kept := n
		c.noticed = &kept
		f.news.Add(1)
	}
	err := c.flowKept(l)
	if err == nil || c.noticed == nil || set.flow != nil && set.flow.Mode == flow.Shadow {
		return nil
	}
	return &tool.Error{
		Kind: tool.UnsafeContent, Text: "The call has run, but what it returned could not be put on the record, so it was withheld.",
		Detail: fmt.Sprintf("Runtime.Ledger: %v", err), Cause: err, Own: true,
	}
}

// flowKept has kept for good what the ledger knows now, before the model knows
// more. Where that fails it is tried again with the next change.
func (c *call) flowKept(l *flow.Ledger) error {
	conv := c.turn.view.session.conv
	f := &conv.flows
	if l.Changes() == f.saved.Load() {
		return nil
	}
	f.news.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := l.Changes()
	if now == f.saved.Load() {
		return nil // somebody else has
	}
	kept, err := conv.update(context.WithoutCancel(c.turn.ctx), func(kept *policy.SessionState) error {
		text, err := l.Save(json.RawMessage(kept.Flow))
		if text != nil || err == nil {
			kept.Flow = string(text)
		}
		return nil
	})
	if err == nil {
		f.saved.Store(now)
		f.kept = kept.Flow
		return nil
	}
	if c.turn.noted() {
		c.emit(audit.Event{Kind: audit.Found, Text: fmt.Sprintf("what the flow of data knows of the session could not be kept: %v", err)})
	}
	return err
}

// load takes over what is kept of the session: it may have gone on elsewhere.
func (f *flows) load(set *settings, kept string) {
	if kept == "" || set.flowOff() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if kept == f.kept {
		return
	}
	f.kept = kept
	if news, _ := f.watch(set.flow).Load(json.RawMessage(kept)); news { // what cannot be read is all there could be
		f.news.Add(1)
	}
}

package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// heldTurn is what a session remembers of a turn that was handed back.
type heldTurn struct {
	calls   []heldCall
	hooks   []string
	unknown bool // nothing: what may not run twice does not run
}

type heldCall struct {
	given    tool.Call
	result   *tool.Result // it is done
	question *policy.Question
	wants    *policy.Question
	reply    *string
	allowed  bool
	edited   string
	input    json.RawMessage // as it stood
	hooked   int
	posed    int8
	charged  bool
	look     bool
	by       by
	beside   []string
}

// handBack gives the kind suspended to all that waits, and remembers the turn.
// The mutex is held and let go: an answer that comes now is heard by the next.
func (t *Turn) handBack() {
	var now []*call
	held := t.record()
	for _, c := range t.calls {
		if c.claimed {
			continue
		}
		c.claimed = true
		now = append(now, c)
		h := &held.calls[c.index]
		h.question, h.wants, h.reply, h.allowed, h.edited = c.question, c.wants, c.reply, c.allowed, c.edited
		h.hooked, h.posed, h.charged, h.look, h.by, h.beside = c.hooked, c.posed, c.charged, c.look, c.by, c.beside
		if c.by != byModel {
			h.input = json.RawMessage(c.req.Args.Text())
		}
		t.questionsOf(c) // they stay in the inbox
	}
	t.mu.Unlock()
	t.view.session.conv.hold(t.number, held, t.held != nil && t.held.unknown)
	for _, c := range now {
		res := tool.Result{Err: &tool.Error{Kind: tool.Suspended, Text: "Waiting for a person.", Detail: "waits behind a call that waits for a person"}}
		if q := c.asked(); q != nil {
			res.Err.Detail = "question " + q.ID
		}
		t.settle(c, res)
	}
}

// record is the turn as the session remembers it. The mutex is held.
func (t *Turn) record() *heldTurn {
	held := &heldTurn{calls: make([]heldCall, len(t.calls)), hooks: t.hookNames()}
	for _, c := range t.calls {
		h := &held.calls[c.index]
		h.given = c.asGiven()
		if c.state == over {
			res := copyResult(t.results[c.index]) // the host has the other
			h.result = &res
		}
	}
	return held
}

// hookNames tell one list of hooks from another.
func (t *Turn) hookNames() []string {
	var names []string
	for _, h := range t.hooks {
		names = append(names, fmt.Sprintf("%t %s", h.Security, h.Name))
	}
	return names
}

// hooksAs is one word for them.
func (t *Turn) hooksAs() string { return policy.Digest(t.hookNames()...)[:11] }

// asGiven is the call as the model made it.
func (c *call) asGiven() tool.Call {
	return tool.Call{ID: c.first.CallID, Name: c.first.CalledAs, Input: c.input}
}

// hold remembers a turn; weak: unless another of its number is remembered.
func (c *conversation) hold(number int, h *heldTurn, weak bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if weak && c.held[number] != nil {
		return
	}
	if c.held == nil {
		c.held = make(map[int]*heldTurn)
	}
	c.held[number] = h
	for len(c.held) > maxHeld {
		delete(c.held, slices.Min(slices.Collect(maps.Keys(c.held))))
	}
}

// handedOut remembers results as the host got them.
func (c *conversation) handedOut(number int, results []tool.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.held[number]
	if h == nil {
		return
	}
	for i := range min(len(h.calls), len(results)) {
		if h.calls[i].result != nil {
			res := copyResult(results[i])
			h.calls[i].result = &res
		}
	}
}

// maxHeld is how many turns that were handed back a session remembers.
const maxHeld = 64

// remember looks for what became of a call in an earlier turn of this number.
// Another call in its place is an error, never a hit.
func (c *call) remember() {
	h := c.turn.held
	if h == nil || c.cutShort() {
		return
	}
	if c.index < len(h.calls) {
		old := &h.calls[c.index]
		if now := c.asGiven(); old.given.Name != now.Name || string(old.given.Input) != string(now.Input) || old.given.ID != now.ID {
			c.known = c.another(old.given.Name)
			return
		}
		if old.result != nil {
			res := copyResult(*old.result)
			res.ID = c.first.ID
			c.recorded = &res
			return
		}
		c.old = old
	}
	if c.known == nil && !c.unresolved {
		c.takeUp()
		c.planned = c.req.Claims
	}
}

// another is what a call is told that stands where another one stood.
func (c *call) another(name string) *tool.Error {
	return &tool.Error{Kind: tool.Failed, Text: "This turn had another call in this place.", Detail: fmt.Sprintf("turn %d had a call of %s at place %d", c.turn.number, name, c.index)}
}

// takeUp lets a call go on where an earlier turn left it.
func (c *call) takeUp() {
	h, old := c.turn.held, c.old
	if c.turn.past != nil && c.goesOn() {
		return
	}
	if h != nil && h.unknown && c.askedBefore() {
		return
	}
	if h != nil && h.unknown && c.turn.past == nil && !c.mayRepeat() {
		c.final, c.known = true, &tool.Error{
			Kind: tool.OutcomeUnknown, Text: "It is not known whether this call has run already, so it did not run now.",
			Detail: fmt.Sprintf("turn %d is not one that this session has handed back and remembers (it remembers the last %d, and each goes on once at a time)", c.turn.number, maxHeld),
		}
	}
	if old == nil || c.known != nil {
		return
	}
	if old.input != nil {
		if _, err := c.change(old.input, old.by, "an earlier turn"); err != nil {
			c.known = err
			return
		}
	}
	c.resumed = true
	c.question, c.wants, c.reply, c.allowed, c.edited = old.question, old.wants, old.reply, old.allowed, old.edited
	c.hooked, c.posed, c.charged, c.beside, c.look = old.hooked, old.posed, old.charged, old.beside, old.look
	if !slices.Equal(h.hooks, c.turn.hookNames()) {
		c.hooked, c.look = 0, true // these have not seen it
	}
	for _, q := range []*policy.Question{c.question, c.wants} {
		if q == nil || c.known != nil {
			continue
		}
		if err := c.listen(q); err != nil {
			c.known = c.unasked(err)
		}
	}
}

// askedBefore looks for a question that another process put about this call: one
// whose answer was not used proves that the call has not run, and it goes on
// from there. It reports whether that settles what becomes of it.
func (c *call) askedBefore() bool {
	set := c.turn.set
	if !set.lasting || set.inbox == nil {
		return false
	}
	for {
		id := c.questionID()
		q, err := bounded(c.turn.ctx, ledgerTime, func(ctx context.Context) (policy.Question, error) { return set.inbox.Find(ctx, id) })
		switch {
		case err == nil:
			c.goOn(&q)
			return true
		case errors.Is(err, policy.ErrNotAsked):
			return false
		case errors.Is(err, policy.ErrExpired):
			c.known, c.final = c.unusable(err), true
			return true
		case errors.Is(err, policy.ErrRejected):
			c.known, c.final = rejection(policy.Answer{By: "a person, before"}, c.entry.tool.RejectText), true
			return true
		case !errors.Is(err, policy.ErrUsed) || c.posed > 2*maxRounds:
			c.known, c.final = c.unasked(c.orStopped(err)), true
			return true
		}
		c.posed++ // perhaps there was another after it
	}
}

// goOn lets a call go on from a question, with the input that it shows.
func (c *call) goOn(q *policy.Question) {
	if q.Given != c.givenAs() {
		c.known, c.final = c.another(q.Tool), true
		return
	}
	if c.turn.set.redacts && q.Digest == c.digest() { // it may not show all of them
		c.by = byAnswer
	} else if _, err := c.change(json.RawMessage(q.Input), byAnswer, "an earlier process"); err != nil {
		c.known = err
		return
	}
	c.resumed, c.by = true, byAnswer
	c.posed++
	if c.look = true; q.Hooked == c.turn.hooksAs() {
		c.hooked = len(c.turn.hooks)
	}
	if c.question = q; q.Wants != "" {
		c.question, c.wants, c.charged = nil, q, true
		if q.Allowed {
			c.edited = q.Digest // a person has said yes to these arguments
		}
	}
	if err := c.listen(q); err != nil {
		c.known = c.unasked(err)
	}
}

// handsBack reports whether some call of a turn that is over still waits.
func (t *Turn) handsBack() bool {
	return slices.ContainsFunc(t.results, func(r tool.Result) bool { return r.Err != nil && r.Err.Kind == tool.Suspended })
}

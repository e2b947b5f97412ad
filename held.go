package ferrule

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// heldTurn is what a session remembers of a turn that was handed back.
type heldTurn struct{ calls []heldCall }

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
	by       by
	beside   []string
}

// handBack gives the kind suspended to all that waits, and remembers the turn.
func (t *Turn) handBack() {
	var now []*call
	t.mu.Lock()
	held := t.record()
	for i, c := range t.calls {
		if c.claimed {
			continue
		}
		c.claimed = true
		now = append(now, c)
		h := &held.calls[i]
		h.question, h.wants, h.reply, h.allowed, h.edited = c.question, c.wants, c.reply, c.allowed, c.edited
		h.hooked, h.by, h.beside = c.hooked, c.by, c.beside
		if c.by != byModel {
			h.input = json.RawMessage(c.req.Args.Text())
		}
		t.questionsOf(c) // they stay in the inbox
	}
	t.mu.Unlock()
	t.view.session.conv.hold(t.number, held)
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
	held := &heldTurn{calls: make([]heldCall, len(t.calls))}
	for i, c := range t.calls {
		held.calls[i].given = c.asGiven()
		if c.claimed {
			held.calls[i].result = &t.results[i]
		}
	}
	return held
}

// asGiven is the call as the model made it.
func (c *call) asGiven() tool.Call {
	return tool.Call{ID: c.first.CallID, Name: c.first.CalledAs, Input: c.input}
}

func (c *conversation) hold(number int, h *heldTurn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = make(map[int]*heldTurn)
	}
	c.held[number] = h
	for len(c.held) > maxHeld {
		delete(c.held, slices.Min(slices.Collect(maps.Keys(c.held))))
	}
}

// maxHeld is how many turns that were handed back a session remembers.
const maxHeld = 64

// goOn takes a call up where a turn of the same number was handed back. Another
// call in its place is an error, never a hit.
func (c *call) goOn(h *heldTurn) {
	if c.index >= len(h.calls) {
		if c.known == nil {
			c.judge()
		}
		return
	}
	old := &h.calls[c.index]
	if now := c.asGiven(); old.given.Name != now.Name || string(old.given.Input) != string(now.Input) || old.given.ID != now.ID {
		c.known = &tool.Error{Kind: tool.Failed, Text: "This turn had another call in this place.", Detail: fmt.Sprintf("turn %d was handed back with a call of %s at place %d", c.turn.number, old.given.Name, c.index)}
		return
	}
	if old.result != nil {
		res := *old.result
		res.ID = c.first.ID
		c.recorded = &res
		return
	}
	if c.known != nil || c.unresolved {
		return
	}
	if old.input != nil {
		if _, err := c.change(old.input, old.by, "an earlier turn"); err != nil {
			c.known = err
			return
		}
		c.planned = c.req.Claims
	}
	c.question, c.wants, c.reply, c.allowed, c.edited = old.question, old.wants, old.reply, old.allowed, old.edited
	c.hooked, c.beside, c.look = old.hooked, old.beside, false
	for _, q := range []*policy.Question{c.question, c.wants} {
		if q == nil || c.known != nil {
			continue
		}
		if err := c.listen(q); err != nil {
			c.known = c.unasked(err)
		}
	}
}

// handsBack reports whether some call of a turn that is over still waits.
func (t *Turn) handsBack() bool {
	return slices.ContainsFunc(t.results, func(r tool.Result) bool { return r.Err != nil && r.Err.Kind == tool.Suspended })
}

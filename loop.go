package ferrule

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/ferrule-dev/ferrule/tool"
)

// A call is in a loop when it has had the same result so often: in a row, or as
// part of a cycle of a few calls.
const (
	sameInRow  = 5
	cycleTimes = 3
	maxCycle   = 4
	maxPast    = 256 // calls of an agent that are remembered
	lookBack   = 16  // of them: more than the rounds of the longest cycle
)

// histories are the last calls of a session's agents.
type histories struct {
	mu   sync.Mutex
	seed maphash.Seed
	of   map[string]*history // by agent
}

// history is the last calls of one agent in one run, in their order.
type history struct {
	run   string
	gone  int // calls before the first that is remembered
	calls []past
}

// past is one call and what came of it.
type past struct {
	key    uint64 // of tool and input
	result uint64
	done   bool
	odd    bool  // equal to no other: it says nothing about loops
	skip   bool  // it was not run because of a loop: as if it had not been made
	nudged uint8 // the length of the cycle that its result told of; 0: none
}

// note gives a call that arrives its place in its agent's history.
func (c *call) note() {
	h := &c.turn.view.session.conv.histories
	name := c.first.CalledAs
	if c.entry != nil {
		name = c.entry.wire
	}
	caller := &c.first.Caller
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of, h.seed = make(map[string]*history), maphash.MakeSeed()
	}
	own := h.of[caller.Agent]
	if own == nil || own.run != caller.Run {
		own = &history{run: caller.Run}
		h.of[caller.Agent] = own
	}
	if len(own.calls) == maxPast {
		own.calls = append(own.calls[:0], own.calls[maxPast/2:]...)
		own.gone += maxPast / 2
	}
	own.calls = append(own.calls, past{
		key: mix(maphash.String(h.seed, name), maphash.Bytes(h.seed, c.input)),
		odd: c.entry != nil && c.entry.tool.Repeatable,
	})
	c.history, c.place = own, own.gone+len(own.calls)-1
}

func mix(a, b uint64) uint64 { return (a<<23 | a>>41) ^ b*0x9e3779b97f4a7c15 }

// at is the call at a place; nil: it is forgotten.
func (h *history) at(place int) *past {
	if place < h.gone {
		return nil
	}
	return &h.calls[place-h.gone]
}

// until are the calls up to one, the latest first, as far back as all of them
// have their results.
func (h *history) until(place int) (list [lookBack]*past, n int) {
	for i := place; i >= h.gone && n < lookBack; i-- {
		p := h.at(i)
		if p.skip {
			continue
		}
		if !p.done || p.odd {
			break
		}
		list[n] = p
		n++
	}
	return list, n
}

// repeats is how often the first n calls of a list were made one round after
// another with the same results.
func repeats(list []*past, n int) int {
	times := 0
	for i := 0; i+n <= len(list); i += n {
		for j := range n {
			if a, b := list[j], list[i+j]; a.key != b.key || a.result != b.result {
				return times
			}
		}
		times++
	}
	return times
}

// looping is how often a call was made whose result has told of it; 0: it may
// run.
func (h *history) looping(place int) int {
	p := h.at(place)
	if p == nil || p.odd {
		return 0
	}
	all, n := h.until(place - 1)
	list := all[:n]
	if times := repeats(list, 1); times >= sameInRow && list[0].key == p.key && slices.ContainsFunc(list[:times], func(q *past) bool { return q.nudged == 1 }) {
		return times
	}
	if n == 0 || list[0].nudged < 2 {
		return 0
	}
	cycle := int(list[0].nudged)
	if slices.ContainsFunc(list[:cycle], func(q *past) bool { return q.key == p.key }) {
		return repeats(list, cycle)
	}
	return 0
}

// end notes the result of a call, and is how often it was the same where that is
// a loop; 0: it is none.
func (h *history) end(place int, result uint64, odd bool) int {
	p := h.at(place)
	if p == nil {
		return 0
	}
	p.result, p.done = result, true
	if p.odd = p.odd || odd; p.odd || p.skip {
		return 0
	}
	all, n := h.until(place)
	if times := repeats(all[:n], 1); times >= sameInRow {
		p.nudged = 1
		return times
	}
	for cycle := 2; cycle <= maxCycle; cycle++ {
		if times := repeats(all[:n], cycle); times >= cycleTimes {
			p.nudged = uint8(cycle)
			return times
		}
	}
	return 0
}

// loop refuses a call that was made again and again, and whose result said so.
// The host may let it run.
func (c *call) loop() *tool.Error {
	if c.history == nil || c.unlooped {
		return nil
	}
	c.unlooped = true // it is looked at once
	h := &c.turn.view.session.conv.histories
	h.mu.Lock()
	times := c.history.looping(c.place)
	h.mu.Unlock()
	if times == 0 {
		return nil
	}
	if allow := c.turn.set.allowLoop; allow != nil && c.here {
		request := c.shown()
		if ok, err := guard(c, func(ctx context.Context) (bool, error) { return allow(ctx, request, times), nil }); ok && err == nil {
			return nil
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := c.history.at(c.place); p != nil {
		p.skip = true
	}
	return &tool.Error{
		Kind: tool.Loop, Text: fmt.Sprintf("You have made this call %d times with the same result, so it did not run again. Change the input or stop.", times),
		Detail: "Repeatable on the tool, or Runtime.AllowLoop, would let it run",
	}
}

// nudge notes what came of a call, before it is cut, and is what the model is
// told where that is a loop; "": it is none.
func (c *call) nudge(res *tool.Result) string {
	if c.history == nil {
		return ""
	}
	h := &c.turn.view.session.conv.histories
	odd := saysNothing(res)
	var sum uint64
	if !odd {
		sum = h.sumOf(res)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	times := c.history.end(c.place, sum, odd)
	if times == 0 {
		return ""
	}
	return fmt.Sprintf("You have made this call %d times with the same result. Change the input or stop.", times)
}

// saysNothing reports that a result is not about the call itself: it was stopped,
// or waits.
func saysNothing(res *tool.Result) bool {
	if res.Err == nil {
		return false
	}
	switch res.Err.Kind {
	case tool.Pending, tool.Suspended, tool.Aborted, tool.Expired, tool.NotLoaded, tool.Loop:
		return true
	default:
		return false
	}
}

// sumOf tells one result from another.
func (h *histories) sumOf(res *tool.Result) uint64 {
	sum := uint64(len(res.Content))
	for i := range res.Content {
		b := &res.Content[i]
		for _, text := range []string{string(b.Type), b.Text, b.URI} {
			sum = mix(sum, maphash.String(h.seed, text))
		}
		for _, data := range [][]byte{b.JSON, b.Data} {
			sum = mix(sum, maphash.Bytes(h.seed, data))
		}
	}
	if res.Err != nil {
		sum = mix(sum, maphash.String(h.seed, string(res.Err.Kind)))
		sum = mix(sum, maphash.String(h.seed, res.Err.Text))
	}
	return sum
}

package ferrule

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

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
	of   map[historyKey]*history
}

// historyKey names an agent in one of its runs.
type historyKey struct{ agent, run string }

// history is the last calls of one agent in one run, in their order.
type history struct {
	told  atomic.Bool // some result has told of a loop: before that no call is one
	gone  int         // calls before the first that is remembered
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
	times  int   // how often that was
}

// note gives a call that arrives its place in its agent's history.
func (c *call) note() {
	h := &c.turn.view.session.conv.histories
	name := c.called()
	if c.entry != nil {
		name = c.entry.wire
	}
	now := past{key: h.keyOf(name, c.input), odd: c.turn.crowd != nil || c.entry != nil && c.entry.tool.Repeatable}
	key := historyKey{c.first.Caller.Agent, c.first.Caller.Run}
	h.mu.Lock()
	defer h.mu.Unlock()
	own := h.of[key]
	if own == nil {
		own = &history{calls: make([]past, 0, lookBack)}
		keep(&h.of, key, own)
	}
	if len(own.calls) == maxPast {
		own.calls = append(own.calls[:0], own.calls[maxPast/2:]...)
		own.gone += maxPast / 2
	}
	own.calls = append(own.calls, now)
	c.history, c.place = own, own.gone+len(own.calls)-1
}

// keyOf tells one call from another. Blanks around values do not count, and blank
// input is {}.
func (h *histories) keyOf(name string, input []byte) uint64 {
	key := maphash.String(h.seed, name)
	i := len(input)
	if !tight(input) {
		i = blank(input)
	}
	if i == len(input) && i > 0 {
		return more(key, maphash.Bytes(h.seed, input))
	}
	var sum maphash.Hash
	sum.SetSeed(h.seed)
	written := 0
	for rest := input; len(rest) > 0; i = blank(rest) {
		n, _ := sum.Write(rest[:i]) // it never fails
		written += n
		rest = rest[min(i+1, len(rest)):]
	}
	if written == 0 {
		_, _ = sum.WriteString("{}")
	}
	return more(key, sum.Sum64())
}

// more is a sum with one more part.
func more(sum, part uint64) uint64 { return sum*0x9e3779b97f4a7c15 + part }

// tight reports whether a text has no blank but within strings, where that is seen
// without reading all of it.
func tight(text []byte) bool {
	if bytes.IndexByte(text, '\\') >= 0 || bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\t') >= 0 || bytes.IndexByte(text, '\r') >= 0 {
		return false
	}
	quote := []byte{'"'}
	for {
		at := bytes.IndexByte(text, ' ')
		if at < 0 {
			return true
		}
		if bytes.Count(text[:at], quote)%2 == 0 {
			return false
		}
		end := bytes.IndexByte(text[at:], '"')
		if end < 0 {
			return false
		}
		text = text[at+end+1:]
	}
}

// blank is where the first blank is that is not within a string; the end: there
// is none.
func blank(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += quoted(text[i:])
		case ' ', '\n', '\t', '\r':
			return i
		}
	}
	return len(text)
}

// quoted is where the string ends that begins with the first byte.
func quoted(text []byte) int {
	for end := 0; ; {
		n := bytes.IndexByte(text[end+1:], '"')
		if n < 0 {
			return len(text)
		}
		end += n + 1
		escapes := 0
		for text[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
	}
}

// at is the call at a place; nil: it is forgotten.
func (h *history) at(place int) *past {
	if place < h.gone {
		return nil
	}
	return &h.calls[place-h.gone]
}

// until are the calls up to one, the latest first, as far back as all of them
// have their results. Calls of that key that have none yet can be passed over.
func (h *history) until(place int, pass uint64) (list [lookBack]*past, n int) {
	for i := place; i >= h.gone && n < lookBack; i-- {
		p := h.at(i)
		if p.skip || !p.done && p.key == pass {
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
func (h *history) looping(place int, pass uint64) int {
	p := h.at(place)
	if p == nil || p.odd {
		return 0
	}
	all, n := h.until(place-1, pass)
	list := all[:n]
	if n == 0 {
		return 0
	}
	last := list[0]
	if times := repeats(list, 1); times >= sameInRow && last.key == p.key && slices.ContainsFunc(list[:times], func(q *past) bool { return q.nudged == 1 }) {
		return max(times, last.times)
	}
	cycle := int(last.nudged)
	if cycle > 1 && slices.ContainsFunc(list[:cycle], func(q *past) bool { return q.key == p.key }) {
		return last.times
	}
	return 0
}

// again reports whether one of the calls before is equal to this one, so that it
// may be part of a cycle.
func (h *history) again(place int, p *past) bool {
	for i, n := place-1, 0; i >= h.gone && n < maxCycle; i-- {
		q := h.at(i)
		if q.key == p.key && q.result == p.result && q.done && !q.skip {
			return true
		}
		if !q.skip {
			n++
		}
	}
	return false
}

// end notes the result of a call, and is how often it was the same where that is
// a loop; 0: it is none.
func (h *history) end(place int, now past) int {
	p := h.at(place)
	if p == nil {
		return 0
	}
	p.result, p.done, p.odd, p.skip = now.result, true, p.odd || now.odd, p.skip || now.skip
	if p.odd || p.skip {
		return 0
	}
	if !h.again(place, p) {
		return 0
	}
	all, n := h.until(place, 0)
	for cycle := 1; cycle <= maxCycle; cycle++ {
		times, most := repeats(all[:n], cycle), cycleTimes
		if cycle == 1 {
			most = sameInRow
		}
		if times < most {
			continue
		}
		if n > cycle && int(all[cycle].nudged) == cycle { // more often than it was looked back
			times = max(times, all[cycle].times+1)
		}
		p.nudged, p.times = uint8(cycle), times
		h.told.Store(true)
		return times
	}
	return 0
}

// loop refuses a call that was made again and again, and whose result said so.
// The host may let it run.
func (c *call) loop() *tool.Error {
	if c.history == nil || c.unlooped || !c.history.told.Load() {
		return nil
	}
	c.unlooped = true // it is looked at once
	h := &c.turn.view.session.conv.histories
	h.mu.Lock()
	times := c.history.looping(c.place, 0)
	h.mu.Unlock()
	if times == 0 {
		return nil
	}
	if allow := c.turn.set.allowLoop; allow != nil && c.here {
		request := c.shown()
		if ok, err := timed(c, func(ctx context.Context) (bool, error) { return allow(ctx, request, times), nil }); ok && err == nil {
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
	now := saysNothing(res)
	if !now.odd && !now.skip {
		now.result = h.sumOf(res)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	times := c.history.end(c.place, now)
	if times == 0 {
		return ""
	}
	return fmt.Sprintf("You have made this call %d times with the same result. Change the input or stop.", times)
}

// saysNothing is what a result means for loops that is not about the call itself.
// One that waits was as if it had not been made: it comes again. One that was
// stopped is equal to no other.
func saysNothing(res *tool.Result) (p past) {
	if res.Err == nil {
		return p
	}
	switch res.Err.Kind {
	case tool.Pending, tool.Suspended, tool.Loop:
		p.skip = true
	case tool.Aborted, tool.Expired, tool.NotLoaded:
		p.odd = true
	default:
	}
	return p
}

// comesAgain reports that a call is likely to be a loop when its turn has come:
// nobody is asked for it before.
func (c *call) comesAgain() bool {
	if c.history == nil || !c.history.told.Load() {
		return false
	}
	h := &c.turn.view.session.conv.histories
	h.mu.Lock()
	defer h.mu.Unlock()
	p := c.history.at(c.place)
	return p != nil && c.history.looping(c.place, p.key) > 0
}

// tell puts what the model is told of a loop behind a result.
func (c *call) tell(res tool.Result) tool.Result {
	if c.told != "" {
		res.Content = append(slices.Clip(res.Content), tool.Text(c.told))
	}
	return res
}

// untell takes it away, for who cuts the result.
func (c *call) untell(res tool.Result) tool.Result {
	if c.told != "" {
		res.Content = res.Content[:len(res.Content)-1]
	}
	return res
}

// sumOf tells one result from another.
func (h *histories) sumOf(res *tool.Result) uint64 {
	sum := uint64(len(res.Content))
	text := func(s string) {
		if sum = more(sum, uint64(len(s))); s != "" {
			sum = more(sum, maphash.String(h.seed, s))
		}
	}
	for i := range res.Content {
		b := &res.Content[i]
		text(string(b.Type))
		text(b.Text)
		text(b.MediaType)
		text(b.Name)
		text(b.URI)
		for _, data := range [...][]byte{b.JSON, b.Data} {
			if sum = more(sum, uint64(len(data))); len(data) > 0 {
				sum = more(sum, maphash.Bytes(h.seed, data))
			}
		}
		sum = more(more(sum, uint64(b.Width)), uint64(b.Height)) //nolint:gosec // any bits will do
	}
	if res.Err != nil {
		text(string(res.Err.Kind))
		text(res.Err.Text)
	}
	return sum
}

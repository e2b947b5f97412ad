package ferrule

import (
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// Wait waits until every call has its result, and returns them in the order of
// the calls. After that the turn is over.
func (t *Turn) Wait() []tool.Result { return t.attend(nil) }

// attend sees the turn to its end, and is all of its results. Where they are
// given out it does that, in the order of the calls, as soon as it can.
func (t *Turn) attend(give func(tool.Result)) (results []tool.Result) {
	var inline *call
	defer func() {
		if inline != nil { // its tool ended this goroutine
			t.fellOut(inline)
			t.Interrupt()
			t.mu.Lock()
			t.end()
		}
	}()
	t.mu.Lock()
	for {
		if t.handing {
			t.cond.Wait()
			continue
		}
		t.hear()
		if inline = t.alone(); inline != nil {
			inline.inline = true
			t.mu.Unlock()
			t.proceed(inline)
			t.mu.Lock()
			inline.inline = false
			continue
		}
		t.hire()
		if give != nil && t.handed < len(t.calls) && t.calls[t.handed].state == over {
			t.handOut(t.handed + 1)
			res := t.results[t.handed-1]
			t.mu.Unlock()
			give(res)
			t.mu.Lock()
			continue
		}
		if t.workers == 0 && t.helpers == 0 && !t.feeding {
			if t.open == 0 && t.handed == len(t.results) {
				break
			}
			if t.open == 0 && give == nil && t.streams && !t.dropped && !t.closed { // who ranges over the stream gets them
				defer t.mu.Unlock()
				return slices.Clip(t.results)
			}
			if t.open == 0 { // all of them together
				t.handOut(len(t.results))
				continue
			}
			if t.lends && t.idle() {
				t.handBack()
				t.mu.Lock()
				continue
			}
		}
		t.listen()
		t.leaveFeed()
		t.cond.Wait()
	}
	results = slices.Clip(t.results)
	if t.closed {
		t.mu.Unlock()
	} else {
		t.end()
	}
	return results
}

// handOut makes results ready for the host, up to one. The mutex is held, and
// may be let go meanwhile.
func (t *Turn) handOut(to int) {
	from := t.handed
	t.handed = to
	t.balance(from, to)
	if t.set.record == nil && !t.observed() {
		return
	}
	t.handing = true
	calls, results := t.calls[from:to], t.results[from:to] // they stay as they are
	t.mu.Unlock()
	t.drain(calls)
	for i, res := range results {
		t.recordResult(from+i, res)
	}
	t.mu.Lock()
	t.handing = false
	t.cond.Broadcast()
}

// hear looks whether the host has stopped, for who begins something new. The
// mutex is held, and let go meanwhile.
func (t *Turn) hear() {
	if t.heard || t.closed || t.ctx.Err() == nil {
		return
	}
	t.mu.Unlock()
	t.hostStops()
	t.mu.Lock()
}

// idle reports that something is left, and nothing happens to it until a person
// answers.
func (t *Turn) idle() bool {
	done := func(c *call) bool { return c.claimed }
	t.ready, t.early = slices.DeleteFunc(t.ready, done), slices.DeleteFunc(t.early, done)
	if t.running > 0 || len(t.calls) < len(t.results) || len(t.ready) > 0 || len(t.early) > 0 {
		return false
	}
	left := 0
	for _, c := range t.calls {
		if c.parked && !c.claimed || c.claimed && c.state != over {
			return false
		}
		if !c.claimed {
			left++
		}
	}
	return left > 0
}

// end lets go of everything, and asks the host for tools of the next turn. The
// mutex is held and let go.
func (t *Turn) end() {
	t.closed = true
	t.cond.Broadcast()
	if t.watching != nil {
		t.watching.end()
	}
	if t.patience != nil {
		t.patience.Stop()
	}
	unanswer := t.unanswer
	t.unanswer = nil
	if t.hired {
		t.view.session.conv.work(t, false)
	}
	var done *heldTurn
	handsBack := (t.lends || t.held != nil) && t.handsBack()
	if t.held != nil && !t.held.unknown && !handsBack {
		done = t.record()
	}
	t.mu.Unlock()
	if unanswer != nil {
		unanswer()
	}
	s := t.view.session
	if done != nil {
		s.conv.hold(t.number, done, false)
	}
	if handsBack {
		s.conv.handedOut(t.number, t.results)
	}
	_ = s.refresh(t.ctx) // the set stays, and an event said so
	s.conv.done()
}

// work says whether a turn has workers.
func (c *conversation) work(t *Turn, has bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !has:
		delete(c.working, t)
	case c.working == nil:
		c.working = map[*Turn]bool{t: true}
	default:
		c.working[t] = true
	}
}

package ferrule

import (
	"slices"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

type state uint8

const (
	queued  state = iota // waits for others, or for a slot
	running              // somebody leads it through its life
	waiting              // for a person
	over                 // has its result
)

// push queues a call that waits only for a slot, in call order.
func (t *Turn) push(c *call) {
	if c.claimed || c.state != queued {
		return
	}
	if c.busy {
		c.pushLater = true
		return
	}
	i := len(t.ready)
	for i > 0 && t.ready[i-1].index > c.index {
		i--
	}
	t.ready = slices.Insert(t.ready, i, c)
}

// hire starts a worker if there is something to do and none is starting
// already. A worker that begins starts the next: calls that do not block are
// done by few of them, calls that do by as many as may be.
func (t *Turn) hire() {
	ready := len(t.ready) > 0 && t.running < t.limit && t.workers-t.asking < t.limit
	early := len(t.early) > 0 && t.asking < t.limit
	if t.starting || !early && !ready {
		return
	}
	t.listen()
	if !t.hired {
		t.hired = true
		t.view.session.conv.work(t, true)
	}
	t.starting = true
	t.workers++
	go t.work()
}

// work leads calls through their lives until none is ready.
func (t *Turn) work() {
	spread(0)
	var c *call
	defer func() { // only a tool that ends its goroutine comes here with a call
		if c != nil {
			t.goexit(c)
		}
	}()
	t.mu.Lock()
	t.starting = false
	for {
		t.hear()
		if c = t.take(); c == nil {
			break
		}
		t.hire()
		t.mu.Unlock()
		mine := t.proceed(c)
		c = nil
		if !mine {
			return // it was given up: somebody else does its work by now
		}
		t.mu.Lock()
	}
	t.workers--
	t.cond.Broadcast()
	t.mu.Unlock()
}

// spread makes room on the stack of a new goroutine for the life of a call, at once:
// the life itself would make it grow, and be copied, step by step.
//
//go:noinline
func spread(at int) byte {
	var room [7 << 10]byte
	return room[at]
}

// take chooses what to do next: questions that can be put early, then the first
// ready call whose tool, source and tenant have a place.
func (t *Turn) take() *call {
	for len(t.early) > 0 && t.asking < t.limit {
		c := t.early[0]
		t.early = t.early[1:]
		if c.claimed || c.busy || c.state != queued || c.everAsked.Load() {
			continue
		}
		return t.asksEarly(c)
	}
	for len(t.ready) > 0 && t.running < t.limit {
		c := t.ready[0]
		t.ready = t.ready[1:]
		switch {
		case c.claimed || c.state != queued:
			continue
		case c.busy:
			c.pushLater = true
			continue
		case !c.enter():
			c.parked, c.judged = true, false
			if c.askEarly && !c.everAsked.Load() { // its question need not wait for a place
				if t.asking < t.limit {
					return t.asksEarly(c)
				}
				t.early = append(t.early, c)
			}
			continue
		}
		c.state = running
		t.running++
		return c
	}
	return nil
}

func (t *Turn) asksEarly(c *call) *call {
	c.busy = true
	t.asking++
	return c
}

// admitted lets a call go on that waited at a gate, and reports whether it uses
// the places that it was given there.
func (t *Turn) admitted(c *call, placed bool) (used bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.claimed || !c.parked {
		return false
	}
	c.parked = false
	c.inside = placed && !c.busy && t.running < t.limit
	t.push(c)
	t.hire()
	return c.inside
}

// proceed leads a call on, as far as it can go now. It is false when the call
// was given up meanwhile.
func (t *Turn) proceed(c *call) (mine bool) {
	if c.busy {
		c.earlyLife()
		return t.rest(c)
	}
	res, fate := c.safeLife()
	switch fate {
	case ended:
		return t.conclude(c, res)
	case waits:
		return t.wait(c)
	default:
		return t.move(c)
	}
}

// rest ends what was done for a call before its turn.
func (t *Turn) rest(c *call) (mine bool) {
	if t.late(c, tool.Result{}) {
		return false
	}
	t.mu.Lock()
	c.busy = false
	t.asking--
	if why := t.stopFor(c); why != nil {
		c.claimed = true
		t.mu.Unlock()
		t.settle(c, why.result(c))
		return true
	}
	if c.pushLater {
		c.pushLater = false
		if c.step.waits == 0 { // else another one has moved in front of it
			t.push(c)
		}
	}
	t.hire()
	t.cond.Broadcast()
	t.mu.Unlock()
	return true
}

// conclude gives a call its result.
func (t *Turn) conclude(c *call, res tool.Result) (mine bool) {
	if t.late(c, res) {
		return false
	}
	c.leave()
	t.mu.Lock()
	t.running--
	c.claimed = true
	if c.stop == nil && c.ran && c.cancels() && t.ctx.Err() != nil {
		c.stop = hostStop(t.ctx) // not heard yet
	}
	if c.stop != nil {
		res = c.stop.result(c)
		c.failed, c.stops = false, false
	}
	t.mu.Unlock()
	if res.Err != nil && c.stopsSiblings(t.set.siblings) {
		t.stopSiblings(c)
	}
	t.settle(c, res)
	return true
}

// settle is the last way of every result, by phases 10 to 12, to its place. Who
// calls it has claimed the call.
func (t *Turn) settle(c *call, res tool.Result) {
	res = c.finish(res)
	t.keep(c, res)
}

// keep puts a result in its place and lets those start that waited for it.
func (t *Turn) keep(c *call, res tool.Result) {
	if c.everAsked.Load() {
		c.withdraw() // before it is known that the call is over
	}
	if !c.lost.Load() && c.inside {
		c.leave() // it had its places, and was stopped before it began
	}
	if c.heldUp.Load() {
		c.stepAside()
	}
	t.mu.Lock()
	t.results[c.index] = res
	c.state = over
	t.open--
	if c.step.call != nil {
		for _, r := range t.schedule.end(c, nil) {
			t.push(r)
		}
	}
	if !t.quiet || t.workers > 0 {
		t.hire()
	}
	if t.workers == 0 || t.streams { // else the last of them says so
		t.cond.Broadcast()
	}
	t.mu.Unlock()
}

// wait leaves a call to a person: it holds no slot and no goroutine.
func (t *Turn) wait(c *call) (mine bool) {
	if t.late(c, tool.Result{}) {
		return false
	}
	c.leave()
	t.mu.Lock()
	t.running--
	if why := t.stopFor(c); why != nil {
		c.claimed = true
		t.mu.Unlock()
		t.settle(c, why.result(c))
		return true
	}
	c.state = waiting
	if c.answered {
		t.resume(c)
	} else {
		t.arm(c.asked().Expires)
	}
	t.hire()
	t.cond.Broadcast()
	t.mu.Unlock()
	return true
}

// answered hears that a question has an answer.
func (t *Turn) answered(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.waiting[id]
	if c == nil {
		return
	}
	t.unneeded(id)
	t.lookAgain(c)
}

// lookAgain has a call look for its answer, now or when it would wait for it.
func (t *Turn) lookAgain(c *call) {
	c.answered = true
	if c.state == waiting {
		t.resume(c)
		t.hire()
		t.cond.Broadcast()
	}
}

// resume queues a call whose wait is over.
func (t *Turn) resume(c *call) {
	c.answered = false
	c.state = queued
	if c.step.waits == 0 {
		t.push(c)
	}
}

// move schedules a call anew whose claims have changed.
func (t *Turn) move(c *call) (mine bool) {
	if t.late(c, tool.Result{}) {
		return false
	}
	c.emitBy(audit.Moved, "", "")
	c.leave()
	t.mu.Lock()
	t.running--
	c.state = queued
	if why := t.stopFor(c); why != nil {
		c.claimed = true
		t.mu.Unlock()
		t.settle(c, why.result(c))
		return true
	}
	if t.schedule == nil {
		t.schedule = t.order()
		t.schedule.plan(c, t.calls)
	}
	ready := t.schedule.move(c, c.req.Claims, t.calls)
	behind := func(o *call) bool { return o.step.waits > 0 } // it was ready, and now waits for this one
	t.ready = slices.DeleteFunc(t.ready, behind)
	var next []passage
	for _, o := range t.calls {
		if o.state == queued && behind(o) {
			o.parked = false
			next = append(next, o.atGates(-1, 0)...)
		}
	}
	for _, r := range ready {
		t.push(r)
	}
	t.hire()
	t.mu.Unlock()
	t.set.admit(next)
	return true
}

// alone is a call that may run on the goroutine of who waits for it: it returns
// soon when it is told to, and nothing is beside it.
func (t *Turn) alone() *call {
	if !t.quiet || t.running > 0 || t.workers > 0 || len(t.ready) != 1 || len(t.early) > 0 || !t.ready[0].cooperative() {
		return nil
	}
	return t.take()
}

// goexit gives a result to a call whose tool ended its goroutine.
func (t *Turn) goexit(c *call) {
	if !t.fellOut(c) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.workers--
	t.hire()
	t.cond.Broadcast()
}

// fellOut ends what was done for a call on a goroutine that has ended. It is
// false when the call was given up before.
func (t *Turn) fellOut(c *call) (mine bool) {
	err := unexpected(errGoexit)
	t.mu.Lock()
	l := c.leased
	t.mu.Unlock()
	if l != nil && l.lostAs != nil {
		err = l.lostAs(errGoexit)
	}
	c.failed = c.letGo()
	if c.busy {
		return t.rest(c)
	}
	return t.conclude(c, tool.Result{Err: err})
}

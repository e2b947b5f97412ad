package ferrule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// stop is why calls end before they are done.
type stop struct {
	text  string // for the model
	cause error
	by    *call // whose siblings it stops; nil: all calls
}

func (s *stop) result() tool.Result {
	return tool.Result{Err: &tool.Error{Kind: tool.Aborted, Text: s.text, Cause: s.cause}}
}

var (
	errInterrupted = errors.New("a person interrupted the turn")
	errStopped     = errors.New("a person stopped the call")
)

func hostStop(ctx context.Context) *stop {
	return &stop{text: "Aborted: the run was stopped.", cause: context.Cause(ctx)}
}

// Interrupt is a person who speaks: calls whose tool says Cancel stop at once,
// running ones that do not say so go on under their own time, and all others
// are aborted.
func (t *Turn) Interrupt() {
	t.halt(&stop{text: "Aborted: a person interrupted.", cause: errInterrupted})
}

// halt stops the whole turn.
func (t *Turn) halt(why *stop) {
	t.mu.Lock()
	if t.stopped == nil {
		t.stopped = why
	}
	t.mu.Unlock()
	t.abort(why, func(*call) bool { return true })
}

// hostStops hears that the host's context has ended.
func (t *Turn) hostStops() {
	now := time.Now()
	t.mu.Lock()
	if t.hard.IsZero() {
		t.hard = now.Add(hostTime)
	}
	for _, l := range t.leases {
		if l.call == nil {
			l.finish(context.Cause(t.ctx), now)
		}
	}
	t.arm(t.hard)
	t.mu.Unlock()
	t.halt(hostStop(t.ctx))
}

// Stop is a person who stops one call, whatever its tool says, by Ferrule's id.
// It reports whether the call was under way.
func (t *Turn) Stop(id string) bool {
	t.mu.Lock()
	i := slices.IndexFunc(t.calls, func(c *call) bool { return c.first.ID == id && !c.claimed })
	if i < 0 {
		t.mu.Unlock()
		return false
	}
	c := t.calls[i]
	t.mu.Unlock()
	why := &stop{text: "Aborted: a person stopped this call.", cause: errStopped}
	t.abort(why, func(o *call) bool {
		if o == c && o.state == running {
			t.cancel(o, why)
		}
		return o == c
	})
	return true
}

// stopSiblings ends the calls that stand beside one that failed.
func (t *Turn) stopSiblings(c *call) {
	why := &stop{
		text:  fmt.Sprintf("Aborted because %s, which was called in the same turn, failed.", c.given.Name),
		cause: fmt.Errorf("%s (%s) stopped its siblings", c.given.Name, c.first.ID),
		by:    c,
	}
	t.mu.Lock()
	t.fallen = append(t.fallen, why)
	t.mu.Unlock()
	t.abort(why, func(o *call) bool { return o != c && !conflict(o.planned, c.planned) })
}

// abort ends those of the chosen calls that have not begun or wait for a person,
// and tells running ones whose tool says Cancel.
func (t *Turn) abort(why *stop, chosen func(*call) bool) {
	var now []*call
	t.mu.Lock()
	for _, c := range t.calls {
		if c.claimed || !chosen(c) {
			continue
		}
		switch {
		case c.busy, c.state == running && c.entry != nil && c.entry.tool.Cancel:
			t.cancel(c, why) // who leads it gives it its result
		case c.state != running:
			c.claimed = true
			now = append(now, c)
		}
	}
	t.mu.Unlock()
	for _, c := range now {
		t.settle(c, why.result())
	}
}

// cancel ends what a call is doing; its result will be dropped.
func (t *Turn) cancel(c *call, why *stop) {
	if c.stop == nil {
		c.stop = why
	}
	for _, l := range t.leases {
		if l.call == c {
			l.finish(why.cause, time.Now())
		}
	}
	t.recheck()
}

// stopFor is why a call that has not begun must not begin; nil: it may.
func (t *Turn) stopFor(c *call) *stop {
	if t.stopped != nil {
		return t.stopped
	}
	for _, f := range t.fallen {
		if !conflict(c.planned, f.by.planned) {
			return f
		}
	}
	return c.stop
}

// listen makes the end of the host's context heard. The mutex is held.
func (t *Turn) listen() {
	if t.unhost == nil && t.ctx.Done() != nil && !t.closed {
		t.unhost = context.AfterFunc(t.ctx, t.hostStops)
	}
}

// lease begins the time of one function; nil: the call is over and nothing more
// is done for it.
func (c *call) lease(d time.Duration) *lease {
	t := c.turn
	l := &lease{values: t.ctx, turn: t, call: c}
	if !c.begin(l, d) {
		return nil
	}
	return l
}

func (c *call) begin(l *lease, d time.Duration) bool {
	t := c.turn
	l.last(d)
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.lost.Load() || c.stop != nil || c.claimed {
		return false
	}
	if l.outer = c.leased; l.outer != nil {
		l.outer.until.Store(0) // a wrapper's time stands still while what it wraps runs
	}
	c.leased = l
	if !c.inline { // else it is looked at when it asks
		t.look(l)
	}
	return true
}

// release ends the time of a function, and says why it was over before; nil: it
// was not.
func (c *call) release(l *lease) error {
	t := c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	cause := l.cause()
	if cause == nil && l.overdue(time.Now()) { // nobody looked
		cause = errTime
	}
	l.end.CompareAndSwap(nil, &t.over)
	if l.watched {
		l.shut()
		t.leases = slices.DeleteFunc(t.leases, func(o *lease) bool { return o == l })
	}
	if c.leased = l.outer; c.leased != nil {
		c.leased.last(c.otherTime())
		if c.leased.watched {
			t.armFor(c.leased)
		}
	}
	if c.lost.Load() {
		return errLost
	}
	return cause
}

// watch lets the turn's timer look at a lease.
func (t *Turn) watch(l *lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listen()
	if t.ctx.Err() != nil && t.hard.IsZero() { // not heard yet
		t.hard = time.Now().Add(hostTime)
		if t.stopped == nil {
			t.stopped = hostStop(t.ctx)
		}
		if l.call == nil || l.call.entry.tool.Cancel {
			if l.call != nil && l.call.stop == nil {
				l.call.stop = t.stopped
			}
			l.finish(context.Cause(t.ctx), time.Now())
		}
	}
	t.look(l)
	t.recheck()
}

// look is watch for who holds the mutex.
func (t *Turn) look(l *lease) {
	if l.watched || l.end.Load() != nil {
		return
	}
	l.watched = true
	t.leases = append(t.leases, l)
	t.armFor(l)
	t.arm(t.hard)
}

func (t *Turn) armFor(l *lease) {
	if at, ok := l.Deadline(); ok {
		t.arm(at)
	}
}

// arm sets the turn's one timer, unless it is set for earlier.
func (t *Turn) arm(at time.Time) {
	if at.IsZero() || !t.timerAt.IsZero() && !at.Before(t.timerAt) {
		return
	}
	t.timerAt = at
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Until(at), t.tick)
		return
	}
	t.timer.Reset(time.Until(at))
}

// recheck looks at all leases now, and lets the timer give up what is to be
// given up.
func (t *Turn) recheck() {
	now := time.Now()
	if len(t.review(now)) > 0 {
		t.arm(now)
	}
}

// tick is what the timer does.
func (t *Turn) tick() {
	t.mu.Lock()
	t.timerAt = time.Time{}
	late := t.review(time.Now())
	t.mu.Unlock()
	for _, l := range late {
		t.giveUp(l)
	}
}

// review ends leases whose time is over, wakes calls whose question has
// expired, and gives those leases whose function did not return in time. The
// mutex is held.
func (t *Turn) review(now time.Time) (late []*lease) {
	for _, l := range t.leases {
		if l.end.Load() == nil {
			switch {
			case l.overdue(now):
				l.finish(errTime, now)
			case !t.hard.IsZero() && !now.Before(t.hard):
				l.finish(context.Cause(t.ctx), now)
			default:
				t.armFor(l)
				t.arm(t.hard)
				continue
			}
		}
		if at := l.end.Load().at.Add(grace); now.Before(at) {
			t.arm(at)
		} else {
			late = append(late, l)
		}
	}
	for _, c := range t.waiting {
		if c.state != waiting || c.asked() == nil {
			continue
		}
		if at := c.asked().Expires; now.Before(at) {
			t.arm(at)
		} else {
			t.resume(c)
			t.hire()
		}
	}
	return late
}

// giveUp ends a call whose function did not return: it gets its result now, and
// what comes later is recorded, never delivered.
func (t *Turn) giveUp(l *lease) {
	t.mu.Lock()
	i := slices.Index(t.leases, l)
	if i < 0 || l.call != nil && l.call.inline {
		t.mu.Unlock()
		return // it returned, or nobody else could do the work of its goroutine
	}
	t.leases = slices.Delete(t.leases, i, i+1)
	l.watched = false
	c := l.call
	switch {
	case c == nil:
		t.abandon(l)
		return
	case c.lost.Load(): // its wrapper, say: it is one call
		t.mu.Unlock()
		return
	}
	already := c.claimed
	c.claimed, c.lostAt = true, time.Now()
	c.lost.Store(true)
	t.workers--
	if c.state == running {
		t.running--
	}
	cause := l.cause()
	why := c.stop
	t.view.session.conv.lose(c)
	wake := c.atGates(0, 1)
	t.mu.Unlock()
	unpark(wake)
	if t.set.observe != nil {
		c.emit(audit.Event{Kind: audit.GivenUp, Text: cause.Error()})
	}
	if already {
		t.mu.Lock()
		t.cond.Broadcast()
		t.mu.Unlock()
		return
	}
	res := tool.Result{Err: &tool.Error{Kind: tool.Aborted, Text: "Aborted: the run was stopped.", Detail: "it did not return after it was stopped and was given up", Cause: cause}}
	switch {
	case why != nil:
		res = why.result()
	case errors.Is(cause, errTime):
		res.Err = c.timedOut("it did not return and was given up")
	}
	if c.ran {
		c.failed = true
	}
	if c.stopsSiblings(t.set.siblings) {
		t.stopSiblings(c)
	}
	t.settle(c, res)
}

// late records what a call that was given up returned at last. It is false for
// any other call.
func (t *Turn) late(c *call, res tool.Result) bool {
	if !c.lost.Load() {
		return false
	}
	unpark(c.atGates(-1, -1))
	if t.set.observe != nil {
		c.emitResult(audit.Late, t.set.cleaned(c.req, res))
	}
	t.view.session.conv.found(c)
	return true
}

// timedOut is the result of a call that took too long.
func (c *call) timedOut(detail string) *tool.Error {
	d := c.otherTime()
	return &tool.Error{Kind: tool.Timeout, Text: fmt.Sprintf("Timed out after %s.", d), Detail: detail, Cause: context.DeadlineExceeded}
}

package ferrule

import (
	"context"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// watch is a turn's clock: the functions that are under way, and the one timer
// that looks at all of them. All of it is guarded by the turn's mutex.
type watch struct {
	leases []*lease
	timer  *time.Timer
	at     time.Time   // when the timer looks next
	hard   time.Time   // when calls that go on after the host's stop must end
	unhost func() bool // stops listening to the host's context
}

// watch is there once it is asked for.
func (t *Turn) watch() *watch {
	if t.watching == nil {
		t.watching = new(watch)
	}
	return t.watching
}

// forget stops looking at a function.
func (w *watch) forget(l *lease) {
	l.watched = false
	w.leases = slices.DeleteFunc(w.leases, func(o *lease) bool { return o == l })
}

// end lets go of the timer and the host's context.
func (w *watch) end() {
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.unhost != nil {
		w.unhost()
	}
}

// listen makes the end of the host's context heard. The mutex is held.
func (t *Turn) listen() {
	if t.ctx.Done() == nil || t.closed {
		return
	}
	if w := t.watch(); w.unhost == nil {
		w.unhost = context.AfterFunc(t.ctx, t.hostStops)
	}
}

// lease begins the time of one function; nil: the call is over and nothing more
// is done for it.
func (c *call) lease(d time.Duration, lostAs func(error) *tool.Error) *lease {
	t := c.turn
	l := &lease{ctx: c.context(), turn: t, call: c, lostAs: lostAs, req: c.req}
	l.env = c.host(l).Env()
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
	if c.lost.Load() || c.stop != nil || c.claimed || c.leased != nil && c.leased.end.Load() != nil {
		return false // the last: a wrapper whose own time is over starts nothing
	}
	if l.runs && !c.ran { // a tool that was not started is not started after a stop
		if c.stop = t.stopFor(c); c.stop != nil {
			return false
		}
	}
	if l.outer = c.leased; l.outer != nil {
		l.outer.until.Store(0) // a wrapper's time stands still while what it wraps runs
	}
	c.leased = l
	if l.runs {
		c.ran, c.failed, c.stops, c.suspends = true, false, false, false
		if t.noted() {
			c.started = l.began
		}
	}
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
	if cause == nil && !l.watched && !l.runs && l.overdue(time.Now()) {
		cause = errTime // nobody looked
	}
	l.end.CompareAndSwap(nil, t.set.over)
	l.returned.Store(true)
	if l.runs {
		c.moving = nil // nobody is left who would move it
	}
	if l.touched.Load() {
		t.shared = true
		l.shut()
	}
	if l.watched {
		t.watching.forget(l)
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

// observe lets the turn's timer look at a lease.
func (t *Turn) observe(l *lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listen()
	if w := t.watch(); t.ctx.Err() != nil && w.hard.IsZero() { // not heard yet
		w.hard = time.Now().Add(hostTime)
		if t.stopped == nil {
			t.stopped = hostStop(t.ctx)
		}
		if l.call == nil || l.call.cancels() {
			if l.call != nil && l.call.stop == nil {
				l.call.stop = t.stopped
			}
			l.finish(hostStop(t.ctx).cause, time.Now())
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
	w := t.watch()
	w.leases = append(w.leases, l)
	t.armFor(l)
	t.arm(w.hard)
}

func (t *Turn) armFor(l *lease) {
	if at, ok := l.Deadline(); ok {
		t.arm(at)
	}
}

// arm sets the turn's one timer, unless it is set for earlier.
func (t *Turn) arm(at time.Time) {
	if t.closed {
		return
	}
	w := t.watch()
	if at.IsZero() || !w.at.IsZero() && !at.Before(w.at) {
		return
	}
	w.at = at
	if w.timer == nil {
		w.timer = time.AfterFunc(time.Until(at), t.tick)
		return
	}
	w.timer.Reset(time.Until(at))
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
	t.watch().at = time.Time{}
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
	w := t.watch()
	for _, l := range w.leases {
		if l.end.Load() == nil {
			switch {
			case l.overdue(now):
				l.finish(errTime, now)
			case !w.hard.IsZero() && !now.Before(w.hard):
				l.finish(t.hostStop().cause, now)
			default:
				t.armFor(l)
				t.arm(w.hard)
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

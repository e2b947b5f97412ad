package ferrule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// stop is why calls end before they are done.
type stop struct {
	text  string // for the model
	cause error
	by    *call // whose siblings it stops; nil: all calls
}

// result is that of a call which was stopped.
func (s *stop) result(c *call) tool.Result {
	return tool.Result{Err: &tool.Error{Kind: tool.Aborted, Text: s.text + c.effect(), Detail: s.cause.Error(), Cause: s.cause}}
}

var (
	errInterrupted = errors.New("a person interrupted the turn")
	errStopped     = errors.New("a person stopped the call")
)

func hostStop(ctx context.Context) *stop {
	cause := context.Cause(ctx)
	if err := ctx.Err(); !errors.Is(cause, err) {
		cause = fmt.Errorf("%w: %w", err, cause)
	}
	return &stop{text: "Aborted: the run was stopped.", cause: cause}
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
	t.heard = true
	w := t.watch()
	if w.hard.IsZero() {
		w.hard = now.Add(hostTime)
	}
	why := t.hostStop()
	for _, l := range w.leases {
		if l.call == nil {
			l.finish(why.cause, now)
		}
	}
	t.arm(w.hard)
	t.recheck()
	if t.feeding {
		t.cond.Broadcast()
	}
	t.mu.Unlock()
	t.halt(why)
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
		text:  fmt.Sprintf("Aborted because %s, which was called in the same turn, failed.", c.called()),
		cause: fmt.Errorf("%s (%s) stopped its siblings", c.called(), c.first.ID),
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
	t.mu.Lock()
	now := make([]*call, 0, t.open)
	for _, c := range t.calls {
		if c.claimed || !chosen(c) {
			continue
		}
		switch {
		case c.busy, c.state == running && c.cancels():
			t.cancel(c, why) // who leads it gives it its result
		case c.state != running:
			c.claimed = true
			now = append(now, c)
		}
	}
	t.mu.Unlock()
	for _, c := range now {
		t.settle(c, why.result(c))
	}
}

// cancel ends what a call is doing; its result will be dropped.
func (t *Turn) cancel(c *call, why *stop) {
	if c.stop == nil {
		c.stop = why
	}
	for l := c.leased; l != nil; l = l.outer {
		t.look(l)
		l.finish(why.cause, time.Now())
	}
	t.recheck()
}

// stopFor is why a call that has not begun must not begin; nil: it may.
func (t *Turn) stopFor(c *call) *stop {
	if t.stopped == nil && t.ctx.Err() != nil {
		t.stopped = hostStop(t.ctx) // not heard yet
	}
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

// giveUp ends a call whose function did not return: it gets its result now, and
// what comes later is recorded, never delivered.
func (t *Turn) giveUp(l *lease) {
	t.mu.Lock()
	if !l.watched || l.call != nil && l.call.inline {
		t.mu.Unlock()
		return // it returned, or nobody else could do the work of its goroutine
	}
	t.watching.forget(l)
	c := l.call
	switch {
	case c == nil:
		t.abandon()
		return
	case c.lost.Load(): // its wrapper, say: it is one call
		t.mu.Unlock()
		return
	}
	already := c.claimed
	c.claimed = true
	c.lost.Store(true)
	t.workers--
	if c.state == running {
		t.running--
	}
	if c.busy {
		t.asking--
	}
	cause := l.cause()
	for o := c.leased; o != nil; o = o.outer { // a wrapper that waits for its context hears it
		o.finish(errLost, time.Now())
	}
	why, lostAs := c.stop, c.leased.lostAs
	c.failed = c.ran && why == nil && errors.Is(cause, errTime)
	t.view.session.conv.lose(c)
	next := c.atGates(0, 1)
	t.mu.Unlock()
	t.set.admit(next)
	if t.noted() {
		c.emit(audit.Event{Kind: audit.GivenUp, Text: cause.Error()})
	}
	if already {
		t.mu.Lock()
		t.cond.Broadcast()
		t.mu.Unlock()
		return
	}
	res := tool.Result{Err: &tool.Error{Kind: tool.Aborted, Text: "Aborted: the run was stopped." + c.effect(), Detail: "it did not return after it was stopped and was given up", Cause: cause}}
	switch {
	case why != nil:
		res = why.result(c)
	case errors.Is(cause, errTime):
		res = tool.Result{Content: c.soFar(l), Err: c.timedOut("it did not return and was given up")}
	}
	if lostAs != nil && why == nil && !errors.Is(cause, errOver) {
		res.Err = lostAs(errTookTooLong)
	}
	if c.stopsSiblings(t.set.siblings) {
		t.stopSiblings(c)
	}
	t.settle(c, res)
}

// soFar is what a call that was given up has streamed, if it can be sent: no
// function is called for it any more, so that where an output hook would see it
// there is none.
func (c *call) soFar(l *lease) []tool.Content {
	hooked := slices.ContainsFunc(c.turn.hooks, func(h Hook) bool { return h.Output != nil && h.Only.match(c.entry) })
	if !l.runs || hooked {
		return nil
	}
	content := c.streamed(l)
	for i := range content {
		if b := &content[i]; checkBlock(b) != "" || b.Type == tool.JSONContent && schema.ValidBytes(b.JSON) != nil {
			return nil
		}
	}
	return mended(tool.Result{Content: content}).Content
}

// late records what a call that was given up returned at last. It is false for
// any other call.
func (t *Turn) late(c *call, res tool.Result) bool {
	if !c.lost.Load() {
		return false
	}
	t.set.admit(c.atGates(-1, -1))
	if t.noted() {
		c.emit(c.resultEvent(audit.Late, c.redacted(c.scrubbed(res))))
	}
	if err := c.returns(); err != nil && t.noted() {
		c.emit(audit.Event{Kind: audit.Found, Text: err.Error()})
	}
	t.view.session.conv.found(c)
	return true
}

// timedOut is the result of a call that took too long.
func (c *call) timedOut(detail string) *tool.Error {
	d := c.otherTime()
	return &tool.Error{Kind: tool.Timeout, Text: fmt.Sprintf("Timed out after %s.", d) + c.effect(), Detail: detail, Cause: context.DeadlineExceeded, Own: true}
}

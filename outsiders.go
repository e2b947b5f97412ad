package ferrule

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// otherTime is what a function outside of a call has, and every function of a
// tool whose runs have no limit.
const otherTime = 60 * time.Second

// grace is how long after the end of its context a function may still return.
const grace = time.Second

// panicked is what a function threw.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// Unwrap gives the error that was thrown, if it was one.
func (p *panicked) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// safely calls a function that is not ours: a panic is its error.
func safely[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = thrown(r)
		}
	}()
	return f()
}

// What befalls a function that does not simply return.
var (
	errTookTooLong = errors.New("it took too long")
	errGoexit      = errors.New("it ended its goroutine")
)

// bounded calls a function that is not ours outside of a turn. One that does not
// return in time is left behind.
func bounded[T any](ctx context.Context, d time.Duration, f func(context.Context) (T, error)) (v T, err error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	type returned struct {
		v   T
		err error
	}
	back := make(chan returned, 1)
	go func() {
		r := returned{err: errGoexit}
		defer func() { back <- r }()
		r.v, r.err = safely(func() (T, error) { return f(ctx) })
	}()
	select {
	case r := <-back:
		return r.v, r.err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case r := <-back:
		if r.err == nil {
			r.err = errTookTooLong
		}
		return r.v, r.err // what came too late may have to be undone
	case <-late.C:
		return v, errTookTooLong
	}
}

// timed calls a function of a tool, a hook or the host on a call's way: a panic
// is its error, it has time of its own, and what came too late does not count.
func timed[T any](c *call, f func(context.Context) (T, error)) (v T, err error) {
	return timedAs(c, nil, f)
}

// timedAs is timed for a function that, if it does not return, leaves its call
// with a result of its own; nil: a time-out.
func timedAs[T any](c *call, lostAs func(error) *tool.Error, f func(context.Context) (T, error)) (v T, err error) {
	return leased(c, lostAs, func(l *lease) (T, error) { return f(l) })
}

// leased is timedAs for a function that knows what its context is.
func leased[T any](c *call, lostAs func(error) *tool.Error, f func(*lease) (T, error)) (v T, err error) {
	l := c.lease(c.otherTime(), lostAs)
	if l == nil {
		if !c.lost.Load() {
			c.cut = errOver
		}
		return v, errOver
	}
	v, err = safely(func() (T, error) { return f(l) })
	cause := c.release(l)
	c.passHeld(l)
	switch {
	case cause == nil:
	case errors.Is(cause, errTime):
		return v, fmt.Errorf("%w: %s", errTookTooLong, c.otherTime())
	case !errors.Is(cause, errLost):
		c.cut = cause
		return v, cause
	case err == nil:
		return v, cause
	}
	return v, err
}

// shown is the request as a hook or a function of the host sees it: a copy that
// it may change without effect.
func (c *call) shown() *tool.Request {
	r := c.req.Clone()
	return &r
}

// otherTime is what each function but Run has for itself.
func (c *call) otherTime() time.Duration {
	if c.entry != nil {
		if d, ok := c.entry.tool.RunTime(); ok {
			return d
		}
	}
	return otherTime
}

// host is what a function of a call may reach.
func (c *call) host(l *lease) tool.Host {
	h := tool.Host{Request: c.req, Answer: c.reply}
	if l.runs {
		h.Outside = l
	}
	if l.runs || c.turn.observed() {
		h.Send = func(u tool.Update) { c.send(l, u) }
	}
	if c.turn.set.secrets != nil || c.turn.noted() {
		h.UseSecret = func(ctx context.Context, name string, use func([]byte) error) error {
			return c.useSecret(ctx, l, name, use)
		}
	}
	return h
}

// endOf is why a function's context ended.
func (c *call) endOf(inner context.Context) error {
	c.turn.mu.Lock()
	l := c.leased
	c.turn.mu.Unlock()
	if l != nil {
		if cause := l.cause(); cause != nil && !errors.Is(cause, errTime) {
			return cause
		}
	}
	return inner.Err()
}

// joined has the nearer deadline of two contexts, and all else of the first.
type joined struct {
	context.Context
	inner context.Context //nolint:containedctx // see join
}

func (j joined) Deadline() (time.Time, bool) {
	outer, ok := j.Context.Deadline()
	inner, also := j.inner.Deadline()
	if !ok || also && inner.Before(outer) {
		return inner, also
	}
	return outer, ok
}

// Err tells the end of time from a stop, as the inner one does.
func (j joined) Err() error {
	err := j.Context.Err()
	if inner := j.inner.Err(); err != nil && inner != nil {
		return inner
	}
	return err
}

// AfterFunc lets package context derive from it without a goroutine.
func (j joined) AfterFunc(f func()) func() bool { return context.AfterFunc(j.Context, f) }

// thrown is the error of a function that panicked with r.
func thrown(r any) error { return &panicked{r, debug.Stack()} }

// join is a context with the values of the outer one, if there is one, and the
// end of either.
func (c *call) join(outer context.Context, inner *lease) (context.Context, func()) {
	if outer == nil {
		return inner, func() {}
	}
	ctx, cancel := context.WithCancelCause(outer)
	stop := context.AfterFunc(inner, func() { cancel(c.endOf(inner)) })
	return c.host(inner).Context(joined{ctx, inner}), func() {
		stop()
		cancel(errOver)
	}
}

package ferrule

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// lease is the context of one function of a tool, a hook or the host, and the
// time that it has. Its channel and the turn's timer exist only once somebody
// asks for them: most functions never do.
//
// It takes values from the host's context but not its end. A host that stops
// ends calls by rule D6, each in its own time.
type lease struct {
	ctx      context.Context //nolint:containedctx // the host's: its values
	turn     *Turn
	call     *call                   // nil: of the host's Answer
	outer    *lease                  // of the wrapper that this function runs in
	env      tool.Env                // what the function reaches
	runs     bool                    // it is the tool itself
	req      *tool.Request           // as it stood when the function was called; nil: of the host's Answer
	halves   halves                  // of what it says
	strains  *[2]strainer            // then these; nil: all of it passes
	sieves   *sieves                 // what it says to stdout and stderr passes them; nil: nothing is taken out; guarded like halves
	lostAs   func(error) *tool.Error // the result of its call if it does not return; nil: a time-out
	began    time.Time
	until    atomic.Int64 // the deadline, in nanoseconds from then; 0: none
	end      atomic.Pointer[ending]
	returned atomic.Bool // the function has
	// touched: somebody may be using the turn through this lease. It is set
	// before the end is looked at, so that a turn whose leases have ended
	// untouched is nobody's but its own.
	touched atomic.Bool

	watched bool // the turn's timer looks at it; guarded by the turn's mutex

	mu   sync.Mutex
	ears *ears
}

// ears are who waits for the end of a lease; most have none.
type ears struct {
	done  chan struct{}
	after map[int]func()
	next  int
}

var _ context.Context = (*lease)(nil)

// ending is why and when a lease ended.
type ending struct {
	cause error
	at    time.Time
}

// Why a lease ended.
var (
	errTime = errors.New("its time was over")
	errOver = errors.New("the call is over")
	errLost = errors.New("the call was given up")
)

// Deadline is when the function should have returned.
func (l *lease) Deadline() (time.Time, bool) {
	until := l.until.Load()
	return l.began.Add(time.Duration(until)), until != 0
}

// forEver is long enough, and can be added to without running over.
const forEver = 1 << 61 * time.Nanosecond

// last sets the deadline, so long from now; 0: none.
func (l *lease) last(d time.Duration) {
	now := time.Now()
	if l.began.IsZero() {
		l.began = now
	}
	if d > 0 {
		d = min(d, forEver) + now.Sub(l.began)
	}
	l.until.Store(int64(d))
}

// Value is the call's, or the host's.
func (l *lease) Value(key any) any {
	if v := l.env.Value(key); v != nil {
		return v
	}
	return l.ctx.Value(key)
}

// open reports whether the lease has not ended. Then the turn can be used.
func (l *lease) open() bool {
	l.touched.Store(true)
	return l.end.Load() == nil
}

// Err polls: without somebody who waits for Done there is no timer.
func (l *lease) Err() error {
	if l.open() {
		if l.ctx.Err() == nil && !l.overdue(time.Now()) {
			return nil
		}
		l.turn.observe(l)
	}
	e := l.end.Load()
	switch {
	case e == nil:
		return nil // the host stopped, but this call has time left
	case errors.Is(e.cause, errTime):
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// Done makes the channel, and lets the turn's timer look at this lease.
func (l *lease) Done() <-chan struct{} {
	if l.open() {
		l.turn.observe(l)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.listeners()
	if e.done == nil {
		e.done = make(chan struct{})
		if l.end.Load() != nil {
			close(e.done)
		}
	}
	return e.done
}

// AfterFunc lets package context derive from a lease without a goroutine.
func (l *lease) AfterFunc(f func()) (stop func() bool) {
	if l.open() {
		l.turn.observe(l)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end.Load() != nil {
		go f()
		return func() bool { return false }
	}
	e := l.listeners()
	if e.after == nil {
		e.after = make(map[int]func())
	}
	key := e.next
	e.next++
	e.after[key] = f
	return func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		_, there := e.after[key]
		delete(e.after, key)
		return there
	}
}

func (l *lease) listeners() *ears {
	if l.ears == nil {
		l.ears = new(ears)
	}
	return l.ears
}

// finish ends the lease; the first cause stays. The turn's mutex is held.
func (l *lease) finish(cause error, now time.Time) {
	if !l.end.CompareAndSwap(nil, &ending{cause, now}) {
		return
	}
	l.shut()
}

// shut tells everybody who waits for the end.
func (l *lease) shut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ears == nil {
		return
	}
	if done := l.ears.done; done != nil {
		select {
		case <-done:
		default:
			close(done)
		}
	}
	for _, f := range l.ears.after {
		go f()
	}
	l.ears.after = nil
}

func (l *lease) overdue(now time.Time) bool {
	until := l.until.Load()
	return until != 0 && now.Sub(l.began) >= time.Duration(until)
}

// cause is why it ended; nil: it has not.
func (l *lease) cause() error {
	if e := l.end.Load(); e != nil {
		return e.cause
	}
	return nil
}

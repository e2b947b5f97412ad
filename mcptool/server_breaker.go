package mcptool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

const (
	// breakerAfter is after how many calls in a row without an answer a server is
	// left alone, and breakerPause for how long; each pause is twice as long as the
	// one before, up to longBreak.
	breakerAfter = 5
	breakerPause = 20 * time.Second
	longBreak    = 5 * time.Minute
	// oneLoss is how near to each other broken connections count once: a server that
	// dies takes all of its calls with it.
	oneLoss = time.Second
)

// errPaused is in the tree of an error about a server that is left alone: nothing was
// sent.
var errPaused = errors.New("it is not asked now")

// breaker keeps requests from a server that does not answer: each would take its
// whole time to fail. All methods are safe for concurrent use; the zero value lets
// all through.
type breaker struct {
	mu      sync.Mutex
	failed  int       // in a row
	last    time.Time // when one was counted
	why     string    // of the last, for anybody
	cause   string    // of the last, for the operator
	mixed   bool      // they did not all fail alike
	pause   time.Duration
	until   time.Time // nobody passes; zero: all do
	probing bool      // one that may show that it is well again
	lost    bool      // the last had no connection
}

// passage is one request that was let through.
type passage struct {
	s     *server
	probe bool
}

// pass lets a request through, or says why not, and for how long.
func (s *server) pass() (passage, error) {
	if s.BreakerAfter == tool.Unlimited {
		return passage{s: s}, nil
	}
	b := &s.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	switch wait := time.Until(b.until); {
	case b.until.IsZero():
		return passage{s: s}, nil
	case wait > 0:
		return passage{}, s.pausedLocked(wait)
	case b.probing:
		return passage{}, s.pausedLocked(0)
	}
	b.probing = true
	return passage{s, true}, nil
}

// done counts how a request ended.
func (p passage) done(ctx context.Context, err error) {
	if p.s.BreakerAfter == tool.Unlimited {
		return
	}
	b := &p.s.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.probe {
		b.probing = false
	}
	switch why, kind := failingOf(ctx, err); kind {
	case answeredWell:
		b.failed, b.pause, b.until, b.mixed = 0, 0, time.Time{}, false
	case saidNothing:
	case wasLate, wasLost:
		p.fail(why, err.Error(), kind)
	}
}

// fail counts a failure. The mutex is held.
func (p passage) fail(why, cause string, kind failing) {
	b, now := &p.s.breaker, time.Now()
	if !b.until.IsZero() && !p.probe {
		return // it was under way when the others were stopped
	}
	if kind == wasLost && b.failed > 0 && now.Sub(b.last) < oneLoss && !p.probe {
		return
	}
	b.failed++
	b.mixed = b.mixed || b.failed > 1 && b.why != why
	b.last, b.why, b.cause, b.lost = now, why, cause, kind == wasLost
	if b.failed < cmp.Or(p.s.BreakerAfter, breakerAfter) && !p.probe {
		return
	}
	first := cmp.Or(p.s.BreakerPause, breakerPause)
	b.pause = min(max(2*b.pause, first), max(longBreak, first))
	b.until = now.Add(b.pause)
	p.s.fault(faultPaused, fmt.Sprintf("%s; for %s", b.told(), b.pause))
}

// there is called when the server was reached anew: where it was lost, the next
// request may try it.
func (b *breaker) there() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); b.lost && b.until.After(now) {
		b.until = now
	}
}

// told is why nobody passes. The mutex is held.
func (b *breaker) told() string {
	switch {
	case b.failed == 1:
		return "1 call " + b.why
	case b.mixed:
		return fmt.Sprintf("%d calls in a row failed, and the last %s", b.failed, b.why)
	}
	return fmt.Sprintf("%d calls in a row %s", b.failed, b.why)
}

// paused says why the server is left alone, and until when; "": it is not. It reads
// the same until that changes.
func (s *server) paused() string {
	b := &s.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return ""
	}
	next := "the next call tries it"
	if time.Until(b.until) > 0 {
		next = "next try at " + b.until.Format(time.TimeOnly)
	}
	return fmt.Sprintf("%s (%s); %s", b.told(), b.cause, next)
}

func (s *server) pausedLocked(wait time.Duration) *pausedError {
	return &pausedError{s.Name, s.breaker.told(), s.breaker.cause, wait}
}

// failing is what a request says of the server.
type failing int

const (
	answeredWell failing = iota // whatever it answered
	saidNothing                 // the request ended for another reason
	wasLate
	wasLost // the connection broke, or there is none
)

// failingOf judges how a request ended. What a server answers is an answer, also
// where it is an error, or too long.
func failingOf(ctx context.Context, err error) (why string, kind failing) {
	late := (*timeoutError)(nil)
	switch {
	case err == nil, errors.As(err, new(*Fault)), errors.Is(err, errLong):
		return "", answeredWell
	case errors.As(err, &late):
		return fmt.Sprintf("got no answer within %s", late.after), wasLate
	case ctx.Err() != nil, errors.Is(err, errUnauthorized), errors.Is(err, errBusy), errors.Is(err, errExpired), errors.Is(err, errNoInput),
		errors.As(err, new(*downError)), errors.Is(err, errClosed), errors.Is(err, errLaneClosed), errors.Is(err, errWardClosed), errors.Is(err, errNotCurrent),
		errors.Is(err, errUnlisted), unsafely(err):
		return "", saidNothing
	case errors.Is(err, errUnreachable):
		return "could not reach it", wasLost
	}
	return "lost the connection", wasLost
}

// pausedError is that a server is left alone.
type pausedError struct {
	server, why string
	cause       string        // for the operator
	wait        time.Duration // 0: one request tries it now
}

func (e *pausedError) Error() string {
	return fmt.Sprintf("server %s: %s (%s); %s", e.server, e.why, e.cause, e.next())
}

func (e *pausedError) next() string {
	if e.wait <= 0 {
		return "one call tries it now"
	}
	return fmt.Sprintf("next try in %s", (e.wait + time.Second - 1).Truncate(time.Second))
}

func (e *pausedError) Unwrap() error { return errPaused }

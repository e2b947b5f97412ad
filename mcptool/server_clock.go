package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// errTimeout is in the tree of an error about a server that took too long.
var errTimeout = errors.New("it took too long")

type timeoutError struct {
	server string
	after  time.Duration
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("server %s did not answer within %s", e.server, e.after)
}

func (s *server) tooLong() error { return &timeoutError{s.Name, s.timeout()} }

func (e *timeoutError) Unwrap() error { return errTimeout }

// clock ends a context once the server has had its time. It stands still while the
// server waits for somebody else. All methods are safe for concurrent use.
type clock struct {
	cancel context.CancelCauseFunc
	cause  error

	mu    sync.Mutex
	left  time.Duration
	holds int       // reasons to stand still
	stood time.Time // since when it stands still; zero: it was never started
	since time.Time
	timer *time.Timer // nil: it stands still
	over  bool
}

// newClock is a clock that stands still until it is started.
func newClock(ctx context.Context, d time.Duration, cause error) (context.Context, *clock) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &clock{cancel: cancel, cause: cause, left: d, holds: 1}
}

// stop stops it until start was called as often.
func (k *clock) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.holds++; k.holds == 1 {
		k.stood = time.Now()
	}
	if k.timer != nil {
		k.timer.Stop()
		k.timer = nil
		k.left = max(k.left-time.Since(k.since), 0)
	}
}

func (k *clock) start() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.holds--; k.holds == 0 && !k.over {
		k.since = time.Now()
		k.timer = time.AfterFunc(k.left, func() { k.cancel(k.cause) })
	}
}

func (k *clock) end() { k.giveUp(nil) }

// giveUp ends the context, whoever is waited for.
func (k *clock) giveUp(cause error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	if k.timer != nil {
		k.timer.Stop()
	}
	k.cancel(cause)
}

// standing is since when the server waits for somebody else; false: it does not.
func (k *clock) standing() (since time.Time, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stood, k.holds > 0 && !k.over && !k.stood.IsZero()
}

// asking is a request of a client whose server has its time stopped while the
// client is asked.
type asking struct {
	exchange
	server *server
	clock  *clock
	env    *tool.Env // of the call; nil: it is no call of a tool
	quiet  bool      // the client wants no log messages
	noted  bool      // on the record is how the server is isolated
}

// pause is for while somebody is asked: the server's time stands still, and the
// call holds up nobody.
func (x *asking) pause() (goOn func()) {
	x.clock.stop()
	back := x.env.Aside()
	return func() {
		back()
		x.clock.start()
	}
}

func (x *asking) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	asked, err := x.server.asks(x.audience(), method, params)
	if err != nil {
		return nil, err
	}
	defer x.pause()()
	return x.exchange.request(ctx, method, asked)
}

func (x *asking) input(ctx context.Context, required json.RawMessage) (responses, state json.RawMessage, err error) {
	if required, err = x.server.asksAll(x.audience(), required); err != nil {
		return nil, nil, err
	}
	defer x.pause()()
	return x.exchange.input(ctx, required)
}

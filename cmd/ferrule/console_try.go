package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// consoleClient is what questions and records call the console.
const consoleClient = "console"

// callerOfConsole is who calls tools there: somebody who looks at it.
func callerOfConsole() tool.Caller {
	return tool.Caller{Session: consoleClient + "-" + strings.ToLower(rand.Text()[:8]), Client: consoleClient, Principal: localUser, Attended: true}
}

// trials are the calls that a person makes on the pages. They outlive the request that
// began them, and end with the program.
type trials struct {
	session *ferrule.Session

	mu     sync.Mutex
	closed bool
	all    map[*attempt]bool // under way
	going  sync.WaitGroup
}

// attempt is a call under way.
type attempt struct {
	turn   *ferrule.Turn
	cancel context.CancelFunc
	id     chan string // gets Ferrule's id

	mu      sync.Mutex
	call    string
	started bool
}

var errStopping = errors.New("the program is being stopped: no more calls are begun")

// begin makes a call through every gate, and gives Ferrule's id of it. The call goes on
// when ctx has ended.
func (t *trials) begin(ctx context.Context, name string, args json.RawMessage) (string, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := &attempt{cancel: cancel, id: make(chan string, 1)}
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		cancel()
		return "", errStopping
	}
	// Nobody goes on with it in another process: its question ends with this one.
	a.turn = t.session.View(life).Begin(life, ferrule.TurnOptions{Apart: true, Ends: true, Observe: a.observe})
	if t.all == nil {
		t.all = make(map[*attempt]bool)
	}
	t.all[a] = true
	over := make(chan tool.Result, 1)
	t.going.Go(func() { //nolint:contextcheck // the turn has its own
		defer cancel()
		a.turn.Add(tool.Call{Name: name, Input: args})
		over <- a.turn.Wait()[0]
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.all, a)
	})
	t.mu.Unlock()
	select {
	case id := <-a.id:
		return id, nil
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-over:
		select {
		case id := <-a.id:
			return id, nil
		default:
			return "", fmt.Errorf("it did not begin: %w", r.Err)
		}
	}
}

func (a *attempt) observe(e audit.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch e.Kind { //nolint:exhaustive // the others say nothing of how far it is
	case audit.Requested:
		if a.call == "" {
			a.call = strings.Clone(e.Call())
			a.id <- a.call
		}
	case audit.Started:
		a.started = true
	}
}

// now are those that are under way.
func (t *trials) now() []*attempt {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.all))
}

// stop is a person who stops a call. It reports whether it was under way.
func (t *trials) stop(call string) bool {
	return slices.ContainsFunc(t.now(), func(a *attempt) bool { return a.turn.Stop(call) })
}

// stopping is how long before the end of its time a call is stopped.
const stopping = 2 * time.Second

// close takes no more calls, stops those that have not begun, and lets the others end
// until shortly before the deadline of ctx: they are stopped then.
func (t *trials) close(ctx context.Context) error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	for _, a := range t.now() {
		a.mu.Lock()
		call, started := a.call, a.started
		a.mu.Unlock()
		if !started {
			a.turn.Stop(call)
		}
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		t.going.Wait()
	}()
	resting := ctx
	if end, has := ctx.Deadline(); has {
		var cancel context.CancelFunc
		resting, cancel = context.WithDeadline(ctx, end.Add(-stopping))
		defer cancel()
	}
	select {
	case <-over:
		return nil
	case <-resting.Done():
	}
	for _, a := range t.now() {
		a.mu.Lock()
		call := a.call
		a.mu.Unlock()
		a.turn.Stop(call)
		a.cancel()
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package ferrule

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Claims by a function are taken when a call arrives, in order, and a function
// that does not return must not hold up the turn. So calls of such tools arrive
// on a goroutine of their own; one that is stuck is left behind, its call claims
// nothing, and the next goes on behind it.

// arrival is one such goroutine.
type arrival struct {
	mu    sync.Mutex
	at    int // the call that arrives
	asked time.Time
	gone  bool // left behind
}

// arriveAll brings calls into the turn, one after the other.
func (t *Turn) arriveAll(calls []*call) {
	if slices.ContainsFunc(calls, t.slow) {
		t.arriveBeside(calls)
		return
	}
	for _, c := range calls {
		c.arrive()
		t.admit(c)
	}
}

// slow reports whether the claims of a call are a function that may not return.
func (t *Turn) slow(c *call) bool {
	e := t.view.tools.find(c.first.CalledAs)
	return t.set.replay == nil && e != nil && e.believed && e.tool.ClaimsOf != nil && !e.tool.Cooperative
}

// arriveBeside brings calls in on other goroutines: one after another is left
// behind with the call that it is stuck with. What has arrived does not wait for
// the others.
func (t *Turn) arriveBeside(calls []*call) {
	t.mu.Lock()
	t.quiet = false
	t.mu.Unlock()
	for len(calls) > 0 {
		n := t.arriveUntil(calls)
		if n < len(calls) {
			c := calls[n]
			c.mute = true
			c.arrive()
			t.admit(c)
			n++
		}
		calls = calls[n:]
	}
}

// arriveUntil brings calls in on another goroutine, and gives how many came in
// before one was stuck.
func (t *Turn) arriveUntil(calls []*call) int {
	a := new(arrival)
	back := make(chan struct{})
	go func() {
		defer close(back)
		for _, c := range calls {
			c.arrival, c.mute = a, t.ctx.Err() != nil
			c.arrive()
			c.arrival = nil
			t.admit(c)
			a.next()
		}
	}()
	patience, stops, gone := otherTime, t.ctx.Done(), t.gone
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case <-back:
			return a.at
		case <-stops:
			patience, stops = grace, nil
			timer.Reset(patience)
		case <-gone:
			patience, gone = grace, nil
			timer.Reset(patience)
		case <-timer.C:
			left, at := a.leave(patience)
			if left {
				return at
			}
			timer.Reset(patience / 4)
		}
	}
}

func (a *arrival) next() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at++
	a.asked = time.Time{}
}

// leave gives up on a goroutine that has been in one function for too long.
func (a *arrival) leave(patience time.Duration) (left bool, at int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gone = !a.asked.IsZero() && time.Since(a.asked) >= patience
	return a.gone, a.at
}

var errMute = errors.New("its function for claims was not waited for, so nothing is claimed")

// claimsOf calls a tool's function for claims, where it cannot hold up others.
func (c *call) claimsOf(args tool.Args) (tool.Claims, error) {
	a := c.arrival
	switch {
	case c.mute:
		return tool.Claims{}, errMute
	case a == nil:
		return c.entry.claimsOf(args)
	}
	e := c.entry // the call may be another's before this returns
	a.mu.Lock()
	a.asked = time.Now()
	a.mu.Unlock()
	claims, err := e.claimsOf(args)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gone {
		runtime.Goexit() // another one has gone on
	}
	a.asked = time.Time{}
	return claims, err
}

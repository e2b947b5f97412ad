package ferrule

import (
	"errors"
	"runtime"
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
func (t *Turn) arriveAll(calls []call) {
	if !t.slow(calls) {
		for i := range calls {
			calls[i].arrive()
			t.admit(&calls[i])
		}
		return
	}
	for from := 0; from < len(calls); {
		stuck := t.arriveBeside(calls, from)
		if stuck < len(calls) {
			c := &calls[stuck]
			c.mute = true
			c.arrive()
			t.admit(c)
		}
		from = stuck + 1
	}
}

// slow reports whether some call has a tool whose claims are a function that may
// not return.
func (t *Turn) slow(calls []call) bool {
	for i := range calls {
		if e := t.view.tools.find(calls[i].first.Name); e != nil && e.believed && e.tool.ClaimsOf != nil && !e.tool.Cooperative {
			return true
		}
	}
	return false
}

// arriveBeside brings calls in on another goroutine, until all have arrived or
// one is stuck, whose place it gives.
func (t *Turn) arriveBeside(calls []call, from int) (stuck int) {
	a := &arrival{at: from}
	back := make(chan struct{})
	go func() {
		defer close(back)
		for i := from; i < len(calls); i++ {
			c := &calls[i]
			c.arrival = a
			c.arrive()
			c.arrival = nil
			t.admit(c)
			a.next()
		}
	}()
	timer := time.NewTimer(otherTime)
	defer timer.Stop()
	for {
		select {
		case <-back:
			return a.at
		case <-timer.C:
			left, at := a.leave()
			if left {
				return at
			}
			timer.Reset(otherTime / 4)
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
func (a *arrival) leave() (left bool, at int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gone = !a.asked.IsZero() && time.Since(a.asked) >= otherTime
	return a.gone, a.at
}

var errMute = errors.New("its function for claims did not return, so nothing is claimed")

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

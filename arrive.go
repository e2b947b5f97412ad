package ferrule

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
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

// slow reports whether the claims of a call, or what it is about, are a function
// that may not return.
func (t *Turn) slow(c *call) bool {
	e := t.view.tools.find(c.first.CalledAs)
	if e != nil && e.calls && t.set.replay == nil {
		if c.open(e); c.within != nil {
			e = t.view.tools.find(c.within.name)
		}
	}
	return t.set.replay == nil && e != nil && e.believed && (e.tool.ClaimsOf != nil || e.tool.Facts != nil) && !e.tool.Cooperative
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

var (
	errMute       = errors.New("its function for claims was not waited for, so nothing is claimed")
	errNoFacts    = errors.New("its function for facts was not waited for, so nothing is known")
	errUnbelieved = errors.New("its source is not believed, so nothing is known")
)

// claimsOf calls a tool's function for claims, where it cannot hold up others.
func (c *call) claimsOf(args tool.Args) (claims tool.Claims, err error) {
	if c.mute {
		return claims, errMute
	}
	e := c.entry // the call may be another's before this returns
	c.besides(func() { claims, err = e.claimsOf(args) })
	return claims, err
}

// besides calls a function of the tool where it cannot hold up others.
func (c *call) besides(f func()) {
	a := c.arrival
	if a == nil {
		f()
		return
	}
	a.mu.Lock()
	a.asked = time.Now()
	a.mu.Unlock()
	f()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gone {
		runtime.Goexit() // another one has gone on
	}
	a.asked = time.Time{}
}

// factsForRules has the tool say what the call is about, where rules may want to
// know: they must not be held up by it.
func (c *call) factsForRules() {
	t := c.turn
	auto := c.req.Mode == string(policy.ModeAuto)
	if t.set.policy == nil && !auto || c.entry.tool.Facts == nil {
		return
	}
	if s := t.view.stands; s == nil || s.mode != c.req.Mode || s.fixed[c.entry] == nil || auto {
		c.facts()
	}
}

// confined reports whether what a call runs cannot do harm outside the workspace,
// where that makes a difference.
func (c *call) confined() bool {
	if c.req.Mode != string(policy.ModeAuto) || c.entry.tool.Facts == nil {
		return false
	}
	f, err := c.req.Args.Facts() // of a source that is not believed: nothing
	return err == nil && f.Confined
}

// doubt has nothing known of arguments, whatever the tool says of them, where its
// source is not believed.
func (c *call) doubt(args tool.Args) {
	if !c.entry.believed && c.entry.tool.Facts != nil {
		args.FailFacts(errUnbelieved)
	}
}

// facts has the tool say what the call is about, in its time. From then on it is
// known, or known to be unknown.
func (c *call) facts() {
	args := c.req.Args
	switch {
	case c.entry.tool.Facts == nil || c.factsOf == args:
		return
	case c.mute && !c.here:
		args.FailFacts(errNoFacts)
	case !c.here:
		c.besides(func() { _, _ = args.Facts() })
	default:
		if _, err := timed(c, func(context.Context) (struct{}, error) {
			_, err := args.Facts()
			return struct{}{}, err
		}); err != nil {
			args.FailFacts(errNoFacts)
		}
	}
	c.factsOf = args
}

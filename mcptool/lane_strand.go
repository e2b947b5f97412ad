package mcptool

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// strand is one connection of a client session.
type strand struct {
	lane      *lane
	link      link
	exclusive bool      // one request has it to itself, which alone writes logs
	logs      string    // which log messages the server was told to send (old era)
	used      time.Time // last; of one that is idle

	out sync.Once // it is counted out

	mu     sync.Mutex
	on     []*asking // requests under way
	rested time.Time // since when there is none
}

func (c *strand) over() bool {
	select {
	case <-c.link.ended():
		return true
	default:
		return false
	}
}

func (c *strand) close() {
	defer survive(c.lane.s.hub.log(), func(error) {})
	defer c.out.Do(c.lane.s.dismiss)
	c.link.close()
}

// do sends a request.
func (c *strand) do(ctx context.Context, x *asking, method string, params json.RawMessage) (json.RawMessage, error) {
	c.mu.Lock()
	c.on = append(c.on, x)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.on = slices.DeleteFunc(c.on, func(o *asking) bool { return o == x })
		c.rested = time.Now()
	}()
	return c.link.do(ctx, method, params, &listener{
		notified:  func(method string, params json.RawMessage) { c.hear(x, method, params) },
		requested: x.request,
	})
}

// alone is the request that is under way, if it is the only one.
func (c *strand) alone() *asking {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.on) != 1 {
		return nil
	}
	return c.on[0]
}

// restsFor is how long no request has been under way.
func (c *strand) restsFor() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.on) > 0 {
		return 0
	}
	return time.Since(c.rested)
}

// notified takes what the connection cannot tell whose it is.
func (c *strand) notified(method string, params json.RawMessage) { c.hear(c.alone(), method, params) }

// hear takes what the server says, of a request where that is known.
func (c *strand) hear(x *asking, method string, params json.RawMessage) {
	params = c.lane.s.shown(params)
	if what := changedBy(method); what != "" {
		c.lane.s.toldClient(c.lane.a, method, params)
		c.lane.s.change(what)
		return
	}
	switch method {
	case "notifications/resources/updated":
		x = nil // whoever asks is told, not the request that happens to run
	case "notifications/progress":
		if x == nil {
			return // of a request that is over
		}
	case "notifications/cancelled", "notifications/subscriptions/acknowledged":
		return
	case "notifications/message":
		// In the new era log messages belong to a request that wants them.
		if x != nil && x.quiet || x == nil && eraOf(c.lane.a.introduction().version) == newEra {
			return
		}
	}
	if x != nil {
		x.notify(method, params)
		return
	}
	if c.lane.s.silent() {
		return
	}
	c.lane.a.notify(c.lane.s.Name, method, params)
}

// requested takes what the server asks. Where several requests are under way it
// cannot be told which one it is about: the session is asked, and all of them
// have their time stopped meanwhile and hold up nobody.
func (c *strand) requested(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if x := c.alone(); x != nil {
		return x.request(ctx, method, params)
	}
	c.mu.Lock()
	on := slices.Clone(c.on)
	c.mu.Unlock()
	if len(on) == 0 {
		c.lane.s.fault(faultAsked, short(method))
		if c.lane.s.silent() {
			return refuse(ctx, method, params)
		}
	}
	asked, err := c.lane.s.asks(c.lane.a, method, params)
	if err != nil {
		return nil, err
	}
	for _, x := range on {
		defer x.pause()()
	}
	return c.lane.a.request(ctx, c.lane.s.Name, method, asked)
}

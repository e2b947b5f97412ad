package mcptool

import (
	"maps"
	"slices"
)

// maxUntold is how many messages wait for a stream.
const maxUntold = 64

// untold is a message that belongs to no request, until it is sent.
type untold struct {
	message

	done chan struct{} // closed when it was sent, or has to wait for a stream
	over bool          // that it is closed
}

// listen has what belongs to no request sent to s, until stop is called.
func (c *client) listen(s stream) (stop func()) {
	c.pushing.Lock()
	c.pushes = append(c.pushes, s)
	c.came++
	c.pushing.Unlock()
	c.drain()
	return func() {
		c.pushing.Lock()
		defer c.pushing.Unlock()
		if i := slices.Index(c.pushes, s); i >= 0 {
			c.pushes = slices.Concat(c.pushes[:i], c.pushes[i+1:])
		}
	}
}

// push tells a client of the old era what belongs to no request, on one stream;
// where there is none the message waits for one. It returns when the message is
// sent, so that a server can say no more than its client reads, and at the latest
// when the session ends.
func (c *client) push(m message) {
	u := &untold{message: m, done: make(chan struct{})}
	c.pushing.Lock()
	if len(c.pushes) == 0 {
		same := func(o *untold) bool { return o.method == m.method && string(o.params) == string(m.params) }
		if len(c.pending) < maxUntold && !slices.ContainsFunc(c.pending, same) {
			c.pending = append(c.pending, u)
		}
		c.pushing.Unlock()
		return
	}
	c.pending = append(c.pending, u) // who pushes waits: there are few
	c.pushing.Unlock()
	c.drain()
	select {
	case <-u.done:
	case <-c.ctx.Done():
	}
}

// drain has what waits sent, on a goroutine of its own: a client that does not
// read holds up nobody else.
func (c *client) drain() {
	c.pushing.Lock()
	defer c.pushing.Unlock()
	if c.draining || len(c.pending) == 0 || !c.begin() {
		return
	}
	c.draining = true
	go func() { // leave waits for it
		defer c.exit()
		for c.sendNext() {
		}
	}()
}

// sendNext sends the first message that waits; false: none does, or there is no
// stream for it.
func (c *client) sendNext() bool {
	c.pushing.Lock()
	streams, came := slices.Clone(c.pushes), c.came
	if len(c.pending) == 0 {
		c.draining = false
		c.pushing.Unlock()
		return false
	}
	u := c.pending[0]
	c.pushing.Unlock()
	slices.Reverse(streams)
	sent := slices.ContainsFunc(streams, func(s stream) bool { return s.send(u.message) == nil })
	c.pushing.Lock()
	defer c.pushing.Unlock()
	switch {
	case sent:
		u.end()
		c.pending = slices.Delete(c.pending, 0, 1)
	case came == c.came:
		for _, u := range c.pending {
			u.end() // nobody waits for a stream that may never come
		}
		c.pending = c.pending[:min(len(c.pending), maxUntold)]
		c.draining = false
		return false
	}
	return true
}

func (u *untold) end() {
	if !u.over {
		u.over = true
		close(u.done)
	}
}

// tell has the client told of changed lists, by kind, on a goroutine of its own:
// who tells all clients does not wait for one.
func (c *client) tell(kinds map[string]bool) {
	c.mu.Lock()
	maps.Copy(c.changes, kinds)
	nobody := c.old == nil && len(c.hearing) == 0 || c.left
	if nobody {
		clear(c.changes)
	}
	if nobody || c.telling {
		c.mu.Unlock()
		return
	}
	c.telling = true
	c.running++
	c.mu.Unlock()
	go func() { // leave waits for it
		defer c.exit()
		for {
			c.mu.Lock()
			now := c.changes
			c.changes = make(map[string]bool)
			if len(now) == 0 || c.left {
				c.telling = false
				c.mu.Unlock()
				return
			}
			c.mu.Unlock()
			for kind := range now {
				c.gate.safely(c.ctx, func() { c.changed(c.ctx, kind) })
			}
		}
	}()
}

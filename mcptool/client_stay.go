package mcptool

import "time"

// A stateless session is found anew for each message. From then until the message
// is there it is kept, and it ends only when nobody uses it.

// stay keeps a stateless session that is asked for again, for a message that is to
// come; false: it has ended.
func (c *client) stay() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left {
		return false
	}
	c.used = time.Now()
	c.coming++
	if c.running == 0 {
		c.idle.Reset(statelessIdle)
	}
	return true
}

// lastUsed is when the session was used last, and whether it is now, or ends.
func (c *client) lastUsed() (at time.Time, busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used, c.running > 0 || c.coming > 0 || c.left
}

// retire has nothing more begin in a stateless session that nobody uses; false:
// somebody does, or it has ended.
func (c *client) retire() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running > 0 || c.coming > 0 || c.left {
		return false
	}
	c.left = true
	return true
}

// expire ends a stateless session that nobody has used.
func (c *client) expire() {
	if c.retire() {
		c.leave()
	}
}

// arrive is enter for what is no request.
func (c *client) arrive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.coming = max(0, c.coming-1)
}

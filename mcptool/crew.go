package mcptool

import "sync"

// crew does things on goroutines of its own, and keeps some that have nothing to do:
// the stack that a call needs has grown there once, and on a new goroutine it grows
// anew, a copy at a time. The zero value is ready.
type crew struct {
	mu     sync.Mutex
	idle   []chan func() // the last was busy last
	closed bool
	all    sync.WaitGroup
}

// maxIdle is how many goroutines with nothing to do are kept.
const maxIdle = 32

// do has f done, and does not wait for it. Who wants to know when that is done
// counts it.
func (c *crew) do(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.idle); n > 0 {
		c.idle[n-1] <- f // it has room for one
		c.idle = c.idle[:n-1]
		return
	}
	if c.closed {
		go f()
		return
	}
	c.all.Go(func() { c.work(f) })
}

func (c *crew) work(f func()) {
	next := make(chan func(), 1)
	for ok := true; ok; {
		f()
		c.mu.Lock()
		if c.closed || len(c.idle) >= maxIdle {
			c.mu.Unlock()
			return
		}
		c.idle = append(c.idle, next)
		c.mu.Unlock()
		f, ok = <-next
	}
}

// close sends those home that have nothing to do, and waits for all others.
func (c *crew) close() {
	c.mu.Lock()
	c.closed = true
	for _, next := range c.idle {
		close(next)
	}
	c.idle = nil
	c.mu.Unlock()
	c.all.Wait()
}

package mcptool

import (
	"net/http"
	"sync"
)

// leastShare is how many requests a principal may have at once, however many
// principals there are.
const leastShare = 64

// crowd counts requests at once: of all, and of each principal.
type crowd struct {
	mu  sync.Mutex
	all int64
	of  map[string]int64
}

// enter counts one more; false: there are too many.
func (c *crowd) enter(principal string, most, share int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= most || c.of[principal] >= share {
		return false
	}
	if c.of == nil {
		c.of = make(map[string]int64)
	}
	c.all++
	c.of[principal]++
	return true
}

func (c *crowd) leave(principal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.of[principal]--; c.of[principal] == 0 {
		delete(c.of, principal)
	}
}

// admit counts a request of a principal until done is called; false: there are too
// many. One principal cannot take the places of all.
func (d *door) admit(principal string, waits bool) (done func(), ok bool) {
	c, most := &d.requests, d.bounds.requests
	if waits {
		c, most = &d.streams, d.bounds.streams
	}
	if !c.enter(principal, most, d.share(most)) {
		return nil, false
	}
	return func() { c.leave(principal) }, true
}

// share is how many of the places one principal may have.
func (d *door) share(most int64) int64 {
	principals := make(map[string]bool)
	for _, p := range d.Tokens {
		principals[p] = true
	}
	return max(most/max(1, int64(len(principals))), min(most, leastShare))
}

// waits reports whether a request is a stream that waits for what may come. A
// request whose header says another method than it has is refused.
func waits(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Header.Get(fieldVersion) == newVersion && r.Header.Get(fieldMethod) == "subscriptions/listen"
}

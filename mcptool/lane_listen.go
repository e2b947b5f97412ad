package mcptool

import (
	"encoding/json"
	"sync"
	"time"
)

// heardTime is how long a connection waits for its server to listen: what changes
// after that is heard of.
const heardTime = 250 * time.Millisecond

// listen has the session told which lists its own process of a server of the new
// era changes: the hub's is another process, which says nothing of it.
func (ln *lane) listen(c *strand) {
	hello := c.link.greeting()
	what := capabilitiesOf(hello).toListenFor()
	if hello.era == oldEra || what == nil || ln.s.URL != "" {
		return
	}
	there := make(chan struct{})
	ready := sync.OnceFunc(func() { close(there) })
	ln.going.Go(func() {
		defer ready() // or there is nothing to be heard
		defer survive(ln.s.hub.log(), func(error) { c.close() })
		ln.s.listenFor(ln.ctx, c.link, what, func(method string, params json.RawMessage) {
			if method == "notifications/subscriptions/acknowledged" {
				ready()
			}
			c.hear(nil, method, params)
		})
	})
	late := time.NewTimer(heardTime)
	defer late.Stop()
	select {
	case <-there:
	case <-late.C:
	case <-c.link.ended():
	}
}

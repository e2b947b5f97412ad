package mcptool

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// eachTime is how long servers have that are all asked the same: one that hangs
// must not keep the answers of the others from the client.
const eachTime = 5 * time.Second

// askEach asks servers at the same time, and waits until all have answered or are
// late.
func (d *dialogue) askEach(servers []*server, ask func(ctx context.Context, i int)) {
	ctx, cancel := context.WithTimeoutCause(d.ctx, eachTime, errTimeout)
	defer cancel()
	var asked sync.WaitGroup
	for i := range servers {
		asked.Go(func() { d.client.gate.safely(ctx, func() { ask(ctx, i) }) })
	}
	asked.Wait()
}

// listed is the list of one server, or why there is none.
type listed struct {
	items []json.RawMessage
	err   error
}

// listEach is what servers list, in their order.
func (d *dialogue) listEach(servers []*server, method string) []listed {
	lists := make([]listed, len(servers))
	for i := range lists {
		lists[i].err = errTimeout // of a panic
	}
	d.askEach(servers, func(ctx context.Context, i int) {
		items, err := servers[i].list(ctx, method)
		lists[i] = listed{items, err}
	})
	return lists
}

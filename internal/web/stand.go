package web

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// stand is how the record stood when somebody last looked. To look takes long, as all
// of it is read: it is done when a person asks, and at most once in a while.
type stand struct {
	looks sync.Mutex
	last  atomic.Pointer[checked]
}

// checked is what was found.
type checked struct {
	At   time.Time `json:"at"`
	Took float64   `json:"took_ms"`
	Chain
}

// Good reports whether the record is as it was written.
func (c *checked) Good() bool { return len(c.Faults) == 0 }

// standAge is how long what was found is shown again.
const standAge = time.Minute

// check looks how the record stands.
func (c *Console) check(ctx context.Context) (*checked, error) {
	if c.Verify == nil {
		return nil, missing("there is no record here that could be checked")
	}
	c.stand.looks.Lock()
	defer c.stand.looks.Unlock()
	if last := c.stand.last.Load(); last != nil && time.Since(last.At) < standAge {
		return last, nil
	}
	at := time.Now()
	chain, err := c.Verify(ctx)
	if err != nil {
		return nil, err
	}
	if chain.Faults == nil {
		chain.Faults = []string{}
	}
	now := &checked{at, float64(time.Since(at)) / float64(time.Millisecond), chain}
	c.stand.last.Store(now)
	return now, nil
}

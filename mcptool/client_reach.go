package mcptool

import (
	"context"
	"errors"
	"slices"
	"time"
)

// streamTime is how long a question that belongs to no request waits for a stream
// that it can be put on.
const streamTime = 10 * time.Second

// presence is a stream whose client may go and come back. There are others beside
// it: what cannot be put on it can be on another.
type presence interface {
	stream
	// attended says whether somebody reads it now.
	attended() bool
	// lost is closed when it has ended, or nobody has come back to it for so long
	// that nobody is expected to.
	lost() <-chan struct{}
}

var _ presence = (*track)(nil)

// unread is closed when nobody will read a stream any more; nil: that is not known
// before the session ends.
func unread(to stream) <-chan struct{} {
	if p, ok := to.(presence); ok {
		return p.lost()
	}
	return nil
}

// reads says whether a client reads a stream, as far as that is known.
func reads(to stream) bool {
	p, ok := to.(presence)
	return !ok || p.attended()
}

// anyStream is one that reaches the client now; nil: none.
func (c *client) anyStream() stream {
	c.pushing.Lock()
	pushes := c.pushes // it is never changed in place
	c.pushing.Unlock()
	for _, to := range slices.Backward(pushes) {
		if reads(to) {
			return to
		}
	}
	for _, to := range c.legs() {
		if reads(to) {
			return to
		}
	}
	return nil
}

// legs are the streams of the requests under way.
func (c *client) legs() []stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]stream, 0, len(c.underway))
	for _, d := range c.underway {
		if l := d.current(); l != nil {
			list = append(list, l.to)
		}
	}
	return list
}

// waitStream is a stream that reaches the client, or the error of waiting for one.
func (c *client) waitStream(ctx context.Context) (stream, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, streamTime, errors.New("the client has no stream open"))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if to := c.anyStream(); to != nil {
			return to, nil
		}
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return nil, c.why()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

package ferrule

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

const (
	// retries is how often a tool runs once more that could not be reached, or
	// that asked for it.
	retries = 3
	// retryFirst is how long the first of them waits, where the tool did not say;
	// each waits twice as long as the one before.
	retryFirst = 200 * time.Millisecond
	// retryLongest is how long a call waits for what may work later. What takes
	// longer the model is told.
	retryLongest = 30 * time.Second
)

// tried runs the tool, and once more where that failed for a while only and a
// second run can do no harm.
func (c *call) tried(outer context.Context) tool.Result {
	res := c.runTool(outer)
	for n := range retries {
		wait, ok := c.passing(res, n)
		if !ok {
			break
		}
		if c.turn.noted() {
			c.emit(audit.Event{Kind: audit.Retried, Text: "in " + wait.String() + ": " + res.Err.Error()})
		}
		if c.pause(outer, wait) != nil {
			break // how it failed is its result
		}
		res = c.runTool(outer)
	}
	return res
}

// passing reports whether a failure may be over soon, and when.
func (c *call) passing(res tool.Result, n int) (wait time.Duration, ok bool) {
	if res.Err == nil || res.Err.Kind != tool.Failed || c.lost.Load() || !c.mayRepeat() {
		return 0, false
	}
	wait = retryFirst << n
	if after := res.Err.RetryAfter; after > 0 {
		wait = after
	} else if !unreached(res.Err) {
		return 0, false
	}
	return wait, wait <= retryLongest && wait < c.otherTime()
}

// unreached reports whether a tool failed because of the way to where it works.
func unreached(err error) bool {
	found, _ := safely(func() (bool, error) { // methods of the tool's error are called
		op := (*net.OpError)(nil)
		return errors.As(err, &op) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE), nil
	})
	return found
}

// pause waits, unless the call is stopped. A wrapper's end ends it, too.
func (c *call) pause(outer context.Context, d time.Duration) error {
	_, err := leased(c, nil, func(l *lease) (struct{}, error) {
		ctx, done := c.join(outer, l)
		defer done()
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return struct{}{}, nil
		case <-ctx.Done():
			return struct{}{}, ctx.Err()
		}
	})
	return err
}

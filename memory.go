package ferrule

import (
	"context"
	"errors"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard/memory"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file is about the agent's memory while a tool runs: what changes there that
// nobody declared is put back, and the call fails.

// watchMemory begins to watch before a tool runs, in the context of a wrapper if
// there is one. Nil of both: there is nothing to watch.
func (c *call) watchMemory(outer context.Context) (*memory.Call, *tool.Error) {
	g := c.turn.set.guard
	if g == nil || !g.Memory.Watches() {
		return nil, nil
	}
	watched, err := leased(c, unwatched, func(l *lease) (*memory.Call, error) {
		ctx, done := c.join(outer, l)
		defer done()
		return g.Memory.Begin(ctx, c.req)
	})
	if err == nil {
		return watched, nil
	}
	if watched != nil { // it came too late
		watched.Drop()
	}
	switch {
	case c.cut != nil:
		return nil, c.cutOff()
	case errors.Is(err, errLost):
		return nil, unwatched(err) // nobody reads it
	}
	c.emitBy(audit.Blocked, "memory", c.turn.set.scrubText(err.Error()))
	return nil, unwatched(err)
}

// unwatched is the result of a call that does not run, as nobody could tell what
// it does to memory.
func unwatched(err error) *tool.Error {
	return &tool.Error{Kind: tool.Failed, Text: "The agent's memory could not be looked at, so the tool did not run.", Detail: err.Error(), Cause: err, Own: true}
}

// memoryTime is how long looking at memory may take when a tool has returned.
// Putting it back has its own time.
const memoryTime = 30 * time.Second

// invokeWatched is invoke for a tool that runs while memory is watched. It looks at
// memory however the tool ends, also where it ends its goroutine or was given up,
// and while the call still counts as running: what it left is put back before
// others go on that wait for it.
func (c *call) invokeWatched(ctx context.Context, watched *memory.Call) (res tool.Result, breach *tool.Error, err error) {
	defer func() { breach = c.lookAtMemory(ctx, watched) }()
	res, err = c.invoke(watched.Context(ctx))
	return res, nil, err
}

// lookAtMemory is the error of a call that has changed memory; nil: it has not.
func (c *call) lookAtMemory(ctx context.Context, watched *memory.Call) *tool.Error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), memoryTime) // a call that was stopped is looked at, too
	defer cancel()
	all, err := safely(func() ([]*memory.Breach, error) { return watched.End(ctx), nil })
	left := err != nil
	for _, b := range all {
		err = errors.Join(err, b)
		left = left || b.Left != nil
	}
	if err == nil {
		return nil
	}
	c.emitBy(audit.Blocked, "memory", c.turn.set.scrubText(err.Error()))
	text := "The tool changed memory that it may not change; it was put back."
	if left {
		text = "The tool may have changed memory that it may not change, and that could not be put back."
	}
	return &tool.Error{Kind: tool.Failed, Text: text, Detail: err.Error(), Cause: err, Own: true}
}

// breached is the result of a call that has changed memory: nothing that its tool
// returned is kept.
func (c *call) breached(l *lease, e *tool.Error) tool.Result {
	c.streamed(l) // who looks on has all that it said
	c.suspends, c.stops, c.failed = false, false, true
	failure := tool.Result{Err: e}
	kept := copyResult(failure)
	c.failure = &kept
	return failure
}

package ferrule

import (
	"context"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// traced is who keeps the trace of a call.
type traced struct {
	ctx  context.Context   //nolint:containedctx // of the turn, with the values of the trace
	told func(audit.Event) // nil: nobody
}

// trace begins the trace of a call, where somebody keeps them.
func (c *call) trace() {
	t := c.turn
	if t.set.trace == nil || t.imagined || c.traced != nil {
		return // the last: it arrives once more, because it was stuck
	}
	c.traced = t.set.begunTrace(t.ctx, c.first)
}

// begunTrace is what the host's function made of a call. A panic there is nobody's
// failure.
func (s *settings) begunTrace(ctx context.Context, r *tool.Request) (kept *traced) {
	defer func() {
		if recover() != nil {
			kept = nil
		}
	}()
	kept = new(traced)
	if kept.ctx, kept.told = s.trace(ctx, r); kept.ctx == nil {
		kept.ctx = ctx
	}
	return kept
}

// context is the one whose values the functions of a call see.
func (c *call) context() context.Context {
	if c.traced != nil {
		return c.traced.ctx
	}
	return c.turn.ctx
}

// tellTrace tells who keeps the trace of the call.
func (c *call) tellTrace(e *audit.Event) {
	if c.traced != nil {
		tell(c.traced.told, e)
	}
}

package ferrule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// Hook looks at calls on their way and may change or stop them. Every function
// is optional. None can go round the checks: changed input is checked, judged
// and, where a rule says so, asked for anew, and what a hook returns is cleaned
// and limited like any other result.
//
// A hook that fails, panics or takes too long (60 s, or as long as the tool has)
// stops its call and no other.
type Hook struct {
	Name string
	// Security: it sees changed input once more, and its failure denies.
	Security bool
	// Only limits it to some tools; the zero value is all.
	Only Filter

	// Input sees the arguments before anybody is asked. The request holds them
	// as they stand and as they were received.
	Input func(context.Context, *tool.Request) (Change, error)
	// Around wraps running. It returns the result of next, or another in its
	// place. Next takes no input: only what was permitted can run, and it runs
	// once, unless the call claims ReadOnly or Idempotent or has a key: a second
	// next gives the failure of the first.
	Around func(ctx context.Context, r *tool.Request, next Next) tool.Result
	// Output sees the result as it stands and as the tool returned it. It
	// returns another in its place, or nil to keep it.
	Output func(ctx context.Context, r *tool.Request, now, original tool.Result) (*tool.Result, error)
}

// Next runs the tool, or the next wrapper around it.
type Next func(context.Context) tool.Result

// Change is what an input hook wants. The zero value changes nothing.
type Change struct {
	// Input replaces the arguments; nil keeps them.
	Input json.RawMessage
	// Context is a text that stands beside the result.
	Context string
	// Block stops the call; the text goes to the model.
	Block string
	// Reason is why it was stopped, for the operator; "": Block.
	Reason string
}

// inputHooks is phase 5. After a change it starts anew from the phases before
// it, comes back here, and goes on behind the hook that changed the input;
// security hooks in front of that one look again.
func (c *call) inputHooks() (changed bool, err *tool.Error) {
	hooks := c.turn.hooks
	for i := range hooks {
		h := &hooks[i]
		again := i < c.hooked
		if h.Input == nil || again && (!h.Security || c.by == byHook(i) || !c.look) || !h.Only.match(c.entry) {
			continue
		}
		ch, e := timedAs(c, c.failingAs(h), func(ctx context.Context) (Change, error) { return h.Input(ctx, c.shown()) })
		switch {
		case e != nil:
			return false, c.hookFailed(h, e)
		case ch.Block != "":
			why := cmp.Or(ch.Reason, ch.Block)
			c.emitBy(audit.Blocked, h.Name, why)
			return false, &tool.Error{Kind: tool.HookBlocked, Text: ch.Block, Detail: fmt.Sprintf("hook %q: %s", h.Name, why)}
		}
		if ch.Context != "" && !slices.Contains(c.beside, ch.Context) {
			c.beside = append(c.beside, ch.Context)
		}
		c.hooked = max(c.hooked, i+1)
		if changed, err := c.change(ch.Input, byHook(i), h.Name); changed || err != nil {
			return changed, err
		}
	}
	c.look = false
	return false, nil
}

// failingAs is the result of a call whose hook does not return.
func (c *call) failingAs(h *Hook) func(error) *tool.Error {
	return func(err error) *tool.Error { return c.hookFailed(h, err) }
}

func (c *call) hookFailed(h *Hook, err error) *tool.Error {
	if c.cut != nil { // it was stopped, and its error says so
		return c.cutOff()
	}
	c.emitBy(audit.Blocked, h.Name, err.Error())
	kind, text := tool.HookBlocked, "A hook of this program failed, so the call did not go on."
	switch {
	case h.Security && c.ran:
		kind, text = tool.Denied, "The tool ran, but a security check of this program failed, so its result is withheld."
	case h.Security:
		kind, text = tool.Denied, "A security check of this program failed, so the call was denied."
	case c.ran:
		text = "The tool ran, but a hook of this program failed, so its result is withheld."
	}
	return &tool.Error{Kind: kind, Text: text, Detail: fmt.Sprintf("hook %q: %v", h.Name, err), Cause: err}
}

// around is phase 7 with its wrappers, the first registered outermost.
func (c *call) around(run Next) Next {
	hooks := c.turn.hooks
	for i := len(hooks) - 1; i >= 0; i-- {
		h, inner := &hooks[i], run
		if h.Around == nil || !h.Only.match(c.entry) {
			continue
		}
		run = func(outer context.Context) tool.Result {
			inside := make(chan bool, 1) // what it wraps runs in one goroutine at a time, and only while this is true
			inside <- true
			res, err := leased(c, c.failingAs(h), func(own *lease) (tool.Result, error) {
				defer func() { // what it wraps has ended, whoever started it
					<-inside
					inside <- false
				}()
				ctx, done := c.join(outer, own)
				defer done()
				var missing atomic.Bool
				res := h.Around(ctx, c.shown(), func(ctx context.Context) tool.Result {
					if ctx == nil {
						missing.Store(true)
						return tool.Result{}
					}
					open := <-inside
					defer func() { inside <- open }()
					if !open {
						return tool.Result{Err: &tool.Error{Kind: tool.Aborted, Text: "The call is over.", Detail: fmt.Sprintf("hook %q called next after it had returned", h.Name)}}
					}
					return inner(ctx)
				})
				if missing.Load() {
					return res, errors.New("next was called without a context")
				}
				return res, nil
			})
			if err != nil && !errors.Is(err, errLost) {
				return tool.Result{Err: c.hookFailed(h, err)}
			}
			return res
		}
	}
	return run
}

// outputHooks is phase 9. What a hook returns passes phase 8 again.
func (c *call) outputHooks(original tool.Result) tool.Result {
	hooks := c.turn.hooks
	original = c.shownToHooks(original)
	now := original
	for i := range hooks {
		h := &hooks[i]
		if h.Output == nil || !h.Only.match(c.entry) {
			continue
		}
		res, err := timedAs(c, c.failingAs(h), func(ctx context.Context) (*tool.Result, error) {
			return h.Output(ctx, c.shown(), copyResult(now), copyResult(original))
		})
		if err != nil {
			return tool.Result{Err: c.hookFailed(h, err)}
		}
		if res != nil {
			c.lower(res.Trust)
			now = c.checkOutput(copyResult(*res))
		}
	}
	return now
}

// copyResult keeps a hook from writing into what others hold.
func copyResult(r tool.Result) tool.Result {
	r.Content = slices.Clone(r.Content)
	for i := range r.Content {
		b := &r.Content[i]
		b.JSON, b.Data = slices.Clone(b.JSON), slices.Clone(b.Data)
	}
	if r.Trust != nil {
		t := *r.Trust
		r.Trust = &t
	}
	if r.Origin != nil {
		o := *r.Origin
		r.Origin = &o
	}
	if r.Err != nil {
		e := *r.Err
		r.Err = &e
	}
	return r
}

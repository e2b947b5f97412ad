package memory

import (
	"context"
	"fmt"
)

// Handle is how a tool that is memory-aware uses memory: [From] takes it out of the
// context that its Run is given. All methods are safe for concurrent use, and on
// nil, where every operation is refused.
type Handle struct{ call *Call }

type handleKey struct{}

// From is the handle of the call that ctx belongs to, nil outside of one that is
// watched.
func From(ctx context.Context) *Handle {
	h, _ := ctx.Value(handleKey{}).(*Handle)
	return h
}

// Context is the context of a call's Run.
func (c *Call) Context(ctx context.Context) context.Context {
	return &handleContext{ctx, Handle{c}}
}

// handleContext is a context with one value.
type handleContext struct {
	context.Context
	handle Handle
}

func (c *handleContext) Value(key any) any {
	if key == (handleKey{}) {
		return &c.handle
	}
	return c.Context.Value(key)
}

// AfterFunc is what package context looks for in a context that is not its own:
// with it, deriving another one needs no goroutine.
func (c *handleContext) AfterFunc(f func()) (stop func() bool) {
	return context.AfterFunc(c.Context, f)
}

// Read is the value of a key in a region, or [ErrNotFound].
func (h *Handle) Read(ctx context.Context, region, key string) (value []byte, err error) {
	err = h.looks(ctx, region, func(s Store) (err error) {
		value, err = s.Read(ctx, key)
		return err
	})
	return value, err
}

// Keys are those of a region.
func (h *Handle) Keys(ctx context.Context, region string) (keys []string, err error) {
	err = h.looks(ctx, region, func(s Store) (err error) {
		keys, err = s.Keys(ctx)
		return err
	})
	return keys, err
}

// Write gives a key in a region a value.
func (h *Handle) Write(ctx context.Context, region, key string, value []byte) error {
	w, s, err := h.open(region)
	if err != nil {
		return err
	}
	return w.changes(ctx, h.call, key, func() error { return s.Write(ctx, key, value) })
}

// Delete removes a key of a region; one that is not there is no error.
func (h *Handle) Delete(ctx context.Context, region, key string) error {
	w, s, err := h.open(region)
	if err != nil {
		return err
	}
	return w.changes(ctx, h.call, key, func() error { return s.Delete(ctx, key) })
}

// looks reads from a region while nobody changes it by an operation.
func (h *Handle) looks(ctx context.Context, region string, f func(Store) error) error {
	w, s, err := h.open(region)
	if err != nil {
		return err
	}
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	if !w.under(h.call) {
		return fmt.Errorf("memory %q: the call is over", region)
	}
	if err := caught(func() error { return f(s) }); err != nil {
		return fmt.Errorf("memory %q: %w", region, err)
	}
	return nil
}

// open is a region with operations that the call may use.
func (h *Handle) open(region string) (*watch, Store, error) {
	if h == nil || h.call == nil {
		return nil, nil, fmt.Errorf("%w: it runs where no memory is guarded", ErrNotAllowed)
	}
	if h.call.tier != Aware {
		return nil, nil, fmt.Errorf("%w: its tool is %s, want %s", ErrNotAllowed, h.call.tier, Aware)
	}
	w, err := h.call.guard.find(region)
	if err != nil {
		return nil, nil, err
	}
	s, ok := w.region.(Store)
	if !ok {
		return nil, nil, fmt.Errorf("memory %q: it has no operations", region)
	}
	return w, s, nil
}

package mcptool

import (
	"context"
	"slices"
)

// changed tells the client that a list has changed: of tools only if what it is
// listed has.
func (c *client) changed(ctx context.Context, what string) {
	method := "notifications/" + what + "/list_changed"
	c.mu.Lock()
	old, known, left := c.old, c.known, c.left
	hearing := make([]*listening, 0, len(c.hearing))
	for h := range c.hearing {
		hearing = append(hearing, h)
	}
	c.mu.Unlock()
	if left {
		return
	}
	for _, h := range hearing {
		h.changed(ctx, what, method)
	}
	if old == nil {
		return
	}
	if what == "tools" {
		if known == nil {
			return // it has not asked yet
		}
		now := old.offered(ctx).list
		if known.same(now) {
			return
		}
		c.mu.Lock()
		c.known = now
		c.mu.Unlock()
	}
	c.push(message{method: method})
}

// same reports whether two lists read the same.
func (l *toolList) same(o *toolList) bool {
	return l == o || l != nil && o != nil && slices.Equal(l.items, o.items)
}

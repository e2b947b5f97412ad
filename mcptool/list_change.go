package mcptool

import (
	"context"
	"slices"
)

// takeSaid reports whether a server has told this client that its tools have
// changed. Where they are deferred its list is the same all the same.
func (f *face) takeSaid() bool {
	mode := f.mode.Load()
	return f.said.Swap(false) && (mode == nil || *mode != Deferred)
}

// changed tells the client that a list has changed: of tools only if what it is
// listed has, or a server has told this client so.
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
	said := make(map[*face]bool)
	for _, h := range hearing {
		if what == "tools" && h.d.face.takeSaid() {
			said[h.d.face] = true
		}
	}
	for _, h := range hearing {
		h.changed(ctx, what, method, said[h.d.face])
	}
	if old == nil {
		return
	}
	if what == "tools" {
		said := old.takeSaid()
		if known == nil && !said {
			return // it has not asked yet
		}
		now := old.offered(ctx).list
		if known.same(now) && !said {
			return
		}
		c.mu.Lock()
		if c.known != nil {
			c.known = now
		}
		c.mu.Unlock()
	}
	c.push(message{method: method})
}

// same reports whether two lists read the same.
func (l *toolList) same(o *toolList) bool {
	return l == o || l != nil && o != nil && slices.Equal(l.items, o.items)
}

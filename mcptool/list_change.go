package mcptool

import (
	"context"
	"slices"
)

// takeSaid reports whether a server has told this client that its tools have
// changed.
func (f *face) takeSaid() bool { return f.said.Swap(false) }

// differs reports whether the client is to be told of what it would be listed now:
// it is another list than it knows, or a server has said so. Where tools are
// deferred that is the same list all the same.
func (o *offer) differs(known *toolList, said bool) bool {
	return !known.same(o.list) || said && o.mode == Full
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
		now := old.offered(ctx)
		if !now.differs(known, said) {
			return
		}
		c.mu.Lock()
		if c.known != nil {
			c.known = now.list
		}
		c.mu.Unlock()
	}
	c.push(message{method: method})
}

// same reports whether two lists read the same.
func (l *toolList) same(o *toolList) bool {
	return l == o || l != nil && o != nil && slices.Equal(l.items, o.items)
}

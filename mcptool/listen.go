package mcptool

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
)

// listening is a request of the new era for what belongs to no other
// (subscriptions/listen), while it lasts.
type listening struct {
	d                         *dialogue
	id                        json.RawMessage
	tools, prompts, resources bool
	uris                      map[string]bool

	mu    sync.Mutex
	known *toolList // what the client was listed, as far as it was told
	over  chan struct{}
	once  sync.Once
}

// finish ends it, in the way that the client is told.
func (h *listening) finish() { h.once.Do(func() { close(h.over) }) }

// wants reports whether updates of a resource, or of one below it, are wanted.
func (h *listening) wants(uri string) bool {
	for u := range h.uris {
		if strings.HasPrefix(uri, u) {
			return true
		}
	}
	return false
}

// tell sends a notification with the name of what it answers.
func (h *listening) tell(method string, params json.RawMessage) {
	h.d.notify(method, setMeta(params, pair{metaSubscription, h.id}))
}

// changed tells of a changed list, if the client wants that.
func (h *listening) changed(ctx context.Context, what, method string) {
	switch {
	case what == "tools" && h.tools:
		now := h.d.face.offered(ctx).list
		h.mu.Lock()
		same := h.known.same(now)
		h.known = now
		h.mu.Unlock()
		if same {
			return
		}
	case what == "prompts" && h.prompts, what == "resources" && h.resources:
	default:
		return
	}
	h.tell(method, nil)
}

// updated tells who listens that a resource has changed.
func (c *client) updated(f *face, uri string, params json.RawMessage) {
	c.mu.Lock()
	var hearing []*listening
	for h := range c.hearing {
		if h.d.face == f && h.wants(uri) {
			hearing = append(hearing, h)
		}
	}
	c.mu.Unlock()
	for _, h := range hearing {
		h.tell("notifications/resources/updated", params)
	}
}

// listen answers subscriptions/listen: it lasts until the client closes it.
func (d *dialogue) listen() (json.RawMessage, error) {
	return nil, noMethod(d.method)
}

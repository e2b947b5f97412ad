package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
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
func (h *listening) changed(ctx context.Context, what, method string, said bool) {
	switch {
	case what == "tools" && h.tools:
		now := h.d.face.offered(ctx)
		h.mu.Lock()
		differs := now.differs(h.known, said)
		h.known = now.list
		h.mu.Unlock()
		if !differs {
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

// maxFollows is how many resources one request may listen for.
const maxFollows = 256

// listen answers subscriptions/listen: it lasts until the client closes it.
func (d *dialogue) listen() (json.RawMessage, error) {
	wanted, _ := member(d.given, "notifications")
	l := d.current()
	if kindOf(wanted) != '{' || l == nil {
		return nil, &Fault{Code: codeInvalidParams, Message: "subscriptions/listen: got no notifications"}
	}
	h := &listening{d: d, id: l.id, uris: make(map[string]bool), over: make(chan struct{})}
	granted := h.grant(wanted)
	done := setMeta(nil, pair{metaSubscription, h.id})
	follows, err := h.follow(wanted)
	defer follows.end()
	if err != nil {
		return nil, err
	}
	if len(follows.uris) > 0 {
		text, err := json.Marshal(follows.uris)
		if err != nil {
			return nil, err
		}
		granted = append(granted, pair{"resourceSubscriptions", text})
	}
	h.known = d.face.offered(d.ctx).list
	h.tell("notifications/subscriptions/acknowledged", setMembers(nil, pair{"notifications", setMembers(nil, granted...)}))
	if len(granted) == 0 || !d.client.hear(h) {
		return done, nil
	}
	defer d.client.unhear(h)
	h.changed(d.ctx, "tools", "notifications/tools/list_changed", false) // while nobody looked
	select {
	case <-d.ctx.Done():
	case <-h.over:
	}
	return done, nil
}

// grant is which changes of lists the client will hear of.
func (h *listening) grant(wanted json.RawMessage) (granted []pair) {
	for _, kind := range []struct {
		key  string
		what string
		flag *bool
	}{
		{"toolsListChanged", "tools", &h.tools},
		{"promptsListChanged", "prompts", &h.prompts},
		{"resourcesListChanged", "resources", &h.resources},
	} {
		if value, _ := member(wanted, kind.key); kindOf(value) != 't' {
			continue
		}
		if kind.what == "tools" || len(h.d.having(kind.what)) > 0 {
			*kind.flag = true
			granted = append(granted, pair{kind.key, json.RawMessage("true")})
		}
	}
	return granted
}

// hear has the client's listening told of changes; false: it is too late.
func (c *client) hear(h *listening) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left || c.deserted != nil {
		return false
	}
	c.hearing[h] = true
	return true
}

func (c *client) unhear(h *listening) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.hearing, h)
}

// follows are the resources that a listening follows, at their servers.
type follows struct {
	h       *listening
	uris    []string
	old     map[string]*server // of the old era: they are told when it ends
	streams sync.WaitGroup
	stop    context.CancelFunc
}

// follow subscribes to resources: at a server of the new era by a stream like this
// one, at one of the old by a request.
func (h *listening) follow(wanted json.RawMessage) (*follows, error) {
	d := h.d
	ctx, stop := context.WithCancel(d.ctx)
	f := &follows{h: h, old: make(map[string]*server), stop: stop}
	list, _ := member(wanted, "resourceSubscriptions")
	all, _ := items(list)
	if len(all) > maxFollows {
		return f, &Fault{Code: codeInvalidParams, Message: fmt.Sprintf("resourceSubscriptions: got %d, want at most %d", len(all), maxFollows)}
	}
	streams := make(map[*server][]string)
	for _, item := range all {
		uri, ok := unquote(item)
		if !ok || h.uris[uri] {
			continue
		}
		servers := d.resourceServers(uri)
		if len(servers) == 0 {
			continue
		}
		s := servers[0]
		if hello := s.greeting(); hello != nil && hello.era == newEra {
			streams[s] = append(streams[s], uri)
		} else {
			if _, err := s.do(ctx, d, methodSubscribe, setMembers(nil, pair{"uri", item})); err != nil {
				d.client.gate.logger().LogAttrs(ctx, slog.LevelDebug, "subscribe", slog.String("server", s.Name), slog.Any("error", err))
				continue
			}
			f.old[uri] = s
		}
		h.uris[uri] = true
		f.uris = append(f.uris, uri)
	}
	for s, uris := range streams {
		text, err := json.Marshal(uris)
		if err != nil {
			return f, err
		}
		params := setMembers(plain(d.given), pair{"notifications", setMembers(nil, pair{"resourceSubscriptions", text})})
		f.streams.Go(func() {
			if _, err := s.do(ctx, d, methodListen, params); err != nil && ctx.Err() == nil {
				d.client.gate.logger().LogAttrs(ctx, slog.LevelWarn, "listen to a server", slog.String("server", s.Name), slog.Any("error", err))
			}
		})
	}
	return f, nil
}

// unfollowTime is how long a server may take to be told that nobody listens.
const unfollowTime = 5 * time.Second

// end ends all subscriptions that no other request of the client has.
func (f *follows) end() {
	f.stop()
	f.streams.Wait()
	d := f.h.d
	for uri, s := range f.old {
		if d.client.follows(d.face, uri) {
			continue
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), unfollowTime)
		if _, err := s.do(ctx, d, methodUnsubscribe, setMembers(nil, pair{"uri", quote(uri)})); err != nil {
			d.client.gate.logger().LogAttrs(ctx, slog.LevelDebug, "unsubscribe", slog.String("server", s.Name), slog.Any("error", err))
		}
		cancel()
	}
}

// follows reports whether a request of the client listens for a resource.
func (c *client) follows(f *face, uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for h := range c.hearing {
		if h.d.face == f && h.uris[uri] {
			return true
		}
	}
	return false
}

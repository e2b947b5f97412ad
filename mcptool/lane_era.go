package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"
)

// This file is where a client and a server of different eras meet, on the way to
// the server.

const (
	methodSetLevel    = "logging/setLevel"
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
	methodListen      = "subscriptions/listen"
)

// maxFollowed is how many resources a session may follow at a server of the new
// era: each is a stream.
const maxFollowed = 256

// logLevel is which log messages a request of the new era wants; "": none.
func logLevel(params json.RawMessage) string {
	raw, _ := metaMember(params, metaLogLevel)
	level, _ := unquote(raw)
	return level
}

// translated sends a request in the era of the connection.
func (c *strand) translated(ctx context.Context, x *asking, method string, params json.RawMessage) (json.RawMessage, error) {
	switch spoken := c.link.greeting().era; {
	case spoken == newEra && x.era() == oldEra:
		return c.doNew(ctx, x, method, params)
	case spoken == oldEra && x.era() == newEra:
		params = c.forOld(ctx, params)
	}
	result, err := c.do(ctx, x, method, params)
	if err == nil && c.link.greeting().era == oldEra && !c.exclusive {
		c.lane.note(method, params)
	}
	return result, err
}

// doNew sends a request of the old era to a server of the new one, which has no
// level for a whole session, and no subscriptions but streams.
func (c *strand) doNew(ctx context.Context, x *asking, method string, params json.RawMessage) (json.RawMessage, error) {
	done := json.RawMessage("{}")
	switch method {
	case methodSetLevel:
		c.lane.note(method, params)
		return done, nil
	case methodSubscribe:
		return done, c.lane.follow(textMember(params, "uri")) //nolint:contextcheck // it lasts as long as the session
	case methodUnsubscribe:
		c.lane.unfollow(textMember(params, "uri"))
		return done, nil
	}
	if level := c.lane.level(); level != "" {
		params = setMeta(params, pair{metaLogLevel, quote(level)})
	}
	return c.do(ctx, x, method, params)
}

// forOld is what a server of the old era is sent of a request of the new one. If
// the client wants log messages the server is told so first: nobody else has the
// connection. Input stays there: servers that know both eras understand it.
func (c *strand) forOld(ctx context.Context, params json.RawMessage) json.RawMessage {
	if level := logLevel(params); level != "" && c.exclusive && level != c.logs {
		if _, logs := member(c.link.greeting().capabilities, "logging"); logs {
			set := setMembers(nil, pair{"level", quote(level)})
			if _, err := c.link.do(ctx, methodSetLevel, set, nil); err == nil {
				c.logs = level
			}
		}
	}
	return setMeta(params, pair{metaVersion, nil}, pair{metaClientInfo, nil}, pair{metaCapabilities, nil}, pair{metaLogLevel, nil})
}

// resent is what a connection that takes the place of another is told first.
type resent struct {
	method string
	uri    string // of a subscription
	params json.RawMessage
}

// note keeps what the session has set at the server.
func (ln *lane) note(method string, params json.RawMessage) {
	r := resent{method: method, uri: textMember(params, "uri"), params: params}
	if method != methodSetLevel && method != methodSubscribe && method != methodUnsubscribe {
		return
	}
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.noteLocked(r)
}

func (ln *lane) noteLocked(r resent) {
	ln.again = slices.DeleteFunc(ln.again, func(o resent) bool {
		return o.uri == r.uri && (o.method == methodSetLevel) == (r.method == methodSetLevel)
	})
	if r.method != methodUnsubscribe && len(ln.again) < maxFollowed {
		ln.again = append(ln.again, r)
	}
}

// levelLater keeps a level of logs for when a client session first connects to the
// server; false: it is connected, or connects just now.
func (s *server) levelLater(a audience, params json.RawMessage) bool {
	ln, err := s.lane(a)
	if err != nil {
		return false // who asks the server is told why
	}
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.closed || ln.flight != nil || len(ln.all) > 0 {
		return false
	}
	ln.noteLocked(resent{method: methodSetLevel, params: params})
	return true
}

// level is which log messages the session wants; "": it did not say.
func (ln *lane) level() string {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	for _, r := range ln.again {
		if r.method == methodSetLevel {
			return textMember(r.params, "level")
		}
	}
	return ""
}

// resend tells a new connection what the session has set before.
func (c *strand) resend(ctx context.Context, all []resent) {
	if c.link.greeting().era == newEra {
		return // nothing is kept there
	}
	for _, r := range all {
		if _, err := c.link.do(ctx, r.method, r.params, nil); err != nil {
			c.lane.s.hub.log().LogAttrs(ctx, slog.LevelWarn, "a new connection could not be set up as the one before",
				slog.String("server", c.lane.s.Name), slog.String("method", r.method), slog.String("why", err.Error()))
		}
	}
}

// follow has the session told when a resource changes, by a server of the new era.
func (ln *lane) follow(uri string) error {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	switch {
	case ln.closed:
		return errLaneClosed
	case ln.followed[uri] != nil:
		return nil
	case len(ln.followed) >= maxFollowed:
		return &Fault{Code: codeInternal, Message: "too many subscriptions"}
	}
	ctx, cancel := context.WithCancel(ln.ctx)
	if ln.followed == nil {
		ln.followed = make(map[string]context.CancelFunc)
	}
	ln.followed[uri] = cancel
	list, err := json.Marshal([]string{uri})
	if err != nil {
		return err
	}
	params := setMembers(nil, pair{"notifications", setMembers(nil, pair{"resourceSubscriptions", list})})
	ln.going.Go(func() {
		defer survive(ln.s.hub.log(), func(error) { ln.unfollow(uri) })
		ln.followStream(ctx, params)
	})
	return nil
}

func (ln *lane) unfollow(uri string) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if cancel := ln.followed[uri]; cancel != nil {
		cancel()
		delete(ln.followed, uri)
	}
}

// followStream keeps a stream open until ctx ends.
func (ln *lane) followStream(ctx context.Context, params json.RawMessage) {
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		began := time.Now()
		c, err := ln.shared(ctx, false)
		if err == nil {
			_, err = c.link.do(ctx, methodListen, params, &listener{notified: func(method string, params json.RawMessage) { c.hear(nil, method, params) }})
		}
		if fault := (*Fault)(nil); errors.As(err, &fault) || errors.Is(err, errLaneClosed) {
			return
		}
		if time.Since(began) >= upTime {
			pause = firstPause
		}
		if !rest(ctx, jitter(pause)) {
			return
		}
	}
}

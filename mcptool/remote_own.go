package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/ferrule-dev/ferrule/tool"
)

// This file is about calls that no client of the gateway made: the program's own,
// and those of agents. Their session is a client too, with nobody to be asked.

// errNoInput is in the tree of an error about a server that asks where nobody is.
var errNoInput = errors.New("the server asks for input, and nobody is there to be asked")

// ownKey is a session of the runtime, at a server.
type ownKey struct{ tenant, principal, session, server string }

// ownAudience is such a session, for one server. It has one connection there: the
// server may keep state that belongs to the session.
type ownAudience struct {
	departure

	hub     *Hub
	version string // the server's
	ended   atomic.Bool
}

func (a *ownAudience) introduction() introduction {
	return introduction{version: a.version, info: a.hub.info(), capabilities: json.RawMessage("{}")}
}

func (a *ownAudience) notify(string, string, json.RawMessage) {}

func (a *ownAudience) request(ctx context.Context, _, method string, params json.RawMessage) (json.RawMessage, error) {
	return refuse(ctx, method, params)
}

// ownExchange is a call of such a session.
type ownExchange struct {
	a   *ownAudience
	env *tool.Env
}

// ownExchange is for a call with no client. Its connection ends with the session
// or, where there is none, when done is called after the call.
func (s *server) ownExchange(ctx context.Context) (x *ownExchange, done func()) {
	h, env := s.hub, tool.From(ctx)
	caller := env.Request().Caller
	key := ownKey{caller.Tenant, caller.Principal, caller.Session, s.Name}
	h.mu.Lock()
	a := h.own[key]
	fresh := a == nil
	if fresh {
		a = &ownAudience{hub: h, version: oldVersion}
		if g := s.greeting(); g != nil {
			a.version = g.version
		}
		if h.own == nil {
			h.own = make(map[ownKey]*ownAudience)
		}
		if caller.Session != "" {
			h.own[key] = a
		}
	}
	h.mu.Unlock()
	forget := func() {
		h.mu.Lock()
		if h.own[key] == a {
			delete(h.own, key)
		}
		h.mu.Unlock()
		s.forget(a)
	}
	if fresh && !env.AtEnd(func() { a.ended.Store(true); forget() }) || a.ended.Load() {
		return &ownExchange{a, env}, forget
	}
	return &ownExchange{a, env}, func() {}
}

func (x *ownExchange) audience() audience { return x.a }
func (x *ownExchange) era() era           { return eraOf(x.a.version) }

// params ask for progress: the session's observer may want it.
func (x *ownExchange) params() json.RawMessage {
	return json.RawMessage(`{"_meta":{"progressToken":"ferrule"}}`)
}

func (x *ownExchange) notify(method string, params json.RawMessage) {
	if method != notificationProgress {
		return
	}
	number := func(key string) (n float64) {
		raw, _ := member(params, key)
		_ = json.Unmarshal(raw, &n) // what is no number is 0
		return n
	}
	x.env.Progress(number("progress"), number("total"), textMember(params, "message"))
}

func (x *ownExchange) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return refuse(ctx, method, params)
}

func (x *ownExchange) input(context.Context, json.RawMessage) (responses, state json.RawMessage, err error) {
	return nil, nil, errNoInput
}

func (x *ownExchange) finished(answered) {}

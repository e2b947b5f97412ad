package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// Hub keeps connections to MCP servers, and their tools registered with a
// runtime, one source for each server. Set all fields before Start.
type Hub struct {
	Runtime *ferrule.Runtime
	Servers []Server
	// Others are names of servers that are not connected to here: names of tools that
	// begin as theirs do are imitations all the same.
	Others []string
	// OthersBare are those of Others whose tools have bare names.
	OthersBare []string
	// Cache is a folder where the last known lists are kept, so that they can be
	// offered before a server has answered. "": they are not kept.
	Cache string
	// Noted is a folder where another program keeps what servers did wrong, beside
	// its Cache: it is shown by Status. "": that of Cache.
	Noted string
	// Pins is a folder where it is kept what the tools of servers were when they were
	// accepted ([Pins]): a tool that has changed since is not offered until somebody
	// accepts it. "": nothing is pinned.
	Pins string
	// Look points out what somebody should see who is asked about a definition: lines
	// that are fit to be shown. It decides nothing. Nil: nothing is pointed out.
	Look func(definition json.RawMessage) []string
	// Name and Version are what servers are told of this program.
	Name, Version string
	// Log is told what happens to servers, and (at level debug) what they write to
	// stderr, without the values of Runtime.Secrets. Nil: nobody.
	Log *slog.Logger
	// GiveTrace tells what a request to a server is part of: traceparent and tracestate,
	// which go into its _meta and, over HTTP, into its headers. Nil: what the client of
	// the request has said goes on, in _meta.
	GiveTrace func(ctx context.Context, set func(key, value string))

	// dial makes a connection to a server in the era of the introduction's version.
	// Nil: as the server says. Tests have their own.
	dial func(ctx context.Context, s *server, who introduction, hears *listener) (link, error)

	looking sync.Once
	keyless func(string) string // of the log; nil: nothing was logged, or keys stay

	mu       sync.Mutex
	servers  []*server // nil: not started
	watchers map[int]func(server, what string)
	watched  int                     // watchers there ever were
	own      map[ownKey]*ownAudience // of sessions that have no client
	end      context.CancelFunc
	going    sync.WaitGroup // the lives of servers
	ward     ward
}

// Status is how a server stands.
type Status struct {
	Name   string
	State  string // connecting, ready, waiting (to be tried again), needs login, failed, stopped
	Era    string // "2025-11-25", "2026-07-28": the newest version it was reached in
	Server string // its own name and version
	// Instructions are what it tells models of itself, as it has written them.
	Instructions string
	Tools        int // that are offered
	Restarts     int
	Since        time.Time // in this state
	Why          string    // of a server that is not ready: what is wrong, or waited for
	Login        string    // how a person lets this program in where it is not, or not enough (Login.Advice)
	// Quarantined are tools that are not offered, and Quarantined[i].Why says why.
	Quarantined []Quarantined
	// Faults are what it did wrong in the last day, though it is ready: calls without
	// an answer, what is no message, and the like; the last first.
	Faults []string
	// Paused is why it is not asked now, and until when; "": it is asked.
	Paused string
	// Isolation is how its last process is kept apart, as it really is; "": none was
	// started yet. Calls have that of their own process on the record.
	Isolation string
	// Notes are what the operator said of it and is of no use, a sentence each.
	Notes []string
}

// Quarantined is a tool that is not offered.
type Quarantined struct{ Tool, Why string }

// Start connects to all servers at the same time, and returns before they have
// answered: the tools that they had the last time are registered when it does. The
// connections last until Close, whatever becomes of ctx.
func (h *Hub) Start(ctx context.Context) error {
	if h.Runtime == nil {
		return errors.New("hub: no Runtime")
	}
	h.mu.Lock()
	if h.servers != nil {
		h.mu.Unlock()
		return errors.New("hub: started twice")
	}
	servers := make([]*server, 0, len(h.Servers))
	for i := range h.Servers {
		if err := h.Servers[i].check(h.Servers[:i]); err != nil {
			h.mu.Unlock()
			return fmt.Errorf("hub: %w", err)
		}
		if trust, lowered := h.Runtime.Trust[h.Servers[i].Name]; h.Servers[i].Follow && lowered && trust < tool.Own {
			h.mu.Unlock()
			return fmt.Errorf("hub: server %s: it may not be followed: Runtime.Trust says %s, want own", h.Servers[i].Name, trust)
		}
		s := newServer(h, h.Servers[i])
		var err error
		if s.access, err = newAccess(s.Login, h.log().With(slog.String("server", s.Name))); err != nil {
			h.mu.Unlock()
			return fmt.Errorf("hub: server %s: %w", s.Name, err)
		}
		if s.access != nil {
			s.access.veil = h.veil("login." + s.Name)
			s.access.unkept = func(why string) { s.fault(faultKept, why) }
		}
		servers = append(servers, s)
	}
	ctx, h.end = context.WithCancel(context.WithoutCancel(ctx))
	h.servers = servers
	h.ward.warn = func(err error) {
		h.log().LogAttrs(ctx, slog.LevelWarn, "servers are left behind should this program be killed: nothing can watch over them", slog.Any("error", err))
	}
	h.mu.Unlock()
	var recalled sync.WaitGroup
	for _, s := range servers {
		recalled.Go(func() {
			defer survive(h.log(), func(error) {}) // without the lists of the last time
			s.recallFaults()
			s.recall(ctx)
		})
	}
	recalled.Wait()
	for _, s := range servers {
		h.going.Go(func() { s.live(ctx) })
	}
	for _, s := range servers {
		if h.Pins != "" {
			h.going.Go(func() { s.attendPins(ctx) })
		}
	}
	return nil
}

// Settled waits until each server has answered, or failed, once.
func (h *Hub) Settled(ctx context.Context) error {
	for _, s := range h.started() {
		select {
		case <-s.settled:
		case <-ctx.Done():
			return fmt.Errorf("hub: waiting for server %s: %w", s.Name, context.Cause(ctx))
		}
	}
	return nil
}

// Status says how each server stands, in the order of Servers.
func (h *Hub) Status() []Status {
	servers := h.started()
	all := make([]Status, len(servers))
	for i, s := range servers {
		all[i] = s.status()
	}
	return all
}

// Close ends all connections, and waits for the children until ctx ends: those that
// are left then are killed. The tools stay registered; calls of them fail.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	servers, end := h.servers, h.end
	h.mu.Unlock()
	if end == nil {
		return nil
	}
	end()
	done := make(chan struct{})
	go func() { // outlasts this call only where ctx ends first
		defer close(done)
		var closing sync.WaitGroup
		for _, s := range servers {
			closing.Go(s.close)
		}
		closing.Wait()
		h.going.Wait()
		h.ward.close()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		h.ward.kill()
		return fmt.Errorf("hub: servers have not all ended: %w", context.Cause(ctx))
	}
}

// Believes says whether the operator believes what a tool of a server claims: it
// is made for Runtime.Believe.
func (h *Hub) Believes(from tool.Source, info *tool.Info) bool {
	i := slices.IndexFunc(h.Servers, func(s Server) bool { return s.Name == from.Name })
	if i < 0 {
		return false
	}
	s := &h.Servers[i]
	_, said := s.Claims[info.Name]
	return said || s.BelieveAll || slices.Contains(s.Believe, info.Name)
}

func (h *Hub) started() []*server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.servers
}

// server is the server of a name; nil: none.
func (h *Hub) server(name string) *server {
	if h == nil {
		return nil
	}
	servers := h.started()
	if i := slices.IndexFunc(servers, func(s *server) bool { return s.Name == name }); i >= 0 {
		return servers[i]
	}
	return nil
}

// all are the servers that were reached at least once, or have a cached catalogue,
// in the order of Servers.
func (h *Hub) all() []*server {
	if h == nil {
		return nil
	}
	var known []*server
	for _, s := range h.started() {
		if s.greeting() != nil {
			known = append(known, s)
		}
	}
	return known
}

// About is what a server says of itself, for Runtime.About; "": nothing that is known.
func (h *Hub) About(server string) string {
	if s := h.server(server); s != nil && s.greeting() != nil {
		return s.greeting().instructions
	}
	return ""
}

// forget closes the connections of a client session that has ended, and waits for
// that.
func (h *Hub) forget(a audience) {
	if h == nil {
		return
	}
	var closing sync.WaitGroup
	for _, s := range h.started() {
		closing.Go(func() { s.forget(a) })
	}
	closing.Wait()
}

// watch has f called after a list of a server has changed (tools, prompts,
// resources: what), until stop is called. Of tools: after the runtime knows it.
func (h *Hub) watch(f func(server, what string)) (stop func()) {
	if h == nil {
		return func() {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers = make(map[int]func(server, what string))
	}
	h.watched++
	id := h.watched
	h.watchers[id] = f
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, id)
	}
}

// tell tells those who watch.
func (h *Hub) tell(server, what string) {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.watchers))
	h.mu.Unlock()
	for _, f := range all {
		f(server, what)
	}
}

// log is where to write to; never nil.
func (h *Hub) log() *slog.Logger {
	if h.Log != nil {
		return slog.New(scrubbing{h.Log.Handler(), h.scrubLog})
	}
	return slog.New(slog.DiscardHandler)
}

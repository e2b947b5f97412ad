package mcptool

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// Hub keeps connections to MCP servers, and their tools registered with a
// runtime, one source for each server. Set all fields before Start.
type Hub struct {
	Runtime *ferrule.Runtime
	Servers []Server
	// Cache is a folder where the last known lists are kept, so that they can be
	// offered before a server has answered. "": they are not kept.
	Cache string
	// Name and Version are what servers are told of this program.
	Name, Version string
	// Log is told what happens to servers, and what they write to stderr. Nil:
	// nobody.
	Log *slog.Logger
}

// Status is how a server stands.
type Status struct {
	Name     string
	State    string // connecting, ready, waiting (to be tried again), failed, stopped
	Era      string // "2025-11-25", "2026-07-28": the newest version it was reached in
	Server   string // its own name and version
	Tools    int    // that are offered
	Restarts int
	Since    time.Time // in this state
	Why      string    // of a server that is not ready: what is wrong
	// Quarantined are tools that are not offered, and Quarantined[i].Why says why.
	Quarantined []Quarantined
}

// Quarantined is a tool that is not offered.
type Quarantined struct{ Tool, Why string }

// Start connects to all servers at the same time, and returns before they have
// answered.
func (h *Hub) Start(ctx context.Context) error { return nil }

// Settled waits until each server has answered, or failed, once.
func (h *Hub) Settled(ctx context.Context) error { return nil }

// Status says how each server stands, in the order of Servers.
func (h *Hub) Status() []Status { return nil }

// Close ends all connections, and waits for the children.
func (h *Hub) Close(ctx context.Context) error { return nil }

// server is the server of a name; nil: none. all are those that were reached at
// least once, or have a cached catalogue, in the order of Servers.
func (h *Hub) server(name string) *server { return nil }
func (h *Hub) all() []*server             { return nil }

// forget closes the connections of a client session that has ended.
func (h *Hub) forget(a audience) {}

// watch has f called after a list of a server has changed (tools, prompts,
// resources: what), until stop is called. Of tools: after the runtime knows it.
func (h *Hub) watch(f func(server, what string)) (stop func()) { return func() {} }

// server is one server with its connections.
type server struct {
	Server
}

// greeting is what the server said of itself when it was last reached, or what
// the cache says; nil: it never was.
func (s *server) greeting() *greeting { return nil }

// definition is a tool as the server defines it, by the server's own name for it.
func (s *server) definition(name string) json.RawMessage { return nil }

// do sends a request of a client on to the server, over a connection of the
// client's own, and translates between the eras where it must. M6: it is never
// sent twice; a connection that broke before is made anew first.
func (s *server) do(ctx context.Context, x exchange, method string, params json.RawMessage) (json.RawMessage, error) {
	return nil, nil
}

// notify sends a notification of a client on (roots changed), if it is connected.
func (s *server) notify(ctx context.Context, a audience, method string, params json.RawMessage) error {
	return nil
}

// list is a whole list (prompts/list, resources/list, resources/templates/list)
// of the server, all pages, as the items' bytes; kept until the server says that
// it has changed.
func (s *server) list(ctx context.Context, method string) ([]json.RawMessage, error) {
	return nil, nil
}

// Believes reports whether the annotations of a tool count as claims (T5).
func (h *Hub) Believes(tool.Source, *tool.Info) bool { return false }

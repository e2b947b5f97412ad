package mcptool

import (
	"context"
	"log/slog"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// Mode says which tools a client is listed.
type Mode string

// Auto lists all tools while they are few, Full always all, and Deferred
// tool_search, tool_describe and tool_call in their place.
const (
	Auto     Mode = ""
	Full     Mode = "full"
	Deferred Mode = "deferred"
)

// Gateway serves the tools of a runtime, and whatever else the servers of a hub
// have, to MCP clients. Set all fields before it is used.
type Gateway struct {
	Runtime *ferrule.Runtime
	Hub     *Hub // nil: there are no servers
	// Name and Version are what clients are told of this program.
	Name, Version string
	// Mode is how tools are listed to a client, by the name it gives itself. Nil:
	// Auto.
	Mode func(client string) Mode
	// Names: deferred tools are listed by name, not only how many a server has.
	Names bool
	// CountTokens counts the tokens of definitions, for Auto. Nil: by length.
	CountTokens func(text string) int
	// Log is told what goes wrong. Nil: nobody.
	Log *slog.Logger
}

// Close takes no more requests, waits for those that run until ctx ends, stops
// what is left, and ends all sessions.
func (g *Gateway) Close(ctx context.Context) error { return nil }

// joining is who joins.
type joining struct {
	caller tool.Caller // principal, tenant, attended; session and client are set by the gateway
	// stateless: each request stands for itself, and the session is that of the
	// principal and the client's name (M2), in which many may be at once.
	stateless bool
	name      string // of a stateless client, as it calls itself
	push      stream // where what belongs to no request goes; nil: see client.listen
}

// client is one client session.
type client struct{}

// join makes a client session of the old era or of stdio, or finds that of a
// stateless client.
func (g *Gateway) join(j joining) (*client, error) { return nil, nil }

// handle takes one message of the client. A request is answered by the last
// message that is sent to `to`; handle returns after that. It does not panic. The
// transport calls it on a goroutine for each message of a POST, or for each
// message of stdio in order of arrival (handle itself must keep the order of
// initialize, notifications and answers: those return at once).
func (c *client) handle(ctx context.Context, m message, to stream) {}

// listen has what belongs to no request sent to s, until stop is called.
func (c *client) listen(s stream) (stop func()) { return func() {} }

// version is the protocol version that was agreed on; "": none yet.
func (c *client) version() string { return "" }

// leave ends the session: its calls are stopped, its connections closed. It waits
// for that.
func (c *client) leave() {}

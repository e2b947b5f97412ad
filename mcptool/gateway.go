package mcptool

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

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

	house house
}

// ServeStdio serves one client until in ends or ctx does. Calls that run then are
// finished (in ended) or stopped (ctx).
func (g *Gateway) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, c tool.Caller) error {
	return nil
}

// HTTP is how a gateway is served over HTTP.
type HTTP struct {
	// Tokens are the bearer tokens, each with the principal it names. A request
	// without one of them is refused, unless Open.
	Tokens map[string]string
	Open   bool // anybody may call, as principal local
	// Hosts are the values of Host and Origin that are taken, beside loopback
	// names when the request came to a loopback address. Nil: only those.
	Hosts []string
	// MaxBody is how long a request may be. 0: 16 MiB.
	MaxBody int64
	// Idle is how long a session of the old era lasts without a request. 0: 1 h.
	Idle time.Duration
}

// Handler serves the gateway over streamable HTTP, both eras on one address.
func (g *Gateway) Handler(o HTTP) http.Handler { return nil }

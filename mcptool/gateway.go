package mcptool

import (
	"context"
	"log/slog"
	"time"

	"github.com/ferrule-dev/ferrule"
)

// Mode says which tools a client is listed.
type Mode string

// Auto lists all tools unless they take too much of a context ([ferrule.View.Auto]),
// Full always all, and Deferred tool_search, tool_describe and tool_call in their place.
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
	// ApproveElsewhere: a person who must allow a call is not asked through the
	// client that makes it, even where that could be.
	ApproveElsewhere bool
	// Patience is how long a client waits for a person, before it is told to call
	// again. 0: 45 s.
	Patience time.Duration
	// Log is told what goes wrong. Nil: nobody.
	Log *slog.Logger
	// TakeTrace makes a request part of what its client traces: get gives traceparent
	// and tracestate, as the request has them in _meta, else those of HTTP; "": there is
	// none. The context that it returns is that of the request with more values. Nil: a
	// request is part of nothing.
	TakeTrace func(ctx context.Context, get func(key string) string) context.Context

	house house
}

// Package mcptool connects MCP servers to a [ferrule.Runtime], and serves a view
// of it as an MCP server: a [Hub] keeps the servers, a [Gateway] the clients.
//
// A gateway changes nothing that it need not change: what a server says goes to
// the client as the bytes it was, unless a rule, a secret or a limit has changed
// it. Both protocol eras are spoken on either side (up to 2025-11-25 with a
// handshake and a session, 2026-07-28 without); a client is connected to a server
// in its own era where the server has it, and translated where not.
//
// Every tools/call is a turn of its own, through every rule of the runtime.
//
// seams.go has the words that the parts use of each other. From the servers to the
// clients:
//
//	process*.go    a child with all that it starts, and what ends it with this program
//	               (process_isolated.go: one that somebody else starts, in a sandbox)
//	link*.go       a connection to a server: over lines (link.go), over HTTP
//	               (link_http*.go), and the handshake of both eras (link_greet.go)
//	message*.go    JSON-RPC, and JSON that is read and changed as bytes
//	hub.go         all servers
//	server*.go     the life of one: reached, listed, attended to, tried again; left alone
//	               where it does not answer (server_breaker.go)
//	catalogue*.go  its tools: pages, what is quarantined, what is kept on disk
//	pin*.go        what its tools said when they were accepted: what has changed since
//	               is not offered (pin.go: the API; pin_see.go: what becomes of a list)
//	remote*.go     a call of one of its tools (content.go: what comes of it)
//	lane*.go       the connections that one client session has to it; lane_era.go
//	               is where the two eras meet
//	gateway*.go    all clients
//	client*.go     one client session: what it says of itself, what it is asked
//	exchange*.go   one request of a client until its last answer
//	route.go       who answers it: list*.go (tools and the rest), result*.go
//	               (tools/call), resource.go, listen.go (what belongs to no request)
//	stdio*.go      the door for one client over lines
//	http*.go       the door for many over HTTP, both eras on one address
package mcptool

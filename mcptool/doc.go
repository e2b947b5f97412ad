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
package mcptool

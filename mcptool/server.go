package mcptool

import (
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Server is how one MCP server is reached, and what is believed of it. It has a
// Command or a URL.
type Server struct {
	Name string // of the source: tools are NAME__tool

	// Command is a program with its arguments, Dir where it runs. Env are its
	// variables (NAME=value), beside PATH, HOME and the locale.
	Command []string
	Dir     string
	Env     []string

	// URL is where a server is reached over streamable HTTP, and Header what goes
	// with each request.
	URL    string
	Header map[string]string

	// Trust is that of the source. Zero: tool.MCP.
	Trust tool.Trust
	// Believe are the tools whose annotations are believed as claims, by their own
	// name; BelieveAll: all. Trust above the untrusted classes believes them too.
	Believe    []string
	BelieveAll bool
	// Unprefixed: tools have their own names, without the server's in front.
	Unprefixed bool
	// Timeout is how long a call may take, without the time that its client is
	// asked. 0: 60 s.
	Timeout time.Duration
	// AtOnce is how many calls of the server run at once, over all clients. 0: no cap.
	AtOnce int
	// Era forces how it is spoken to: "2025" or "2026". "": what it speaks.
	Era string
}

package mcptool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
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
	// WrittenEnv are variables of Env that somebody has written down for the server, as
	// they are written, before values were put into them. Those that decide what runs
	// ([Server.Deciding]) are a part of which server it is ([Pins]); no others are.
	WrittenEnv []string

	// Start starts Command in the place of this package, where it is to be isolated: a
	// program of its path and arguments in a folder, with Env alone for its variables,
	// Stdin, which is a file, and Stdout and Stderr, which are closed once Wait has
	// returned. An error of kind tool.Sandbox is that it cannot be isolated as it must
	// be. Nil: it is a plain process.
	Start func(context.Context, *exec.Cmd) (*Child, error)

	// URL is where a server is reached over streamable HTTP, and Header what goes
	// with each request.
	URL    string
	Header map[string]string
	// Written is the URL as somebody has written it, before values were put into it:
	// what is known of the server ([Pins]) is known of all values. "": URL.
	Written string
	// Login is how a person lets this program in, where the server wants OAuth.
	Login Login

	// Trust is that of the source. Zero: tool.MCP.
	Trust tool.Trust
	// Believe are the tools whose annotations are believed as claims, by their own
	// name; BelieveAll: all. Trust above the untrusted classes believes them too.
	Believe    []string
	BelieveAll bool
	// Claims are what the operator says of calls of a tool, by its own name, in the
	// place of what its annotations say. They are believed.
	Claims map[string]tool.Claims
	// Unprefixed: tools have their own names, without the server's in front.
	Unprefixed bool
	// Timeout is how long a call may take, without the time that its client is
	// asked. 0: 50 s, which is less than most clients wait: a call that its client has
	// given up says nothing of the server.
	Timeout time.Duration
	// AtOnce is how many calls of the server run at once, over all clients. 0: no cap.
	AtOnce int
	// ArgumentBytes and ResultBytes bound the arguments and the result of a call. 0: no
	// cap but that of a message.
	ArgumentBytes, ResultBytes int64
	// BreakerAfter is how many calls in a row may get no answer until the server is not
	// asked for BreakerPause, which becomes longer each time, up to 5 minutes. Then one
	// call tries it. 0: 5, and 20 s; tool.Unlimited: it is always asked.
	BreakerAfter int
	BreakerPause time.Duration
	// Era forces how it is spoken to: "2025" or "2026". "": what it speaks.
	Era string
	// Follow accepts what the server says of its tools whenever that changes. It is
	// only for servers whose Trust is tool.Own or more.
	Follow bool

	isolated *isolation // of its processes; nil: nobody wants to know

	access *access             // by Login, for all connections; nil: none
	scrub  func(string) string // takes what is secret out of texts; nil: nothing is
	ward   *ward               // its processes end with; nil: with nobody
}

// check says what is wrong with a server, beside others.
func (s *Server) check(others []Server) error {
	if s.Name == "" {
		return errors.New("a server without a name")
	}
	if err := s.source().Check(); err != nil {
		return err
	}
	for i := range others {
		if others[i].Name == s.Name {
			return fmt.Errorf("two servers of the name %q", s.Name)
		}
	}
	switch {
	case len(s.Command) == 0 && s.URL == "":
		return fmt.Errorf("server %s: got neither a command nor a URL, want one of them", s.Name)
	case len(s.Command) > 0 && s.URL != "":
		return fmt.Errorf("server %s: got a command and a URL, want one of them", s.Name)
	case s.Era != "" && s.Era != eraWord(oldEra) && s.Era != eraWord(newEra):
		return fmt.Errorf("server %s: era: got %q, want %q, %q or none", s.Name, s.Era, eraWord(oldEra), eraWord(newEra))
	case s.Follow && cmp.Or(s.Trust, tool.MCP) < tool.Own:
		return fmt.Errorf("server %s: it may not be followed: its trust is %s, want own: who follows a server accepts whatever it will say of its tools", s.Name, cmp.Or(s.Trust, tool.MCP))
	case s.Timeout < 0:
		return fmt.Errorf("server %s: timeout: got %s, want more than 0, or 0 for %s", s.Name, s.Timeout, callTime)
	}
	if err := cmp.Or(s.checkRules(), s.Login.check(s)); err != nil {
		return fmt.Errorf("server %s: %w", s.Name, err)
	}
	return nil
}

// source is what its tools are registered as.
func (s *Server) source() tool.Source {
	return tool.Source{Name: s.Name, Trust: cmp.Or(s.Trust, tool.MCP), Bare: s.Unprefixed}
}

// place names it for a person, without arguments or a query: they may hold what
// is not to be shown.
func (s *Server) place() string {
	if len(s.Command) > 0 {
		return filepath.Base(s.Command[0])
	}
	return bareURL(s.URL)
}

// callTime is how long a call may take where nobody says. Most clients give up after a
// minute, which begins before that of the server: a server that hangs is to be found
// out before, or no call of it would ever count (breaker).
const callTime = 50 * time.Second

func (s *Server) timeout() time.Duration { return cmp.Or(s.Timeout, callTime) }

// ways are the eras to speak to the server in, that of the version first; only one
// where the operator forces it.
func (s *Server) ways(version string) []era {
	switch s.Era {
	case eraWord(oldEra):
		return []era{oldEra}
	case eraWord(newEra):
		return []era{newEra}
	}
	if eraOf(version) == newEra {
		return []era{newEra, oldEra}
	}
	return []era{oldEra, newEra}
}

// eraWord is how configuration names an era.
func eraWord(e era) string {
	if e == newEra {
		return newVersion[:4]
	}
	return oldVersion[:4]
}

// eraOf is the era of a protocol version: versions are dates.
func eraOf(version string) era {
	if version >= newVersion {
		return newEra
	}
	return oldEra
}

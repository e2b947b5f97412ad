package mcptool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// connectTime is how long a server may take to start and to introduce itself: some
// are downloaded first.
const connectTime = time.Minute

// errUnreachable is in the tree of an error about a connection that could not be
// made: nothing was sent.
var errUnreachable = errors.New("it cannot be reached")

// unreachableError is why there is no connection.
type unreachableError struct {
	server, place string
	cause         error
	advice        string // for a person; "": none
}

func (e *unreachableError) Error() string {
	text := fmt.Sprintf("server %s (%s) cannot be reached: %s", e.server, e.place, e.cause)
	if e.advice != "" {
		text += ". " + e.advice
	}
	return text
}

func (e *unreachableError) Unwrap() []error { return []error{errUnreachable, e.cause} }

// reach makes a connection, in the era of the introduction's version if the server
// speaks it, else in the other.
func (s *server) reach(ctx context.Context, who introduction, hears *listener) (link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTime, fmt.Errorf("it did not answer within %s", connectTime))
	defer cancel()
	var last error
	for _, e := range s.knownWays(who.version) {
		l, err := s.dial(ctx, inEra(who, e), hears)
		if err == nil {
			if l.greeting().era != e {
				s.lack(e)
			}
			return l, nil
		}
		if ctx.Err() != nil {
			if late := context.Cause(ctx); !errors.Is(err, late) {
				err = fmt.Errorf("%w: %w", late, err)
			}
			return nil, s.unreachable(err)
		}
		if last = err; !errors.Is(err, errOtherEra) {
			break
		}
		s.lack(e)
	}
	return nil, s.unreachable(last)
}

// knownWays are the eras to try, without those that the server is known to lack.
// A server that seems to lack all has not been well, and is asked anew.
func (s *server) knownWays(version string) []era {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.ways(version)
	left := slices.DeleteFunc(slices.Clone(all), func(e era) bool { return s.lacks[e] })
	if len(left) > 0 {
		return left
	}
	s.lacks = [2]bool{}
	return all
}

// unreachable says why there is no connection, and what to do about it.
func (s *server) unreachable(err error) error {
	e := &unreachableError{server: s.Name, place: s.place(), cause: err}
	_, noDir := os.Stat(s.Dir)
	switch {
	case len(s.Command) > 0 && s.Dir != "" && noDir != nil:
		e.advice = "Its folder is not there: " + s.Dir
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		e.advice = "Is the program installed, and in PATH?"
	case errors.Is(err, errChildEnded):
		e.advice = "Run its command in a terminal to see more."
	case errors.Is(err, syscall.ECONNREFUSED):
		e.advice = "Is it running?"
	}
	return e
}

// inEra is an introduction in another era, if need be.
func inEra(who introduction, e era) introduction {
	if eraOf(who.version) == e && who.version != "" {
		return who
	}
	if who.version = oldVersion; e == newEra {
		who.version = newVersion
	}
	return who
}

// lack notes that the server does not speak an era.
func (s *server) lack(e era) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacks[e] = true
}

func (s *server) lacksEra(e era) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lacks[e]
}

// bareURL is an address without what may be secret in it.
func bareURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "its URL"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// dial makes a connection in the era of the introduction's version. Where the
// server does not speak it, errOtherEra is in the error's tree, or the connection
// is in the other.
func (s *server) dial(ctx context.Context, who introduction, hears *listener) (link, error) {
	switch log := s.hub.log().With(slog.String("server", s.Name)); {
	case s.hub.dial != nil:
		return s.hub.dial(ctx, s, who, hears)
	case len(s.Command) > 0:
		return dialStdio(ctx, s.Server, who, eraOf(who.version), *hears, log)
	default:
		return dialHTTP(ctx, s.Server, who, eraOf(who.version), *hears, log)
	}
}

// maxChildren is how many processes of one server there are, over all clients: each
// client session has its own, and how many sessions there are is up to clients.
const maxChildren = 64

// admit counts a connection of a client in. Where it is one process too many, one
// that nobody uses is ended first.
func (s *server) admit(ctx context.Context) error {
	for {
		s.mu.Lock()
		if len(s.Command) == 0 || s.children < maxChildren {
			s.children++
			s.mu.Unlock()
			return nil
		}
		lanes := slices.Collect(maps.Values(s.lanes))
		s.mu.Unlock()
		if !retireOne(ctx, lanes) {
			return s.busy(fmt.Sprintf("got %d processes of it for clients already, want no more. Close clients that are not used", maxChildren))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// dismiss counts a connection of a client out.
func (s *server) dismiss() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children--
}

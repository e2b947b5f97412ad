package mcptool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
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
}

func (e *unreachableError) Error() string {
	return fmt.Sprintf("server %s (%s) cannot be reached: %s", e.server, e.place, e.cause)
}

func (e *unreachableError) Unwrap() []error { return []error{errUnreachable, e.cause} }

// reach makes a connection, in the era of the introduction's version if the server
// speaks it, else in the other.
func (s *server) reach(ctx context.Context, who introduction, hears *listener) (link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTime, fmt.Errorf("it did not answer within %s", connectTime))
	defer cancel()
	var errs []error
	for _, e := range s.ways(who.version) {
		if s.lacksEra(e) {
			continue
		}
		l, err := s.dial(ctx, inEra(who, e), hears)
		if err == nil {
			if l.greeting().era != e {
				s.lack(e)
			}
			return l, nil
		}
		if ctx.Err() != nil {
			return nil, &unreachableError{s.Name, s.place(), errors.Join(context.Cause(ctx), err)}
		}
		errs = append(errs, err)
		if !errors.Is(err, errOtherEra) {
			break
		}
		s.lack(e)
	}
	if len(errs) == 0 {
		errs = append(errs, errors.New("it speaks no version of the protocol that is known"))
	}
	return nil, &unreachableError{s.Name, s.place(), errs[len(errs)-1]}
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

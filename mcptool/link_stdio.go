package mcptool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// greetPatience is how long a child may leave server/discover unanswered before
// it is sent initialize as well.
const greetPatience = 3 * time.Second

// dialStdio starts a server's child and greets it: in the wanted era first, then
// in the other, or only in that which the server's configuration says. ctx is for
// the handshake; the child lives until the link is closed.
func dialStdio(ctx context.Context, s Server, in introduction, wanted era, hears listener, log *slog.Logger) (link, error) {
	first, only, err := s.eras(wanted)
	if err != nil {
		return nil, err
	}
	if only {
		return dialChild(ctx, s, in, hears, log, func(c conn) (*greeting, error) { return greet(ctx, c, first, in) })
	}
	l, err := dialChild(ctx, s, in, hears, log, func(c conn) (*greeting, error) {
		return greetEither(ctx, c, first, in, greetPatience)
	})
	if !errors.Is(err, errChildEnded) || first != newEra || ctx.Err() != nil {
		return l, err
	}
	// Some servers of the old era end when they are asked what they do not know.
	again, second := dialChild(ctx, s, in, hears, log, func(c conn) (*greeting, error) { return greet(ctx, c, oldEra, in) })
	if second != nil {
		return nil, err
	}
	return again, nil
}

// eras is the era to try first, and whether it is the only one.
func (s Server) eras(wanted era) (first era, only bool, err error) {
	switch s.Era {
	case "":
		return wanted, false, nil
	case "2025":
		return oldEra, true, nil
	case "2026":
		return newEra, true, nil
	}
	return 0, false, fmt.Errorf("era: got %q, want 2025 or 2026", s.Era)
}

// errChildEnded: the child ended during the handshake.
var errChildEnded = errors.New("the server ended during the handshake")

func dialChild(ctx context.Context, s Server, in introduction, hears listener, log *slog.Logger, greet func(conn) (*greeting, error)) (link, error) {
	p, err := startProcess(ctx, s, log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	l := makePipeLink(ctx, hears, log, p.close)
	l.cause, l.clean, l.how = p.why, s.clean, p.how
	l.run(p.out, p.in) //nolint:contextcheck // it lives until it is closed
	said, err := greet(l)
	if err != nil {
		select {
		case <-l.ended():
			err = fmt.Errorf("%w: %w", errChildEnded, l.why())
		default:
		}
		l.close()
		return nil, err
	}
	l.greeted(said, in)
	return l, nil
}

package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrule-dev/ferrule/tool"
)

// maxRounds is how often a server may ask for input within one request.
const maxRounds = 100

// do sends a request of a client on to the server, over a connection of the
// client's own, and translates between the eras where it must. M6: it is never
// sent twice; a connection that broke before is made anew first.
//
// The result is as the server sent it. The error is a *Fault that the server
// answered with; else in its tree is errUnreachable, errPaused or errUnsent (nothing
// was sent), errUnauthorized (it was refused, and did not run), errTimeout, or context.Cause. What else there is: the connection broke,
// and the request may have run.
func (s *server) do(ctx context.Context, x exchange, method string, params json.RawMessage) (result json.RawMessage, err error) {
	if method != methodListen { // which ends when the connection does
		through, err := s.pass()
		if err != nil {
			return nil, err
		}
		ended := errClosed // should it panic
		defer func() { through.done(ctx, ended) }()
		result, ended = s.rounds(ctx, x, method, params)
		return result, ended
	}
	return s.rounds(ctx, x, method, params)
}

// rounds is do for a request that may be sent.
func (s *server) rounds(ctx context.Context, x exchange, method string, params json.RawMessage) (json.RawMessage, error) {
	ctx, params = s.hub.traced(ctx, params)
	ctx, k := newClock(ctx, s.timeout(), s.tooLong())
	defer k.end()
	if method == methodListen {
		k.stop() // for ever
	}
	ask := &asking{exchange: x, server: s, clock: k, env: tool.From(ctx), quiet: x.era() == newEra && logLevel(params) == ""}
	for range maxRounds {
		result, spoken, err := s.send(ctx, ask, method, params)
		if err != nil || !ask.wantsInput(spoken, &result) {
			return result, err
		}
		responses, state, err := ask.input(ctx, result)
		if err != nil {
			return nil, err
		}
		params = setMembers(params, pair{"inputResponses", responses}, pair{"requestState", state})
	}
	return nil, fmt.Errorf("server %s: it asked for input %d times within one request", s.Name, maxRounds)
}

// wantsInput reports whether a result asks for input. Servers that know both eras
// may answer so in the old one, and then do not say it in the result: that is added.
// Between two who speak the old era it means nothing.
func (x *asking) wantsInput(spoken era, result *json.RawMessage) bool {
	if spoken == oldEra && x.era() == oldEra {
		return false
	}
	if kind := textMember(*result, "resultType"); kind != "" {
		return kind == "input_required"
	}
	if questions, _ := member(*result, "inputRequests"); kindOf(questions) != '{' {
		return false
	}
	*result = setMembers(*result, pair{"resultType", quote("input_required")})
	return true
}

// send sends a request once. Where the server has surely not seen it, it goes over
// a new connection.
func (s *server) send(ctx context.Context, x *asking, method string, params json.RawMessage) (json.RawMessage, era, error) {
	ln, err := s.lane(x.audience())
	if err != nil {
		return nil, oldEra, err
	}
	for again := false; ; again = true {
		c, err := ln.take(ctx, method)
		if err != nil {
			return nil, oldEra, err
		}
		if how := s.isolationOf(c.link); how != "" && !x.noted {
			x.noted = true
			x.env.Isolated(how)
		}
		spoken := c.link.greeting().era
		x.clock.start()
		result, err := c.translated(ctx, x, method, params)
		x.clock.stop()
		ln.give(c, ctx.Err() != nil || errors.Is(err, errUnsent))
		s.blame(ctx, err)
		if again || !errors.Is(err, errUnsent) || errors.Is(err, errUnauthorized) || ctx.Err() != nil {
			return result, spoken, err
		}
	}
}

// blame notes where a call went wrong by the server: it took too long, or the
// connection broke while it ran.
func (s *server) blame(ctx context.Context, err error) {
	switch late := (*timeoutError)(nil); {
	case err == nil || errors.As(err, new(*Fault)) || errors.Is(err, errUnsent) || errors.Is(err, errUnauthorized):
	case errors.As(err, &late):
		s.fault(faultLate, late.Error())
	case errors.Is(err, errLong):
		s.fault(faultLong, err.Error())
	case ctx.Err() == nil && !errors.Is(err, errClosed):
		s.fault(faultBroken, err.Error())
	}
}

// notify sends a notification of a client on (roots changed), if it is connected.
func (s *server) notify(ctx context.Context, a audience, method string, params json.RawMessage) error {
	s.mu.Lock()
	ln := s.lanes[a]
	s.mu.Unlock()
	if ln == nil {
		return nil
	}
	var errs []error
	for _, l := range ln.links() {
		if l.greeting().era == oldEra { // the new one has no such notifications
			errs = append(errs, l.notify(ctx, method, params))
		}
	}
	return errors.Join(errs...)
}

package mcptool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
)

// LogIn has a person log in to the server now (Login.Open), whatever was granted
// before. It asks for these scopes too, beside those that were granted and those that
// the server has asked for since. What is granted goes to Login.Keep.
func (s Server) LogIn(ctx context.Context, log *slog.Logger, scopes ...string) error {
	if err := s.check(nil); err != nil {
		return err
	}
	if s.Login.Open == nil {
		return fmt.Errorf("server %s: login: got no Open, want one: nobody can log in", s.Name)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	a, err := newAccess(s.Login, log)
	if err != nil {
		return fmt.Errorf("server %s: %w", s.Name, err)
	}
	defer a.close()
	a.load(ctx)
	a.mu.Lock()
	a.now.Wants = withScopes(a.now.Wants, scopes)
	a.mu.Unlock()
	l, err := newHTTPLink(ctx, s, introduction{version: newVersion}, newEra, listener{}, log)
	if err != nil {
		return fmt.Errorf("server %s: %w", s.Name, err)
	}
	defer l.close()                  //nolint:contextcheck // it takes its own time, which is bounded
	refusal, err := l.challenge(ctx) //nolint:bodyclose // it has none
	if err != nil {
		return fmt.Errorf("server %s (%s) cannot be reached: %s", s.Name, s.place(), a.clean(err))
	}
	let := refusal.StatusCode != http.StatusUnauthorized
	refusal.StatusCode = http.StatusUnauthorized // some let all in, and refuse calls later
	at := *l.endpoint
	at.User = nil
	wanted, _ := unauthorized(refusal)
	err = a.enter(ctx, &at, refusal, wanted, false)
	if err != nil && let {
		return fmt.Errorf("server %s: %w: it does not refuse who has no login, so it may need none", s.Name, err)
	}
	if err != nil {
		return fmt.Errorf("server %s: %w", s.Name, err)
	}
	return nil
}

// challenge is how the server refuses somebody whom it does not know. What is sent
// has no effect, and begins no session.
func (l *httpLink) challenge(ctx context.Context) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTime, errors.New("it did not answer in time"))
	defer cancel()
	header := l.headers()
	header.Set("Content-Type", typeJSON)
	header.Set("Accept", typeJSON+", "+typeStream)
	header.Set(linkVersion, newVersion)
	r, _, err := l.sendOnce(ctx, http.MethodPost, header, []byte(`{"jsonrpc":"2.0","id":1,"method":"`+methodDiscover+`","params":{"_meta":{}}}`))
	if err != nil {
		return nil, err
	}
	defer r.close()
	return &http.Response{StatusCode: r.StatusCode, Header: r.Header, Body: http.NoBody}, nil
}

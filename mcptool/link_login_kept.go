package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"
)

// Why a token cannot be renewed any more: only a login helps.
var (
	errLoggedOut = errors.New("somebody has logged out")
	errNoRenewal = errors.New("the server gave nothing to renew it with")
)

// exclusive does something that no other process may do meanwhile.
func (a *access) exclusive(ctx context.Context, work func(context.Context) error) error {
	if a.login.Alone == nil {
		return work(ctx)
	}
	return a.login.Alone(ctx, work)
}

// load takes what was kept, the first time.
func (a *access) load(ctx context.Context) {
	a.mu.Lock()
	loaded := a.loaded
	a.mu.Unlock()
	if loaded {
		return
	}
	a.reload(ctx)
	a.mu.Lock()
	a.loaded = true
	a.mu.Unlock()
}

// reload takes what another process has kept since this one last looked. Where that
// is nothing new, what is in memory counts: it may be younger.
func (a *access) reload(ctx context.Context) {
	if a.login.Load == nil {
		return
	}
	text, err := a.login.Load(ctx)
	a.mu.Lock()
	same := err == nil && a.loaded && bytes.Equal(text, a.last)
	a.mu.Unlock()
	if same {
		return
	}
	var kept grant
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &kept)
	}
	if err == nil && len(text) > 0 && (kept.Client == nil || kept.Token == nil) {
		err = errors.New("got what is no login")
	}
	if err == nil && len(text) > 0 && a.login.Issuer != "" && !sameIssuer(kept.Issuer, a.login.Issuer) {
		err = fmt.Errorf("got a login at the authorization server %q, want one at %q", a.shown(kept.Issuer), a.shown(a.login.Issuer))
	}
	if err != nil {
		a.unreadable(ctx, err)
		return
	}
	if kept.Client != nil && a.login.ClientID == kept.Client.ClientID {
		kept.Client.ClientSecret = a.login.ClientSecret // which may have changed
	}
	a.mu.Lock()
	a.last, a.unread = text, ""
	a.mu.Unlock()
	a.set(kept, false)
}

// unreadable notes that what was kept is of no use, and says so once.
func (a *access) unreadable(ctx context.Context, err error) {
	why := a.clean(err)
	a.mu.Lock()
	known := a.unread == why
	a.unread = why
	a.mu.Unlock()
	if !known {
		a.log.LogAttrs(ctx, slog.LevelWarn, "what was kept of a login cannot be read", slog.String("why", why))
	}
}

// keep has what was granted outlast this process. It comes before the first use: a
// token to renew with counts once, and is lost with the process that has it alone.
func (a *access) keep(ctx context.Context, g grant) {
	if a.login.Keep == nil {
		return
	}
	if g.Client != nil && a.login.ClientID != "" && g.Client.ClientID == a.login.ClientID {
		client := *g.Client
		client.ClientSecret = "" // it is kept where it comes from
		g.Client = &client
	}
	text, err := json.Marshal(g)
	if err == nil {
		err = a.login.Keep(ctx, text)
	}
	if err != nil {
		a.log.LogAttrs(ctx, slog.LevelWarn, "a login could not be kept for the next run", slog.String("why", a.clean(err)))
		return
	}
	a.mu.Lock()
	a.last = text
	a.mu.Unlock()
}

// renew gets another token for the one there is, without a person. Only one process
// does so at a time, and looks first whether another has: a token to renew with that
// is sent twice is taken for a stolen one by many servers.
func (a *access) renew(ctx context.Context) error {
	seen := a.current()
	return a.exclusive(ctx, func(ctx context.Context) error {
		if a.login.Keep != nil {
			a.reload(ctx)
		}
		a.mu.Lock()
		now, own := a.now, a.own
		a.mu.Unlock()
		switch {
		case now.Token == nil:
			return errLoggedOut
		case now.text() != seen && !now.stale():
			return nil
		case now.Token.RefreshToken == "":
			return errNoRenewal
		}
		ctx = context.WithValue(ctx, oauth2.HTTPClient, a.renewing(now.Resource))
		token, err := now.Client.TokenSource(ctx, &oauth2.Token{RefreshToken: now.Token.RefreshToken}).Token()
		if err != nil {
			return err
		}
		a.hide(token.AccessToken, token.RefreshToken)
		now.Token = token
		a.keep(ctx, now)
		a.set(now, own)
		return nil
	})
}

// over says whether an error of renew means that only a login helps. What else there
// is passes: the authorization server is down, or busy.
func over(err error) bool {
	if errors.Is(err, errLoggedOut) || errors.Is(err, errNoRenewal) {
		return true
	}
	refusal := (*oauth2.RetrieveError)(nil)
	if !errors.As(err, &refusal) || refusal.Response == nil {
		return false
	}
	switch refusal.Response.StatusCode {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		return refusal.ErrorCode != "temporarily_unavailable" && refusal.ErrorCode != "slow_down"
	}
	return false
}

// renewing is a client that names the resource (RFC 8707) in requests that renew a
// token, which package oauth2 does not.
func (a *access) renewing(resource string) *http.Client {
	if resource == "" {
		return a.client
	}
	client := *a.client
	client.Transport = resourceTransport{a.client.Transport, resource}
	return &client
}

// resourceTransport adds the resource to forms.
type resourceTransport struct {
	http.RoundTripper

	resource string
}

// RoundTrip sends a form with the resource in it.
func (t resourceTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || r.Body == nil {
		return t.RoundTripper.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errors.New("the request for a token is no form")
	}
	form.Set("resource", t.resource)
	sent := r.Clone(r.Context())
	text := form.Encode()
	sent.Body, sent.ContentLength, sent.GetBody = io.NopCloser(strings.NewReader(text)), int64(len(text)), nil
	return t.RoundTripper.RoundTrip(sent)
}

// Bounds of the scopes that are remembered because a server wants them.
const (
	maxScopes    = 64
	maxScopeSize = 256
)

// scopesIn are the scopes of a text of a server that can be some.
func scopesIn(text string) (list []string) {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
	for scope := range strings.FieldsSeq(text) {
		if len(scope) <= maxScopeSize && !strings.ContainsFunc(scope, odd) && len(list) < maxScopes && !slices.Contains(list, scope) {
			list = append(list, scope)
		}
	}
	return list
}

// want remembers scopes that a server wants, for the next login: another process may
// be the one that it comes from.
func (a *access) want(ctx context.Context, scopes string) {
	if a.current() == "" { // nothing is kept, and nothing is made for it
		a.mu.Lock()
		a.now.Wants = withScopes(a.now.Wants, scopesIn(scopes))
		a.mu.Unlock()
		return
	}
	err := a.exclusive(ctx, func(ctx context.Context) error {
		if a.login.Keep != nil {
			a.reload(ctx) // what another has kept meanwhile is not written over
		}
		a.mu.Lock()
		now, own := a.now, a.own
		a.mu.Unlock()
		known := len(now.Wants)
		now.Wants = withScopes(now.Wants, scopesIn(scopes))
		if len(now.Wants) == known {
			return nil
		}
		if now.Token != nil {
			a.keep(ctx, now)
		}
		a.set(now, own)
		return nil
	})
	if err != nil {
		a.log.LogAttrs(ctx, slog.LevelWarn, "a scope could not be kept for the next login", slog.String("why", a.clean(err)))
	}
}

// withScopes are the members of both lists, each once and no more than can be.
func withScopes(list, more []string) []string {
	all := slices.Clone(list)
	for _, one := range more {
		if !slices.Contains(all, one) && len(all) < maxScopes {
			all = append(all, one)
		}
	}
	return all
}

// needed says that a login is needed, where nobody can be asked for one.
func (a *access) needed() *loginError {
	a.mu.Lock()
	a.lacking = true
	a.mu.Unlock()
	how := a.advice()
	return &loginError{text: strings.TrimSuffix("needs login: "+how, ": "), needs: true, how: how}
}

// advice is what a person has to do to log in, with what for.
func (a *access) advice() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	how := a.login.Advice
	if n := len(a.now.Wants); n > 0 {
		word := "scope"
		if n > 1 {
			word = "scopes"
		}
		how += fmt.Sprintf(" (for the %s %q)", word, quoted(strings.Join(a.now.Wants, " ")))
	}
	if a.unread != "" {
		how += " (what was kept of the last login cannot be used: " + a.unread + ")"
	}
	return strings.TrimSpace(how)
}

// due is what a person should do so that a server lets more in; "": nothing.
func (a *access) due() string {
	if a == nil || a.login.Open != nil {
		return ""
	}
	a.mu.Lock()
	due := a.lacking || len(a.now.Wants) > 0
	a.mu.Unlock()
	if !due {
		return ""
	}
	return a.advice()
}

// entered says whether somebody has logged in elsewhere since.
func (a *access) entered(ctx context.Context) bool {
	if a == nil || a.login.Load == nil {
		return false
	}
	seen := a.current()
	a.reload(ctx)
	now := a.current()
	return now != "" && now != seen
}

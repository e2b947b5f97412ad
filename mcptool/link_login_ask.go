package mcptool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// maxLogins is how often one request is refused for want of a login, and sent
// again behind it: once for none, and once for one that may too little.
const maxLogins = 2

// errUnauthorized is in the tree of an error about a request that was refused for
// want of authorization: it surely did not run (M6).
var errUnauthorized = errors.New("the server wants authorization")

// loginError is a login that is not there. Its text is for the operator, and has
// nothing secret in it.
type loginError struct {
	text string
	// needs: a person has to log in elsewhere, and how says how.
	needs bool
	how   string
}

func (e *loginError) Error() string { return e.text }

func (e *loginError) Is(target error) bool { return target == errUnauthorized }

// unauthorized says whether an answer refuses for want of authorization, and with
// which scopes it would not.
func unauthorized(r *http.Response) (scopes string, is bool) {
	if r.StatusCode != http.StatusUnauthorized && r.StatusCode != http.StatusForbidden {
		return "", false
	}
	is = r.StatusCode == http.StatusUnauthorized
	challenges, err := oauthex.ParseWWWAuthenticate(r.Header.Values("WWW-Authenticate"))
	if err != nil {
		return "", is
	}
	for _, c := range challenges {
		if c.Scheme == "bearer" {
			is = is || c.Params["error"] == "insufficient_scope"
			if scopes == "" {
				scopes = c.Params["scope"]
			}
		}
	}
	return scopes, is
}

// sendAuthorized is send for a server that people log in to. M6: a request that is
// refused for want of authorization did not run; so it is sent again behind a
// login, and nothing else is.
func (l *httpLink) sendAuthorized(ctx context.Context, method string, header http.Header, body []byte) (r *httpReply, unrun bool, err error) {
	for logins := 0; ; logins++ {
		token, err := l.access.bearer(ctx)
		if err != nil {
			return nil, true, err
		}
		if header.Del("Authorization"); token != "" {
			header.Set("Authorization", "Bearer "+token)
		}
		r, unrun, err := l.sendOnce(ctx, method, header, body)
		if err != nil {
			return nil, unrun, err
		}
		scopes, is := unauthorized(r.Response)
		if !is || logins == maxLogins {
			return r, false, nil
		}
		refusal := &http.Response{StatusCode: r.StatusCode, Header: r.Header, Body: http.NoBody}
		r.finish()
		at := *l.endpoint
		at.User = nil
		err = l.access.alone(ctx, token, func(ctx context.Context) error { return l.access.ask(ctx, &at, refusal, scopes) })
		if err != nil {
			return nil, !errors.Is(err, errUnauthorized), err
		}
	}
}

// ask gets a token in place of the one that was refused: another one for it where
// that can be, else by a login.
func (a *access) ask(ctx context.Context, at *url.URL, refusal *http.Response, scopes string) error {
	a.mu.Lock()
	seen := a.now.text()
	a.mu.Unlock()
	if a.login.Keep != nil {
		a.reload(ctx) // somebody may have logged in elsewhere
	}
	a.mu.Lock()
	now, own, stepped := a.now, a.own, a.stepped[scopes]
	failed := a.failed
	if time.Since(a.asked) >= loginPause {
		failed = nil
	}
	a.mu.Unlock()
	more := refusal.StatusCode == http.StatusForbidden
	switch {
	case now.Token != nil && now.text() != seen:
		return nil
	case failed != nil:
		return failed
	case more && (stepped || (own || a.login.Open == nil) && now.has(scopes)):
		// To ask for the same once more would bring the same.
		return &loginError{text: fmt.Sprintf("login: the server wants the scope %q, which was asked for already", a.shown(scopes))}
	case !more && now.Token != nil && now.Token.RefreshToken != "":
		// It was withdrawn before its time, or nobody said when that is.
		err := a.renew(ctx)
		switch {
		case err == nil:
			return nil
		case a.login.Open == nil && !over(err):
			return a.fault("its token could not be renewed", err)
		}
	}
	if a.login.Open != nil {
		return a.enter(ctx, at, refusal, scopes, more)
	}
	if more {
		a.want(ctx, scopes)
	}
	return a.needed()
}

// enter has a person log in.
func (a *access) enter(ctx context.Context, at *url.URL, refusal *http.Response, scopes string, more bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, fmt.Errorf("nobody logged in within %s", loginTime))
	defer cancel()
	began := time.Now()
	a.log.LogAttrs(ctx, slog.LevelInfo, "an MCP server wants a login", slog.String("scopes", a.shown(scopes)))
	err := a.authorize(ctx, at, refusal)
	if err == nil {
		a.mu.Lock()
		a.failed = nil
		if more {
			a.stepped[scopes] = true
		}
		a.mu.Unlock()
		a.log.LogAttrs(ctx, slog.LevelInfo, "logged in to an MCP server")
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	err = a.fault("the login failed", err)
	a.mu.Lock()
	if !a.asked.Before(began) { // a person was bothered with it
		a.failed = err
	}
	a.mu.Unlock()
	return err
}

// authorize has the SDK do the login, at the authorization server that is expected.
func (a *access) authorize(ctx context.Context, at *url.URL, refusal *http.Response) error {
	issuer := a.issuer(ctx, at, refusal)
	if err := a.expects(issuer); err != nil {
		return err
	}
	sdk, err := auth.NewAuthorizationCodeHandler(a.settings(issuer))
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.entering = issuer
	a.mu.Unlock()
	if a.login.Named != nil {
		a.login.Named(issuer)
	}
	return sdk.Authorize(ctx, &http.Request{Method: http.MethodPost, URL: at}, refusal)
}

// refusedLogin is what an authorization server says when it sends the browser
// back without a code.
func refusedLogin(why, description string) error {
	if description != "" {
		why += ": " + description
	}
	return fmt.Errorf("the authorization server says %q", why)
}

// fault is an error about a login as the operator may see it.
func (a *access) fault(what string, err error) error {
	if refusal := (*oauth2.RetrieveError)(nil); errors.As(err, &refusal) {
		// What it says may repeat what it was sent, which is all secret; its code is
		// a word.
		err = errors.New("the authorization server refuses the request for a token")
		if code := refusal.ErrorCode; code != "" && len(code) < 40 && strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") == "" {
			err = fmt.Errorf("%w: %s", err, code)
		}
	}
	return &loginError{text: "login: " + what + ": " + a.clean(err)}
}

// hide keeps texts out of errors and logs.
func (a *access) hide(secrets ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range secrets {
		if len(s) <= 3 {
			continue
		}
		if a.veil != nil {
			a.veil(s)
		}
		if !slices.Contains(a.hidden, s) {
			a.hidden = append(a.hidden, s)
		}
	}
	if n := len(a.hidden); n > maxHidden {
		a.hidden = append(a.hidden[:0:0], a.hidden[n-maxHidden:]...)
	}
}

// maxHidden bounds the tokens that are remembered: the oldest have expired.
const maxHidden = 64

// clean is the text of an error without secrets, bounded.
func (a *access) clean(err error) string { return a.shown(err.Error()) }

func (a *access) shown(text string) string {
	return quoted(a.without(text))
}

// without is a text without the tokens and secrets of the login.
func (a *access) without(text string) string {
	if a == nil {
		return text
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.hidden {
		text = strings.ReplaceAll(text, s, "[secret]")
		text = strings.ReplaceAll(text, url.QueryEscape(s), "[secret]")
	}
	return text
}

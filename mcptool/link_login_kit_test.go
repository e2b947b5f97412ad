package mcptool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// loginWorld is an MCP server that wants a login, the authorization server for it,
// and the person.
type loginWorld struct {
	*webServer
	issuer *httptest.Server
	log    lockedBuffer

	// needs are the scopes that a method wants; nil: none.
	needs func(method string) []string
	// person is who logs in. Nil: it follows the address.
	person func(ctx context.Context, address string) (string, error)
	// token answers a request for a token. Nil: as it should.
	token   func(w http.ResponseWriter, r *http.Request) bool
	expires int // seconds; 0: nothing is said of it

	mu     sync.Mutex
	opened []url.Values // the authorization requests
	grants map[string]url.Values
	valid  map[string][]string // scopes, by access token
	kinds  map[string]int      // grant types that were asked for
	last   int
}

func newLoginWorld(t *testing.T) *loginWorld {
	t.Helper()
	w := &loginWorld{
		webServer: newWebServer(t),
		grants:    make(map[string]url.Values), valid: make(map[string][]string), kinds: make(map[string]int),
	}
	w.post = func(out http.ResponseWriter, _ *http.Request, m message) { webJSON(out, 200, webResult(m, `{}`)) }
	w.Config.Handler = http.HandlerFunc(w.guard)
	w.issuer = httptest.NewServer(http.HandlerFunc(w.authorize))
	t.Cleanup(w.issuer.Close)
	return w
}

// guard is the door of the MCP server: what it lets in, webServer gets.
func (w *loginWorld) guard(out http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
		loginJSON(out, 200, map[string]any{"resource": w.URL + "/mcp", "authorization_servers": []string{w.issuer.URL}})
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	m, _ := parseMessage(body)
	w.mu.Lock()
	has, ok := w.valid[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	w.mu.Unlock()
	var needs []string
	if w.needs != nil {
		needs = w.needs(m.method)
	}
	challenge := fmt.Sprintf(`Bearer resource_metadata=%q`, w.URL+"/.well-known/oauth-protected-resource/mcp")
	if needs != nil {
		challenge += fmt.Sprintf(`, scope=%q`, strings.Join(needs, " "))
	}
	switch {
	case !ok:
		out.Header().Set("WWW-Authenticate", challenge)
		http.Error(out, "who are you: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	case slices.ContainsFunc(needs, func(s string) bool { return !slices.Contains(has, s) }):
		out.Header().Set("WWW-Authenticate", challenge+`, error="insufficient_scope"`)
		http.Error(out, "too little: "+r.Header.Get("Authorization"), http.StatusForbidden)
	default:
		w.ServeHTTP(out, r)
	}
}

// authorize is the authorization server.
func (w *loginWorld) authorize(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		loginJSON(out, 200, map[string]any{
			"issuer": w.issuer.URL, "authorization_endpoint": w.issuer.URL + "/authorize", "token_endpoint": w.issuer.URL + "/token",
			"registration_endpoint": w.issuer.URL + "/register", "code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"},
		})
	case "/register":
		loginJSON(out, 201, map[string]any{"client_id": "made-up", "client_secret": "registered-secret", "token_endpoint_auth_method": "client_secret_post", "redirect_uris": []string{"http://localhost:1/back"}})
	case "/authorize":
		q := r.URL.Query()
		w.opened = append(w.opened, q)
		code := fmt.Sprintf("code-%d", w.last)
		w.grants[code] = q
		http.Redirect(out, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	case "/token":
		_ = r.ParseForm()
		w.kinds[r.Form.Get("grant_type")]++
		if w.token == nil || !w.token(out, r) {
			w.grant(out, r.Form)
		}
	default:
		http.NotFound(out, r)
	}
}

// grant gives out a token for a code, or for a token to renew.
func (w *loginWorld) grant(out http.ResponseWriter, form url.Values) {
	asked, ok := w.grants[form.Get("code")+form.Get("refresh_token")]
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	proof := base64.RawURLEncoding.EncodeToString(sum[:])
	if !ok || form.Get("code") != "" && (asked.Get("code_challenge") != proof || form.Get("resource") != w.URL+"/mcp") {
		loginJSON(out, 400, map[string]any{"error": "invalid_grant", "error_description": "no such grant as " + form.Encode()})
		return
	}
	access, renew := fmt.Sprintf("access-token-%d", w.last), fmt.Sprintf("renew-token-%d", w.last)
	w.valid[access], w.grants[renew] = strings.Fields(asked.Get("scope")), asked
	answer := map[string]any{"access_token": access, "refresh_token": renew, "token_type": "Bearer"}
	if w.expires > 0 {
		answer["expires_in"] = w.expires
	}
	loginJSON(out, 200, answer)
}

// revoke makes all tokens invalid; with renewals: those to renew them, too.
func (w *loginWorld) revoke(renewals bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.valid)
	if renewals {
		clear(w.grants)
	}
}

// count is how often a person was asked, and a token renewed.
func (w *loginWorld) count() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%d logins, %d renewals", len(w.opened), w.kinds["refresh_token"])
}

// server is how the MCP server is reached.
func (w *loginWorld) server() Server {
	open := func(ctx context.Context, address string) (string, error) {
		if w.person != nil {
			return w.person(ctx, address)
		}
		return loginFollow(ctx, address)
	}
	return Server{Name: "s", URL: w.URL + "/mcp", Login: Login{Open: open, Redirect: "http://localhost:1/back"}}
}

// admitted is a server with what it has granted, for some links.
func (w *loginWorld) admitted(s Server) Server {
	w.t.Helper()
	if err := s.check(nil); err != nil {
		w.t.Fatal(err)
	}
	var err error
	if s.access, err = newAccess(s.Login, w.logger()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(s.access.close)
	return s
}

func (w *loginWorld) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (w *loginWorld) link(s Server) (link, error) {
	l, err := dialHTTP(w.t.Context(), s, webClient(), newEra, listener{}, w.logger())
	if err == nil {
		w.t.Cleanup(l.close)
	}
	return l, err
}

// noSecrets fails where a text has what nobody may see.
func (w *loginWorld) noSecrets(texts ...string) {
	w.t.Helper()
	for _, text := range append(texts, w.log.String()) {
		for _, secret := range []string{"access-token-", "renew-token-", "code-", "registered-secret"} {
			if strings.Contains(text, secret) {
				w.t.Errorf("got %q in %q", secret, text)
			}
		}
	}
}

// loginFollow is a person who agrees.
func loginFollow(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	way := &http.Transport{DisableKeepAlives: true}
	res, err := way.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	return res.Header.Get("Location"), nil
}

func loginJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// oauthWorld is an MCP server that wants OAuth, and the authorization server for it.
// What clients do wrong there is a fault of the test.
type oauthWorld struct {
	t           *testing.T
	mcp, issuer *httptest.Server
	dir         string // where ferrule.yaml is

	mu          sync.Mutex
	names       string            // another authorization server; "": issuer
	revokes     string            // how: "", as it should, or "refuses"; "no": it cannot
	revoked     []string          // tokens
	noRegister  bool              // clients cannot register themselves
	clients     map[string]string // secrets, by id
	redirects   map[string]string // of clients that registered themselves
	expires     int               // seconds of a token; 0: nothing is said
	denies      bool              // the person says no
	down        bool              // the endpoint for tokens
	grants      bool              // only the scope read, whatever is asked for
	codes       map[string]url.Values
	renewals    map[string]url.Values // by token to renew with
	used        map[string]bool       // of these
	valid       map[string][]string   // scopes, by access token
	asked       []url.Values          // what persons were asked
	count, news int                   // tokens that were given out; by renewal
	registered  int
	ran         map[string]int // tools that were called
}

func newOAuthWorld(t *testing.T) *oauthWorld {
	t.Helper()
	w := &oauthWorld{
		t: t, clients: make(map[string]string), redirects: make(map[string]string), codes: make(map[string]url.Values), renewals: make(map[string]url.Values),
		used: make(map[string]bool), valid: make(map[string][]string), ran: make(map[string]int),
	}
	var err error
	if w.dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	w.mcp = httptest.NewServer(http.HandlerFunc(w.guard))
	t.Cleanup(w.mcp.Close)
	w.issuer = httptest.NewServer(http.HandlerFunc(w.authorize))
	t.Cleanup(w.issuer.Close)
	w.configure("")
	return w
}

// configure writes ferrule.yaml; login is what stands behind url.
func (w *oauthWorld) configure(login string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "cs"), []byte("hunter2-of-the-client\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	write(w.t, filepath.Join(w.dir, "ferrule.yaml"), fmt.Sprintf("policy: {allow: [s__leak, s__write, s__read, \"source:s\"]}\nsecrets: {cs: {file: cs}}\nservers: {s: {url: %q%s}}\n", w.mcp.URL+"/mcp", login))
}

func answerJSON(out http.ResponseWriter, code int, v any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(code)
	_ = json.NewEncoder(out).Encode(v)
}

// guard is the MCP server: of the old era, with a tool that reads, one that writes,
// and one that tells what it was sent.
func (w *oauthWorld) guard(out http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
		w.mu.Lock()
		defer w.mu.Unlock()
		answerJSON(out, 200, map[string]any{"resource": w.mcp.URL + "/mcp", "authorization_servers": []string{cmp.Or(w.names, w.issuer.URL)}})
		return
	}
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name    string `json:"name"`
			Version string `json:"protocolVersion"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &m)
	sent := r.Header.Get("Authorization")
	w.mu.Lock()
	scopes, ok := w.valid[strings.TrimPrefix(sent, "Bearer ")]
	w.mu.Unlock()
	challenge := fmt.Sprintf(`Bearer resource_metadata=%q`, w.mcp.URL+"/.well-known/oauth-protected-resource/mcp")
	switch {
	case !ok:
		out.Header().Set("WWW-Authenticate", challenge+`, scope="read"`)
		http.Error(out, "not with "+sent, http.StatusUnauthorized)
		return
	case m.Method == "tools/call" && m.Params.Name == "write" && !slices.Contains(scopes, "write"):
		out.Header().Set("WWW-Authenticate", challenge+`, scope="write", error="insufficient_scope"`)
		http.Error(out, "too little: "+sent, http.StatusForbidden)
		return
	case r.Method != http.MethodPost:
		http.Error(out, "no", http.StatusMethodNotAllowed)
		return
	case m.ID == nil:
		out.WriteHeader(http.StatusAccepted)
		return
	}
	result := map[string]any{}
	switch m.Method {
	case "initialize":
		result = map[string]any{"protocolVersion": m.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "oauth", "version": "1"}}
	case "tools/list":
		var tools []any
		for _, name := range []string{"read", "write", "leak"} {
			tools = append(tools, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
		}
		result["tools"] = tools
	case "tools/call":
		w.mu.Lock()
		w.ran[m.Params.Name]++
		w.mu.Unlock()
		text := "done: " + m.Params.Name
		if m.Params.Name == "leak" {
			text = "you sent " + sent
		}
		result["content"] = []any{map[string]any{"type": "text", "text": text}}
	case "ping":
	default:
		answerJSON(out, http.StatusBadRequest, map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "no such method"}})
		return
	}
	answerJSON(out, 200, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

// authorize is the authorization server.
func (w *oauthWorld) authorize(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.issuer.URL
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		about := map[string]any{
			"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		}
		if !w.noRegister {
			about["registration_endpoint"] = at + "/register"
		}
		if w.revokes != "no" {
			about["revocation_endpoint"] = at + "/revoke"
		}
		answerJSON(out, 200, about)
	case "/revoke":
		_ = r.ParseForm()
		w.revoke(out, r.Form)
	case "/register":
		var asked struct {
			Redirects []string `json:"redirect_uris"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Redirects) != 1 || !strings.HasPrefix(asked.Redirects[0], "http://127.0.0.1:") {
			w.t.Errorf("got a registration with %v, %v", asked, err)
		}
		w.registered++
		id := fmt.Sprintf("client-%d", w.registered)
		w.clients[id], w.redirects[id] = "secret-of-"+id, asked.Redirects[0]
		answerJSON(out, 201, map[string]any{"client_id": id, "client_secret": w.clients[id], "token_endpoint_auth_method": "client_secret_post", "redirect_uris": asked.Redirects})
	case "/authorize":
		w.consent(out, r)
	case "/token":
		_ = r.ParseForm()
		if w.down {
			http.Error(out, "down: "+r.Form.Encode(), http.StatusServiceUnavailable)
			return
		}
		w.token(out, r.Form)
	default:
		http.NotFound(out, r)
	}
}

// consent is where a person says yes or no.
func (w *oauthWorld) consent(out http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.asked = append(w.asked, q)
	_, known := w.clients[q.Get("client_id")]
	back := q.Get("redirect_uri")
	if own := w.redirects[q.Get("client_id")]; !known || own != "" && own != back {
		w.t.Errorf("got client %q with the redirect %q, want one that is registered", q.Get("client_id"), back)
	}
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("state")) < 20 || q.Get("resource") != w.mcp.URL+"/mcp" {
		w.t.Errorf("got %v, want a code with PKCE, a state and the resource", q)
	}
	w.count++
	code := fmt.Sprintf("code-value-%d", w.count)
	w.codes[code] = q
	answer := url.Values{"code": {code}, "state": {q.Get("state")}}
	if w.denies {
		answer = url.Values{"error": {"access_denied"}, "error_description": {"not today"}, "state": {q.Get("state")}}
	}
	http.Redirect(out, r, back+"?"+answer.Encode(), http.StatusFound)
}

// token gives out tokens. A token to renew with counts once: who sends it again has
// stolen it, and nobody is let in any more.
func (w *oauthWorld) token(out http.ResponseWriter, form url.Values) {
	refuse := func(why string) {
		answerJSON(out, 400, map[string]any{"error": "invalid_grant", "error_description": why + ": " + form.Encode()})
	}
	if secret, ok := w.clients[form.Get("client_id")]; !ok || secret != form.Get("client_secret") {
		answerJSON(out, 401, map[string]any{"error": "invalid_client"})
		return
	}
	if form.Get("resource") != w.mcp.URL+"/mcp" {
		w.t.Errorf("got the resource %q with %s, want that of the server", form.Get("resource"), form.Get("grant_type"))
	}
	var asked url.Values
	switch form.Get("grant_type") {
	case "authorization_code":
		asked = w.codes[form.Get("code")]
		delete(w.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || asked.Get("redirect_uri") != form.Get("redirect_uri") {
			w.t.Errorf("got %v for %v, want the code that was given out, with its proof", form, asked)
			refuse("no such code")
			return
		}
	case "refresh_token":
		renewal := form.Get("refresh_token")
		if w.used[renewal] {
			w.t.Errorf("got %s twice", renewal)
			clear(w.valid)
			clear(w.renewals)
		}
		w.used[renewal] = true
		if asked = w.renewals[renewal]; asked == nil {
			refuse("no such token")
			return
		}
		delete(w.renewals, renewal)
		w.news++
	}
	w.count++
	access, renewal := fmt.Sprintf("access-value-%d", w.count), fmt.Sprintf("renewal-value-%d", w.count)
	scopes := strings.Fields(asked.Get("scope"))
	if w.grants {
		scopes = []string{"read"}
	}
	w.valid[access], w.renewals[renewal] = scopes, asked
	answer := map[string]any{"access_token": access, "refresh_token": renewal, "token_type": "Bearer", "scope": strings.Join(scopes, " ")}
	if w.expires > 0 {
		answer["expires_in"] = w.expires
	}
	answerJSON(out, 200, answer)
}

// revoke withdraws a token.
func (w *oauthWorld) revoke(out http.ResponseWriter, form url.Values) {
	token := form.Get("token")
	switch secret, ok := w.clients[form.Get("client_id")]; {
	case !ok || secret != form.Get("client_secret"):
		w.t.Errorf("got %v, want the client that the token is of", form)
		answerJSON(out, 401, map[string]any{"error": "invalid_client"})
	case w.revokes == "refuses":
		answerJSON(out, 503, map[string]any{"error": "not with " + form.Encode()})
	default:
		w.revoked = append(w.revoked, form.Get("token_type_hint"))
		delete(w.valid, token)
		delete(w.renewals, token)
	}
}

// set changes how the world is.
func (w *oauthWorld) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// try runs a command, and fails where it tells anything secret.
func (w *oauthWorld) try(args ...string) (text string, code int) {
	w.t.Helper()
	out, errs, code := w.program(nil, "").run(w.t.Context(), args...)
	w.silent(out + errs)
	return out + errs, code
}

// silent fails where a text has what nobody may see.
func (w *oauthWorld) silent(text string) {
	w.t.Helper()
	for _, secret := range []string{"access-value-", "renewal-value-", "code-value-", "secret-of-", "hunter2"} {
		if strings.Contains(text, secret) {
			w.t.Errorf("got %q in %s", secret, text)
		}
	}
}

// runner is a program that is run once.
type runner struct {
	*program

	out, errs *page
}

func (w *oauthWorld) program(in io.Reader, environ string) runner {
	if in == nil {
		in = strings.NewReader("")
	}
	out, errs := newPage(), newPage()
	env := append([]string{"USER=ada"}, strings.Fields(environ)...)
	return runner{&program{stdin: in, stdout: out, stderr: errs, environ: env, dir: w.dir, now: time.Now, helper: helper}, out, errs}
}

func (r runner) run(ctx context.Context, args ...string) (out, errs string, code int) {
	code = r.program.run(ctx, args)
	return r.out.String(), r.errs.String(), code
}

// login runs servers login with a person who is given the address.
func (w *oauthWorld) login(person func(address string), args ...string) (text string, code int) {
	w.t.Helper()
	return w.loginWith(w.program(nil, ""), person, args...)
}

func (w *oauthWorld) loginWith(r runner, person func(address string), args ...string) (text string, code int) {
	w.t.Helper()
	over := make(chan int, 1)
	go func() {
		_, _, code := r.run(w.t.Context(), append([]string{"servers", "login", "s"}, args...)...)
		_, _ = r.errs.Write([]byte("\n"))
		_, _ = r.out.Write([]byte("it has ended"))
		over <- code
	}()
	if address := r.out.find(w.t, `(?s)in a browser:\s+(\S+)\s.*paste that address here|it has ended`); address != "" {
		person(address)
	}
	code = <-over
	text = r.out.String() + r.errs.String()
	w.silent(text)
	return text, code
}

// agrees is a person with a browser, who says yes.
func (w *oauthWorld) agrees(address string) {
	w.t.Helper()
	if code, text := w.visit(w.follow(address)); code != 200 || !strings.Contains(text, "can be closed") {
		w.t.Errorf("got %d, %s, want a page that says what to do", code, text)
	}
}

// follow is where the authorization server sends the browser.
func (w *oauthWorld) follow(address string) string {
	w.t.Helper()
	res := w.fetch(address, http.MethodGet, "")
	_ = res.Body.Close()
	if res.StatusCode != http.StatusFound {
		w.t.Fatalf("got %d, want a redirect", res.StatusCode)
	}
	return res.Header.Get("Location")
}

// visit is what the browser is shown.
func (w *oauthWorld) visit(address string) (code int, text string) {
	w.t.Helper()
	res := w.fetch(address, http.MethodGet, "")
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(body)
}

func (w *oauthWorld) fetch(address, method, host string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, address, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Host = host
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	return res
}

// expire makes all tokens invalid; the ones to renew with are good.
func (w *oauthWorld) expire() { w.set(func() { clear(w.valid) }) }

// files are all files of the state directory, by name, with what they hold.
func (w *oauthWorld) files() map[string]string {
	w.t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(filepath.Join(w.dir, ".ferrule"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

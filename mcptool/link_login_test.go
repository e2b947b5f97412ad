package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestLogin(t *testing.T) {
	t.Run("M6 many requests over many connections wait for one login, and run once each", func(t *testing.T) {
		w := newLoginWorld(t)
		s := w.admitted(w.server())
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				l, err := w.link(s)
				if err != nil {
					t.Error(err)
					return
				}
				for range 5 {
					all.Go(func() {
						if _, err := l.do(t.Context(), "tools/call", json.RawMessage(`{"name":"x"}`), nil); err != nil {
							t.Error(err)
						}
					})
				}
			})
		}
		all.Wait()
		webWant(t, "asked", w.count(), "1 logins, 0 renewals")
		webWant(t, "ran", len(w.posted("tools/call")), "20")
		w.noSecrets()
	})

	t.Run("a token is renewed without a person, before its time is over and when it is refused", func(t *testing.T) {
		w := newLoginWorld(t)
		w.expires = 1 // it is renewed a little before that: at once
		l, err := w.link(w.admitted(w.server()))
		if err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		w.expires = 3600
		w.mu.Unlock()
		loginCall(t, l, "tools/list")
		before := w.count()
		loginCall(t, l, "tools/list")
		webWant(t, "asked", w.count(), before)
		if !strings.HasPrefix(before, "1 logins") || strings.HasSuffix(before, " 0 renewals") {
			t.Errorf("got %s, want 1 login and a renewal", before)
		}
		w.revoke(false)
		loginCall(t, l, "tools/list")
		if after := w.count(); after == before || !strings.HasPrefix(after, "1 logins") {
			t.Errorf("after the token was withdrawn: got %s, want one more renewal than %s", after, before)
		}
		w.revoke(true)
		loginCall(t, l, "tools/list")
		if after := w.count(); !strings.HasPrefix(after, "2 logins") {
			t.Errorf("after all was withdrawn: got %s, want another login", after)
		}
		w.noSecrets()
	})

	t.Run("M6 a request that needs more is sent again behind a login for more, once", func(t *testing.T) {
		w := newLoginWorld(t)
		w.needs = func(method string) []string {
			if method == "tools/call" {
				return []string{"write"}
			}
			return []string{"read"}
		}
		l, err := w.link(w.admitted(w.server()))
		if err != nil {
			t.Fatal(err)
		}
		loginCall(t, l, "tools/call")
		loginCall(t, l, "tools/list") // what there was is there still
		webWant(t, "asked", w.count(), "2 logins, 0 renewals")
		webWant(t, "first scope", w.opened[0].Get("scope"), "read")
		more := strings.Fields(w.opened[1].Get("scope"))
		slices.Sort(more)
		webWant(t, "second scopes", more, "[read write]")
		webWant(t, "ran", len(w.posted("tools/call")), "1")
	})

	t.Run("M6 what is not granted is asked for once, and the request did not run", func(t *testing.T) {
		w := newLoginWorld(t)
		w.needs = func(method string) []string {
			if method == "tools/call" {
				return []string{"admin"}
			}
			return nil
		}
		w.person = func(ctx context.Context, address string) (string, error) {
			back, err := loginFollow(ctx, address)
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, q := range w.grants {
				q.Set("scope", "") // the person has agreed to less
			}
			return back, err
		}
		l, err := w.link(w.admitted(w.server()))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, err = l.do(t.Context(), "tools/call", nil, nil)
			if !errors.Is(err, errUnauthorized) || !strings.Contains(err.Error(), `"admin"`) {
				t.Errorf("got %v, want errUnauthorized with the scope", err)
			}
			w.noSecrets(err.Error())
		}
		webWant(t, "asked", w.count(), "2 logins, 0 renewals")
		webWant(t, "ran", len(w.posted("tools/call")), "0")
	})

	t.Run("what was granted lasts until the next run", func(t *testing.T) {
		w := newLoginWorld(t)
		var kept []byte
		s := w.server()
		s.Login.Keep = func(_ context.Context, granted []byte) error { kept = granted; return nil }
		s.Login.Load = func(context.Context) ([]byte, error) { return kept, nil }
		for range 2 {
			if _, err := w.link(w.admitted(s)); err != nil {
				t.Fatal(err)
			}
		}
		w.revoke(false)
		if _, err := w.link(w.admitted(s)); err != nil {
			t.Fatal(err)
		}
		webWant(t, "asked", w.count(), "1 logins, 1 renewals")
		kept = []byte(`{"token": 7}`)
		if _, err := w.link(w.admitted(s)); err != nil {
			t.Fatal(err)
		}
		webWant(t, "asked where it cannot be read", w.count(), "2 logins, 1 renewals")
		w.noSecrets()
	})
}

func TestLoginRefused(t *testing.T) {
	elsewhere := func(w *loginWorld) *httptest.Server {
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.t.Errorf("another server got %s %s with %q and authorization %q", r.Method, r.URL.Path, body, r.Header.Get("Authorization"))
		}))
		w.t.Cleanup(other.Close)
		return other
	}
	for _, tt := range []struct {
		name  string
		set   func(*loginWorld)
		want  string
		again string // what is asked for when it is tried again at once
	}{
		{"the person says no", func(w *loginWorld) {
			w.person = func(ctx context.Context, address string) (string, error) {
				back, err := loginFollow(ctx, address)
				u, _ := url.Parse(back)
				return "http://localhost:1/back?error=access_denied&error_description=not+today&state=" + u.Query().Get("state"), err
			}
		}, `the authorization server says "access_denied: not today"`, "1 logins"},
		{"nobody can be asked", func(w *loginWorld) {
			w.person = func(context.Context, string) (string, error) { return "", errors.New("there is no browser") }
		}, "there is no browser", "0 logins"},
		{"another login comes back", func(w *loginWorld) {
			w.person = func(ctx context.Context, address string) (string, error) {
				back, err := loginFollow(ctx, address)
				return strings.Replace(back, "state=", "state=x", 1), err
			}
		}, "state mismatch", "1 logins"},
		{"no token is given", func(w *loginWorld) {
			w.token = func(out http.ResponseWriter, r *http.Request) bool {
				loginJSON(out, 400, map[string]any{"error": "invalid_client", "error_description": "not with " + r.Form.Encode()})
				return true
			}
		}, "refuses the request for a token: invalid_client", "1 logins"},
		{"the answer is odd", func(w *loginWorld) {
			w.token = func(out http.ResponseWriter, r *http.Request) bool {
				http.Error(out, "cannot take "+r.Form.Encode(), http.StatusInternalServerError)
				return true
			}
		}, "refuses the request for a token", "1 logins"},
		{"the code is wanted elsewhere", func(w *loginWorld) {
			other := elsewhere(w)
			w.token = func(out http.ResponseWriter, r *http.Request) bool {
				http.Redirect(out, r, other.URL, http.StatusTemporaryRedirect)
				return true
			}
		}, "want one to the same scheme, host and port", "1 logins"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newLoginWorld(t)
			tt.set(w)
			s := w.admitted(w.server())
			for range 2 {
				_, err := w.link(s)
				if err == nil || !errors.Is(err, errUnauthorized) || errors.Is(err, errOtherEra) || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("got %v, want errUnauthorized with %q", err, tt.want)
				}
				w.noSecrets(err.Error())
			}
			webWant(t, "asked", w.count(), tt.again+", 0 renewals")
			webWant(t, "ran", len(w.posted(methodDiscover)), "0")
		})
	}

	t.Run("a token goes to no other server, and into no error", func(t *testing.T) {
		w := newLoginWorld(t)
		l, err := w.link(w.admitted(w.server()))
		if err != nil {
			t.Fatal(err)
		}
		other := elsewhere(w)
		w.post = func(out http.ResponseWriter, r *http.Request, _ message) {
			http.Redirect(out, r, other.URL, http.StatusTemporaryRedirect)
		}
		_, away := l.do(t.Context(), "tools/call", nil, nil)
		w.post = func(out http.ResponseWriter, r *http.Request, _ message) {
			http.Error(out, "I got "+r.Header.Get("Authorization"), http.StatusTeapot)
		}
		_, echoed := l.do(t.Context(), "tools/call", nil, nil)
		if away == nil || echoed == nil || !strings.Contains(echoed.Error(), "I got Bearer [secret]") {
			t.Fatalf("got %v and %v, want errors", away, echoed)
		}
		w.noSecrets(away.Error(), echoed.Error())
	})

	t.Run("M6 a 401 says that it did not run, without a login too", func(t *testing.T) {
		w := newLoginWorld(t)
		_, err := w.link(Server{URL: w.URL + "/mcp"})
		if !errors.Is(err, errUnauthorized) || !strings.Contains(err.Error(), "set headers") {
			t.Errorf("got %v, want how to give authorization", err)
		}
	})
}

func TestHubLogin(t *testing.T) {
	t.Run("a person who takes long is waited for by nobody, and ends with the hub", func(t *testing.T) {
		w := newLoginWorld(t)
		asked, over := make(chan struct{}), make(chan struct{})
		w.person = func(ctx context.Context, _ string) (string, error) {
			close(asked)
			<-ctx.Done()
			close(over)
			return "", ctx.Err()
		}
		s := w.admitted(w.server())
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		_, err := dialHTTP(ctx, s, webClient(), newEra, listener{}, nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want canceled", err)
		}
		select {
		case <-over:
			t.Error("the login ended with the one who wanted it first")
		default:
		}
		s.access.close()
		<-over
	})

	t.Run("M6 the operator is told of a refused login", func(t *testing.T) {
		w := newLoginWorld(t)
		w.person = func(context.Context, string) (string, error) { return "", errors.New("there is no browser") }
		h := &Hub{Runtime: &ferrule.Runtime{Guard: unguarded()}, Servers: []Server{w.server()}, Log: w.logger()}
		start(t, h)
		want := "server s (" + w.URL + "/mcp) cannot be reached: server/discover: login: the login failed: there is no browser"
		if st := h.Status()[0]; st.State != stateWaiting || st.Why != want {
			t.Errorf("got %s, %q, want waiting, %q", st.State, st.Why, want)
		}
		refused := &tool.Error{}
		if err := h.server("s").failure(t.Context(), h.server("s").unreachable(&loginError{text: "login: no"})); !errors.As(err, &refused) ||
			refused.Text != "Server s wants a login that it was not given. Nothing was done." {
			t.Errorf("got %v with %q, want that nothing was done", err, refused.Text)
		}
	})

	for name, tt := range map[string]struct {
		change func(*Server)
		want   string
	}{
		"a command":       {func(s *Server) { s.URL, s.Command = "", []string{"x"} }, "want a URL"},
		"a header":        {func(s *Server) { s.Header = map[string]string{"authorization": "x"} }, "want one of them"},
		"no redirect":     {func(s *Server) { s.Login.Redirect = "" }, "redirect"},
		"only a secret":   {func(s *Server) { s.Login.ClientSecret = "x" }, "without a client id"},
		"nobody to ask":   {func(s *Server) { s.Login.Open = nil }, "got no Open"},
		"a hub starts it": {func(s *Server) { s.Login.ClientID = "x" }, ""},
	} {
		t.Run("what a server with a login must have: "+name, func(t *testing.T) {
			s := Server{Name: "s", URL: "http://localhost:1/mcp", Login: Login{Open: loginFollow, Redirect: "http://localhost:1/back"}}
			tt.change(&s)
			if err := s.check(nil); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func loginCall(t *testing.T, l link, method string) {
	t.Helper()
	if _, err := l.do(t.Context(), method, nil, nil); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// keptLogin is what outlasts a process, for tests.
type keptLogin struct {
	mu   sync.Mutex
	text []byte
	kept []string // each that was kept
	fail error
}

func (k *keptLogin) in(s Server) Server {
	s.Login.Load = func(context.Context) ([]byte, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		return slices.Clone(k.text), nil
	}
	s.Login.Keep = func(_ context.Context, granted []byte) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.fail != nil {
			return k.fail
		}
		k.text = granted
		k.kept = append(k.kept, string(granted))
		return nil
	}
	return s
}

// elsewhere is the server for a process where nobody can be asked.
func (k *keptLogin) elsewhere(w *loginWorld) Server {
	s := k.in(w.server())
	s.Login.Open, s.Login.Redirect, s.Login.Advice = nil, "", "run this"
	return s
}

func TestLoginElsewhere(t *testing.T) {
	t.Run("M6 nobody is asked, and what helps is said", func(t *testing.T) {
		w, k := newLoginWorld(t), new(keptLogin)
		s := w.admitted(k.elsewhere(w))
		_, err := w.link(s)
		if login := (*loginError)(nil); !errors.As(err, &login) || !login.needs || login.how != "run this" || !errors.Is(err, errUnauthorized) {
			t.Fatalf("got %v, want that it needs a login", err)
		}
		webWant(t, "asked", w.count(), "0 logins, 0 renewals")
		if err := k.in(w.server()).LogIn(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if !s.access.entered(t.Context()) || s.access.due() != "" {
			t.Errorf("got %q, want that somebody has logged in", s.access.due())
		}
		if _, err := w.link(s); err != nil {
			t.Errorf("got %v, want it let in", err)
		}
		webWant(t, "asked", w.count(), "1 logins, 0 renewals")
	})
	t.Run("M6 a token is kept before it is used", func(t *testing.T) {
		w, k := newLoginWorld(t), new(keptLogin)
		if err := k.in(w.server()).LogIn(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		s := w.admitted(k.elsewhere(w))
		l, err := w.link(s)
		if err != nil {
			t.Fatal(err)
		}
		w.revoke(false)
		w.post = func(out http.ResponseWriter, r *http.Request, m message) {
			k.mu.Lock()
			defer k.mu.Unlock()
			if token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); !strings.Contains(k.kept[len(k.kept)-1], token) {
				t.Errorf("got %s before it was kept", token)
			}
			webJSON(out, 200, webResult(m, `{}`))
		}
		loginCall(t, l, "tools/list")
		webWant(t, "kept", len(k.kept), "2")
		webWant(t, "asked", w.count(), "1 logins, 1 renewals")
	})
	t.Run("M6 what could not be kept is used, and not what is older", func(t *testing.T) {
		w, k := newLoginWorld(t), new(keptLogin)
		if err := k.in(w.server()).LogIn(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		k.fail = errors.New("the disk is full")
		l, err := w.link(w.admitted(k.elsewhere(w)))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			w.revoke(false)
			loginCall(t, l, "tools/list")
		}
		webWant(t, "asked", w.count(), "1 logins, 2 renewals")
	})
	t.Run("M6 that it could not be kept is a fault that the operator sees", func(t *testing.T) {
		w, k := newLoginWorld(t), new(keptLogin)
		if err := k.in(w.server()).LogIn(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		k.fail = errors.New("the disk is full")
		w.revoke(false)
		h := &Hub{Runtime: &ferrule.Runtime{Guard: unguarded()}, Servers: []Server{k.elsewhere(w)}, Log: w.logger()}
		start(t, h)
		if got := strings.Join(h.Status()[0].Faults, "\n"); !strings.Contains(got, "could not be kept for other processes and the next run: the disk is full (once") {
			t.Errorf("got %q, want why", got)
		}
		w.noSecrets()
	})
	for _, tt := range []struct {
		name   string
		answer func(out http.ResponseWriter)
		over   bool
	}{
		{"M6 a refusal by the authorization server needs a login", func(out http.ResponseWriter) {
			loginJSON(out, 400, map[string]any{"error": "invalid_grant"})
		}, true},
		{"M6 so does one that comes with 200", func(out http.ResponseWriter) {
			loginJSON(out, 200, map[string]any{"error": "bad_refresh_token"})
		}, true},
		{"M6 so does one that comes with 403", func(out http.ResponseWriter) {
			loginJSON(out, 403, map[string]any{"error": "access_denied"})
		}, true},
		{"M6 a page of what stands before it passes", func(out http.ResponseWriter) {
			http.Error(out, "<h1>Request blocked</h1>", http.StatusForbidden)
		}, false},
		{"M6 so does one with 400", func(out http.ResponseWriter) { http.Error(out, "<h1>Bad Request</h1>", http.StatusBadRequest) }, false},
		{"M6 so does a server that is busy", func(out http.ResponseWriter) {
			loginJSON(out, 429, map[string]any{"error": "rate_limited"})
		}, false},
		{"M6 so does one that says so", func(out http.ResponseWriter) {
			loginJSON(out, 400, map[string]any{"error": "temporarily_unavailable"})
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, k := newLoginWorld(t), new(keptLogin)
			if err := k.in(w.server()).LogIn(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			s := w.admitted(k.elsewhere(w))
			w.revoke(false)
			w.token = func(out http.ResponseWriter, _ *http.Request) bool { tt.answer(out); return true }
			_, err := w.link(s)
			if login := (*loginError)(nil); !errors.As(err, &login) || login.needs != tt.over {
				t.Fatalf("got %v, want a need to log in: %t", err, tt.over)
			}
			w.noSecrets(err.Error())
			w.token = nil
			if _, err := w.link(s); !tt.over && err != nil {
				t.Errorf("got %v, want it renewed once that has passed", err)
			}
		})
	}
	t.Run("M6 who has logged out elsewhere is not let in by a renewal", func(t *testing.T) {
		w, k := newLoginWorld(t), new(keptLogin)
		if err := k.in(w.server()).LogIn(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		l, err := w.link(w.admitted(k.elsewhere(w)))
		if err != nil {
			t.Fatal(err)
		}
		k.text = nil
		w.revoke(false)
		if _, err := l.do(t.Context(), "tools/list", nil, nil); !errors.Is(err, errUnauthorized) || !strings.Contains(err.Error(), "needs login") {
			t.Errorf("got %v, want that it needs a login", err)
		}
		webWant(t, "asked", w.count(), "1 logins, 0 renewals")
	})
	t.Run("M6 scopes of a server are text of a stranger", func(t *testing.T) {
		got := scopesIn("read a\"b \x1b[2J write read é " + strings.Repeat("x", 300))
		webWant(t, "scopes", got, "[read write]")
		if n := len(scopesIn(strings.Repeat("a", 5) + " " + strings.Join(strings.Split(strings.Repeat("abcdefgh", 200), ""), "q "))); n > maxScopes {
			t.Errorf("got %d scopes, want them bounded", n)
		}
	})
	t.Run("a login that cannot be is refused", func(t *testing.T) {
		w := newLoginWorld(t)
		if err := (Server{Name: "s", URL: w.URL + "/mcp"}).LogIn(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "got no Open") {
			t.Errorf("got %v, want that nobody can log in", err)
		}
		w.Close()
		if err := w.server().LogIn(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("got %v, want that it cannot be reached", err)
		}
	})
}

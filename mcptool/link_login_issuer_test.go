package mcptool

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// taken has the MCP server name another authorization server from now on, which does
// all that the first did. sent is what it was sent, of which nothing may be there.
func (w *loginWorld) taken() (sent func() string) {
	w.t.Helper()
	var mu sync.Mutex
	var all strings.Builder
	other := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		user, password, _ := r.BasicAuth()
		mu.Lock()
		all.WriteString(r.URL.Path + " " + r.Form.Encode() + " " + user + " " + password + "\n")
		mu.Unlock()
		w.authorize(out, r)
	}))
	w.t.Cleanup(other.Close)
	w.mu.Lock()
	w.issuer = other
	w.mu.Unlock()
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
}

func TestLoginIssuer(t *testing.T) {
	byHand := func(s Server) Server {
		s.Login.ClientID, s.Login.ClientSecret = "me", "by-hand-secret"
		return s
	}
	for name, client := range map[string]func(Server) Server{
		"of a client that was registered by hand": byHand,
		"of a client that registers itself":       func(s Server) Server { return s },
	} {
		t.Run("K3 the login "+name+" goes to the authorization server of the last one only", func(t *testing.T) {
			w, k := newLoginWorld(t), new(keptLogin)
			first := w.issuer.URL
			s := client(k.in(w.server()))
			for range 2 {
				if err := s.LogIn(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
			sent := w.taken()
			err := s.LogIn(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), w.issuer.URL) || !strings.Contains(err.Error(), first) || !strings.Contains(err.Error(), "log out first") {
				t.Errorf("got %v, want both authorization servers, and what to do", err)
			}
			if got := sent(); got != "" {
				t.Errorf("another authorization server was sent %s", got)
			}
			webWant(t, "asked", w.count(), "2 logins, 0 renewals")
			k.text = nil // who has logged out may log in anywhere
			if err := s.LogIn(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("K3 an authorization server that was configured counts from the first login on", func(t *testing.T) {
		w, k := newLoginWorld(t), new(keptLogin)
		s := byHand(k.in(w.server()))
		s.Login.Issuer = w.issuer.URL + "/" // as some write it
		var named []string
		s.Login.Named = func(issuer string) { named = append(named, issuer) }
		sent := w.taken()
		if err := s.LogIn(t.Context(), nil); err == nil || !strings.Contains(err.Error(), s.Login.Issuer) || sent() != "" || named != nil {
			t.Errorf("got %v, %q, %v, want that another is meant", err, sent(), named)
		}
		s.Login.Issuer = w.issuer.URL
		if err := s.LogIn(t.Context(), nil); err != nil {
			t.Error(err)
		}
		webWant(t, "named", named, "["+w.issuer.URL+"]")
	})
	t.Run("K3 a login at another authorization server than was configured is not used", func(t *testing.T) {
		w, k := newLoginWorld(t), new(keptLogin)
		if err := k.in(w.server()).LogIn(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		s := k.elsewhere(w)
		s.Login.Issuer = "https://login.example"
		_, err := w.link(w.admitted(s))
		if err == nil || !strings.Contains(err.Error(), "run this") || !strings.Contains(err.Error(), s.Login.Issuer) {
			t.Errorf("got %v, want what to do, and why", err)
		}
	})
	t.Run("K3 it is remembered when a token cannot be renewed any more", func(t *testing.T) {
		w := newLoginWorld(t)
		w.expires = 1 // so it is renewed at once
		s := w.admitted(byHand(w.server()))
		l, err := w.link(s)
		if err != nil {
			t.Fatal(err)
		}
		w.revoke(true)
		sent := w.taken()
		if _, err := l.do(t.Context(), "tools/list", nil, nil); err == nil || !strings.Contains(err.Error(), "at the last login") || sent() != "" {
			t.Errorf("got %v, %q, want nothing sent to another", err, sent())
		}
	})
	t.Run("K3 a server that names no authorization server is no place to log in", func(t *testing.T) {
		w := newLoginWorld(t)
		guard := w.Config.Handler
		w.Config.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/.well-known/") {
				loginJSON(out, 200, map[string]any{"resource": w.URL + "/mcp", "authorization_servers": []string{}})
				return
			}
			guard.ServeHTTP(out, r)
		})
		if err := byHand(w.server()).LogIn(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "names no authorization server") {
			t.Errorf("got %v, want that it names none", err)
		}
	})
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const needsLogin = "needs login: ferrule servers login s"

func TestServersLogin(t *testing.T) {
	t.Parallel()
	t.Run("M6 a server that wants a login says so, and is let in to behind one", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		if text, _ := w.try("servers"); !strings.Contains(text, "needs login") || !strings.Contains(text, "ferrule servers login s") {
			t.Errorf("got %s, want what to run", text)
		}
		if text, _ := w.try("doctor"); !strings.Contains(text, needsLogin) {
			t.Errorf("got %s, want %s", text, needsLogin)
		}
		if text, code := w.try("call", "s__read"); code == 0 || !strings.Contains(text, needsLogin) {
			t.Errorf("got %d, %s, want %s", code, text, needsLogin)
		}
		if len(w.asked) != 0 || w.registered != 0 {
			t.Errorf("got %d questions and %d registrations, want none: nobody is asked by these", len(w.asked), w.registered)
		}
		text, code := w.login(w.agrees)
		if code != 0 || !strings.Contains(text, "logged in to s") || !strings.Contains(text, "server s: ready") || !strings.Contains(text, filepath.Join(".ferrule", "logins", "key")) {
			t.Errorf("got %d, %s, want a login", code, text)
		}
		for range 2 { // by other processes
			if text, code := w.try("call", "s__read"); code != 0 || !strings.Contains(text, "done: read") {
				t.Errorf("got %d, %s, want the result", code, text)
			}
		}
		if text, code := w.try("servers", "--json"); code != 0 || !strings.Contains(text, `"ready"`) || strings.Contains(text, "login") {
			t.Errorf("got %d, %s, want it ready", code, text)
		}
		if len(w.asked) != 1 || w.asked[0].Get("scope") != "read" {
			t.Errorf("got %v, want one question, for what the server names", w.asked)
		}
	})
	t.Run("K3 what is granted stands nowhere in the clear", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		w.login(w.agrees)
		if text, code := w.try("call", "s__leak"); code != 0 || !strings.Contains(text, "you sent Bearer ") {
			t.Errorf("got %d, %s, want what the server says without the token", code, text)
		}
		w.try("audit", "export")
		for path, text := range w.files() {
			w.silent(text)
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && strings.Contains(path, "logins") && info.Mode().Perm() != 0o600 {
				t.Errorf("%s: got %v, %v, want it for its user only", path, info.Mode(), err)
			}
		}
	})
	t.Run("M6 a client that was registered by hand", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		w.noRegister = true
		if text, code := loginFails(w); code != 1 || !strings.Contains(text, "client registration") {
			t.Errorf("got %d, %s, want that it cannot register", code, text)
		}
		w.clients["by-hand"] = "hunter2-of-the-client"
		w.configure(`, login: {client_id: by-hand, client_secret: "${secret:cs}", scopes: [read, profile]}`)
		if text, code := w.login(w.agrees); code != 0 || w.registered != 0 {
			t.Errorf("got %d, %s, %d registrations, want a login without one", code, text, w.registered)
		}
		if got := sortedScopes(w.asked[0]); got != "profile read" {
			t.Errorf("got the scopes %q, want those of the configuration", got)
		}
		w.expire()
		if text, code := w.try("call", "s__read"); code != 0 || w.news != 1 {
			t.Errorf("got %d, %s, %d renewals, want one with the secret of the client", code, text, w.news)
		}
	})
	t.Run("K3 a server that names another authorization server than before is not logged in to", func(t *testing.T) {
		t.Parallel()
		w, other := newOAuthWorld(t), newOAuthWorld(t)
		w.clients["by-hand"] = "hunter2-of-the-client"
		w.configure(`, login: {client_id: by-hand, client_secret: "${secret:cs}"}`)
		if text, code := w.login(w.agrees); code != 0 || !strings.Contains(text, "s has you log in at "+w.issuer.URL+".\n") {
			t.Errorf("got %d, %s, want where", code, text)
		}
		w.set(func() { w.names = other.issuer.URL })
		if text, code := loginFails(w); code != statusFailed || !strings.Contains(text, other.issuer.URL) || !strings.Contains(text, "log out first") {
			t.Errorf("got %d, %s, want what the server names now", code, text)
		}
		w.configure(`, login: {client_id: by-hand, client_secret: "${secret:cs}", issuer: "` + other.issuer.URL + `"}`)
		if text, _ := w.try("servers"); !strings.Contains(text, "needs login") || !strings.Contains(text, other.issuer.URL) {
			t.Errorf("got %s, want that the login is at another than is configured", text)
		}
	})
	t.Run("M6 over ssh the address is pasted", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close() }()
		text, code := w.loginWith(w.program(in, "SSH_CONNECTION=x"), func(address string) {
			back := w.follow(address)
			other, _ := url.Parse(back)
			q := other.Query()
			q.Set("state", "of-another-login")
			other.RawQuery = q.Encode()
			cut, _, _ := strings.Cut(back, "?")
			fmt.Fprintf(out, "\nhttps://elsewhere.example/\n%s\n%s\n%s\n", cut, other, back)
			_ = out.Close()
		})
		if code != 0 || !strings.Contains(text, "that is not the address") || !strings.Contains(text, "has no code in it") || !strings.Contains(text, "of another login") || !strings.Contains(text, "logged in to s") {
			t.Errorf("got %d, %s, want what was wrong with each, and a login", code, text)
		}
	})
	t.Run("M6 a browser is opened where there is one", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("it is xdg-open on Linux")
		}
		w := newOAuthWorld(t)
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" > "+bin+"/part && mv "+bin+"/part "+bin+"/opened\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		environ := "DISPLAY=:0 PATH=" + bin + ":/usr/bin:/bin"
		text, code := w.loginWith(w.program(nil, environ), func(address string) {
			if got := waitFile(t, filepath.Join(bin, "opened")); got != address {
				t.Errorf("got %s opened, want %s", got, address)
			}
			w.agrees(address)
		})
		if code != 0 || !strings.Contains(text, "It was opened in your browser") {
			t.Errorf("got %d, %s, want it opened", code, text)
		}
		if text, code := w.loginWith(w.program(nil, environ), w.agrees, "--no-browser"); code != 0 || strings.Contains(text, "It was opened") {
			t.Errorf("got %d, %s, want it not opened", code, text)
		}
		for env, want := range map[string]string{
			"DISPLAY=:0": "xdg-open", "WAYLAND_DISPLAY=w": "xdg-open", "X=y": "", "SSH_TTY=/dev/x": "",
		} {
			if got := strings.Join(w.program(nil, env+" PATH="+bin).browserOn("linux"), " "); !strings.HasSuffix(got, want) || (got == "") != (want == "") {
				t.Errorf("%s: got %q, want %q", env, got, want)
			}
		}
	})
	t.Run("M6 nothing but the login comes back", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		text, code := w.login(func(address string) {
			back := w.follow(address)
			at, _ := url.Parse(back)
			for name, tt := range map[string]struct {
				change       func(u *url.URL)
				method, host string
				want         int
			}{
				"another state": {func(u *url.URL) { u.RawQuery = "code=x&state=y" }, "GET", "", 400},
				"no state":      {func(u *url.URL) { u.RawQuery = "error=access_denied" }, "GET", "", 400},
				"no code":       {func(u *url.URL) { u.RawQuery = "state=" + u.Query().Get("state") }, "GET", "", 400},
				"another path":  {func(u *url.URL) { u.Path = "/" }, "GET", "", 404},
				"a form":        {func(*url.URL) {}, "POST", "", 405},
				"another name":  {func(*url.URL) {}, "GET", "rebound.example:" + at.Port(), 421},
			} {
				u := *at
				tt.change(&u)
				res := w.fetch(u.String(), tt.method, tt.host)
				_ = res.Body.Close()
				if res.StatusCode != tt.want {
					t.Errorf("%s: got %d, want %d", name, res.StatusCode, tt.want)
				}
			}
			res := w.fetch(back, http.MethodGet, "")
			_ = res.Body.Close()
			if res.StatusCode != 200 || res.Header.Get("Referrer-Policy") != "no-referrer" || res.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("got %d, %v, want a page that passes nothing on", res.StatusCode, res.Header)
			}
		})
		if code != 0 {
			t.Errorf("got %d, %s, want a login after all", code, text)
		}
	})
}

// waitFile is what a file holds, once it is there.
func waitFile(t *testing.T, path string) string {
	t.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		if text, err := os.ReadFile(path); err == nil {
			return string(text)
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: it is not there", path)
		}
	}
}

// sortedScopes are what a person was asked for.
func sortedScopes(q url.Values) string {
	list := strings.Fields(q.Get("scope"))
	slices.Sort(list)
	return strings.Join(list, " ")
}

// loginFails is a login where nobody is asked.
func loginFails(w *oauthWorld) (text string, code int) {
	w.t.Helper()
	return w.try("servers", "login", "s", "--timeout", "30s")
}

func TestServersLoginFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		set    func(*oauthWorld)
		person func(*oauthWorld, string)
		args   []string
		want   string
	}{
		{"M6 the person says no", func(w *oauthWorld) { w.denies = true }, (*oauthWorld).agrees, nil, `the authorization server says "access_denied: not today"`},
		{"M6 nobody comes back in time", nil, func(*oauthWorld, string) {}, []string{"--timeout", "100ms"}, "nobody logged in within 100ms"},
		{"M6 no token is given", func(w *oauthWorld) { w.down = true }, (*oauthWorld).agrees, nil, "refuses the request for a token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newOAuthWorld(t)
			if tt.set != nil {
				tt.set(w)
			}
			text, code := w.login(func(address string) { tt.person(w, address) }, tt.args...)
			if code != statusFailed || !strings.Contains(text, tt.want) {
				t.Errorf("got %d, %s, want %s", code, text, tt.want)
			}
			if text, _ := w.try("servers"); !strings.Contains(text, "needs login") {
				t.Errorf("got %s, want nothing kept", text)
			}
		})
	}
	t.Run("U1 it can be interrupted", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		r := w.program(nil, "")
		over := make(chan int, 1)
		go func() {
			_, _, code := r.run(ctx, "servers", "login", "s")
			over <- code
		}()
		r.out.find(t, `paste that address here`)
		cancel()
		if code := <-over; code != statusInterrupted || !strings.Contains(r.errs.String(), "interrupted") {
			t.Errorf("got %d, %s, want it interrupted", code, r.errs)
		}
	})
	t.Run("Y3 a server that cannot be reached, and a port that is in use", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		_, port, _ := strings.Cut(strings.TrimPrefix(w.issuer.URL, "http://"), ":")
		w.configure(", login: {port: " + port + "}")
		if text, code := loginFails(w); code != statusFailed || !strings.Contains(text, "is in use") {
			t.Errorf("got %d, %s, want that the port is in use", code, text)
		}
		w.configure("")
		w.mcp.Close()
		if text, code := loginFails(w); code != statusFailed || !strings.Contains(text, "cannot be reached") {
			t.Errorf("got %d, %s, want that it cannot be reached", code, text)
		}
	})
	t.Run("Y3 what cannot be meant", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "ferrule.yaml"), "servers: {c: {command: x}, h: {url: 'https://a/b', headers: {Authorization: x}}, o: {url: 'https://a/b', login: false}, p: {url: 'http://a.example/b'}}\n")
		for args, want := range map[string]string{
			"login":                 "got 0 arguments, want NAME",
			"login x":               `there is no server "x"`,
			"login c":               "it is a command, want one with a url",
			"login h":               "has a header Authorization",
			"login o":               "says login: false",
			"login p":               "want https://",
			"login p --timeout 1h":  "want more than 0 and at most 10m0s",
			"login p --scope a\"b":  "want the name of one scope",
			"logout x":              `there is no server "x"`,
			"logout ../../etc/pass": `there is no server`,
		} {
			out, errs, code := try(t.Context(), dir, append([]string{"servers"}, strings.Fields(args)...)...)
			if code != statusUsage || !strings.Contains(errs, want) {
				t.Errorf("%s: got %d, %s%s, want %s", args, code, out, errs, want)
			}
		}
	})
}

func TestLoginLasts(t *testing.T) {
	t.Parallel()
	t.Run("M6 many processes renew a token once", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		w.login(w.agrees)
		w.expire()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if text, code := w.try("call", "s__read"); code != 0 || !strings.Contains(text, "done: read") {
					t.Errorf("got %d, %s, want the result", code, text)
				}
			})
		}
		all.Wait()
		if w.news != 1 || len(w.asked) != 1 || w.ran["read"] != 4 {
			t.Errorf("got %d renewals, %d logins, %d calls, want 1, 1 and 4", w.news, len(w.asked), w.ran["read"])
		}
	})
	t.Run("M6 an endpoint for tokens that is down is no reason to log in", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		w.login(w.agrees)
		w.expire()
		w.set(func() { w.down = true })
		if text, _ := w.try("servers"); !strings.Contains(text, "could not be renewed") || strings.Contains(text, "needs login") {
			t.Errorf("got %s, want that it could not be renewed", text)
		}
		w.set(func() { w.down = false })
		if text, code := w.try("call", "s__read"); code != 0 || w.news != 1 {
			t.Errorf("got %d, %s, want it renewed once that is back", code, text)
		}
	})
	t.Run("M6 what is withdrawn needs a login", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		w.set(func() { w.expires = 3600 })
		w.login(w.agrees)
		w.set(func() { clear(w.valid); clear(w.renewals) })
		if text, _ := w.try("call", "s__read"); !strings.Contains(text, needsLogin) {
			t.Errorf("got %s, want %s", text, needsLogin)
		}
		if text, code := w.login(w.agrees); code != 0 {
			t.Errorf("got %d, %s, want another login", code, text)
		}
	})
	t.Run("M6 a token is for the url that it was granted for", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		w.login(w.agrees)
		other := newOAuthWorld(t)
		text, err := os.ReadFile(filepath.Join(other.dir, "ferrule.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(w.dir, "ferrule.yaml"), string(text))
		if text, _ := w.try("servers"); !strings.Contains(text, "needs login") || !strings.Contains(text, "for another url") {
			t.Errorf("got %s, want that it is for another", text)
		}
		other.set(func() { // it would be let in with it
			for token := range w.valid {
				other.valid[token] = []string{"read"}
			}
		})
		if text, code := w.try("call", "s__read"); code == 0 || len(other.ran) > 0 {
			t.Errorf("got %d, %s, want the token sent to nobody else", code, text)
		}
	})
	t.Run("M6 a file that was changed is none", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		w.login(w.agrees)
		for path, text := range w.files() {
			if !strings.Contains(path, "login-s-") || strings.HasSuffix(path, ".lock") {
				continue
			}
			for change, want := range map[string]string{
				strings.Replace(text, `"seal":"`, `"seal":"AAAA`, 1): "its file was changed)",
				strings.Replace(text, `"seal":"`, `"seal":"%%`, 1):   "damaged",
				`{"version":1}`: "for another url",
				`{"version":7}`: "got version 7",
				"":              "damaged",
			} {
				write(t, path, change)
				if text, _ := w.try("servers"); !strings.Contains(text, "needs login") || !strings.Contains(text, strings.TrimPrefix(want, "got ")) {
					t.Errorf("%.40s: got %s, want %s", change, text, want)
				}
			}
			write(t, path, text)
		}
		if text, code := w.try("call", "s__read"); code != 0 {
			t.Errorf("got %d, %s, want it as before", code, text)
		}
	})
	t.Run("M6 a scope that is wanted is asked for by the next login", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		w.login(w.agrees)
		text, code := w.try("call", "s__write")
		if code == 0 || w.ran["write"] > 0 {
			t.Errorf("got %d, %s, want it refused", code, text)
		}
		want := needsLogin + ` (for the scope "write")`
		if text, _ := w.try("servers"); !strings.Contains(text, want) || !strings.Contains(text, "ready") {
			t.Errorf("got %s, want %s", text, want)
		}
		if text, code := w.login(w.agrees); code != 0 {
			t.Errorf("got %d, %s", code, text)
		}
		if got := sortedScopes(w.asked[1]); got != "read write" {
			t.Errorf("got the scopes %q, want what was granted and what is wanted", got)
		}
		if text, _ := w.try("servers"); strings.Contains(text, "needs login") {
			t.Errorf("got %s, want nothing more to do", text)
		}
		if text, code := w.try("call", "s__write"); code != 0 || !strings.Contains(text, "done: write") {
			t.Errorf("got %d, %s, want the result", code, text)
		}
	})
	t.Run("M6 a scope that was asked for and not granted is not asked for again", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		w.set(func() { w.grants = true })
		w.login(w.agrees, "--scope", "write")
		w.try("call", "s__write")
		if text, _ := w.try("servers"); strings.Contains(text, "needs login") {
			t.Errorf("got %s, want no advice that does not help", text)
		}
		if text, _ := w.try("audit", "export"); !strings.Contains(text, "asked for already") {
			t.Errorf("got %s, want why on the record", text)
		}
	})
	t.Run("M6 who logs out is not let in", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		if text, code := w.try("servers", "logout", "s"); code != 0 || !strings.Contains(text, "there is no login to s") {
			t.Errorf("got %d, %s", code, text)
		}
		w.login(w.agrees)
		if text, code := w.try("servers", "logout", "s"); code != 0 || !strings.Contains(text, "logged out of s") || !strings.Contains(text, "not told") {
			t.Errorf("got %d, %s", code, text)
		}
		if text, code := w.try("call", "s__read"); code == 0 || !strings.Contains(text, needsLogin) {
			t.Errorf("got %d, %s, want %s", code, text, needsLogin)
		}
		w.login(w.agrees)
		if text, code := w.try("servers", "remove", "s"); code != 0 || !strings.Contains(text, "removed the login to s") {
			t.Errorf("got %d, %s", code, text)
		}
	})
}

func TestUpLogin(t *testing.T) {
	t.Parallel()
	t.Run("M6 it asks nobody, says what to run, and goes on behind a login elsewhere", func(t *testing.T) {
		t.Parallel()
		w := newOAuthWorld(t)
		r := up(t, w.dir, nil, "--tools", "full")
		r.out.find(t, `server s: `+needsLogin+`\n`)
		w.login(w.agrees)
		r.out.find(t, `server s: ready, 2025-11-25, 3 tools\n`)
		c := r.caller(t, r.token)
		c.hello(t)
		if answer, err := c.called(t.Context(), "s__leak", map[string]any{}); err != nil || !strings.Contains(answer, "you sent Bearer ") || strings.Contains(answer, "access-value-") {
			t.Errorf("got %s, %v, want the result without the token", answer, err)
		}
		if answer, err := c.called(t.Context(), "s__write", map[string]any{}); err != nil || !strings.Contains(answer, "wants a login") || strings.Contains(answer, "access-value-") {
			t.Errorf("got %s, %v, want that a login is wanted", answer, err)
		}
		r.out.find(t, `server s: ready.*`+needsLogin+` \(for the scope "write"\)`)
		w.login(w.agrees)
		if answer, err := c.called(t.Context(), "s__write", map[string]any{}); err != nil || !strings.Contains(answer, "done: write") {
			t.Errorf("got %s, %v, want the result behind the new login", answer, err)
		}
		w.expire()
		if answer, err := c.called(t.Context(), "s__read", map[string]any{}); err != nil || !strings.Contains(answer, "done: read") || w.news != 1 {
			t.Errorf("got %s, %v, %d renewals, want the result behind a renewal", answer, err, w.news)
		}
		if text, code := w.try("servers"); code != 0 || !strings.Contains(text, "ready") || w.news != 1 {
			t.Errorf("got %d, %s, %d renewals, want what it has renewed", code, text, w.news)
		}
		r.stop()
		<-r.over
		w.silent(r.out.String() + r.errs.String())
		w.try("audit", "export")
	})
}

package web

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// guarded is a console that counts what is done.
func guarded() (c *Console, acts *atomic.Int64) {
	c, acts = filled("a text"), new(atomic.Int64)
	c.Answer = func(context.Context, string, policy.Answer) error {
		acts.Add(1)
		return nil
	}
	c.Stop = func(string) bool {
		acts.Add(1)
		return true
	}
	c.Revoke = func(context.Context, string, string) error {
		acts.Add(1)
		return nil
	}
	c.once.Do(c.begin)
	return c, acts
}

// Changes of a request.
func nobody(r *http.Request) { r.Header.Del("Authorization") }

func bearer(key string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// browser is one that has opened the first link.
func browser(c *Console) func(*http.Request) {
	return func(r *http.Request) {
		nobody(r)
		r.AddCookie(&http.Cookie{Name: c.door.name, Value: c.door.cookie})
	}
}

const yes = `{"do":"allow"}`

func TestKey(t *testing.T) {
	t.Parallel()
	t.Run("M5 without the key nothing is shown and nothing done", func(t *testing.T) {
		t.Parallel()
		c, acts := guarded()
		other := &Console{Key: "another"}
		other.once.Do(other.begin)
		for name, as := range map[string][]func(*http.Request){
			"no key":                  {nobody},
			"a wrong key":             {bearer("wrong")},
			"an empty key":            {bearer("")},
			"another way":             {header("Authorization", "Basic "+testKey)},
			"a part of the key":       {bearer(testKey[:4])},
			"a wrong cookie":          {nobody, header("Cookie", c.door.name+"=wrong")},
			"the key as cookie":       {nobody, header("Cookie", c.door.name+"="+testKey)},
			"another console's":       {browser(other)},
			"another's, by our name":  {nobody, header("Cookie", c.door.name+"="+other.door.cookie)},
			"the word of the page":    {nobody, header("Cookie", c.door.name+"="+c.door.form)},
			"a wrong one with cookie": {browser(c), bearer("wrong")},
		} {
			for _, path := range []string{"/", "/rules", "/api/now", "/api/events", "/api/openapi.json", "/nowhere"} {
				if w := get(t, c, path, as...); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "a text") || strings.Contains(w.Body.String(), c.door.form) {
					t.Errorf("%s at %s: got %d, %s, want a refusal that tells nothing", name, path, w.Code, w.Body)
				}
			}
			if w := post(t, c, "/api/questions/q1", kindJSON, yes, append(as, header(formHeader, c.door.form))...); w.Code != http.StatusUnauthorized {
				t.Errorf("%s: got %d, want a refusal", name, w.Code)
			}
		}
		if acts.Load() != 0 {
			t.Error("something was done")
		}
	})
	t.Run("M5 a console without a key opens to nobody", func(t *testing.T) {
		t.Parallel()
		c := new(Console)
		hollow(c)
		for name, w := range map[string]*httptest.ResponseRecorder{
			"bearer": get(t, c, "/", bearer("")), "link": get(t, c, "/?key=", nobody), "cookie": get(t, c, "/", browser(c)),
		} {
			if w.Code != http.StatusUnauthorized || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("%s: got %d, %v, want a refusal", name, w.Code, w.Header())
			}
		}
	})
	t.Run("M5 the key in the link becomes a cookie, and the address is clean", func(t *testing.T) {
		t.Parallel()
		c, _ := guarded()
		for _, path := range []string{"/", "/rules", "/api/now", "//evil.com/"} {
			w := get(t, c, path+"?key="+testKey+"&said=x", nobody)
			if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" || strings.Contains(w.Body.String(), testKey) {
				t.Errorf("%s: got %d to %q, want / without the key", path, w.Code, w.Header().Get("Location"))
			}
			cookies := w.Result().Cookies()
			if len(cookies) != 1 {
				t.Fatalf("got %d cookies, want one", len(cookies))
			}
			k := cookies[0]
			if !k.HttpOnly || k.SameSite != http.SameSiteStrictMode || k.Path != "/" || k.Domain != "" || k.Secure || k.MaxAge <= 0 || strings.Contains(k.Value, testKey) {
				t.Errorf("got %s, want one for this host alone, without the key in it", k)
			}
			if w := get(t, c, "/", nobody, func(r *http.Request) { r.AddCookie(k) }); w.Code != http.StatusOK {
				t.Errorf("got %d, want the page", w.Code)
			}
		}
		if w := get(t, c, "/?key=wrong", browser(c)); w.Code != http.StatusUnauthorized || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("got %d, want a wrong key refused", w.Code)
		}
		if w := get(t, c, "/?key="+testKey, nobody, func(r *http.Request) { r.TLS = new(tls.ConnectionState) }); !w.Result().Cookies()[0].Secure {
			t.Error("got a cookie that leaves an encrypted connection")
		}
	})
	t.Run("M5 programs have the key as bearer, without the word of a page", func(t *testing.T) {
		t.Parallel()
		c, acts := guarded()
		if w := post(t, c, "/api/questions/q1", kindJSON, yes); w.Code != http.StatusOK || acts.Load() != 1 {
			t.Errorf("got %d, %s, want it answered", w.Code, w.Body)
		}
	})
}

func TestPlace(t *testing.T) {
	t.Parallel()
	c, _ := guarded()
	c.Hosts = []string{"box.example", "named:7711"}
	for name, want := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:7711": 200, "127.1.2.3:80": 200, "localhost": 200, "LocalHost:7711": 200, "[::1]": 200, "[::1]:7711": 200, "::1": 200,
		"[::ffff:127.0.0.1]:7711": 200, "box.example": 200, "Box.Example:7711": 200, "named:7711": 200,
		"evil.com": 403, "evil.com:7711": 403, "127.0.0.1.evil.com": 403, "localhost.evil.com:7711": 403, "localhost.": 403, "127.0.0.1.": 403, "evil.localhost": 403,
		"box.example.": 403, "xbox.example": 403, "named:7712": 403, "named": 403, "0.0.0.0:7711": 403, "[::]:7711": 403, "10.0.0.1": 403, "[fe80::1]:7711": 403,
		"2130706433": 403, "0x7f.1": 403, "127.1": 403, "": 403, ":7711": 403, "localhost@evil.com": 403, "evil.com#localhost": 403, "[::1]evil.com": 403, "localhost:7711:1": 403,
	} {
		t.Run("M5 by the name "+name, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/", "/static/console.js"} {
				if w := get(t, c, path, host(name)); w.Code != want {
					t.Errorf("%s: got %d, want %d", path, w.Code, want)
				}
			}
			if w := get(t, c, "/?key="+testKey, nobody, host(name)); want == http.StatusForbidden && (w.Code != want || w.Header().Get("Set-Cookie") != "") {
				t.Errorf("got %d, want no cookie for who made that name lead here", w.Code)
			}
		})
	}
	for from, want := range map[string]int{
		"127.0.0.1:5": 200, "[::1]:5": 200, "[::ffff:127.0.0.1]:5": 200, "10.0.0.1:5": 403, "192.168.1.2:5": 403, "[fe80::1%eth0]:5": 403, "8.8.8.8:5": 403, "@": 403, "": 403,
	} {
		t.Run("M5 from the address "+from, func(t *testing.T) {
			t.Parallel()
			w := get(t, c, "/", func(r *http.Request) { r.RemoteAddr = from }, header("X-Forwarded-For", "127.0.0.1"), header("Forwarded", "for=127.0.0.1"))
			if w.Code != want {
				t.Errorf("got %d, want %d", w.Code, want)
			}
		})
	}
}

func TestForged(t *testing.T) {
	t.Parallel()
	other := &Console{Key: "another"}
	other.once.Do(other.begin)
	c, _ := guarded()
	word := c.door.form
	for _, tt := range []struct {
		name       string
		kind, body string
		as         []func(*http.Request)
		want       int
	}{
		{"M5 a form of the page", kindForm, "do=allow&form=" + word, nil, http.StatusSeeOther},
		{"M5 the script of the page", kindJSON, yes, []func(*http.Request){header(formHeader, word)}, http.StatusOK},
		{"M5 the script, as browsers send it", kindJSON, yes, []func(*http.Request){header(formHeader, word), header("Sec-Fetch-Site", "same-origin"), header("Origin", "http://127.0.0.1:7711")}, http.StatusOK},
		{"M5 a form without a word", kindForm, "do=allow", nil, http.StatusForbidden},
		{"M5 a form with a wrong word", kindForm, "do=allow&form=x", nil, http.StatusForbidden},
		{"M5 a form with an empty word", kindForm, "do=allow&form=", nil, http.StatusForbidden},
		{"M5 a form with the word of another console", kindForm, "do=allow&form=" + other.door.form, nil, http.StatusForbidden},
		{"M5 a script with the word of another console", kindJSON, yes, []func(*http.Request){header(formHeader, other.door.form)}, http.StatusForbidden},
		{"M5 JSON without a word", kindJSON, yes, nil, http.StatusForbidden},
		{"M5 JSON that says it is text", "text/plain", yes, nil, http.StatusForbidden},
		{"M5 a form that says it is text, with the word", "text/plain", "do=allow&form=" + word, nil, http.StatusForbidden},
		{"M5 a form of parts, with the word", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"form\"\r\n\r\n" + word + "\r\n--x--\r\n", nil, http.StatusForbidden},
		{"M5 a foreign Origin, with the word", kindForm, "do=allow&form=" + word, []func(*http.Request){header("Origin", "https://evil.com")}, http.StatusForbidden},
		{"M5 the Origin of another port", kindForm, "do=allow&form=" + word, []func(*http.Request){header("Origin", "http://127.0.0.1:8000")}, http.StatusForbidden},
		{"M5 an Origin that is none", kindForm, "do=allow&form=" + word, []func(*http.Request){header("Origin", "null")}, http.StatusForbidden},
		{"M5 from another site", kindForm, "do=allow&form=" + word, []func(*http.Request){header("Sec-Fetch-Site", "cross-site")}, http.StatusForbidden},
		{"M5 from another port of this machine", kindForm, "do=allow&form=" + word, []func(*http.Request){header("Sec-Fetch-Site", "same-site")}, http.StatusForbidden},
		{"M5 a site says that it is ours", kindForm, "do=allow&form=" + word, []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Origin", "http://127.0.0.1:7711")}, http.StatusForbidden},
		{"M5 a page of another site that has the key", kindJSON, yes, []func(*http.Request){bearer(testKey), header("Origin", "https://evil.com")}, http.StatusForbidden},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, acts := guarded()
			w := post(t, c, "/api/questions/q1", tt.kind, tt.body, append([]func(*http.Request){browser(c)}, tt.as...)...)
			if done := acts.Load() == 1; w.Code != tt.want || done != (tt.want < 400) {
				t.Errorf("got %d, done: %v, want %d; %s", w.Code, done, tt.want, w.Body)
			}
		})
	}
	t.Run("M5 a word in the address is none", func(t *testing.T) {
		t.Parallel()
		c, acts := guarded()
		if w := post(t, c, "/api/questions/q1?form="+word, kindForm, "do=allow", browser(c)); w.Code != http.StatusForbidden || acts.Load() != 0 {
			t.Errorf("got %d, want a refusal", w.Code)
		}
	})
	t.Run("M5 what a page says was done is what was done here", func(t *testing.T) {
		t.Parallel()
		c, _ := guarded()
		w := post(t, c, "/api/questions/q1", kindForm, "do=allow&back=/rules&form="+word, browser(c))
		to := w.Header().Get("Location")
		if page := get(t, c, to, browser(c)); !strings.Contains(page.Body.String(), `role="status">allowed</p>`) {
			t.Errorf("got %s at %s, want what was done", page.Body, to)
		}
		for _, forged := range []string{"/?said=Call+this+number", "/?said=Call+this+number&mark=", strings.Replace(to, "said=allowed", "said=denied", 1), to + "&failed=1"} {
			if page := get(t, c, forged, browser(c)); page.Code != http.StatusOK || strings.Contains(page.Body.String(), `class="said`) {
				t.Errorf("got what %s says on the page", forged)
			}
		}
	})
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	c, _ := guarded()
	answers := map[string]*httptest.ResponseRecorder{
		"a page": get(t, c, "/"), "the rules": get(t, c, "/rules"), "JSON": get(t, c, "/api/now"), "no such page": get(t, c, "/nowhere"), "no such JSON": get(t, c, "/api/nowhere"),
		"a file": get(t, c, "/static/console.js", nobody), "no such file": get(t, c, "/static/none"), "no key": get(t, c, "/", nobody), "a wrong key": get(t, c, "/?key=x"),
		"the first link": get(t, c, "/?key="+testKey), "a foreign host": get(t, c, "/", host("evil.com")), "a path that is mended": get(t, c, "/a/../rules"),
		"done": post(t, c, "/api/questions/q1", kindJSON, yes), "done by form": post(t, c, "/api/questions/q1", kindForm, "do=allow"),
		"forged": post(t, c, "/api/questions/q1", kindForm, "do=allow", browser(c)), "wrong JSON": post(t, c, "/api/questions/q1", kindJSON, "{"),
		"too large": post(t, c, "/api/questions/q1", kindJSON, strings.Repeat(" ", maxBody+1)),
	}
	for name, w := range answers {
		t.Run("M5 "+name+" cannot be framed, sniffed or kept", func(t *testing.T) {
			t.Parallel()
			h := w.Header()
			for key, want := range map[string]string{
				"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if h.Get(key) != want {
					t.Errorf("%s: got %q, want %q", key, h.Get(key), want)
				}
			}
			if kept := h.Get("Cache-Control"); kept != "no-store" && (kept != "no-cache" || name != "a file") {
				t.Errorf("Cache-Control: got %q, want no-store", kept)
			}
			if h.Get("Access-Control-Allow-Origin") != "" {
				t.Error("other sites may read it")
			}
			csp := h.Get("Content-Security-Policy")
			for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "script-src 'self'"} {
				if !strings.Contains(csp, want) {
					t.Errorf("got %q, want %q in it", csp, want)
				}
			}
			for _, bad := range []string{"unsafe", "*", "http", "data:", "blob:"} {
				if strings.Contains(csp, bad) {
					t.Errorf("got %q, want no %q in it", csp, bad)
				}
			}
		})
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	c, _ := guarded()
	for _, path := range []string{
		"/static/", "/static", "/static/../serve.go", "/static/../pages/now.html", "/static/../../go.mod", "/static/%2e%2e/pages/now.html", "/static/..%2fpages/now.html",
		"/static/%2e%2e%2f%2e%2e%2fetc/passwd", "/static//etc/passwd", "/static/..", "/static/.", "/static/../rules", "/static/../api/now", "/static/%00", "/static/console.js%00.css", "/static/..\\serve.go",
	} {
		t.Run("M5 "+path+" leads out of nothing", func(t *testing.T) {
			t.Parallel()
			w := get(t, c, path, nobody)
			if w.Code == http.StatusOK || strings.Contains(w.Body.String(), "package web") || strings.Contains(w.Body.String(), "a text") {
				t.Errorf("got %d, %s", w.Code, w.Body)
			}
		})
	}
	for _, path := range []string{"//evil.com", "//evil.com/..", "/\\evil.com", "/%2f%2fevil.com", "/..//evil.com", "///evil.com", "/rules/..//evil.com", "/https://evil.com"} {
		t.Run("M5 "+path+" leads to no other site", func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			w := ask(c, r, func(r *http.Request) {
				unescaped, _ := url.PathUnescape(path)
				r.URL = &url.URL{Path: unescaped}
				bearer(testKey)(r)
			})
			if to := w.Header().Get("Location"); to != "" && !stays(to) {
				t.Errorf("got %d to %q", w.Code, to)
			}
		})
	}
	for back, want := range map[string]string{
		"/rules": "/rules", "/history?tool=fs_read&said=x&failed=1&key=k": "/history", "": "/", "rules": "/", "//evil.com": "/", "//evil.com/rules": "/", "https://evil.com/": "/",
		"/\\evil.com": "/%5Cevil.com", "\\\\evil.com": "/", "/%2Fevil.com": "/", "/%5Cevil.com": "/%5Cevil.com", "///evil.com": "/", "/..//evil.com": "/evil.com", "/.//evil.com": "/evil.com",
		"javascript:alert(1)": "/", "data:text/html,x": "/", "/\t/evil.com": "/", "/\r\nSet-Cookie: a=b": "/", "http:/evil.com": "/", "/a/../../..": "/", "//a@/x": "/x", "?x=1": "/", "#x": "/",
	} {
		t.Run(fmt.Sprintf("M5 a form that leads back to %q", back), func(t *testing.T) {
			t.Parallel()
			w := post(t, c, "/api/questions/q1", kindForm, url.Values{"do": {"allow"}, "back": {back}}.Encode())
			to, _, _ := strings.Cut(w.Header().Get("Location"), "?")
			if w.Code != http.StatusSeeOther || to != want || !stays(w.Header().Get("Location")) || strings.Contains(w.Header().Get("Location"), "key=") {
				t.Errorf("got %d to %q, want %q", w.Code, w.Header().Get("Location"), want)
			}
		})
	}
	t.Run("M5 other methods do nothing", func(t *testing.T) {
		t.Parallel()
		c, before := guarded()
		for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, http.MethodTrace, http.MethodConnect, "QUERY", "post"} {
			for _, path := range []string{"/", "/rules", "/api/now", "/api/questions/q1", "/api/calls/c1/stop", "/api/rules/r1/revoke", "/static/console.js"} {
				w := post(t, c, path, kindJSON, yes, func(r *http.Request) { r.Method = method })
				want := "GET, HEAD"
				if strings.Contains(path, "1") {
					want = "POST"
				}
				if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != want {
					t.Errorf("%s %s: got %d, allows %s, %s, want 405 and %s", method, path, w.Code, w.Header().Get("Allow"), w.Body, want)
				}
			}
		}
		for _, path := range []string{"/api/questions/q1", "/api/calls/c1/stop", "/api/rules/r1/revoke", "/api/explain"} {
			if w := get(t, c, path+"?do=allow"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" {
				t.Errorf("GET %s: got %d", path, w.Code)
			}
		}
		if before.Load() != 0 {
			t.Error("something was done")
		}
	})
}

// stays reports whether a browser that is led there stays at the console. Browsers take
// a backslash for a slash, and leave tabs and line ends out.
func stays(to string) bool {
	to = strings.NewReplacer("\\", "/", "\t", "", "\n", "", "\r", "").Replace(strings.TrimSpace(to))
	at, err := url.Parse(to)
	return err == nil && at.Scheme == "" && at.Host == "" && strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//")
}

func TestBodies(t *testing.T) {
	t.Parallel()
	t.Run("M5 a body that is too large is refused", func(t *testing.T) {
		t.Parallel()
		c, acts := guarded()
		large := `{"do":"allow","reason":"` + strings.Repeat("x", maxBody) + `"}`
		form := "do=allow&form=" + c.door.form + "&reason=" + strings.Repeat("x", maxBody)
		for kind, body := range map[string]string{kindJSON: large, kindForm: form} {
			if w := post(t, c, "/api/questions/q1", kind, body); w.Code != http.StatusRequestEntityTooLarge || acts.Load() != 0 {
				t.Errorf("%s: got %d, want 413", kind, w.Code)
			}
		}
		if w := post(t, c, "/api/questions/q1", kindJSON, `{"do":"allow","reason":"`+strings.Repeat("x", maxBody-100)+`"}`); w.Code != http.StatusOK {
			t.Errorf("got %d, want one that is just small enough taken", w.Code)
		}
	})
	t.Run("M5 a body that stops is refused in time", func(t *testing.T) {
		t.Parallel()
		c, acts := guarded()
		c.door.patience = 50 * time.Millisecond
		server := httptest.NewServer(c)
		defer server.Close()
		for _, kind := range []string{kindJSON, kindForm} {
			if status := halfBody(t, server.Listener.Addr().String(), "Content-Type: "+kind+"\r\nAuthorization: Bearer "+testKey); status != http.StatusRequestTimeout || acts.Load() != 0 {
				t.Errorf("%s: got %d, want 408", kind, status)
			}
		}
	})
	t.Run("M5 who is not known sends no body", func(t *testing.T) {
		t.Parallel()
		c, acts := guarded()
		server := httptest.NewServer(c)
		defer server.Close()
		if status := halfBody(t, server.Listener.Addr().String(), "Content-Type: "+kindJSON); status != http.StatusUnauthorized || acts.Load() != 0 {
			t.Errorf("got %d, want an answer before the body", status)
		}
	})
	t.Run("M5 what is done may take longer than a body", func(t *testing.T) {
		t.Parallel()
		c, _ := guarded()
		c.door.patience = 20 * time.Millisecond
		c.Answer = func(ctx context.Context, _ string, _ policy.Answer) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(5 * c.door.patience): // the story: the end of the body's time ended the request
				return nil
			}
		}
		server := httptest.NewServer(c)
		defer server.Close()
		if status, text := send(t, server, http.MethodPost, "/api/questions/q1", yes); status != http.StatusOK {
			t.Errorf("got %d, %s, want it done", status, text)
		}
	})
	t.Run("M5 HEAD has no body, and no end that is waited for", func(t *testing.T) {
		t.Parallel()
		c, _ := guarded()
		server := httptest.NewServer(c)
		defer server.Close()
		for _, path := range []string{"/", "/rules", "/api/now", "/api/events", "/static/console.css", "/api/openapi.json"} {
			if status, text := send(t, server, http.MethodHead, path, ""); status != http.StatusOK || text != "" {
				t.Errorf("%s: got %d, %q", path, status, text)
			}
		}
	})
	t.Run("M5 JSON that is something else is refused in words", func(t *testing.T) {
		t.Parallel()
		c, acts := guarded()
		for _, body := range []string{"{", `{"dO":1}`, `{"do":"allow","more":1}`, `[]`, `"allow"`, `{"do":"edit"}`, `{"do":"allow"`, "null null", ""} {
			w := post(t, c, "/api/questions/q1", kindJSON, body)
			var f failure
			if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil || w.Code < 400 || w.Code >= 500 || f.Error == "" {
				t.Errorf("%q: got %d, %s", body, w.Code, w.Body)
			}
		}
		if acts.Load() != 0 {
			t.Error("something was done")
		}
	})
}

// halfBody sends a request whose body stops, and gives the status.
func halfBody(t *testing.T, address, headers string) int {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := fmt.Fprintf(conn, "POST /api/questions/q1 HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Length: 1000\r\n\r\n{\"do\":", address, headers); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// send asks a server, as a program does.
func send(t *testing.T, server *httptest.Server, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	bearer(testKey)(r)
	r.Header.Set("Content-Type", kindJSON)
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var text strings.Builder
	_, err = bufio.NewReader(res.Body).WriteTo(&text)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, text.String()
}

func FuzzBack(f *testing.F) {
	for _, back := range []string{"/", "//evil.com", "/\\evil.com", "/%2Fevil.com", "https://evil.com", "/a?b=c&said=d", "/..//x", "\x00", "/%0d%0aX: y", "/a;b", "/:80/"} {
		f.Add(back, "it is done")
	}
	c := &Console{Key: testKey}
	f.Fuzz(func(t *testing.T, back, said string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(url.Values{"back": {back}}.Encode()))
		r.Header.Set("Content-Type", kindForm)
		w := httptest.NewRecorder()
		c.forth(w, r, done{Said: said})
		to := w.Header().Get("Location")
		if w.Code != http.StatusSeeOther || !stays(to) {
			t.Fatalf("%q leads to %q", back, to)
		}
		at, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if got, failed := c.said(at); got != said || failed {
			t.Errorf("got %q, %v, want %q", got, failed, said)
		}
		if at.URL.Query().Has("key") {
			t.Errorf("%q leads to a key", back)
		}
	})
}

func FuzzReply(f *testing.F) {
	for _, form := range []string{"do=allow", "do=deny&message=no", "do=edit&edited={}", "do=edit&edited=x", "do=always&rule=fs_read", "do=session", "id=a&id=b&do=allow&second=1", "%zz"} {
		f.Add(form)
	}
	f.Fuzz(func(t *testing.T, form string) {
		v, _ := url.ParseQuery(form)
		in, err := replyOf(v)
		if err != nil {
			return
		}
		a, err := in.answer("somebody")
		if err != nil {
			return
		}
		do := v.Get("do")
		switch {
		case a.Allow != (do == "allow" || do == "edit" || do == "session" || do == "always"):
			t.Errorf("%q: got %+v", form, a)
		case a.Input != nil && (do != "edit" || !json.Valid(a.Input)):
			t.Errorf("%q: got arguments %s", form, a.Input)
		case (a.Rule != "" || a.Always) && do != "session" && do != "always":
			t.Errorf("%q: got a rule %q", form, a.Rule)
		case a.Second && (!v.Has("second") || !a.Allow):
			t.Errorf("%q: got the second key", form)
		case a.By != "somebody":
			t.Errorf("%q: got %q", form, a.By)
		}
	})
}

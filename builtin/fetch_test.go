package builtin

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ferrule-dev/ferrule/tool"
)

func TestFetchAnswers(t *testing.T) {
	t.Parallel()
	png := []byte("\x89PNG\r\n\x1a\n0000")
	tests := []struct {
		name, kind, body string
		status           int
		want             []string // in what the model reads
		fails            bool
	}{
		{"HTML as text", "text/html; charset=utf-8", "<title>T</title><h1>Hi</h1>", 200, []string{"200 OK, text/html, 27 bytes\n\nTitle: T\n\n# Hi"}, false},
		{"text as it is", "text/plain", "<b>x</b>", 200, []string{"\n\n<b>x</b>"}, false},
		{"markdown", "text/markdown", "# x", 200, []string{"\n\n# x"}, false},
		{"JSON", "application/problem+json", `{"a":1}`, 200, []string{`{"a":1}`}, false},
		{"XML", "application/rss+xml", "<a/>", 200, []string{"<a/>"}, false},
		{"no type said", "", "<!doctype html><p>x", 200, []string{"text/html", "\n\nx"}, false},
		{"latin-1 by the header", "text/html; charset=iso-8859-1", "<p>gr\xfc\xdfe", 200, []string{"grüße"}, false},
		{"latin-1 by the page", "text/html", "<meta charset=iso-8859-1><p>gr\xfc\xdfe", 200, []string{"grüße"}, false},
		{"UTF-8 without a word, far into the page", "text/html", "<p>" + strings.Repeat("x", 2000) + "grüße", 200, []string{"grüße"}, false},
		{"UTF-16 by its mark", "text/plain", "\xff\xfeh\x00i\x00", 200, []string{"\n\nhi"}, false},
		{"a picture", "image/png", string(png), 200, []string{"[image:image/png]"}, false},
		{"no picture", "image/png", "<script>", 200, []string{"The answer is image/png, 8 bytes: it is not what it says."}, true},
		{"a program", "application/octet-stream", "\x7fELF", 200, []string{"The answer is application/octet-stream, 4 bytes: only text, HTML, JSON, XML and pictures are read."}, true},
		{"a document", "application/pdf", "%PDF", 200, []string{"application/pdf, 4 bytes"}, true},
		{"no text", "text/plain", "a\x00b", 200, []string{"not the text that it says"}, true},
		{"not found", "text/html", "<p>No such page.", 404, []string{"127.0.0.1 answered 404 Not Found.", "No such page."}, true},
		{"broken", "application/octet-stream", "\x00", 500, []string{"127.0.0.1 answered 500 Internal Server Error."}, true},
		{"an odd status", "text/plain", "x", 299, []string{"\n299, text/plain"}, false},
		{"a redirect without a place", "text/plain", "x", 302, []string{"302 Found"}, false},
		{"a type that cannot be read", "a/b/c;;", "x", 200, []string{"text/plain", "\n\nx"}, false},
	}
	for _, tt := range tests {
		t.Run("I4 "+tt.name, func(t *testing.T) {
			base, f := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if w.Header()["Content-Type"] = nil; tt.kind != "" {
					w.Header().Set("Content-Type", tt.kind)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			res, err := fetched(t, f, base)
			res.Err = tool.AsError(err)
			if tt.fails != (err != nil) {
				t.Errorf("got the error %v, want one: %t", err, tt.fails)
			}
			for _, want := range tt.want {
				if !strings.Contains(res.String(), want) {
					t.Errorf("got %q, want %q in it", res, want)
				}
			}
			if len(res.Content) > 0 && (res.Trust == nil || *res.Trust != tool.Web) {
				t.Errorf("trust: got %v, want web", res.Trust)
			}
		})
	}
}

func TestFetchOptions(t *testing.T) {
	t.Parallel()
	base, f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Etag", strings.Repeat("e", 1000))
		w.Header().Set("X-Other", "no")
		_, _ = fmt.Fprintf(w, "<p>%s</p>", r.Method)
	})
	t.Run("I4 raw gives the source", func(t *testing.T) {
		if res, err := fetched(t, f, map[string]any{"url": base, "raw": true}); err != nil || !strings.HasSuffix(res.String(), "\n\n<p>GET</p>") {
			t.Errorf("got %v and %v, want the source", res, err)
		}
	})
	t.Run("I4 HEAD gives the headers", func(t *testing.T) {
		res, err := fetched(t, f, map[string]any{"url": base, "method": "HEAD"})
		if err != nil || !strings.Contains(res.String(), "200 OK\nContent-Type: text/html\n") || strings.Contains(res.String(), "X-Other") || len(res.String()) > 600 {
			t.Errorf("got %v and %v, want a few headers", res, err)
		}
	})
	t.Run("I4 no other method", func(t *testing.T) {
		made, err := f.Tool()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []string{"POST", "get", "PUT", "DELETE", "CONNECT"} {
			if _, err := made.Admit([]byte(`{"url":"` + base + `","method":"` + m + `"}`)); err == nil {
				t.Errorf("%s was admitted", m)
			}
		}
	})
	t.Run("I4 what it claims", func(t *testing.T) {
		made, err := Fetch{}.Tool()
		if err != nil {
			t.Fatal(err)
		}
		if c := made.Claims; !c.ReadOnly || c.Local || c.Reversible || c.Touches != nil || !made.Cancel || made.Timeout != 32*time.Second || len(made.Secrets) > 0 {
			t.Errorf("got %+v, want it to read only, not to be local, and to end with an interrupt", made.Info)
		}
	})
}

func TestFetchSendsNothingOfItsOwn(t *testing.T) {
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1/") // nobody is there
	}
	t.Setenv("REQUEST_METHOD", "")
	t.Run("I4 no proxy, cookie, referer or password", func(t *testing.T) {
		var last http.Header
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
				w.Header().Set("Www-Authenticate", "Basic")
				http.Redirect(w, r, "/next", http.StatusFound)
				return
			}
			last = r.Header.Clone()
		}))
		defer s.Close()
		// A proxy is never asked for what is on loopback: only a name shows it.
		dns := &names{tables: map[string][][]string{"web.example": {{"127.0.0.1"}}}}
		_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
		f := Fetch{Hosts: []string{"web.example"}, Resolver: dns.resolver(t), Agent: "tester"}
		if _, err := fetched(t, f, "http://web.example:"+port+"/"); err != nil {
			t.Fatal(err)
		}
		for name := range last {
			switch name {
			case "Accept", "Accept-Encoding", "User-Agent", "Connection":
			default:
				t.Errorf("it sent %s: %q", name, last[name])
			}
		}
		if last.Get("User-Agent") != "tester" {
			t.Errorf("agent: got %q, want tester", last.Get("User-Agent"))
		}
	})
}

func TestFetchLimits(t *testing.T) {
	t.Parallel()
	zipped := func(n int) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(bytes.Repeat([]byte("a"), n))
		_ = z.Close()
		return b.Bytes()
	}
	small := func(f Fetch) Fetch {
		f.Bytes, f.Timeout, f.Idle = 10_000, 5*time.Second, 5*time.Second
		return f
	}
	t.Run("I4 what is too long is cut, and it says so", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Content-Length", "20001")
			_, _ = io.WriteString(w, "a"+strings.Repeat("ü", 10_000))
		})
		res, err := fetched(t, small(f), base)
		if err != nil || !strings.Contains(res.String(), "cut: the first 10000 of 20001 bytes\n") || strings.Contains(res.String(), "\uFFFD") {
			t.Errorf("got %.200q and %v, want it cut between two letters", res.String(), err)
		}
	})
	t.Run("I4 an endless answer is cut", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			for {
				if _, err := w.Write(bytes.Repeat([]byte("x"), 4096)); err != nil {
					return
				}
			}
		})
		if res, err := fetched(t, small(f), base); err != nil || !strings.Contains(res.String(), "cut: the first 10000 bytes of more") || len(res.String()) > 11_000 {
			t.Errorf("got %.200q and %v, want it cut", res.String(), err)
		}
	})
	t.Run("I4 a small pack that is large inside is cut", func(t *testing.T) {
		bomb := zipped(5 << 20)
		base, f := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		})
		f = small(f)
		f.Bytes = 100_000 // more than the pack has
		if res, err := fetched(t, f, base); err != nil || !strings.Contains(res.String(), "cut: the first 100000 ") || len(res.String()) > 101_000 {
			t.Errorf("got %.200q and %v, want it cut", res.String(), err)
		}
		if res, err := fetched(t, small(f), base); err != nil || len(res.String()) > 11_000 {
			t.Errorf("got %.200q and %v, want it cut", res.String(), err)
		}
	})
	t.Run("I4 no more is unpacked than the limit", func(t *testing.T) {
		// Each pack has a MiB in it, and takes a thousandth of that.
		packs := bytes.NewReader(bytes.Repeat(zipped(1<<20), 20))
		c, err := Fetch{Bytes: 100_000}.client()
		if err != nil {
			t.Fatal(err)
		}
		res := &http.Response{Header: http.Header{"Content-Encoding": {"gzip"}}, Body: io.NopCloser(packs), ContentLength: -1}
		b, err := c.read(res, false)
		if err != nil || !b.cut || len(b.data) != 100_000 || packs.Len() < int(packs.Size())/2 {
			t.Errorf("got %d bytes, cut: %t, %v, and %d of %d bytes left, want most of them left", len(b.data), b.cut, err, packs.Len(), packs.Size())
		}
	})
	t.Run("I4 endless packs with nothing in them are cut", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			for nothing := bytes.Repeat(zipped(0), 1000); ; {
				if _, err := w.Write(nothing); err != nil {
					return
				}
			}
		})
		if res, err := fetched(t, small(f), base); err != nil || !strings.Contains(res.String(), "cut: the first 0 bytes of more") {
			t.Errorf("got %v and %v, want it cut", res, err)
		}
	})
	t.Run("I4 packed is unpacked", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", strings.TrimPrefix(r.URL.Path, "/"))
			_, _ = w.Write(zipped(3))
		})
		if res, err := fetched(t, small(f), base+"/gzip"); err != nil || !strings.HasSuffix(res.String(), "\n\naaa") {
			t.Errorf("got %v and %v, want aaa", res, err)
		}
		if res, err := fetched(t, small(f), base+"/br"); err == nil || !strings.Contains(err.Error(), "br") {
			t.Errorf("got %v and %v, want an error", res, err)
		}
	})
	t.Run("I4 headers without an end", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			for i := range 100 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
			}
		})
		if res, err := fetched(t, small(f), base); err == nil {
			t.Errorf("got %v, want an error", res)
		}
	})
	t.Run("I4 a picture that is too large is not read", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n"+strings.Repeat("x", 20_000))
		})
		if res, err := fetched(t, small(f), base); err == nil || !strings.Contains(err.Error(), "image/png") {
			t.Errorf("got %v and %v, want an error", res, err)
		}
	})
	t.Run("I4 a type that is a message is none, and a word of the server is of the web", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/do-as-i-say"+strings.Repeat("-now", len(r.URL.Path)))
			_, _ = io.WriteString(w, "\x00")
		})
		res, err := fetched(t, small(f), base+"/")
		if err == nil || !strings.Contains(err.Error(), "do-as-i-say") || res.Trust == nil || *res.Trust != tool.Web {
			t.Errorf("got %v, %v and trust %v, want an error of the web", res, err, res.Trust)
		}
		if _, err := fetched(t, small(f), base+"/"+strings.Repeat("x", 50)); err == nil || strings.Contains(err.Error(), "do-as-i-say") {
			t.Errorf("got %v, want the type that the bytes have", err)
		}
	})
	t.Run("I4 the text of a failure is short", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, strings.Repeat("ü", 100_000))
		})
		res, err := fetched(t, f, base)
		e := (*tool.Error)(nil)
		if !errors.As(err, &e) || e.Kind != tool.RateLimited || e.RetryAfter != 7*time.Second || len(res.String()) > 3000 || strings.Contains(res.String(), "\uFFFD") {
			t.Errorf("got %.200q and %+v, want a short text, and when to try again", res.String(), e)
		}
	})
}

// slow is a server that speaks by hand.
func slow(t *testing.T, talk func(net.Conn)) (base string, f Fetch) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096)) // the request
			talk(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return "http://" + l.Addr().String() + "/", Fetch{Hosts: []string{l.Addr().String()}}
}

func TestFetchTimes(t *testing.T) {
	t.Parallel()
	// Each server waits until the client has gone.
	gone := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	tests := []struct {
		name string
		talk func(net.Conn)
	}{
		{"nothing comes", gone},
		{"half a header comes", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: te")
			gone(c)
		}},
		{"half a body comes", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf")
			gone(c)
		}},
	}
	for _, tt := range tests {
		t.Run("I4 it gives up: "+tt.name, func(t *testing.T) {
			base, f := slow(t, tt.talk)
			f.Idle = 50 * time.Millisecond
			res, err := fetched(t, f, base)
			if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Kind != tool.Timeout {
				t.Errorf("got %v and %v, want a time-out", res, err)
			}
		})
		t.Run("I4 the whole takes too long: "+tt.name, func(t *testing.T) {
			base, f := slow(t, tt.talk)
			f.Timeout = 50 * time.Millisecond
			res, err := fetched(t, f, base)
			if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Kind != tool.Timeout || !strings.Contains(e.Text, "within 50ms") {
				t.Errorf("got %v and %v, want a time-out", res, err)
			}
		})
	}
	t.Run("I4 a byte at a time is not endless", func(t *testing.T) {
		base, f := slow(t, func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
			for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
				if _, err := c.Write([]byte("x")); err != nil {
					tick.Stop()
					return
				}
			}
		})
		f.Timeout, f.Idle = 100*time.Millisecond, time.Second
		res, err := fetched(t, f, base)
		if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Kind != tool.Timeout {
			t.Errorf("got %v and %v, want a time-out", res, err)
		}
	})
	t.Run("I4 nor is a header of a byte at a time", func(t *testing.T) {
		base, f := slow(t, func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ")
			for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
				if _, err := c.Write([]byte("x")); err != nil {
					tick.Stop()
					return
				}
			}
		})
		f.Timeout, f.Idle = 10*time.Second, 200*time.Millisecond
		res, err := fetched(t, f, base)
		if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Text != "No answer came from 127.0.0.1 for too long." {
			t.Errorf("got %v and %v, want a time-out", res, err)
		}
	})
	t.Run("I4 it ends with its context", func(t *testing.T) {
		came := make(chan struct{})
		base, f := slow(t, func(c net.Conn) {
			close(came)
			gone(c)
		})
		made, err := f.Tool()
		if err != nil {
			t.Fatal(err)
		}
		args, err := made.Admit([]byte(`{"url":"` + base + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			<-came
			stop()
		}()
		if res, err := made.Run(ctx, args); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v and %v, want it stopped", res, err)
		}
	})
	t.Run("I4 a refusal has no cause that is tried again", func(t *testing.T) {
		dns := &names{tables: map[string][][]string{"loop.example.com": {{"127.0.0.1"}}}}
		_, err := ran(t, Fetch{Resolver: dns.resolver(t)}, "http://loop.example.com:8080/")
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			t.Errorf("got %v with a net.OpError, want none", err)
		}
	})
	t.Run("I4 a name that is not there is not looked for in this network's domains", func(t *testing.T) {
		_, err := fetched(t, Fetch{Resolver: new(names).resolver(t)}, "http://nowhere.example.com/")
		e := (*tool.Error)(nil)
		if !errors.As(err, &e) || e.Text != "The name of nowhere.example.com could not be looked up." || !strings.Contains(e.Detail, "lookup nowhere.example.com. ") {
			t.Errorf("got %+v, want the name looked up with a dot behind it", e)
		}
	})
	t.Run("L5 the model does not read where a redirect leads", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.9:1234/", http.StatusFound)
		})
		f.Hosts, f.Follow = append(f.Hosts, "127.0.0.9"), true
		_, err := fetched(t, f, base)
		if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Text != "No connection to where it redirects to could be made." {
			t.Errorf("got %+v, want no host in the text", e)
		}
	})
	t.Run("I4 nobody listens", func(t *testing.T) {
		base, f := slow(t, gone)
		f.Hosts = []string{"127.0.0.9"}
		_, err := fetched(t, f, strings.Replace(base, "127.0.0.1", "127.0.0.9", 1))
		e := (*tool.Error)(nil)
		if op := (*net.OpError)(nil); !errors.As(err, &e) || e.Text != "No connection to 127.0.0.9 could be made." || !errors.As(err, &op) {
			t.Errorf("got %v, want a failure that may be tried again", err)
		}
	})
}

func TestFetchTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, "http://"+r.Host+"/", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "private")
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	f := Fetch{Hosts: []string{strings.TrimPrefix(s.URL, "https://")}}
	t.Run("I4 a certificate of strangers is refused", func(t *testing.T) {
		if res, err := fetched(t, f, s.URL); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("got %v and %v, want an error", res, err)
		}
	})
	f.Roots = roots
	t.Run("I4 one that is trusted is not", func(t *testing.T) {
		if res, err := fetched(t, f, s.URL); err != nil || !strings.Contains(res.String(), "private") {
			t.Errorf("got %v and %v, want the page", res, err)
		}
	})
	t.Run("I4 a redirect from https to http is refused", func(t *testing.T) {
		if res, err := fetched(t, f, s.URL+"/down"); err == nil || !strings.Contains(err.Error(), "redirect to http://") {
			t.Errorf("got %v and %v, want an error", res, err)
		}
	})
}

func TestFetchConnections(t *testing.T) {
	t.Parallel()
	t.Run("I4 each hop has a connection of its own, which is closed after", func(t *testing.T) {
		states := make(chan http.ConnState, 100)
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/next", http.StatusFound)
			}
		}))
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) { states <- state }
		s.Start()
		defer s.Close()
		f := Fetch{Hosts: []string{strings.TrimPrefix(s.URL, "http://")}}
		for range 2 {
			if _, err := fetched(t, f, s.URL); err != nil {
				t.Fatal(err)
			}
		}
		opened, closed := 0, 0
		for late := time.After(10 * time.Second); closed < 4; {
			select {
			case state := <-states:
				switch state {
				case http.StateNew:
					opened++
				case http.StateClosed:
					closed++
				default:
				}
			case <-late:
				t.Fatalf("got %d connections opened and %d closed, want 4", opened, closed)
			}
		}
	})
}

// It is not parallel: what other tests have open must not count.
func TestFetchLeavesNothing(t *testing.T) {
	before := openSockets(t)
	ignore := goleak.IgnoreCurrent()
	t.Run("I4 no connection and no goroutine is left", func(t *testing.T) {
		base, f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/redirect":
				http.Redirect(w, r, "/", http.StatusFound)
			case "/endless":
				for {
					if _, err := w.Write(make([]byte, 4096)); err != nil {
						return
					}
				}
			default:
				_, _ = io.WriteString(w, "page")
			}
		})
		f.Bytes = 10_000
		for _, path := range []string{"/", "/redirect", "/endless"} {
			_, _ = fetched(t, f, base+path)
		}
		_, _ = fetched(t, f, "http://127.0.0.1:1025/")
	})
	goleak.VerifyNone(t, ignore)
	if after := openSockets(t); after > before {
		t.Errorf("I4 got %d sockets open after, %d before", after, before)
	}
}

// openSockets counts those of this process, where the system tells.
func openSockets(t *testing.T) (n int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	for _, e := range list {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

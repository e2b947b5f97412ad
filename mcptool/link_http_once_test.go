package mcptool

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

func TestHTTPLinkSendsOnce(t *testing.T) {
	t.Run("M6 a server that takes a call and hangs up is not asked again", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			if m.method == "tools/call" {
				webAbort(w)
				return
			}
			webJSON(w, 200, webResult(m, `{}`))
		}
		for _, e := range []era{oldEra, newEra} {
			l := s.dial(e, listener{})
			before := len(s.posted("tools/call"))
			// The second request goes over a connection that was used: the kind on which
			// net/http tries again by itself.
			if _, err := l.do(t.Context(), "tools/list", nil, nil); err != nil {
				t.Fatal(err)
			}
			_, err := l.do(t.Context(), "tools/call", nil, nil)
			if err == nil || errors.Is(err, errUnsent) {
				t.Errorf("got %v, want an error that leaves open whether it ran", err)
			}
			webWant(t, "calls", len(s.posted("tools/call"))-before, "1")
			if _, err := l.do(t.Context(), "tools/list", nil, nil); err != nil {
				t.Errorf("the next request: got %v, want a new connection", err)
			}
		}
	})

	t.Run("M6 nor over HTTP/2", func(t *testing.T) {
		var calls, proto atomic.Int64
		s := newWebServer(t)
		s.post = func(_ http.ResponseWriter, r *http.Request, _ message) {
			calls.Add(1)
			proto.Store(int64(r.ProtoMajor))
			panic(http.ErrAbortHandler)
		}
		l := s.dialTLS(true)
		_, err := l.do(t.Context(), "tools/call", nil, nil)
		if err == nil || errors.Is(err, errUnsent) {
			t.Errorf("got %v, want an error that leaves open whether it ran", err)
		}
		webWant(t, "protocol", proto.Load(), "2")
		webWant(t, "calls", calls.Load(), "1")
	})

	t.Run("M6 a body can be read once, and not at all once it was given up", func(t *testing.T) {
		b := &onceBody{rest: []byte("{}")}
		if _, err := io.ReadAll(b); err != nil || b.cut() {
			t.Errorf("a body that was read: got %v, want it to count as sent", err)
		}
		b = &onceBody{rest: []byte("{}")}
		_, _ = b.Read(make([]byte, 1))
		if !b.cut() {
			t.Error("a body whose last byte is unread: want it to count as unsent")
		}
		if n, err := b.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("a body that was given up: got %d bytes, %v", n, err)
		}
	})

	t.Run("M6 a connection that was closed before the call has not carried it", func(t *testing.T) {
		for writes, want := range map[int]bool{0: true, 1: false} {
			l, err := newHTTPLink(t.Context(), Server{URL: "http://127.0.0.1"}, webClient(), newEra, listener{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			here, there := net.Pipe()
			t.Cleanup(func() { _ = there.Close() })
			l.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
				return &brokenConn{here, writes}, nil
			}
			err = l.start(t.Context())
			if err == nil || errors.Is(err, errUnsent) != want {
				t.Errorf("%d writes: got %v, want unsent: %v", writes, err, want)
			}
		}
	})

	t.Run("M6 a server that cannot be reached has not seen the call", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			w.Header().Set("Connection", "close")
			webJSON(w, 200, webResult(m, `{}`))
		}
		l := s.dial(newEra, listener{})
		if _, err := l.do(t.Context(), "tools/list", nil, nil); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if _, err := l.do(t.Context(), "tools/call", nil, nil); !errors.Is(err, errUnsent) {
			t.Errorf("got %v, want errUnsent", err)
		}
		if err := l.notify(t.Context(), "notifications/x", nil); !errors.Is(err, errUnsent) {
			t.Errorf("notify: got %v, want errUnsent", err)
		}
	})

	t.Run("M6 nor one whose certificate is not trusted", func(t *testing.T) {
		s := newWebServer(t)
		l, err := s.newTLS(false)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.start(t.Context()); !errors.Is(err, errUnsent) {
			t.Errorf("got %v, want errUnsent", err)
		}
		webWant(t, "requests", len(s.all(func(webRequest) bool { return true })), "0")
	})
}

// brokenConn is a connection that breaks after a few writes.
type brokenConn struct {
	net.Conn
	writes int
}

func (c *brokenConn) Write(p []byte) (int, error) {
	if c.writes--; c.writes < 0 {
		return 0, net.ErrClosed
	}
	return len(p), nil
}

// dialTLS connects over HTTPS in the new era.
func (s *webServer) dialTLS(trusted bool) link {
	s.t.Helper()
	l, err := s.newTLS(trusted)
	if err == nil {
		err = l.start(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(l.close)
	return l
}

func (s *webServer) newTLS(trusted bool) (*httpLink, error) {
	secure := httptest.NewUnstartedServer(s)
	secure.EnableHTTP2 = true
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	s.t.Cleanup(secure.Close)
	l, err := newHTTPLink(s.t.Context(), Server{URL: secure.URL}, webClient(), newEra, listener{}, nil)
	if err == nil && trusted {
		l.transport.TLSClientConfig = &tls.Config{RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}
	}
	return l, err
}

func TestHTTPLinkResumes(t *testing.T) {
	t.Run("M6 a stream that breaks is resumed with GET, and the call not sent again", func(t *testing.T) {
		s := newWebServer(t)
		call := make(chan message, 1)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			call <- m
			send := webStream(w)
			send("id: a-1", "retry: 1", "data:") // an event that only gives an id
			send("id: a-2", webData(message{method: "notifications/message", params: json.RawMessage(`{"n":1}`)}))
			webAbort(w)
		}
		tries := 0
		s.get = func(w http.ResponseWriter, r *http.Request) {
			id := r.Header.Get("Last-Event-ID")
			if id == "" {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			switch tries++; tries {
			case 1:
				webWant(t, "id", id, "a-2")
				w.WriteHeader(http.StatusBadGateway)
			case 2:
				webAbort(w)
			case 3:
				webStream(w)("id: a-3", webData(message{method: "notifications/message", params: json.RawMessage(`{"n":2}`)}))
			default:
				webWant(t, "id", id, "a-3")
				webStream(w)(webData(webResult(<-call, `{"late":true}`)))
			}
		}
		l := s.dial(oldEra, listener{})
		h := newWebHeard()
		got, err := l.do(t.Context(), "tools/call", nil, h.listener())
		if err != nil || string(got) != `{"late":true}` {
			t.Errorf("got %s, %v", got, err)
		}
		webWant(t, "heard", h, `notifications/message {"n":1}; notifications/message {"n":2}`)
		webWant(t, "calls", len(s.posted("tools/call")), "1")
	})

	for name, tt := range map[string]struct {
		e      era
		events []string
		get    int // its status; 0: a stream that ends at once
		gets   string
	}{
		"without ids":        {oldEra, []string{"data:", "data: garbage"}, 0, "0"},
		"in the new era":     {newEra, []string{"id: 1\ndata:"}, 0, "0"},
		"which is refused":   {oldEra, []string{"retry: 1\nid: 1\ndata:"}, 400, "1"},
		"without any events": {oldEra, []string{"retry: 1\nid: 1\ndata:"}, 0, "6"},
	} {
		t.Run("M6 an answer that cannot be had is an error: "+name, func(t *testing.T) {
			s := newWebServer(t)
			s.post = func(w http.ResponseWriter, _ *http.Request, _ message) { webStream(w)(tt.events...) }
			s.get = func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Header.Get("Last-Event-ID") == "":
					w.WriteHeader(http.StatusMethodNotAllowed)
				case tt.get != 0:
					w.WriteHeader(tt.get)
				default:
					webStream(w)
				}
			}
			l := s.dial(tt.e, listener{})
			_, err := l.do(t.Context(), "tools/call", nil, nil)
			if !errors.Is(err, errStreamEnded) || errors.Is(err, errUnsent) {
				t.Errorf("got %v, want errStreamEnded", err)
			}
			webWant(t, "calls", len(s.posted("tools/call")), "1")
			resumed := s.all(func(r webRequest) bool { return r.header.Get("Last-Event-ID") != "" })
			webWant(t, "resumed", len(resumed), tt.gets)
		})
	}
}

func TestHTTPLinkKeepsConnections(t *testing.T) {
	s := newWebServer(t)
	s.post = func(w http.ResponseWriter, _ *http.Request, m message) { webJSON(w, 200, webResult(m, `{}`)) }
	l := s.dial(newEra, listener{})
	for range 20 {
		if _, err := l.do(t.Context(), "tools/list", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	from := map[string]bool{}
	for _, r := range s.posted("tools/list") {
		from[r.from] = true
	}
	webWant(t, "connections", len(from), "1")
}

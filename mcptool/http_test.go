package mcptool

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestHTTPRefuses(t *testing.T) {
	s := openDoor(t, HTTP{
		Tokens: map[string]string{"key-a": "alice", "key-b": "bob", "": "nobody"},
		Hosts:  []string{"gate.example", "other.example:8443", "https://app.example"}, MaxBody: 1000,
	}, nil)
	hello := rpc(1, "initialize", `{"protocolVersion":"2025-11-25"}`)
	own := strings.TrimPrefix(s.url, "http://")
	auth := []string{"Authorization", "Bearer key-a"}
	tests := []struct {
		name    string
		method  string
		body    string
		headers []string
		want    int
	}{
		{"no token", "POST", hello, nil, 401},
		{"a wrong token", "POST", hello, []string{"Authorization", "Bearer key-c"}, 401},
		{"the beginning of a token", "POST", hello, []string{"Authorization", "Bearer key"}, 401},
		{"an empty token, though one is empty", "POST", hello, []string{"Authorization", "Bearer "}, 401},
		{"another scheme", "POST", hello, []string{"Authorization", "Basic key-a"}, 401},
		{"two tokens", "POST", hello, []string{"Authorization", "Bearer key-a", "Authorization", "Bearer key-b"}, 401},
		{"GET without a token", "GET", "", nil, 401},
		{"DELETE without a token", "DELETE", "", nil, 401},
		{"a token", "POST", hello, auth, 200},
		{"the scheme in small letters", "POST", hello, []string{"Authorization", "bearer key-b"}, 200},

		{"a Host that leads here (DNS rebinding)", "POST", hello, append(auth, "Host", "evil.example"), 403},
		{"and one with the port", "POST", hello, append(auth, "Host", "evil.example:7711"), 403},
		{"a Host that begins as loopback", "POST", hello, append(auth, "Host", "127.0.0.1.evil.example"), 403},
		{"a Host that ends as localhost", "POST", hello, append(auth, "Host", "evil.localhost"), 403},
		{"Host localhost", "POST", hello, append(auth, "Host", "localhost"), 200},
		{"Host localhost with a port", "POST", hello, append(auth, "Host", "LOCALHOST:1"), 200},
		{"Host [::1]", "POST", hello, append(auth, "Host", "[::1]"), 200},
		{"Host [::1] with a port", "POST", hello, append(auth, "Host", "[::1]:80"), 200},
		{"Host of the list", "POST", hello, append(auth, "Host", "gate.example:99"), 200},
		{"Host of the list with its port", "POST", hello, append(auth, "Host", "other.example:8443"), 200},
		{"and with another port", "POST", hello, append(auth, "Host", "other.example:1"), 403},
		{"a Host that is listed as an Origin", "POST", hello, append(auth, "Host", "app.example"), 403},

		{"Origin of a stranger", "POST", hello, append(auth, "Origin", "https://evil.example"), 403},
		{"Origin null", "POST", hello, append(auth, "Origin", "null"), 403},
		{"Origin that is no URL", "POST", hello, append(auth, "Origin", "http://[::1"), 403},
		{"Origin of a file", "POST", hello, append(auth, "Origin", "file://localhost"), 403},
		{"Origin of loopback", "POST", hello, append(auth, "Origin", "http://"+own), 200},
		{"Origin of the list", "POST", hello, append(auth, "Origin", "https://app.example"), 200},
		{"Origin of the list with another scheme", "POST", hello, append(auth, "Origin", "http://app.example"), 403},
		{"GET with the Origin of a stranger", "GET", "", append(auth, "Origin", "https://evil.example"), 403},

		{"another method", "PUT", hello, auth, 405},
		{"OPTIONS", "OPTIONS", "", auth, 405},
		{"no Content-Type", "POST", hello, append(auth, "Content-Type", ""), 415},
		{"text", "POST", hello, append(auth, "Content-Type", "text/plain"), 415},
		{"JSON with a parameter", "POST", hello, append(auth, "Content-Type", "application/json; charset=utf-8"), 200},
		{"no Accept", "POST", hello, append(auth, "Accept", ""), 200},
		{"Accept of anything", "POST", hello, append(auth, "Accept", "*/*"), 200},
		{"Accept without streams", "POST", hello, append(auth, "Accept", "application/json"), 406},
		{"Accept without JSON", "POST", hello, append(auth, "Accept", "text/event-stream;q=1"), 406},
		{"GET that takes no stream", "GET", "", append(auth, "Accept", "application/json"), 406},

		{"a body that is too long", "POST", hello + strings.Repeat(" ", 1000), auth, 413},
		{"no body", "POST", "", auth, 400},
		{"no JSON", "POST", "{", auth, 400},
		{"a string", "POST", `"x"`, auth, 400},
		{"an empty batch", "POST", `[]`, auth, 400},
		{"a batch without a session", "POST", "[" + hello + "]", auth, 400},
		{"a request without a session", "POST", rpc(1, "ping", `{}`), auth, 400},
		{"a notification without a session", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, auth, 400},
		{"GET without a session", "GET", "", auth, 400},
		{"DELETE without a session", "DELETE", "", auth, 400},
		{"an unknown session", "POST", rpc(1, "ping", `{}`), append(auth, "Mcp-Session-Id", "x"), 404},
		{"GET of an unknown session", "GET", "", append(auth, "Mcp-Session-Id", "x"), 404},
		{"DELETE of an unknown session", "DELETE", "", append(auth, "Mcp-Session-Id", "x"), 404},

		{"an old version in the header", "POST", hello, append(auth, "Mcp-Protocol-Version", "2025-03-26"), 200},
		{"an unknown version", "POST", hello, append(auth, "Mcp-Protocol-Version", "2023-01-01"), 400},
		{"GET in the new era", "GET", "", append(auth, "Mcp-Protocol-Version", "2026-07-28"), 405},
		{"DELETE in the new era", "DELETE", "", append(auth, "Mcp-Protocol-Version", "2026-07-28"), 405},
	}
	for _, tt := range tests {
		t.Run("M2 "+tt.name, func(t *testing.T) {
			s := *s
			s.t = t
			res := s.do(tt.method, tt.body, tt.headers...)
			if res.StatusCode != tt.want {
				t.Errorf("got %d, want %d", res.StatusCode, tt.want)
			}
			if challenge := res.Header.Get("WWW-Authenticate"); (res.StatusCode == 401) != (challenge != "") {
				t.Errorf("got %d with WWW-Authenticate %q", res.StatusCode, challenge)
			}
			if allow := res.Header.Get("Allow"); (res.StatusCode == 405) != (allow != "") {
				t.Errorf("got %d with Allow %q", res.StatusCode, allow)
			}
			if tt.want >= 400 {
				_, _ = faultOf(t, res)
			}
		})
	}
}

func TestHTTPOtherAddress(t *testing.T) {
	d := newDoor(HTTP{Open: true, Hosts: []string{"gate.example"}}, newHall().join)
	for host, want := range map[string]int{"localhost:7711": 403, "127.0.0.1": 403, "gate.example": 400, "": 403} {
		t.Run("M2 loopback names are none on another address: "+host, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader("x"))
			r.Header.Set("Content-Type", "application/json")
			r.Host = host
			w := httptest.NewRecorder()
			d.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("got %d, want %d", w.Code, want)
			}
		})
	}
}

func TestHTTPBounds(t *testing.T) {
	t.Run("M2 too many requests at once", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, func(d *door) { d.bounds.requests = 1 })
		id := s.initialize("2025-11-25")
		done := make(chan string, 1)
		go func() {
			done <- said((&doorEvents{t, bodyOf(s.do("POST", rpc(1, "wait", `{}`), "Mcp-Session-Id", id))}).rest())
		}()
		soonFrom(t, s.started, "the first request")
		res := s.do("POST", rpc(2, "ping", `{}`), "Mcp-Session-Id", id)
		if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
			t.Errorf("got %d, Retry-After %q, want 503 and a time", res.StatusCode, res.Header.Get("Retry-After"))
		}
		close(s.let)
		if got, want := soonFrom(t, done, "the answer"), "answer 1 {}"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if res := s.do("POST", rpc(3, "ping", `{}`), "Mcp-Session-Id", id); res.StatusCode != 200 {
			t.Errorf("after that: got %d, want 200", res.StatusCode)
		}
	})
	t.Run("M2 one principal does not take the places of others", func(t *testing.T) {
		s := openDoor(t, HTTP{Tokens: map[string]string{"a": "alice", "b": "bob"}}, func(d *door) { d.bounds.requests = 2 * leastShare })
		for i := range leastShare {
			done, ok := s.admit("alice", false)
			if !ok {
				t.Fatalf("request %d was refused", i)
			}
			defer done()
		}
		for token, want := range map[string]int{"a": 503, "b": 200} {
			if res := s.do("POST", rpc(0, "initialize", `{"protocolVersion":"2025-11-25"}`), "Authorization", "Bearer "+token); res.StatusCode != want {
				t.Errorf("%s: got %d, want %d", token, res.StatusCode, want)
			}
		}
		body := rpc(1, "subscriptions/listen", metaParams(newVersion, ""))
		headers := []string{"Mcp-Protocol-Version", newVersion, "Mcp-Method", "subscriptions/listen"}
		if res := s.do("POST", body, append(headers, "Authorization", "Bearer a")...); res.StatusCode != 200 {
			t.Errorf("a stream that waits: got %d, want 200: it counts apart", res.StatusCode)
		}
	})
	t.Run("M2 too many bytes at once", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, func(d *door) { d.bounds.bodies = 100 << 10 })
		long := rpc(1, "echo", `{"x":"`+strings.Repeat("x", 200<<10)+`"}`)
		if res := s.do("POST", long); res.StatusCode != 503 {
			t.Errorf("got %d, want 503", res.StatusCode)
		}
		s.initialize("2025-11-25")
		if n := s.bodies.Load(); n != 0 {
			t.Errorf("%d bytes are under way, want 0", n)
		}
	})
	t.Run("M2 nor that of somebody who is refused", func(t *testing.T) {
		s := openDoor(t, HTTP{Tokens: map[string]string{"ada": "a-token-that-nobody-here-has"}}, func(d *door) { d.read = 50 * time.Millisecond })
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.Write([]byte("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(conn) // to the end of the connection
		if !bytes.HasPrefix(all, []byte("HTTP/1.1 401")) || err != nil {
			t.Errorf("got %q (%v), want status 401, and that it is over", all, err)
		}
	})
	t.Run("M2 a body that does not arrive is not waited for", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, func(d *door) { d.read = 50 * time.Millisecond })
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		head := "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
		if _, err := conn.Write([]byte(head)); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		n, err := conn.Read(b)
		if !bytes.HasPrefix(b[:n], []byte("HTTP/1.1 400")) {
			t.Errorf("got %q (%v), want status 400", b[:n], err)
		}
	})
	t.Run("M2 a panic is an answer", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		s.door.join = func(joining) (room, error) { panic("in a test") }
		if res := s.do("POST", rpc(1, "initialize", `{}`)); res.StatusCode != 500 {
			t.Errorf("got %d, want 500", res.StatusCode)
		}
	})
	t.Run("M2 a panic in a request ends its stream only", func(t *testing.T) {
		s := openDoor(t, HTTP{Open: true}, nil)
		id := s.initialize("2025-03-26")
		streamOf(t, s.do("POST", rpc(1, "panic", `{}`), "Mcp-Session-Id", id)).rest()
		batch := "[" + rpc(1, "panic", `{}`) + "," + rpc(2, "echo", `{}`) + "]"
		got := said(streamOf(t, s.do("POST", batch, "Mcp-Session-Id", id)).rest())
		if want := "answer 2 {}"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

var _ http.Handler = (*door)(nil)

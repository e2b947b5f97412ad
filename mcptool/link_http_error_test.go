package mcptool

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHTTPLinkRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter, m message)
		want   string
	}{
		"a fault": {func(w http.ResponseWriter, m message) {
			webJSON(w, 400, message{id: m.id, fault: &Fault{Code: -32020, Message: "header mismatch"}})
		}, "header mismatch (code -32020)"},
		"a fault without an id": {func(w http.ResponseWriter, _ message) {
			webJSON(w, 200, message{fault: &Fault{Code: -32600, Message: "what"}})
		}, "what (code -32600)"},
		"a text": {func(w http.ResponseWriter, _ message) {
			http.Error(w, "out of\n order", 500)
		}, `got status 500 Internal Server Error: it says "out of order"`},
		"a long text": {func(w http.ResponseWriter, _ message) {
			http.Error(w, strings.Repeat("é", 9999), http.StatusServiceUnavailable)
		}, `got status 503 Service Unavailable: it says "` + strings.Repeat("é", 150) + `…"`},
		"K3 an echo of the headers": {func(w http.ResponseWriter, _ message) {
			http.Error(w, "bad: Bearer hunter2-token", 500)
		}, `got status 500 Internal Server Error: it says "bad: Bearer [header]"`},
		"401": {func(w http.ResponseWriter, _ message) {
			http.Error(w, "token expired", http.StatusUnauthorized)
		}, `got status 401 Unauthorized: the server wants authorization: set headers: {Authorization: "Bearer ${secret:NAME}"} for it: it says "token expired"`},
		"403 with a fault": {func(w http.ResponseWriter, m message) {
			webJSON(w, 403, message{id: m.id, fault: &Fault{Code: 1, Message: "no"}})
		}, `got status 403 Forbidden: the server wants authorization: set headers: {Authorization: "Bearer ${secret:NAME}"} for it: it says "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":1,\"message\":\"no\"}}"`},
		"no answer": {func(w http.ResponseWriter, _ message) {
			w.WriteHeader(http.StatusAccepted)
		}, `the server did not answer: got status 202 with content type "", want application/json or text/event-stream`},
		"a page": {func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "text/html")
		}, `the server did not answer: got status 200 with content type "text/html", want application/json or text/event-stream`},
		"the answer to another request": {func(w http.ResponseWriter, _ message) {
			webJSON(w, 200, message{id: []byte("99")})
		}, "the server did not answer: got something that is no answer to the request"},
		"an answer that is none": {func(w http.ResponseWriter, _ message) {
			webStream(w)(`data: {"jsonrpc":"2.0","id":2,"result":5}`)
		}, "the server's answer is faulty: result: got a number, want an object (code -32600)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWebServer(t)
			s.post = func(w http.ResponseWriter, _ *http.Request, m message) { tt.answer(w, m) }
			l := s.dial(newEra, listener{})
			_, err := l.do(t.Context(), "tools/call", nil, nil)
			if err == nil || err.Error() != tt.want || errors.Is(err, errUnsent) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if _, is := errors.AsType[*Fault](err); is != strings.HasPrefix(name, "a fault") {
				t.Errorf("a fault of the server: got %v", is)
			}
		})
	}

	t.Run("batches of the old era are taken apart", func(t *testing.T) {
		s := newWebServer(t)
		s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
			webStream(w)("data: [" + string(message{method: "notifications/a"}.append(nil)) + "," + string(webResult(m, `{}`).append(nil)) + "]")
		}
		l := s.dial(oldEra, listener{})
		h := newWebHeard()
		_, err := l.do(t.Context(), "tools/call", nil, h.listener())
		if err != nil || h.String() != "notifications/a " {
			t.Errorf("got %v, heard %s", err, h)
		}
	})
}

func TestHTTPLinkRedirects(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for name, tt := range map[string]struct {
		status int
		to     string
		want   string // of the error; "": none
	}{
		"307 at the same server": {307, "/new", ""},
		"308 at the same server": {308, "/new", ""},
		"302 loses the body":     {302, "/new", "want 307 or 308"},
		"another server":         {307, other.URL + "/new", "want one to the same scheme, host and port"},
		"another scheme":         {307, "ftp://127.0.0.1/", "want one to the same scheme, host and port"},
		"without end":            {307, "/mcp", "got more than 3 redirects"},
		"nowhere":                {307, "", "without a location"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWebServer(t)
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/new" {
					s.ServeHTTP(w, r)
					return
				}
				if tt.to != "" {
					w.Header().Set("Location", tt.to)
				}
				w.WriteHeader(tt.status)
			})
			l, err := dialHTTP(t.Context(), Server{URL: s.URL + "/mcp", Header: map[string]string{"X-Key": "k"}}, webClient(), oldEra, listener{}, nil)
			if err == nil {
				l.close()
				webWant(t, "key", s.posted(methodInitialize)[0].header.Get("X-Key"), "k")
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	webWant(t, "requests elsewhere", elsewhere, "0")
}

func TestHTTPLinkConfiguration(t *testing.T) {
	for name, tt := range map[string]struct {
		s    Server
		want string
	}{
		"no scheme":       {Server{URL: "example.com/mcp"}, `url: got scheme "" and host "", want http or https and a host`},
		"another scheme":  {Server{URL: "ws://example.com"}, `url: got scheme "ws" and host "example.com", want http or https and a host`},
		"no URL":          {Server{URL: "http://u:hunter2@[::"}, "url: got what is no URL"},
		"no header":       {Server{URL: "http://localhost", Header: map[string]string{"a b": "x"}}, `headers: got "a b", want a name of a header`},
		"K3 a bad header": {Server{URL: "http://localhost", Header: map[string]string{"X-Key": "hunter2\nX: y"}}, "headers: the value of X-Key has a line break or another control character"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dialHTTP(t.Context(), tt.s, webClient(), oldEra, listener{}, nil)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

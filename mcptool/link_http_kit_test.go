package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// webServer is an MCP server over HTTP, written by hand: it does the handshake of
// both eras, takes notifications and answers, and leaves the rest to the test.
type webServer struct {
	*httptest.Server
	t       *testing.T
	session string
	// post answers a request, which is not part of a handshake; get a GET (nil: 405).
	post func(w http.ResponseWriter, r *http.Request, m message)
	get  func(w http.ResponseWriter, r *http.Request)

	mu   sync.Mutex
	got  []webRequest
	came chan struct{} // closed and made anew with each request
}

type webRequest struct {
	verb   string
	from   string // the address of the client
	header http.Header
	m      message
}

// newWebServer serves until the test ends; then nothing may be left.
func newWebServer(t *testing.T) *webServer {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	s := &webServer{t: t, session: "sess-1", came: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *webServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	var m message
	if r.Method == http.MethodPost {
		if m, err = parseMessage(body); err != nil {
			s.t.Errorf("the client posted %q: %v", body, err)
		}
	}
	s.mu.Lock()
	s.got = append(s.got, webRequest{r.Method, r.RemoteAddr, r.Header.Clone(), m})
	close(s.came)
	s.came = make(chan struct{})
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && s.get != nil:
		s.get(w, r)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case m.method == methodInitialize:
		if s.session != "" {
			w.Header().Set("Mcp-Session-Id", s.session)
		}
		webJSON(w, 200, message{id: m.id, result: json.RawMessage(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}}`)})
	case m.method == methodDiscover:
		webJSON(w, 200, message{id: m.id, result: json.RawMessage(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}`)})
	case m.isRequest():
		s.post(w, r, m)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// all are the requests that f takes.
func (s *webServer) all(f func(webRequest) bool) []webRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []webRequest
	for _, r := range s.got {
		if f(r) {
			found = append(found, r)
		}
	}
	return found
}

func (s *webServer) posted(method string) []webRequest {
	return s.all(func(r webRequest) bool { return r.verb == http.MethodPost && r.m.method == method })
}

func (s *webServer) verb(verb string) []webRequest {
	return s.all(func(r webRequest) bool { return r.verb == verb })
}

// await waits until f is true, which is asked after each request.
func (s *webServer) await(f func() bool) {
	s.t.Helper()
	late := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		came := s.came
		s.mu.Unlock()
		if f() {
			return
		}
		select {
		case <-came:
		case <-late:
			s.t.Fatal("waited too long for a request")
		}
	}
}

// dial connects in an era; the link is closed when the test ends.
func (s *webServer) dial(e era, hears listener) link {
	s.t.Helper()
	l, err := dialHTTP(s.t.Context(), Server{URL: s.URL + "/mcp", Header: map[string]string{"Authorization": "Bearer hunter2-token"}}, webClient(), e, hears, slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(l.close)
	return l
}

func webClient() introduction {
	return introduction{info: json.RawMessage(`{"name":"tester","version":"2"}`), capabilities: json.RawMessage(`{"elicitation":{}}`)}
}

func webJSON(w http.ResponseWriter, status int, m message) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(m.append(nil))
}

// webStream begins a stream of events; the function writes one.
func webStream(w http.ResponseWriter) func(lines ...string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	flush := func() { _ = http.NewResponseController(w).Flush() }
	flush()
	return func(lines ...string) {
		_, _ = io.WriteString(w, strings.Join(lines, "\n")+"\n\n")
		flush()
	}
}

func webData(m message) string { return "data: " + string(m.append(nil)) }

func webResult(m message, result string) message {
	return message{id: m.id, result: json.RawMessage(result)}
}

// webAbort ends the connection without an answer.
func webAbort(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = c.Close()
}

// webHeard keeps what a listener hears.
type webHeard struct {
	mu    sync.Mutex
	texts []string
	came  chan string
}

func newWebHeard() *webHeard { return &webHeard{came: make(chan string, 100)} }

func (h *webHeard) listener() *listener {
	return &listener{
		notified: func(method string, params json.RawMessage) { h.add(method + " " + string(params)) },
		requested: func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			h.add(method + " " + string(params))
			return json.RawMessage(`{"action":"accept"}`), nil
		},
	}
}

func (h *webHeard) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.texts = append(h.texts, text)
	h.came <- text
}

func (h *webHeard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.texts, "; ")
}

func webWant[T any](t *testing.T, what string, got T, want string) {
	t.Helper()
	if fmt.Sprint(got) != want {
		t.Errorf("%s: got %v, want %s", what, got, want)
	}
}

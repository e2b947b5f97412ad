package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Server is a provider on this machine.
type Server struct {
	URL string

	mu    sync.Mutex
	asked []Asked
}

// Asked is one request as it came.
type Asked struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Serve serves until the test ends: the first request with the first handler, and what
// is behind the last one with the last.
func Serve(t *testing.T, handlers ...http.HandlerFunc) *Server {
	t.Helper()
	s := new(Server)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		place := min(len(s.asked), len(handlers)-1)
		s.asked = append(s.asked, Asked{r.URL.Path, r.Header.Clone(), body})
		s.mu.Unlock()
		handlers[place](w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Asked are the requests so far.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...)
}

// Stream answers with a stream of events.
func Stream(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = w.Write(body) // who does not listen any more sees it
	}
}

// Slow answers with a stream that comes one byte at a time.
func Slow(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range body {
			_, _ = w.Write(body[i : i+1]) // see Stream
			flush(w)
		}
	}
}

// hang answers with the beginning of a stream, or not at all, until nobody listens.
func hang(beginning []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if len(beginning) > 0 {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(beginning) // see Stream
			flush(w)
		}
		<-r.Context().Done()
	}
}

// Cut answers with a stream whose connection breaks behind so many bytes.
func Cut(body []byte, at int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body[:at]) // see Stream
		flush(w)
		drop(w, "")
	}
}

// End answers with a stream that ends behind so many bytes as if it were complete: the
// connection is closed, and nothing said how long the body is.
func End(body []byte, at int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		drop(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"+string(body[:at]))
	}
}

// Drop closes the connection without an answer.
func Drop(w http.ResponseWriter, _ *http.Request) { drop(w, "") }

// Refuse answers with a status, headers in pairs, and a body of JSON.
func Refuse(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // see Stream
	}
}

func flush(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush() // who does not listen any more sees it
}

// drop says a last thing and closes the connection.
func drop(w http.ResponseWriter, last string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprint(conn, last) // see Stream
	_ = conn.Close()              // that is what it is for
}

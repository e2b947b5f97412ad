package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

func (s *server) serveHTTP(address string) error {
	h := &http.Server{Addr: address, Handler: s, ReadHeaderTimeout: time.Minute}
	return h.ListenAndServe()
}

// ServeHTTP answers calls with streams of events, but for what is to be one answer
// without an end, and the rest with JSON.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.Header.Get("Accept") == "text/event-stream" && (s.kind == "asks" || s.kind == "flood") {
		s.unasked(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var q request
	switch err := json.NewDecoder(r.Body).Decode(&q); {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case q.ID == nil || q.Method == "":
		w.WriteHeader(http.StatusAccepted)
	case q.Method == "subscriptions/listen":
		s.listen(w, r, &q)
	case q.Method != "tools/call" || s.kind == "huge" || s.kind == "line":
		w.Header().Set("Content-Type", "application/json")
		s.handle(&q, &body{w})
	case s.kind == "silent":
		<-r.Context().Done()
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		s.handle(&q, &events{w})
	}
}

// unasked is the stream for what belongs to no request.
func (s *server) unasked(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	to := &events{w}
	_ = http.NewResponseController(w).Flush()
	if s.kind == "asks" {
		questions(to)
	} else {
		flood(&request{ID: json.RawMessage("0")}, to)
	}
	<-r.Context().Done()
}

// listen is the same in the new era.
func (s *server) listen(w http.ResponseWriter, r *http.Request, q *request) {
	w.Header().Set("Content-Type", "text/event-stream")
	to := &events{w}
	meta := object{"io.modelcontextprotocol/subscriptionId": q.ID}
	_ = send(to, object{"method": "notifications/subscriptions/acknowledged", "params": object{"_meta": meta}})
	switch s.kind {
	case "asks":
		questions(to)
	case "flood":
		for range 20_000 {
			if send(to, object{"method": "notifications/tools/list_changed", "params": object{"_meta": meta}}) != nil {
				return
			}
		}
	}
	<-r.Context().Done()
}

// body is one message as JSON.
type body struct{ w http.ResponseWriter }

func (b *body) write(f func(io.Writer) error) error { return f(b.w) }

// events are messages as events.
type events struct{ w http.ResponseWriter }

func (e *events) write(f func(io.Writer) error) error {
	if _, err := io.WriteString(e.w, "data: "); err != nil {
		return err
	}
	if err := f(e.w); err != nil {
		return err
	}
	if _, err := fmt.Fprint(e.w, "\n\n"); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}

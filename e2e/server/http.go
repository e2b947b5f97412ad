package main

import (
	"encoding/json"
	"net/http"
	"time"
)

// serveHTTP answers over streamable HTTP, in both eras: each request with JSON,
// without sessions.
func (s *server) serveHTTP(address string) error {
	h := &http.Server{Addr: address, Handler: s, ReadHeaderTimeout: time.Minute}
	return h.ListenAndServe()
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result, fault := s.answer(m.Method, m.Params)
	body, err := json.Marshal(message{Version: "2.0", ID: m.ID, Result: result, Error: fault})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

package mcptool

import (
	"net/http"
	"strconv"
	"time"
)

// sink is one HTTP response as a stream of events. It is not safe for concurrent
// use, and is not used after its handler has returned.
type sink struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	limit   time.Duration // for one write
	started bool
}

func newSink(w http.ResponseWriter, limit time.Duration) *sink {
	return &sink{w: w, rc: http.NewResponseController(w), limit: limit}
}

// write writes events. The last ones may be all there is, and are then sent in
// one piece.
func (s *sink) write(b []byte, last bool) error {
	// A client that does not read holds up who writes to it, for so long only.
	_ = s.rc.SetWriteDeadline(time.Now().Add(s.limit))
	if !s.started {
		s.started = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache, no-transform")
		h.Set("X-Accel-Buffering", "no")
		if last {
			h.Set("Content-Length", strconv.Itoa(len(b)))
		}
		s.w.WriteHeader(http.StatusOK)
	}
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	if last {
		return nil // sent when the handler returns
	}
	return s.rc.Flush()
}

// sign is a comment: it shows that the connection lives.
const sign = ": \n\n"

// appendEvent adds a message as one event. id "": it has none.
func appendEvent(b []byte, id string, m message) []byte {
	b = append(b, "event: message\n"...)
	if id != "" {
		b = append(b, "id: "...)
		b = append(b, id...)
		b = append(b, '\n')
	}
	b = append(b, "data: "...)
	b = m.append(b)
	return append(b, "\n\n"...)
}

// appendPrime adds an event that says nothing but where a stream begins, so that
// a client can come back to it before anything was sent.
func appendPrime(b []byte, id string) []byte {
	b = append(b, "id: "...)
	b = append(b, id...)
	return append(b, "\nretry: 1000\ndata: \n\n"...)
}

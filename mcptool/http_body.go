package mcptool

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// readPost is the body of a POST, or false when the request was answered because
// it cannot be taken. Bytes under way are counted until release is called.
func (d *door) readPost(w *replier, r *http.Request) (body []byte, release func(), ok bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		w.refuse(http.StatusUnsupportedMediaType, "Content-Type must be application/json")
		return nil, nil, false
	}
	if asJSON, asStream := accepts(r); !asJSON || !asStream {
		w.refuse(http.StatusNotAcceptable, "Accept must have application/json and text/event-stream")
		return nil, nil, false
	}
	if r.ContentLength > d.MaxBody {
		w.refuse(http.StatusRequestEntityTooLarge, "the request is too long")
		return nil, nil, false
	}
	rc := http.NewResponseController(w)
	// Where the connection has no deadlines (a recorder), there is nobody who
	// could be slow.
	_ = rc.SetReadDeadline(time.Now().Add(d.read))
	body, held, err := d.readBody(http.MaxBytesReader(w, r.Body, d.MaxBody), r.ContentLength)
	release = func() { d.bodies.Add(-held) }
	if err == nil {
		_ = rc.SetReadDeadline(time.Time{})
		return body, release, true
	}
	release()
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		w.refuse(http.StatusRequestEntityTooLarge, "the request is too long")
	case errors.Is(err, errFull):
		w.busy("too many bytes at once")
	default:
		w.Header().Set("Connection", "close")
		w.refuse(http.StatusBadRequest, "the request did not arrive")
	}
	return nil, nil, false
}

// errFull: the bodies under way are too long together.
var errFull = errors.New("too many bytes at once")

// readBody reads in steps: memory is taken for what has come, not for what was
// announced. held are the bytes that were counted.
func (d *door) readBody(r io.Reader, announced int64) (body []byte, held int64, err error) {
	step := int64(64 << 10)
	if announced >= 0 && announced < step {
		step = announced + 1 // the end is found without another step
	}
	for {
		if len(body) == cap(body) {
			held += step
			if d.bodies.Add(step) > d.bounds.bodies {
				return nil, held, errFull
			}
			grown := make([]byte, len(body), int64(len(body))+step)
			copy(grown, body)
			body = grown
			step = min(2*step, 4<<20)
		}
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, held, nil
		}
		if err != nil {
			return nil, held, err
		}
	}
}

// accepts says what the client takes. One that does not say takes anything.
func accepts(r *http.Request) (asJSON, asStream bool) {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return true, true
	}
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			kind, _, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json", "application/*":
				asJSON = true
			case "text/event-stream", "text/*":
				asStream = true
			case "*/*":
				asJSON, asStream = true, true
			}
		}
	}
	return asJSON, asStream
}

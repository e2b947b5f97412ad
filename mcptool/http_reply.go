package mcptool

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// codeNoSession is what a client is told whose session has gone.
const codeNoSession = -32001

// replier remembers whether anything was written.
type replier struct {
	http.ResponseWriter
	wrote bool
}

// Unwrap is for http.ResponseController.
func (w *replier) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *replier) WriteHeader(status int) {
	w.wrote = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *replier) Write(b []byte) (int, error) {
	w.wrote = true
	return w.ResponseWriter.Write(b)
}

// fault answers with a status and a fault of JSON-RPC.
func (w *replier) fault(status int, id json.RawMessage, f *Fault) {
	w.json(status, message{id: id, fault: f}.append(nil))
}

func (w *replier) json(status int, b []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b) // who does not read it has gone
}

// refuse answers a request that was not looked at further.
func (w *replier) refuse(status int, why string) {
	w.fault(status, nil, &Fault{Code: codeInvalid, Message: why})
}

// busy asks the client to come again.
func (w *replier) busy(why string) {
	w.Header().Set("Retry-After", "1")
	w.fault(http.StatusServiceUnavailable, nil, &Fault{Code: codeInternal, Message: why})
}

// statusOf is the HTTP status that a fault has in the new era.
func statusOf(f *Fault) int {
	switch f.Code {
	case codeNoMethod:
		return http.StatusNotFound
	case codeInvalidParams, codeHeaderMismatch, codeMissingCapability, codeUnsupportedVersion:
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
}

package mcptool

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Names in _meta of a request of the new era.
const (
	metaVersion    = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo = "io.modelcontextprotocol/clientInfo"
)

// requestMeta is what a request says of itself and its client.
type requestMeta struct {
	version string // "": it does not say
	client  string // its name
}

func metaOf(params json.RawMessage) requestMeta {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	var meta requestMeta
	if json.Unmarshal(params, &p) != nil {
		return meta
	}
	if json.Unmarshal(p.Meta[metaVersion], &meta.version) != nil {
		meta.version = ""
	}
	var info struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(p.Meta[metaClientInfo], &info) == nil {
		meta.client = info.Name
	}
	return meta
}

// asksNewEra says whether a request without a version header is one of the new
// era, by what it carries.
func asksNewEra(m message) bool {
	return m.method != "" && m.id != nil && !oldEraVersion(metaOf(m.params).version)
}

// serveNew takes one request of the new era, or one of a version that is not
// known.
func (d *door) serveNew(w *replier, r *http.Request, principal, version string) {
	body, release, ok := d.readPost(w, r)
	if !ok {
		return
	}
	defer release()
	ms, batch, err := readMessages(body)
	if err != nil || len(ms) != 1 || batch {
		w.fault(http.StatusBadRequest, nil, &Fault{Code: codeParse, Message: "not one message of JSON-RPC"})
		return
	}
	m := ms[0]
	meta := metaOf(m.params)
	if f := d.headersAgree(r.Header, m, meta, version); f != nil {
		w.fault(http.StatusBadRequest, m.id, f)
		return
	}
	room, err := d.join(joining{
		caller: tool.Caller{Principal: principal}, stateless: true, name: meta.client,
	})
	if err != nil {
		w.busy(err.Error())
		return
	}
	if f := d.paramsAgree(r.Header, m, room); f != nil {
		w.fault(http.StatusBadRequest, m.id, f)
		return
	}
	if m.method == "" || m.id == nil {
		room.handle(r.Context(), m, nowhere{})
		w.WriteHeader(http.StatusAccepted)
		return
	}
	a := &answer{w: w, out: newSink(w, d.write), beat: d.beat}
	defer a.finish()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	a.cancel = cancel
	a.timer = time.AfterFunc(d.beat, a.alive)
	room.handle(ctx, m, a)
}

// answer is the response to one request of the new era. Nothing of it is kept:
// the request ends with the connection.
type answer struct {
	w      *replier
	out    *sink
	beat   time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc

	mu   sync.Mutex
	done bool
}

var _ stream = (*answer)(nil)

func (a *answer) send(m message) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return errGone
	}
	last := m.method == ""
	a.done = last
	if last && m.fault != nil && !a.out.started {
		if status := statusOf(m.fault); status != http.StatusOK {
			a.out.started = true
			a.w.json(status, appendMessage(nil, m))
			return nil
		}
	}
	return a.write(appendEvent(nil, "", m), last)
}

func (a *answer) write(b []byte, last bool) error {
	if err := a.out.write(b, last); err != nil {
		a.done = true
		a.cancel(errGone)
		return errGone
	}
	return nil
}

// alive shows that the connection lives.
func (a *answer) alive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.done && a.write([]byte(sign), false) == nil {
		a.timer.Reset(a.beat)
	}
}

// finish ends the response: nothing is written once its handler has returned.
func (a *answer) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer.Stop()
	if !a.done {
		a.done = true
		_ = a.out.write(nil, !a.out.started) // the client has gone, or was cancelled
	}
}

package mcptool

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// requestMeta is what a request says of itself and its client.
type requestMeta struct {
	version string // "": it does not say
	client  string // its name
}

func metaOf(params json.RawMessage) requestMeta {
	version, _ := metaMember(params, metaVersion)
	info, _ := metaMember(params, metaClientInfo)
	text, _ := unquote(version)
	return requestMeta{text, clientName(info)}
}

// asksNewEra says whether a request without a version header is one of the new
// era, by what it carries.
func asksNewEra(m message) bool {
	return m.isRequest() && !oldEraVersion(metaOf(m.params).version)
}

// serveNew takes one request of the new era, or one of a version that is not
// known.
func (d *door) serveNew(w *replier, r *http.Request, principal, version string) {
	body, release, ok := d.readPost(w, r)
	if !ok {
		return
	}
	defer release()
	m, err := parseMessage(body)
	if err != nil {
		w.fault(http.StatusBadRequest, m.id, faultFrom(err))
		return
	}
	meta := metaOf(m.params)
	f := headersAgree(r.Header, m, meta, version)
	if f == nil {
		f = d.paramsAgree(r.Header, m)
	}
	if f != nil {
		w.fault(http.StatusBadRequest, m.id, f)
		return
	}
	room, err := d.join(joining{
		caller: tool.Caller{Principal: principal, Attended: d.Attended}, stateless: true, name: meta.client,
	})
	if err != nil {
		w.busy(err.Error())
		return
	}
	if !m.isRequest() {
		room.handle(r.Context(), m, nowhere{})
		w.WriteHeader(http.StatusAccepted)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	a := &response{w: w, out: newSink(w, d.write), beat: d.beat, cancel: cancel}
	defer a.finish()
	a.begin()
	room.handle(ctx, m, a)
}

// response is the one to one request of the new era. Nothing of it is kept:
// the request ends with the connection.
type response struct {
	w      *replier
	out    *sink
	beat   time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc

	mu   sync.Mutex
	done bool
}

var _ stream = (*response)(nil)

func (a *response) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = time.AfterFunc(a.beat, a.alive)
}

func (a *response) send(m message) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return errGone
	}
	last := m.isAnswer()
	a.done = last
	if last && m.fault != nil && !a.out.started {
		if status := statusOf(m.fault); status != http.StatusOK {
			a.out.started = true
			a.w.json(status, m.append(nil))
			return nil
		}
	}
	return a.write(appendEvent(nil, "", m), last)
}

func (a *response) write(b []byte, last bool) error {
	if err := a.out.write(b, last); err != nil {
		a.done = true
		a.cancel(errGone)
		return errGone
	}
	return nil
}

// alive shows that the connection lives.
func (a *response) alive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.done && a.write([]byte(sign), false) == nil {
		a.timer.Reset(a.beat)
	}
}

// finish ends the response: nothing is written once its handler has returned.
func (a *response) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer.Stop()
	if !a.done {
		a.done = true
		_ = a.out.write(nil, !a.out.started) // the client has gone, or was cancelled
	}
}

package mcptool

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/ferrule-dev/ferrule/tool"
)

// Headers of the transport.
const (
	fieldVersion   = "Mcp-Protocol-Version"
	fieldSession   = "Mcp-Session-Id"
	fieldLastEvent = "Last-Event-Id"
)

// oldEraVersion says whether a version is one with sessions. "" is: clients did
// not always say.
func oldEraVersion(v string) bool {
	return v == "" || slices.Contains(oldVersions(), v)
}

// batches says whether messages come in batches in a version. They went with
// 2025-06-18.
func batches(version string) bool { return version < "2025-06-18" }

// find is the session that a request names, in use until its done is called; nil:
// the request was answered.
func (d *door) find(w *replier, r *http.Request, principal, version string) *session {
	id := r.Header.Get(fieldSession)
	if id == "" {
		w.refuse(http.StatusBadRequest, "the "+fieldSession+" header is missing")
		return nil
	}
	s := d.enter(id, principal)
	if s == nil {
		w.fault(http.StatusNotFound, nil, noSession())
		return nil
	}
	// Any version with sessions will do: there are clients that say another one
	// than was agreed on.
	if !oldEraVersion(version) {
		s.done()
		w.fault(http.StatusBadRequest, nil, unsupported(version))
		return nil
	}
	return s
}

func noSession() *Fault { return &Fault{Code: codeNoSession, Message: "session not found"} }

// postOld takes messages of a session.
func (d *door) postOld(w *replier, r *http.Request, principal, version string) {
	var s *session
	if r.Header.Get(fieldSession) != "" {
		if s = d.find(w, r, principal, version); s == nil {
			return
		}
		defer s.done()
	}
	body, release, ok := d.readPost(w, r)
	if !ok {
		return
	}
	defer release()
	ms, batch, id, fault := readMessages(body)
	switch {
	case fault != nil:
		w.fault(http.StatusBadRequest, id, fault)
		return
	case s == nil && !batch && asksNewEra(ms[0]):
		w.fault(http.StatusBadRequest, ms[0].id, &Fault{
			Code: codeHeaderMismatch, Message: "the " + fieldVersion + " header is missing",
		})
		return
	case s == nil && (batch || ms[0].method != methodInitialize || !ms[0].isRequest()):
		w.fault(http.StatusBadRequest, ms[0].id, &Fault{
			Code: codeInvalid, Message: "the " + fieldSession + " header is missing",
		})
		return
	case batch && !batches(s.room.version()):
		w.refuse(http.StatusBadRequest, "batches are not part of version "+s.room.version())
		return
	}
	if s != nil && s.ctx.Err() != nil { // while its body came
		w.fault(http.StatusNotFound, ms[0].id, noSession())
		return
	}
	if s != nil {
		d.take(w, r, s, ms)
		return
	}
	if s = d.begin(w, r, principal); s == nil {
		return
	}
	defer s.done()
	d.take(w, r, s, ms)
	if s.room.version() == "" {
		s.end() // it did not come to a session
	}
}

// begin makes a session for a client that introduces itself; nil: the request was
// answered.
func (d *door) begin(w *replier, r *http.Request, principal string) *session {
	room, err := d.join(joining{caller: tool.Caller{Principal: principal, Attended: d.Attended}})
	if err != nil {
		w.busy(err.Error())
		return nil
	}
	s, err := d.open(r.Context(), principal, room)
	if err != nil {
		room.leave()
		w.busy(err.Error())
		return nil
	}
	w.Header().Set(fieldSession, s.id)
	return s
}

// take has messages of a client handled. The requests among them run on when the
// client's connection breaks, because it may come back for their answers. Those
// that wait for a person are stopped if it does not.
func (d *door) take(w *replier, r *http.Request, s *session, ms []message) {
	requests := 0
	for _, m := range ms {
		if m.isRequest() {
			requests++
		}
	}
	ctx := s.within(r.Context())
	if requests == 0 {
		for _, m := range ms {
			s.room.handle(ctx, m, nowhere{})
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	t := s.track(requests)
	defer t.finish()
	out := newSink(w, d.write)
	t.attach(out)
	defer context.AfterFunc(r.Context(), func() { t.leave(out) })()
	if len(ms) == 1 {
		s.room.handle(ctx, ms[0], t)
		return
	}
	s.handleAll(ctx, ms, t)
}

// handleAll has the messages of a batch handled: requests at the same time, the
// rest in order.
func (s *session) handleAll(ctx context.Context, ms []message, to stream) {
	var wg sync.WaitGroup
	for _, m := range ms {
		if !m.isRequest() {
			s.room.handle(ctx, m, to)
			continue
		}
		wg.Go(func() {
			defer s.d.recoverLog(ctx)
			s.room.handle(ctx, m, to)
		})
	}
	wg.Wait()
}

// within is a context for what a client of the session asks: it has the values of
// the request's context, and ends with the session.
func (s *session) within(ctx context.Context) context.Context {
	return sessionContext{Context: s.ctx, values: ctx}
}

type sessionContext struct {
	context.Context
	values context.Context // only for its values
}

func (c sessionContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.values.Value(key)
}

// getOld opens the stream for what belongs to no request, or takes up one that
// broke.
func (d *door) getOld(w *replier, r *http.Request, principal, version string) {
	if _, asStream := accepts(r); !asStream {
		w.refuse(http.StatusNotAcceptable, "Accept must have text/event-stream")
		return
	}
	s := d.find(w, r, principal, version)
	if s == nil {
		return
	}
	defer s.done()
	out := newSink(w, d.write)
	if last := r.Header.Get(fieldLastEvent); last != "" {
		s.takeUp(w, r, out, last)
		return
	}
	t := s.hear()
	if t == nil {
		w.fault(http.StatusNotFound, nil, noSession())
		return
	}
	p, ok := t.open(out)
	if !ok {
		w.refuse(http.StatusConflict, "there is a stream already")
		return
	}
	defer s.unattended(t)
	defer t.leave(out)
	t.feed(r.Context(), out, p)
}

// takeUp goes on with a stream after the event that the client had last. Where
// that cannot be done the status is not 404, which says that the session has gone.
func (s *session) takeUp(w *replier, r *http.Request, out *sink, last string) {
	id, n, ok := parseEventID(last)
	t := s.kept.track(id)
	if !ok || t == nil {
		w.refuse(http.StatusBadRequest, "there is no stream for this "+fieldLastEvent)
		return
	}
	var (
		p    seat
		left <-chan struct{}
	)
	if t.endless {
		s.hearAgain(t)
		p, ok = t.reopen(out, n)
	} else {
		left, ok = t.resume(out, n)
	}
	defer s.unattended(t)
	if !ok {
		w.refuse(http.StatusBadRequest, "the events after this "+fieldLastEvent+" are no longer kept")
		return
	}
	defer t.leave(out)
	if left == nil {
		t.feed(r.Context(), out, p)
		return
	}
	select {
	case <-left: // also when the session has ended, after the answers
	case <-r.Context().Done():
	}
}

// deleteOld ends a session. The client is told before its calls have stopped.
func (d *door) deleteOld(w *replier, r *http.Request, principal, version string) {
	s := d.find(w, r, principal, version)
	if s == nil {
		return
	}
	defer s.done()
	s.shut()
	w.WriteHeader(http.StatusNoContent)
	_ = http.NewResponseController(w).Flush() // who does not read it has gone
	s.end()
}

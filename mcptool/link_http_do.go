package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// answerTime is how long a server may take to accept a message that it does not
	// answer.
	answerTime = 30 * time.Second
	// cancelTime is the same for the news that a request was cancelled.
	cancelTime = 5 * time.Second
)

// httpCall is one request that is under way.
type httpCall struct {
	id     json.RawMessage
	method string
	hears  *httpHearing
	token  json.RawMessage // the caller's progress token; nil: none
	// elsewhere gets an answer that came on another stream, at most one; leave ends
	// the reading of the call's own.
	elsewhere chan message
	leave     context.CancelFunc
}

// do sends a request and waits for its answer; see link.
func (l *httpLink) do(ctx context.Context, method string, params json.RawMessage, hears *listener) (result json.RawMessage, err error) {
	if !l.begin() {
		return nil, unsent(l.why())
	}
	defer l.work.Done()
	defer survive(l.log, func(fault error) { // listeners are called here
		l.end(fault)
		result, err = nil, fault
	})
	// What the server asks on the stream of the call ends with it.
	during, over := context.WithCancel(ctx)
	defer over()
	defer context.AfterFunc(l.life, over)() //nolint:contextcheck // it ends with both
	c := &httpCall{
		id: strconv.AppendInt(nil, l.last.Add(1), 10), method: method, hears: l.own,
		elsewhere: make(chan message, 1), leave: over,
	}
	if hears != nil {
		c.hears = &httpHearing{listener: *hears}
		defer c.hears.stop()
	}
	if l.speaks == newEra {
		params = withIntroduction(params, newVersion, l.who)
	}
	params, c.token = ownProgress(params, c.id)
	l.expect(c)
	defer l.forget(c)
	m, unrun, err := l.ask(during, c, params)
	if err != nil {
		select {
		case m = <-c.elsewhere:
			unrun, err = false, nil
		default:
		}
	}
	switch {
	case err == nil && m.fault != nil:
		return nil, m.fault
	case err == nil:
		return m.result, nil
	case ctx.Err() != nil:
		if err = context.Cause(ctx); !unrun {
			l.cancelled(ctx, c)
		}
	case l.life.Err() != nil:
		err = l.why()
	}
	if unrun {
		err = unsent(err)
	}
	return nil, err
}

// ask posts the request and reads until its answer. unrun: the server surely has
// not seen it, or not taken it.
func (l *httpLink) ask(ctx context.Context, c *httpCall, params json.RawMessage) (m message, unrun bool, err error) {
	r, unrun, err := l.post(ctx, message{id: c.id, method: c.method, params: params})
	if err != nil {
		return message{}, unrun, err
	}
	if c.method == methodInitialize {
		l.startSession(r)
	}
	switch kind := mediaType(r.Response); kind {
	case typeJSON:
		m, err = l.readAnswer(ctx, c, r)
	case typeStream:
		m, err = l.follow(ctx, c, r)
	default:
		r.finish()
		err = fmt.Errorf("%w: got status %d with content type %q, want %s or %s", errNoAnswer, r.StatusCode, short(kind), typeJSON, typeStream)
	}
	if err == nil && c.method == methodInitialize && m.result != nil {
		l.mu.Lock()
		if v := textMember(m.result, "protocolVersion"); len(v) < 64 && headerSafe(v) {
			l.version = v
		}
		l.mu.Unlock()
	}
	return m, false, err
}

// startSession keeps the id of the session that the answer to initialize names.
func (l *httpLink) startSession(r *httpReply) {
	id := r.Header.Get(linkSession)
	if len(id) > maxEventID || !headerSafe(id) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = id
}

// post sends one message. The reply has a status below 300.
func (l *httpLink) post(ctx context.Context, m message) (r *httpReply, unrun bool, err error) {
	h := l.headers()
	h.Set("Content-Type", typeJSON)
	h.Set("Accept", typeJSON+", "+typeStream)
	maps.Copy(h, tracedHeaders(ctx))
	if l.speaks == newEra && m.method != "" {
		l.describe(ctx, h, m)
	}
	r, unrun, err = l.send(ctx, http.MethodPost, h, m.append(nil))
	if err != nil {
		return nil, unrun, err
	}
	if unrun, err := l.refused(r); err != nil {
		return nil, unrun, err
	}
	return r, false, nil
}

// describe adds the headers of the new era, which say again what the body says.
func (l *httpLink) describe(ctx context.Context, h http.Header, m message) {
	for name, values := range headersFrom(ctx) {
		if name = http.CanonicalHeaderKey(name); strings.HasPrefix(name, paramHeader) {
			h[name] = values
		}
	}
	version := newVersion
	if v, ok := metaMember(m.params, metaVersion); ok {
		if text, ok := unquote(v); ok && headerSafe(text) {
			version = text
		}
	}
	h.Set(linkVersion, version)
	h.Set(linkMethod, headerValue(m.method))
	key := ""
	switch m.method {
	case "tools/call", "prompts/get":
		key = "name"
	case "resources/read":
		key = "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		key = "taskId"
	}
	if name := textMember(m.params, key); key != "" && name != "" {
		h.Set(linkName, headerValue(name))
	}
}

// notify sends a notification.
func (l *httpLink) notify(ctx context.Context, method string, params json.RawMessage) error {
	if !l.begin() {
		return unsent(l.why())
	}
	defer l.work.Done()
	return l.tell(ctx, message{method: method, params: params})
}

// tell sends a message that has no answer.
func (l *httpLink) tell(ctx context.Context, m message) error {
	bounded, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	r, unrun, err := l.post(bounded, m)
	switch {
	case err == nil:
		r.finish()
		return nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case l.life.Err() != nil:
		err = l.why()
	}
	if unrun {
		err = unsent(err)
	}
	return err
}

// cancelled tells the server that nobody waits for the answer. In the new era the
// end of the HTTP request has said so; initialize is never cancelled.
func (l *httpLink) cancelled(ctx context.Context, c *httpCall) {
	if l.speaks == newEra || c.method == methodInitialize || !l.begin() {
		return
	}
	reason := reasonOf(context.Cause(ctx))
	go func() {
		defer l.work.Done()
		defer survive(l.log, l.end)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer cancel()
		params := setMembers(nil, pair{"requestId", c.id}, pair{"reason", quote(reason)})
		if err := l.tell(ctx, message{method: notificationCancelled, params: params}); err != nil {
			l.log.DebugContext(ctx, "mcp: the server was not told that a request is cancelled", slog.String("error", err.Error()))
		}
	}()
}

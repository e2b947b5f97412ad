package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/ferrule-dev/ferrule/tool"
)

// dialogue is a request of a client until its last answer: an exchange. In the
// new era it may take several requests, its legs: each but the last is answered
// with a result that asks for input.
type dialogue struct {
	client *client
	face   *face // nil: ping, initialize
	method string
	given  json.RawMessage

	ctx    context.Context //nolint:containedctx // it outlives the request that it began with
	cancel context.CancelCauseFunc

	asking chan struct{} // holds one: a client is asked one thing at a time
	ended  chan struct{} // closed when there is an answer: nothing is asked after it
	back   chan comeback // the client has come back with what it was asked for

	sending sync.Mutex // nothing is sent after the answer; before mu

	mu      sync.Mutex // nothing is sent while it is held
	round   *round     // that takes questions; nil: none
	leg     *leg       // nil: it is the client's turn
	key     string     // what it is held by; "": it is not
	away    bool       // it was held, and the client's next request is not the leg yet
	got     answered
	whole   bool   // the result lacks nothing; of who answers
	foresaw bool   // answers that came before their questions were looked at
	kept    string // the handle of a result that was too long
}

// leg is one request of the client that belongs to a dialogue.
type leg struct {
	id    json.RawMessage
	to    stream
	token json.RawMessage // of progress; nil: it wants none
	done  chan struct{}   // closed when it is answered
	stop  func() bool     // it no longer matters when its request ends
}

// comeback is a client's next request in a dialogue.
type comeback struct {
	leg    *leg
	params json.RawMessage
}

var _ exchange = (*dialogue)(nil)

var (
	errCancelled = errors.New("the client has cancelled the request")
	errHungUp    = errors.New("the client has closed its stream")
)

func newDialogue(c *client, f *face, m message) *dialogue {
	ctx, cancel := context.WithCancelCause(c.ctx)
	return &dialogue{
		client: c, face: f, method: m.method, given: m.params, ctx: ctx, cancel: cancel,
		asking: make(chan struct{}, 1), ended: make(chan struct{}), back: make(chan comeback, 1),
	}
}

func (d *dialogue) audience() audience      { return d.face }
func (d *dialogue) params() json.RawMessage { return d.given }

func (d *dialogue) era() era {
	if d.face == nil {
		return oldEra
	}
	return d.face.era
}

// mayHold reports whether a request may be answered before it is done.
func (d *dialogue) mayHold() bool { return d.era() == newEra && d.method != "subscriptions/listen" }

// attach makes a request of the client the current leg: when ctx, its own, ends
// so does the dialogue.
func (d *dialogue) attach(ctx context.Context, l *leg) {
	l.stop = context.AfterFunc(ctx, func() { d.cancel(errHungUp) })
	d.client.register(d, l.id)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leg = l
}

// why is why the dialogue was stopped.
func (d *dialogue) why() error { return context.Cause(d.ctx) }

// current is the leg that the client waits on; nil: none.
func (d *dialogue) current() *leg {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.leg
}

// close answers the current leg and ends it; a message without id only ends it.
// It reports false where there is none.
func (d *dialogue) close(m message) bool {
	d.sending.Lock()
	d.mu.Lock()
	l := d.leg
	d.leg = nil
	d.mu.Unlock()
	if l == nil {
		d.sending.Unlock()
		return false
	}
	l.stop()
	if m.result != nil || m.fault != nil {
		m.id = l.id
		_ = l.to.send(m) // the client may be gone
	}
	d.sending.Unlock()
	d.client.unregister(d, l.id)
	close(l.done)
	return true
}

// run answers the request.
func (d *dialogue) run() {
	var (
		result json.RawMessage
		err    error
	)
	defer func() {
		if r := recover(); r != nil {
			d.client.gate.logger().LogAttrs(d.ctx, slog.LevelError, "a panic in the gateway", slog.Any("panic", r), slog.String("method", d.method))
			result, err = nil, &Fault{Code: codeInternal, Message: "internal error"}
		}
		d.finish(result, err)
		d.cancel(nil)
		d.client.talked(d)
	}()
	d.client.talk(d)
	result, err = d.answer()
}

// finish gives the client the last answer, waiting for it if it is its turn.
func (d *dialogue) finish(result json.RawMessage, err error) {
	m := message{result: result, fault: d.faultOf(err)}
	if errors.Is(context.Cause(d.ctx), errCancelled) {
		m = message{} // a cancelled request has no answer
	}
	if m.fault == nil && m.result != nil {
		m.result = d.complete(d.clean(m.result))
	}
	close(d.ended)
	d.asking <- struct{}{} // who asks has heard of it, and leaves the client's turn to this
	if d.close(m) {
		return
	}
	if d.awaitLeg(nil, nil) == nil {
		d.close(m)
	}
}

// faultOf is an error as the client reads it.
func (d *dialogue) faultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	f := (*Fault)(nil)
	if !errors.As(err, &f) || f == nil {
		d.client.gate.logger().LogAttrs(d.ctx, slog.LevelWarn, "a request failed", slog.String("method", short(d.method)), slog.Any("error", err))
		f = &Fault{Code: codeInternal, Message: plainly(err)}
	}
	return &Fault{Code: f.Code, Message: string(d.client.scrub([]byte(f.Message))), Data: d.client.scrub(f.Data)}
}

// plainly is what a client is told of an error that is no server's answer: paths,
// addresses and what servers wrote are for the log.
func plainly(err error) string {
	for _, own := range []error{errCancelled, errHungUp, errLeft, errShut, errExpired, errNoInput, errManyQuestions} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	switch rest := (*pausedError)(nil); {
	case errors.As(err, &rest):
		return fmt.Sprintf("The server is not asked now: %s; %s. Nothing was done.", rest.why, rest.next())
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		return "The server did not answer in time. The request may still have had its effect."
	case errors.Is(err, errUnauthorized):
		return "The server wants a login that it was not given. Nothing was done."
	case unsafely(err):
		return "The server cannot be isolated as it must be here, so it does not run. Nothing was done."
	case errors.Is(err, errLong):
		return fmt.Sprintf("The answer of the server was not taken: %s. The request has run: ask for less.", long(err))
	case errors.Is(err, errBusy):
		return "The server has no room for this request now. Nothing was done. Try again later."
	case errors.Is(err, errUnreachable), errors.Is(err, errUnsent):
		return "The server cannot be reached now. Nothing was done."
	}
	return "The request failed, or the connection to the server broke while it ran. It may or may not have happened."
}

// notify sends the client what belongs to this request. While it is the client's
// turn there is nowhere to send it.
func (d *dialogue) notify(method string, params json.RawMessage) {
	if method == "notifications/message" && !d.wantsLog(params) {
		return
	}
	params = d.client.scrub(params)
	d.sending.Lock()
	defer d.sending.Unlock()
	l := d.current()
	if l == nil {
		return
	}
	if method == "notifications/progress" {
		if l.token == nil {
			return
		}
		if token, _ := member(params, "progressToken"); string(token) != string(l.token) {
			params = setMembers(params, pair{"progressToken", l.token})
		}
	}
	_ = l.to.send(message{method: method, params: params}) // the client may be gone
}

// wantsLog reports whether a client of the new era wants a log message: its
// request says from which level on. One of the old era has told the server.
func (d *dialogue) wantsLog(params json.RawMessage) bool {
	if d.era() == oldEra {
		return true
	}
	wanted, _ := metaMember(d.given, metaLogLevel)
	from, ok := unquote(wanted)
	return ok && severity(textMember(params, "level")) >= severity(from)
}

func severity(level string) int {
	for i, l := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		if l == level {
			return i
		}
	}
	return 0
}

// finished takes what the server of a tool has answered.
func (d *dialogue) finished(a answered) {
	a.result.Content = slices.Clone(a.result.Content) // the runtime may change its own
	if e := (*tool.Error)(nil); errors.As(a.err, &e) {
		own := *e
		a.err = &own
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.got = a
}

// progressToken is the token that a request wants progress for; nil: none.
func progressToken(params json.RawMessage) json.RawMessage {
	token, _ := metaMember(params, "progressToken")
	if k := kindOf(token); k == '"' || k == '0' {
		return token
	}
	return nil
}

package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// httpHearing is a listener that is told one notification after the other, though
// they may come on several streams.
type httpHearing struct {
	listener

	mu   sync.Mutex
	over bool // its call has ended: it hears no more
}

func (h *httpHearing) notify(method string, params json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.notified != nil && !h.over {
		h.notified(method, params)
	}
}

func (h *httpHearing) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
}

// expect keeps a call, so that its progress and its answer find it on whatever
// stream they come.
func (l *httpLink) expect(c *httpCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[string(c.id)] = c
	if c.token != nil {
		l.calls[string(c.id)] = c
	}
}

func (l *httpLink) forget(c *httpCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, string(c.id))
	delete(l.calls, string(c.id))
}

// elsewhere gives an answer to the call that waits for it on another stream: in
// the old era a server that has closed the stream of a call may answer on any that
// the client has asked for since.
func (l *httpLink) elsewhere(m message) bool {
	l.mu.Lock()
	of := l.waiting[string(bytes.Trim(m.id, `"`))]
	l.mu.Unlock()
	if of == nil || l.speaks == newEra {
		return false
	}
	select {
	case of.elsewhere <- m:
		of.leave()
	default: // it has one
	}
	return true
}

// sameID says whether an id is ours, which are numbers. Some servers give them
// back as strings.
func sameID(id, ours json.RawMessage) bool {
	return bytes.Equal(bytes.Trim(id, `"`), ours)
}

// take takes what came at once on the stream of c (nil: on the stream that
// belongs to no request): a message, or a batch. done: the answer to c was in it.
func (l *httpLink) take(ctx context.Context, c *httpCall, data []byte) (answer message, done bool, err error) {
	if !isBatch(data) {
		return l.takeOne(ctx, c, data)
	}
	batch, err := splitServerBatch(data)
	if err != nil {
		l.garbage(err)
		return message{}, false, nil
	}
	for _, one := range batch {
		m, is, failed := l.takeOne(ctx, c, one)
		if is || failed != nil {
			answer, done, err = m, is, failed
		}
	}
	return answer, done, err
}

// takeOne takes one message. What is none is passed over, unless it has the id of
// the call that is waited for.
func (l *httpLink) takeOne(ctx context.Context, c *httpCall, data []byte) (answer message, done bool, err error) {
	before := l.faults.count.Load()
	defer func() {
		if l.faults.count.Load() == before {
			l.faults.valid()
		}
	}()
	m, err := parseMessage(data)
	own := c != nil && sameID(m.id, c.id)
	switch {
	case err != nil && own && m.method == "":
		return message{}, false, fmt.Errorf("the server's answer is faulty: %s", err.Error()) // no *Fault: it did not say so
	case err != nil:
		l.garbage(err)
	case m.isAnswer() && own:
		return m, true, nil
	case m.isAnswer() && l.elsewhere(m):
	case m.isAnswer():
		l.garbage(fmt.Errorf("an answer to another request: id %s", short(string(m.id))))
	case m.isRequest():
		if l.requested(ctx, c, m); c == nil {
			return message{}, false, l.faults.unheard(m.method)
		}
	default:
		return message{}, false, l.notification(c, m)
	}
	return message{}, false, nil
}

// garbage counts what is no message. Too much of it ends the link.
func (l *httpLink) garbage(err error) {
	loud := l.faults.add(err.Error())
	if l.faults.tooMany() {
		l.end(errors.New("the server sent too much that is no message: " + l.faults.String()))
	}
	if !loud {
		return
	}
	l.log.LogAttrs(l.life, slog.LevelWarn, "an MCP server sent what is no message", slog.String("why", err.Error()))
}

// notification gives a notification to who hears it. The error ends the call on
// whose stream it came.
func (l *httpLink) notification(c *httpCall, m message) error {
	hears := l.own
	if c != nil {
		hears = c.hears
	}
	switch {
	case m.method == notificationProgress:
		token, _ := member(m.params, "progressToken")
		l.mu.Lock()
		of := l.calls[string(bytes.Trim(token, `"`))]
		l.mu.Unlock()
		if of == nil {
			return nil // it is late
		}
		hears, m.params = of.hears, setMembers(m.params, pair{"progressToken", of.token})
	case m.method == notificationCancelled && l.speaks == newEra:
		// The server asks nothing there: it has given up one of ours.
		if id, _ := member(m.params, "requestId"); c != nil && sameID(id, c.id) {
			return errors.New("the server has ended the request: " + short(textMember(m.params, "reason")))
		}
		return nil
	case m.method == notificationCancelled:
		id, _ := member(m.params, "requestId")
		l.mu.Lock()
		cancel := l.asked[string(id)]
		l.mu.Unlock()
		if cancel != nil {
			cancel(errWithdrawn)
		}
		return nil
	}
	hears.notify(m.method, m.params)
	if c == nil || c.method == methodListen { // these streams have no end
		return l.faults.unheard(m.method)
	}
	return nil
}

// requested answers a request of the server, on a goroutine of its own. It ends
// with ctx: that of the call on whose stream it came, or that of the link.
func (l *httpLink) requested(ctx context.Context, c *httpCall, m message) {
	if l.speaks == newEra {
		l.garbage(fmt.Errorf("a request, %s, in an era that has none", short(m.method)))
		return
	}
	hears := l.own
	if c != nil {
		hears = c.hears
	}
	if !l.begin() {
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	refusal := l.admit(m.id, cancel)
	if refusal != nil && !l.refuse() {
		cancel(refusal)
		l.work.Done()
		l.garbage(refusal) // a flood: each refusal is a request of its own
		return
	}
	go func() {
		defer l.work.Done()
		defer cancel(nil)
		defer survive(l.log, l.end)
		reply := message{id: m.id, fault: refusal}
		if refusal != nil {
			defer l.hasRefused()
		} else {
			reply = answerTo(ctx, &hears.listener, m, l.log, &l.faults)
			l.mu.Lock()
			delete(l.asked, string(m.id))
			l.mu.Unlock()
		}
		if errors.Is(context.Cause(ctx), errWithdrawn) {
			return
		}
		// The answer is not cut off where the server needed no more than its
		// beginning to answer the call.
		if err := l.tell(context.WithoutCancel(ctx), reply); err != nil {
			l.log.LogAttrs(ctx, slog.LevelDebug, "an MCP server did not take an answer", slog.String("why", err.Error()))
		}
	}()
}

// admit counts a request of the server in, or says why not.
func (l *httpLink) admit(id json.RawMessage, cancel context.CancelCauseFunc) *Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, twice := l.asked[string(id)]; twice {
		return invalid("a request with this id is under way")
	}
	if len(l.asked) >= maxAsked {
		return &Fault{Code: codeInternal, Message: "too many requests at once"}
	}
	l.asked[string(id)] = cancel
	return nil
}

// refuse counts a refusal in, if there are not too many under way.
func (l *httpLink) refuse() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses >= maxAsked {
		return false
	}
	l.refuses++
	return true
}

func (l *httpLink) hasRefused() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuses--
}

package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
)

// Methods that connections know themselves.
const (
	methodInitialize        = "initialize"
	methodDiscover          = "server/discover"
	methodPing              = "ping"
	notificationInitialized = "notifications/initialized"
	notificationCancelled   = "notifications/cancelled"
	notificationProgress    = "notifications/progress"
)

// Members of _meta in the new era.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// maxAsked is how many requests of a server may be under way.
const maxAsked = 64

var errWithdrawn = errors.New("the server has withdrawn its request")

// ownProgress gives params the progress token that a request has on the wire, if
// its caller wants progress, and tells the caller's own; nil: it wants none.
func ownProgress(params, own json.RawMessage) (changed, token json.RawMessage) {
	token, ok := metaMember(params, "progressToken")
	if !ok {
		return params, nil
	}
	return setMeta(params, pair{"progressToken", own}), token
}

// notified gives a notification to who hears it.
func (l *pipeLink) notified(m message) {
	hears := &l.hears
	switch m.method {
	case notificationCancelled:
		l.withdrawn(m.params)
		return
	case notificationProgress:
		token, _ := member(m.params, "progressToken")
		p := l.waitingFor(token)
		if p == nil || p.token == nil {
			if !l.was(token) { // else it is late
				l.faults.add("progress of nothing that was asked: token " + short(string(token)))
			} else if p == nil {
				l.unheard(m.method)
			}
			return
		}
		m.params = setMembers(m.params, pair{"progressToken", p.token})
		if p.hears != nil {
			hears = p.hears
		}
	default:
		if id, ok := metaMember(m.params, metaSubscription); ok {
			if p := l.waitingFor(id); p != nil && p.hears != nil {
				hears = p.hears
			}
		}
		if l.idle() {
			l.unheard(m.method)
		}
	}
	if hears.notified != nil {
		hears.notified(m.method, m.params)
	}
}

// unheard counts a message that nobody waits for. Too many end the connection: it is
// not known when they would.
func (l *pipeLink) unheard(method string) {
	if err := l.faults.unheard(method); err != nil {
		l.finish(err)
	}
}

// idle reports whether no answer is waited for.
func (l *pipeLink) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.waiting {
		if p.method != methodListen {
			return false
		}
	}
	return true
}

// withdrawn ends a request of the server that it no longer wants. In the new era
// the server asks nothing: there it is one of ours, that it has given up.
func (l *pipeLink) withdrawn(params json.RawMessage) {
	id, _ := member(params, "requestId")
	if said := l.greeting(); said != nil && said.era == newEra {
		if p := l.waitingFor(id); p != nil {
			p.reply(answer{err: errors.New("the server has ended the request: " + short(textMember(params, "reason")))})
		}
		return
	}
	l.mu.Lock()
	cancel := l.asked[string(id)]
	l.mu.Unlock()
	if cancel != nil {
		cancel(errWithdrawn)
	}
}

// requested answers a request of the server, on a goroutine of its own.
func (l *pipeLink) requested(m message) {
	if l.idle() {
		l.unheard(m.method)
	}
	ctx, cancel := context.WithCancelCause(l.life)
	if f := l.admit(m.id, cancel); f != nil {
		cancel(f)
		l.faults.add(f.Message)
		l.offer(newOutgoing(message{id: m.id, fault: f}))
		return
	}
	l.done.Go(func() {
		defer cancel(nil)
		defer survive(l.log, l.finish)
		reply := answerTo(ctx, &l.hears, m, l.log, &l.faults)
		l.mu.Lock()
		delete(l.asked, string(m.id))
		l.mu.Unlock()
		if ctx.Err() == nil { // else nobody wants it
			_ = l.put(ctx, newOutgoing(reply)) // a server that has gone needs no answer
		}
	})
}

func (l *pipeLink) admit(id json.RawMessage, cancel context.CancelCauseFunc) *Fault {
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

// answerTo has a request of a server answered by who hears it. A ping is answered
// here.
func answerTo(ctx context.Context, hears *listener, m message, log *slog.Logger, f *faults) message {
	if m.method == methodPing {
		return message{id: m.id, result: json.RawMessage("{}")}
	}
	if hears == nil || hears.requested == nil {
		return message{id: m.id, fault: &Fault{Code: codeNoMethod, Message: "method not found"}}
	}
	result, err := hears.requested(ctx, m.method, m.params)
	if err == nil {
		return message{id: m.id, result: result}
	}
	if refusal, ok := errors.AsType[*Fault](err); ok {
		return message{id: m.id, fault: refusal}
	}
	// The text of our own error is not for the server.
	if f.loud() {
		log.LogAttrs(ctx, slog.LevelWarn, "a request of an MCP server was not answered",
			slog.String("method", short(m.method)), slog.Any("why", err))
	}
	return message{id: m.id, fault: &Fault{Code: codeInternal, Message: "the client could not answer"}}
}

// withIntroduction adds to the params of a request what each must carry in the new
// era, where they do not have it.
func withIntroduction(params json.RawMessage, version string, in introduction) json.RawMessage {
	meta, _ := member(params, "_meta")
	var missing []pair
	add := func(key string, value json.RawMessage) {
		if _, ok := member(meta, key); !ok {
			missing = append(missing, pair{key, value})
		}
	}
	add(metaVersion, quote(version))
	add(metaClientInfo, in.clientInfo())
	add(metaCapabilities, in.clientCapabilities())
	if len(missing) == 0 {
		return params
	}
	return setMeta(params, missing...)
}

func (in introduction) clientInfo() json.RawMessage {
	if kindOf(in.info) != '{' {
		return json.RawMessage(`{"name":"ferrule","version":"0"}`)
	}
	return in.info
}

func (in introduction) clientCapabilities() json.RawMessage {
	if kindOf(in.capabilities) != '{' {
		return json.RawMessage("{}")
	}
	return in.capabilities
}

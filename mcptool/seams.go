package mcptool

import (
	"cmp"
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/ferrule-dev/ferrule/tool"
)

// era is how a connection speaks.
type era uint8

const (
	oldEra era = iota // 2024-11-05 to 2025-11-25: a handshake, then a session
	newEra            // 2026-07-28: each request stands for itself
)

// The newest version of each era.
const (
	oldVersion = "2025-11-25"
	newVersion = "2026-07-28"
)

// introduction is what a server is told of a client when a connection is made
// for it.
type introduction struct {
	version      string          // of the protocol, wanted
	info         json.RawMessage // clientInfo
	capabilities json.RawMessage // as the client says them
}

// greeting is what a server has said of itself.
type greeting struct {
	era          era
	version      string
	info         json.RawMessage // serverInfo
	capabilities json.RawMessage
	instructions string
	raw          json.RawMessage // the whole result: of initialize or server/discover
}

// listener hears what a server says. Its functions are called one after the other
// for notifications, in the order they came, and each on a goroutine of its own
// for requests. Nil functions: notifications are dropped, requests refused
// (method not found).
type listener struct {
	notified  func(method string, params json.RawMessage)
	requested func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// faulty is told what came that was of no use, of the connection as a whole. Nil:
	// nobody is.
	faulty func(text string)
	// most is how long a message may be on the connection as a whole, in bytes. 0:
	// maxMessage.
	most int
}

func (l *listener) bound() int { return cmp.Or(l.most, maxMessage) }

// link is one connection to a server, with its handshake done. All methods are
// safe for concurrent use.
type link interface {
	greeting() *greeting
	// do sends a request and waits for its answer: a result, a *Fault that the
	// server answered with, or another error. errUnsent is in the error's tree
	// where the server has surely not seen the request; else it may have run. When
	// ctx ends the server is told (notifications/cancelled, or in the new era over
	// HTTP by closing the stream) and do returns context.Cause.
	//
	// hears is who hears what belongs to this request alone: notifications on its
	// own stream (HTTP), with its progress token (the link gives each request that
	// has a progressToken in params._meta one of its own on the wire, and puts the
	// caller's back), or with its id; and requests on its stream. What a connection
	// cannot tell apart (old era over stdio: a request or log message of the
	// server) goes to the link's own listener. Nil: all goes there.
	//
	// In the new era do adds what each request must carry in _meta (protocol
	// version, client info, client capabilities) where params do not have it.
	do(ctx context.Context, method string, params json.RawMessage, hears *listener) (json.RawMessage, error)
	// notify sends a notification.
	notify(ctx context.Context, method string, params json.RawMessage) error
	// ended is closed when the connection can no longer be used, and why then says
	// why.
	ended() <-chan struct{}
	why() error
	// close ends the connection, and with it the child or the session at the
	// server, and waits until that is done: TERM, wait, KILL for a child's group.
	close()
}

// exchange is one request of a client that is under way: what its server may say
// and ask meanwhile. The gateway makes them; it is also in the context of the call
// of a tool that it leads to (exchangeFrom).
type exchange interface {
	// audience is the client session that it belongs to.
	audience() audience
	// era is how the client speaks.
	era() era
	// params are those of the request, as the client sent them. Of a tools/call
	// what is sent on is params with name and arguments replaced.
	params() json.RawMessage
	// notify sends the client what belongs to this request: progress (the client's
	// own token is in it already), log messages.
	notify(method string, params json.RawMessage)
	// request asks the client what a server of the old era asked (elicitation,
	// sampling, roots), and waits for its answer. A client of the new era is
	// answered with a result that asks for input, and its next request is the
	// answer.
	request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// input gives the client a result of a server of the new era that asks for input
	// (resultType input_required) and waits for what it wants to be sent with the
	// next request: its inputResponses and requestState. A client of the old era is
	// asked one request after the other.
	input(ctx context.Context, required json.RawMessage) (responses, state json.RawMessage, err error)
	// finished takes what a server has answered to a tools/call: it goes to the
	// client if the runtime has left the result as it is.
	finished(a answered)
}

// answered is the answer of a server to a tools/call: a fault, or a result.
type answered struct {
	fault  *Fault
	raw    json.RawMessage // as the server sent it
	result tool.Result     // what the runtime gets of it
	err    error           // a result that says that the call has failed
	from   *server         // who answered
	tool   string          // as the server names it
}

type exchangeKey struct{}

// withExchange is a context of calls that x leads to.
func withExchange(ctx context.Context, x exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeFrom is the request that a call belongs to; nil: no client's (a call by
// the program itself).
func exchangeFrom(ctx context.Context) exchange {
	x, _ := ctx.Value(exchangeKey{}).(exchange)
	return x
}

// audience is a client session, as servers see it. It is comparable, and the hub
// keeps its connections by it until the gateway says that it has ended.
type audience interface {
	introduction() introduction
	// leave is called when it has ended, and left is true then: it gets no more
	// connections.
	leave()
	left() bool
	// notify tells the client what belongs to no request of its own: log messages,
	// changed lists, updated resources. server is who says it.
	notify(server, method string, params json.RawMessage)
	// request asks the client with no request of its own under way.
	request(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error)
}

// departure is how an audience ends.
type departure struct{ gone atomic.Bool }

func (d *departure) leave()     { d.gone.Store(true) }
func (d *departure) left() bool { return d.gone.Load() }

// stream is where what belongs to one message of a client is written. The gateway
// sends notifications and requests there while a request is under way, and its
// answer as the last message. send is safe for concurrent use and does not block
// for longer than the transport's own time limits; it fails once the client is
// gone.
type stream interface {
	send(m message) error
}

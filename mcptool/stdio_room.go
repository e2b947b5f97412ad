package mcptool

import (
	"context"
	"encoding/json"
	"errors"
)

// room is a client session as the doors see it.
type room interface {
	handle(ctx context.Context, m message, to stream)
	listen(s stream) (stop func())
	version() string
	leave()
	// desert stops what waits for somebody, now or later: nobody will come.
	desert(why error)
	// giveUp answers what has not stopped.
	giveUp(why error)
	// until has f called, on a goroutine of its own, when the session ends, whoever
	// ends it.
	until(f func()) (stop func() bool)
}

var _ room = (*client)(nil)

// joins is how a door gets a client into a room.
type joins func(j joining) (room, error)

func (g *Gateway) admit(j joining) (room, error) {
	c, err := g.join(j)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// nowhere is where nothing can be sent: notifications and answers of a client
// are not answered.
type nowhere struct{}

func (nowhere) send(message) error { return errGone }

// errGone: the client is no longer there.
var errGone = errors.New("the client has gone")

// readMessages reads a message or a batch of them. A fault is what to answer
// with, and id whom, where that could be read. A batch with a message that cannot
// be read is not taken at all: half of it would have run.
func readMessages(b []byte) (ms []message, batch bool, id json.RawMessage, fault *Fault) {
	if !isBatch(b) {
		m, err := parseMessage(b)
		if err != nil {
			return nil, false, m.id, faultFrom(err)
		}
		return []message{m}, false, nil, nil
	}
	parts, err := splitBatch(b)
	if err != nil {
		return nil, true, nil, faultFrom(err)
	}
	for _, part := range parts {
		m, err := parseMessage(part)
		if err != nil {
			return nil, true, nil, faultFrom(err)
		}
		ms = append(ms, m)
	}
	return ms, true, nil, nil
}

// faultFrom is the fault that an error is.
func faultFrom(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return &Fault{Code: codeParse, Message: err.Error()}
}

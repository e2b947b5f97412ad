package mcptool

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
)

// maxQueued is how many messages may wait to be written. Who has one more waits
// with its context.
const maxQueued = 128

// outgoing is one message on its way to the writer.
type outgoing struct {
	line  []byte
	state atomic.Int32
}

// States of a message. It is queued until the writer takes it, or who sent it
// takes it back.
const (
	queued int32 = iota
	taken
	withdrawn
)

func newOutgoing(m message) *outgoing {
	line := m.append(make([]byte, 0, 128+len(m.params)+len(m.result)))
	return &outgoing{line: append(line, '\n')}
}

// withdraw takes a message back. It reports whether not one byte of it was
// written, and none will be.
func (o *outgoing) withdraw() bool {
	return o.state.CompareAndSwap(queued, withdrawn) || o.state.Load() == withdrawn
}

func unsent(why error) error { return fmt.Errorf("%w: %w", errUnsent, why) }

// put queues a message. An error is errUnsent.
func (l *pipeLink) put(ctx context.Context, o *outgoing) error {
	if l.life.Err() != nil {
		return unsent(l.why())
	}
	if ctx.Err() != nil {
		return unsent(context.Cause(ctx))
	}
	select {
	case l.out <- o:
		return nil
	case <-ctx.Done():
		return unsent(context.Cause(ctx))
	case <-l.life.Done():
		return unsent(l.why())
	}
}

// offer queues a message if there is room.
func (l *pipeLink) offer(o *outgoing) {
	select {
	case l.out <- o:
	default:
		l.faults.add("it does not read")
	}
}

// write sends what is queued until the connection ends.
func (l *pipeLink) write(w io.Writer) {
	for {
		select {
		case <-l.life.Done():
			return
		case o := <-l.out:
			if !o.state.CompareAndSwap(queued, taken) {
				continue
			}
			if n, err := w.Write(o.line); err != nil {
				if n == 0 {
					o.state.Store(withdrawn) // before who waits hears that the connection ended
				}
				l.finish(fmt.Errorf("writing to the server: %w", err))
				return
			}
		}
	}
}

package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Bounds of a client over stdio.
const (
	stdioAtOnce = 256              // requests that run; more wait
	stdioMost   = 1024             // requests that run or wait; more are refused
	stdioBytes  = 256 << 20        // of requests that run or wait
	stdioFinish = 30 * time.Second // for requests under way when the input has ended
	stdioStop   = time.Second      // for them to stop, once they are told to
)

// ServeStdio serves one client until in ends or ctx does. Calls that run then are
// finished (in ended; those that wait for a person are stopped) or stopped (ctx). It
// returns nil when in has ended. The connections that the client had to servers end
// meanwhile: Close waits for them.
//
// A read of in that blocks when ctx ends is not waited for; it goes on until in is
// closed.
func (g *Gateway) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, c tool.Caller) error {
	return serveStdio(ctx, in, out, c, g.admit, g.Log)
}

func serveStdio(ctx context.Context, in io.Reader, out io.Writer, c tool.Caller, join joins, log *slog.Logger) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := newLineWriter(out, func(err error) { cancel(err) })
	room, err := join(joining{caller: c, push: w})
	if err != nil {
		return err
	}
	// Requests stop when ctx does, and not before the client's last one is
	// answered.
	s := &stdio{room: room, out: w, log: log, slots: make(chan struct{}, stdioAtOnce)}
	ended := make(chan error, 1)
	go func() { ended <- s.read(ctx, newLines(in, maxLine)) }()

	select {
	case err = <-ended:
		room.desert(errHungUp)
		s.rest(stdioFinish, ctx.Done())
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	cancel(errGone)
	s.rest(stdioStop, nil)
	told := make(chan struct{})
	go func() { // until the writer closes
		defer close(told)
		room.giveUp(errLeft)
	}()
	within(told, toldTime)
	w.close()
	go func() { // who closes the gateway waits for it
		room.leave()
		s.crew.close()
	}()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// stdio is one client over lines.
type stdio struct {
	room  room
	out   *lineWriter
	log   *slog.Logger
	slots chan struct{}
	crew  crew

	mu      sync.Mutex
	closed  bool
	many    int // requests that run or wait
	bytes   int // of them
	nothing chan struct{}
}

// read takes messages until the input ends. Those that must be taken in order are
// done when the next one is read; a request runs beside them. Reading does not
// wait for requests: what they wait for may be an answer of the client.
func (s *stdio) read(ctx context.Context, in *lines) error {
	for {
		line, err := in.next()
		switch {
		case errors.Is(err, errLong):
			s.fault(nil, &Fault{Code: codeParse, Message: err.Error()})
			continue
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		s.take(ctx, line)
	}
}

func (s *stdio) fault(id json.RawMessage, f *Fault) {
	_ = s.out.send(message{id: id, fault: f}) // the writer remembers that it failed
}

// take handles one line.
func (s *stdio) take(ctx context.Context, line []byte) {
	ms, batch, id, fault := readMessages(line)
	switch {
	case fault != nil:
		s.fault(id, fault)
		return
	case !batch:
		s.message(ctx, ms[0], s.out, len(line), func() {})
		return
	case !batches(s.room.version()):
		s.fault(nil, invalid("batches are not part of version %s", s.room.version()))
		return
	}
	b := &batchAnswers{out: s.out}
	for _, m := range ms {
		if m.isRequest() {
			b.waiting++
		}
	}
	for _, m := range ms {
		s.message(ctx, m, b, len(line)/len(ms), b.done)
	}
}

// message handles one message. done is called when a request has been.
func (s *stdio) message(ctx context.Context, m message, to stream, size int, done func()) {
	if !m.isRequest() || m.method == methodInitialize {
		s.handle(ctx, m, to)
		if m.isRequest() {
			done()
		}
		return
	}
	if !s.enter(size) {
		_ = to.send(message{id: m.id, fault: &Fault{Code: codeInternal, Message: "too many requests at once"}})
		done()
		return
	}
	s.crew.do(func() {
		defer s.leave(size)
		defer done()
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
			s.handle(ctx, m, to)
		case <-ctx.Done():
			_ = to.send(message{id: m.id, fault: &Fault{Code: codeInternal, Message: "stopped before it began"}}) // the writer remembers
		}
	})
}

// handle is the room's, with a fault for a request in which it panicked.
func (s *stdio) handle(ctx context.Context, m message, to stream) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if s.log != nil {
			s.log.LogAttrs(ctx, slog.LevelError, "a handler panicked",
				slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
		}
		if m.isRequest() {
			_ = to.send(message{id: m.id, fault: &Fault{Code: codeInternal, Message: "internal error"}})
		}
	}()
	s.room.handle(ctx, m, to)
}

func (s *stdio) enter(size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.many >= stdioMost || s.many > 0 && s.bytes+size > stdioBytes {
		return false
	}
	s.many++
	s.bytes += size
	return true
}

func (s *stdio) leave(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.many--
	s.bytes -= size
	if s.many == 0 && s.nothing != nil {
		close(s.nothing)
		s.nothing = nil
	}
}

// rest takes no more requests, and waits for those under way: for so long, or until
// stop is closed.
func (s *stdio) rest(long time.Duration, stop <-chan struct{}) {
	s.mu.Lock()
	s.closed = true
	var nothing chan struct{}
	if s.many > 0 {
		nothing = make(chan struct{})
		s.nothing = nothing
	}
	s.mu.Unlock()
	if nothing == nil {
		return
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-nothing:
	case <-timer.C:
	case <-stop:
	}
}

package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

var (
	// errUnsent: the server has surely not seen the request.
	errUnsent = errors.New("the request was not sent")
	// errClosed is why a connection ended that we closed.
	errClosed = errors.New("the connection was closed")
)

// pipeLink is a connection over one stream of lines in each direction.
//
// One goroutine reads, and calls the listeners for notifications itself: so they
// hear them in the order they came, and an answer comes after all that was said
// before it. A listener must not wait for this connection. One goroutine writes:
// a server that does not read holds up nobody who has a context.
type pipeLink struct {
	hears listener
	log   *slog.Logger
	shut  func()                 // makes reading and writing end
	cause func(read error) error // why reading ended; may be nil
	clean func(string) string    // takes what is secret out of a text; may be nil
	how   string                 // its process is isolated; "": it has none

	met atomic.Pointer[acquaintance] // nil until the handshake is done

	out    chan *outgoing
	life   context.Context //nolint:containedctx // ends with the connection; requests of the server live in it
	finish context.CancelCauseFunc
	done   sync.WaitGroup // reader, writer, requests of the server
	faults faults

	last atomic.Int64 // the id that was given last

	mu      sync.Mutex
	waiting map[int64]*pending                 // our requests, by id
	asked   map[string]context.CancelCauseFunc // its requests, by id
}

var _ link = (*pipeLink)(nil)

// acquaintance is what a handshake left: what the server was told, and said.
type acquaintance struct {
	said *greeting
	in   introduction
}

// pending is one of our requests.
type pending struct {
	answer chan answer // has room for one
	hears  *listener   // nil: the link's
	method string
	token  json.RawMessage // the caller's progress token; nil: none
}

type answer struct {
	result json.RawMessage
	err    error
}

// newPipeLink begins to read r and to write w. shut makes both end, and returns
// when what is behind them is gone.
func newPipeLink(ctx context.Context, r io.Reader, w io.Writer, hears listener, log *slog.Logger, shut func()) *pipeLink {
	l := makePipeLink(ctx, hears, log, shut)
	l.run(r, w) //nolint:contextcheck // it lives until it is closed
	return l
}

// makePipeLink makes one that does not run yet.
func makePipeLink(ctx context.Context, hears listener, log *slog.Logger, shut func()) *pipeLink {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l := &pipeLink{
		hears: hears, log: log, shut: shut,
		out:     make(chan *outgoing, maxQueued),
		waiting: make(map[int64]*pending),
		asked:   make(map[string]context.CancelCauseFunc),
	}
	l.faults.told = hears.faulty
	l.life, l.finish = context.WithCancelCause(context.WithoutCancel(ctx))
	return l
}

func (l *pipeLink) run(r io.Reader, w io.Writer) {
	l.done.Go(func() {
		defer survive(l.log, l.finish)
		l.read(r)
	})
	l.done.Go(func() {
		defer survive(l.log, l.finish)
		l.write(w)
	})
}

// greeted ends the handshake.
func (l *pipeLink) greeted(said *greeting, in introduction) { l.met.Store(&acquaintance{said, in}) }

func (l *pipeLink) greeting() *greeting {
	if met := l.met.Load(); met != nil {
		return met.said
	}
	return nil
}

func (l *pipeLink) ended() <-chan struct{} { return l.life.Done() }
func (l *pipeLink) why() error             { return context.Cause(l.life) }

func (l *pipeLink) close() {
	l.finish(errClosed)
	if l.shut != nil {
		l.shut()
	}
	l.done.Wait()
}

// do is described at link.
func (l *pipeLink) do(ctx context.Context, method string, params json.RawMessage, hears *listener) (json.RawMessage, error) {
	if met := l.met.Load(); met != nil && met.said.era == newEra {
		params = withIntroduction(params, met.said.version, met.in)
	}
	id := l.last.Add(1)
	wire := strconv.AppendInt(nil, id, 10)
	params, token := ownProgress(params, wire)
	p := &pending{answer: make(chan answer, 1), hears: hears, token: token, method: method}
	l.expect(id, p)
	defer l.forget(id)
	o := newOutgoing(message{id: wire, method: method, params: params})
	if err := l.put(ctx, o); err != nil {
		return nil, err
	}
	return l.await(ctx, p, o, method, wire)
}

// await waits for the answer to a request that was queued.
func (l *pipeLink) await(ctx context.Context, p *pending, o *outgoing, method string, id json.RawMessage) (json.RawMessage, error) {
	select {
	case a := <-p.answer:
		return a.result, a.err
	case <-ctx.Done():
		if o.withdraw() {
			return nil, unsent(context.Cause(ctx))
		}
		l.cancelled(method, id, context.Cause(ctx))
		return nil, context.Cause(ctx)
	case <-l.life.Done():
	}
	select { // it may have been the last that the server said
	case a := <-p.answer:
		return a.result, a.err
	default:
	}
	if o.withdraw() {
		return nil, unsent(l.why())
	}
	return nil, l.why()
}

func (l *pipeLink) expect(id int64, p *pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[id] = p
}

func (l *pipeLink) forget(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, id)
}

// cancelled tells the server that nobody waits for a request any more. It may be
// left out where the server does not read: it would not read this either.
func (l *pipeLink) cancelled(method string, id json.RawMessage, why error) {
	if method == methodInitialize {
		return // which must not be cancelled
	}
	params := setMembers(nil, pair{"requestId", id}, pair{"reason", quote(reasonOf(why))})
	l.offer(newOutgoing(message{method: notificationCancelled, params: params}))
}

// reasonOf is what a server is told: not the text of our own error.
func reasonOf(why error) string {
	if errors.Is(why, context.DeadlineExceeded) {
		return "it took too long"
	}
	return "it is no longer wanted"
}

func (l *pipeLink) notify(ctx context.Context, method string, params json.RawMessage) error {
	return l.put(ctx, newOutgoing(message{method: method, params: params}))
}

// read takes what the server says until that ends.
func (l *pipeLink) read(r io.Reader) {
	in := newLines(r, l.hears.bound())
	in.skip, in.early = maxSkipped, func(long *longMessage) { l.tooLong(long, false) }
	for {
		line, err := in.next()
		long, skipped := errors.AsType[*longMessage](err)
		switch {
		case skipped && !long.endless:
			l.tooLong(long, true)
		case err != nil:
			if l.cause != nil && l.life.Err() == nil && !skipped {
				err = l.cause(err)
			} else if errors.Is(err, io.EOF) {
				err = errors.New("the server closed the connection")
			}
			if skipped {
				err = errors.New("the server writes a message without an end: " + err.Error()) // no errLong: it answers nobody
			}
			if l.finish(err); skipped {
				l.endServer(r)
			}
			return
		default:
			l.line(line)
		}
		if l.faults.tooMany() {
			l.finish(errors.New("the server wrote too much that is no message: " + l.faults.String()))
		}
		if l.life.Err() != nil {
			l.endServer(r)
			return
		}
	}
}

// endServer ends what is behind a connection that has ended for what came over it:
// who has it may not look for a long time, and the server writes on meanwhile.
func (l *pipeLink) endServer(r io.Reader) {
	if l.shut != nil && !errors.Is(l.why(), errClosed) {
		l.done.Go(l.shut)
	}
	_, _ = io.Copy(io.Discard, r) // one that cannot write does not end by itself
}

// tooLong tells who waits for a message that it is too long, as soon as it can be
// told who does. whole: it was read to its end.
func (l *pipeLink) tooLong(long *longMessage, whole bool) {
	id, maybe := long.answers()
	p := l.waitingFor(id)
	if id == nil && maybe && whole {
		p = l.sole()
	}
	switch {
	case p != nil:
		p.reply(answer{err: long})
	case whole && !l.was(id):
		l.faults.add(long.Error())
	}
}

// sole is the one request that an answer is waited for; nil: there are more, or
// none.
func (l *pipeLink) sole() (one *pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.waiting {
		if p.method == methodListen {
			continue // it is not answered until it ends
		}
		if one != nil {
			return nil
		}
		one = p
	}
	return one
}

func (l *pipeLink) line(line []byte) {
	if !utf8.Valid(line) { // who waits for an answer is to have it
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	if !isBatch(line) {
		l.take(line)
		return
	}
	batch, err := splitServerBatch(line)
	if err != nil {
		l.garbage(line, err)
		return
	}
	for _, one := range batch {
		l.take(one)
	}
}

func (l *pipeLink) take(line []byte) {
	before := l.faults.count.Load()
	defer func() {
		if l.faults.count.Load() == before {
			l.faults.valid()
		}
	}()
	m, err := parseMessage(line)
	switch {
	case err != nil:
		if p := l.waitingFor(m.id); p != nil {
			p.reply(answer{err: errors.New("the server's answer is faulty: " + err.Error())})
		}
		l.garbage(line, err)
	case m.isAnswer():
		l.answered(m)
	case m.isRequest():
		l.requested(m)
	default:
		l.notified(m)
	}
}

func (l *pipeLink) garbage(line []byte, err error) {
	if !l.faults.add("not a message: " + err.Error()) {
		return
	}
	text := string(line[:min(len(line), 4<<10)])
	if l.clean != nil {
		text = l.clean(text) // before it is cut: half a secret is not known
	}
	l.log.LogAttrs(l.life, slog.LevelWarn, "an MCP server wrote what is no message",
		slog.String("line", short(text)), slog.String("why", err.Error()))
}

// waitingFor is the request with an id; nil: none.
func (l *pipeLink) waitingFor(id json.RawMessage) *pending {
	n, err := strconv.ParseInt(string(bytes.Trim(id, `"`)), 10, 64)
	if err != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting[n]
}

func (l *pipeLink) answered(m message) {
	p := l.waitingFor(m.id)
	switch {
	case p == nil:
		if !l.was(m.id) {
			l.faults.add("an answer to nothing that was asked: id " + short(string(m.id)))
		}
	case m.fault != nil:
		p.reply(answer{err: m.fault})
	default:
		p.reply(answer{result: m.result})
	}
}

// was reports whether we gave the id once: who asked may have gone.
func (l *pipeLink) was(id json.RawMessage) bool {
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n > 0 && n <= l.last.Load()
}

// reply gives the answer to who waits. A second one is dropped.
func (p *pending) reply(a answer) {
	select {
	case p.answer <- a:
	default:
	}
}

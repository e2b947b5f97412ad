package ferrule

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// Bounds of what a call says while it runs: of what is kept of it as its result,
// and of what waits for an observer that is slow.
const (
	maxStreamed  = 8 << 20  // bytes
	maxQueued    = 1024     // events
	maxQueuedOut = 8 << 20  // bytes of output
	maxJoined    = 32 << 10 // bytes of text in one event, of several writes
	blockSize    = 64       // bytes that a block counts for beyond its content
)

// outflow is what a call says while it runs: to the observer at once, and kept
// for a tool that returns nothing. The tool never waits for the observer. Once a
// call has one, its end goes the same way, so that it comes last.
type outflow struct {
	mu   sync.Mutex
	cond sync.Cond

	text   strings.Builder // streamed since the last block
	blocks []tool.Content
	size   int // bytes of both
	left   int // bytes beyond what is kept

	queue      []audit.Event // for the observer
	queued     int           // bytes of output in it
	missed     int           // bytes of output that nobody has been told of yet
	scrubbed   []string      // secrets that were taken out
	delivering bool
}

// halves are the beginnings of characters at the end of what a function wrote to
// stdout and stderr; guarded by the mutex of the outflow.
type halves [2]string

// flow is the outflow of a call; nil: it has said nothing, unless it is made.
func (c *call) flow(made bool) *outflow {
	if o := c.out.Load(); o != nil || !made {
		return o
	}
	o := new(outflow)
	o.cond.L = &o.mu
	if c.out.CompareAndSwap(nil, o) {
		return o
	}
	return c.out.Load()
}

// send passes on what a function of the call says.
func (c *call) send(l *lease, u tool.Update) {
	l.touched.Store(true)
	if l.returned.Load() || c.lost.Load() {
		return
	}
	o := c.flow(true)
	o.mu.Lock()
	defer o.mu.Unlock()
	if l.returned.Load() || c.lost.Load() { // meanwhile
		return
	}
	if u.Stream != "" && !u.Progress && u.Content == nil {
		if u.Text = l.halves.join(u.Stream, c.sieve(o, l, u.Stream, u.Text)); u.Text == "" {
			return
		}
	} else {
		c.scrubUpdate(o, &u)
	}
	c.pass(o, l, u)
}

// pass keeps an update and queues it. The mutex of the outflow is held.
func (c *call) pass(o *outflow, l *lease, u tool.Update) {
	if l.runs {
		o.keep(u)
	}
	if !c.turn.observed() {
		return
	}
	if u = c.recordableUpdate(u); u.Content != nil {
		u.Content = copyBlock(u.Content) // who looks cannot change what is kept
	}
	u.Text = valid(u.Text)
	o.enqueue(c.eventOf(l.req, audit.Event{Kind: audit.Updated, Update: &u}))
	c.turn.deliver(o)
}

func copyBlock(b *tool.Content) *tool.Content {
	c := *b
	c.JSON, c.Data = slices.Clone(b.JSON), slices.Clone(b.Data)
	return &c
}

// streamIndex and streamName number the two streams.
func streamIndex(name string) int {
	if name == "stderr" {
		return 1
	}
	return 0
}

func streamName(i int) string { return [...]string{"stdout", "stderr"}[i] }

// join puts the first half of a character, from the last write, before a text,
// and keeps that at its end.
func (h *halves) join(stream, text string) string {
	half := &h[streamIndex(stream)]
	text = *half + text
	n := whole(text)
	*half = strings.Clone(text[n:])
	return text[:n]
}

// keep remembers what was said, as the result of a tool that returns nothing.
func (o *outflow) keep(u tool.Update) {
	n := outputSize(&u)
	switch {
	case u.Progress:
	case o.size+n > maxStreamed && u.Content == nil && o.left == 0:
		fits := whole(u.Text[:maxStreamed-o.size])
		o.text.WriteString(u.Text[:fits])
		o.size += fits
		o.left = n - fits
	case o.size+n > maxStreamed || o.left > 0:
		o.left += n
	case u.Content == nil:
		o.text.WriteString(u.Text)
		o.size += n
	default:
		o.close()
		o.blocks = append(o.blocks, *copyBlock(u.Content)) // the tool may use its bytes again
		o.size += n
	}
}

// close makes a block of the text so far.
func (o *outflow) close() {
	if o.text.Len() > 0 {
		o.blocks = append(o.blocks, tool.Text(o.text.String()))
		o.text = strings.Builder{}
	}
}

// streamed is what the tool has streamed, as content. What it began to write of a
// character is replaced.
func (c *call) streamed(l *lease) []tool.Content {
	o := c.flow(false)
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	c.passSieved(o, l)
	for i, half := range l.halves {
		if half != "" {
			l.halves[i] = ""
			c.pass(o, l, tool.Update{Stream: streamName(i), Text: valid(half)})
		}
	}
	o.close()
	if o.left > 0 {
		return append(slices.Clip(o.blocks), tool.Text(fmt.Sprintf("[%d more bytes were streamed and are not kept]", o.left)))
	}
	return slices.Clip(o.blocks)
}

// forget drops what was kept: the tool runs, perhaps anew.
func (o *outflow) forget() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.blocks, o.size, o.left = nil, 0, 0
	o.text = strings.Builder{}
}

func outputSize(u *tool.Update) int {
	switch b := u.Content; {
	case u.Progress:
		return 0
	case b != nil:
		return blockSize + len(b.Text) + len(b.JSON) + len(b.Data) + len(b.URI) + len(b.Name) + len(b.MediaType)
	}
	return len(u.Text)
}

// enqueue puts an update behind those that wait; text joins what was written
// just before. Where there are too many the oldest progress goes, else the oldest
// output, and the next one says how much went.
func (o *outflow) enqueue(e audit.Event) {
	n := outputSize(e.Update)
	if o.join(e.Update) {
		o.queued += n
		return
	}
	for len(o.queue) >= maxQueued {
		i := slices.IndexFunc(o.queue, func(e audit.Event) bool { return e.Update != nil && e.Update.Progress })
		o.drop(max(i, 0))
	}
	for o.queued > 0 && o.queued+n > maxQueuedOut {
		o.drop(slices.IndexFunc(o.queue, func(e audit.Event) bool { return e.Update != nil && !e.Update.Progress }))
	}
	o.queue = append(o.queue, e)
	o.queued += n
}

// join puts text behind the last of the queue, if that is text of the same
// stream.
func (o *outflow) join(u *tool.Update) bool {
	if len(o.queue) == 0 || u.Progress || u.Content != nil {
		return false
	}
	last := o.queue[len(o.queue)-1].Update
	if last == nil || last.Progress || last.Content != nil || last.Stream != u.Stream || len(last.Text)+len(u.Text) > maxJoined {
		return false
	}
	last.Text += u.Text
	return true
}

// drop takes an update out of the queue.
func (o *outflow) drop(i int) {
	n := outputSize(o.queue[i].Update)
	o.queued -= n
	o.missed += n
	o.queue = slices.Delete(o.queue, i, i+1)
}

// dequeue is the event that is next; ok is false when there is none.
func (o *outflow) dequeue() (e audit.Event, ok bool) {
	if len(o.queue) == 0 {
		return e, false
	}
	e = o.queue[0]
	o.queue = o.queue[1:]
	if u := e.Update; u != nil && !u.Progress {
		o.queued -= outputSize(u)
		u.Missed, o.missed = o.missed, 0
	}
	return e, true
}

// deliver has the observer told of all that waits. The mutex of the outflow is
// held.
func (t *Turn) deliver(o *outflow) {
	if !o.delivering {
		o.delivering = true
		go t.tellAll(o)
	}
}

func (t *Turn) tellAll(o *outflow) {
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.delivering = false
		o.cond.Broadcast()
		if len(o.queue) > 0 { // the observer has ended this goroutine
			t.deliver(o)
		}
	}()
	for {
		o.mu.Lock()
		e, ok := o.dequeue()
		o.mu.Unlock()
		if !ok {
			return
		}
		e.Time = time.Now()
		t.tell(&e)
	}
}

// putEnd puts a call's result on the record. It reports whether it stays there already;
// the event is for who looks on, nil where nobody does.
func (c *call) putEnd(res tool.Result) (end *audit.Event, stays bool) {
	t := c.turn
	if !t.noted() || t.imagined {
		return nil, true
	}
	e := c.eventOf(c.req, c.resultEvent(audit.Ended, res))
	if t.set.redacts {
		t.redactEvent(&e)
	}
	t.set.scrubEvent(&e)
	if stays = t.set.put(&e); !t.observed() && c.traced == nil {
		return nil, stays
	}
	return &e, stays
}

// tellEnd tells the observer of a call's result, behind all that the call has said.
func (c *call) tellEnd(end *audit.Event) {
	if end == nil {
		return
	}
	c.tellTrace(end)
	t, o := c.turn, c.flow(false)
	switch {
	case !t.observed():
	case o == nil:
		t.tell(end)
	default:
		o.mu.Lock()
		defer o.mu.Unlock()
		o.queue = append(o.queue, *end)
		t.deliver(o)
	}
}

// drain waits until the observer has been told of everything that calls have
// said: a second at most, and not longer than the host wants. It may be the
// observer itself that waits.
func (t *Turn) drain(calls []*call) {
	waits := func(c *call) bool { return c.flow(false) != nil }
	if !t.observed() || !slices.ContainsFunc(calls, waits) {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, grace)
	defer cancel()
	for _, c := range calls {
		if o := c.flow(false); o != nil {
			o.drained(ctx)
		}
	}
}

// drained waits until nothing is left to deliver, or ctx has ended.
func (o *outflow) drained(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.cond.Broadcast()
	})
	defer stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.delivering && ctx.Err() == nil {
		o.cond.Wait()
	}
}

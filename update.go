package ferrule

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// Bounds of what a call says while it runs: of what is kept of it as its result,
// and of what waits for an observer that is slow.
const (
	maxStreamed  = 8 << 20 // bytes
	maxQueued    = 256     // updates
	maxQueuedOut = 1 << 20 // bytes of output
)

// outflow is what a call says while it runs: to the observer at once, and kept
// for a tool that returns nothing. The tool never waits for the observer.
type outflow struct {
	mu   sync.Mutex
	cond sync.Cond

	halves [2]string       // of characters at the end of stdout and stderr
	text   strings.Builder // streamed since the last block
	blocks []tool.Content
	size   int // bytes of both
	left   int // bytes beyond what is kept

	queue      []tool.Update // for the observer
	queued     int           // bytes of output in it
	missed     int           // bytes of output that nobody has been told of yet
	delivering bool
}

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
	if u.Stream != "" && !u.Progress && u.Content == nil {
		if u.Text = o.join(u.Stream, u.Text); u.Text == "" {
			return
		}
	}
	if l.runs {
		o.keep(u)
	}
	if c.turn.set.observe != nil {
		o.enqueue(c.recordableUpdate(u))
		if !o.delivering {
			o.delivering = true
			go c.deliver(o)
		}
	}
}

// join puts the first half of a character, from the last write, before a text,
// and keeps that at its end.
func (o *outflow) join(stream, text string) string {
	half := &o.halves[0]
	if stream == "stderr" {
		half = &o.halves[1]
	}
	text = *half + text
	n := whole(text)
	*half = strings.Clone(text[n:])
	return text[:n]
}

// keep remembers what was said, as the result of a tool that returns nothing.
func (o *outflow) keep(u tool.Update) {
	n := outputSize(u)
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
		o.blocks = append(o.blocks, *u.Content)
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

// streamed is what the tool has streamed, as content.
func (o *outflow) streamed() []tool.Content {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, half := range o.halves {
		if half != "" {
			o.keep(tool.Update{Text: half})
			o.halves[i] = ""
		}
	}
	o.close()
	if o.left > 0 {
		return append(slices.Clip(o.blocks), tool.Text(fmt.Sprintf("[%d more bytes were streamed and are not kept]", o.left)))
	}
	return slices.Clip(o.blocks)
}

// forget drops what was kept: the tool runs anew.
func (o *outflow) forget() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.halves, o.blocks, o.size, o.left = [2]string{}, nil, 0, 0
	o.text = strings.Builder{}
}

func outputSize(u tool.Update) int {
	switch {
	case u.Progress:
		return 0
	case u.Content != nil:
		return len(u.Content.Text) + len(u.Content.JSON) + len(u.Content.Data)
	}
	return len(u.Text)
}

// enqueue puts an update behind those that wait. Where there are too many the
// oldest progress goes, else the oldest output, and the next one says how much
// went.
func (o *outflow) enqueue(u tool.Update) {
	n := outputSize(u)
	for len(o.queue) > 0 && (len(o.queue) >= maxQueued || n > 0 && o.queued+n > maxQueuedOut) {
		i := 0
		for i < len(o.queue) && (!o.queue[i].Progress || len(o.queue) < maxQueued) {
			i++
		}
		if i == len(o.queue) {
			for i = 0; o.queue[i].Progress; i++ {
				continue
			}
			went := outputSize(o.queue[i])
			o.queued -= went
			o.missed += went + o.queue[i].Missed
		}
		o.queue = append(o.queue[:i], o.queue[i+1:]...)
	}
	o.queue = append(o.queue, u)
	o.queued += n
}

// dequeue is the update that is next; ok is false when there is none.
func (o *outflow) dequeue() (u tool.Update, ok bool) {
	if len(o.queue) == 0 {
		return u, false
	}
	u = o.queue[0]
	o.queue = o.queue[1:]
	o.queued -= outputSize(u)
	if !u.Progress {
		u.Missed, o.missed = u.Missed+o.missed, 0
	}
	return u, true
}

// deliver tells the observer all that waits.
func (c *call) deliver(o *outflow) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		u, ok := o.dequeue()
		if !ok {
			break
		}
		o.mu.Unlock()
		c.emit(audit.Event{Kind: audit.Updated, Update: &u})
		o.mu.Lock()
	}
	o.delivering = false
	o.cond.Broadcast()
}

// flush waits until the observer has been told of everything: an end comes
// last.
func (c *call) flush() {
	o := c.flow(false)
	if o == nil || c.turn.set.observe == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.delivering {
		o.cond.Wait()
	}
}

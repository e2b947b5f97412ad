package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
)

// feed tells open pages that something happened, and holds what running calls of this
// process say, which is not on the record.
type feed struct {
	mu      sync.Mutex
	more    chan struct{} // closed when something happened; nil: nobody listens
	closed  bool
	running map[string]*Live
	results results
	said    int // how often they have spoken, and tools have come or gone
}

// Live is what a call of this process has said so far.
type Live struct {
	Current float64 `json:"current,omitempty"`
	Total   float64 `json:"total,omitempty"` // 0: not known
	Message string  `json:"message,omitempty"`
	Output  string  `json:"output,omitempty"` // the end of it
}

// maxOutput is how much of a running call's output is held.
const maxOutput = 8 << 10

// Observe is told what happens in this process: it is for Runtime.Observe.
func (c *Console) Observe(e audit.Event) {
	id, w := e.Call(), ""
	if e.Kind == audit.Updated {
		w = c.withheld(e.Name).results
	}
	f := &c.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e.Kind { //nolint:exhaustive // the record has the others
	case audit.Started:
		if f.running == nil {
			f.running = make(map[string]*Live)
		}
		f.running[id] = new(Live)
	case audit.Ended:
		delete(f.running, id)
		f.results.keep(id, e.Result)
	case audit.Registered, audit.Removed: // which are not on every record
		f.said++
	case audit.Updated:
		if live := f.running[id]; live != nil && e.Update != nil {
			f.said++
			message, text := e.Update.Message, e.Update.Text
			if w != "" && message != "" {
				message = w
			}
			if w != "" && text != "" {
				text = ""
				if live.Output == "" {
					text = w
				}
			}
			live.take(e.Update.Progress, e.Update.Current, e.Update.Total, message, text)
		}
	}
	f.wake()
}

func (l *Live) take(progress bool, current, total float64, message, text string) {
	if progress {
		l.Current, l.Total, l.Message = current, total, message
	}
	l.Output += text
	if over := len(l.Output) - maxOutput; over > 0 {
		for over < len(l.Output) && !utf8.RuneStart(l.Output[over]) {
			over++
		}
		l.Output = l.Output[over:]
	}
}

// wake tells who listens. The mutex is held.
func (f *feed) wake() {
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}

// next is closed when something happens from now on; nil: it is over.
func (f *feed) next() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	if f.more == nil {
		f.more = make(chan struct{})
	}
	return f.more
}

// live is what runs in this process.
func (f *feed) live() map[string]Live {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make(map[string]Live, len(f.running))
	for id, l := range f.running {
		all[id] = *l
	}
	return all
}

// Changed says that something is new that is neither on the record nor a question, such
// as how a server stands.
func (c *Console) Changed() {
	c.feed.mu.Lock()
	defer c.feed.mu.Unlock()
	c.feed.said++
	c.feed.wake()
}

// Close ends what listens, so that a server can shut down.
func (c *Console) Close() {
	c.feed.mu.Lock()
	defer c.feed.mu.Unlock()
	c.feed.closed = true
	c.feed.wake()
}

// How often open pages are told, how often the record is looked at for what other
// processes did, and how often a quiet stream shows that it is there.
const (
	tellPause = 40 * time.Millisecond
	lookPause = 250 * time.Millisecond
	beatPause = 15 * time.Second
)

func (c *Console) feedRoutes(m *http.ServeMux) {
	c.book.add(operation{method: http.MethodGet, path: "/api/events", kind: "text/event-stream"})
	m.HandleFunc("GET /api/events", c.events)
}

// events is a stream that says when there is something new. What it is, the page asks
// for: so nothing is lost where a page was away.
func (c *Console) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	out := http.NewResponseController(w)
	ctx := r.Context()
	var told state
	quiet := time.NewTicker(lookPause)
	defer quiet.Stop()
	beat := time.Now()
	for first := true; ; first = false {
		next := c.feed.next()
		if next == nil {
			return
		}
		now := c.state(ctx)
		var err error
		switch {
		case first || now != told:
			told, beat = now, time.Now()
			text, _ := json.Marshal(now) // numbers: it cannot fail
			_, err = fmt.Fprintf(w, "event: changed\nretry: 500\ndata: %s\n\n", text)
		case time.Since(beat) > beatPause:
			beat = time.Now()
			_, err = fmt.Fprint(w, ": here\n\n")
		}
		if err != nil || out.Flush() != nil {
			return
		}
		if !pause(ctx, tellPause) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-next:
		case <-quiet.C:
		}
	}
}

// pause waits, and reports whether there is somebody to go on for.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// state is what tells one moment from another.
type state struct {
	Place   int64  `json:"place"`            // of the newest line on the record
	Pending int    `json:"pending"`          // questions
	Newest  string `json:"newest,omitempty"` // of them, by its id
	Said    int    `json:"said"`             // how often running calls have spoken, and tools have come or gone
}

func (c *Console) state(ctx context.Context) (s state) {
	var list []policy.Question
	if c.Last != nil {
		s.Place, _ = c.Last(ctx) // the page that is asked for says what is wrong
	}
	if c.Pending != nil {
		list, _ = c.Pending(ctx) // a stream looks again and again
	}
	if s.Pending = len(list); s.Pending > 0 {
		s.Newest = list[s.Pending-1].ID
	}
	c.feed.mu.Lock()
	defer c.feed.mu.Unlock()
	s.Said = c.feed.said
	return s
}

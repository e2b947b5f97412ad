package mcptool

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

const (
	// progressEvery is how often a client is told how far a call is, at most.
	progressEvery = 100 * time.Millisecond
	// approvalEvery is how often a client hears that a person is waited for: most
	// give up a request that says nothing for a minute.
	approvalEvery = 15 * time.Second
	approvalText  = "waiting for approval: ferrule approvals"
	maxSaid       = 1 << 10 // bytes of output in one message
)

// watcher tells the client how a call goes, where it wants to know.
type watcher struct {
	d *dialogue

	mu     sync.Mutex
	sent   time.Time
	last   float64
	real   bool            // the tool counts itself
	said   strings.Builder // output that was not sent yet
	asking *time.Timer
	waits  int    // questions without an answer
	asked  string // the last question, by its id
	turn   int    // that it was put in
	ended  bool
}

func (d *dialogue) watch() *watcher { return &watcher{d: d} }

// wanted says whether the client wants progress of the call, which each of its
// requests says anew.
func (w *watcher) wanted() bool {
	l := w.d.current()
	return l != nil && l.token != nil
}

// observe hears what happens in the turn.
func (w *watcher) observe(e audit.Event) {
	switch e.Kind {
	case audit.Cut:
		if _, handle, ok := strings.Cut(e.Text, "kept as "); ok {
			w.d.mu.Lock()
			w.d.kept = strings.TrimSpace(handle)
			w.d.mu.Unlock()
		}
	case audit.Asked:
		w.put(&e)
		w.wait(1)
	case audit.Answered:
		w.wait(-1)
	case audit.Updated:
		if e.Update != nil && e.Request != nil && w.d.client.gate.server(e.Request.Source.Name) == nil {
			w.update(e.Update) // a server tells its progress itself
		}
	default:
	}
}

// put remembers a question.
func (w *watcher) put(e *audit.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked = e.Question; e.Request != nil {
		w.turn = e.Request.Turn
	}
}

// wait counts questions, and tells the client while there are some.
func (w *watcher) wait(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits += n
	w.d.person(w.waits > 0)
	if w.ended {
		return
	}
	switch {
	case w.waits > 0 && w.asking == nil:
		w.asking = time.AfterFunc(0, w.remind)
	case w.waits <= 0 && w.asking != nil:
		w.asking.Stop()
		w.asking = nil
	}
}

// remind says that a person is waited for, and will again. A call that its client
// has left is stopped: who made it has made it again, or wants it no more.
func (w *watcher) remind() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || w.asking == nil {
		return
	}
	if l := w.d.current(); l != nil && isClosed(unread(l.to)) {
		w.d.cancel(errHungUp)
		return
	}
	const step = 1e-6 // so little that what the tool counts later is more
	w.send(w.last+step, 0, approvalText)
	w.asking.Reset(approvalEvery)
}

// update tells of progress or output.
func (w *watcher) update(u *tool.Update) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || !w.wanted() {
		return
	}
	switch {
	case u.Progress:
		w.real = true
		if u.Current > w.last && (w.due() || u.Current == u.Total) {
			w.send(u.Current, u.Total, u.Message)
		}
	case u.Text != "" && !w.real:
		w.said.WriteString(u.Text)
		if w.due() {
			w.flush()
		}
	}
}

func (w *watcher) due() bool { return time.Since(w.sent) >= progressEvery }

// flush sends the output that waits: the end of it, where it is much.
func (w *watcher) flush() {
	if w.said.Len() == 0 {
		return
	}
	text := w.said.String()
	if len(text) > maxSaid {
		text = "…" + strings.ToValidUTF8(text[len(text)-maxSaid:], "")
	}
	w.said.Reset()
	w.send(w.last+1, 0, text)
}

// send tells the client. The mutex is held.
func (w *watcher) send(current, total float64, message string) {
	w.last, w.sent = current, time.Now()
	params := setMembers(nil, pair{"progressToken", json.RawMessage("0")}, pair{"progress", number(current)})
	if total > 0 {
		params = setMembers(params, pair{"total", number(total)})
	}
	if message != "" {
		params = setMembers(params, pair{"message", quote(message)})
	}
	w.d.notify("notifications/progress", params) // which puts the client's token in
}

func number(f float64) json.RawMessage {
	return strconv.AppendFloat(nil, f, 'f', -1, 64)
}

// end tells what is left: nothing comes after it.
func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.real {
		w.flush()
	}
	w.ended = true
	if w.asking != nil {
		w.asking.Stop()
		w.asking = nil
	}
}

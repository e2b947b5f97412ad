package mcptool

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// track is one stream of events of a session of the old era: that of a POST with
// requests, or the one for what belongs to no request. A client that lost its
// connection comes back to it, so what is sent is kept for a while, and sending
// does not depend on anybody being there.
type track struct {
	s     *session
	id    string
	prime bool // the client knows events that only have an id
	// endless: it is for what belongs to no request.
	endless bool

	mu      sync.Mutex // held while something is written
	waiting int        // answers to come
	done    bool
	out     *sink         // nil: nobody is there
	left    chan struct{} // closed when out is taken away
	more    chan struct{} // of a track without end: there is something to write
	beat    *time.Timer   // of one with an end
	written int           // number of the last event that was written to anybody
	away    time.Time     // since when nobody is there
	late    *time.Timer   // of one with an end: nobody has come back in time
	over    chan struct{} // closed when nobody is expected to come

	there atomic.Bool // somebody is, and something may come

	// Guarded by s.kept.mu. Events are numbered from 1.
	events []keptEvent
	next   int
	closed bool
}

var _ stream = (*track)(nil)

// send keeps a message, and writes it if somebody is there.
func (t *track) send(m message) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done { // not when the session ends: what it stopped is answered
		return errGone
	}
	if m.method == "" && t.waiting > 0 {
		t.waiting--
		t.done = t.waiting == 0
	}
	n, event := t.s.kept.add(t, m)
	if t.out == nil {
		return nil
	}
	if t.endless {
		t.nudge()
		return nil
	}
	if t.write(event) {
		t.written = n
		if t.done {
			t.detach()
		}
	}
	return nil
}

// write writes to who is there, after what a stream begins with.
func (t *track) write(b []byte) bool {
	if !t.out.started && t.prime {
		b = append(appendPrime(make([]byte, 0, len(b)+64), t.eventID(0)), b...)
	}
	if err := t.out.write(b, t.done); err != nil {
		t.detach()
		return false
	}
	return true
}

func (t *track) eventID(n int) string { return t.id + "_" + strconv.Itoa(n) }

// parseEventID is the track and the number that an event's id names.
func parseEventID(id string) (track string, n int, ok bool) {
	track, number, ok := strings.Cut(id, "_")
	if !ok {
		return "", 0, false
	}
	n, err := strconv.Atoi(number)
	return track, n, err == nil && n >= 0
}

// attach has events written to out from now on. left is closed when that ends:
// all was sent, it could not be written, or another connection took over.
func (t *track) attach(out *sink) (left <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.attachLocked(out)
}

func (t *track) attachLocked(out *sink) <-chan struct{} {
	if t.out != nil {
		t.detach()
	}
	if t.late != nil {
		t.late.Stop()
	}
	if isClosed(t.over) && !t.done {
		t.over = make(chan struct{})
	}
	t.out, t.left = out, make(chan struct{})
	t.there.Store(!t.done)
	if t.endless {
		t.more = make(chan struct{}, 1)
	} else {
		t.beat = time.AfterFunc(t.s.d.prime, func() { t.alive(out) })
	}
	return t.left
}

// resume is attach for a client that has seen the events up to number after, and
// is sent those it missed first. ok is false where they are no longer kept.
func (t *track) resume(out *sink, after int) (left <-chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	missed, last, ok := t.s.kept.after(t, after)
	if !ok {
		return nil, false
	}
	left = t.attachLocked(out)
	if len(missed) == 0 {
		missed = [][]byte{[]byte(sign)}
	}
	for i, b := range missed {
		if err := out.write(b, t.done && i == len(missed)-1 && i == 0); err != nil {
			t.detach()
			return left, true
		}
	}
	t.written = max(t.written, last)
	if t.done {
		t.detach()
	}
	return left, true
}

// detach takes away who is there.
func (t *track) detach() {
	if t.beat != nil {
		t.beat.Stop()
		t.beat = nil // it holds who was there, with all that net/http keeps of a request
	}
	close(t.left)
	t.out = nil
	t.there.Store(false)
	t.s.kept.sent(t, math.MaxInt) // who comes again begins after it
	if !t.done && !t.endless {    // the session looks after one without end
		t.away = time.Now()
		t.late = time.AfterFunc(t.s.d.linger, t.expire)
	}
}

// expire gives up who has not come back.
func (t *track) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out == nil && time.Since(t.away) >= t.s.d.linger {
		t.lose()
	}
}

// lose says that nobody is expected any more. The mutex is held.
func (t *track) lose() {
	if !isClosed(t.over) {
		close(t.over)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// lost is closed when the track has ended, or its client has not come back in
// time. One that comes later still finds it.
func (t *track) lost() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

// leave takes out away, if it is still who is there.
func (t *track) leave(out *sink) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out == out {
		t.detach()
	}
}

// finish ends a track whose requests were handled, whether or not all were
// answered: a request that was cancelled is not.
func (t *track) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = true
	if t.out != nil && !t.endless {
		t.write(nil)
	}
	if t.out != nil {
		t.detach()
	}
	if t.late != nil {
		t.late.Stop()
	}
	t.lose()
	t.s.kept.close(t)
}

// attended says whether somebody is there. It does not wait for what is being
// written.
func (t *track) attended() bool { return t.there.Load() }

// alive shows that the connection lives: first by the id of the stream.
func (t *track) alive(out *sink) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out != out {
		return
	}
	b := []byte(sign)
	if !out.started && t.prime {
		b = nil // write adds it
	}
	if t.write(b) {
		t.beat.Reset(t.s.d.beat)
	}
}

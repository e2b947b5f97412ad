package mcptool

import (
	"slices"
	"sync"
)

// keptEvent is an event as it was written, with its size for the bounds.
type keptEvent struct {
	n int
	b []byte
	// loose: it is longer than all that is kept, and only there until the client
	// that listens was sent it.
	loose bool
}

func (e *keptEvent) cost() int64 { return int64(len(e.b) + overhead) }

// overhead is what an event takes beside its bytes.
const overhead = 256

// maxFinished is how many finished tracks of a session are kept. A client comes back
// for an answer that it lost soon, if it does; a session of many calls would keep
// them all until it ends.
const maxFinished = 32

// kept are the events of a session that can be sent again, over all its tracks.
// The oldest go first when they take too much together.
type kept struct {
	d *door

	mu     sync.Mutex
	tracks map[string]*track
	order  []*track // whose event is next to go, oldest first
	over   []*track // that are finished, oldest first; of some the events have gone
	size   int64
	loose  int64 // of events that are loose
	ended  bool
}

// open makes a track known.
func (k *kept) open(t *track) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t.next = 1
	if !k.ended {
		k.tracks[t.id] = t
	}
}

// close says that nothing more comes on a track. It is known while it has events.
func (k *kept) close(t *track) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t.closed = true
	if len(t.events) == 0 {
		delete(k.tracks, t.id)
		return
	}
	if k.over = append(k.over, t); len(k.over) > maxFinished {
		k.drop(k.over[0])
		k.over[0] = nil
		k.over = k.over[1:]
	}
}

// drop forgets all events of a finished track.
func (k *kept) drop(t *track) {
	for _, e := range t.events {
		k.d.kept.Add(-e.cost())
		if e.loose {
			k.loose -= e.cost()
		} else {
			k.size -= e.cost()
		}
	}
	t.events = nil
	k.order = slices.DeleteFunc(k.order, func(o *track) bool { return o == t })
	delete(k.tracks, t.id)
}

// reopen says that more comes on a track that was closed.
func (k *kept) reopen(t *track) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t.closed = false
	if !k.ended {
		k.tracks[t.id] = t
	}
}

// track is the track of an id; nil: there is none.
func (k *kept) track(id string) *track {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tracks[id]
}

// add numbers a message and keeps it as an event. One that is too long to be kept
// is there for who listens now.
func (k *kept) add(t *track, m message) (n int, event []byte) {
	k.mu.Lock()
	n = t.next
	k.mu.Unlock()
	// t.mu is held: nobody else adds to this track meanwhile.
	event = appendEvent(nil, t.eventID(n), m)
	k.mu.Lock()
	defer k.mu.Unlock()
	t.next++ // not before the event is there for who looks
	if k.ended {
		return n, event
	}
	e := keptEvent{n: n, b: event}
	cost := e.cost()
	if cost > k.d.bounds.kept {
		if e.loose = t.endless && t.out != nil && k.loose == 0 && k.d.kept.Load() < k.d.keptAll; e.loose {
			t.events = append(t.events, e)
			k.loose = cost
			k.d.kept.Add(cost)
		}
		return n, event
	}
	t.events = append(t.events, e)
	k.order = append(k.order, t)
	k.size += cost
	k.d.kept.Add(cost)
	for len(k.order) > 0 && (k.size > k.d.bounds.kept || k.d.kept.Load() > k.d.keptAll) {
		k.dropOldest()
	}
	return n, event
}

func (k *kept) dropOldest() {
	t := k.order[0]
	k.order[0] = nil
	k.order = k.order[1:]
	k.release(t, t.events[0].n)
	cost := t.events[0].cost()
	t.events[0].b = nil
	t.events = t.events[1:]
	k.size -= cost
	k.d.kept.Add(-cost)
	if t.closed && len(t.events) == 0 {
		delete(k.tracks, t.id)
	}
}

// after are the events of a track that follow number n. ok is false where one of
// them has gone, or n was never sent.
func (k *kept) after(t *track, n int) (events [][]byte, last int, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	last = t.next - 1
	at := n
	for _, e := range t.events {
		if e.n == at+1 {
			events = append(events, e.b)
			at++
		}
	}
	if at != last {
		return nil, last, false
	}
	return events, last, true
}

// sent forgets events up to number n that were there to be sent once.
func (k *kept) sent(t *track, n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.release(t, n)
}

func (k *kept) release(t *track, n int) {
	if k.loose == 0 {
		return
	}
	t.events = slices.DeleteFunc(t.events, func(e keptEvent) bool {
		gone := e.loose && e.n <= n
		if gone {
			k.loose -= e.cost()
			k.d.kept.Add(-e.cost())
		}
		return gone
	})
}

// end forgets everything.
func (k *kept) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	k.d.kept.Add(-k.size - k.loose)
	k.size, k.loose, k.order, k.over, k.tracks = 0, 0, nil, nil, nil
}

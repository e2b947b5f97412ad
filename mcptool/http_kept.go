package mcptool

import "sync"

// keptEvent is an event as it was written, with its size for the bounds.
type keptEvent struct {
	n int
	b []byte
}

// overhead is what an event takes beside its bytes.
const overhead = 256

// kept are the events of a session that can be sent again, over all its tracks.
// The oldest go first when they take too much together.
type kept struct {
	d *door

	mu     sync.Mutex
	tracks map[string]*track
	order  []*track // whose event is next to go, oldest first
	size   int64
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
	}
}

// track is the track of an id; nil: there is none.
func (k *kept) track(id string) *track {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tracks[id]
}

// add numbers a message and keeps it as an event.
func (k *kept) add(t *track, m message) (n int, event []byte) {
	k.mu.Lock()
	n = t.next
	t.next++
	k.mu.Unlock()
	// t.mu is held: nobody else adds to this track meanwhile.
	event = appendEvent(nil, t.eventID(n), m)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return n, event
	}
	t.events = append(t.events, keptEvent{n, event})
	k.order = append(k.order, t)
	cost := int64(len(event) + overhead)
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
	cost := int64(len(t.events[0].b) + overhead)
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
	if n > last || n < last && (len(t.events) == 0 || t.events[0].n > n+1) {
		return nil, last, false
	}
	for _, e := range t.events {
		if e.n > n {
			events = append(events, e.b)
		}
	}
	return events, last, true
}

// end forgets everything.
func (k *kept) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	k.d.kept.Add(-k.size)
	k.size, k.order, k.tracks = 0, nil, nil
}

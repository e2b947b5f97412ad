package agent

import "sync"

// maxUpdates is how many updates wait for who listens. What comes when there are as many
// is left out, and counted (tool.Update.Missed).
const maxUpdates = 4096

// queue holds what calls say until the goroutine of the run comes to tell it: workers
// never wait for who listens.
type queue struct {
	mu      sync.Mutex
	events  []Event
	updates int            // among them
	missed  map[string]int // bytes of output that were left out, by call
	more    chan struct{}  // has one element where events may hold some
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) put(e Event) {
	q.mu.Lock()
	kept := e.Update == nil || q.fits(e)
	if kept {
		q.events = append(q.events, e)
	}
	q.mu.Unlock()
	if !kept {
		return
	}
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// fits reports whether there is room for an update, which says what was left out before.
func (q *queue) fits(e Event) bool {
	if q.updates >= maxUpdates {
		if q.missed == nil {
			q.missed = make(map[string]int)
		}
		q.missed[e.Own] += e.Update.Missed + len(e.Update.Text)
		return false
	}
	q.updates++
	e.Update.Missed += q.missed[e.Own]
	delete(q.missed, e.Own)
	return true
}

func (q *queue) take() (Event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) == 0 {
		q.events = nil
		return Event{}, false
	}
	e := q.events[0]
	q.events = q.events[1:]
	if e.Update != nil {
		q.updates--
	}
	return e, true
}

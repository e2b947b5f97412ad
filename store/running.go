package store

import (
	"slices"
	"sync"
)

// running is what this process knows by heart of the calls that run.
type running struct {
	mu    sync.Mutex
	own   map[string]entry           // that it began, by id
	found map[string]int64           // the numbers of some of others, by id
	heard map[string][]chan struct{} // who waits for the end of one, by id
}

// mostFound is how many numbers of others' calls are remembered. Who asks for one
// that was forgotten waits longer.
const mostFound = 1_000

// begin remembers a call that this process has begun.
func (r *running) begin(e entry) {
	e.Input = "" // which may be long
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own == nil {
		r.own = make(map[string]entry)
	}
	r.own[e.ID] = e
}

// note remembers where another call stands.
func (r *running) note(e entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == nil || len(r.found) >= mostFound {
		r.found = make(map[string]int64)
	}
	r.found[e.ID] = e.number
}

func (r *running) begun(id string) (entry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.own[id]
	return e, ok
}

// number is where a call stands; 0: it is not known by heart.
func (r *running) number(id string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.own[id]; ok {
		return e.number
	}
	return r.found[id]
}

// end forgets a call, and tells who waits for it.
func (r *running) end(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.own, id)
	for _, c := range r.heard[id] {
		close(c)
	}
	delete(r.heard, id)
}

// wait gives what is closed when a call of this process ends.
func (r *running) wait(id string) (heard <-chan struct{}, leave func()) {
	c := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.heard == nil {
		r.heard = make(map[string][]chan struct{})
	}
	r.heard[id] = append(r.heard[id], c)
	return c, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if rest := slices.DeleteFunc(r.heard[id], func(other chan struct{}) bool { return other == c }); len(rest) > 0 {
			r.heard[id] = rest
		} else {
			delete(r.heard, id)
		}
	}
}

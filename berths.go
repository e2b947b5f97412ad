package ferrule

import "slices"

// berths are where the calls of a turn are that came together. They are used again when
// nobody knows of the calls any more.
type berths struct {
	calls []call
	list  []*call // all of them

	arrived, ready []*call // of the turn, at first
	schedule       schedule
}

// maxBerths is for how many calls they are used again.
const maxBerths = 32

// berth makes places for calls that come together. The first of a turn that nobody else
// knows of have some that were used before.
func (t *Turn) berth(first, n int) []*call {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.quiet || first > 0 || n > maxBerths {
		t.calls = slices.Grow(t.calls, n)
		return pointers(make([]call, n), nil)
	}
	r, _ := t.set.berths.Get().(*berths)
	if r == nil {
		r = new(berths)
	}
	r.calls = slices.Grow(r.calls, n)[:n]
	r.list = pointers(r.calls, r.list)
	r.arrived, r.ready = slices.Grow(r.arrived, n), slices.Grow(r.ready, n)
	t.berths, t.calls, t.ready = r, r.arrived, r.ready
	return r.list
}

// pointers appends where each of the calls is.
func pointers(calls []call, list []*call) []*call {
	list = slices.Grow(list, len(calls))
	for i := range calls {
		list = append(list, &calls[i])
	}
	return list
}

// order is a schedule that has nothing in it.
func (t *Turn) order() *schedule {
	if t.berths != nil {
		return &t.berths.schedule
	}
	return new(schedule)
}

// clear leaves nothing in it but space.
func (r *berths) clear() {
	clear(r.calls)
	clear(r.list)
	clear(r.arrived[:cap(r.arrived)])
	clear(r.ready[:cap(r.ready)])
	fresh := r.schedule.shared.fresh
	clear(fresh)
	*r = berths{calls: r.calls[:0], list: r.list[:0], arrived: r.arrived[:0], ready: r.ready[:0]}
	r.schedule.shared.fresh = fresh[:0]
}

// recycle gives a turn, or the places of its calls, back to be used again, if nobody else
// can know of them: no function of it looked at its context, and none was given up.
func (t *Turn) recycle() {
	t.mu.Lock() // a call that was given up may return now
	if !t.quiet || slices.ContainsFunc(t.calls, (*call).remembered) || t.waiting != nil || t.held != nil || len(t.hooks) > 0 || t.observed() || t.shared {
		t.mu.Unlock()
		return
	}
	r, set := t.berths, t.set
	alone := r == nil && len(t.calls) == 1 && t.watching == nil && t.schedule == nil && !t.hired // it ran here
	if t.crowd != nil {
		r = nil
	}
	if r != nil { // somebody may look through the calls
		t.berths, t.calls, t.ready, t.schedule = nil, nil, nil, nil
	}
	t.mu.Unlock()
	if r != nil {
		r.clear()
		set.berths.Put(r)
	}
	if alone {
		*t = Turn{}
		set.spare.Put(t)
	}
}

// remembered reports whether somebody may still know of a call that is over.
func (c *call) remembered() bool { return c.lost.Load() || c.runs != 1 || len(c.gates()) > 0 }

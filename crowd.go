package ferrule

import "slices"

// crowd keeps apart the calls of turns that know nothing of each other: those of
// one session that were begun with TurnOptions.Apart. By the rule that holds within
// a turn, of two that conflict one waits while the other runs, and who comes first
// is served first: reads do not pass a write that waits. What waits for a person,
// or at a gate, is not in here. All of it is guarded by the lock of the gates, so
// that a call has its place here and there, or nowhere.
type crowd struct {
	running []*call
	waiting []*call
	back    []returning
}

// returning is a call that had stepped aside while it ran, and waits to go on.
type returning struct {
	*call
	on chan struct{} // closed when it may
}

// lets reports whether nothing that runs, or waits ahead of it, is in the way of a
// call. The calls of a turn are its own affair.
func (w *crowd) lets(c *call, ahead []*call) bool {
	for _, list := range [2][]*call{w.running, ahead} {
		for _, o := range list {
			if o.turn != c.turn && conflict(o.planned, c.planned) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(w.back, func(o returning) bool { return o.turn != c.turn && conflict(o.planned, c.planned) })
}

// hold has a call wait.
func (w *crowd) hold(c *call) {
	w.waiting = append(w.waiting, c)
	c.atGate = true
	c.heldUp.Store(true)
}

// leave says that a call does not run any more, and gives the calls whose wait is
// over by that.
func (w *crowd) leave(c *call, next []passage) []passage {
	i := slices.Index(w.running, c)
	if i < 0 {
		return next // it was given up, and has left before
	}
	w.running = slices.Delete(w.running, i, i+1)
	return w.pass(next)
}

// pass lets those go on, in their order, that nothing is in the way of: first
// those that had begun.
func (w *crowd) pass(next []passage) []passage {
	w.back = slices.DeleteFunc(w.back, func(r returning) bool {
		ok := w.free(r.call)
		if ok {
			w.running = append(w.running, r.call)
			close(r.on)
		}
		return ok
	})
	for i := 0; i < len(w.waiting); {
		c := w.waiting[i]
		if !w.lets(c, w.waiting[:i]) {
			i++
			continue
		}
		w.waiting = slices.Delete(w.waiting, i, i+1)
		c.atGate = false
		all := c.gates()
		stuck := slices.ContainsFunc(all, (*gate).stuck)
		placed := !stuck && takeGates(c, all)
		if placed || stuck { // else it waits at a gate
			next = append(next, passage{c, placed})
		}
	}
	return next
}

// stepAside takes a call out of the queue that was stopped in it: it holds up
// nobody. The mutex of no turn may be held.
func (c *call) stepAside() {
	w, s := c.turn.crowd, c.turn.set
	s.gateLock.Lock()
	var next []passage
	if i := slices.Index(w.waiting, c); i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
		c.atGate = false
		next = w.pass(nil)
	}
	s.gateLock.Unlock()
	s.admit(next)
}

// free reports whether nothing runs that is in the way of a call.
func (w *crowd) free(c *call) bool {
	return !slices.ContainsFunc(w.running, func(o *call) bool { return o.turn != c.turn && conflict(o.planned, c.planned) })
}

// Aside is for [tool.Host]: see [tool.Env.Aside].
func (l *lease) Aside() (back func()) {
	if !l.underway() || l.turn.crowd == nil {
		return func() {}
	}
	c, w, s := l.call, l.turn.crowd, l.turn.set
	s.gateLock.Lock()
	var next []passage
	if c.asides++; c.asides == 1 {
		next = w.leave(c, nil)
	}
	s.gateLock.Unlock()
	s.admit(next)
	return func() { l.comeBack(w) }
}

// comeBack has a call run on that had stepped aside, as soon as nothing is in its
// way. One that is over by then stays out: it may be another's.
func (l *lease) comeBack(w *crowd) {
	if !l.underway() {
		return
	}
	c, s := l.call, l.turn.set
	s.gateLock.Lock()
	if c.asides--; c.asides > 0 || c.lost.Load() || !l.open() {
		s.gateLock.Unlock()
		return
	}
	if w.free(c) {
		w.running = append(w.running, c)
		s.gateLock.Unlock()
		return
	}
	r := returning{c, make(chan struct{})}
	w.back = append(w.back, r)
	s.gateLock.Unlock()
	select {
	case <-r.on:
	case <-l.Done():
		s.gateLock.Lock()
		w.back = slices.DeleteFunc(w.back, func(o returning) bool { return o.on == r.on })
		next := w.pass(nil)
		s.gateLock.Unlock()
		s.admit(next)
	}
}

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
	return true
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

// pass lets those go on, in their order, that nothing is in the way of.
func (w *crowd) pass(next []passage) []passage {
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

// Aside is for [tool.Host]: see [tool.Env.Aside].
func (l *lease) Aside() (back func()) {
	if !l.underway() {
		return func() {}
	}
	c, s := l.call, l.turn.set
	if len(c.gates()) == 0 && l.turn.crowd == nil {
		return func() {}
	}
	s.gateLock.Lock()
	if c.lost.Load() { // its places are kept until it returns
		s.gateLock.Unlock()
		return func() {}
	}
	var next []passage
	if c.asides++; c.asides == 1 {
		next = c.standOut(false, 0)
	}
	s.gateLock.Unlock()
	s.admit(next)
	return l.comeBack
}

// comeBack has a call run on that had stepped aside. It does not wait for what has
// begun meanwhile, which may in turn wait for it; what begins later is kept apart
// from both, and waits until the caps have a place. One that is over by then stays
// out: it may be another's.
func (l *lease) comeBack() {
	if !l.underway() {
		return
	}
	c, s := l.call, l.turn.set
	s.gateLock.Lock()
	defer s.gateLock.Unlock()
	if c.asides--; c.asides == 0 && !c.lost.Load() && l.open() {
		c.standIn(c.gates())
	}
}

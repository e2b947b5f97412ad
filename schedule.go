package ferrule

import (
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// conflict reports whether two calls must keep their order: unless both say
// what they touch and no write of one meets the other, or, where one does not
// say, both may overlap others.
func conflict(a, b tool.Claims) bool {
	if a.Touches == nil || b.Touches == nil {
		return !a.Overlaps() || !b.Overlaps()
	}
	for _, x := range a.Touches {
		if slices.ContainsFunc(b.Touches, x.Meets) {
			return true
		}
	}
	return false
}

// step is a place in the order of a turn: a call, or a barrier that stands for
// many of them. It is over once its call has ended and all that it waits for is
// over: what was stopped before it began still keeps apart what stands on its
// two sides.
type step struct {
	call  *call // nil: a barrier
	waits int   // steps that are not over
	next  []*step
	ended bool
	over  bool
}

// after makes s wait for p.
func (s *step) after(p *step) {
	if p == nil || p == s || p.over {
		return
	}
	s.waits++
	p.next = append(p.next, s)
}

// schedule knows which calls must wait for which. It is the one place of rule
// D1: nothing claimed is a write of everything, and a call that says what it
// touches waits for those whose touch meets its own. Who waits for a call that
// itself waits for another need not wait for both, so that planning costs the
// same for each call, however many there are.
type schedule struct {
	last *step // the last call that runs alone; all before it come before it
	from int   // the index of the first call since
	// Calls that may overlap but do not say what they touch, and calls that say
	// it but may not overlap such: each kind waits for the other, not for its
	// own.
	shared, apart group
	touched       resource

	// moved: a call has changed its claims while it was under way. The index
	// holds only what arrived in order, so from then on every pair is looked at.
	moved bool
}

// plan puts an arriving call behind those of the turn that it must wait for.
func (s *schedule) plan(c *call, turn []*call) {
	place := &c.step
	place.call = c
	claims := c.planned
	switch {
	case s.moved:
		for _, p := range turn {
			if p != c && p.step.call != nil && conflict(p.planned, claims) {
				place.after(&p.step)
			}
		}
	case claims.Touches == nil && !claims.Overlaps():
		place.after(s.last)
		for _, p := range turn[s.from:c.index] {
			if p.step.call != nil {
				place.after(&p.step)
			}
		}
		*s = schedule{last: place, from: c.index + 1}
	case claims.Touches == nil:
		place.after(s.last)
		s.apart.hold(place)
		s.shared.add(place)
	default:
		place.after(s.last)
		if !claims.Overlaps() {
			s.shared.hold(place)
			s.apart.add(place)
		}
		// First all waiting, then all marking: a call does not wait for itself.
		touches := distinct(claims.Touches)
		for _, a := range touches {
			s.touched.hold(place, a)
		}
		for _, a := range touches {
			s.touched.mark(place, a)
		}
	}
}

// end says that a call has ended, and gives the calls that are ready now.
func (s *schedule) end(c *call, ready []*call) []*call {
	c.step.ended = true
	return s.pass(&c.step, ready)
}

// pass lets those go on that wait for a step, if it is over.
func (s *schedule) pass(p *step, ready []*call) []*call {
	if p.waits > 0 {
		return ready
	}
	todo := []*step{p}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.call != nil && !p.ended {
			ready = append(ready, p.call)
			continue
		}
		p.over = true
		todo = slices.Grow(todo, len(p.next))
		for _, n := range p.next {
			if n.waits--; n.waits == 0 {
				todo = append(todo, n)
			}
		}
		p.next = nil
	}
	return ready
}

// move gives a call that was ready, and has other claims now, a new place: it
// waits for earlier calls as if it arrived now, and also for later ones that
// run already; those that do not run yet wait for it. What waited for it before
// goes on waiting: it may wait too long, never too short. Calls that are ready
// now are returned; the moved one is among them if it waits for nothing.
//
// Nobody waits in a ring: who is waited for by an earlier call waits for
// nobody.
func (s *schedule) move(c *call, claims tool.Claims, turn []*call) (ready []*call) {
	s.moved = true
	c.planned = claims
	// Earlier calls that waited for this one because it was running go first
	// now: it runs no longer.
	var early []*step
	c.step.next = slices.DeleteFunc(c.step.next, func(n *step) bool {
		if c.step.goesBefore(n) {
			early = append(early, n)
			return true
		}
		return false
	})
	for _, n := range early {
		n.waits--
		ready = s.pass(n, ready)
	}
	for _, o := range turn {
		switch {
		case o == c || o.step.call == nil || o.step.ended || !conflict(o.planned, claims):
		case o.index < c.index || o.state == running || slices.ContainsFunc(o.step.next, o.step.goesBefore):
			c.step.after(&o.step)
		case !slices.Contains(c.step.next, &o.step):
			o.step.after(&c.step)
		}
	}
	ready = slices.DeleteFunc(ready, func(r *call) bool { return r.step.waits > 0 })
	if c.step.waits == 0 {
		ready = append(ready, c)
	}
	return ready
}

// goesBefore reports whether n, which waits for s, is an earlier call.
func (s *step) goesBefore(n *step) bool { return n.call != nil && n.call.index < s.call.index }

// distinct leaves out what is said twice.
func distinct(touches []tool.Access) []tool.Access {
	if len(touches) < 2 {
		return touches
	}
	seen := make(map[tool.Access]bool, len(touches))
	var list []tool.Access
	for _, a := range touches {
		if !seen[a] {
			seen[a] = true
			list = append(list, a)
		}
	}
	return list
}

// group is a number of steps that later ones wait for as one. A barrier is made
// when somebody waits for many, and serves until the group grows.
type group struct {
	gate  *step // the first, or a barrier for those before fresh
	fresh []*step
}

func (g *group) add(s *step) {
	if g.gate == nil {
		g.gate = s
		return
	}
	g.fresh = append(g.fresh, s)
}

// hold makes s wait for every step of the group.
func (g *group) hold(s *step) {
	if len(g.fresh) > 0 {
		gate := new(step)
		gate.after(g.gate)
		for _, f := range g.fresh {
			gate.after(f)
		}
		gate.over = gate.waits == 0
		g.gate, g.fresh = gate, nil
	}
	s.after(g.gate)
}

// resource is a node of the tree of resources and what is known of it since the
// last call that ran alone.
type resource struct {
	below  map[string]*resource
	write  *step // the last write of just this; all earlier touches are before it
	reads  group // of just this, since
	writes group // of anything below, since
}

// hold makes s wait for what its access meets: all above it, and all below it.
func (r *resource) hold(s *step, a tool.Access) {
	for part, rest := cutKind(a.Resource); ; part, rest = cutPart(rest) {
		if r = r.below[part]; r == nil {
			return
		}
		s.after(r.write)
		if a.Write {
			r.reads.hold(s)
		}
		if rest == "" {
			break
		}
	}
	if a.Write {
		r.holdBelow(s)
	} else {
		r.writes.hold(s)
	}
}

// holdBelow visits everything below a write; mark then forgets it, so that each
// touch is visited once.
func (r *resource) holdBelow(s *step) {
	for _, b := range r.below {
		s.after(b.write)
		b.reads.hold(s)
		b.holdBelow(s)
	}
}

// mark puts an access of s into the tree.
func (r *resource) mark(s *step, a tool.Access) {
	for part, rest := cutKind(a.Resource); part != ""; part, rest = cutPart(rest) {
		if a.Write {
			r.writes.add(s)
		}
		b := r.below[part]
		if b == nil {
			if r.below == nil {
				r.below = make(map[string]*resource)
			}
			b = new(resource)
			r.below[part] = b
		}
		r = b
	}
	if a.Write {
		*r = resource{write: s}
	} else {
		r.reads.add(s)
	}
}

// cutKind and cutPart divide a resource: first its kind, then the / that
// absolute paths begin with, then one name after another.

func cutKind(r string) (kind, rest string) {
	i := strings.IndexByte(r, ':') + 1
	return r[:i], r[i:]
}

func cutPart(r string) (part, rest string) {
	i := strings.IndexByte(r, '/')
	switch {
	case i < 0:
		return r, ""
	case i == 0:
		return "/", r[1:]
	}
	return r[:i], r[i+1:]
}

package ferrule

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// gate caps how many calls run at once, over all turns: those of a tool, a
// source or a tenant. A call that was given up still stands in it: the cap is
// about what runs. All gates of a runtime have one lock, so that a call takes
// its places in all of them or in none. A gate that has a place has nobody who
// waits: who comes first is served first, over all turns.
type gate struct {
	most    int
	used    int
	lost    int     // of used: calls that were given up
	waiting []*call // for a place here, first come first
}

// full reports that nobody can enter; stuck, that this may be so for ever.
func (g *gate) full() bool  { return g.used >= g.most }
func (g *gate) stuck() bool { return g.lost >= g.most }

func gates(limits map[string]int) map[string]*gate {
	if len(limits) == 0 {
		return nil
	}
	all := make(map[string]*gate, len(limits))
	for name, most := range limits {
		all[name] = &gate{most: max(most, 1)}
	}
	return all
}

// gateKey names the cap of a tool. That of a registered one outlives its
// registration; one that only a fallback knows has another, whatever its name.
type gateKey struct {
	source, name string
	registered   bool
}

// gateOf is the cap that a tool wants; nil: none.
func (s *settings) gateOf(e *entry, registered bool) *gate {
	if e.tool.AtOnce == 0 {
		return nil
	}
	s.gateLock.Lock()
	defer s.gateLock.Unlock()
	key := gateKey{e.source.Name, e.tool.Name, registered}
	g := s.tools[key]
	if g == nil {
		if s.tools == nil {
			s.tools = make(map[gateKey]*gate)
		}
		if s.strays++; s.strays > maxSupplied { // names that fallbacks made up
			s.strays = 0
			maps.DeleteFunc(s.tools, func(k gateKey, g *gate) bool { return !k.registered && g.used == 0 && len(g.waiting) == 0 })
		}
		g = new(gate)
		s.tools[key] = g
	}
	g.most = e.tool.AtOnce
	return g
}

// gates are what caps a call.
func (c *call) gates() []*gate {
	if c.entry == nil {
		return nil
	}
	s := c.turn.set
	if c.entry.gate == nil && s.sources == nil && s.tenants == nil {
		return nil
	}
	all := []*gate{c.entry.gate, s.sources[c.entry.source.Name], s.tenants[c.first.Caller.Tenant]}
	return slices.DeleteFunc(all, func(g *gate) bool { return g == nil })
}

// enter takes a place for a call in each of its gates, and in the crowd of its
// session, or in none; then it waits for one where there is none. A call whose gate is full of calls
// that were given up has its result: it would wait for ever.
func (c *call) enter() bool {
	if c.inside || c.known != nil {
		return true
	}
	all := c.gates()
	if len(all) == 0 && c.turn.crowd == nil {
		return true
	}
	s := c.turn.set
	s.gateLock.Lock()
	defer s.gateLock.Unlock()
	if slices.ContainsFunc(all, (*gate).stuck) {
		c.known = &tool.Error{
			Kind: tool.Failed, Text: fmt.Sprintf("Earlier calls of %s were stopped but have not ended, so this call did not run. Try again later.", c.called()),
			Detail: "every place under its cap is held by a call that was given up and has not returned",
		}
		return true
	}
	c.inside = !c.atGate && takePlaces(c, all)
	return c.inside
}

// takePlaces takes a place for a call beside those of other turns, and in every
// gate, or puts it into the queue where it has none. The lock is held.
func takePlaces(c *call, all []*gate) bool {
	if w := c.turn.crowd; w != nil && !w.lets(c, w.waiting) {
		w.hold(c)
		return false
	}
	return takeGates(c, all)
}

// takeGates is takePlaces for a call that no other turn holds up.
func takeGates(c *call, all []*gate) bool {
	if i := slices.IndexFunc(all, (*gate).full); i >= 0 {
		all[i].waiting = append(all[i].waiting, c)
		c.atGate = true
		return false
	}
	c.standIn(all)
	return true
}

// standIn counts a call in, whatever the caps. The lock is held.
func (c *call) standIn(all []*gate) {
	for _, g := range all {
		g.used++
	}
	c.placed = true
	if w := c.turn.crowd; w != nil {
		w.running = append(w.running, c)
	}
}

// leave frees a call's places. The mutex of no turn may be held.
func (c *call) leave() { c.turn.set.admit(c.atGates(-1, 0)) }

// passage is a call whose wait at a gate is over: it has its places, or will
// never have them.
type passage struct {
	*call
	placed bool
}

// atGates changes what a call counts for in its gates, and gives the calls whose
// wait is over by that.
func (c *call) atGates(used, lost int) (next []passage) {
	if !c.inside {
		return nil
	}
	c.inside = used == 0
	return c.turn.set.atGates(c, used, lost)
}

func (s *settings) atGates(of *call, used, lost int) (next []passage) {
	s.gateLock.Lock()
	defer s.gateLock.Unlock()
	return of.standOut(used == 0, lost)
}

// standOut takes a call out of its crowd: one that was given up holds up nobody.
// At its gates it keeps its places, or takes them again if it has stepped aside, or
// gives them back. The lock is held.
func (c *call) standOut(keeps bool, lost int) (next []passage) {
	if w := c.turn.crowd; w != nil {
		next = w.leave(c, next)
	}
	used := 0
	switch {
	case keeps && !c.placed:
		used = 1
	case !keeps && c.placed:
		used = -1
	}
	c.placed = keeps
	for _, g := range c.gates() {
		g.used += used
		g.lost += lost
		for len(g.waiting) > 0 && (!g.full() || g.stuck()) {
			o := g.waiting[0]
			g.waiting = g.waiting[1:]
			o.atGate = false
			placed := !g.stuck() && takePlaces(o, o.gates())
			if placed || g.stuck() { // else it waits at another
				next = append(next, passage{o, placed})
			}
		}
	}
	return next
}

// admit lets calls go on that waited at a gate. Those that cannot use their
// places make room for the next.
func (s *settings) admit(next []passage) {
	for len(next) > 0 {
		p := next[0]
		next = next[1:]
		if used := p.turn.admitted(p.call, p.placed); p.placed && !used {
			next = append(next, s.atGates(p.call, -1, 0)...)
		}
	}
}

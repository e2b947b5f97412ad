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
// its places in all of them or in none.
type gate struct {
	most    int
	used    int
	lost    int // of used: calls that were given up
	waiting []*Turn
}

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
// registration; one that a fallback supplied has another, whatever its name.
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

// enter takes a place for a call in each of its gates, or in none; then the turn
// hears when there may be one. A call whose gate is full of calls that were
// given up has its result: it would wait for ever.
func (c *call) enter() bool {
	all := c.gates()
	if len(all) == 0 {
		return true
	}
	s := c.turn.set
	s.gateLock.Lock()
	defer s.gateLock.Unlock()
	for _, g := range all {
		switch {
		case g.used < g.most:
		case g.lost >= g.most:
			c.known = &tool.Error{
				Kind: tool.Failed, Text: fmt.Sprintf("Earlier calls of %s were stopped but have not ended, so this call did not run. Try again later.", c.first.CalledAs),
				Detail: "every place under its cap is held by a call that was given up and has not returned",
			}
			return true
		default:
			if !slices.Contains(g.waiting, c.turn) {
				g.waiting = append(g.waiting, c.turn)
			}
			return false
		}
	}
	for _, g := range all {
		g.used++
	}
	c.inside = true
	return true
}

// leave frees a call's places. The mutex of no turn may be held.
func (c *call) leave() { unpark(c.atGates(-1, 0)) }

// atGates changes what a call counts for in its gates, and gives the turns that
// should look again.
func (c *call) atGates(used, lost int) (wake []*Turn) {
	if !c.inside {
		return nil
	}
	c.inside = used == 0
	s := c.turn.set
	s.gateLock.Lock()
	defer s.gateLock.Unlock()
	for _, g := range c.gates() {
		g.used += used
		g.lost += lost
		wake = append(wake, g.waiting...)
		g.waiting = nil
	}
	return wake
}

func unpark(turns []*Turn) {
	for _, t := range turns {
		t.unpark()
	}
}

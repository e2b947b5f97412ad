package main

import (
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/mcptool"
)

// Why rules for one tool as it was shown do not count.
const (
	lostServer = "its server is reached in another way now"
	lostTool   = "the tool, or its server, has changed"
)

// markLost says of rules that are for one tool as it was shown whether that is not what
// there is now, as far as the state directory knows: nothing is reached for it. What is
// not known is not said.
func (p *program) markLost(c *config.Config, list []lasting) {
	pins := p.pinsOf(c)
	now, before := make(map[string]bool), make(map[string]bool) // keys of tools, as servers are reached now, and in any way
	seen := make(map[string]bool)                               // servers that were reached as they are now
	keys := func(to map[string]bool, of *mcptool.Pinned) {
		for i := range of.Tools {
			to[of.Tools[i].Key] = true
		}
	}
	for _, s := range c.Servers {
		if known, err := pins.As(reached(c, s)); err == nil && !known.First.IsZero() {
			seen[s.Name] = true
			keys(now, &known)
		}
	}
	all, _ := pins.All() // of a file that cannot be read nothing is known
	for i := range all {
		keys(before, &all[i])
	}
	for i := range list {
		l := &list[i]
		switch {
		case l.Pin == "" || now[l.Pin]:
		case before[l.Pin]:
			l.Lost = lostServer
		case seen[l.Source]:
			l.Lost = lostTool
		}
	}
}

package ferrule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// catalogue is the registry as all views see it, at one moment.
type catalogue struct {
	*toolset
	hidden  map[*entry]string
	dynamic bool // some tool has a form or an answer for each session
}

// catalogue is the registry as views see it now. The order of definitions does
// not depend on which source came first: the program's own, then built-in
// sources, then others, each by name.
func (r *registry) catalogue() *catalogue {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all != nil {
		return r.all
	}
	order := slices.SortedFunc(maps.Keys(r.sources), func(a, b string) int {
		x, y := r.sources[a], r.sources[b]
		switch {
		case x.base != y.base:
			if x.base {
				return -1
			}
			return 1
		case !x.base && r.rt.set.names != Prefix && x.trust != y.trust:
			return int(y.trust) - int(x.trust) // the more trusted first, so that it wins
		}
		return strings.Compare(a, b)
	})
	c := &catalogue{hidden: make(map[*entry]string)}
	var list []*entry
	winner := make(map[string]*entry)
	for _, s := range order {
		for _, e := range r.sources[s].entries {
			if w := winner[e.wire]; w != nil {
				c.hidden[e] = fmt.Sprintf("%q of %s has the name %s", w.tool.Name, sourceTitle(w.source), e.wire)
				continue
			}
			winner[e.wire] = e
			list = append(list, e)
			c.dynamic = c.dynamic || e.isDynamic()
		}
	}
	c.toolset = newToolset(list)
	r.all = c
	return c
}

func sourceTitle(s tool.Source) string {
	if s.Name == "" {
		return "the program"
	}
	return fmt.Sprintf("source %q", s.Name)
}

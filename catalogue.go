package ferrule

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// catalogue is the registry as all views see it, at one moment.
type catalogue struct {
	*toolset
	hidden  []hiding
	always  int  // tools that are always loaded, hidden ones too
	dynamic bool // some tool has a form or an answer for each session
}

// hiding is a tool that no view shows, and the one that has its name.
type hiding struct {
	*entry
	by *entry
}

func (h hiding) why() string {
	return fmt.Sprintf("%q of %s has the name %s", h.by.tool.Name, sourceTitle(h.by.source), h.wire)
}

func (h hiding) finding() Finding {
	f := Finding{h.wire, fmt.Sprintf("%q of %s is not seen: %s", h.tool.Name, sourceTitle(h.source), h.why())}
	if h.pages {
		f.Text += "; so long results are cut and not kept"
	}
	return f
}

func sourceTitle(s tool.Source) string {
	if s.Name == "" {
		return "the program"
	}
	return fmt.Sprintf("source %q", s.Name)
}

// catalogue is the registry as views see it now.
func (r *registry) catalogue() *catalogue {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all != nil {
		return r.all
	}
	c := &catalogue{always: r.always}
	var list []*entry
	sources := slices.SortedFunc(maps.Values(r.sources), func(a, b []*entry) int { return r.order(a[0], b[0]) })
	for _, e := range slices.Concat(sources...) {
		if first := r.seen(e.wire); first != e {
			c.hidden = append(c.hidden, hiding{e, first})
			continue
		}
		list = append(list, e)
		c.dynamic = c.dynamic || e.isDynamic()
	}
	c.toolset = newToolset(list)
	r.all = c
	return c
}

package ferrule

import (
	"context"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/search"
)

// picked is what was picked for one turn.
type picked struct {
	from  *View
	names []string // as models call them
}

func (p *picked) has(e *entry) bool { return p != nil && slices.Contains(p.names, e.wire) }

// Pick is a view of the same tools that offers, for one turn, those that are pinned
// here or say AlwaysLoad, and then the n that fit a text best: what the person asked
// for, say. Of a deferred view it offers them behind what that one offers. The
// others can still be called. Equal choices give the same definitions.
func (v *View) Pick(ctx context.Context, text string, n int, pinned ...string) *View {
	if v.picked != nil {
		return v.picked.from.Pick(ctx, text, n, pinned...)
	}
	names := slices.Clone(pinned)
	if n > 0 {
		answer := v.tools.look(ctx, &v.session.rt.reg, text, n)
		best := make([]string, 0, len(answer.Hits))
		for _, h := range answer.Hits {
			best = append(best, h.Document.ID)
		}
		slices.Sort(best) // which are best counts, not in which order
		names = append(names, best...)
	}
	return v.offering(names)
}

// offering is a view that offers these of its tools, beside what it must.
func (v *View) offering(names []string) *View {
	n := *v
	n.picked = &picked{from: v}
	for _, name := range names { // aliases too
		if e := v.tools.find(name); e != nil {
			n.picked.names = append(n.picked.names, e.wire)
		}
	}
	must := v.tools.offered
	if v.whole == nil {
		must = slices.DeleteFunc(slices.Clone(v.tools.list), func(e *entry) bool { return !e.tool.AlwaysLoad })
	}
	n.tools = v.tools.offering(must, v.loaded.entries(), n.picked.names)
	return &n
}

// offering is the set with another part of it offered. It is kept, so that it is
// written once.
func (s *toolset) offering(must, loaded []*entry, names []string) *toolset {
	offered := slices.Clone(must)
	for _, name := range names {
		if e := s.find(name); e != nil && !slices.Contains(offered, e) && !slices.Contains(loaded, e) {
			offered = append(offered, e)
		}
	}
	var key strings.Builder
	for _, e := range offered {
		key.WriteString(e.wire + " ")
	}
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	if had := s.picks[key.String()]; had != nil {
		return had
	}
	p := &toolset{list: s.list, offered: offered, defers: s.defers, loads: s.loads, names: s.names, aliases: s.aliases}
	keep(&s.picks, key.String(), p)
	return p
}

// Search finds tools of the view, offered or not, by words and meaning: the best
// first, with why. The ID of a document is what models call the tool. Limit 0 is 10.
func (v *View) Search(ctx context.Context, text string, limit int) search.Answer {
	return v.tools.look(ctx, &v.session.rt.reg, text, limit)
}

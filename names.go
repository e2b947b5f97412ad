package ferrule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// find is the tool that a name or an alias leads to; nil: none. A name beats an
// alias, and the alias of a tool that another one hides leads nowhere.
func (r *registry) find(name string) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.seen(name); e != nil {
		return e
	}
	if e := r.aliases[name]; e != nil && r.seen(e.wire) == e {
		return e
	}
	return nil
}

// seen is the tool that has a name; nil: none.
func (r *registry) seen(name string) *entry {
	if all := r.names[name]; len(all) > 0 {
		return all[0]
	}
	return nil
}

// order is that of sources and of tools with one name, of which the first is
// seen. It does not depend on what came first: the program's own, then built-in
// sources, then others, each by name; last those that may meet, with bare names,
// by trust.
func (r *registry) order(a, b *entry) int {
	first := func(a bool) int {
		if a {
			return -1
		}
		return 1
	}
	meets := func(e *entry) bool { return !e.base && (e.source.Bare || r.rt.set.names != Prefix) }
	switch {
	case a.base != b.base:
		return first(a.base)
	case meets(a) != meets(b):
		return first(meets(b))
	case meets(a) && a.source.Trust != b.source.Trust:
		return int(b.source.Trust) - int(a.source.Trust) // the more trusted first, so that it wins
	}
	return strings.Compare(a.source.Name, b.source.Name)
}

// accept refuses what would make names mean two things: one name twice in a
// source, aliases that are names or aliases of the base, and, where the host
// wants that, two sources with one name. It remembers what it accepts.
func (r *registry) accept(c change) error {
	for _, e := range c.removed {
		r.forget(e)
	}
	for i, e := range c.added {
		err := r.mayHave(e)
		if err == nil {
			r.remember(e)
			continue
		}
		for _, done := range c.added[:i] {
			r.forget(done)
		}
		for _, back := range c.removed {
			r.remember(back)
		}
		return err
	}
	return nil
}

// mayHave says what is wrong with a tool's name or aliases.
func (r *registry) mayHave(e *entry) error {
	for _, o := range r.names[e.wire] {
		switch {
		case o.same(e):
			return fmt.Errorf("a tool %q is there already: use Replace", e.tool.Name)
		case r.rt.set.names == Refuse && !o.base && !e.base:
			return fmt.Errorf("the name %q: sources %q and %q both have it", e.wire, o.source.Name, e.source.Name)
		}
	}
	if !e.base {
		return nil // its aliases do not count
	}
	if o := r.aliases[e.tool.Name]; o != nil {
		return fmt.Errorf("the name %q: it is an alias of %q", e.tool.Name, o.tool.Name)
	}
	for _, a := range e.tool.Aliases {
		if o := r.aliases[a]; o != nil {
			return fmt.Errorf("alias %q of %q: it is an alias of %q", a, e.tool.Name, o.tool.Name)
		}
		if o := r.seen(tool.WireName("", a)); o != nil && o.base {
			return fmt.Errorf("alias %q of %q: there is a tool of that name", a, e.tool.Name)
		}
	}
	return nil
}

func (r *registry) remember(e *entry) {
	all := r.names[e.wire]
	i, _ := slices.BinarySearchFunc(all, e, r.order)
	r.names[e.wire] = slices.Insert(all, i, e)
	if e.base {
		for _, a := range e.tool.Aliases {
			r.aliases[a] = e
		}
	}
}

func (r *registry) forget(e *entry) {
	all := slices.DeleteFunc(r.names[e.wire], func(o *entry) bool { return o == e })
	if r.names[e.wire] = all; len(all) == 0 {
		delete(r.names, e.wire)
	}
	if e.base {
		for _, a := range e.tool.Aliases {
			delete(r.aliases, a)
		}
	}
}

package ferrule

import (
	"fmt"
)

// accept refuses what would make names mean two things: one name twice in a
// source, aliases that are names or aliases of the base, and, where the host
// wants that, two sources with one name. It remembers what it accepts.
func (r *registry) accept(c change) error {
	for _, e := range c.removed {
		r.forget(e)
	}
	for i, e := range c.added {
		if err := r.remember(e); err != nil {
			for _, done := range c.added[:i] {
				r.forget(done)
			}
			for _, back := range c.removed {
				_ = r.remember(back) // it was there before
			}
			return err
		}
	}
	return nil
}

func (r *registry) remember(e *entry) error {
	if !e.base {
		return r.rememberOutside(e)
	}
	names := append([]string{e.tool.Name}, e.tool.Aliases...)
	for i, n := range names {
		o := r.base[n]
		switch {
		case o == nil:
			continue
		case i > 0:
			return fmt.Errorf("alias %q of %q: %q has it as a name or alias", n, e.tool.Name, o.tool.Name)
		case o.tool.Name != n:
			return fmt.Errorf("the name %q: it is an alias of %q", n, o.tool.Name)
		case o.source == e.source:
			return fmt.Errorf("two tools of the name %q in one source", n)
		}
	}
	for i, n := range names {
		if i > 0 || r.base[n] == nil || e.source.Name == "" {
			r.base[n] = e // an own tool hides a built-in one of its name
		}
	}
	return nil
}

func (r *registry) rememberOutside(e *entry) error {
	have := r.bare[e.wire]
	if have[e.source.Name] > 0 {
		return fmt.Errorf("two tools of the name %q in one source", e.tool.Name)
	}
	if r.rt.set.names == Refuse {
		for other := range have {
			return fmt.Errorf("the name %q: sources %q and %q both have it", e.wire, other, e.source.Name)
		}
	}
	if have == nil {
		have = make(map[string]int)
		r.bare[e.wire] = have
	}
	have[e.source.Name]++
	return nil
}

func (r *registry) forget(e *entry) {
	if !e.base {
		if delete(r.bare[e.wire], e.source.Name); len(r.bare[e.wire]) == 0 {
			delete(r.bare, e.wire)
		}
		return
	}
	for _, n := range append([]string{e.tool.Name}, e.tool.Aliases...) {
		if r.base[n] == e {
			delete(r.base, n)
		}
	}
	for name, s := range r.sources { // a built-in one that an own one hid
		if !s.base || name == "" || e.source.Name != "" {
			continue
		}
		for _, o := range s.entries {
			if o != e && o.tool.Name == e.tool.Name && r.base[o.tool.Name] == nil {
				r.base[o.tool.Name] = o
			}
		}
	}
}

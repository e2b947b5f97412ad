package ferrule

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// Collisions says what tools of outside sources are called.
type Collisions string

// Tools of outside sources have their source in front of their name, or bare
// names: then of two with one name that of the more trusted source is seen, or
// the second is refused. The program's own tools always win.
const (
	Prefix   Collisions = ""
	Priority Collisions = "priority"
	Refuse   Collisions = "refuse"
)

// Fallback supplies a tool for a name that no tool of the view has; nil: it has
// none either.
type Fallback func(ctx context.Context, c tool.Caller, name string) (*tool.Tool, error)

// registry holds every source's tools. What views see is made from it when it
// is first wanted after a change.
type registry struct {
	mu       sync.Mutex
	rt       *Runtime
	sources  map[string]*source
	fallback Fallback
	supplied map[string]*entry // by the fallback, by name
	all      *catalogue        // nil: to be made

	base   map[string]*entry         // names and aliases of built-in and own tools
	bare   map[string]map[string]int // names that models call outside tools by, and how often each source has them
	always int                       // tools that are always loaded
}

// source is what one source has.
type source struct {
	base    bool
	trust   tool.Trust // that counts
	entries []*entry
}

func (r *registry) open(rt *Runtime) {
	r.rt = rt
	r.sources, r.base, r.bare = make(map[string]*source), make(map[string]*entry), make(map[string]map[string]int)
}

// Add registers tools of the program itself: all of them or, with an error, none.
func (rt *Runtime) Add(tools ...*tool.Tool) error {
	rt.freeze()
	own := tool.Source{Trust: tool.Own}
	made, err := rt.reg.entries(own, tools, nil)
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	return rt.reg.change(own, func([]*entry) (change, error) { return change{added: made}, nil })
}

// Set makes these the tools of a source, in the place of those it had: all of
// them or, with an error, none. No tools take the source away. A tool that it had
// already, the very same, stays as it is. Tools of a source with trust built-in
// have bare names, as the program's own do.
func (rt *Runtime) Set(s tool.Source, tools ...*tool.Tool) error {
	rt.freeze()
	if err := s.Check(); err != nil {
		return err
	}
	if s.Name == "" {
		s.Trust = tool.Own
	}
	had := rt.reg.of(s.Name)
	made, err := rt.reg.entries(s, tools, had)
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	return rt.reg.change(s, func(old []*entry) (change, error) { return replaceAll(old, made), nil })
}

// replaceAll is the change from some entries to others.
func replaceAll(old, now []*entry) change {
	stays := make(map[*entry]bool, len(now))
	for _, e := range now {
		stays[e] = true
	}
	c := change{now: now}
	for _, e := range old {
		if !stays[e] {
			c.removed = append(c.removed, e)
		}
		delete(stays, e)
	}
	for _, e := range now {
		if stays[e] {
			c.added = append(c.added, e)
		}
	}
	return c
}

// Replace puts a tool in the place of the program's own tool of that name.
func (rt *Runtime) Replace(t *tool.Tool) error {
	rt.freeze()
	own := tool.Source{Trust: tool.Own}
	made, err := rt.reg.entries(own, []*tool.Tool{t}, nil)
	if err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	return rt.reg.change(own, func(old []*entry) (change, error) {
		i := slices.IndexFunc(old, func(e *entry) bool { return e.tool.Name == t.Name })
		if i < 0 {
			return change{}, fmt.Errorf("replace %q: there is no own tool of that name", t.Name)
		}
		now := slices.Clone(old)
		now[i] = made[0]
		return replaceAll(old, now), nil
	})
}

// Remove takes a tool away, by the name that models use, and says whether it was
// there. Views that were made before still have it.
func (rt *Runtime) Remove(name string) bool {
	rt.freeze()
	e := rt.reg.catalogue().names[name]
	if e == nil {
		return false
	}
	removed := false
	// What is left was accepted before.
	_ = rt.reg.change(e.source, func(old []*entry) (change, error) {
		now := slices.DeleteFunc(slices.Clone(old), func(o *entry) bool { return o == e })
		removed = len(now) < len(old)
		return replaceAll(old, now), nil
	})
	return removed
}

// Has reports whether a tool of that name, as models call it, is registered.
func (rt *Runtime) Has(name string) bool {
	_, ok := rt.Find(name)
	return ok
}

// Find is what is known of a tool, by the name that models use or an alias.
func (rt *Runtime) Find(name string) (Resolved, bool) {
	rt.freeze()
	c := rt.reg.catalogue()
	if e := c.find(name); e != nil {
		return e.resolved(""), true
	}
	return Resolved{}, false
}

// All are the registered tools in the order of the definitions, then those that
// another one hides.
func (rt *Runtime) All() iter.Seq[Resolved] {
	rt.freeze()
	c := rt.reg.catalogue()
	return func(yield func(Resolved) bool) {
		for _, e := range c.list {
			if !yield(e.resolved("")) {
				return
			}
		}
		hidden := slices.SortedFunc(maps.Keys(c.hidden), func(a, b *entry) int {
			return strings.Compare(a.source.Name+"\x00"+a.tool.Name, b.source.Name+"\x00"+b.tool.Name)
		})
		for _, e := range hidden {
			if !yield(e.resolved(c.hidden[e])) {
				return
			}
		}
	}
}

// SetFallback sets or, with nil, unsets where a tool for an unknown name comes
// from. Views made from now on use it. What it supplies passes every gate.
func (rt *Runtime) SetFallback(f Fallback) {
	rt.freeze()
	rt.reg.mu.Lock()
	defer rt.reg.mu.Unlock()
	rt.reg.fallback = f
}

// of are the tools of a source as they are now.
func (r *registry) of(name string) []*entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sources[name]; s != nil {
		return s.entries
	}
	return nil
}

// change is what becomes of the tools of a source.
type change struct {
	now            []*entry // nil: what there was, then what is added
	added, removed []*entry
}

// change changes the tools of one source, if the registry as a whole is good
// with it. What it costs depends on what changes, not on how many tools there
// are.
func (r *registry) change(s tool.Source, f func(old []*entry) (change, error)) error {
	r.mu.Lock()
	var old []*entry
	if had := r.sources[s.Name]; had != nil {
		old = had.entries
	}
	c, err := f(old)
	if err == nil {
		err = r.accept(c)
	}
	if err != nil {
		r.mu.Unlock()
		return fmt.Errorf("register: %w", err)
	}
	if c.now == nil && len(c.removed) == 0 {
		c.now = append(old, c.added...) // behind what views see
	}
	if len(c.now) == 0 {
		delete(r.sources, s.Name)
	} else {
		r.sources[s.Name] = &source{base: c.now[0].base, trust: c.now[0].source.Trust, entries: c.now}
	}
	many := r.always > maxAlwaysLoad
	for _, e := range c.added {
		if e.tool.AlwaysLoad {
			r.always++
		}
	}
	for _, e := range c.removed {
		if e.tool.AlwaysLoad {
			r.always--
		}
	}
	tooMany := r.always > maxAlwaysLoad && !many
	r.all = nil
	r.mu.Unlock()
	r.tell(c, tooMany)
	return nil
}

// tell makes events of what came and went, with what was found about it.
func (r *registry) tell(c change, tooMany bool) {
	set := &r.rt.set
	if set.observe == nil {
		return
	}
	for _, e := range c.removed {
		set.emit(audit.Event{Kind: audit.Removed, Name: e.wire})
	}
	for _, e := range c.added {
		set.emit(audit.Event{Kind: audit.Registered, Name: e.wire, By: e.source.Name})
		for _, f := range e.findings {
			set.emit(audit.Event{Kind: audit.Found, Name: e.wire, Text: f})
		}
	}
	if tooMany {
		set.emit(audit.Event{Kind: audit.Found, Name: alwaysLoad, Text: tooManyAlways(r.always)})
	}
}

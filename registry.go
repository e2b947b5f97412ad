package ferrule

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// Collisions says what tools of outside sources are called.
type Collisions string

// Tools of outside sources have their source in front of their name, or bare
// names: then of two with one name that of the more trusted source is seen, or
// the second is refused. The program's own tools always win. A source may say for
// itself that its tools have bare names: see [tool.Source].
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
	sources  map[string][]*entry
	fallback Fallback
	supplied map[string]*entry // by the fallback, by name
	all      *catalogue        // nil: to be made

	names   map[string][]*entry // as models call them; the first is seen
	aliases map[string]*entry   // of built-in and own tools
	always  int                 // tools that are always loaded

	library library
}

func (r *registry) open(rt *Runtime) {
	r.rt = rt
	r.library.open(rt.Embedder, rt.About)
	r.sources, r.names, r.aliases = make(map[string][]*entry), make(map[string][]*entry), make(map[string]*entry)
}

// Add registers tools of the program itself: all of them or, with an error, none.
func (rt *Runtime) Add(tools ...*tool.Tool) error {
	if err := rt.begun(); err != nil {
		return err
	}
	made, err := rt.reg.entries(tool.Source{Trust: tool.Own}, tools, nil)
	if err == nil {
		err = rt.reg.change("", func(old []*entry) (change, error) {
			return change{now: append(old, made...), added: made}, nil // behind what others see of old
		})
	}
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	return nil
}

// Set makes these the tools of a source, in the place of those it had: all of
// them or, with an error, none. No tools take the source away. A tool that it had
// already, the very same, stays as it is. Tools of a source with trust built-in
// have bare names, as the program's own do.
func (rt *Runtime) Set(s tool.Source, tools ...*tool.Tool) error {
	if err := rt.begun(); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	if s.Name == "" {
		s.Trust, s.Bare = tool.Own, false
	}
	if s.Name == ferruleSource {
		return fmt.Errorf("register: source %q: the name is Ferrule's own", s.Name)
	}
	made, err := rt.reg.entries(s, tools, rt.reg.of(s.Name))
	if err == nil {
		err = rt.reg.change(s.Name, func(old []*entry) (change, error) { return replaceAll(old, made), nil })
	}
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	return nil
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
	if err := rt.begun(); err != nil {
		return err
	}
	made, err := rt.reg.entries(tool.Source{Trust: tool.Own}, []*tool.Tool{t}, nil)
	if err == nil {
		err = rt.reg.change("", func(old []*entry) (change, error) {
			i := slices.IndexFunc(old, made[0].same)
			if i < 0 {
				return change{}, fmt.Errorf("there is no own tool %q", t.Name)
			}
			now := slices.Clone(old)
			now[i] = made[0]
			return change{now: now, added: made, removed: old[i : i+1]}, nil
		})
	}
	if err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	return nil
}

// Remove takes a tool away, by the name that models use and not by an alias, and
// says whether it was there. Views that were made before still have it. Ferrule's
// own read_result stays as long as there is a store.
func (rt *Runtime) Remove(name string) bool {
	rt.freeze()
	e := rt.reg.find(name)
	if e == nil || e.wire != name || e.pages {
		return false
	}
	removed := false
	// What is left was accepted before.
	_ = rt.reg.change(e.source.Name, func(old []*entry) (change, error) {
		i := slices.Index(old, e)
		if removed = i >= 0; !removed {
			return change{now: old}, nil
		}
		return change{now: slices.Concat(old[:i], old[i+1:]), removed: old[i : i+1]}, nil
	})
	return removed
}

// Has reports whether there is a tool that [Runtime.Find] would find.
func (rt *Runtime) Has(name string) bool {
	rt.taken()
	return rt.reg.find(name) != nil
}

// Find is what is known of a tool, by the name that models use or an alias.
func (rt *Runtime) Find(name string) (Resolved, bool) {
	rt.taken()
	if e := rt.reg.find(name); e != nil {
		return e.resolved(""), true
	}
	return Resolved{}, false
}

// All are the registered tools in the order of the definitions, then those that
// another one hides.
func (rt *Runtime) All() iter.Seq[Resolved] {
	rt.taken()
	c := rt.reg.catalogue()
	return func(yield func(Resolved) bool) {
		for _, e := range c.list {
			if !yield(e.resolved("")) {
				return
			}
		}
		for _, h := range c.hidden {
			if !yield(h.resolved(h.why())) {
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
	return r.sources[name]
}

// change is what becomes of the tools of a source.
type change struct {
	now            []*entry
	added, removed []*entry
}

// change changes the tools of one source, if the registry as a whole is good
// with it. Beyond the list of that source it looks at nothing but what changes:
// what views see is made when one is wanted.
func (r *registry) change(source string, f func(old []*entry) (change, error)) error {
	c, found, err := r.apply(source, f)
	if err == nil && r.rt.set.noted() {
		r.tell(c, found)
	}
	return err
}

// apply is change up to what is found about it.
func (r *registry) apply(source string, f func(old []*entry) (change, error)) (c change, found []Finding, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.sources[source]
	if c, err = f(old); err != nil || slices.Equal(old, c.now) {
		return c, nil, err
	}
	was := make([]*entry, len(c.added)) // seen under the name until now
	for i, e := range c.added {
		was[i] = r.seen(e.wire)
	}
	if err := r.accept(c); err != nil {
		return c, nil, err
	}
	if r.sources[source] = c.now; len(c.now) == 0 {
		delete(r.sources, source)
	}
	r.all = nil
	for i, e := range c.added {
		if g := r.rt.set.gateOf(e, true); e.gate != g { // one that comes back has it, and may be read
			e.gate = g
		}
		if first := r.seen(e.wire); first != e {
			found = append(found, hiding{e, first}.finding())
		} else if all := r.names[e.wire]; len(all) > 1 && all[1] == was[i] {
			found = append(found, hiding{all[1], e}.finding())
		}
	}
	many := r.always > maxAlwaysLoad
	r.always += alwaysLoaded(c.added) - alwaysLoaded(c.removed)
	if r.always > maxAlwaysLoad && !many {
		found = append(found, tooManyAlways(r.always))
	}
	return c, found, nil
}

// tell makes events of what came and went, with what was found about it.
func (r *registry) tell(c change, found []Finding) {
	set := &r.rt.set
	for _, e := range c.removed {
		set.emit(audit.Event{Kind: audit.Removed, Name: e.wire})
	}
	for _, e := range c.added {
		set.emit(audit.Event{Kind: audit.Registered, Name: e.wire, By: e.source.Name})
		for _, f := range e.findings {
			set.emit(audit.Event{Kind: audit.Found, Name: e.wire, Text: f})
		}
	}
	for _, f := range found {
		set.emit(audit.Event{Kind: audit.Found, Name: f.Name, Text: f.Text})
	}
}

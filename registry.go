package ferrule

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
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

// Resolved is all that is known of a registered tool.
type Resolved struct {
	Name       string // as models call it
	Info       tool.Info
	Source     tool.Source // with the trust that counts
	Claims     tool.Claims // the constant ones, as far as they are believed
	Class      string      // read-only, write or unsafe
	SideEffect string      // pure, read-only, side-effecting or external-stateful
	Deferred   bool        // not in the prompt until it is loaded
	Keyed      bool        // it names the effect of its calls
	Hidden     string      // why no view shows it; "": they do
	Findings   []string
}

// entry is one registered tool.
type entry struct {
	tool     *tool.Tool
	given    *tool.Tool  // what was registered
	source   tool.Source // with the trust that counts
	declared tool.Source // as it was set
	base     bool        // built-in or the program's own
	believed bool
	wire     string
	claims   tool.Claims // constant, believed
	findings []string
	gate     *gate // its own cap; nil: none
	digest   func() string
	rendered *sync.Map // Format to rendering
	static   *entry    // of a form made for one session: the registered one
}

func (e *entry) deferred() bool { return e.tool.Deferred }

// same reports whether two entries are one tool, perhaps in forms for different
// sessions.
func (e *entry) same(o *entry) bool { return e.origin() == o.origin() }

func (e *entry) origin() *entry {
	if e.static != nil {
		return e.static
	}
	return e
}

// claimsOf are the claims of one call, as far as they are believed.
func (e *entry) claimsOf(a tool.Args) (tool.Claims, error) {
	if !e.believed {
		return tool.Claims{}, nil
	}
	if e.tool.ClaimsOf == nil {
		return e.claims, nil // shared; nobody writes to it
	}
	return e.tool.ClaimsFor(a)
}

// registry holds every source's tools. What views see is made from it when it
// is first wanted after a change.
type registry struct {
	mu       sync.Mutex
	rt       *Runtime
	sources  map[string]*source
	fallback Fallback
	all      *catalogue // nil: to be made
}

type source struct {
	tool.Source
	base    bool
	entries []*entry
}

// catalogue is the registry as all views see it, at one moment.
type catalogue struct {
	*toolset
	hidden  map[*entry]string
	dynamic bool // some tool has a form or an answer for each session
}

func (r *registry) open(rt *Runtime) { r.rt = rt }

// Add registers tools of the program itself: all of them or, with an error, none.
func (rt *Runtime) Add(tools ...*tool.Tool) error {
	rt.freeze()
	own := tool.Source{Trust: tool.Own}
	return rt.reg.change(own, func(old []*entry) ([]*entry, error) {
		added, err := rt.reg.entries(own, tools)
		return append(slices.Clone(old), added...), err
	})
}

// Set makes these the tools of a source, in the place of those it had: all of
// them or, with an error, none. No tools take the source away. Tools of a source
// with trust built-in have bare names, as the program's own do.
func (rt *Runtime) Set(s tool.Source, tools ...*tool.Tool) error {
	rt.freeze()
	if err := s.Check(); err != nil {
		return err
	}
	if s.Name == "" {
		s.Trust = tool.Own
	}
	return rt.reg.change(s, func([]*entry) ([]*entry, error) { return rt.reg.entries(s, tools) })
}

// Replace puts a tool in the place of the program's own tool of that name.
func (rt *Runtime) Replace(t *tool.Tool) error {
	rt.freeze()
	own := tool.Source{Trust: tool.Own}
	return rt.reg.change(own, func(old []*entry) ([]*entry, error) {
		if t == nil {
			return nil, errors.New("got a nil tool")
		}
		i := slices.IndexFunc(old, func(e *entry) bool { return e.tool.Name == t.Name })
		if i < 0 {
			return nil, fmt.Errorf("replace %q: there is no own tool of that name", t.Name)
		}
		made, err := rt.reg.entries(own, []*tool.Tool{t})
		if err != nil {
			return nil, err
		}
		now := slices.Clone(old)
		now[i] = made[0]
		return now, nil
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
	_ = rt.reg.change(e.declared, func(old []*entry) ([]*entry, error) {
		now := slices.DeleteFunc(slices.Clone(old), func(o *entry) bool { return o == e })
		removed = len(now) < len(old)
		return now, nil
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

func (e *entry) resolved(hidden string) Resolved {
	return Resolved{
		Name: e.wire, Info: e.tool.Clone(), Source: e.source, Claims: e.claims, Class: e.claims.Class(), SideEffect: e.claims.SideEffect(),
		Deferred: e.deferred(), Keyed: e.tool.Key != nil, Hidden: hidden, Findings: slices.Clone(e.findings),
	}
}

// entries makes entries of tools, checking each once more: the registry keeps
// its own copy.
func (r *registry) entries(s tool.Source, tools []*tool.Tool) ([]*entry, error) {
	base, declared := s.Name == "" || s.Trust == tool.BuiltIn, s
	if raised, ok := r.rt.Trust[s.Name]; ok && s.Name != "" {
		s.Trust = raised
	}
	var list []*entry
	for i, t := range tools {
		if t == nil {
			return nil, fmt.Errorf("tool %d: got nil", i+1)
		}
		checked, err := t.Check()
		if err != nil {
			return nil, err
		}
		e := r.entry(s, base, checked)
		e.given, e.declared = t, declared
		list = append(list, e)
	}
	return list, nil
}

func (r *registry) entry(s tool.Source, base bool, t *tool.Tool) *entry {
	e := &entry{tool: t, source: s, base: base, rendered: new(sync.Map)}
	e.believed = !s.Trust.Untrusted()
	if !e.believed && r.rt.Believe != nil {
		ok, err := safely(func() (bool, error) { return r.rt.Believe(s, &t.Info), nil })
		e.believed = ok && err == nil
	}
	if e.believed {
		e.claims = t.Claims
	}
	switch {
	case base || r.rt.Collisions != Prefix:
		e.wire = tool.WireName("", t.Name)
	default:
		e.wire = tool.WireName(s.Name, t.Name)
	}
	if t.AtOnce > 0 {
		e.gate = &gate{most: t.AtOnce}
	}
	e.digest = sync.OnceValue(func() string { return definitionDigest(s, &t.Info) })
	e.findings = inspect(e)
	return e
}

// definitionDigest names a definition: an answer given for one is not good for
// another. It uses the static form.
func definitionDigest(s tool.Source, i *tool.Info) string {
	return policy.Digest(s.Name, i.Name, i.Description, string(i.Input), string(i.Output), fmt.Sprint(i.Open, i.Claims, i.Approval, i.Secrets, i.Isolation))
}

// change replaces the tools of one source, if the registry as a whole is good
// with them.
func (r *registry) change(s tool.Source, f func(old []*entry) ([]*entry, error)) error {
	r.mu.Lock()
	var old []*entry
	if had := r.sources[s.Name]; had != nil {
		old = had.entries
	}
	now, err := f(old)
	if err == nil {
		err = r.accept(s, now)
	}
	if err != nil {
		r.mu.Unlock()
		return fmt.Errorf("register: %w", err)
	}
	if r.sources == nil {
		r.sources = make(map[string]*source)
	}
	if len(now) == 0 {
		delete(r.sources, s.Name)
	} else {
		r.sources[s.Name] = &source{Source: s, base: s.Name == "" || s.Trust == tool.BuiltIn, entries: now}
	}
	r.all = nil
	r.mu.Unlock()
	r.tell(old, now)
	return nil
}

// tell makes events of what came and went, with what was found about it.
func (r *registry) tell(old, now []*entry) {
	set := &r.rt.set
	if set.observe == nil {
		return
	}
	for _, e := range old {
		if !slices.Contains(now, e) {
			set.emit(audit.Event{Kind: audit.Removed, Name: e.wire})
		}
	}
	for _, e := range now {
		if slices.Contains(old, e) {
			continue
		}
		set.emit(audit.Event{Kind: audit.Registered, Name: e.wire, By: e.source.Name})
		for _, f := range e.findings {
			set.emit(audit.Event{Kind: audit.Found, Name: e.wire, Text: f})
		}
	}
}

// accept refuses what would make names mean two things: twice one name in a
// source, aliases that are names or aliases of the base, and, where the host
// wants that, two sources with one name.
func (r *registry) accept(s tool.Source, now []*entry) error {
	seen := make(map[string]bool)
	for _, e := range now {
		if seen[e.tool.Name] {
			return fmt.Errorf("two tools of the name %q in one source", e.tool.Name)
		}
		seen[e.tool.Name] = true
	}
	base := make(map[string]string) // base names and aliases, and whose they are
	taken := make(map[string]string)
	others := func(yield func(*entry) bool) {
		for name, src := range r.sources {
			if name == s.Name {
				continue
			}
			for _, e := range src.entries {
				if !yield(e) {
					return
				}
			}
		}
		for _, e := range now {
			if !yield(e) {
				return
			}
		}
	}
	for e := range others {
		if e.base {
			base[e.tool.Name] = e.tool.Name
		}
	}
	for e := range others {
		if !e.base {
			if other, ok := taken[e.wire]; ok && r.rt.Collisions == Refuse && other != e.source.Name {
				return fmt.Errorf("the name %q: sources %q and %q both have it", e.wire, other, e.source.Name)
			}
			taken[e.wire] = e.source.Name
			continue
		}
		for _, a := range e.tool.Aliases {
			if whose, ok := base[a]; ok {
				return fmt.Errorf("alias %q of %q: %q has it as a name or alias", a, e.tool.Name, whose)
			}
			base[a] = e.tool.Name
		}
	}
	return nil
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
	order := slices.SortedFunc(maps.Values(r.sources), func(a, b *source) int {
		if a.base != b.base {
			if a.base {
				return -1
			}
			return 1
		}
		if a.Name == "" || b.Name == "" || !a.base && r.rt.Collisions == Prefix {
			return strings.Compare(a.Name, b.Name)
		}
		if d := int(b.entries[0].source.Trust) - int(a.entries[0].source.Trust); d != 0 {
			return d // the more trusted first, so that it wins
		}
		return strings.Compare(a.Name, b.Name)
	})
	c := &catalogue{hidden: make(map[*entry]string)}
	var list []*entry
	winner := make(map[string]*entry)
	for _, s := range order {
		for _, e := range s.entries {
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

// isDynamic reports whether sessions may see it differently. Tools of outside
// sources have one form for all.
func (e *entry) isDynamic() bool {
	return e.tool.Enabled != nil || e.base && (e.tool.DescriptionOf != nil || e.tool.InputOf != nil)
}

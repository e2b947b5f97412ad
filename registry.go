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
// sessions or registered anew.
func (e *entry) same(o *entry) bool {
	return e.source.Name == o.source.Name && e.tool.Name == o.tool.Name
}

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

// catalogue is the registry as all views see it, at one moment.
type catalogue struct {
	*toolset
	hidden  map[*entry]string
	dynamic bool // some tool has a form or an answer for each session
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

func (e *entry) resolved(hidden string) Resolved {
	return Resolved{
		Name: e.wire, Info: e.tool.Clone(), Source: e.source, Claims: copyClaims(e.claims), Class: e.claims.Class(), SideEffect: e.claims.SideEffect(),
		Deferred: e.deferred(), Keyed: e.tool.Key != nil, Hidden: hidden, Findings: slices.Clone(e.findings),
	}
}

func copyClaims(c tool.Claims) tool.Claims {
	c.Touches = slices.Clone(c.Touches)
	return c
}

// entries makes entries of tools, checking each once more: the registry keeps
// its own copy. Those it has already are kept.
func (r *registry) entries(s tool.Source, tools []*tool.Tool, had []*entry) ([]*entry, error) {
	s, base := r.judgeSource(s)
	known := make(map[*tool.Tool]*entry, len(had))
	for _, e := range had {
		if e.source == s && e.base == base {
			known[e.given] = e
		}
	}
	var list []*entry
	for i, t := range tools {
		if t == nil {
			return nil, fmt.Errorf("tool %d: got nil", i+1)
		}
		if e := known[t]; e != nil {
			list = append(list, e)
			continue
		}
		checked, err := t.Check()
		if err != nil {
			return nil, err
		}
		e := r.entry(s, base, checked)
		e.given = t
		list = append(list, e)
	}
	return list, nil
}

// judgeSource gives a source the trust that counts, and says whether its tools
// belong to the base. What is no class of trust is the least.
func (r *registry) judgeSource(s tool.Source) (tool.Source, bool) {
	declared := s.Trust
	if raised, ok := r.rt.Trust[s.Name]; ok && s.Name != "" {
		s.Trust = raised
	}
	if s.Trust > tool.BuiltIn {
		s.Trust = tool.Inbound
	}
	return s, s.Name == "" || declared == tool.BuiltIn && s.Trust == tool.BuiltIn
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

func (r *registry) entry(s tool.Source, base bool, t *tool.Tool) *entry {
	e := &entry{tool: t, source: s, base: base, rendered: new(sync.Map)}
	e.believed = !s.Trust.Untrusted()
	if !e.believed && r.rt.Believe != nil {
		info := t.Clone()
		ok, err := bounded(context.Background(), otherTime, func(context.Context) (bool, error) { return r.rt.Believe(s, &info), nil })
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
		e.gate = r.rt.set.gateOf(s.Name, t.Name, t.AtOnce)
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
	if r.rt.Collisions == Refuse {
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
		case !x.base && r.rt.Collisions != Prefix && x.trust != y.trust:
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

// isDynamic reports whether sessions may see it differently.
func (e *entry) isDynamic() bool { return e.tool.Enabled != nil || e.hasForms() }

// hasForms reports whether it has a description or a schema for each session.
// Tools of outside sources have one form for all.
func (e *entry) hasForms() bool {
	return e.base && (e.tool.DescriptionOf != nil || e.tool.InputOf != nil)
}

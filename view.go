package ferrule

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule/tool"
)

// View is what one agent is offered, and what it may find, for one turn.
// Nothing else can be called through it. It does not change: tools that come or
// go later are in later views.
type View struct {
	session  *Session
	of       *catalogue
	tools    *toolset
	loaded   *loadedSet
	fallback Fallback
	stands   *standing // nil: the rules are asked about each call
	whole    *View     // that this one defers; nil: it does not
	how      DeferOptions
	picked   *picked // nil: nobody picked what is offered
}

// Filter chooses tools. Each field that is set must fit; within one, any of its
// words. The zero value chooses all.
type Filter struct {
	Names   []string // as models call them
	Tags    []string
	Sources []string // by name; "" is the program itself
	// Claims are constant claims, as far as they are believed: each one set here
	// must be claimed. Touches are not looked at.
	Claims tool.Claims
	// Not turns the whole filter round.
	Not bool
}

// clone shares nothing that the caller could change.
func (f Filter) clone() Filter {
	f.Names, f.Tags, f.Sources = slices.Clone(f.Names), slices.Clone(f.Tags), slices.Clone(f.Sources)
	return f
}

func (f *Filter) match(e *entry) bool {
	if f.Names == nil && f.Tags == nil && f.Sources == nil && reflect.ValueOf(f.Claims).IsZero() {
		return !f.Not
	}
	w, h := f.Claims, e.claims
	ok := (f.Names == nil || slices.Contains(f.Names, e.wire)) &&
		(f.Sources == nil || slices.Contains(f.Sources, e.source.Name)) &&
		(f.Tags == nil || slices.ContainsFunc(f.Tags, func(t string) bool { return slices.Contains(e.tool.Tags, t) })) &&
		(!w.ReadOnly || h.ReadOnly) && (!w.Parallel || h.Overlaps()) && (!w.Reversible || h.Reversible) &&
		(!w.Local || h.Local) && (!w.Idempotent || h.Idempotent)
	return ok != f.Not
}

// leaves reports whether a view keeps a tool: those that the filter chooses, and
// what an agent reads its own long results with, unless that is said by name.
func (f *Filter) leaves(e *entry) bool {
	if e.pages {
		return !f.Not || !slices.Contains(f.Names, e.wire)
	}
	return f.match(e)
}

// key names the filter: equal ones have one name.
func (f *Filter) key() string {
	var b strings.Builder
	for _, list := range [][]string{f.Names, f.Tags, f.Sources} {
		if list != nil {
			b.WriteString(strconv.Itoa(len(list)))
		}
		for _, s := range list {
			b.WriteString(strconv.Quote(s))
		}
		b.WriteByte(';')
	}
	for _, set := range []bool{f.Claims.ReadOnly, f.Claims.Parallel, f.Claims.Reversible, f.Claims.Local, f.Claims.Idempotent, f.Not} {
		b.WriteString(strconv.FormatBool(set))
	}
	return b.String()
}

// Only is a view of those tools of this one that the filter chooses. The same
// filter gives the same definitions, as long as the tools do not change.
func (v *View) Only(f Filter) *View {
	switch {
	case v.picked != nil:
		return v.picked.from.Only(f).offering(v.picked.names)
	case v.whole != nil:
		return v.whole.Only(f).Defer(v.how)
	}
	n := *v
	n.tools, n.stands = v.tools.only(f), v.stands.only(f)
	n.loaded = v.session.conv.loadedIn(v.of, n.tools).among(v.loaded)
	return &n
}

// among are the loaded tools that another view has loaded: not those that were
// loaded since it was made.
func (l *loadedSet) among(before *loadedSet) *loadedSet {
	late := func(e *entry) bool { return !slices.Contains(before.entries(), e) }
	if !slices.ContainsFunc(l.entries(), late) {
		return l
	}
	return newLoadedSet(slices.DeleteFunc(slices.Clone(l.entries()), late))
}

// only is a part of the set. Parts are kept, so that they are written once.
func (s *toolset) only(f Filter) *toolset {
	key := f.key()
	return s.part(key, s.filter+key, f.leaves)
}

// part is those tools of the set that stay. Filter names what chose them.
func (s *toolset) part(key, filter string, stays func(*entry) bool) *toolset {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	if part := s.parts[key]; part != nil {
		return part
	}
	part := newToolset(slices.DeleteFunc(slices.Clone(s.list), func(e *entry) bool { return !stays(e) }))
	part.filter = filter
	keep(&s.parts, key, part)
	return part
}

// Names are the tools that are offered, as models call them, in the order of
// the definitions.
func (v *View) Names() []string {
	var names []string
	for _, e := range v.tools.offered {
		names = append(names, e.wire)
	}
	for _, e := range v.loaded.entries() {
		names = append(names, e.wire)
	}
	return names
}

// Offered are the tools of [View.Names], with all that is known of each. It is
// shared, so that asking again costs nothing: it must not be changed.
func (v *View) Offered() iter.Seq[Resolved] {
	return func(yield func(Resolved) bool) {
		for _, e := range v.tools.offered {
			if !yield(*e.shown()) {
				return
			}
		}
		for _, e := range v.loaded.entries() {
			if !yield(*e.shown()) {
				return
			}
		}
	}
}

// Key tells views apart by what they offer, without looking at it: those with equal
// keys (==) offer the same tools. As long as nothing changes a session's views have
// one key.
func (v *View) Key() any {
	return viewKey{v.tools, v.loaded}
}

type viewKey struct {
	tools  *toolset
	loaded *loadedSet
}

// loadedSet are the deferred tools of one set that a session has loaded, in that
// order. A session that loads another one gets a new set, so that views stay.
// Nil is none.
type loadedSet struct {
	list []*entry
	kept renderings
}

func newLoadedSet(list []*entry) *loadedSet {
	if len(list) == 0 {
		return nil
	}
	return &loadedSet{list: list}
}

func (l *loadedSet) entries() []*entry {
	if l == nil {
		return nil
	}
	return l.list
}

// toolset is a set of tools that does not change, with what was written of it.
type toolset struct {
	list    []*entry
	offered []*entry          // of them: in the prompt, whatever is loaded
	defers  bool              // it is that of a deferred view
	loads   bool              // of one that loads what is found
	names   map[string]*entry // on the wire
	aliases map[string]*entry
	filter  string // that the host chose it with, see [Filter]; "": all

	size  sync.Once
	bytes int // of the definitions that are offered, after size

	kept      renderings
	parts     map[string]*toolset // by filter
	deferrals map[deferKey]*toolset
	picks     map[string]*toolset // by names
	nearby    nearby
}

// maxKept is how many forms of one thing are kept ready: views of so many
// agents, say.
const maxKept = 64

// keep puts a value into a map that does not grow beyond maxKept. What goes for
// it is any other: who wants a few more than there is room for, in turn, still
// finds most of them, and would find none if the oldest went.
func keep[K comparable, V any](all *map[K]V, key K, v V) { keepFew(all, key, v, maxKept) }

// keepFew is keep for another number.
func keepFew[K comparable, V any](all *map[K]V, key K, v V, most int) {
	if *all == nil {
		*all = make(map[K]V)
	}
	for old := range *all {
		if len(*all) < most {
			break
		}
		delete(*all, old)
	}
	(*all)[key] = v
}

func newToolset(list []*entry) *toolset {
	s := &toolset{list: list, names: make(map[string]*entry, len(list)), aliases: make(map[string]*entry)}
	deferred := slices.ContainsFunc(list, (*entry).deferred)
	if s.offered = list; deferred {
		s.offered = slices.DeleteFunc(slices.Clone(list), (*entry).deferred)
	}
	for _, e := range list {
		s.names[e.wire] = e
	}
	for _, e := range list {
		if !e.base {
			continue
		}
		for _, a := range e.tool.Aliases {
			s.aliases[a] = e
		}
	}
	return s
}

// find looks a name up: a name beats an alias.
func (s *toolset) find(name string) *entry {
	if e := s.names[name]; e != nil {
		return e
	}
	return s.aliases[name]
}

// Do runs the calls of one answer of the model and returns as many results, in
// the order of the calls, whatever happens. It waits for people who are asked.
// Ending ctx stops it: see [Turn].
func (v *View) Do(ctx context.Context, calls ...tool.Call) []tool.Result {
	return v.DoTurn(ctx, TurnOptions{}, calls...)
}

// DoTurn is [View.Do] for a turn with options.
func (v *View) DoTurn(ctx context.Context, o TurnOptions, calls ...tool.Call) []tool.Result {
	t := v.begin(ctx, o)
	t.quiet = true // Wait, below, looks at what may run on this goroutine
	t.add(calls)
	results := t.Wait()
	t.recycle()
	return results
}

// Begin starts a turn to which calls are added one by one.
func (v *View) Begin(ctx context.Context, o TurnOptions) *Turn { return v.begin(ctx, o) }

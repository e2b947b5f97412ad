package ferrule

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/ferrule-dev/ferrule/tool"
)

// formedSet is the catalogue as one agent of a session sees it.
type formedSet struct {
	of      *catalogue // nil: it is to be made
	tools   *toolset
	enabled map[*entry]bool
	asking  chan struct{} // closed when tools have been asked for this agent; nil: they are not
}

// stance is what a tool said to an agent.
type stance struct {
	enabled bool
	form    *entry // as the session sees it
	sure    bool   // it was not cut short
}

// forms is the catalogue as this session sees it. Each tool is asked once for
// its form, when the session first sees it, so that prompts stay as they are,
// and once for each agent whether it is enabled. What the end of ctx cuts short
// is as if the tool had failed, for this view only.
func (c *conversation) forms(ctx context.Context, all *catalogue, caller tool.Caller) *toolset {
	old, seen, asking := c.toAsk(ctx, all, caller.Agent)
	if old.of == all {
		return old.tools
	}
	now := formedSet{of: all, enabled: make(map[*entry]bool)}
	forms := make(map[*entry]*entry)
	for e, form := range seen { // other agents' too; tools that are gone are forgotten
		if all.names[e.wire] == e {
			forms[e] = form
		}
	}
	whole := true
	list := make([]*entry, 0, len(all.list))
	for i, s := range askAll(ctx, all.list, caller, old.enabled, seen) {
		e := all.list[i]
		if s.sure && e.tool.Enabled != nil {
			now.enabled[e] = s.enabled
		}
		if s.sure && s.enabled && e.hasForms() {
			forms[e] = s.form
		}
		if s.enabled {
			list = append(list, s.form)
		}
		whole = whole && s.sure
	}
	now.tools = newToolset(list)
	if asking != nil {
		c.keepForms(caller.Agent, asking, now, forms, whole)
	}
	return now.tools
}

// toAsk is what is known of tools, and the right to ask for the rest, which one
// view of the session has at a time; nil: ctx has ended before. What it gives is
// replaced, never changed.
func (c *conversation) toAsk(ctx context.Context, all *catalogue, agent string) (old formedSet, seen map[*entry]*entry, asking chan struct{}) {
	c.forming.Lock()
	defer c.forming.Unlock()
	for {
		var busy chan struct{}
		for _, f := range c.formed {
			if f.asking != nil {
				busy = f.asking
			}
		}
		old = c.formed[agent]
		switch {
		case old.of == all, busy != nil && ctx.Err() != nil:
			return old, c.seen, nil
		case busy == nil:
			if c.formed == nil {
				c.formed = make(map[string]formedSet)
			}
			asking = make(chan struct{})
			c.formed[agent] = formedSet{enabled: old.enabled, asking: asking}
			return old, c.seen, asking
		}
		c.forming.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
		}
		c.forming.Lock()
	}
}

// keepForms keeps what tools said, unless the host has them asked anew since.
func (c *conversation) keepForms(agent string, asking chan struct{}, now formedSet, forms map[*entry]*entry, whole bool) {
	c.forming.Lock()
	defer c.forming.Unlock()
	close(asking)
	if c.formed[agent].asking != asking {
		return
	}
	for other, f := range c.formed {
		if f.of != now.of { // it is made anew when that agent looks again
			c.formed[other] = formedSet{enabled: f.enabled}
		}
	}
	if !whole {
		now = formedSet{enabled: now.enabled}
	}
	c.formed[agent], c.seen = now, forms
}

// askAll is what each tool says. Those of whom it is not known yet are asked side
// by side.
func askAll(ctx context.Context, list []*entry, caller tool.Caller, enabled map[*entry]bool, seen map[*entry]*entry) []stance {
	all := make([]stance, len(list))
	var asked sync.WaitGroup
	for i, e := range list {
		on, known := enabled[e]
		form := seen[e]
		if e.tool.Enabled == nil {
			on, known = true, true
		}
		if !e.hasForms() {
			form = e
		}
		if known && (!on || form != nil) {
			all[i] = stance{on, form, true}
			continue
		}
		asked.Go(func() { all[i] = e.ask(ctx, caller, on, known, form) })
	}
	asked.Wait()
	return all
}

// ask asks for what is not known: whether the tool is enabled, and its form.
func (e *entry) ask(ctx context.Context, caller tool.Caller, on, known bool, form *entry) stance {
	s := stance{on, form, true}
	if !known {
		on, err := askTool(ctx, caller, e.tool.Enabled)
		s.enabled, s.sure = on && err == nil, err == nil || ctx.Err() == nil
	}
	if s.enabled && form == nil {
		s.form, s.sure = e.formFor(ctx, caller)
	}
	return s
}

// askTool calls a function of a tool for a session. It has its own time, as every
// function has, and no more than ctx.
func askTool[T any](ctx context.Context, caller tool.Caller, f func(context.Context, tool.Caller) (T, error)) (v T, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	return bounded(ctx, otherTime, func(ctx context.Context) (T, error) { return f(ctx, caller) })
}

// formFor is the tool as one session sees it. What fails leaves the static form.
func (e *entry) formFor(ctx context.Context, caller tool.Caller) (_ *entry, sure bool) {
	t := e.tool
	form := t
	var description string
	var input json.RawMessage
	var noDescription, noInput error
	var asked sync.WaitGroup
	if t.DescriptionOf != nil {
		asked.Go(func() { description, noDescription = askTool(ctx, caller, t.DescriptionOf) })
	}
	if t.InputOf != nil {
		asked.Go(func() { input, noInput = askTool(ctx, caller, t.InputOf) })
	}
	asked.Wait()
	try := func(change func(*tool.Tool)) {
		t := *form
		change(&t)
		if checked, err := t.Check(); err == nil {
			form = checked
		}
	}
	if t.DescriptionOf != nil && noDescription == nil {
		try(func(f *tool.Tool) { f.Description = description })
	}
	if t.InputOf != nil && noInput == nil {
		try(func(f *tool.Tool) { f.Input = input })
	}
	sure = noDescription == nil && noInput == nil || ctx.Err() == nil
	if form == e.tool {
		return e, sure
	}
	f := *e
	f.tool, f.static, f.rendered = form, e, new(renderings)
	f.shown, f.cost, f.inLine = f.showOnce(), f.costOnce(), f.lineOnce()
	return &f, sure
}

// load makes a deferred tool part of the prompt from the next view on. Loading
// only appends. It is remembered by name: a tool that is registered anew stays
// loaded.
func (c *conversation) load(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.loaded, e.wire) {
		c.appendLoaded(e)
	}
}

// appendLoaded loads a tool that is not loaded. c.mu is held.
func (c *conversation) appendLoaded(e *entry) {
	c.loaded, c.loadedAs = append(c.loaded, e.wire), nil
	c.anyLoaded.Store(true)
}

// canLoad reports whether a tool is offered only once it is loaded.
func (s *toolset) canLoad(e *entry) bool {
	if s.loads {
		return !slices.Contains(s.offered, e)
	}
	return e.deferred() && (!s.defers || e.pages)
}

// maxLoaded is how many tools of a set searches load in a session. What is loaded
// stays, so that prompts begin as they did: without a bound, a model could have all
// in its prompt that was to be kept out of it.
const maxLoaded = 64

// load makes tools that were found in a set part of the prompt of a caller's session,
// in this order. For those that are left there is no room.
func (rt *Runtime) load(c tool.Caller, in *toolset, found []*entry) (left []*entry) {
	rt.mu.Lock()
	conv := rt.sessions[sessionKey{c.Tenant, c.Principal, c.Session}]
	rt.mu.Unlock()
	if conv == nil {
		return found
	}
	for _, e := range found {
		if !e.tool.AlwaysLoad && !conv.loadFew(in, e) {
			left = append(left, e)
		}
	}
	return left
}

// loadFew loads a tool of a set, if there is room for it.
func (c *conversation) loadFew(in *toolset, e *entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, name := range c.loaded {
		if name == e.wire {
			return true
		}
		if in.names[name] != nil { // what is gone takes no room
			n++
		}
	}
	if n >= maxLoaded {
		return false
	}
	c.appendLoaded(e)
	return true
}

// loadedIn are the loaded tools that a set of tools has; nil: none.
func (c *conversation) loadedIn(of *catalogue, tools *toolset) *loadedSet {
	if !c.anyLoaded.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.loadedAs[tools]
	if !ok {
		var list []*entry
		for _, name := range c.loaded {
			if e := tools.names[name]; e != nil && tools.canLoad(e) {
				list = append(list, e)
			}
		}
		l = newLoadedSet(list)
		if c.loadedOf != of {
			c.loadedAs, c.loadedOf = nil, of // what is gone is forgotten
		}
		keep(&c.loadedAs, tools, l)
	}
	return l
}

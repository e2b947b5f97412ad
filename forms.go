package ferrule

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// formedSet is the catalogue as one agent of a session sees it.
type formedSet struct {
	of      *catalogue
	tools   *toolset
	enabled map[*entry]bool
}

// forms is the catalogue as this session sees it. Each tool is asked once for
// its form, when the session first sees it, so that prompts stay as they are,
// and once for each agent whether it is enabled.
func (c *conversation) forms(ctx context.Context, all *catalogue, caller tool.Caller) *toolset {
	ctx = context.WithoutCancel(ctx) // the answer outlives this view
	c.forming.Lock()
	defer c.forming.Unlock()
	old := c.formed[caller.Agent]
	if old.of == all {
		return old.tools
	}
	now := formedSet{of: all, enabled: make(map[*entry]bool)}
	seen := make(map[*entry]*entry) // tools that are gone are forgotten
	list := make([]*entry, 0, len(all.list))
	for _, e := range all.list {
		if e.tool.Enabled != nil {
			on, ok := old.enabled[e]
			if !ok {
				on = e.enabled(ctx, caller)
			}
			if now.enabled[e] = on; !on {
				continue
			}
		}
		if e.hasForms() {
			form := c.seen[e]
			if form == nil {
				form = e.form(ctx, caller)
			}
			seen[e] = form
			e = form
		}
		list = append(list, e)
	}
	for e, form := range c.seen { // another agent's, as long as they are registered
		if seen[e] == nil && all.names[e.wire] == e {
			seen[e] = form
		}
	}
	c.seen = seen
	now.tools = newToolset(list)
	if c.formed == nil {
		c.formed = make(map[string]formedSet)
	}
	for agent, f := range c.formed {
		if f.of != all { // it is made anew when that agent looks again
			c.formed[agent] = formedSet{enabled: f.enabled}
		}
	}
	c.formed[caller.Agent] = now
	return now.tools
}

func (e *entry) enabled(ctx context.Context, caller tool.Caller) bool {
	on, err := bounded(ctx, otherTime, func(ctx context.Context) (bool, error) { return e.tool.Enabled(ctx, caller) })
	return on && err == nil
}

// form is the tool as one session sees it. What fails leaves the static form.
func (e *entry) form(ctx context.Context, caller tool.Caller) *entry {
	t := e.tool
	form := e.tool
	try := func(change func(*tool.Tool) error) {
		t := *form
		if change(&t) != nil {
			return
		}
		if checked, err := t.Check(); err == nil {
			form = checked
		}
	}
	if t.DescriptionOf != nil {
		try(func(f *tool.Tool) (err error) {
			f.Description, err = bounded(ctx, otherTime, func(ctx context.Context) (string, error) { return t.DescriptionOf(ctx, caller) })
			return err
		})
	}
	if t.InputOf != nil {
		try(func(f *tool.Tool) (err error) {
			f.Input, err = bounded(ctx, otherTime, func(ctx context.Context) (json.RawMessage, error) { return t.InputOf(ctx, caller) })
			return err
		})
	}
	if form == e.tool {
		return e
	}
	f := *e
	f.tool, f.static, f.rendered = form, e, new(renderings)
	return &f
}

// load makes a deferred tool part of the prompt from the next view on. Loading
// only appends. It is remembered by name: a tool that is registered anew stays
// loaded.
func (c *conversation) load(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.loaded, e.wire) {
		c.loaded, c.loadedAs = append(c.loaded, e.wire), nil
		c.anyLoaded.Store(true)
	}
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
			if e := tools.names[name]; e != nil && e.deferred() {
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

package ferrule

import (
	"context"
	"fmt"
	"slices"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// resolve is phase 1: name, alias. Where a fallback must be asked, which takes
// time, the call is not resolved until it is ready.
func (v *View) resolve(name string) (e *entry, unresolved bool, failure *tool.Error) {
	hidden := v.stands.denies(name)
	if e := v.tools.find(name); e != nil && (hidden == nil || e.wire == name || hidden.wire != name) {
		return e, false, nil // a name beats an alias, also one that is not shown
	}
	if v.fallback != nil && hidden == nil {
		return nil, true, nil
	}
	return nil, false, v.unknown(name, nil)
}

// hidden is why the rules let nobody see the tool of a name; nil: they do, or
// there is none.
func (c *call) hidden() *policy.Ruling {
	if c.entry != nil || c.known == nil || c.broken != nil {
		return nil
	}
	s := c.turn.view.stands
	e := s.denies(c.called())
	if e == nil {
		return nil
	}
	c.first.Tool, c.first.Source, c.first.Name = &e.tool.Info, e.source, e.wire
	r := &policy.Ruling{Decision: *s.fixed[e], By: policy.ByPolicy}
	c.known, c.final = c.denied(*r), true
	return r
}

// defers reports whether a tool is not in the prompt yet. What reads kept results
// can always be called: an old transcript may speak of it.
func (v *View) defers(e *entry) bool {
	return v.whole == nil && e.deferred() && !e.pages && !slices.Contains(v.loaded.entries(), e) && !v.picked.has(e)
}

// notLoaded loads a deferred tool for the next turn.
func (v *View) notLoaded(name string, e *entry) *tool.Error {
	v.session.conv.load(e)
	return &tool.Error{Kind: tool.NotLoaded, Text: fmt.Sprintf("Tool %s was not loaded. It is now: call it again.\nIts input schema: %s", name, e.definition().Input)}
}

// supply asks the fallback for a tool.
func (c *call) supply() (*entry, *tool.Error) {
	v, name := c.turn.view, c.called()
	t, err := timedAs(c, func(err error) *tool.Error { return v.unknown(name, err) }, func(ctx context.Context) (*tool.Tool, error) { return v.fallback(ctx, v.session.caller, name) })
	if c.cut != nil {
		return nil, c.cutOff()
	}
	if err == nil && t != nil {
		var e *entry
		if e, err = v.session.conv.supplied(name, t); err == nil {
			return e, nil
		}
	}
	return nil, v.unknown(name, err)
}

// supplied is the entry of a tool that a fallback gave. One that is given again,
// or is one of the program's own, is the same tool: its cap holds over all its
// calls.
func (c *conversation) supplied(name string, t *tool.Tool) (*entry, error) {
	r := &c.rt.reg
	r.mu.Lock()
	had := r.supplied[name]
	for _, e := range r.names[tool.WireName("", t.Name)] {
		if e.given == t && e.source.Name == "" {
			had = e
		}
	}
	r.mu.Unlock()
	if had != nil && had.given == t {
		return had, nil
	}
	made, err := r.entries(tool.Source{Trust: tool.Own}, []*tool.Tool{t}, nil)
	if err != nil {
		return nil, err
	}
	e := made[0]
	r.mu.Lock()
	defer r.mu.Unlock()
	if had := r.supplied[name]; had != nil && had.given == t {
		return had, nil // another call was first
	}
	if r.supplied == nil || len(r.supplied) > maxSupplied {
		r.supplied = make(map[string]*entry)
	}
	r.supplied[name] = e
	return e, nil
}

// maxSupplied is how many tools of fallbacks are remembered.
const maxSupplied = 1024

// unknown is what the model reads when no tool has the name; cause is what a
// fallback failed with.
func (v *View) unknown(name string, cause error) *tool.Error {
	e := &tool.Error{Kind: tool.UnknownTool, Text: v.tools.notFound(name), Cause: cause}
	if cause != nil {
		e.Detail = "the fallback failed: " + cause.Error()
	}
	return e
}

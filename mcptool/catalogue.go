package mcptool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// catalogue is the tools of a server, as it was listed last.
type catalogue struct {
	tools  []*listedTool // in the server's order
	byName map[string]*listedTool
	bad    []Quarantined // of them, and what was left out
	left   string        // why there may be more; "": that is all
	told   bool          // the server has just said so; else it is judged anew
	// out: nothing of the server is for clients, whether it has tools or not. Somebody
	// has left it out, or what was answered for it cannot be read.
	out bool
}

// listedTool is one definition and what was made of it.
type listedTool struct {
	raw  json.RawMessage // as the server sent it
	name string
	tidy json.RawMessage // what clients may be sent of it
	made *tool.Tool      // nil: it is of no use
	tool *tool.Tool      // nil: it is quarantined
	why  string          // it is
	pin  *pinSum         // of what it says; nil: nothing is pinned
	// final: it is quarantined for what it is, whatever there is beside it.
	final bool
}

// offered are the tools that are not quarantined.
func (c *catalogue) offered() []*tool.Tool {
	var all []*tool.Tool
	for _, t := range c.tools {
		if t.tool != nil {
			all = append(all, t.tool)
		}
	}
	return all
}

// definition is a tool as the server defines it, by the server's own name for it;
// without what no client could read.
func (s *server) definition(name string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tools.byName[name]; t != nil {
		return t.tidy
	}
	return nil
}

// listedAt tells the lists of the server apart: another one has another place, also
// one without tools. Nil: there is none yet.
func (s *server) listedAt() **listedTool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(s.tools.tools) == 0 {
		return nil
	}
	return &s.tools.tools[:1][0]
}

// listTools asks for the tools and registers them. ttl is how long the server says
// that the list is good; 0: it does not say.
func (s *server) listTools(ctx context.Context, l link) (ttl time.Duration, err error) {
	p := &pages{}
	if can := capabilitiesOf(l.greeting()); can.tools.there || can.unsaid() {
		p, err = listAll(ctx, l, "tools/list")
		if fault := (*Fault)(nil); can.unsaid() && errors.As(err, &fault) {
			p, err = &pages{}, nil
		}
		if err != nil {
			return 0, err
		}
	}
	s.doing(fmt.Sprintf("its %d tools are being checked", len(p.items)))
	made := s.catalogue(ctx, p.items)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	made.left, made.told = p.left, true
	changed, err := s.offer(ctx, made)
	if err != nil {
		return p.ttl, err
	}
	s.judgedOnce()
	if err := s.remember(l.greeting(), p.items); err != nil {
		s.hub.log().LogAttrs(ctx, slog.LevelWarn, "the list of tools could not be kept", slog.String("server", s.Name), slog.String("why", err.Error()))
	}
	if changed {
		s.hub.tell(s.Name, "tools")
	}
	return p.ttl, nil
}

// judgeTime is how long it may take to make tools of a list. What each definition
// can cost is bounded, but thousands that are made to be slow would add up.
const judgeTime = 30 * time.Second

// catalogue makes tools of definitions. A definition that it had already leads to
// the very same tool, so that the runtime sees no change. Those for which no time
// is left are quarantined until the list is asked for again.
func (s *server) catalogue(ctx context.Context, defs []json.RawMessage) *catalogue {
	ctx, cancel := context.WithTimeoutCause(ctx, judgeTime, fmt.Errorf("the tools before it took longer to check than %s", judgeTime))
	defer cancel()
	s.mu.Lock()
	had := make(map[[sha256.Size]byte]*listedTool, len(s.tools.tools))
	for _, t := range s.tools.tools {
		if t.made != nil || t.final {
			had[sha256.Sum256(t.raw)] = t
		}
	}
	s.mu.Unlock()
	c := &catalogue{tools: make([]*listedTool, 0, max(len(defs), 1))} // it has a place: listedAt
	names := make(map[string]bool, len(defs))
	alike := make(map[string]*tool.Tool)
	for _, raw := range defs {
		var t *listedTool
		if len(raw) <= maxDefinition {
			t = had[sha256.Sum256(raw)]
		}
		switch {
		case t != nil:
			t = t.asMade()
		case ctx.Err() != nil:
			t = &listedTool{raw: raw, name: short(textMember(raw, "name")), why: context.Cause(ctx).Error()}
		default:
			t = s.listed(raw, alike)
		}
		if t.tool != nil && names[t.name] {
			t = &listedTool{raw: raw, name: t.name, why: "another tool of the server has the same name"}
		}
		if t.tool != nil {
			names[t.name] = true
		}
		c.tools = append(c.tools, t)
	}
	c.quarantine()
	return c
}

// quarantine notes which are offered and which are not.
func (c *catalogue) quarantine() {
	c.bad, c.byName = nil, make(map[string]*listedTool, len(c.tools))
	for _, t := range c.tools {
		if t.tool == nil {
			c.bad = append(c.bad, Quarantined{t.name, t.why})
		} else {
			c.byName[t.name] = t
		}
	}
	if c.left != "" {
		c.bad = append(c.bad, Quarantined{Why: c.left})
	}
}

// asMade is the tool before anything beside it was looked at.
func (t *listedTool) asMade() *listedTool {
	if t.tool == t.made {
		return t
	}
	again := *t
	again.tool, again.why = t.made, ""
	return &again
}

// offer gives the tools that may be offered to the runtime, and reports whether they
// are others than before.
func (s *server) offer(ctx context.Context, c *catalogue) (changed bool, err error) {
	s.pins.mu.Lock()
	defer s.pins.mu.Unlock()
	s.pin(ctx, c)
	c.quarantine()
	return s.register(c) //nolint:contextcheck // registering has none
}

// register gives the tools to the runtime, and reports whether what is offered has
// changed. A tool that the runtime refuses is quarantined.
func (s *server) register(c *catalogue) (changed bool, err error) {
	tools := c.offered()
	if err := s.hub.Runtime.Set(s.source(), tools...); err != nil {
		// Either nothing of this source is taken, or one tool is at fault.
		if none := s.hub.Runtime.Set(s.source()); none != nil {
			return false, fmt.Errorf("server %s: %w: %w", s.Name, errRegister, none)
		}
		refused := make(map[*tool.Tool]error)
		s.sift(nil, tools, refused)
		for i, t := range c.tools {
			if why := refused[t.tool]; t.tool != nil && why != nil {
				c.tools[i] = &listedTool{raw: t.raw, name: t.name, why: why.Error()}
			}
		}
		c.quarantine()
	}
	s.mu.Lock()
	changed = !slices.Equal(s.tools.offered(), c.offered())
	turned := s.tools.tools != nil && s.tools.silent() != c.silent()
	s.tools = *c
	s.mu.Unlock()
	if turned { // what else clients are listed of it comes, or goes
		s.outdate("prompts")
		s.outdate("resources")
	}
	return changed, nil
}

// sift registers those tools of rest that can stand beside good, and puts the
// others into refused. It returns all that are registered.
func (s *server) sift(good, rest []*tool.Tool, refused map[*tool.Tool]error) []*tool.Tool {
	all := slices.Concat(good, rest)
	err := s.hub.Runtime.Set(s.source(), all...)
	if err == nil {
		return all
	}
	if len(rest) == 1 {
		refused[rest[0]] = err
		return good
	}
	good = s.sift(good, rest[:len(rest)/2], refused)
	if good = s.sift(good, rest[len(rest)/2:], refused); len(good) == 0 {
		_ = s.hub.Runtime.Set(s.source()) // it was done before
	}
	return good
}

// heldList is a list that was asked for.
type heldList struct {
	items []json.RawMessage
	until time.Time // zero: until it changes
}

// listOf is what a method lists, and which member of its results holds it.
type listOf struct{ what, member string }

func listMethods() map[string]listOf {
	return map[string]listOf{
		"tools/list":               {"tools", "tools"},
		"prompts/list":             {"prompts", "prompts"},
		"resources/list":           {"resources", "resources"},
		"resources/templates/list": {"resources", "resourceTemplates"},
	}
}

// keepTime is how long a list is kept of a server that does not say when it
// changes, nor for how long it is good.
const keepTime = 5 * time.Minute

// list is a whole list (prompts/list, resources/list, resources/templates/list)
// of the server, all pages, as the items' bytes; kept until the server says that
// it has changed.
func (s *server) list(ctx context.Context, method string) ([]json.RawMessage, error) {
	of, known := listMethods()[method]
	if !known {
		return nil, fmt.Errorf("list: got %q, want a method that lists", method)
	}
	if k, ok := s.keptList(method); ok {
		return k.items, nil
	}
	select {
	case s.listing <- struct{}{}: // whoever comes second finds what the first has kept
		defer func() { <-s.listing }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if k, ok := s.keptList(method); ok {
		return k.items, nil
	}
	l, err := s.connected(ctx)
	if err != nil {
		s.mu.Lock()
		s.missed = true
		s.mu.Unlock()
		return nil, err
	}
	all := capabilitiesOf(l.greeting())
	can := map[string]capability{"tools": all.tools, "prompts": all.prompts, "resources": all.resources}[of.what]
	if !can.there {
		return nil, nil
	}
	s.mu.Lock()
	before := s.changes[of.what]
	s.mu.Unlock()
	p, err := listAll(ctx, l, method)
	if fault := (*Fault)(nil); errors.As(err, &fault) && fault.Code == codeNoMethod {
		p, err = &pages{}, nil // a server of resources need not have templates
	}
	if err != nil {
		return nil, err
	}
	k := heldList{items: p.items}
	if !can.changes {
		k.until = time.Now().Add(keepTime)
		if p.ttl > 0 {
			k.until = time.Now().Add(p.ttl)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes[of.what] == before && s.link == l {
		s.lists[method] = k
	}
	return k.items, nil
}

func (s *server) keptList(method string) (heldList, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.lists[method]
	if ok && !k.until.IsZero() && !time.Now().Before(k.until) {
		delete(s.lists, method)
		return heldList{}, false
	}
	return k, ok
}

// sameJSON reports whether two values of JSON are the same bytes but for space.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

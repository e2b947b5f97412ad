package ferrule

import (
	"maps"
	"reflect"
	"sync"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// standing is what the rules say of the tools of a view whatever the arguments,
// in one mode. What they deny so is not shown.
type standing struct {
	mode   string
	fixed  map[*entry]*tool.Decision
	hidden map[string]*entry // of them: denied, by name and alias
	// Which tools of deferred views are denied so; asked for once.
	unfindable func() [allFinders]bool
}

// standingSet is a set of tools without what the rules deny, and what they say
// of the rest.
type standingSet struct {
	all    *toolset
	tools  *toolset       // what is left of all
	values map[string]any // of the caller: while it is kept, no other map is where it is
	*standing
}

// standKey is all of a caller and its session that may make a difference, beside
// what the session is named by.
type standKey struct {
	client, agent, run, prompt string
	attended                   bool
	values                     uintptr // where the host's are: they do not change once given
	mode                       policy.Mode
}

// maxStandings is how many such are kept ready in a session: one has a place for
// each tool.
const maxStandings = 8

// stand asks the rules about every tool of the catalogue, as the caller has it,
// once for each caller and mode.
func (c *conversation) stand(of *catalogue, all *toolset, caller tool.Caller) (*toolset, *standing) {
	set := &c.rt.set
	if set.policy == nil || set.replay != nil {
		return all, nil
	}
	key := standKey{caller.Client, caller.Agent, caller.Run, caller.Prompt, caller.Attended, reflect.ValueOf(caller.Values).Pointer(), c.mode()}
	c.standing.Lock()
	if c.standingOf != of { // tools that are gone are forgotten, once it is known what is left
		c.standingOf, c.standings, c.stoodBefore = of, nil, c.standings
	}
	had, before := c.standings[key], c.stoodBefore[key]
	if had == nil {
		delete(c.stoodBefore, key)
	}
	c.standing.Unlock()
	if had == nil || had.all != all {
		s := set.stand(all, caller, key.mode, before)
		s.unfindable = sync.OnceValue(func() [allFinders]bool { return set.unfindable(&c.rt.reg, caller, s.mode) })
		had = &standingSet{all, all.without(s), caller.Values, s}
		c.standing.Lock()
		defer c.standing.Unlock()
		if c.standingOf == of {
			keepFew(&c.standings, key, had, maxStandings)
		}
	}
	return had.tools, had.standing
}

// stand asks about those tools that were not there before; nil: none were. Where one
// of thousands has changed, the next call does not wait until all are asked about.
func (s *settings) stand(all *toolset, caller tool.Caller, mode policy.Mode, before *standingSet) *standing {
	st := &standing{mode: string(mode)}
	said := make(map[tool.Decision]*tool.Decision) // rules are few: most tools share what is said
	var last *tool.Decision
	known := before.entries()
	for _, e := range all.list {
		if known[e] {
			if d := before.fixed[e]; d != nil {
				st.fix(e, d, len(all.list))
			}
			continue
		}
		r := &tool.Request{Caller: caller, Source: e.source, Tool: &e.tool.Info, Name: e.wire, Mode: st.mode, Varies: e.varies()}
		if !r.Varies {
			r.Claims = e.claims
		}
		d, ok := s.fixed(r)
		if !ok {
			continue
		}
		if last == nil || *last != d {
			if last = said[d]; last == nil {
				kept := d
				last = &kept
				said[d] = last
			}
		}
		st.fix(e, last, len(all.list))
	}
	return st
}

// fix notes what is said of a tool, one of many.
func (s *standing) fix(e *entry, d *tool.Decision, many int) {
	if s.fixed == nil {
		s.fixed = make(map[*entry]*tool.Decision, many)
	}
	if s.fixed[e] = d; d.Verdict == tool.Deny && !d.Override {
		s.hide(e)
	}
}

// entries are the tools that were asked about.
func (s *standingSet) entries() map[*entry]bool {
	if s == nil {
		return nil
	}
	all := make(map[*entry]bool, len(s.all.list))
	for _, e := range s.all.list {
		all[e] = true
	}
	return all
}

// unfindable says which tools of deferred views the rules deny whatever their
// arguments. About tool_call they are not asked: they see the tool that it calls.
func (s *settings) unfindable(reg *registry, caller tool.Caller, mode string) (denied [allFinders]bool) {
	tools, err := finders(reg, new(toolset), DeferOptions{})
	if err != nil {
		return denied
	}
	for i, t := range tools[:toolCall] {
		r := &tool.Request{Caller: caller, Source: tool.Source{Name: ferruleSource, Trust: tool.BuiltIn}, Tool: &t.Info, Name: t.Name, Mode: mode, Claims: t.Claims}
		if raised, ok := s.trust[ferruleSource]; ok {
			r.Source.Trust = raised
		}
		d, ok := s.fixed(r)
		denied[i] = ok && d.Verdict == tool.Deny && !d.Override
	}
	return denied
}

// hide takes a tool out of sight. A name beats an alias.
func (s *standing) hide(e *entry) {
	if s.hidden == nil {
		s.hidden = make(map[string]*entry)
	}
	s.hidden[e.wire] = e
	if !e.base {
		return
	}
	for _, a := range e.tool.Aliases {
		if s.hidden[a] == nil {
			s.hidden[a] = e
		}
	}
}

// fixed is what the policy says beforehand. A panic says nothing.
func (s *settings) fixed(r *tool.Request) (d tool.Decision, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return s.policy.Fixed(r)
}

// only is what stands of a part of the tools.
func (s *standing) only(f Filter) *standing {
	if s == nil || len(s.hidden) == 0 {
		return s
	}
	part := *s
	part.hidden = maps.Clone(s.hidden)
	maps.DeleteFunc(part.hidden, func(_ string, e *entry) bool { return !f.leaves(e) })
	return &part
}

// denies gives the tool of a name that is not shown, because the rules deny it.
func (s *standing) denies(name string) *entry {
	if s == nil {
		return nil
	}
	return s.hidden[name]
}

// said is what the rules say about a call: beforehand, or now.
func (c *call) said() tool.Decision {
	if s := c.turn.view.stands; s != nil && s.mode == c.req.Mode {
		if d := s.fixed[c.entry]; d != nil {
			return *d
		}
	}
	return c.turn.set.rules(c.req)
}

// without is the set without the tools that are hidden. Equal parts are one, so
// that they are written once.
func (s *toolset) without(st *standing) *toolset {
	if len(st.hidden) == 0 {
		return s
	}
	var names []string
	for _, e := range s.list {
		if st.hidden[e.wire] == e {
			names = append(names, e.wire)
		}
	}
	return s.part("without "+policy.Digest(names...), s.filter, func(e *entry) bool { return st.hidden[e.wire] != e })
}

package ferrule

import (
	"slices"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// standing is what the rules say of the tools of a view whatever the arguments,
// in one mode. What they deny so is not shown.
type standing struct {
	mode   string
	fixed  map[*entry]tool.Decision
	hidden []*entry // of them: denied
}

// standingSet is a set of tools without what the rules deny, and what they say
// of the rest.
type standingSet struct {
	all   *toolset
	tools *toolset // what is left of all
	*standing
}

// standKey is all of a caller and its session that may make a difference, beside
// what the session is named by.
type standKey struct {
	client, agent string
	attended      bool
	mode          policy.Mode
}

// stand asks the rules about every tool of the catalogue, as the caller has it,
// once for each caller and mode.
func (c *conversation) stand(of *catalogue, all *toolset, caller tool.Caller) (*toolset, *standing) {
	set := &c.rt.set
	if set.policy == nil || set.replay != nil {
		return all, nil
	}
	key := standKey{caller.Client, caller.Agent, caller.Attended, c.mode()}
	c.standing.Lock()
	if c.standingOf != of { // tools that are gone are forgotten
		c.standingOf, c.standings = of, nil
	}
	had := c.standings[key]
	c.standing.Unlock()
	if had == nil || had.all != all {
		s := set.stand(all, caller, key.mode)
		had = &standingSet{all, all.without(s.hidden), s}
		c.standing.Lock()
		defer c.standing.Unlock()
		if c.standingOf == of {
			keep(&c.standings, key, had)
		}
	}
	return had.tools, had.standing
}

func (s *settings) stand(all *toolset, caller tool.Caller, mode policy.Mode) *standing {
	st := &standing{mode: string(mode)}
	known := tool.Caller{
		Tenant: caller.Tenant, Principal: caller.Principal, Session: caller.Session,
		Client: caller.Client, Agent: caller.Agent, Attended: caller.Attended,
	}
	for _, e := range all.list {
		r := &tool.Request{Caller: known, Source: e.source, Tool: &e.tool.Info, Name: e.wire, CalledAs: e.wire, Mode: st.mode, Varies: e.varies()}
		if !r.Varies {
			r.Claims = e.claims
		}
		d, ok := s.fixed(r)
		if !ok {
			continue
		}
		if st.fixed == nil {
			st.fixed = make(map[*entry]tool.Decision)
		}
		if st.fixed[e] = d; d.Verdict == tool.Deny && !d.Override {
			st.hidden = append(st.hidden, e)
		}
	}
	return st
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
	part.hidden = slices.DeleteFunc(slices.Clone(s.hidden), func(e *entry) bool { return !f.leaves(e) })
	return &part
}

// denies gives the tool of a name that is not shown, because the rules deny it.
func (s *standing) denies(name string) *entry {
	if s == nil {
		return nil
	}
	for _, e := range s.hidden {
		if e.wire == name || e.base && slices.Contains(e.tool.Aliases, name) {
			return e
		}
	}
	return nil
}

// said is what the rules say about a call: beforehand, or now.
func (c *call) said() tool.Decision {
	if s := c.turn.view.stands; s != nil && s.mode == c.req.Mode {
		if d, ok := s.fixed[c.entry]; ok {
			return d
		}
	}
	return c.turn.set.rules(c.req)
}

// without is the set without some of its tools. Equal parts are one, so that
// they are written once.
func (s *toolset) without(gone []*entry) *toolset {
	if len(gone) == 0 {
		return s
	}
	names := make([]string, len(gone))
	out := make(map[*entry]bool, len(gone))
	for i, e := range gone {
		names[i], out[e] = e.wire, true
	}
	return s.part("without "+policy.Digest(names...), func(e *entry) bool { return !out[e] })
}

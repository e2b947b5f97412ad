package ferrule

import (
	"cmp"
	"context"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// Planned is what is known of a call before anything runs: see [View.Plan].
type Planned struct {
	Name   string      // as it is called
	Claims tool.Claims // of this call, as far as they are believed
	// Waits are the earlier calls that it waits for, in their order. One that it
	// would wait for anyway, because another of these does, may be left out.
	Waits []Wait
	// Asks: by the rules a person is asked, unless one has answered for longer.
	Asks bool
	// Err is why it will not run, as far as that is known; nil: it may.
	Err *tool.Error
	// Request is the call as the rules see it; nil: there is no such tool, it is not
	// shown, or it does not take the arguments.
	Request *tool.Request
}

// Wait is an earlier call that another one waits for.
type Wait struct {
	Call int // its place, from 0
	// Resource is what both touch and one writes; "": one of them does not say what
	// it touches, and may not run beside the other.
	Resource string
}

// Plan is how a turn with these calls would be ordered: by the same rule, and the
// same code, as one that runs them. Nothing runs but what tools say about
// arguments (claims and facts), nobody is asked, and there is no event. How many
// run at once is not part of it, and what a call's hooks change is not known.
func (v *View) Plan(ctx context.Context, calls ...tool.Call) []Planned {
	list := make([]*call, len(calls))
	var order schedule
	for i, given := range calls {
		c := v.imagine(ctx, i, given)
		if list[i] = c; !c.final { // else it has its result on arrival
			order.plan(c, list[:i+1])
		}
	}
	plan := make([]Planned, len(calls))
	for i, c := range list {
		plan[i] = Planned{Name: c.called(), Claims: copyClaims(c.planned), Asks: c.known == nil && c.ruling != nil && c.ruling.Asks(), Err: c.known, Request: c.seen()}
	}
	for i, c := range list {
		for _, later := range c.step.followers() {
			plan[later].Waits = append(plan[later].Waits, Wait{i, meeting(c.planned, list[later].planned)})
		}
	}
	return plan
}

// imagine is a call as it would arrive. A tool that does not say what it claims in
// its time claims nothing.
func (v *View) imagine(ctx context.Context, index int, given tool.Call) *call {
	arrived := func(mute bool) *call {
		t := &Turn{view: v, set: &v.session.rt.set, ctx: ctx, imagined: true}
		c := &call{turn: t, index: index, input: given.Input, mute: mute, by: byModel}
		c.first = &tool.Request{CallID: given.ID, Name: given.Name, CalledAs: given.Name, Index: index, Caller: v.session.caller, Mode: string(v.session.conv.mode())}
		c.req = c.first
		if t.set.replay != nil { // it is answered at once
			c.final = true
			return c
		}
		if c.resolve(); c.entry != nil {
			c.meet(c.first) //nolint:contextcheck // a call has the context of its turn
			c.planned = c.first.Claims
		}
		if c.hidden(); c.known == nil && !c.unresolved {
			c.judge() //nolint:contextcheck // as above
		}
		if c.entry != nil && !c.final && v.defers(c.entry) {
			c.known = &tool.Error{Kind: tool.NotLoaded}
		}
		return c
	}
	c, err := bounded(ctx, otherTime, func(context.Context) (*call, error) { return arrived(false), nil })
	if err != nil {
		return arrived(true)
	}
	return c
}

// seen is a call that was imagined as the rules see it; nil: they do not.
func (c *call) seen() *tool.Request {
	if !c.judged {
		return nil
	}
	seen := c.first.Clone()
	return &seen
}

// followers are the places of the calls that wait for a step, also through
// barriers, in their order.
func (s *step) followers() (list []int) {
	todo, seen := slices.Clone(s.next), make(map[*step]bool)
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case seen[n]:
		case n.call != nil:
			list = append(list, n.call.index)
		default:
			todo = append(todo, n.next...)
		}
		seen[n] = true
	}
	slices.Sort(list)
	return list
}

// meeting is the resource that two calls conflict about: of two that cover each
// other the smaller; "": one does not say what it touches.
func meeting(a, b tool.Claims) string {
	if a.Touches == nil || b.Touches == nil {
		return ""
	}
	for _, x := range a.Touches {
		if i := slices.IndexFunc(b.Touches, x.Meets); i >= 0 {
			y := b.Touches[i]
			return slices.MaxFunc([]string{x.Resource, y.Resource}, func(p, q string) int { return cmp.Compare(len(p), len(q)) })
		}
	}
	return ""
}

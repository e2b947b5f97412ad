package web

import (
	"math"
	"slices"
	"time"
)

// Group are calls of a session that belong together: those of a turn, or those that a
// client made one after another.
type Group struct {
	Session string    `json:"session"`
	Client  string    `json:"client,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Calls   []*Call   `json:"calls"`
}

// grouped puts calls that belong together into groups, the newest first.
func grouped(calls []*Call, now time.Time) []Group {
	var all []*Group
	last := make(map[string]*Group)
	for _, call := range calls {
		end := until(call, now)
		g := last[call.Session]
		if g == nil || call.Turn != g.Calls[len(g.Calls)-1].Turn && call.Requested.After(g.To.Add(nowGap)) {
			g = &Group{Session: call.Session, Client: call.Client, Agent: call.Agent, From: call.Requested, To: end}
			last[call.Session] = g
			all = append(all, g)
		}
		g.Calls = append(g.Calls, call)
		if end.After(g.To) {
			g.To = end
		}
	}
	slices.SortStableFunc(all, func(a, b *Group) int { return b.From.Compare(a.From) })
	list := make([]Group, len(all))
	for i, g := range all {
		for _, call := range g.Calls {
			call.After = waitedFor(call, g.Calls)
		}
		list[i] = *g
	}
	return list
}

// until is when a call ended: now, where it has not.
func until(c *Call, now time.Time) time.Time {
	switch {
	case c.Over() && !c.Ended.IsZero():
		return c.Ended
	case c.Over():
		return c.last
	case c.back && c.State == Waiting:
		return c.Answered
	}
	return now
}

// waitShown is how long a call waits before it is said for what.
const waitShown = 5 * time.Millisecond

// waitedFor is the tool of the call that ran for most of the time that this one waited
// for its start; "": it did not wait, or for something else.
func waitedFor(c *Call, all []*Call) (name string) {
	ready := c.Requested
	if c.Answered.After(ready) {
		ready = c.Answered
	}
	waited := c.Started.Sub(ready)
	if waited < waitShown {
		return ""
	}
	var longest time.Duration
	for _, o := range all {
		if o == c || o.Started.IsZero() || o.Ended.IsZero() || o.Ended.After(c.Started) {
			continue
		}
		from := ready
		if o.Started.After(from) {
			from = o.Started
		}
		if d := o.Ended.Sub(from); d > longest {
			longest, name = d, o.Tool
		}
	}
	if 2*longest < waited { // it was something else
		return ""
	}
	return name
}

// Bar is a piece of a call's time, in hundredths of the width.
type Bar struct {
	Kind string // asked, queued, run; or how a call ended that did not run
	X, W float64
}

// leastBar is how wide a bar is at least, so that it is seen.
const leastBar = 0.5

// Bars are the times of a call beside those of its group.
func (g Group) Bars(c *Call) (bars []Bar) {
	span := max(g.To.Sub(g.From), time.Millisecond)
	add := func(kind string, from, to time.Time) {
		if from.IsZero() || to.Before(from) {
			return
		}
		share := func(t time.Time) float64 { return 100 * float64(t.Sub(g.From)) / float64(span) }
		x, w := share(from), max(share(to)-share(from), leastBar)
		bars = append(bars, Bar{kind, round(min(x, 100-leastBar)), round(min(w, 100-min(x, 100-leastBar)))})
	}
	ready := c.Requested
	end := until(c, g.To)
	if !c.AskedAt.IsZero() {
		answered := c.Answered
		if answered.IsZero() {
			answered = end
		}
		add("asked", c.AskedAt, answered)
		ready = answered
	}
	switch {
	case !c.Started.IsZero():
		if c.Started.Sub(ready) > waitShown {
			add("queued", ready, c.Started)
		}
		add(string(c.State), c.Started, end)
	case c.Over():
		add(string(c.State), end, end)
	case c.State == Waiting && !c.back:
		add("queued", ready, g.To)
	}
	return bars
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// Span is how long a group took, in milliseconds.
func (g Group) Span() float64 { return float64(g.To.Sub(g.From)) / float64(time.Millisecond) }

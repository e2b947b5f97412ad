package policy

import (
	"context"
	"strconv"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Grant is a rule that a person made of a yes: it answers later questions in
// their place. It is no voice about a call, only an answer.
type Grant struct {
	ID string `json:"id"` // what Name gives
	// Rule is a short rule; it covers calls as one that allows does.
	Rule string `json:"rule"`
	// Caller is for whom: Tenant, Principal and Session; without a Session it is
	// for each of the principal.
	Caller Asker `json:"caller"`
	// Source is where its tool comes from. Definition is the digest of the tool's
	// definition: one that is neither built in nor the program's own and says
	// something else of itself has lost the grant. "": any.
	Source     string `json:"source,omitempty"`
	Definition string `json:"definition,omitempty"`
	// Pin is the tool's own ([tool.Info].Pin), of a grant that somebody who was shown
	// the tools of a source gave one of them by name. It is for every call of exactly
	// that tool, also for calls that may destroy something, and is lost with any
	// change of the definition, whatever the source. "": it is no such grant.
	Pin string `json:"pin,omitempty"`
	// Second: the second key was turned, so that it is also for calls that may
	// destroy something, unless it is for every call of the tool.
	Second   bool      `json:"second,omitempty"`
	By       string    `json:"by,omitempty"`       // who said yes
	Question string    `json:"question,omitempty"` // to this question
	Made     time.Time `json:"made"`
}

// Name names a grant by what it allows: equal ones have one name.
func (g Grant) Name() string {
	parts := []string{g.Rule, g.Caller.Tenant, g.Caller.Principal, g.Caller.Session, g.Source, g.Definition, strconv.FormatBool(g.Second)}
	if g.Pin != "" {
		parts = append(parts, g.Pin)
	}
	return "r" + Digest(parts...)[:11]
}

// For reports whether the grant is for a caller: of its session, or of its
// principal.
func (g Grant) For(c Asker) bool {
	return g.Caller.Tenant == c.Tenant && g.Caller.Principal == c.Principal && (g.Caller.Session == "" || g.Caller.Session == c.Session)
}

// Answers reports whether the grant answers a question about a call, whose tool
// has this definition.
func (g Grant) Answers(r *tool.Request, definition string) bool {
	c := r.Caller
	trusted := r.Source.Trust == tool.Own || r.Source.Trust == tool.BuiltIn
	if !g.For(Asker{Tenant: c.Tenant, Principal: c.Principal, Session: c.Session}) || g.Source != r.Source.Name ||
		!trusted && g.Definition != "" && g.Definition != definition {
		return false
	}
	if g.Pin != "" && (r.Tool == nil || r.Tool.Pin != g.Pin) { // soon: there may be thousands
		return false
	}
	rule, err := ParseRule(g.Rule, "")
	if g.Pin != "" {
		return err == nil && rule.namesOne() && rule.Covers(r)
	}
	if err != nil || r.Claims.Destructive() && (!g.Second || rule.Inside() == "") {
		return false
	}
	return rule.Covers(r)
}

// Exact reports whether the grant is for exactly the arguments that it was given
// for.
func (g Grant) Exact() bool {
	rule, err := ParseRule(g.Rule, "")
	return err == nil && len(rule.calls) == 1 && rule.calls[0].kind == kindArgs
}

// Grant is the rule that an answer to q is made to last as; ok is false where it
// is for this once.
func (q Question) Grant(a Answer, now time.Time) (g Grant, ok bool) {
	if a.Rule == "" || q.Check(a) != nil {
		return g, false
	}
	g = Grant{
		Rule: a.Rule, Caller: q.Caller.who(), Source: q.Source.Name, Definition: q.Definition,
		Second: a.Second, By: a.By, Question: q.ID, Made: now,
	}
	if a.Always {
		g.Caller.Session = ""
	}
	g.ID = g.Name()
	return g, true
}

// SessionState is what is kept of a session.
type SessionState struct {
	Caller Asker `json:"caller"` // Tenant, Principal and Session name it
	// Mode is how it stands, where Chosen says that somebody chose it; else it
	// stands as the runtime says.
	Mode   Mode `json:"mode"`
	Chosen bool `json:"chosen"`
	// Turns is up to which number turns may have been begun.
	Turns int `json:"turns"`
	// Flow is what the flow of data must not forget of it, as guard/flow writes it;
	// "": nothing.
	Flow  string    `json:"flow,omitempty"`
	Began time.Time `json:"began"`
	Seen  time.Time `json:"seen"`
}

// Charge is one call that is to be counted.
type Charge struct {
	Key   string        // of the counter
	Calls int           // at most so many
	Per   time.Duration // within this time; 0: for ever, which ends where nobody charges the counter for 90 days
}

// Count is how a ledger counts one call. A counter is two numbers: how many calls
// it has counted, and, for those with a Per, until when they take up room: each
// call moves that on by its share of Per. It gives the new time, or, where there
// is no room, how long until there is; 0: there never will be. A counter that
// speaks of a time which the clock has left again is an error, [ErrClock].
func (c Charge) Count(until time.Time, calls int, now time.Time) (next time.Time, wait time.Duration, ok bool, err error) {
	switch {
	case c.Calls < 1:
		return until, 0, false, nil
	case c.Per <= 0:
		return until, 0, calls < c.Calls, nil
	case until.After(now.Add(c.Per).Add(clockSlack)):
		return until, 0, false, ErrClock
	}
	share := max(c.Per/time.Duration(c.Calls), 1)
	if until.Before(now) {
		until = now
	}
	if room := now.Add(c.Per).Sub(until); room < share {
		return until, share - room, false, nil
	}
	return until.Add(share), 0, true, nil
}

// Ledger keeps what is known of sessions: how they stand, what was allowed for
// longer than once, how many calls were made. An implementation shares no memory
// with its callers and is safe for concurrent use, also by several processes if
// it lasts longer than one. What nobody has asked for in 90 days it may forget:
// sessions with their grants, and counters; not the grants of a principal.
type Ledger interface {
	// Update changes what is kept of a session and gives it as it stands then.
	// A session that is not there begins, also where change is nil, which changes
	// nothing. Began is the ledger's to set. An error of change leaves everything
	// as it was.
	Update(ctx context.Context, of Asker, change func(*SessionState) error) (SessionState, error)
	// Take counts a call by each of these, or, where one has no room, by none:
	// full is its place in the list, -1 where all had room, and wait is how long
	// until it has; 0: it never will.
	Take(ctx context.Context, charges []Charge) (full int, wait time.Duration, err error)
	// Grant keeps a grant, and gives its id. One that is there already is left
	// as it is.
	Grant(context.Context, Grant) (id string, err error)
	// Grants lists those for a caller: of its session and of its principal,
	// oldest first. The zero Asker has those of everybody listed. Where tools are
	// named, by Source and Pin of a Grant, only those are listed that may answer for one, by
	// [Grant.About]: each call that is asked for looks for its own, and should not
	// pay for those of others.
	Grants(ctx context.Context, of Asker, tools ...Grant) ([]Grant, error)
	// Revoke takes a grant back: [ErrNoGrant] where there is none.
	Revoke(ctx context.Context, id string) error
}

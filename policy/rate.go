package policy

import (
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Rate bounds how many calls may run.
type Rate struct {
	// Tools says which calls count: a [Rule] without parentheses. The zero Rule:
	// all.
	Tools Rule
	// Calls is how many may run at once, and how many more have room again with
	// each Per that passes; Per 0: how many ever, which is a budget. A budget that
	// is changed begins anew.
	Calls int
	Per   time.Duration
	// Each says who has a counter of their own: "session", "principal" or
	// "tenant"; "": one counter for all.
	Each string
	// Key is what it is called where it is written, for who is told of it. "": nothing.
	Key string
}

// String is the rate in words.
func (r Rate) String() string {
	text := fmt.Sprintf("%d calls", r.Calls)
	if r.Per > 0 {
		text += " per " + r.Per.String()
	}
	if t := r.Tools.String(); t != "" {
		text += " of " + t
	}
	if r.Each != "" {
		text += " for each " + r.Each
	}
	return text
}

// Check reports what is wrong with a rate.
func (r Rate) Check() error {
	switch {
	case r.Calls < 1:
		return fmt.Errorf("rate: calls: got %d, want 1 or more", r.Calls)
	case r.Per < 0:
		return fmt.Errorf("rate: per: got %s, want a time, or 0 for a budget", r.Per)
	case r.Tools.Inside() != "":
		return fmt.Errorf("rate: tools: got %s, want a rule without parentheses", r.Tools)
	case r.Each != "" && r.Each != "session" && r.Each != "principal" && r.Each != "tenant":
		return fmt.Errorf("rate: each: got %q, want session, principal or tenant", r.Each)
	}
	return nil
}

// Charge is what a call counts for; ok is false where it does not.
func (r Rate) Charge(q *tool.Request) (c Charge, ok bool) {
	if r.Tools.over != "" && !r.Tools.Chooses(q) {
		return c, false
	}
	who := []string{"rate", r.String()}
	principal := first(q.Caller.Principal, "local")
	switch r.Each {
	case "session":
		who = append(who, q.Caller.Tenant, principal, q.Caller.Session)
	case "principal":
		who = append(who, q.Caller.Tenant, principal)
	case "tenant":
		who = append(who, q.Caller.Tenant)
	}
	return Charge{Key: Digest(who...), Calls: r.Calls, Per: r.Per}, true
}

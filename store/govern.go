package store

import (
	"cmp"
	"context"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// Govern puts on the record that somebody changed what may run in another place
// than this store, such as a rule in a file, for a caller. It does nothing where
// nobody logs to this store. What people do by the store itself it puts there by
// itself, in the same transaction.
func (s *Store) Govern(ctx context.Context, by, text string, of policy.Asker) error {
	return s.recorded(ctx, "govern", func(ctx context.Context, p *pen) ([]audit.Event, error) {
		return s.governed(ctx, p, audit.Event{By: by, Text: text, Request: &tool.Request{Caller: callerOf(of)}})
	})
}

// governed is an event of what somebody did to the rules; none where the log has
// not begun: then it is kept elsewhere, or nowhere, and is not begun by this. A
// runtime that logs has begun it before it asks anything.
func (s *Store) governed(ctx context.Context, p *pen, e audit.Event) ([]audit.Event, error) {
	var begun int
	if err := p.row(ctx, `SELECT EXISTS (SELECT 1 FROM log_writers)`, nil, &begun); err != nil || begun == 0 {
		return nil, err
	}
	e.Kind, e.Time = audit.Governed, s.now()
	return []audit.Event{e}, nil
}

// answered is that somebody answered a question. What they answered a tool, and
// arguments that they changed, are not in it: those may be secret.
func answered(q policy.Question, a policy.Answer) audit.Event {
	text := "reject"
	switch {
	case a.Allow && q.Wants != "":
		text = "answered what the tool asked"
	case a.Allow && a.Always:
		text = "allow, and always what fits " + a.Rule
	case a.Allow && a.Rule != "":
		text = "allow, and in this session what fits " + a.Rule
	case a.Allow && a.Input != nil:
		text = "allow, with other arguments"
	case a.Allow:
		text = "allow"
	}
	if a.Rule != "" && a.Second {
		text += ", with the second key"
	}
	return audit.Event{By: a.By, Question: q.ID, Text: because(text, cmp.Or(a.Reason, a.Message)), Request: &tool.Request{
		Caller: callerOf(q.Caller), Source: q.Source, Name: q.Tool, CalledAs: q.Tool, ID: q.Call, CallID: q.CallID, Turn: q.Turn, Index: q.Index,
	}}
}

// ruled is that something was done to a grant.
func ruled(did string, g policy.Grant, by, reason string) audit.Event {
	text := did + " the rule " + g.ID
	if g.Rule != "" { // else nobody can read any more what it was
		text += ", " + g.Rule + ","
		if g.Caller.Session == "" {
			text += " of every session"
		} else {
			text += " of this session"
		}
	}
	if g.Second {
		text += ", with the second key"
	}
	return audit.Event{By: by, Text: because(text, reason), Request: &tool.Request{Caller: callerOf(g.Caller)}}
}

// because adds a reason, if there is one.
func because(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

func callerOf(a policy.Asker) tool.Caller {
	return tool.Caller{Principal: a.Principal, Tenant: a.Tenant, Session: a.Session, Client: a.Client, Agent: a.Agent, Run: a.Run}
}

package ferrule

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// asker is for whom a call is made, as inbox and ledger keep it.
func asker(c *tool.Caller) policy.Asker {
	return policy.Asker{Principal: c.Principal, Tenant: c.Tenant, Session: c.Session, Client: c.Client, Agent: c.Agent, Run: c.Run}
}

// SetMode says how far the session lets calls run without asking, from now on
// and for calls that are not decided yet. It is for who may: no call can do it.
func (s *Session) SetMode(ctx context.Context, m policy.Mode) error {
	if !m.Known() {
		return fmt.Errorf("session %q: mode: got %q, want ask, edit, read, auto, observe or dry-run", s.caller.Session, string(m))
	}
	s.conv.governing.Lock()
	defer s.conv.governing.Unlock()
	_, err := s.rt.set.ledger.Update(ctx, asker(&s.caller), func(kept *policy.SessionState) error {
		kept.Mode, kept.Chosen, kept.Seen = m, true, time.Now()
		return nil
	})
	if err != nil {
		return fmt.Errorf("session %q: mode %s: %w", s.caller.Session, m, err)
	}
	s.conv.chosen.Store(&m)
	return nil
}

// Mode is how far the session lets calls run without asking.
func (s *Session) Mode() policy.Mode { return s.conv.mode() }

func (c *conversation) mode() policy.Mode {
	if m := c.chosen.Load(); m != nil {
		return *m
	}
	return c.rt.set.mode
}

// lookEvery is how often the ledger is asked whether another process chose a
// mode.
const lookEvery = time.Second

// look takes the mode that somebody chose for this session. Where the ledger
// does not say it, nothing runs.
func (c *conversation) look(ctx context.Context) {
	set := &c.rt.set
	now := time.Now()
	if at := c.lookedAt.Load(); !set.lasting || at != nil && now.Sub(*at) < lookEvery {
		return
	}
	if !c.governing.TryLock() {
		return // somebody is about it
	}
	defer c.governing.Unlock()
	kept, err := bounded(ctx, otherTime, func(ctx context.Context) (policy.SessionState, error) {
		return set.ledger.Update(ctx, c.asker(), nil)
	})
	if err != nil {
		c.unknown.Store(&err)
		return
	}
	c.take(kept)
	c.lookedAt.Store(&now)
}

func (c *conversation) asker() policy.Asker {
	return policy.Asker{Tenant: c.key.tenant, Principal: c.key.principal, Session: c.key.session}
}

// take takes over what the ledger keeps of the session.
func (c *conversation) take(kept policy.SessionState) {
	c.unknown.Store(nil)
	if !kept.Chosen {
		c.chosen.Store(nil)
		return
	}
	c.chosen.Store(&kept.Mode)
}

// unledgered is why no call of the session runs: it is not known how it stands.
func (c *conversation) unledgered() *tool.Error {
	err := c.unknown.Load()
	if err == nil {
		return nil
	}
	return &tool.Error{Kind: tool.Denied, Text: "It is not known what this session may do, so the call was denied.", Detail: fmt.Sprintf("Runtime.Ledger: %v", *err), Cause: *err}
}

// turnBlock is how many numbers of turns are taken from the ledger at once. What
// is left of them when the process ends is no turn's.
const turnBlock = 64

// nextTurn is the number of a new turn. Where there is a ledger no other process
// gives the same.
func (c *conversation) nextTurn(ctx context.Context) int {
	set := &c.rt.set
	if !set.lasting || set.replay != nil {
		return int(c.turns.Add(1))
	}
	c.governing.Lock()
	defer c.governing.Unlock()
	if c.turns.Load() < c.reserved {
		return int(c.turns.Add(1))
	}
	kept, err := bounded(context.WithoutCancel(ctx), otherTime, func(ctx context.Context) (policy.SessionState, error) {
		return set.ledger.Update(ctx, c.asker(), func(kept *policy.SessionState) error {
			kept.Turns, kept.Seen = max(kept.Turns, int(c.turns.Load()))+turnBlock, time.Now()
			return nil
		})
	})
	if err != nil {
		c.unknown.Store(&err)
		return int(c.turns.Add(1))
	}
	c.take(kept)
	c.reserved = int64(kept.Turns)
	c.turns.Store(max(c.turns.Load(), c.reserved-turnBlock))
	return int(c.turns.Add(1))
}

// charge counts a call that is about to run, once.
func (c *call) charge() *tool.Error {
	set := c.turn.set
	if len(set.rates) == 0 || c.charged {
		return nil
	}
	if set.badRate != nil {
		return &tool.Error{Kind: tool.Denied, Text: "It could not be counted how many calls were made, so the call was denied.", Detail: set.badRate.Error(), Cause: set.badRate}
	}
	var charges []policy.Charge
	var by []policy.Rate
	for _, r := range set.rates {
		if ch, ok := r.Charge(c.req); ok {
			charges, by = append(charges, ch), append(by, r)
		}
	}
	if len(charges) == 0 {
		return nil
	}
	type taken struct {
		full int
		wait time.Duration
	}
	t, err := atInbox(c, func(ctx context.Context) (t taken, err error) {
		t.full, t.wait, err = set.ledger.Take(ctx, charges)
		return t, err
	})
	switch {
	case err != nil:
		return &tool.Error{Kind: tool.Denied, Text: "It could not be counted how many calls were made, so the call was denied.", Detail: err.Error(), Cause: err}
	case t.full >= 0 && t.full < len(by) && t.wait == 0:
		return &tool.Error{Kind: tool.RateLimited, Text: fmt.Sprintf("The budget of calls of %s is used up.", c.first.CalledAs), Detail: "the limit is " + by[t.full].String()}
	case t.full >= 0 && t.full < len(by):
		wait := t.wait.Truncate(time.Second) + time.Second
		return &tool.Error{
			Kind: tool.RateLimited, Text: fmt.Sprintf("Too many calls of %s. Try again in %s.", c.first.CalledAs, wait),
			Detail: "the limit is " + by[t.full].String(), RetryAfter: t.wait,
		}
	}
	c.charged = true
	return nil
}

// granted reports whether a person has said yes to calls like this one before,
// for longer than once. A ledger that fails has nothing to say: then a person is
// asked.
func (c *call) granted() bool {
	if c.ruling == nil || c.ruling.Flow {
		return false
	}
	set := c.turn.set
	grants, err := atInbox(c, func(ctx context.Context) ([]policy.Grant, error) { return set.ledger.Grants(ctx, asker(&c.req.Caller)) })
	if err != nil {
		return false
	}
	for _, g := range grants {
		if g.Answers(c.req, c.entry.origin().digest()) {
			if set.observe != nil {
				c.emit(audit.Event{Kind: audit.Answered, By: "rule " + g.ID, Text: allowWord(true) + ": " + g.Rule, Question: g.Question})
			}
			return true
		}
	}
	return false
}

// grant makes a yes last, where its person wants that. The call goes on either
// way.
func (c *call) grant(q *policy.Question, a policy.Answer) {
	if a.Rule == "" || q.Check(a) != nil {
		return
	}
	set := c.turn.set
	g := policy.Grant{Rule: a.Rule, Caller: asker(&c.req.Caller), Source: c.req.Source.Name, By: a.By, Question: q.ID, Made: time.Now()}
	g.Caller.Client, g.Caller.Agent, g.Caller.Run = "", "", ""
	if a.Always {
		g.Caller.Session = ""
	}
	if trust := c.req.Source.Trust; trust != tool.Own && trust != tool.BuiltIn {
		g.Definition = q.Definition
	}
	_, err := atInbox(c, func(ctx context.Context) (string, error) { return set.ledger.Grant(ctx, g) })
	if err != nil && set.observe != nil {
		c.emit(audit.Event{Kind: audit.Found, By: a.By, Text: fmt.Sprintf("%s is allowed this once: the rule could not be kept: %v", g.Rule, err)})
	}
}

package ferrule

import (
	"context"
	"errors"
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

// ledgerTime is how long a ledger has for an answer. It is short: calls wait.
const ledgerTime = 5 * time.Second

// SetMode says how far the session lets calls run without asking, from now on
// and for calls that are not decided yet. It is for who may: no call can do it.
func (s *Session) SetMode(ctx context.Context, m policy.Mode) error {
	if !m.Known() {
		return fmt.Errorf("session %q: mode: got %q, want ask, edit, read, auto, observe or dry-run", s.caller.Session, string(m))
	}
	err := s.conv.govern(ctx, func(ctx context.Context) error {
		_, err := s.conv.update(ctx, func(kept *policy.SessionState) error {
			kept.Mode, kept.Chosen, kept.Seen = m, true, time.Now()
			kept.Caller.Client = s.caller.Client
			return nil
		})
		if err == nil {
			s.conv.chosen.Store(&m)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("session %q: mode %s: %w", s.caller.Session, m, err)
	}
	if set := &s.rt.set; set.noted() {
		set.emit(audit.Event{Kind: audit.Governed, Session: s.caller.Session, By: s.caller.Principal, Text: "mode " + string(m)})
		if err := set.flush(ctx); err != nil {
			return fmt.Errorf("session %q: mode %s is set, but not on the record: %w", s.caller.Session, m, err)
		}
	}
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

// govern calls f while nobody else takes over what the ledger says of the
// session.
func (c *conversation) govern(ctx context.Context, f func(context.Context) error) error {
	wait := time.NewTimer(ledgerTime)
	defer wait.Stop()
	select {
	case c.governing <- struct{}{}:
		defer func() { <-c.governing }()
		return f(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-wait.C:
		return errors.New("the ledger does not answer another who asks")
	}
}

// update is the ledger's Update for this session, in its time.
func (c *conversation) update(ctx context.Context, change func(*policy.SessionState) error) (policy.SessionState, error) {
	of := policy.Asker{Tenant: c.key.tenant, Principal: c.key.principal, Session: c.key.session}
	return bounded(ctx, ledgerTime, func(ctx context.Context) (policy.SessionState, error) { return c.rt.set.ledger.Update(ctx, of, change) })
}

// lookEvery is how often the ledger is asked whether another process chose a
// mode.
const lookEvery = time.Second

// look takes the mode that somebody chose for this session. Where the ledger
// does not say it, nothing runs.
func (c *conversation) look(ctx context.Context) {
	set := &c.rt.set
	fresh := func() bool {
		at := c.lookedAt.Load()
		return at != nil && (!set.lasting || time.Since(*at) < lookEvery)
	}
	if set.replay != nil || fresh() {
		return
	}
	if !set.lasting {
		ctx = context.WithoutCancel(ctx) // it is our own, and at once
	}
	err := c.govern(ctx, func(ctx context.Context) error {
		if fresh() {
			return nil // somebody else has looked
		}
		kept, err := c.update(ctx, nil)
		if err == nil {
			c.take(kept)
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		c.unknown.Store(&err)
	}
}

// take takes over what the ledger keeps of the session.
func (c *conversation) take(kept policy.SessionState) {
	now := time.Now()
	var mode *policy.Mode
	if kept.Chosen {
		mode = &kept.Mode
	}
	c.chosen.Store(mode) // at once: for no moment is it another
	c.unknown.Store(nil)
	c.lookedAt.Store(&now)
}

// ungoverned is why no call of a turn runs: it is not known how its session
// stands, or which turn it is.
func (t *Turn) ungoverned() *tool.Error {
	if err := t.set.badGuard; err != nil {
		return &tool.Error{Kind: tool.Denied, Text: "This program's settings are wrong, so no call runs.", Detail: fmt.Sprintf("Runtime.Guard: %v", err), Cause: err}
	}
	c, err := t.view.session.conv, t.unnumbered
	if e := c.unknown.Load(); err == nil && e != nil {
		err = *e
	}
	if err == nil && c.lookedAt.Load() == nil && t.set.replay == nil {
		err = errors.New("it has not been asked")
	}
	if err == nil {
		return nil
	}
	return &tool.Error{Kind: tool.Denied, Text: "It is not known what this session may do, so the call was denied.", Detail: fmt.Sprintf("Runtime.Ledger: %v", err), Cause: err}
}

// turnBlock is how many numbers of turns are taken from the ledger at once. What
// is left of them when the process ends is no turn's.
const turnBlock = 256

// nextTurn is the number of a new turn. Where there is a ledger no other process
// gives the same.
func (c *conversation) nextTurn(ctx context.Context) (number int, err error) {
	if set := &c.rt.set; !set.lasting || set.replay != nil {
		return int(c.turns.Add(1)), nil
	}
	err = c.govern(ctx, func(ctx context.Context) error {
		n := c.turns.Add(1)
		if n > c.reserved {
			kept, err := c.update(ctx, func(kept *policy.SessionState) error {
				kept.Turns, kept.Seen = max(kept.Turns, int(n)-1)+turnBlock, time.Now()
				return nil
			})
			if err != nil {
				return err
			}
			c.take(kept)
			c.reserved = int64(kept.Turns)
			n = c.reserved - turnBlock + 1
			c.turnsFrom(n)
		}
		number = int(n)
		return nil
	})
	return number, err
}

// turnsFrom has turns counted from a number on.
func (c *conversation) turnsFrom(n int64) {
	for old := c.turns.Load(); old < n && !c.turns.CompareAndSwap(old, n); {
		old = c.turns.Load()
	}
}

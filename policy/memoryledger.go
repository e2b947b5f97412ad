package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// memoryLedger is the Ledger of a Memory.
type memoryLedger struct {
	mu       sync.Mutex
	sessions map[Asker]*keptSession // by Tenant, Principal and Session
	grants   []keptGrant
	counters map[string]counted
	swept    time.Time
}

type keptSession struct {
	SessionState
	touched time.Time // when somebody last asked for it
}

type keptGrant struct {
	Grant
	since time.Time
}

// who is the part of an Asker that names a session.
func (a Asker) who() Asker {
	return Asker{Tenant: a.Tenant, Principal: a.Principal, Session: a.Session}
}

// Update changes what is kept of a session.
func (m *Memory) Update(_ context.Context, of Asker, change func(*SessionState) error) (SessionState, error) {
	l := &m.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.sweep(now)
	s := SessionState{Caller: of, Began: now}
	if had := l.sessions[of.who()]; had != nil {
		s = had.SessionState
		had.touched = now
	}
	if change != nil {
		began := s.Began
		if err := change(&s); err != nil {
			return SessionState{}, fmt.Errorf("ledger: session %q: %w", of.Session, err)
		}
		s.Caller.Tenant, s.Caller.Principal, s.Caller.Session, s.Began = of.Tenant, of.Principal, of.Session, began
	}
	if l.sessions == nil {
		l.sessions = make(map[Asker]*keptSession)
	}
	l.sessions[of.who()] = &keptSession{s, now}
	return s, nil
}

// Take counts a call by each charge, or by none.
func (m *Memory) Take(_ context.Context, charges []Charge) (full int, wait time.Duration, err error) {
	l := &m.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.sweep(now)
	next := make(map[string]counted, len(charges))
	for i, by := range charges {
		had, ok := next[by.Key] // one counter may be charged twice
		if !ok {
			had = l.counters[by.Key]
		}
		until, wait, room, err := by.Count(had.until, had.calls, now)
		if err != nil {
			return i, 0, fmt.Errorf("ledger: take: %w", err)
		}
		if !room {
			l.touch(charges, now)
			return i, wait, nil
		}
		next[by.Key] = counted{until, had.calls + 1, now}
	}
	if l.counters == nil {
		l.counters = make(map[string]counted)
	}
	maps.Copy(l.counters, next)
	return -1, 0, nil
}

// counted is a counter: see Charge.Count.
type counted struct {
	until   time.Time
	calls   int
	touched time.Time // when it was last charged
}

// touch notes that somebody was refused: a budget that is used up and asked for is
// not forgotten.
func (l *memoryLedger) touch(charges []Charge, now time.Time) {
	for _, by := range charges {
		if had, ok := l.counters[by.Key]; ok {
			had.touched = now
			l.counters[by.Key] = had
		}
	}
}

// sweep forgets counters that are empty again, and what nobody has asked for in
// long. It looks at everything, so not each time.
func (l *memoryLedger) sweep(now time.Time) {
	if now.Sub(l.swept) < time.Minute {
		return
	}
	l.swept = now
	for key, c := range l.counters {
		if c.until.Before(now) && !c.until.IsZero() || c.until.IsZero() && now.Sub(c.touched) > idle {
			delete(l.counters, key)
		}
	}
	for who, s := range l.sessions {
		if now.Sub(s.touched) > idle {
			delete(l.sessions, who)
		}
	}
	l.grants = slices.DeleteFunc(l.grants, func(g keptGrant) bool {
		return g.Caller.Session != "" && now.Sub(g.since) > idle && l.sessions[g.Caller.who()] == nil
	})
}

// Grant keeps a grant.
func (m *Memory) Grant(_ context.Context, g Grant) (string, error) {
	return m.ledger.keep(g, time.Now()), nil
}

func (l *memoryLedger) keep(g Grant, now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	g.ID = g.Name()
	if !slices.ContainsFunc(l.grants, func(o keptGrant) bool { return o.ID == g.ID }) {
		l.grants = append(l.grants, keptGrant{g, now})
	}
	return g.ID
}

// Grants lists those for a caller, of some tools or of all.
func (m *Memory) Grants(_ context.Context, of Asker, tools ...Grant) ([]Grant, error) {
	l := &m.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Grant
	for _, g := range l.grants {
		if (of == (Asker{}) || g.For(of)) && (len(tools) == 0 || slices.ContainsFunc(tools, g.About)) {
			list = append(list, g.Grant)
		}
	}
	slices.SortStableFunc(list, func(a, b Grant) int { return a.Made.Compare(b.Made) })
	return list, nil
}

// Revoke takes a grant back.
func (m *Memory) Revoke(_ context.Context, id string) error {
	l := &m.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.grants, func(g keptGrant) bool { return g.ID == id })
	if i < 0 {
		return fmt.Errorf("ledger: revoke %q: %w", id, ErrNoGrant)
	}
	l.grants = slices.Delete(l.grants, i, i+1)
	return nil
}

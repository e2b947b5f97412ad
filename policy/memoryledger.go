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
	sessions map[Asker]*SessionState // by Tenant, Principal and Session
	grants   []Grant
	counters map[string]counted
	swept    time.Time
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
	s := SessionState{Caller: of, Began: time.Now()}
	if had := l.sessions[of.who()]; had != nil {
		s = *had
	}
	if change != nil {
		began := s.Began
		if err := change(&s); err != nil {
			return SessionState{}, fmt.Errorf("ledger: session %q: %w", of.Session, err)
		}
		s.Caller.Tenant, s.Caller.Principal, s.Caller.Session, s.Began = of.Tenant, of.Principal, of.Session, began
	}
	if l.sessions == nil {
		l.sessions = make(map[Asker]*SessionState)
	}
	kept := s
	l.sessions[of.who()] = &kept
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
			return i, wait, nil
		}
		next[by.Key] = counted{until, had.calls + 1}
	}
	if l.counters == nil {
		l.counters = make(map[string]counted)
	}
	maps.Copy(l.counters, next)
	return -1, 0, nil
}

// counted is a counter: see Charge.Count.
type counted struct {
	until time.Time
	calls int
}

// sweep forgets counters that are empty again.
func (l *memoryLedger) sweep(now time.Time) {
	if now.Sub(l.swept) < time.Minute {
		return
	}
	l.swept = now
	for key, c := range l.counters {
		if c.until.Before(now) && !c.until.IsZero() {
			delete(l.counters, key)
		}
	}
}

// Grant keeps a grant.
func (m *Memory) Grant(_ context.Context, g Grant) (string, error) { return m.ledger.keep(g), nil }

func (l *memoryLedger) keep(g Grant) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	g.ID = g.Name()
	if !slices.ContainsFunc(l.grants, func(o Grant) bool { return o.ID == g.ID }) {
		l.grants = append(l.grants, g)
	}
	return g.ID
}

// Grants lists those for a caller.
func (m *Memory) Grants(_ context.Context, of Asker) ([]Grant, error) {
	l := &m.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Grant
	for _, g := range l.grants {
		if of == (Asker{}) || g.For(of) {
			list = append(list, g)
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
	i := slices.IndexFunc(l.grants, func(g Grant) bool { return g.ID == id })
	if i < 0 {
		return fmt.Errorf("ledger: revoke %q: %w", id, ErrNoGrant)
	}
	l.grants = slices.Delete(l.grants, i, i+1)
	return nil
}

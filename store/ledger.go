package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
)

// Update changes what is kept of a session. Other processes wait for change.
func (s *Store) Update(ctx context.Context, of policy.Asker, change func(*policy.SessionState) error) (policy.SessionState, error) {
	what := fmt.Sprintf("session %q", of.Session)
	var state policy.SessionState
	if change == nil {
		noted := false
		err := s.read(ctx, what, func(db *sql.DB) (err error) {
			var touched string
			state, touched, err = session(ctx, db, of)
			noted = touched >= writeTime(s.now().Add(-often))
			return err
		})
		if err == nil && noted || err != nil && !errors.Is(err, sql.ErrNoRows) {
			return state, err
		}
	}
	err := s.write(ctx, what, func(tx *sql.Tx) error {
		now := s.now()
		if err := s.sweep(ctx, tx, now); err != nil {
			return err
		}
		had, _, err := session(ctx, tx, of)
		if errors.Is(err, sql.ErrNoRows) {
			had = policy.SessionState{Caller: of, Began: now.UTC()}
		} else if err != nil {
			return err
		}
		next := had
		if change != nil {
			if err := change(&next); err != nil {
				return err
			}
			next.Caller.Tenant, next.Caller.Principal, next.Caller.Session, next.Began = of.Tenant, of.Principal, of.Session, had.Began
		}
		body, err := sealSession(next)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO sessions (tenant, principal, session, touched, body) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (tenant, principal, session) DO UPDATE SET touched = excluded.touched, body = excluded.body`, of.Tenant, of.Principal, of.Session, writeTime(now), body)
		if err != nil {
			return err
		}
		state, err = unsealSession(of, body) // as it will be read
		return err
	})
	if err != nil {
		return policy.SessionState{}, err
	}
	return state, nil
}

// session reads a session, and when it was touched; [sql.ErrNoRows].
func session(ctx context.Context, db querier, of policy.Asker) (state policy.SessionState, touched string, err error) {
	var body string
	if err := db.QueryRowContext(ctx, `SELECT touched, body FROM sessions WHERE tenant = ? AND principal = ? AND session = ?`, of.Tenant, of.Principal, of.Session).Scan(&touched, &body); err != nil {
		return state, "", err
	}
	state, err = unsealSession(of, body)
	return state, touched, err
}

// Sessions lists every session of which something is kept, in the order in which
// they began.
func (s *Store) Sessions(ctx context.Context) ([]policy.SessionState, error) {
	scan := func(rows *sql.Rows) (policy.SessionState, error) {
		var of policy.Asker
		var body string
		if err := rows.Scan(&of.Tenant, &of.Principal, &of.Session, &body); err != nil {
			return policy.SessionState{}, err
		}
		return unsealSession(of, body)
	}
	return list(ctx, s, "sessions", scan, `SELECT tenant, principal, session, body FROM sessions ORDER BY place`)
}

// counter is how often a charge was counted: see [policy.Charge.Count].
type counter struct {
	until time.Time
	calls int
}

// Take counts a call by each charge, or by none.
func (s *Store) Take(ctx context.Context, charges []policy.Charge) (full int, wait time.Duration, err error) {
	err = s.write(ctx, "take", func(tx *sql.Tx) error {
		now := s.now()
		if err := s.sweep(ctx, tx, now); err != nil {
			return err
		}
		next := make(map[string]counter, len(charges))
		for i, by := range charges {
			had, ok := next[by.Key] // one counter may be charged twice
			if !ok {
				if had, err = count(ctx, tx, by.Key); err != nil {
					return err
				}
			}
			until, later, room, err := by.Count(had.until, had.calls, now)
			if err != nil {
				return err
			}
			if !room {
				full, wait = i, later
				return touch(ctx, tx, charges, now)
			}
			next[by.Key] = counter{until, had.calls + 1}
		}
		full = -1
		for key, c := range next {
			if _, err := tx.ExecContext(ctx, `INSERT INTO counters (key, until, calls, touched) VALUES (?, ?, ?, ?)
				ON CONFLICT (key) DO UPDATE SET until = excluded.until, calls = excluded.calls, touched = excluded.touched`, key, writeTime(c.until), c.calls, writeTime(now)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, err // not -1: nothing was counted
	}
	return full, wait, nil
}

// touch notes that somebody was refused: a budget that is used up and asked for is
// not forgotten.
func touch(ctx context.Context, tx *sql.Tx, charges []policy.Charge, now time.Time) error {
	for _, by := range charges {
		if _, err := tx.ExecContext(ctx, `UPDATE counters SET touched = ? WHERE key = ? AND touched < ?`, writeTime(now), by.Key, writeTime(now.Add(-often))); err != nil {
			return err
		}
	}
	return nil
}

func count(ctx context.Context, tx *sql.Tx, key string) (counter, error) {
	var c counter
	var until string
	err := tx.QueryRowContext(ctx, `SELECT until, calls FROM counters WHERE key = ?`, key).Scan(&until, &c.calls)
	if errors.Is(err, sql.ErrNoRows) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	c.until, err = readTime(until)
	return c, err
}

// Grant keeps a grant, and puts it on the record where there is one.
func (s *Store) Grant(ctx context.Context, g policy.Grant) (string, error) {
	g.ID = g.Name()
	err := s.recorded(ctx, fmt.Sprintf("grant %q", g.Rule), func(ctx context.Context, p *pen) ([]audit.Event, error) {
		fresh, err := keep(ctx, p, g, s.now())
		if err != nil || !fresh {
			return nil, err
		}
		return s.governed(ctx, p, ruled("made", g, g.By, ""))
	})
	if err != nil {
		return "", err
	}
	return g.ID, nil
}

// keep keeps a grant under its name, unless it is there.
func keep(ctx context.Context, p *pen, g policy.Grant, now time.Time) (fresh bool, err error) {
	g.ID = g.Name()
	body, err := sealGrant(g)
	if err != nil {
		return false, err
	}
	n, err := p.exec(ctx, `INSERT INTO grants (id, tenant, principal, session, source, pin, made, kept, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		g.ID, g.Caller.Tenant, g.Caller.Principal, g.Caller.Session, g.Source, g.Pin, writeTime(g.Made), writeTime(now), body)
	return n == 1, err
}

// Grants lists those for a caller, of some tools or of all.
func (s *Store) Grants(ctx context.Context, of policy.Asker, tools ...policy.Grant) ([]policy.Grant, error) {
	scan := func(rows *sql.Rows) (policy.Grant, error) {
		var id, body string
		if err := rows.Scan(&id, &body); err != nil {
			return policy.Grant{}, err
		}
		return unsealGrant(id, body)
	}
	everybody := of == policy.Asker{}
	where, args := grantsWhere(of, tools)
	all, err := list(ctx, s, "grants", scan, `SELECT id, body FROM grants WHERE `+where+` ORDER BY made, place`, args...)
	// The columns only find them: what a grant says is what was sealed.
	return slices.DeleteFunc(all, func(g policy.Grant) bool {
		return !everybody && !g.For(of) || len(tools) > 0 && !slices.ContainsFunc(tools, g.About)
	}), err
}

// grantsWhere is the condition for grants, in a form that grants_about serves.
func grantsWhere(of policy.Asker, tools []policy.Grant) (where string, args []any) {
	where = "TRUE"
	if of != (policy.Asker{}) {
		where, args = "tenant = ? AND principal = ? AND session IN ('', ?)", []any{of.Tenant, of.Principal, of.Session}
	}
	if len(tools) == 0 {
		return where, args
	}
	for _, t := range tools {
		args = append(args, t.Source, t.Pin)
	}
	const one = "source = ? AND pin IN ('', ?)"
	return where + " AND (" + one + strings.Repeat(" OR "+one, len(tools)-1) + ")", args
}

// Revoke takes a grant back.
func (s *Store) Revoke(ctx context.Context, id string) error {
	return s.RevokeBy(ctx, id, "", "")
}

// RevokeBy takes a grant back, and puts on the record, where there is one, who did
// it and why.
func (s *Store) RevokeBy(ctx context.Context, id, by, reason string) error {
	return s.recorded(ctx, fmt.Sprintf("revoke %q", id), func(ctx context.Context, p *pen) ([]audit.Event, error) {
		g, err := p.revoke(ctx, id)
		if err != nil {
			return nil, err
		}
		return s.governed(ctx, p, ruled("revoked", g, by, reason))
	})
}

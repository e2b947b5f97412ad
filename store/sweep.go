package store

import (
	"context"
	"database/sql"
	"time"
)

const (
	// remembered is how long a question that is over is kept.
	remembered = 24 * time.Hour
	// idle is how long it is kept what nobody asks for and what has no end.
	idle = 90 * 24 * time.Hour
	// often is how often it is noted that somebody asks for something.
	often = 24 * time.Hour
)

// execer is a transaction, or a connection that has one.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// sweep forgets what is long over, and drops of what is over all that nobody can
// see any more. It looks at every question, so not each time. The writer calls it.
func (s *Store) sweep(ctx context.Context, tx execer, now time.Time) error {
	if now.Sub(s.swept) < time.Minute {
		return nil
	}
	at, unused := writeTime(now), writeTime(now.Add(-idle))
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{`UPDATE questions SET over = ?, body = '' WHERE over = '' AND expires <> '' AND expires <= ?`, []any{expired, at}},
		{`DELETE FROM questions WHERE forget < ?`, []any{at}},
		{`DELETE FROM answers WHERE at < ? AND number NOT IN (SELECT answer FROM questions WHERE answer IS NOT NULL AND over IN ('', 'withdrawn'))`, []any{writeTime(now.Add(-history))}},
		{`DELETE FROM counters WHERE until <> '' AND until < ?`, []any{at}},
		{`DELETE FROM counters WHERE until = '' AND touched < ?`, []any{unused}},
		{`DELETE FROM sessions WHERE touched < ?`, []any{unused}},
		{`DELETE FROM grants WHERE session <> '' AND kept < ? AND NOT EXISTS (SELECT 1 FROM sessions AS s
			WHERE s.tenant = grants.tenant AND s.principal = grants.principal AND s.session = grants.session)`, []any{unused}},
		// Calls stand in the order of their time, so only the first are looked at. Of
		// one that has not ended it is not known what became of it, until somebody says.
		{`DELETE FROM calls WHERE number IN (SELECT number FROM calls WHERE outcome <> '' ORDER BY number LIMIT 500) AND touched < ?`, []any{unused}},
	} {
		res, err := tx.ExecContext(ctx, step.sql, step.args...)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if n > 0 {
			s.stale.Store(true)
		}
	}
	s.swept = now // where the transaction fails, the next sweep is a minute late
	s.shorten.Store(s.stale.Load())
	return nil
}

// empty takes what was forgotten out of the log, where it stands until then. It
// waits for nobody for long: what it cannot do now is done after the next sweep.
// Who has the turn calls it.
func (s *Store) empty(ctx context.Context) {
	s.stale.Store(false)
	var hindered, frames, moved int
	err := s.pen.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&hindered, &frames, &moved)
	if err != nil || hindered != 0 {
		s.stale.Store(true)
	}
}

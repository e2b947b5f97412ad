package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// remembered is how long a question that is over is kept.
const remembered = 24 * time.Hour

// How a question can be over.
const (
	used      = "used"
	rejected  = "rejected" // used, and it was a no
	withdrawn = "withdrawn"
	expired   = "expired" // and was found to be so: it stays so whatever the clock says
)

// Ask puts a question.
func (s *Store) Ask(ctx context.Context, q policy.Question) error {
	what := fmt.Sprintf("ask %q", q.ID)
	if q.ID == "" {
		return errors.New("store: ask: got a question without an id")
	}
	body, err := sealQuestion(q)
	if err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	forget := ""
	if !q.Expires.IsZero() {
		forget = writeTime(q.Expires.Add(remembered))
	}
	return s.write(ctx, what, func(tx *sql.Tx) error {
		if err := s.sweep(ctx, tx, s.now()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO questions (id, digest, asked, expires, body, forget) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
			q.ID, q.Digest, writeTime(q.Asked), writeTime(q.Expires), body, forget)
		return err
	})
}

// asked is a question as it is kept, and what became of it.
type asked struct {
	place           int64
	policy.Question // whole only where it is not over
	body            string
	over            string
	answer          sql.NullInt64
	forget          string
}

// find reads a question; [policy.ErrNotAsked].
func find(ctx context.Context, db querier, id string) (*asked, error) {
	a := &asked{Question: policy.Question{ID: id}}
	var from, until string
	err := db.QueryRowContext(ctx, `SELECT place, digest, asked, expires, body, over, answer, forget FROM questions WHERE id = ?`, id).
		Scan(&a.place, &a.Digest, &from, &until, &a.body, &a.over, &a.answer, &a.forget)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, policy.ErrNotAsked
	}
	if err != nil {
		return nil, err
	}
	if a.Asked, err = readTime(from); err != nil {
		return nil, err
	}
	if a.Expires, err = readTime(until); err != nil {
		return nil, err
	}
	if a.over == "" {
		if a.Question, err = unsealQuestion(id, a.Digest, a.body); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// open reports why a question can neither be answered nor be used any more.
func (a *asked) open(now time.Time) error {
	if a.over == expired {
		return policy.ErrExpired
	}
	return a.Open(now)
}

// gone is when a question that is over now is forgotten.
func (a *asked) gone(now time.Time) string {
	if a.forget != "" {
		return a.forget
	}
	return writeTime(now.Add(remembered))
}

// Answer answers a question, the first time.
func (s *Store) Answer(ctx context.Context, id string, answer policy.Answer) error {
	what := fmt.Sprintf("answer to %q", id)
	sealed, err := sealAnswer(id, answer)
	if err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	var number int64
	err = s.write(ctx, what, func(tx *sql.Tx) error {
		now := s.now()
		a, err := find(ctx, tx, id)
		if err != nil {
			return err
		}
		if a.answer.Valid {
			return policy.ErrAnswered
		}
		if err := a.open(now); err != nil {
			return err
		}
		if err := a.Check(answer); err != nil {
			return err
		}
		over, body, forget := "", a.body, a.forget
		if answer.Withdrawn {
			over, body, forget = withdrawn, "", a.gone(now)
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO answers (id, at, withdrawn, question, answer) VALUES (?, ?, ?, ?, ?)`,
			id, writeTime(now), answer.Withdrawn, body, sealed)
		if err != nil {
			return err
		}
		if number, err = res.LastInsertId(); err != nil {
			return err
		}
		return one(policy.ErrAnswered)(tx.ExecContext(ctx, `UPDATE questions SET answer = ?, over = ?, body = ?, forget = ? WHERE place = ? AND answer IS NULL AND over = ''`,
			number, over, body, forget, a.place))
	})
	if err == nil {
		s.watch.tell(number, id, false)
	}
	return err
}

// one wants a statement to have changed one row; else it is that error.
func one(otherwise error) func(sql.Result, error) error {
	return func(res sql.Result, err error) error {
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err == nil && n != 1 {
			err = otherwise
		}
		return err
	}
}

// Use takes the answer, once.
func (s *Store) Use(ctx context.Context, id, digest string) (policy.Answer, error) {
	var answer policy.Answer
	err := s.write(ctx, fmt.Sprintf("use of %q", id), func(tx *sql.Tx) error {
		now := s.now()
		a, err := find(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := a.usable(digest, now); err != nil {
			return err
		}
		var sealed string
		if err := tx.QueryRowContext(ctx, `SELECT answer FROM answers WHERE number = ? AND id = ? AND used = 0`, a.answer.Int64, id).Scan(&sealed); err != nil {
			if errors.Is(err, sql.ErrNoRows) {
				return &damage{fmt.Sprintf("the answer to %q is missing", id)}
			}
			return err
		}
		if answer, err = unsealAnswer(id, sealed); err != nil {
			return err
		}
		over := used
		if !answer.Allow {
			over = rejected
		}
		if err := one(policy.ErrUsed)(tx.ExecContext(ctx, `UPDATE questions SET over = ?, body = '', forget = ? WHERE place = ? AND answer = ? AND over = ?`,
			over, a.gone(now), a.place, a.answer.Int64, a.over)); err != nil {
			return err
		}
		return one(policy.ErrUsed)(tx.ExecContext(ctx, `UPDATE answers SET used = 1 WHERE number = ? AND used = 0`, a.answer.Int64))
	})
	if err != nil {
		return policy.Answer{}, err
	}
	return answer, nil
}

func (a *asked) usable(digest string, now time.Time) error {
	switch {
	case a.Digest != digest:
		return policy.ErrChanged
	case a.over == used || a.over == rejected:
		return policy.ErrUsed
	}
	if err := a.open(now); err != nil {
		return err
	}
	if !a.answer.Valid {
		return policy.ErrWaiting
	}
	return nil
}

// Find gives a question that is not over.
func (s *Store) Find(ctx context.Context, id string) (policy.Question, error) {
	var q policy.Question
	err := s.read(ctx, fmt.Sprintf("find %q", id), func(db *sql.DB) error {
		a, err := find(ctx, db, id)
		switch {
		case err != nil:
			return err
		case a.over == rejected:
			return policy.ErrRejected
		case a.over == used || a.over == withdrawn:
			return policy.ErrUsed
		case a.over == expired || !a.Expires.IsZero() && !s.now().Before(a.Expires):
			return policy.ErrExpired
		}
		q = a.Question
		return nil
	})
	return q, err
}

// Pending lists what can still be answered, oldest first.
func (s *Store) Pending(ctx context.Context) ([]policy.Question, error) {
	var list []policy.Question
	err := s.read(ctx, "pending", func(db *sql.DB) error {
		list = nil
		rows, err := db.QueryContext(ctx, `SELECT id, digest, body FROM questions WHERE answer IS NULL AND over = '' AND (expires = '' OR expires > ?) ORDER BY asked, place`, writeTime(s.now()))
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var id, digest, body string
			if err := rows.Scan(&id, &digest, &body); err != nil {
				return err
			}
			q, err := unsealQuestion(id, digest, body)
			if err != nil {
				return err
			}
			list = append(list, q)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

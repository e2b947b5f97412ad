package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
)

// How a question can be over.
const (
	used      = "used"
	rejected  = "rejected" // used, and it was a no
	withdrawn = "withdrawn"
	expired   = "expired" // and was found to be so: it stays so whatever the clock says
)

// Ask puts a question. One that only this process goes on with is over when the
// Store is closed, or its process ends.
func (s *Store) Ask(ctx context.Context, q policy.Question) error {
	what := fmt.Sprintf("ask %q", q.ID)
	if q.ID == "" {
		return errors.New("store: ask: got a question without an id")
	}
	body, err := sealQuestion(q)
	if err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	asker := ""
	if q.Here {
		o, err := s.owner()
		if err != nil {
			return fmt.Errorf("store: %s: %w", what, err)
		}
		asker = o.id
	}
	return s.write(ctx, what, func(tx *sql.Tx) error {
		now := s.now()
		if err := s.sweep(ctx, tx, now); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO questions (id, digest, asked, expires, body, forget, owner) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
			q.ID, q.Digest, writeTime(q.Asked), writeTime(q.Expires), body, forgotten(q.Expires, now.Add(idle)), asker)
		return err
	})
}

// errAskerGone is that nobody waits for an answer any more.
var errAskerGone = fmt.Errorf("who asked has ended, and no call waits for the answer: %w", policy.ErrExpired)

// gone reports whether a question's asker, who alone could go on, is gone. Where
// that cannot be said it is there.
func (s *Store) gone(asker string) bool {
	if asker == "" {
		return false
	}
	there, err := s.alive(asker)
	return !there && err == nil
}

// asked is a question as it is kept, and what became of it.
type asked struct {
	place           int64
	policy.Question // whole only where it is not over
	body            string
	over            string
	answer          sql.NullInt64
	asker           string // its owner
}

// find reads a question; [policy.ErrNotAsked].
func find(ctx context.Context, db querier, id string) (*asked, error) {
	a := &asked{Question: policy.Question{ID: id}}
	var from, until string
	err := db.QueryRowContext(ctx, `SELECT place, digest, asked, expires, body, over, answer, owner FROM questions WHERE id = ?`, id).
		Scan(&a.place, &a.Digest, &from, &until, &a.body, &a.over, &a.answer, &a.asker)
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

// forgotten is when a question is forgotten: a day after it expires, or, where it
// never does, at that time.
func forgotten(expires, otherwise time.Time) string {
	if expires.IsZero() {
		return writeTime(otherwise)
	}
	return writeTime(expires.Add(remembered))
}

// Answer answers a question, the first time. The rule that it is made to last as
// is kept with it, and it is on the record where there is one, or none of these is
// so.
func (s *Store) Answer(ctx context.Context, id string, answer policy.Answer) error {
	what := fmt.Sprintf("answer to %q", id)
	sealed, err := sealAnswer(id, answer)
	if err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	var number int64
	err = s.recorded(ctx, what, func(ctx context.Context, p *pen) ([]audit.Event, error) {
		now := s.now()
		a, err := find(ctx, p.conn, id)
		if err != nil {
			return nil, err
		}
		if a.answer.Valid {
			return nil, policy.ErrAnswered
		}
		if err := a.open(now); err != nil {
			return nil, err
		}
		if !answer.Withdrawn && s.gone(a.asker) {
			return nil, errAskerGone
		}
		if err := a.Check(answer); err != nil {
			return nil, err
		}
		over, body, forget, taken := "", a.body, forgotten(a.Expires, now.Add(idle)), 0
		if answer.Withdrawn {
			over, body, forget, taken = withdrawn, "", forgotten(a.Expires, now.Add(remembered)), 1
			s.stale.Store(true)
		}
		if g, ok := a.Grant(answer, now); ok {
			if _, err := keep(ctx, p, g, now); err != nil {
				return nil, err
			}
		}
		if _, err := p.exec(ctx, `INSERT INTO answers (id, at, withdrawn, question, answer) VALUES (?, ?, ?, ?, ?)`, id, writeTime(now), taken, body, sealed); err != nil {
			return nil, err
		}
		number = p.inserted
		n, err := p.exec(ctx, `UPDATE questions SET answer = ?, over = ?, body = ?, forget = ? WHERE place = ? AND answer IS NULL AND over = ''`, number, over, body, forget, a.place)
		switch {
		case err != nil:
			return nil, err
		case n != 1:
			return nil, policy.ErrAnswered
		case answer.Withdrawn:
			return nil, nil // nobody said anything
		}
		return s.governed(ctx, p, answered(a.Question, answer))
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
			over, forgotten(a.Expires, now.Add(remembered)), a.place, a.answer.Int64, a.over)); err != nil {
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
		case s.gone(a.asker):
			return errAskerGone
		}
		q = a.Question
		return nil
	})
	return q, err
}

// Again lists the questions of a digest that equal calls go on from.
func (s *Store) Again(ctx context.Context, digest string) ([]policy.Question, error) {
	scan := func(rows *sql.Rows) (policy.Question, error) {
		var id, body string
		if err := rows.Scan(&id, &body); err != nil {
			return policy.Question{}, err
		}
		return unsealQuestion(id, digest, body)
	}
	all, err := list(ctx, s, "again", scan,
		`SELECT id, body FROM questions WHERE digest = ? AND over = '' AND (expires = '' OR expires > ?) ORDER BY answer IS NULL, asked, place`, digest, writeTime(s.now()))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(q policy.Question) bool { return !q.Again }), nil
}

// Pending lists what can still be answered, oldest first.
func (s *Store) Pending(ctx context.Context) ([]policy.Question, error) {
	type one struct {
		policy.Question
		asker string
	}
	scan := func(rows *sql.Rows) (q one, err error) {
		var id, digest, body string
		if err := rows.Scan(&id, &digest, &body, &q.asker); err != nil {
			return q, err
		}
		q.Question, err = unsealQuestion(id, digest, body)
		return q, err
	}
	all, err := list(ctx, s, "pending", scan,
		`SELECT id, digest, body, owner FROM questions WHERE answer IS NULL AND over = '' AND (expires = '' OR expires > ?) ORDER BY asked, place`, writeTime(s.now()))
	if err != nil {
		return nil, err
	}
	var pending []policy.Question
	gone := make(map[string]bool) // each is looked at once
	for _, q := range all {
		is, known := gone[q.asker]
		if !known {
			is = s.gone(q.asker)
			gone[q.asker] = is
		}
		if !is {
			pending = append(pending, q.Question)
		}
	}
	return pending, nil
}

package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// history is how long it is kept what people answered.
const history = 30 * 24 * time.Hour

// Answered is what a person was asked and said.
type Answered struct {
	Question policy.Question `json:"question"`
	Answer   policy.Answer   `json:"answer"`
	At       time.Time       `json:"at"`
	Used     bool            `json:"used"` // a call has run on it, or was refused for it
}

// Answered lists what was answered at that time or later, within the last thirty
// days, oldest first. What was withdrawn is not among it.
func (s *Store) Answered(ctx context.Context, since time.Time) ([]Answered, error) {
	oldest := s.now().Add(-history)
	if since.After(oldest) {
		oldest = since
	}
	return list(ctx, s, "answered", scanAnswered,
		`SELECT id, at, used, question, answer FROM answers WHERE at >= ? AND withdrawn = 0 ORDER BY number`, writeTime(oldest))
}

func scanAnswered(rows *sql.Rows) (a Answered, err error) {
	var id, at, question, answer string
	if err := rows.Scan(&id, &at, &a.Used, &question, &answer); err != nil {
		return a, err
	}
	if a.At, err = readTime(at); err != nil {
		return a, err
	}
	if err := unseal(id, question, &a.Question); err != nil {
		return a, err
	}
	a.Answer, err = unsealAnswer(id, answer)
	return a, err
}

package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
)

// Filter says which lines of the log are wanted. The zero value wants all.
type Filter struct {
	Since, Until time.Time // from this time on; before this one
	Session      string
	Tool         string // as it is called
	Kind         audit.Kind
	Call         string // Ferrule's id or the provider's
	Question     string // its id in the inbox
	Verdict      string // of a decision: allow, ask or deny
	Text         string // stands somewhere in the line, whatever its case
	After        int64  // a place: what stands behind it
	Before       int64  // a place: what stands before it; 0: no bound
	Newest       int    // only so many, the last ones; 0: all
}

// Logged is a line of the log.
type Logged struct {
	audit.Row
	Entry audit.Entry
}

// page is how many rows are read at once. None is open while somebody looks at
// what was read.
const page = 500

// Entries gives what is in the log, oldest first. What this store appended is
// there after a Flush. A line that cannot be read is an error, and the last thing
// that is given: [Store.Verify] says what is wrong.
func (s *Store) Entries(ctx context.Context, f Filter) iter.Seq2[Logged, error] {
	return func(yield func(Logged, error) bool) {
		if f.Newest > 0 {
			s.newest(ctx, f, yield)
			return
		}
		where, args := f.conditions()
		for after := f.After; ; {
			rows, err := s.rows(ctx, where+" AND place > ? AND place < ? ORDER BY place LIMIT ?", append(slices.Clip(args), after, f.end(), page)...)
			if err != nil {
				yield(Logged{}, err)
				return
			}
			for _, r := range rows {
				one, fits, err := f.fit(r)
				if (fits || err != nil) && !yield(one, err) || err != nil {
					return
				}
				after = r.Place
			}
			if len(rows) < page {
				return
			}
		}
	}
}

// Lives gives all lines of calls, by Ferrule's ids, oldest first.
func (s *Store) Lives(ctx context.Context, calls ...string) iter.Seq2[Logged, error] {
	return s.amongst(ctx, "call <> '' AND call", calls)
}

// Questioned gives all lines of questions, by their ids in the inbox, oldest first.
func (s *Store) Questioned(ctx context.Context, questions ...string) iter.Seq2[Logged, error] {
	ids := make([]string, len(questions))
	for i, id := range questions {
		ids[i] = inIndex(id)
	}
	return s.amongst(ctx, isOfQuestion+" AND "+questionOf, ids)
}

// amongst gives the lines of which something is one of some values, oldest first.
func (s *Store) amongst(ctx context.Context, what string, values []string) iter.Seq2[Logged, error] {
	return func(yield func(Logged, error) bool) {
		var found []audit.Row
		for some := range slices.Chunk(values, page) {
			args := make([]any, len(some))
			for i, id := range some {
				args[i] = id
			}
			rows, err := s.rows(ctx, what+" IN (?"+strings.Repeat(", ?", len(some)-1)+")", args...)
			if err != nil {
				yield(Logged{}, err)
				return
			}
			found = append(found, rows...)
		}
		slices.SortFunc(found, func(a, b audit.Row) int { return cmp.Compare(a.Place, b.Place) })
		for _, r := range found {
			one, _, err := new(Filter).fit(r)
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// LastPlace is the place of the newest line; 0: there is none. What is appended
// later stands behind it.
func (s *Store) LastPlace(ctx context.Context) (place int64, err error) {
	err = s.read(ctx, "read the log", func(db *sql.DB) error { return db.QueryRowContext(ctx, endOfLog).Scan(&place) })
	return place, err
}

// newest reads backwards until it has enough.
func (s *Store) newest(ctx context.Context, f Filter, yield func(Logged, error) bool) {
	var found []Logged
	where, args := f.conditions()
	at := page
	if f.Text == "" && f.Since.IsZero() && f.Until.IsZero() { // nearly all that SQLite gives is wanted
		at = min(page, f.Newest)
	}
	for before := f.end(); ; {
		rows, err := s.rows(ctx, where+" AND place > ? AND place < ? ORDER BY place DESC LIMIT ?", append(slices.Clip(args), f.After, before, at)...)
		if err != nil {
			yield(Logged{}, err)
			return
		}
		for _, r := range rows {
			one, fits, err := f.fit(r)
			if err != nil {
				yield(one, err)
				return
			}
			if fits {
				found = append(found, one)
			}
			if before = r.Place; len(found) == f.Newest {
				break
			}
		}
		if len(found) == f.Newest || len(rows) < at {
			break
		}
	}
	for _, one := range slices.Backward(found) {
		if !yield(one, nil) {
			return
		}
	}
}

// rows reads rows of the log.
func (s *Store) rows(ctx context.Context, where string, args ...any) ([]audit.Row, error) {
	return list(ctx, s, "read the log", scanRow,
		`SELECT place, coalesce((SELECT w.writer FROM log_writers AS w WHERE w.key = log.writer), ''), number, call, line, hash FROM log WHERE `+where, args...)
}

func scanRow(rows *sql.Rows) (r audit.Row, err error) {
	var hash []byte
	err = rows.Scan(&r.Place, &r.Writer, &r.Number, &r.Call, &r.Line, &hash)
	r.Hash = hashOf(hash)
	return r, err
}

// hashOf is a hash as it is kept; one of another length fits nothing.
func hashOf(kept []byte) (h audit.Hash) {
	if len(kept) == len(h) {
		h = audit.Hash(kept)
	}
	return h
}

// end is the place before which all stands that is wanted.
func (f *Filter) end() int64 {
	if f.Before > 0 {
		return f.Before
	}
	return math.MaxInt64
}

// conditions are what SQLite can leave out: lines in which the texts that are
// looked for do not stand at all.
func (f *Filter) conditions() (where string, args []any) {
	where = "1"
	key := func(name, value string) {
		if value != "" {
			where += " AND instr(line, ?) > 0"
			args = append(args, name+quoted(value))
		}
	}
	if f.Kind == audit.Requested { // of which there are indexes
		where += " AND " + isRequest
		for _, one := range [...][2]string{{toolOf, f.Tool}, {sessionOf, f.Session}} {
			if one[1] != "" {
				where += " AND " + one[0] + " = ?"
				args = append(args, inIndex(one[1]))
			}
		}
	} else {
		key(`"session":`, f.Session)
		key(`"tool":`, f.Tool)
		key(`"kind":`, string(f.Kind))
	}
	key(`"verdict":`, f.Verdict)
	if f.Question != "" {
		where += " AND " + isOfQuestion + " AND " + questionOf + " = ?"
		args = append(args, inIndex(f.Question))
	}
	if f.Call != "" {
		// Without the first part the index would not be used.
		where += " AND place IN (SELECT place FROM log WHERE call = ? AND call <> '' UNION ALL SELECT place FROM log WHERE NOT EXISTS (SELECT 1 FROM log WHERE call = ? AND call <> '') AND instr(line, ?) > 0)"
		args = append(args, f.Call, f.Call, `"call_id":`+quoted(f.Call))
	}
	return where, args
}

// inIndex is a text as the indexes of the log have it.
func inIndex(text string) string {
	value, _, _ := strings.Cut(quoted(text)[1:], `"`)
	return value
}

// quoted is a text as it stands in a line.
func quoted(text string) string {
	line := new(audit.Encoder).Append(nil, &audit.Event{By: text})
	_, value, _ := strings.Cut(string(line), `,"by":`)
	return strings.TrimSuffix(value, "}")
}

// fit reads a row and reports whether it is wanted.
func (f *Filter) fit(r audit.Row) (Logged, bool, error) {
	e, err := r.Entry()
	if err != nil {
		return Logged{Row: r}, false, fmt.Errorf("store: the log at place %d: %w", r.Place, err)
	}
	fits := (f.Since.IsZero() || !e.Time.Before(f.Since)) && (f.Until.IsZero() || e.Time.Before(f.Until)) &&
		same(f.Session, e.Session) && same(f.Tool, e.Tool) && same(string(f.Kind), string(e.Kind)) && same(f.Question, e.Question) &&
		(f.Call == "" || f.Call == e.ID || f.Call == e.CallID) &&
		(f.Verdict == "" || e.Decision != nil && e.Decision.Verdict == f.Verdict) &&
		(f.Text == "" || strings.Contains(strings.ToLower(r.Line), strings.ToLower(f.Text)))
	return Logged{r, e}, fits, nil
}

// same reports whether a value is the one that is wanted, if one is.
func same(want, got string) bool { return want == "" || want == got }

// until gives the rows up to a place: they do not change any more.
func (s *Store) until(ctx context.Context, last int64) iter.Seq2[audit.Row, error] {
	return func(yield func(audit.Row, error) bool) {
		from, after := "place >= ?", int64(math.MinInt64) // somebody may have put one before the first
		for {
			rows, err := s.rows(ctx, from+" AND place <= ? ORDER BY place LIMIT ?", after, last, page)
			if err != nil {
				yield(audit.Row{}, err)
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
				from, after = "place > ?", r.Place
			}
			if len(rows) < page {
				return
			}
		}
	}
}

// Rows gives the whole log as it is stored, with its links.
func (s *Store) Rows(ctx context.Context) iter.Seq2[audit.Row, error] {
	return s.until(ctx, math.MaxInt64)
}

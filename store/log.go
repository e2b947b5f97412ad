package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
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
	Verdict      string // of a decision: allow, ask or deny
	Text         string // stands somewhere in the line, whatever its case
	After        int64  // a place: what stands behind it
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
			rows, err := s.rows(ctx, where+" AND place > ? ORDER BY place LIMIT ?", append(slices.Clip(args), after, page)...)
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

// newest reads backwards until it has enough.
func (s *Store) newest(ctx context.Context, f Filter, yield func(Logged, error) bool) {
	var found []Logged
	where, args := f.conditions()
	for before := int64(1) << 62; ; {
		rows, err := s.rows(ctx, where+" AND place > ? AND place < ? ORDER BY place DESC LIMIT ?", append(slices.Clip(args), f.After, before, page)...)
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
		if len(found) == f.Newest || len(rows) < page {
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
	if len(hash) == len(r.Hash) { // else it stays one that fits nothing
		r.Hash = audit.Hash(hash)
	}
	return r, err
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
	key(`"session":`, f.Session)
	key(`"tool":`, f.Tool)
	key(`"kind":`, string(f.Kind))
	key(`"verdict":`, f.Verdict)
	if f.Call != "" {
		// Without the first part the index would not be used.
		where += " AND place IN (SELECT place FROM log WHERE call = ? AND call <> '' UNION ALL SELECT place FROM log WHERE NOT EXISTS (SELECT 1 FROM log WHERE call = ? AND call <> '') AND instr(line, ?) > 0)"
		args = append(args, f.Call, f.Call, `"call_id":`+quoted(f.Call))
	}
	return where, args
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
		same(f.Session, e.Session) && same(f.Tool, e.Tool) && same(string(f.Kind), string(e.Kind)) &&
		(f.Call == "" || f.Call == e.ID || f.Call == e.CallID) &&
		(f.Verdict == "" || e.Decision != nil && e.Decision.Verdict == f.Verdict) &&
		(f.Text == "" || strings.Contains(strings.ToLower(r.Line), strings.ToLower(f.Text)))
	return Logged{r, e}, fits, nil
}

// same reports whether a value is the one that is wanted, if one is.
func same(want, got string) bool { return want == "" || want == got }

// keyFile is the key that heads are signed with, beside the store.
const keyFile = "audit.key"

// Head is where the log ends, signed with the key of this store, which is made
// where there is none: see [audit.Head]. All that it covers is on the disk.
func (s *Store) Head(ctx context.Context) (audit.Head, error) {
	const what = "head of the log"
	key, err := audit.MakeKey(filepath.Join(filepath.Dir(s.path), keyFile))
	if err != nil {
		return audit.Head{}, s.fault(ctx, what, err)
	}
	var h audit.Head
	err = s.commit(ctx, what, true, func(ctx context.Context, p *pen) (err error) {
		h, err = end(ctx, p.conn)
		if err == nil {
			h.Time = s.now().UTC()
			_, err = p.exec(ctx, `UPDATE log_name SET headed = ?`, writeTime(h.Time)) // a commit of nothing syncs nothing
		}
		return err
	})
	if err != nil {
		return audit.Head{}, err
	}
	return h, s.fault(ctx, what, h.Sign(key))
}

// Key is the public part of the key that heads of this store are signed with;
// [io/fs.ErrNotExist] where none was made yet.
func (s *Store) Key() (audit.Key, error) {
	key, err := audit.ReadKey(filepath.Join(filepath.Dir(s.path), keyFile))
	if err != nil {
		return audit.Key{}, s.fault(s.life, "key of the log", err)
	}
	return audit.PublicKey(key), nil
}

// lister is a database, a connection or a transaction.
type lister interface {
	querier
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// end is a head of the log, without a time and not signed.
func end(ctx context.Context, db lister) (h audit.Head, err error) {
	if err := db.QueryRowContext(ctx, endOfLog).Scan(&h.Place); err != nil {
		return h, err
	}
	if err := db.QueryRowContext(ctx, `SELECT name FROM log_name`).Scan(&h.Store); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = &damage{"the log has no name any more"}
		}
		return h, err
	}
	rows, err := db.QueryContext(ctx, `SELECT writer, number, hash FROM log_writers WHERE number > 0 ORDER BY writer`)
	if err != nil {
		return h, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var m audit.Mark
		var hash []byte
		if err := rows.Scan(&m.Writer, &m.Number, &hash); err != nil {
			return h, err
		}
		copy(m.Hash[:], hash)
		h.Marks = append(h.Marks, m)
	}
	return h, rows.Err()
}

// Verify looks whether the log is as it was written: see [audit.Verify]. A head
// must have been checked. One of another log is an error.
//
// The store also notes where each writer ended, so that lines which only were
// taken away at the end are missed without a head too.
func (s *Store) Verify(ctx context.Context, head *audit.Head) (audit.Report, error) {
	const what = "verify the log"
	if err := s.Flush(ctx); err != nil {
		return audit.Report{}, err
	}
	var now audit.Head
	err := s.read(ctx, what, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		now, err = end(ctx, tx)
		return err
	})
	if err != nil {
		return audit.Report{}, err
	}
	if head != nil && head.Store != now.Store {
		return audit.Report{}, s.fault(ctx, what, fmt.Errorf("got a head of the log %s, want one of this log, %s", head.Store, now.Store))
	}
	report, err := audit.Verify(s.until(ctx, now.Place), head)
	if err != nil {
		return report, err
	}
	for _, m := range now.Marks {
		i, found := slices.BinarySearchFunc(report.Marks, m.Writer, func(m audit.Mark, writer string) int { return strings.Compare(m.Writer, writer) })
		if !found || report.Marks[i] != m {
			report.Faults = append(report.Faults, audit.Fault{Writer: m.Writer, What: fmt.Sprintf("the store has noted %d as its last number, with another hash or more than is there: the end was taken away or changed", m.Number)})
		}
	}
	return report, nil
}

// until gives the rows up to a place: they do not change any more.
func (s *Store) until(ctx context.Context, last int64) iter.Seq2[audit.Row, error] {
	return func(yield func(audit.Row, error) bool) {
		for after := int64(-1 << 62); ; {
			rows, err := s.rows(ctx, "place > ? AND place <= ? ORDER BY place LIMIT ?", after, last, page)
			if err != nil {
				yield(audit.Row{}, err)
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
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

// Rows gives the whole log as it is stored, with its links.
func (s *Store) Rows(ctx context.Context) iter.Seq2[audit.Row, error] {
	return s.until(ctx, 1<<62)
}

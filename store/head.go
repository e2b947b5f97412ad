package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/audit"
)

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

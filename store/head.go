package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	var h audit.Head
	err := s.commit(ctx, what, true, func(ctx context.Context, p *pen) (err error) {
		if h, err = end(ctx, p.conn); err == nil {
			h.Marks = slices.DeleteFunc(h.Marks, func(m audit.Mark) bool { return m.Number < 1 }) // nobody writes such a note
			h.Time = s.now().UTC()
			_, err = p.exec(ctx, `UPDATE log_name SET headed = ?`, writeTime(h.Time)) // a commit of nothing syncs nothing
		}
		return err
	})
	if err != nil {
		return audit.Head{}, err
	}
	// A log that no head is noted in never had this key: see Verify.
	key, err := audit.MakeKey(filepath.Join(filepath.Dir(s.path), keyFile))
	if err != nil {
		return audit.Head{}, s.fault(ctx, what, err)
	}
	return h, s.fault(ctx, what, h.Sign(key))
}

// Key is the public part of the key that heads of this store are signed with;
// [io/fs.ErrNotExist] where none was made yet.
func (s *Store) Key() (audit.Key, error) {
	key, err := KeyOf(s.path)
	return key, s.fault(s.life, "key of the log", err)
}

// KeyOf is [Store.Key] of the store in a file, which need not be there.
func KeyOf(path string) (audit.Key, error) {
	key, err := audit.ReadKey(filepath.Join(filepath.Dir(path), keyFile))
	if err != nil {
		return audit.Key{}, err
	}
	return audit.PublicKey(key), nil
}

// Trace is a file which shows that there was a store at a path: the key that heads
// of it were signed with, or one that SQLite or somebody who used it has left
// behind. "": nothing does.
func Trace(path string) (string, error) {
	dir, name := filepath.Split(path)
	all, err := os.ReadDir(cmp.Or(dir, "."))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	for _, one := range all {
		if one.Name() == keyFile || strings.HasPrefix(one.Name(), name+"-") {
			return filepath.Join(dir, one.Name()), nil
		}
	}
	return "", nil
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
	rows, err := db.QueryContext(ctx, `SELECT writer, number, hash FROM log_writers ORDER BY writer`)
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
		m.Hash = hashOf(hash)
		h.Marks = append(h.Marks, m)
	}
	return h, rows.Err()
}

// Verify looks whether the log is as it was written: see [audit.Verify]. A head
// must have been checked. One of another log is an error.
//
// The store also notes where each writer ended, so that lines which only were
// taken away at the end are missed without a head too; and it looks whether the
// indexes have what the tables have, which is what somebody is shown who asks for
// a call.
func (s *Store) Verify(ctx context.Context, head *audit.Head) (audit.Report, error) {
	const what = "verify the log"
	if err := s.Flush(ctx); err != nil {
		return audit.Report{}, err
	}
	var now audit.Head
	var beside []audit.Fault
	err := s.read(ctx, what, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if now, err = end(ctx, tx); err == nil {
			beside, err = s.beside(ctx, tx, now)
		}
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
	report.Faults = append(append(report.Faults, beside...), compare(now.Marks, report.Marks)...)
	return report, nil
}

// beside finds what is wrong beside the rows: an index that has not what its table
// has, and a log that is not the one that was there.
func (s *Store) beside(ctx context.Context, db lister, now audit.Head) (faults []audit.Fault, err error) {
	for _, table := range []string{"log", "log_writers"} {
		var found string
		if err := db.QueryRowContext(ctx, "PRAGMA integrity_check("+table+")").Scan(&found); err != nil {
			return nil, err
		}
		if found != "ok" {
			faults = append(faults, audit.Fault{What: "the table " + table + " of the store: " + found})
		}
	}
	var headed string
	if err := db.QueryRowContext(ctx, `SELECT headed FROM log_name`).Scan(&headed); err != nil {
		return nil, err
	}
	if _, err := KeyOf(s.path); err == nil && now.Place == 0 && headed == "" {
		faults = append(faults, audit.Fault{What: "nothing is on the record, and no head of it was made, but heads were signed with the key that is here (" + keyFile + "): this store was put in the place of another"})
	}
	return faults, nil
}

// compare finds writers who did not end where the store has noted it.
func compare(noted, found []audit.Mark) (faults []audit.Fault) {
	ends := make(map[string]audit.Mark)
	for _, m := range found {
		ends[m.Writer] = m
	}
	for _, m := range noted {
		is, ok := ends[m.Writer]
		if !ok {
			is = audit.Begin(m.Writer)
		}
		if delete(ends, m.Writer); is != m {
			faults = append(faults, audit.Fault{Writer: m.Writer, What: fmt.Sprintf("its last number is %d, but the store has noted %d, or another hash: the end was taken away or changed, or the note was", is.Number, m.Number)})
		}
	}
	for _, m := range found {
		if _, left := ends[m.Writer]; left {
			faults = append(faults, audit.Fault{Writer: m.Writer, What: fmt.Sprintf("the store has not noted that it wrote anything, but it wrote %d", m.Number)})
		}
	}
	return faults
}

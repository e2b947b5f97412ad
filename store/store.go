// Package store keeps in a file what must outlive a process: the questions that
// wait for a person, their answers, the rules that were made of them, sessions,
// counters, calls that run or ran, and what is on the record. A [Store] is a
// [policy.Inbox], a [policy.Ledger], a [durable.Journal] and an [audit.Log].
//
// The file is an SQLite database, which several processes may use at once: one
// asks, another answers. What a method has done is on the disk when it returns,
// except where its seam says less. Who has begun calls is known to others by a
// lock on a file beside the store, as long as its process is there. Only the user
// who made the files can read them.
//
// Nothing is answered by accident. Where the disk is full, the file damaged, of
// another application or of a newer version, every method is an error that says
// what to do about it, and a call that needs an answer does not run. What was
// kept is checked against a sum when it is read.
//
// Nothing is kept for ever but the log ([Store.Append]), which nobody sweeps, and
// the rules that a principal has in every session. A question that is over is
// forgotten after a day, so that a late answer hears why it is refused; one that
// never expires 90 days after it was asked or answered. What people answered
// is kept for thirty days ([Store.Answered]); the arguments of calls are among it.
// A session that nobody asked for in 90 days is forgotten with its rules, and so
// is a budget that nobody charged in 90 days. A call is forgotten 90 days after it
// ended; one that was left behind stays until somebody says what became of it. What is forgotten is overwritten in the
// file.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"github.com/ferrule-dev/ferrule/policy"
)

// Store is a store in a file. [Open] opens one; it must not be copied.
type Store struct {
	path   string
	files  []held // what it is on the disk
	dir    atomic.Pointer[directory]
	now    func() time.Time
	writer *sql.DB // of one connection, which is that of pen
	pen    *pen
	reader *sql.DB
	anchor *sql.Conn // of reader: while it is there nobody may put the log away

	life    context.Context // ends with Close
	end     context.CancelFunc
	broken  atomic.Pointer[damage] // what was found damaged
	unsure  atomic.Pointer[unsynced]
	swept   time.Time   // by the writer
	stale   atomic.Bool // the log has something in it that was forgotten
	shorten atomic.Bool // it is time to see to that
	watch   watching
	commits committer
	log     logging
	running running
	owning  sync.Mutex            // of who becomes or ends own
	own     atomic.Pointer[owner] // who this is for others; nil: nobody yet
	close   sync.Once
}

var (
	_ policy.Inbox  = (*Store)(nil)
	_ policy.Ledger = (*Store)(nil)
)

const (
	// patience is how long a method waits for another process.
	patience = 5 * time.Second
	// readers is how many read at once.
	readers = 8
)

// Open opens the store in a file, and makes the file if there is none, but not
// its directory. It refuses a file that it cannot write, that is damaged, or
// that is something else.
func Open(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, time.Now)
}

func open(ctx context.Context, path string, now func() time.Time) (_ *Store, err error) {
	if path == "" {
		return nil, errors.New("store: got no path, want that of a file")
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := prepare(path); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s := &Store{path: path, now: now}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	if s.writer, err = connect(path, "_txlock", "immediate", "_synchronous", "FULL"); err != nil {
		return nil, fmt.Errorf("store: %s: %w", path, err)
	}
	s.writer.SetMaxOpenConns(1)
	// FULL is what it is without a word, too; but to hear it SQLite reads the whole
	// schema, which the anchor has no use for.
	if s.reader, err = connect(path, "_query_only", "1"); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %s: %w", path, err), s.writer.Close())
	}
	s.reader.SetMaxOpenConns(readers + 1) // and the anchor
	s.reader.SetMaxIdleConns(readers)
	if err := s.begin(ctx); err != nil {
		return nil, errors.Join(s.fault(ctx, opening, err), s.Close())
	}
	return s, nil
}

// begin finds out what the file is, and makes it a store of this version.
func (s *Store) begin(ctx context.Context) error {
	// Nothing is changed in a file before it is known to be ours.
	if err := patient(ctx, func() error { return examine(ctx, s.writer) }); err != nil {
		return err
	}
	if err := patient(ctx, func() error { return useWAL(ctx, s.writer) }); err != nil {
		return err
	}
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return err
	}
	if s.pen, err = newPen(conn); err != nil {
		return err
	}
	// This takes the right to write also where there is nothing to do, so that a
	// file that cannot be written is found now.
	if err := s.transact(ctx, func(tx *sql.Tx) error { return migrate(ctx, tx) }); err != nil {
		return err
	}
	if s.anchor, err = s.reader.Conn(ctx); err != nil {
		return err
	}
	if err := patient(ctx, func() error { return current(ctx, s.anchor) }); err != nil {
		return err
	}
	if s.files, err = hold(s.path); err != nil {
		return err
	}
	if err := s.pen.syncs(ctx, s.files[0].path+walEnd); err != nil {
		return err
	}
	if err := s.recover(ctx); err != nil {
		return err
	}
	s.watch.looked, err = s.last(ctx)
	return err
}

// connect makes connections as all of them are here.
func connect(path string, options ...string) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(name(path, options...))
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// Close ends the use of the store. Watchers hear nothing any more.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() {
		err = s.commits.close()
		s.end()
		s.watch.end()
		// The writer goes last: whoever is last puts the log into the file, and away.
		if err = errors.Join(err, hangUp(s.anchor), s.reader.Close(), s.pen.close(), s.writer.Close(), s.leave()); err != nil {
			err = fmt.Errorf("store: %s: close: %w", s.path, err)
		}
	})
	return err
}

// write does something in one transaction, which is on the disk, or undone, when
// it returns. f must not use the store. An error of f is returned as it is where
// it is none of the database.
func (s *Store) write(ctx context.Context, what string, f func(*sql.Tx) error) error {
	err := s.ready()
	if err == nil {
		err = s.transact(ctx, func(tx *sql.Tx) error {
			if err := current(ctx, tx); err != nil {
				return err
			}
			return f(tx)
		})
	}
	if err == nil {
		err = s.moved() // then nobody else knows what was written
	}
	if err == nil && s.shorten.Swap(false) && s.pen.take(ctx) == nil {
		s.empty(ctx)
		s.pen.leave()
	}
	return s.fault(ctx, what, err)
}

func (s *Store) transact(ctx context.Context, f func(*sql.Tx) error) error {
	if err := s.pen.take(ctx); err != nil {
		return err
	}
	defer s.pen.leave()
	var tx *sql.Tx
	err := patient(ctx, func() (err error) {
		// Where ctx ends, database/sql would undo the transaction by itself, at a moment
		// when somebody else may have the pen already.
		tx, err = s.pen.conn.BeginTx(context.WithoutCancel(ctx), nil)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := f(tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return s.sync()
}

// read reads something, perhaps more than once.
func (s *Store) read(ctx context.Context, what string, f func(*sql.DB) error) error {
	err := s.ready()
	if err == nil {
		err = patient(ctx, func() error {
			if err := current(ctx, s.reader); err != nil {
				return err
			}
			return f(s.reader)
		})
	}
	return s.fault(ctx, what, err)
}

// list reads all rows of a query, each by scan.
func list[T any](ctx context.Context, s *Store, what string, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	var all []T
	err := s.read(ctx, what, func(db *sql.DB) error {
		all = nil // it may be tried again
		rows, err := db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			one, err := scan(rows)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// ready reports why the store cannot be used.
func (s *Store) ready() error {
	if err := s.usable(); err != nil {
		return err
	}
	return s.moved()
}

// usable is ready without a look at the files.
func (s *Store) usable() error {
	if s.life.Err() != nil {
		return errClosed
	}
	if d := s.broken.Load(); d != nil {
		return d
	}
	if u := s.unsure.Load(); u != nil {
		return u
	}
	return nil
}

const errClosed policy.Refusal = "the store is closed"

// patient tries again while another process is in the way. SQLite itself waits a
// little each time.
func patient(ctx context.Context, f func() error) error {
	until := time.Now().Add(patience)
	for {
		err := f()
		if !busy(err) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

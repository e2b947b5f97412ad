package store

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"
)

// OpenAt opens a store with a clock of the test.
func OpenAt(ctx context.Context, path string, now func() time.Time) (*Store, error) {
	return open(ctx, path, now)
}

// Raw runs a statement on the connection that writes.
func (s *Store) Raw(ctx context.Context, query string, args ...any) error {
	_, err := s.pen.conn.ExecContext(ctx, query, args...)
	return err
}

// RawText is the first column of the first row of a query.
func (s *Store) RawText(ctx context.Context, query string, args ...any) (text string, err error) {
	err = s.pen.conn.QueryRowContext(ctx, query, args...).Scan(&text)
	return text, err
}

// Transact runs a statement in a transaction of its own, then a function before that ends.
func (s *Store) Transact(ctx context.Context, query string, then func()) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query)
		then()
		return err
	})
}

// Looking reports whether somebody looks for answers of other processes.
func (s *Store) Looking() bool {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	return s.watch.stop != nil
}

// Version is the version of the store that this program writes.
func Version() int { return len(migrations()) }

// Do is a job of a test: it writes by the function that it is given.
type Do func(exec func(query string, args ...any) error) error

func (do Do) job() func(context.Context, *pen) error {
	return func(ctx context.Context, p *pen) error {
		return do(func(query string, args ...any) error {
			_, err := p.exec(ctx, query, args...)
			return err
		})
	}
}

// Commit does a job together with others.
func (s *Store) Commit(ctx context.Context, synced bool, do Do) error {
	return s.commit(ctx, "test", synced, do.job())
}

// Later queues a lazy job, FlushJobs waits for those that were queued.
func (s *Store) Later(do Do) error { return s.later("test", do.job()) }

// FlushJobs waits for lazy jobs.
func (s *Store) FlushJobs(ctx context.Context) error { return s.flush(ctx, "test") }

// Hold has everybody who writes wait until it is let go.
func (s *Store) Hold() (leave func()) {
	_ = s.pen.take(context.Background())
	return s.pen.leave
}

// Queued is how many jobs wait.
func (s *Store) Queued() int {
	s.commits.mu.Lock()
	defer s.commits.mu.Unlock()
	return len(s.commits.queue)
}

// Syncs is how often the log was synced.
func (s *Store) Syncs() int {
	defer s.Hold()()
	return s.pen.synced
}

// SyncTo has the log be synced by another file, and gives the one that was.
func (s *Store) SyncTo(f *os.File) *os.File {
	defer s.Hold()()
	was := s.pen.wal
	s.pen.wal = f
	return was
}

// MostLazy is how many lazy jobs can wait.
const MostLazy = mostLazy

// MostWaiting sets how many lines of the log can wait.
func (s *Store) MostWaiting(n int) { s.log.most = n }

// AppendJot adds a line to what is jotted down.
func AppendJot(text []byte, number int64, call string, line []byte) []byte {
	return appendJot(text, number, call, line)
}

// ReadJots are the lines that were jotted down after one, and the number of the last.
func ReadJots(text []byte, after int64) (lines []string, last int64) {
	sh := readJots(text, after)
	start := 0
	for _, l := range sh.lines {
		lines = append(lines, string(sh.text[start:l.end]))
		start = l.end
	}
	return lines, sh.last
}

// Plan is how SQLite finds what a filter wants, newest first.
func (s *Store) Plan(t *testing.T, f Filter) string {
	t.Helper()
	where, args := f.conditions()
	all, err := list(t.Context(), s, "plan", func(rows *sql.Rows) (line string, err error) {
		var skip int
		err = rows.Scan(&skip, &skip, &skip, &line)
		return line, err
	}, `EXPLAIN QUERY PLAN SELECT place FROM log WHERE `+where+` AND place > ? AND place < ? ORDER BY place DESC LIMIT 5`, append(args, 0, 1000)...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "; ")
}

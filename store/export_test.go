package store

import (
	"context"
	"time"
)

// OpenAt opens a store with a clock of the test.
func OpenAt(ctx context.Context, path string, now func() time.Time) (*Store, error) {
	return open(ctx, path, now)
}

// Raw runs a statement on the connection that writes.
func (s *Store) Raw(ctx context.Context, query string, args ...any) error {
	_, err := s.writer.ExecContext(ctx, query, args...)
	return err
}

// RawText is the first column of the first row of a query.
func (s *Store) RawText(ctx context.Context, query string, args ...any) (text string, err error) {
	err = s.writer.QueryRowContext(ctx, query, args...).Scan(&text)
	return text, err
}

// Looking reports whether somebody looks for answers of other processes.
func (s *Store) Looking() bool {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	return s.watch.stop != nil
}

// Version is the version of the store that this program writes.
func Version() int { return len(migrations()) }

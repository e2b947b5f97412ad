package store

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// glance is how often the store looks for answers of other processes.
const glance = 100 * time.Millisecond

// watching is who wants to hear of answers. Answers have numbers, which grow in
// the order in which they come onto the disk.
type watching struct {
	mu     sync.Mutex
	next   int
	all    map[int]watcher
	looked int64          // answers up to this number were found by looking
	told   map[int64]bool // later ones that were told already: of this process
	stop   func()         // looking; nil: nobody does
	looks  sync.WaitGroup
	closed bool
}

type watcher struct {
	f     func(id string)
	after int64 // this number
}

// Watch tells of answers: those given through this Store before Answer returns,
// others after 100 ms or so. f is called from several goroutines; it may use the
// store, but not close it.
func (s *Store) Watch(f func(id string)) (stop func()) {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return func() {}
	}
	// Under the mutex: what comes onto the disk after this is told after it.
	ctx, cancel := context.WithTimeout(s.life, time.Second)
	defer cancel()
	last, err := s.last(ctx)
	if err != nil {
		last = w.looked // rather tell too much
	}
	if w.all == nil {
		w.all, w.told = make(map[int]watcher), make(map[int64]bool)
	}
	key := w.next
	w.next++
	w.all[key] = watcher{f, last}
	if w.stop == nil {
		w.looked = max(w.looked, last)
		ctx, stop := context.WithCancel(s.life)
		w.stop = stop
		w.looks.Go(func() { s.look(ctx) })
	}
	return func() { w.leave(key) }
}

// last is the number of the last answer.
func (s *Store) last(ctx context.Context) (int64, error) {
	var last int64
	err := s.read(ctx, "watch", func(db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'answers'`).Scan(&last)
	})
	return last, err
}

func (w *watching) leave(key int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, key)
	if len(w.all) == 0 && w.stop != nil {
		w.stop()
		w.stop = nil
		clear(w.told)
	}
}

// end has nobody hear anything any more.
func (w *watching) end() {
	w.mu.Lock()
	w.closed = true
	clear(w.all)
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	w.mu.Unlock()
	w.looks.Wait()
}

// tell calls who has not heard of an answer, without the mutex.
func (w *watching) tell(number int64, id string, looked bool) {
	var fs []func(string)
	w.mu.Lock()
	if number > w.looked && !w.told[number] {
		for _, one := range w.all {
			if one.after < number {
				fs = append(fs, one.f)
			}
		}
	}
	switch {
	case looked:
		w.looked = max(w.looked, number)
		delete(w.told, number)
	case number > w.looked && len(w.all) > 0:
		w.told[number] = true
	}
	w.mu.Unlock()
	for _, f := range fs {
		f(id)
	}
}

// look tells of the answers of other processes until it is stopped. Where that
// fails it tries again: who waits for an answer waits on.
func (s *Store) look(ctx context.Context) {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	var conn *sql.Conn
	defer func() { _ = hangUp(conn) }()
	version := int64(-1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var err error
		if conn == nil {
			if conn, err = s.reader.Conn(ctx); err != nil {
				continue
			}
			version = -1 // it is counted by each connection
		}
		if version, err = s.glimpse(ctx, conn, version); err != nil {
			_ = hangUp(conn)
			conn = nil
		}
	}
}

func hangUp(c *sql.Conn) error {
	if c == nil {
		return nil
	}
	return c.Close()
}

// glimpse tells of new answers, if anything in the file has changed since that
// version of it.
func (s *Store) glimpse(ctx context.Context, conn *sql.Conn, had int64) (version int64, err error) {
	// Read before the answers: what changes after it is seen the next time.
	if err := conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil || version == had {
		return version, err
	}
	s.watch.mu.Lock()
	after := s.watch.looked
	s.watch.mu.Unlock()
	fresh, err := since(ctx, conn, after)
	for _, a := range fresh {
		if ctx.Err() != nil {
			return version, ctx.Err()
		}
		s.watch.tell(a.number, a.id, true)
	}
	return version, err
}

type numbered struct {
	number int64
	id     string
}

func since(ctx context.Context, conn *sql.Conn, number int64) ([]numbered, error) {
	rows, err := conn.QueryContext(ctx, `SELECT number, id FROM answers WHERE number > ? ORDER BY number`, number)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []numbered
	for rows.Next() {
		var a numbered
		if err := rows.Scan(&a.number, &a.id); err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

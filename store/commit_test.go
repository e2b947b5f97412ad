package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/store"
)

// lines is a store with a table for what jobs write.
func lines(t *testing.T) *store.Store {
	t.Helper()
	s := open(t, newPath(t))
	if err := s.Raw(t.Context(), "CREATE TABLE lines (place INTEGER PRIMARY KEY, line TEXT UNIQUE) STRICT"); err != nil {
		t.Fatal(err)
	}
	return s
}

func line(text string) store.Do {
	return func(exec func(string, ...any) error) error {
		return exec("INSERT INTO lines (line) VALUES (?)", text)
	}
}

func wantLines(t *testing.T, s *store.Store, want string) {
	t.Helper()
	got, err := s.RawText(t.Context(), "SELECT coalesce(group_concat(line, ' '), '') FROM (SELECT line FROM lines ORDER BY place)")
	if err != nil || got != want {
		t.Errorf("got the lines %q, %v, want %q", got, err, want)
	}
}

// until waits until something is so.
func until(t *testing.T, so func() bool) {
	t.Helper()
	for !so() {
		if t.Context().Err() != nil {
			t.Fatal("the test ended")
		}
		runtime.Gosched()
	}
}

// queue has jobs stand in the queue in this order, while nobody can write, and
// gives what became of each once they could.
func queue(t *testing.T, s *store.Store, jobs ...store.Do) []error {
	t.Helper()
	errs := make([]error, len(jobs))
	var wait sync.WaitGroup
	leave := s.Hold()
	for i, do := range jobs {
		n := s.Queued()
		wait.Go(func() { errs[i] = s.Commit(t.Context(), i%2 == 0, do) })
		until(t, func() bool { return s.Queued() > n })
	}
	leave()
	wait.Wait()
	return errs
}

func TestCommit(t *testing.T) {
	t.Parallel()
	verdict := errors.New("it cannot be done")
	refuses := store.Do(func(func(string, ...any) error) error { return verdict })
	broken := store.Do(func(exec func(string, ...any) error) error {
		return errors.Join(exec("INSERT INTO lines (line) VALUES ('half')"), exec("INSERT INTO nowhere VALUES (1)"))
	})
	late := store.Do(func(exec func(string, ...any) error) error {
		return errors.Join(exec("INSERT INTO lines (line) VALUES ('late')"), verdict)
	})
	t.Run("J4 many share a commit, in their order", func(t *testing.T) {
		t.Parallel()
		s := lines(t)
		if err := errors.Join(queue(t, s, line("a"), line("b"), line("c"), line("d"))...); err != nil {
			t.Fatal(err)
		}
		wantLines(t, s, "a b c d")
		if commits, jobs := s.Commits(); commits != 1 || jobs != 4 {
			t.Errorf("got %d commits of %d jobs, want 1 of 4", commits, jobs)
		}
	})
	for name, bad := range map[string]store.Do{
		"J4 a refusal is of one job alone":            refuses,
		"J4 an error of the database is of one":       broken,
		"J4 a refusal after it wrote leaves no trace": late,
		"J4 a line that is there already is of one":   line("a"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lines(t)
			errs := queue(t, s, line("a"), bad, line("b"))
			if errs[0] != nil || errs[1] == nil || errs[2] != nil {
				t.Errorf("got %v, want an error of the second alone", errs)
			}
			wantLines(t, s, "a b")
		})
	}
	t.Run("J4 who leaves before its turn is never done, who leaves after it is waited for", func(t *testing.T) {
		t.Parallel()
		s := lines(t)
		leave := s.Hold()
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() { gone <- s.Commit(ctx, true, line("gone")) }()
		until(t, func() bool { return s.Queued() == 1 })
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		leave()
		ctx, cancel = context.WithCancel(t.Context())
		err := s.Commit(ctx, true, func(exec func(string, ...any) error) error {
			cancel()
			return line("stays")(exec)
		})
		if err != nil {
			t.Errorf("got %v, want that it was done", err)
		}
		wantLines(t, s, "stays")
		if err := s.Commit(ctx, true, line("never")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		wantLines(t, s, "stays")
	})
	t.Run("J4 a commit is synced where a job of it asks for that, and only there", func(t *testing.T) {
		t.Parallel()
		s := lines(t)
		for i, synced := range []bool{true, false, false, true} {
			before := s.Syncs()
			if err := s.Commit(t.Context(), synced, line(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
			if got, want := s.Syncs()-before, map[bool]int{true: 1}[synced]; got != want {
				t.Errorf("synced %v: got %d syncs, want %d", synced, got, want)
			}
		}
		before := s.Syncs()
		if err := errors.Join(queue(t, s, line("a"), line("b"))...); err != nil {
			t.Fatal(err)
		}
		if got := s.Syncs() - before; got != 1 {
			t.Errorf("together: got %d syncs, want 1", got)
		}
		if got, err := s.RawText(t.Context(), "PRAGMA synchronous"); err != nil || got != "1" { // NORMAL: SQLite syncs none
			t.Errorf("got %q, %v, want 1", got, err)
		}
	})
	t.Run("J4 where a sync fails nothing is done any more, and nothing is written twice", func(t *testing.T) {
		t.Parallel()
		s, err := store.Open(t.Context(), newPath(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Raw(t.Context(), "CREATE TABLE lines (place INTEGER PRIMARY KEY, line TEXT) STRICT"); err != nil {
			t.Fatal(err)
		}
		shut, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(shut.Close(), s.Later(line("lazy"))); err != nil {
			t.Fatal(err)
		}
		defer s.SyncTo(shut).Close()
		for _, synced := range []bool{true, true, false} {
			if err := s.Commit(t.Context(), synced, line("a")); err == nil || !strings.Contains(err.Error(), "could not be synced") {
				t.Errorf("synced %v: got %v, want that it could not be synced", synced, err)
			}
		}
		if got, err := s.RawText(t.Context(), "SELECT group_concat(line) FROM lines"); err != nil || got != "lazy,a" {
			t.Errorf("got %q, %v, want what was committed, once", got, err)
		}
		if err := s.Close(); err == nil {
			t.Error("close: got nil, though it is not known what is on the disk")
		}
	})
	t.Run("J4 a begin that is left behind is taken back, an end is not", func(t *testing.T) {
		t.Parallel()
		s := lines(t)
		old := begin(t, s, call("old", 1))
		ctx, cancel := context.WithCancel(t.Context())
		held, release, left := make(chan struct{}), make(chan struct{}), make(chan error, 2)
		leave := s.Hold()
		blocked := make(chan error, 1)
		go func() {
			blocked <- s.Commit(t.Context(), true, func(exec func(string, ...any) error) error {
				close(held)
				<-release // as a disk that hangs
				return line("slow")(exec)
			})
		}()
		until(t, func() bool { return s.Queued() == 1 })
		go func() {
			_, err := s.Begin(ctx, call("new", 2))
			left <- err
		}()
		go func() { left <- s.End(ctx, durable.Ending{ID: old.ID, Attempt: old.Attempt}) }()
		until(t, func() bool { return s.Queued() == 3 })
		leave()
		<-held
		cancel()
		for range 2 {
			if err := <-left; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "not known to be done") {
				t.Errorf("got %v, want that it is not known", err)
			}
		}
		close(release)
		if err := <-blocked; err != nil {
			t.Error(err)
		}
		until(t, func() bool {
			list, err := s.Open(t.Context(), durable.Place{})
			return err == nil && len(list) == 0
		})
		list, err := s.Open(t.Context(), durable.Place{Session: old.Place.Session, Principal: old.Place.Principal, Turn: old.Place.Turn})
		if err != nil || len(list) != 1 || list[0].ID != "old" || list[0].State != durable.Done {
			t.Errorf("got %+v, %v, want the one that has ended", list, err)
		}
	})
	t.Run("J4 a closed store does what it was given, and nothing more", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s, err := store.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Raw(t.Context(), "CREATE TABLE lines (place INTEGER PRIMARY KEY, line TEXT) STRICT"); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Later(line("a")), s.Later(line("b")), s.Close()); err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{"commit": s.Commit(t.Context(), true, line("c")), "later": s.Later(line("d"))} {
			if err == nil || !strings.Contains(err.Error(), "closed") {
				t.Errorf("%s: got %v, want that it is closed", name, err)
			}
		}
		wantLines(t, open(t, path), "a b")
	})
}

func TestLazy(t *testing.T) {
	t.Parallel()
	t.Run("U1 lazy lines go with the next commit, before it", func(t *testing.T) {
		t.Parallel()
		s := lines(t)
		leave := s.Hold()
		if err := errors.Join(s.Later(line("a")), s.Later(line("b"))); err != nil {
			t.Fatal(err)
		}
		leave()
		if err := s.Commit(t.Context(), true, line("c")); err != nil {
			t.Fatal(err)
		}
		wantLines(t, s, "a b c")
	})
	t.Run("U1 they go by themselves after a while", func(t *testing.T) {
		t.Parallel()
		s := lines(t)
		began := time.Now()
		if err := s.Later(line("a")); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { return s.Queued() == 0 })
		if took := time.Since(began); took < 15*time.Millisecond {
			t.Errorf("took %s, want that it waits for others", took)
		}
		leave := s.Hold()
		defer leave()
		wantLines(t, s, "a")
	})
	t.Run("U1 a flush says when they are kept", func(t *testing.T) {
		t.Parallel()
		s := lines(t)
		if err := errors.Join(s.Later(line("a")), s.Later(line("b")), s.FlushJobs(t.Context())); err != nil {
			t.Fatal(err)
		}
		wantLines(t, s, "a b")
	})
	t.Run("U1 one that cannot be written stays the first, and nothing overtakes it", func(t *testing.T) {
		t.Parallel()
		s := lines(t)
		if err := errors.Join(s.Commit(t.Context(), true, line("a")), s.Later(line("b")), s.Later(line("a")), s.Later(line("c"))); err != nil {
			t.Fatal(err)
		}
		if err := s.FlushJobs(t.Context()); err == nil {
			t.Error("flush: got nil, though a line is not kept")
		}
		if err := s.Commit(t.Context(), true, line("d")); err == nil {
			t.Error("commit: got nil, though a line before it is not kept")
		}
		if got := s.Queued(); got != 2 {
			t.Errorf("got %d in the queue, want 2", got)
		}
		if err := s.Commit(t.Context(), true, line("d")); err == nil {
			t.Error("once more: got nil")
		}
		leave := s.Hold()
		wantLines(t, s, "a b")
		if err := s.Raw(t.Context(), "DELETE FROM lines WHERE line = 'a'"); err != nil {
			t.Error(err)
		}
		leave()
		if err := s.Commit(t.Context(), true, line("d")); err != nil {
			t.Error(err)
		}
		wantLines(t, s, "b a c d")
	})
	t.Run("U1 too many are refused, and what is left at the end is said", func(t *testing.T) {
		t.Parallel()
		s, err := store.Open(t.Context(), newPath(t))
		if err != nil {
			t.Fatal(err)
		}
		bad := store.Do(func(exec func(string, ...any) error) error { return exec("INSERT INTO nowhere VALUES (1)") })
		leave := s.Hold()
		for range store.MostLazy {
			if err := s.Later(bad); err != nil {
				t.Fatal(err)
			}
		}
		err = s.Later(bad)
		leave()
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("more than %d lines", store.MostLazy)) {
			t.Errorf("got %v, want that it is too many", err)
		}
		if err := s.Close(); err == nil || !strings.Contains(err.Error(), "could not be written any more") {
			t.Errorf("close: got %v, want that lines are lost", err)
		}
	})
}

// A context that ends in the middle of a transaction: when the next one has the pen,
// nothing is done any more for the one before.
func TestWriteStopped(t *testing.T) {
	t.Parallel()
	t.Run("J4 what was stopped is undone when the next one writes", func(t *testing.T) {
		t.Parallel()
		s := lines(t)
		want := ""
		for i := range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			if err := s.Transact(ctx, "INSERT INTO lines (line) VALUES ('gone')", cancel); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v, want that it was stopped", err)
			}
			name := fmt.Sprintf("l%d", i)
			if err := s.Commit(t.Context(), false, line(name)); err != nil {
				t.Fatal(err)
			}
			want = strings.TrimSpace(want + " " + name)
		}
		wantLines(t, s, want)
	})
}

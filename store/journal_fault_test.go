package store_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/store"
)

// wantNot wants a journal to refuse, for a reason that says so, and to say of
// nothing that it was done.
func wantNot(t *testing.T, s *store.Store, had durable.Record, says string) {
	t.Helper()
	r, err := s.Begin(t.Context(), call("new", 50))
	if err == nil || !strings.Contains(err.Error(), says) || r.ID != "" {
		t.Errorf("Begin: got %+v, %v, want an error that says %q", r, err, says)
	}
	for _, synced := range []bool{false, true} {
		if err := s.End(t.Context(), durable.Ending{ID: had.ID, Attempt: had.Attempt, Result: said("sent"), Sync: synced}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("End, synced %v: got %v, want an error that says %q", synced, err, says)
		}
	}
}

func TestJournalFileGone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lose func(path string) error
		says string
	}{
		"J4 removed while a call runs":  {os.Remove, "gone while it was in use"},
		"J4 its log is removed":         {func(path string) error { return os.Remove(path + "-wal") }, "gone while it was in use"},
		"J4 moved while a call runs":    {func(path string) error { return os.Rename(path, path+"x") }, "gone while it was in use"},
		"J4 replaced while a call runs": {func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) }, "replaced while it was in use"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path)
			r := begin(t, s, call("a", 0))
			if err := tt.lose(path); err != nil {
				t.Fatal(err)
			}
			wantNot(t, s, r, tt.says)
		})
	}
}

func TestJournalPageDamaged(t *testing.T) {
	t.Parallel()
	t.Run("J4 a damaged page while calls run: an error, nothing is done", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s := open(t, path)
		r := begin(t, s, call("a", 0))
		// All that stands in the log goes to the file, and from there it is read.
		if err := s.Raw(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA shrink_memory"); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		// The file stays open: to close it would take the locks of SQLite away.
		t.Cleanup(func() { f.Close() })
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		for at := int64(4096); at < info.Size(); at += 4096 {
			if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 200), at); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := open2(t, path); err == nil {
			t.Errorf("it was opened: %v", r)
		}
		if err := s.End(t.Context(), durable.Ending{ID: r.ID, Attempt: 1, Sync: true}); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("End: got %v, want that it is damaged", err)
		}
		refusesAll(t, s, "damaged")
	})
}

func open2(t *testing.T, path string) (*store.Store, error) {
	t.Helper()
	s, err := store.Open(t.Context(), path)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

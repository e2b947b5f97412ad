package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

func TestLogGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a file that is in use cannot be removed here")
	}
	for _, ends := range [][]string{{"-wal"}, {"-shm"}, {"-wal", "-shm"}} {
		t.Run(fmt.Sprintf("P5 removed while it is in use, no answer is used twice: %s", ends), func(t *testing.T) {
			t.Parallel()
			path := filled(t)
			s := open(t, path)
			if _, err := s.Pending(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, end := range ends {
				if err := os.Remove(path + end); err != nil {
					t.Fatal(err)
				}
			}
			refusesAll(t, s, filepath.Base(path)+ends[0]+" is gone")
			for _, end := range ends { // as another process would make it
				if err := os.WriteFile(path+end, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			refusesAll(t, s, filepath.Base(path)+ends[0]+" was replaced")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, path)
			use(t, s, "answered")
		})
	}
	t.Run("P6 a link that leads elsewhere while it is in use", func(t *testing.T) {
		t.Parallel()
		link := filepath.Join(t.TempDir(), "link.db")
		if err := os.Symlink(filled(t), link); err != nil {
			t.Fatal(err)
		}
		s := open(t, link)
		if _, err := s.Pending(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		refusesAll(t, s, "gone")
		if err := os.Symlink(filled(t), link); err != nil {
			t.Fatal(err)
		}
		refusesAll(t, s, "replaced")
	})
	t.Run("P6 the log stays the same while connections come and go", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s := open(t, path)
		for i := range 3 {
			other, err := store.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			id := fmt.Sprint(i)
			ask(t, other, id, time.Now(), time.Hour)
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			answer(t, s, id)
			use(t, s, id)
		}
	})
}

func TestLogModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes here")
	}
	// left makes a store as a process leaves it that was killed, and says where.
	left := func(t *testing.T) string {
		t.Helper()
		path, other := newPath(t), newPath(t)
		s := open(t, path)
		fill(t, s)
		for _, end := range []string{"", "-wal", "-shm"} {
			text, err := os.ReadFile(path + end)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(other+end, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(other+end, 0o646); err != nil {
				t.Fatal(err)
			}
		}
		return other
	}
	t.Run("P6 what others could read of the log they can no longer", func(t *testing.T) {
		t.Parallel()
		path := left(t)
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o646 {
				t.Fatalf("%s: got %v, %v", name, info.Mode(), err)
			}
		}
		s := open(t, path)
		wantModes(t, path)
		use(t, s, "answered")
		wantModes(t, path)
	})
	t.Run("P6 a log that is a link is not followed", func(t *testing.T) {
		t.Parallel()
		path := filled(t)
		if err := os.Symlink(plainFile(t, "text"), path+"-wal"); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, path, "-wal", "want a file", "remove it")
	})
}

// wantModes wants a store in use to be its user's alone.
func wantModes(t *testing.T, path string) {
	t.Helper()
	for _, end := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + end)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%q: got %v, want 0600", end, got)
		}
	}
}

func TestNewerWhileOpen(t *testing.T) {
	t.Parallel()
	t.Run("P6 a newer program takes it over while it is in use", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		s := open(t, path)
		fill(t, s)
		raw(t, path, fmt.Sprintf("PRAGMA user_version = %d", store.Version()+1))
		refusesAll(t, s, fmt.Sprintf("got a store of version %d, want %d or older: a newer Ferrule has written it", store.Version()+1, store.Version()))
	})
}

func TestAnswerGrants(t *testing.T) {
	t.Parallel()
	t.Run("P5 an answer and its rule are kept together, or neither is", func(t *testing.T) {
		t.Parallel()
		s := open(t, newPath(t))
		ada := policy.Asker{Principal: "ada", Session: "s"}
		q := policy.Question{ID: "q", Digest: "digest of q", Caller: ada, Offers: []string{"send"}}
		q.Claims.Reversible = true
		if err := s.Ask(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		yes := policy.Answer{Allow: true, Rule: "send", By: "ada"}
		for _, table := range []string{"answers", "grants"} {
			stop := "CREATE TRIGGER no BEFORE INSERT ON " + table + " BEGIN SELECT RAISE(ABORT, 'no'); END"
			if err := s.Raw(t.Context(), stop); err != nil {
				t.Fatal(err)
			}
			if err := s.Answer(t.Context(), "q", yes); err == nil {
				t.Errorf("%s cannot be written: got no error", table)
			}
			if err := s.Raw(t.Context(), "DROP TRIGGER no"); err != nil {
				t.Fatal(err)
			}
			wantKept(t, s, table+" cannot be written", map[string]string{"questions": "q"})
		}
		if err := s.Answer(t.Context(), "q", yes); err != nil {
			t.Fatal(err)
		}
		wantKept(t, s, "answered", map[string]string{"questions": "q", "answers": "q", "grants": "s"})
	})
}

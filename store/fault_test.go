package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

// wantRefused wants that a path cannot be opened, for a reason that says what it
// was and what to do, and that it is left as it was.
func wantRefused(t *testing.T, path string, says ...string) {
	t.Helper()
	before, readErr := os.ReadFile(path)
	s, err := store.Open(t.Context(), path)
	if err == nil {
		t.Fatal(errors.Join(errors.New("it was opened"), s.Close()))
	}
	for _, want := range append(says, "store: ", path) {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want it to say %q", err, want)
		}
	}
	if s != nil {
		t.Error("got a store with the error")
	}
	if after, err := os.ReadFile(path); readErr == nil && (err != nil || !bytes.Equal(before, after)) {
		t.Errorf("the file was changed: %v", err)
	}
}

// filled makes a store with a question that is open and one that is answered,
// and closes it.
func filled(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func fill(t *testing.T, s *store.Store) {
	t.Helper()
	ask(t, s, "open", time.Now(), time.Hour)
	ask(t, s, "answered", time.Now(), time.Hour)
	answer(t, s, "answered")
	if _, err := s.Grant(t.Context(), policy.Grant{Rule: "send", By: "ada"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(t.Context(), policy.Asker{Session: "s"}, nil); err != nil {
		t.Fatal(err)
	}
}

// raw changes a file with SQLite alone.
func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		path func(t *testing.T) string
		says []string
	}{
		{"a directory", func(t *testing.T) string { return t.TempDir() }, []string{"got a directory, want a file", "name one in it"}},
		{"no directory to be in", func(t *testing.T) string { return filepath.Join(t.TempDir(), "no", "store.db") }, []string{"there is no directory", "make it first"}},
		{"a file for a directory", func(t *testing.T) string {
			return filepath.Join(plainFile(t, "text"), "store.db")
		}, []string{"not a directory"}},
		{"a text", func(t *testing.T) string { return plainFile(t, strings.Repeat("a text\n", 1000)) }, []string{"no database", "give another path"}},
		{"a short text", func(t *testing.T) string { return plainFile(t, "x") }, []string{"no database", "give another path"}},
		{"a database of another application", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "other.db")
			raw(t, path, "PRAGMA application_id = 66; CREATE TABLE t (x)")
			return path
		}, []string{"another application", "0x42", "give another path"}},
		{"a database of an application without a name", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "other.db")
			raw(t, path, "CREATE TABLE t (x)")
			return path
		}, []string{"another application", "give another path"}},
		{"a store of a newer version", func(t *testing.T) string {
			path := filled(t)
			s := open(t, path)
			if err := errors.Join(s.Raw(t.Context(), "PRAGMA user_version = 77"), s.Close()); err != nil {
				t.Fatal(err)
			}
			return path
		}, []string{"version 77", fmt.Sprintf("want %d or older", store.Version()), "a newer Ferrule", "use that one"}},
	} {
		t.Run("P6 "+tt.name, func(t *testing.T) {
			t.Parallel()
			wantRefused(t, tt.path(t), tt.says...)
		})
	}
	t.Run("P6 no path", func(t *testing.T) {
		if _, err := store.Open(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "got no path") {
			t.Errorf("got %v", err)
		}
	})
}

func plainFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDamage(t *testing.T) {
	t.Parallel()
	t.Run("P6 a damaged page, whichever it is", func(t *testing.T) {
		t.Parallel()
		path := filled(t)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		const page = 4096
		for at := 0; at < len(whole); at += page {
			damaged := bytes.Clone(whole)
			copy(damaged[at:], bytes.Repeat([]byte{0xa5}, 200))
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(t.Context(), path)
			if err == nil {
				t.Errorf("page %d of %d: it was opened", at/page+1, len(whole)/page)
				_ = s.Close()
			} else if !strings.Contains(err.Error(), "damaged") && !strings.Contains(err.Error(), "no database") {
				t.Errorf("page %d: got %v, want it to say what is wrong", at/page+1, err)
			}
		}
	})
	t.Run("P6 half a file", func(t *testing.T) {
		t.Parallel()
		path := filled(t)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()/2); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, path, "damaged", "put a copy back, or move it")
	})
	for name, change := range map[string]struct{ from, to string }{
		"a no that became a yes": {`"allow":false,"by":"no"`, `"allow":true, "by":"no"`},
		"other arguments":        {`"input":"{\"to\":\"open\"}"`, `"input":"{\"to\":\"evil\"}"`},
		"another rule":           {`"rule":"send"`, `"rule":"*end"`},
		"another mode":           {`"mode":"read"`, `"mode":"auto"`},
	} {
		t.Run("P5 one changed byte: "+name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path)
			fill(t, s)
			ask(t, s, "no", time.Now(), time.Hour)
			_, err := s.Update(t.Context(), policy.Asker{Session: "s"}, func(s *policy.SessionState) error { s.Mode = policy.ModeRead; return nil })
			if err := errors.Join(err, s.Answer(t.Context(), "no", policy.Answer{By: "no"}), s.Close()); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(text, []byte(change.from)) {
				t.Fatalf("there is no %s in the file", change.from)
			}
			if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(change.from), []byte(change.to)), 0o600); err != nil {
				t.Fatal(err)
			}
			s = open(t, path)
			ctx := t.Context()
			a, useErr := s.Use(ctx, "no", "digest of no")
			if a.Allow {
				t.Error("a no is a yes")
			}
			_, pendingErr := s.Pending(ctx)
			_, grantsErr := s.Grants(ctx, policy.Asker{})
			_, sessionErr := s.Update(ctx, policy.Asker{Session: "s"}, nil)
			if err := errors.Join(useErr, pendingErr, grantsErr, sessionErr); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("got %v, want it to be found", err)
			}
			refusesAll(t, s, "damaged") // from then on
		})
	}
	t.Run("P5 an answer that is gone is no answer", func(t *testing.T) {
		t.Parallel()
		s := open(t, newPath(t))
		fill(t, s)
		if err := s.Raw(t.Context(), "DELETE FROM answers"); err != nil {
			t.Fatal(err)
		}
		if a, err := s.Use(t.Context(), "answered", "digest of answered"); err == nil || a.Allow {
			t.Errorf("got %+v, %v", a, err)
		}
	})
}

func TestFileGone(t *testing.T) {
	t.Parallel()
	t.Run("P6 removed while it is in use", func(t *testing.T) {
		path := newPath(t)
		s := open(t, path)
		fill(t, s)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		refusesAll(t, s, "gone")
	})
	t.Run("P6 replaced while it is in use", func(t *testing.T) {
		path := newPath(t)
		s := open(t, path)
		fill(t, s)
		if err := os.Rename(filled(t), path); err != nil {
			t.Fatal(err)
		}
		refusesAll(t, s, "replaced")
	})
}

func TestBusy(t *testing.T) {
	t.Parallel()
	hold := func(t *testing.T) *store.Store {
		t.Helper()
		path := newPath(t)
		s, other := open(t, path), open(t, path)
		fill(t, s)
		if err := other.Raw(t.Context(), "BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = other.Raw(context.Background(), "ROLLBACK") })
		return s
	}
	t.Run("P6 while another one writes, reading goes on, and writing ends with its context", func(t *testing.T) {
		t.Parallel()
		s := hold(t)
		if list, err := s.Pending(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("pending: got %+v, %v", list, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		if a, err := s.Use(ctx, "answered", "digest of answered"); !errors.Is(err, context.DeadlineExceeded) || a.Allow {
			t.Errorf("use: got %+v, %v, want %v", a, err, context.DeadlineExceeded)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("took %s, want it to end with its context", took)
		}
	})
	t.Run("P6 one that is locked for long is an error that says so", func(t *testing.T) {
		t.Parallel()
		s := hold(t)
		if err := s.Answer(t.Context(), "open", policy.Answer{Allow: true}); err == nil || !strings.Contains(err.Error(), "another process has kept it locked for 5s") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("P6 a lock that is let go in time is waited for", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s, other := open(t, path), open(t, path)
		fill(t, s)
		if err := other.Raw(t.Context(), "BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- s.Answer(t.Context(), "open", policy.Answer{Allow: true}) }()
		<-time.After(400 * time.Millisecond) // longer than SQLite waits by itself
		if err := other.Raw(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

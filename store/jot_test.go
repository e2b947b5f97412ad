package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/store"
)

// childJots appends a line for each that it reads, and says whether it was jotted
// down. "commit" has it be committed.
func childJots(ctx context.Context, path string) error {
	s, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	err = commands(func(text string) error {
		if text == "commit" {
			err := s.Flush(ctx)
			fmt.Println("committed")
			return err
		}
		if _, err := s.Append(audit.Event{Kind: audit.Found, Text: text}); err != nil { //nolint:contextcheck // it takes none
			return err
		}
		fmt.Println(s.Jot())
		return nil
	})
	return errors.Join(err, s.Close())
}

// jotted has a child jot lines down while nobody can commit, and kills it.
func jotted(t *testing.T, path string, lines ...string) (file string) {
	t.Helper()
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "jot", path, "a")
	if err := s.Raw(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		p.say(t, l)
		if got := p.line(); got != "true" {
			t.Fatalf("Jot: got %q, want true", got)
		}
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // it was killed
	if err := errors.Join(s.Raw(t.Context(), "ROLLBACK"), s.Close()); err != nil {
		t.Fatal(err)
	}
	return left(t, path)
}

// left is the file of the one owner that is there.
func left(t *testing.T, path string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(path+store.OwnersSuffix, "*"))
	if err != nil || len(all) != 1 {
		t.Fatalf("got the owners %q, %v, want one", all, err)
	}
	return all[0]
}

// texts are those of the log, which must be whole.
func texts(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	for l, err := range s.Entries(t.Context(), store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l.Entry.Text)
	}
	if report := verified(t, s, nil); len(report.Faults) > 0 || report.Rows != int64(len(all)) {
		t.Errorf("got %+v, want %d rows without faults", report, len(all))
	}
	return all
}

func wantTexts(t *testing.T, path string, want ...string) {
	t.Helper()
	s := open(t, path)
	if got := texts(t, s); !slices.Equal(got, want) {
		t.Errorf("on the record: got %q, want %q", got, want)
	}
	if all, _ := filepath.Glob(filepath.Join(path+store.OwnersSuffix, "*")); len(all) > 0 {
		t.Errorf("still there: %q", all)
	}
}

func TestJot(t *testing.T) {
	t.Parallel()
	t.Run("U1 what was jotted down is on the record after a kill", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		jotted(t, path, "one", "two", "three")
		wantTexts(t, path, "one", "two", "three")
		wantTexts(t, path, "one", "two", "three")
	})
	t.Run("U1 what was not jotted down to its end is not", func(t *testing.T) {
		t.Parallel()
		for _, cut := range []int64{1, 7, 30} {
			path := filepath.Join(t.TempDir(), "store.db")
			file := jotted(t, path, "one", "two")
			info, err := os.Stat(file)
			if err == nil {
				err = os.Truncate(file, info.Size()-cut)
			}
			if err != nil {
				t.Fatal(err)
			}
			wantTexts(t, path, "one")
		}
	})
	t.Run("U1 garbage behind it changes nothing", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		file := jotted(t, path, "one")
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString(strings.Repeat("\x00\x01garbage", 1000))
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		wantTexts(t, path, "one")
	})
	t.Run("U1 what the database has already is not put there twice", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		p := start(t, "jot", path, "a")
		p.say(t, "one")
		if got := p.line(); got != "true" {
			t.Fatalf("Jot: got %q, want true", got)
		}
		p.say(t, "commit")
		if got := p.line(); got != "committed" {
			t.Fatalf("Flush: got %q", got)
		}
		// As if it had ended before it took out what was committed.
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = p.Wait()
		number, call := int64(1), ""
		text := store.AppendJot(nil, number, call, []byte(`{"kind":"found","text":"one"}`))
		text = store.AppendJot(text, number+1, call, []byte(`{"time":"2026-02-03T04:05:06Z","kind":"found","text":"two"}`))
		if err := os.WriteFile(left(t, path), text, 0o600); err != nil {
			t.Fatal(err)
		}
		wantTexts(t, path, "one", "two")
	})
	t.Run("U1 of somebody who is there nothing is taken", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		a := open(t, path)
		appended(t, a, "0", audit.Found)
		leave := a.Hold()
		if err := taken(a, audit.Event{Kind: audit.Found, Text: "mine"}); err != nil || !a.Jot() {
			t.Fatalf("got %v, want it to be jotted down", err)
		}
		b := open(t, path)
		if got := len(texts(t, b)); got != 1 {
			t.Errorf("got %d lines, want the one that was committed", got)
		}
		leave()
		if err := a.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := texts(t, b); len(got) != 2 || got[1] != "mine" {
			t.Errorf("got %q, want mine once", got)
		}
		if info, err := os.Stat(left(t, path)); err != nil || info.Size() != 0 {
			t.Errorf("got %v, %v, want nothing jotted down that is committed", info, err)
		}
	})
	t.Run("U1 what is too much for it is committed, and then it goes on", func(t *testing.T) {
		t.Parallel()
		s := open(t, filepath.Join(t.TempDir(), "store.db"))
		leave := s.Hold()
		long := strings.Repeat("x", 8<<10)
		full, n := false, 0
		for ; !full && n < 1000; n++ {
			if err := taken(s, audit.Event{Kind: audit.Found, Text: long}); err != nil {
				t.Fatal(err)
			}
			full = !s.Jot()
		}
		if !full {
			t.Fatal("a thousand long lines were jotted down, want an end before")
		}
		leave()
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !s.Jot() {
			t.Error("after a commit: got false, want true")
		}
		if got := len(texts(t, s)); got != n {
			t.Errorf("got %d lines, want %d", got, n)
		}
	})
}

func FuzzJots(f *testing.F) {
	whole := store.AppendJot(store.AppendJot(nil, 1, "c", []byte("line")), 2, "", []byte("next"))
	f.Add(whole, int64(0))
	f.Add(whole[:len(whole)-3], int64(1))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0}, int64(0))
	f.Fuzz(func(t *testing.T, text []byte, after int64) {
		lines, last := store.ReadJots(text, after)
		if len(lines) > 0 && last != after+int64(len(lines)) {
			t.Errorf("got %d lines after %d up to %d, want them to follow each other", len(lines), after, last)
		}
	})
}

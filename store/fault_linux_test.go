package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

// mount mounts something for a test, if that is possible here.
func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		t.Skipf("mounting %s needs rights that are not to be had here: %v", target, err)
	}
	t.Cleanup(func() {
		// A process that another test starts just now may have its files open for a moment.
		if err := syscall.Unmount(target, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", target, err)
		}
	})
}

// stuff writes a file until the disk is full.
func stuff(t *testing.T, dir string) (filler string) {
	t.Helper()
	filler = filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return filler
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	t.Run("P5 a full disk: an error, nothing is answered or used; then it goes on", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		mount(t, "tmpfs", dir, "tmpfs", 0, "size=1m")
		s, err := store.Open(t.Context(), filepath.Join(dir, "store.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		fill(t, s)
		full := func(what string, err error) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), "the disk is full: make room in "+dir) {
				t.Errorf("%s: got %v, want it to say that the disk is full", what, err)
			}
		}
		filler := stuff(t, dir)
		full("ask", s.Ask(t.Context(), policy.Question{ID: "new"}))
		full("answer", s.Answer(t.Context(), "open", policy.Answer{Allow: true}))
		a, err := s.Use(t.Context(), "answered", "digest of answered")
		if full("use", err); a.Allow {
			t.Errorf("use: got %+v", a)
		}
		n, _, err := s.Take(t.Context(), []policy.Charge{{Key: "k", Calls: 1}})
		if full("take", err); n == -1 {
			t.Error("take: got room")
		}
		_, err = s.Grant(t.Context(), policy.Grant{Rule: "all"})
		full("grant", err)
		_, err = s.Update(t.Context(), policy.Asker{Session: "s"}, func(s *policy.SessionState) error { s.Turns++; return nil })
		full("update", err)
		if list, err := s.Pending(t.Context()); err != nil || len(list) != 1 || list[0].ID != "open" {
			t.Errorf("pending: got %+v, %v, want what was asked before", list, err)
		}
		if _, err := store.Open(t.Context(), filepath.Join(dir, "second.db")); err == nil || !strings.Contains(err.Error(), "full") && !strings.Contains(err.Error(), "no space") {
			t.Errorf("a second store: got %v, want it to say that the disk is full", err)
		}

		if err := os.Truncate(filler, 0); err != nil {
			t.Fatal(err)
		}
		full("a question that is longer than the disk", s.Ask(t.Context(), policy.Question{ID: "big", Input: strings.Repeat("x", 2<<20)}))
		answer(t, s, "open")
		use(t, s, "open")
		use(t, s, "answered")
		if full, _, err := s.Take(t.Context(), []policy.Charge{{Key: "k", Calls: 1}}); full != -1 || err != nil {
			t.Errorf("take: got %d, %v, want room: nothing was counted", full, err)
		}
		if got, err := s.RawText(t.Context(), "PRAGMA integrity_check"); err != nil || got != "ok" {
			t.Errorf("integrity: got %q, %v", got, err)
		}
	})
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	bind := func(t *testing.T, dir string) string {
		t.Helper()
		target := t.TempDir()
		mount(t, dir, target, "", syscall.MS_BIND, "")
		if err := syscall.Mount("", target, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
			t.Skipf("no mount for reading only: %v", err)
		}
		return target
	}
	t.Run("P6 a store on a disk for reading only", func(t *testing.T) {
		t.Parallel()
		path := filled(t)
		dir := bind(t, filepath.Dir(path))
		wantRefused(t, filepath.Join(dir, filepath.Base(path)), "see whether this user may", "write")
	})
	t.Run("P6 no store on a disk for reading only", func(t *testing.T) {
		t.Parallel()
		dir := bind(t, t.TempDir())
		_, err := store.Open(t.Context(), filepath.Join(dir, "store.db"))
		if err == nil || !strings.Contains(err.Error(), "a file cannot be made there") {
			t.Errorf("got %v", err)
		}
	})
}

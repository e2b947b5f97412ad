package crash_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ferrule-dev/ferrule/store"
)

// small is a directory with room for little.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("mounting needs rights that are not to be had here: %v", err)
	}
	t.Cleanup(func() {
		// A process that another test starts just now may have its files open for a moment.
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
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
	t.Run("J4 a full disk: nothing runs; with room again it goes on", func(t *testing.T) {
		t.Parallel()
		dir := small(t)
		l := newLab(t, dir)
		l.works(t)
		filler := stuff(t, dir)
		l.refuses(t, "the disk is full")
		if err := os.Truncate(filler, 0); err != nil {
			t.Fatal(err)
		}
		l.works(t)
	})
	for _, what := range []string{"mark", "order", "put"} {
		t.Run("J2 the disk is full when a "+what+" has been done: nothing is said to be done", func(t *testing.T) {
			t.Parallel()
			dir := small(t)
			l := newLab(t, dir)
			l.works(t)
			var filler string
			turn, s := l.cut(t, what, func() { filler = stuff(t, dir) })
			if err := os.Truncate(filler, 0); err != nil {
				t.Fatal(err)
			}
			l.works(t) // with room again its end is written, before the next call begins
			if err := l.close(t.Context()); err != nil {
				t.Logf("close: %v", err)
			}
			l.open(t)
			_, results := l.do(t, turn, s)
			if n, err := len(l.ran(t, s)), results[0].Err; err != nil || n != 1 {
				t.Errorf("%s after a restart: ran %d times and got %v, want what came of it", what, n, err)
			}
			l.whole(t)
		})
	}
}

// whole wants the store to be as it should be.
func (l *lab) whole(t *testing.T) {
	t.Helper()
	if err := l.close(t.Context()); err != nil {
		t.Error(err)
	}
	s, err := store.Open(t.Context(), l.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(verify(t.Context(), s, nil), s.Close()); err != nil {
		t.Error(err)
	}
}

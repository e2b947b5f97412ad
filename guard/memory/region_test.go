package memory_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/guard/memory"
	"github.com/ferrule-dev/ferrule/tooltest"
)

func TestRegions(t *testing.T) {
	t.Parallel()
	t.Run("dir", func(t *testing.T) {
		t.Parallel()
		tooltest.Region(t, func(t *testing.T) (memory.Region, func(int)) {
			dir := t.TempDir()
			put(t, dir, "a.md", "a")
			put(t, dir, "sub/b.md", "b")
			return &memory.Dir{Path: dir}, func(n int) { disturb(t, dir, n) }
		})
	})
	t.Run("a dir that is missing", func(t *testing.T) {
		t.Parallel()
		tooltest.Region(t, func(t *testing.T) (memory.Region, func(int)) {
			dir := filepath.Join(t.TempDir(), "later")
			return &memory.Dir{Path: dir}, func(n int) { put(t, dir, fmt.Sprint("f", n), "x") }
		})
	})
	t.Run("a dir that is long", func(t *testing.T) {
		t.Parallel()
		tooltest.Region(t, func(t *testing.T) (memory.Region, func(int)) {
			dir := t.TempDir()
			put(t, dir, "a.md", "0123456789abcdef")
			put(t, dir, "b.md", "b")
			return memory.Heavy(dir), func(n int) { disturb(t, dir, n) }
		})
	})
	t.Run("map", func(t *testing.T) {
		t.Parallel()
		tooltest.Region(t, func(t *testing.T) (memory.Region, func(int)) {
			m := new(memory.Map)
			return m, func(n int) { done(t, m.Write(t.Context(), "k", []byte(fmt.Sprint(n)))) }
		})
	})
	t.Run("a map over a host's table", func(t *testing.T) {
		t.Parallel()
		tooltest.Region(t, func(t *testing.T) (memory.Region, func(int)) {
			v := &rows{all: map[string][]byte{"a": []byte("b")}}
			return &memory.Map{Values: v}, func(n int) { done(t, v.Put(t.Context(), "a", []byte(fmt.Sprint(n)))) }
		})
	})
}

func done(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// disturb changes a folder in one of ten ways.
func disturb(t testing.TB, dir string, n int) {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, name) }
	switch n {
	case 0:
		put(t, dir, "a.md", "c") // as long as it was
	case 1:
		put(t, dir, "deep/er/new.md", "x")
	case 2:
		done(t, os.Remove(in("a.md")))
	case 3:
		done(t, os.RemoveAll(in("a.md")))
		done(t, os.Mkdir(in("a.md"), 0o700))
		put(t, dir, "a.md/inner", "x")
	case 4:
		done(t, os.Symlink("/etc/passwd", in("link")))
	case 5:
		done(t, os.Mkdir(in("empty"), 0o700))
	case 6:
		done(t, os.RemoveAll(in("sub")))
		done(t, os.Symlink(os.TempDir(), in("sub")))
	case 7:
		put(t, dir, ".hidden", "x")
	case 8:
		done(t, os.RemoveAll(dir))
	case 9:
		done(t, os.RemoveAll(dir))
		done(t, os.WriteFile(dir, []byte("no folder"), 0o600))
	}
}

// rows is a host's own table.
type rows struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (r *rows) All(ctx context.Context) (map[string][]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.all), ctx.Err()
}

func (r *rows) Put(ctx context.Context, key string, value []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if value == nil {
		delete(r.all, key)
	} else {
		r.all[key] = value
	}
	return ctx.Err()
}

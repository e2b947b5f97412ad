package undo_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/internal/inside"
	"github.com/ferrule-dev/ferrule/undo"
)

// bench is a history and a workspace that it is about.
type bench struct {
	t    *testing.T
	h    *undo.History
	dir  string // of the history
	work string
}

func newBench(t *testing.T, keep ...undo.Keep) *bench {
	t.Helper()
	b := &bench{t: t, dir: filepath.Join(t.TempDir(), "undo"), work: t.TempDir()}
	h, err := undo.Open(t.Context(), b.dir, keep...)
	if err != nil {
		t.Fatal(err)
	}
	b.h = h
	return b
}

// write does to a file what a tool does, and returns the id of the change.
func (b *bench) write(name, content string) string {
	b.t.Helper()
	folders := missing(b.work, name)
	step, err := b.h.Begin(b.t.Context(), undo.Change{Root: b.work, Name: name, Left: []byte(content), Folders: folders, Tool: "fs_write"})
	if err != nil {
		b.t.Fatal(err)
	}
	b.plain(name, content)
	if err := step.End(b.t.Context(), nil); err != nil {
		b.t.Fatal(err)
	}
	return step.ID()
}

// plain writes a file that nobody keeps a copy of.
func (b *bench) plain(name, content string) {
	b.t.Helper()
	file := filepath.Join(b.work, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) want(name, content string) {
	b.t.Helper()
	got, err := os.ReadFile(filepath.Join(b.work, name))
	if content == gone {
		if !errors.Is(err, fs.ErrNotExist) {
			b.t.Errorf("%s: got %q, %v, want no such file", name, got, err)
		}
		return
	}
	if err != nil || string(got) != content {
		b.t.Errorf("%s: got %q, %v, want %q", name, got, err, content)
	}
}

const gone = "\x00"

func missing(root, name string) (list []string) {
	for at := filepath.ToSlash(filepath.Dir(name)); at != "."; at = filepath.ToSlash(filepath.Dir(at)) {
		if _, err := os.Lstat(filepath.Join(root, at)); err != nil {
			list = append([]string{at}, list...)
		}
	}
	return list
}

func TestRestore(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(b *bench)
	}{
		{"I1 undo: a changed file is as it was", func(b *bench) {
			b.plain("a", "one")
			id := b.write("a", "two")
			b.restore(id, false, nil)
			b.want("a", "one")
		}},
		{"I1 undo: mode and content come back", func(b *bench) {
			b.plain("a", "one")
			if err := os.Chmod(filepath.Join(b.work, "a"), 0o750); err != nil {
				b.t.Fatal(err)
			}
			id := b.write("a", "two")
			if err := os.Chmod(filepath.Join(b.work, "a"), 0o600); err != nil {
				b.t.Fatal(err)
			}
			b.restore(id, false, nil)
			if info, err := os.Stat(filepath.Join(b.work, "a")); err != nil || info.Mode().Perm() != 0o750 {
				b.t.Errorf("got %v, %v, want mode 0750", info.Mode(), err)
			}
		}},
		{"I1 undo: a created file is removed, and folders made for it", func(b *bench) {
			b.plain("x/there", "")
			id := b.write("x/y/z/a", "new")
			b.restore(id, false, nil)
			b.want("x/y", gone)
			b.want("x/there", "")
		}},
		{"I1 undo: folders that others use stay", func(b *bench) {
			id := b.write("x/y/a", "new")
			b.plain("x/other", "o")
			b.restore(id, false, nil)
			b.want("x/y", gone)
			b.want("x/other", "o")
		}},
		{"I1 undo: what somebody else changed is not lost", func(b *bench) {
			b.plain("a", "one")
			id := b.write("a", "two")
			b.plain("a", "mine")
			b.restore(id, false, new(*undo.ChangedError))
			b.want("a", "mine")
		}},
		{"I1 undo: force restores all the same, and that can be undone", func(b *bench) {
			b.plain("a", "one")
			id := b.write("a", "two")
			b.plain("a", "mine")
			back := b.restore(id, true, nil)
			b.want("a", "one")
			b.restore(back.ID, false, nil)
			b.want("a", "mine")
		}},
		{"I1 undo: the later change is named", func(b *bench) {
			b.plain("a", "one")
			first := b.write("a", "two")
			second := b.write("a", "three")
			var changed *undo.ChangedError
			b.restore(first, false, &changed)
			if changed.By.ID != second || !strings.Contains(changed.Error(), second) {
				b.t.Errorf("got %v, want it to name %s", changed, second)
			}
			b.restore(second, false, nil)
			b.restore(first, false, nil)
			b.want("a", "one")
		}},
		{"I1 undo: a later change that left something else is not named", func(b *bench) {
			b.plain("a", "one")
			first := b.write("a", "two")
			second := b.write("a", "three")
			b.plain("a", "mine")
			for _, when := range []string{"behind a change", "behind an undo"} {
				var changed *undo.ChangedError
				b.restore(first, false, &changed)
				if changed.By.ID != "" || !strings.Contains(changed.Error(), "by somebody else") {
					b.t.Errorf("%s: got %v, want it to name nobody", when, changed)
				}
				b.plain("a", "three")
				b.restore(second, false, nil)
				b.plain("a", "mine")
			}
		}},
		{"I1 undo: of an undo brings the change back", func(b *bench) {
			id := b.write("x/a", "new")
			back := b.restore(id, false, nil)
			b.want("x", gone)
			b.restore(back.ID, false, nil)
			b.want("x/a", "new")
		}},
		{"I1 undo: a file that was removed since is made again by force only", func(b *bench) {
			b.plain("x/a", "one")
			id := b.write("x/a", "two")
			if err := os.RemoveAll(filepath.Join(b.work, "x")); err != nil {
				b.t.Fatal(err)
			}
			b.restore(id, false, new(*undo.ChangedError))
			b.restore(id, true, nil)
			b.want("x/a", "one")
		}},
		{"I1 undo: nothing to do is said", func(b *bench) {
			b.plain("a", "one")
			id := b.write("a", "two")
			b.plain("a", "one")
			if _, err := b.h.Restore(b.t.Context(), id, false); !errors.Is(err, undo.ErrAsItWas) {
				b.t.Errorf("got %v, want %v", err, undo.ErrAsItWas)
			}
		}},
		{"I1 undo: an id that is none", func(b *bench) {
			if _, err := b.h.Restore(b.t.Context(), "nothing", true); !errors.Is(err, undo.ErrUnknown) {
				b.t.Errorf("got %v, want %v", err, undo.ErrUnknown)
			}
		}},
		{"I1 undo: a folder that became a link leads nowhere", func(b *bench) {
			outside := b.t.TempDir()
			b.plain("x/a", "one")
			id := b.write("x/a", "two")
			for _, err := range []error{
				os.Rename(filepath.Join(b.work, "x"), filepath.Join(b.work, "y")),
				os.WriteFile(filepath.Join(outside, "a"), []byte("two"), 0o644),
				os.Symlink(outside, filepath.Join(b.work, "x")),
			} {
				if err != nil {
					b.t.Skip(err)
				}
			}
			b.restore(id, true, new(*inside.LinkError))
			if got, _ := os.ReadFile(filepath.Join(outside, "a")); string(got) != "two" {
				b.t.Errorf("outside: got %q, want it untouched", got)
			}
		}},
		{"I1 undo: a damaged copy is not put in place", func(b *bench) {
			b.plain("a", "one")
			id := b.write("a", "two")
			copies, _ := filepath.Glob(filepath.Join(b.dir, "copies", "*"))
			if err := os.WriteFile(copies[0], []byte("bad"), 0o600); err != nil {
				b.t.Fatal(err)
			}
			if _, err := b.h.Restore(b.t.Context(), id, true); err == nil {
				b.t.Error("got no error, want one: the copy was damaged")
			}
			b.want("a", "two")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.do(newBench(t))
		})
	}
}

// restore wants an error of the type that target points to, or none.
func (b *bench) restore(id string, force bool, target any) undo.Entry {
	b.t.Helper()
	e, err := b.h.Restore(b.t.Context(), id, force)
	if target == nil && err != nil || target != nil && !errors.As(err, target) {
		b.t.Fatalf("restore: got %v, want %T", err, target)
	}
	return e
}

func TestBegin(t *testing.T) {
	t.Parallel()
	t.Run("I1 undo: the bounds are known before", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, undo.Keep{File: 3})
		if got, want := b.h.Keep(), (undo.Keep{Age: 30 * 24 * time.Hour, Bytes: 1 << 30, File: 3}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("I1 undo: links, folders and bad names are refused", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.plain("file", "f")
		b.plain("folder/x", "f")
		if err := os.Symlink("file", filepath.Join(b.work, "link")); err != nil {
			t.Skip(err)
		}
		if err := os.Symlink("folder", filepath.Join(b.work, "way")); err != nil {
			t.Skip(err)
		}
		for _, name := range []string{"", ".", "..", "../x", "/abs", "a//b", "a/../b", "folder", "link", "way/x", "file/x"} {
			if _, err := b.h.Begin(t.Context(), undo.Change{Root: b.work, Name: name}); err == nil {
				t.Errorf("Begin(%q): got no error", name)
			}
		}
		if _, err := b.h.Begin(t.Context(), undo.Change{Root: "work", Name: "a"}); err == nil {
			t.Error("a relative root: got no error")
		}
		if list := b.list(); len(list) != 0 {
			t.Errorf("got %v, want nothing recorded", list)
		}
	})
	t.Run("I1 undo: each content is kept once, for its owner only", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		for _, name := range []string{"a", "b", "c"} {
			b.plain(name, "same")
			b.write(name, "new")
		}
		copies, err := filepath.Glob(filepath.Join(b.dir, "copies", "*"))
		if err != nil || len(copies) != 1 {
			t.Errorf("got copies %v, %v, want one", copies, err)
		}
		for _, file := range append(copies, b.dir, filepath.Join(b.dir, "index.jsonl")) {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: got %v, %v, want no rights for others", file, info.Mode(), err)
			}
		}
	})
	t.Run("I1 undo: what is too large to be kept is not changed", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, undo.Keep{File: 10})
		b.plain("a", "more than ten bytes")
		if _, err := b.h.Begin(t.Context(), undo.Change{Root: b.work, Name: "a"}); err == nil || !strings.Contains(err.Error(), "want at most 10") {
			t.Errorf("got %v, want a refusal", err)
		}
	})
	t.Run("I1 undo: half a line spoils no other", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.plain("a", "one")
		first := b.write("a", "two")
		f, err := os.OpenFile(filepath.Join(b.dir, "index.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, "\n{\"begin\":{\"id\":\"half"); err != nil {
			t.Fatal(err)
		}
		f.Close()
		second := b.write("a", "three")
		if list := b.list(); len(list) != 2 || list[0].ID != second || list[1].ID != first {
			t.Errorf("got %v, want %s and %s", list, second, first)
		}
	})
}

func (b *bench) list() []undo.Entry {
	b.t.Helper()
	list, err := b.h.List(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

func TestSweep(t *testing.T) {
	t.Parallel()
	t.Run("I1 undo: what is old is forgotten", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.plain("a", "one")
		b.write("a", "two")
		if err := b.h.Sweep(t.Context(), time.Now().Add(29*24*time.Hour)); err != nil || len(b.list()) != 1 {
			t.Errorf("after 29 days: got %v, %v, want it kept", b.list(), err)
		}
		if err := b.h.Sweep(t.Context(), time.Now().Add(31*24*time.Hour)); err != nil || len(b.list()) != 0 {
			t.Errorf("after 31 days: got %v, %v, want it gone", b.list(), err)
		}
		if copies, _ := filepath.Glob(filepath.Join(b.dir, "copies", "*")); len(copies) != 0 {
			t.Errorf("got %v, want no copies", copies)
		}
	})
	t.Run("I1 undo: a clock that was wrong for a while loses nothing else", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.plain("a", "one")
		first := b.write("a", "two")
		wrong := b.write("a", "three")
		last := b.write("a", "four")
		index := filepath.Join(b.dir, "index.jsonl")
		text, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, l := range lines {
			if strings.Contains(l, `"begin":{"id":"`+wrong) {
				_, rest, _ := strings.Cut(l, `","root"`)
				lines[i] = `{"begin":{"id":"` + wrong + `","at":"1970-01-01T00:00:01Z","root"` + rest
			}
		}
		if err := os.WriteFile(index, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := b.h.Sweep(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if list := b.list(); len(list) != 2 || list[0].ID != last || list[1].ID != first {
			t.Fatalf("got %v, want the first and the last", list)
		}
		b.restore(first, true, nil)
		b.want("a", "one")
	})
	t.Run("I1 undo: the oldest go first, and the rest can be restored", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, undo.Keep{Bytes: 20})
		b.plain("a", "0123456789")
		first := b.write("a", "1123456789")
		second := b.write("a", "2123456789")
		third := b.write("a", "3123456789")
		if err := b.h.Sweep(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if list := b.list(); len(list) != 2 || list[0].ID != third || list[0].Outcome != undo.Done {
			t.Errorf("got %v, want two of three", list)
		}
		if _, err := b.h.Restore(t.Context(), first, false); !errors.Is(err, undo.ErrUnknown) {
			t.Errorf("got %v, want %v", err, undo.ErrUnknown)
		}
		b.restore(third, false, nil)
		b.restore(second, false, nil)
		b.want("a", "1123456789")
	})
	t.Run("I1 undo: a history that is open for long keeps its bound", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, undo.Keep{Bytes: 1000})
		for i := range 40 {
			b.write("a", strings.Repeat(string(rune('a'+i%26)), 100+i))
		}
		var size int64
		copies, _ := filepath.Glob(filepath.Join(b.dir, "copies", "*"))
		for _, c := range copies {
			info, err := os.Stat(c)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if size > 1300 {
			t.Errorf("got %d bytes of copies, want about 1000", size)
		}
	})
}

// Many histories on one directory, some sweeping, lose nothing.
func TestSharing(t *testing.T) {
	t.Parallel()
	t.Run("I1 undo: several at once", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		const writers, each = 6, 15
		var wait sync.WaitGroup
		for w := range writers {
			h, err := undo.Open(t.Context(), b.dir)
			if err != nil {
				t.Fatal(err)
			}
			wait.Go(func() {
				for i := range each {
					name := string(rune('a' + w))
					step, err := h.Begin(context.WithoutCancel(t.Context()), undo.Change{Root: b.work, Name: name, Left: []byte{byte(i)}})
					if err == nil {
						err = os.WriteFile(filepath.Join(b.work, name), []byte{byte(i)}, 0o644)
						err = step.End(t.Context(), err)
					}
					if err == nil && i%5 == 0 {
						err = h.Sweep(t.Context(), time.Now())
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		list := b.list()
		if len(list) != writers*each {
			t.Fatalf("got %d entries, want %d", len(list), writers*each)
		}
		for _, e := range list { // newest first: all the way back
			if e.Outcome != undo.Done {
				t.Errorf("%s: got outcome %q", e.ID, e.Outcome)
			}
			b.restore(e.ID, false, nil)
		}
		if left, err := os.ReadDir(b.work); err != nil || len(left) != 0 {
			t.Errorf("got %v, %v, want an empty folder", left, err)
		}
	})
	t.Run("I1 undo: waiting ends with the context", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		hold(t, filepath.Join(b.dir, "lock"))
		if _, err := b.h.Begin(ctx, undo.Change{Root: b.work, Name: "a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	})
}

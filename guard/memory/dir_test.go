package memory_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/guard/memory"
)

// tree is all that is in a folder: names, modes, contents, targets.
func tree(t rapid.TB, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := strings.TrimPrefix(name, dir) + " " + info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			line += " -> " + target
		case info.Mode().IsRegular():
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", text)
		}
		all = append(all, line)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

func wantTree(t rapid.TB, dir string, want []string) {
	t.Helper()
	if got := tree(t, dir); !slices.Equal(got, want) {
		t.Errorf("folder:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// unix skips where there are no permissions and pipes.
func unix(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("permissions are others on Windows")
	}
}

func TestDir(t *testing.T) {
	t.Parallel()
	guarding := func(d *memory.Dir) *memory.Guard {
		return &memory.Guard{Regions: map[string]memory.Region{"notes": d}}
	}
	t.Run("G7 a change that keeps size and time is found", func(t *testing.T) {
		t.Parallel()
		g, dir := notes(t)
		name := filepath.Join(dir, "note.md")
		info, err := os.Stat(name)
		done(t, err)
		for _, tier := range []memory.Tier{memory.Unknown, memory.Untrusted} {
			c := begin(t, g, tier)
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			done(t, err)
			_, err = f.WriteAt([]byte("THE"), 0)
			done(t, errors.Join(err, f.Close()))
			done(t, os.Chtimes(name, info.ModTime(), info.ModTime()))
			wantBreach(t, c, "note.md")
			wantFile(t, dir, "note.md", "the user likes tea")
		}
	})
	t.Run("G7 a file that was not touched for a while is not read again", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
			t.Skip("files are always read here")
		}
		d := &memory.Dir{Path: t.TempDir()}
		put(t, d.Path, "a", "1")
		_, err := d.Hash(t.Context())
		done(t, err)
		if d.Known() != 0 {
			t.Error("a file that was just written is known: its next change may not show")
		}
		d.Later()
		was, err := d.Hash(t.Context())
		done(t, err)
		if d.Known() != 1 {
			t.Error("a file that has rested is not known: it is read each time")
		}
		again, err := d.Hash(t.Context())
		done(t, err)
		if again != was {
			t.Errorf("hash = %q, want %q: nothing was changed", again, was)
		}
		put(t, d.Path, "a", "22")
		if now, err := d.Hash(t.Context()); err != nil || now == was {
			t.Errorf("hash = %q, %v, want another than before", now, err)
		}
	})
	t.Run("G7 permissions are put back, and folders that let nobody in", func(t *testing.T) {
		t.Parallel()
		unix(t)
		g, dir := notes(t)
		put(t, dir, "in/a", "a")
		put(t, dir, "in/b", "b")
		done(t, os.Chmod(filepath.Join(dir, "in/b"), 0o640))
		done(t, os.Chmod(filepath.Join(dir, "in"), 0o500))
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "in"), 0o700) })
		was := tree(t, dir)
		c := begin(t, g, memory.Unknown)
		done(t, os.Chmod(filepath.Join(dir, "in/a"), 0))
		done(t, os.Chmod(filepath.Join(dir, "in"), 0o700))
		done(t, os.Remove(filepath.Join(dir, "in/b")))
		done(t, os.Chmod(filepath.Join(dir, "in"), 0))
		put(t, dir, "closed/in/x", "x")
		done(t, os.Chmod(filepath.Join(dir, "closed/in"), 0))
		done(t, os.Chmod(filepath.Join(dir, "closed"), 0))
		done(t, os.Chmod(dir, 0))
		if all := c.End(t.Context()); len(all) != 1 || all[0].Left != nil {
			t.Errorf("breach = %v, want one that was put back", all)
		}
		wantTree(t, dir, was)
	})
	t.Run("G7 links are never followed", func(t *testing.T) {
		t.Parallel()
		g, dir := notes(t)
		outside := t.TempDir()
		put(t, outside, "note.md", "somebody else's")
		put(t, dir, "sub/x", "x")
		done(t, os.Symlink(outside, filepath.Join(dir, "out")))
		was, theirs := tree(t, dir), tree(t, outside)
		c := begin(t, g, memory.Untrusted)
		put(t, outside, "note.md", "their change") // which is not ours to undo
		theirs = append(theirs[:1:1], tree(t, outside)[1])
		done(t, os.RemoveAll(filepath.Join(dir, "sub")))
		done(t, os.Symlink(outside, filepath.Join(dir, "sub")))
		done(t, os.Remove(filepath.Join(dir, "note.md")))
		done(t, os.Symlink(filepath.Join(outside, "note.md"), filepath.Join(dir, "note.md")))
		wantBreach(t, c, "note.md", "sub", "sub/x")
		wantTree(t, dir, was)
		wantTree(t, outside, theirs)
	})
	t.Run("G7 the folder itself is removed, or becomes a link", func(t *testing.T) {
		t.Parallel()
		for _, change := range []func(dir, outside string){
			func(dir, _ string) { done(t, os.RemoveAll(dir)) },
			func(dir, outside string) { done(t, os.RemoveAll(dir)); done(t, os.Symlink(outside, dir)) },
			func(dir, outside string) { done(t, os.Rename(dir, filepath.Join(outside, "moved"))) },
		} {
			dir, outside := filepath.Join(t.TempDir(), "memory"), t.TempDir()
			put(t, dir, "note.md", "tea")
			was := tree(t, dir)
			c := begin(t, guarding(&memory.Dir{Path: dir}), memory.Unknown)
			change(dir, outside)
			wantBreach(t, c, ".", "note.md")
			wantTree(t, dir, was)
		}
	})
	t.Run("G7 limits: before the call does not run, after it is put back", func(t *testing.T) {
		t.Parallel()
		for what, d := range map[string]*memory.Dir{
			"more than 20 bytes":  {Bytes: 20},
			"more than 3 entries": {Entries: 3},
			"more than 64 levels": {},
		} {
			d.Path = t.TempDir()
			put(t, d.Path, "a", "0123456789")
			was := tree(t, d.Path)
			g := guarding(d)
			c := begin(t, g, memory.Unknown)
			much := func() {
				put(t, d.Path, "b", "0123456789.")
				put(t, d.Path, "c", "")
				put(t, d.Path, "d", "")
				if d.Bytes == 0 && d.Entries == 0 {
					put(t, d.Path, strings.Repeat("e/", 66)+"x", "")
				}
			}
			much()
			all := c.End(t.Context())
			if len(all) != 1 || all[0].Left != nil || !strings.Contains(all[0].Error(), what) {
				t.Errorf("breach = %v, want %q, put back", all, what)
			}
			wantTree(t, d.Path, was)
			much()
			var limit *memory.LimitError
			if _, err := g.Begin(t.Context(), request(memory.Pure)); !errors.As(err, &limit) || !strings.Contains(err.Error(), what) {
				t.Errorf("error = %v, want %q", err, what)
			}
		}
	})
	t.Run("G7 limits: an operation does not go beyond", func(t *testing.T) {
		t.Parallel()
		d := &memory.Dir{Path: t.TempDir(), Bytes: 20, Entries: 3}
		g := guarding(d)
		c := begin(t, g, memory.Aware)
		h := memory.From(c.Context(t.Context()))
		done(t, h.Write(t.Context(), "notes", "a/b", make([]byte, 20)))
		done(t, h.Write(t.Context(), "notes", "a/b", make([]byte, 19)))
		for key, size := range map[string]int{"a/b": 21, "a/c": 2, "c/d": 0} {
			var limit *memory.LimitError
			if err := h.Write(t.Context(), "notes", key, make([]byte, size)); !errors.As(err, &limit) {
				t.Errorf("Write of %d bytes to %s: %v, want a limit", size, key, err)
			}
		}
		wantBreach(t, c)
	})
	t.Run("G7 keys stay in the folder", func(t *testing.T) {
		t.Parallel()
		g, dir := notes(t)
		outside := t.TempDir()
		put(t, outside, "x", "x")
		done(t, os.Symlink(outside, filepath.Join(dir, "out")))
		done(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "link")))
		c := begin(t, g, memory.Aware)
		h := memory.From(c.Context(t.Context()))
		for _, key := range []string{"", ".", "..", "../x", "a/../b", "/etc/passwd", "a//b", `a\b`, "c:x", "a\x00", "out/x", "link", "note.md/x"} {
			if err := h.Write(t.Context(), "notes", key, []byte("evil")); err == nil {
				t.Errorf("Write to %q: want an error", key)
			}
			if _, err := h.Read(t.Context(), "notes", key); err == nil {
				t.Errorf("Read of %q: want an error", key)
			}
		}
		wantFile(t, outside, "x", "x")
		wantBreach(t, c)
	})
}

func TestDirLeavesNothing(t *testing.T) {
	t.Run("G7 no file is left where copies are kept", func(t *testing.T) {
		tmp := t.TempDir()
		t.Setenv("TMPDIR", tmp)
		t.Setenv("TMP", tmp)
		dir := t.TempDir()
		put(t, dir, "note.md", "longer than is kept in memory")
		g := &memory.Guard{Regions: map[string]memory.Region{"notes": memory.Heavy(dir)}}
		c := begin(t, g, memory.Unknown)
		put(t, dir, "note.md", "x")
		wantBreach(t, c, "note.md")
		wantFile(t, dir, "note.md", "longer than is kept in memory")
		wantBreach(t, begin(t, g, memory.Unknown))
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v, want nothing", left, err)
		}
	})
}

// Whatever strangers do to a folder is undone exactly; what was declared stays.
func TestDirUndone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, err := os.MkdirTemp("", "memory")
		done(t, err)
		defer func() { done(t, os.RemoveAll(base)) }()
		dir := filepath.Join(base, "region")
		w := world{T: t, dir: dir, outside: filepath.Join(base, "outside")}
		put(t, w.outside, "theirs", "x")
		done(t, os.Mkdir(dir, 0o700))
		for range rapid.IntRange(0, 5).Draw(t, "at first") {
			w.change()
		}
		d := &memory.Dir{Path: dir}
		if rapid.Bool().Draw(t, "heavy") {
			d = memory.Heavy(dir)
		}
		g := &memory.Guard{Regions: map[string]memory.Region{"r": d}}
		aware, err := g.Begin(context.Background(), request(memory.Aware))
		done(t, err)
		h := memory.From(aware.Context(context.Background()))
		var others []*memory.Call
		breached := false
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			was := tree(t, dir)
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0: // declared
				_ = h.Write(context.Background(), "r", w.name(), []byte(rapid.StringN(0, 5, 12).Draw(t, "value"))) // refused where it is a folder, say
			case 1:
				_ = h.Delete(context.Background(), "r", w.name())
			case 2: // a stranger, and a call that comes or goes
				for range rapid.IntRange(1, 4).Draw(t, "changes") {
					w.change()
				}
				if now := tree(t, dir); !slices.Equal(now, was) {
					breached = true
				}
				c, err := g.Begin(context.Background(), request(rapid.SampledFrom([]memory.Tier{memory.Pure, memory.Unknown, memory.Untrusted}).Draw(t, "tier")))
				done(t, err)
				others = append(others, c)
				wantTree(t, dir, was)
			}
		}
		was := tree(t, dir)
		if all := aware.End(context.Background()); (len(all) > 0) != breached {
			t.Errorf("breaches = %v, want some: %v", all, breached)
		}
		for i, c := range others {
			if all := c.End(context.Background()); i == len(others)-1 && len(all) > 0 {
				t.Errorf("breaches = %v, want none: it was not there", all)
			}
		}
		wantTree(t, dir, was)
		wantFile(t, w.outside, "theirs", "x")
	})
}

// world is a folder that strangers change.
type world struct {
	*rapid.T
	dir, outside string
}

func (w world) name() string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c-d"}), 1, 3).Draw(w.T, "name")
	return strings.Join(parts, "/")
}

// change does something; what cannot be done is not.
func (w world) change() {
	name := filepath.Join(w.dir, filepath.FromSlash(w.name()))
	for at := filepath.Dir(name); len(at) > len(w.dir); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return // it would leave the folder
		}
	}
	switch rapid.IntRange(0, 5).Draw(w.T, "how") {
	case 0:
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return
		}
		_ = os.MkdirAll(filepath.Dir(name), 0o755)
		_ = os.WriteFile(name, []byte(rapid.StringN(0, 3, 9).Draw(w.T, "text")), rapid.SampledFrom([]fs.FileMode{0o600, 0o644, 0o400}).Draw(w.T, "mode"))
	case 1:
		_ = os.RemoveAll(name)
	case 2:
		_ = os.MkdirAll(name, 0o755)
	case 3:
		_ = os.Symlink(rapid.SampledFrom([]string{w.outside, filepath.Join(w.outside, "theirs"), "a", "nowhere"}).Draw(w.T, "target"), name)
	case 4:
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			_ = os.Chmod(name, rapid.SampledFrom([]fs.FileMode{0o700, 0o755, 0o750}).Draw(w.T, "mode"))
		}
	case 5:
		_ = os.Rename(name, filepath.Join(w.dir, rapid.SampledFrom([]string{"a", "b", "z"}).Draw(w.T, "to")))
	}
}

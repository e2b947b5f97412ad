package durable_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
)

func farFuture() time.Time { return time.Now().Add(time.Hour) }

func put(t *testing.T, b durable.Blobs, text ...string) string {
	t.Helper()
	handle, err := b.Put(t.Context(), "ada", durable.Note{Tool: "list"}, text...)
	if err != nil {
		t.Fatal(err)
	}
	return handle
}

func read(ctx context.Context, b durable.Blobs, handle string) (string, error) {
	blob, err := b.Open(ctx, "ada", handle)
	if err != nil {
		return "", err
	}
	defer func() { _ = blob.Close() }()
	text, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size))
	return string(text), err
}

// files lists what lies below a directory, folders only if they are empty.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		if d.IsDir() {
			if in, err := os.ReadDir(name); err != nil || len(in) > 0 {
				return err
			}
		}
		all = append(all, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// only is the one file of a store.
func only(t *testing.T, dir string) string {
	t.Helper()
	all := files(t, dir)
	if len(all) != 1 {
		t.Fatalf("got the files %q, want one", all)
	}
	return all[0]
}

func TestDirFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "store")
	d := openDir(t, dir)
	handle := put(t, d, "the ", "text\n")
	put(t, d, "the text\n")
	name := only(t, dir)
	if filepath.Base(name) != handle || filepath.Dir(filepath.Dir(name)) != dir {
		t.Errorf("got the file %s, want one named %s in a folder of the store", name, handle)
	}
	got, err := os.ReadFile(name)
	want := `{"version":1,"note":{"tool":"list","trust":"inbound","sensitivity":"internal"},"size":9}` + "\nthe text\n"
	if err != nil || string(got) != want {
		t.Errorf("file: got %q, %v, want %q", got, err, want)
	}
	if runtime.GOOS == "windows" {
		return // no such modes
	}
	for name, want := range map[string]fs.FileMode{dir: 0o700, filepath.Dir(name): 0o700, name: 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v, want mode %v", name, info.Mode(), err, want)
		}
	}
}

func TestOpenDirRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := durable.OpenDir(file)
	if want := "blobs: " + file + ": got a file, want a directory"; err == nil || err.Error() != want {
		t.Errorf("a file: got error %v, want %q", err, want)
	}
	if _, err := durable.OpenDir(filepath.Join(file, "below")); err == nil {
		t.Error("below a file: got no error")
	}
	if _, err := durable.OpenDir(""); err == nil {
		t.Error("no path: got no error")
	}
}

// A store that is found again, by another process or after a restart, has what
// was put.
func TestDirIsFoundAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := durable.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	handle := put(t, d, "the text")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Put(t.Context(), "ada", durable.Note{}, "x"); err == nil {
		t.Error("Put after Close: got no error")
	}
	if got, err := read(t.Context(), openDir(t, dir), handle); err != nil || got != "the text" {
		t.Errorf("got %q, %v", got, err)
	}
}

// What somebody did to a file is told to the operator, with its path; it is not
// the same as a text that is not there. Putting the text again mends it.
func TestDirDamage(t *testing.T) {
	t.Parallel()
	overwrite := func(text string) func(*testing.T, string) {
		return func(t *testing.T, name string) {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	link := func(to string) func(*testing.T, string) {
		return func(t *testing.T, name string) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, name); err != nil {
				t.Skip(err)
			}
		}
	}
	outside := filepath.Join(t.TempDir(), "outside")
	overwrite(`{"version":1,"size":6}`+"\nsecret")(t, outside)
	tests := []struct {
		name   string
		damage func(t *testing.T, name string)
		want   string
	}{
		{"empty", overwrite(""), "the file is damaged: header: got no end of line in the first 0 bytes"},
		{"no header", overwrite("the text\n"), "the file is damaged: header: invalid character"},
		{"cut", overwrite(`{"version":1,"size":9}` + "\nthe tex"), "the file is damaged: got 7 bytes of text, want 9"},
		{"longer", overwrite(`{"version":1,"size":1}` + "\n12"), "the file is damaged: got 2 bytes of text, want 1"},
		{"a huge size", overwrite(`{"version":1,"size":9223372036854775807}` + "\n"), "the file is damaged: got 0 bytes of text"},
		{"a link to a file outside", link(outside), "got L---------, want a file"},
		{"a link to nothing", link("nothing"), "got L---------, want a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d := openDir(t, dir)
			handle := put(t, d, "the text\n")
			name := only(t, dir)
			tt.damage(t, name)
			text, err := read(t.Context(), d, handle)
			if err == nil || errors.Is(err, durable.ErrNotFound) || text != "" {
				t.Fatalf("got %q, %v, want an error", text, err)
			}
			if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %q, want one with %q and %q", err, name, tt.want)
			}
			put(t, d, "the text\n")
			if got, err := read(t.Context(), d, handle); err != nil || got != "the text\n" {
				t.Errorf("put again: got %q, %v", got, err)
			}
		})
	}
	if got, err := os.ReadFile(outside); err != nil || !bytes.HasSuffix(got, []byte("secret")) {
		t.Errorf("outside: got %q, %v", got, err)
	}
}

// A folder that leads out of the store is not followed, neither for reading nor
// for writing nor for sweeping.
func TestDirLinkedFolder(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	d := openDir(t, dir)
	handle := put(t, d, "the text")
	in := filepath.Dir(only(t, dir))
	there := filepath.Join(outside, "folder")
	if err := os.Rename(in, there); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(there, in); err != nil {
		t.Skip(err)
	}
	if text, err := read(t.Context(), d, handle); err == nil || errors.Is(err, durable.ErrNotFound) {
		t.Errorf("Open: got %q, %v, want an error", text, err)
	}
	if _, err := d.Put(t.Context(), "ada", durable.Note{}, "another"); err == nil {
		t.Error("Put: got no error")
	}
	if n, err := d.Sweep(t.Context(), farFuture()); err == nil || n != 0 {
		t.Errorf("Sweep = %d, %v, want an error", n, err)
	}
	only(t, outside)
}

func TestDirDeletedInUse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	d := openDir(t, dir)
	handle := put(t, d, "the text")
	blob, err := d.Open(t.Context(), "ada", handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blob.Close() })
	if err := os.RemoveAll(dir); err != nil {
		t.Skip(err) // Windows removes nothing that is open
	}
	p := make([]byte, 8)
	if n, err := blob.ReadAt(p, 0); err == nil && string(p[:n]) != "the text" {
		t.Errorf("ReadAt: got %q, want the text or an error", p[:n])
	}
	if _, err := d.Put(t.Context(), "ada", durable.Note{}, "x"); err == nil {
		t.Error("Put: got no error")
	}
	if _, err := read(t.Context(), d, handle); err == nil || errors.Is(err, durable.ErrNotFound) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open: got error %v, want one that says that %s is gone", err, dir)
	}
	if held, err := d.Holds(t.Context(), "ada"); held || err != nil {
		t.Errorf("Holds = %v, %v, want false", held, err)
	}
}

// A file that is cut while it is read must not pass for a shorter text.
func TestDirCutWhileOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openDir(t, dir)
	blob, err := d.Open(t.Context(), "ada", put(t, d, "the text"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blob.Close() })
	if err := os.Truncate(only(t, dir), 90); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size))
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %q, %v, want io.ErrUnexpectedEOF", got, err)
	}
}

func age(t *testing.T, name string, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by)
	if err := os.Chtimes(name, at, at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

func TestDirSweepsLeftovers(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	tests := []struct {
		name string
		file string // beside a text that stays; HANDLE is its handle
		old  time.Duration
		want bool // it is there afterwards
	}{
		{"O5 unfinished, being written", ".new-ABC", time.Minute, true},
		{"O5 unfinished, abandoned", ".new-ABC", 2 * time.Hour, false},
		{"O5 an old text in the hands of a sweep that ended", ".old-HANDLE-ABC", 2 * week, false},
		{"O5 a new text in the hands of a sweep that ended", ".old-HANDLE-ABC", time.Hour, false}, // it goes back
		{"O5 a file of somebody else", "notes.txt", 2 * week, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d := openDir(t, dir)
			handle := put(t, d, "the text")
			name := filepath.Join(filepath.Dir(only(t, dir)), strings.ReplaceAll(tt.file, "HANDLE", handle))
			text, err := os.ReadFile(only(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
			age(t, name, tt.old)
			if _, err := d.Sweep(t.Context(), time.Now().Add(-week)); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(name); (err == nil) != tt.want {
				t.Errorf("there: got %v, want %v", err, tt.want)
			}
			if got, err := read(t.Context(), d, handle); err != nil || got != "the text" {
				t.Errorf("the text: got %q, %v", got, err)
			}
		})
	}
	t.Run("O5 empty folders go", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		d := openDir(t, dir)
		put(t, d, "the text")
		if n, err := d.Sweep(t.Context(), farFuture()); n != 1 || err != nil {
			t.Errorf("Sweep = %d, %v, want 1", n, err)
		}
		if left := files(t, dir); left != nil {
			t.Errorf("got %q left", left)
		}
	})
}

// A sweep that ended after it took a text away, before it looked again: the text
// can still be read.
func TestDirTakenAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openDir(t, dir)
	handle := put(t, d, "the text")
	name := only(t, dir)
	if err := os.Rename(name, filepath.Join(filepath.Dir(name), ".old-"+handle+"-ABC")); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t.Context(), d, handle); err != nil || got != "the text" {
		t.Errorf("got %q, %v", got, err)
	}
	if held, err := d.Holds(t.Context(), "ada"); err != nil || !held {
		t.Errorf("Holds = %v, %v, want true", held, err)
	}
	if n, err := d.Sweep(t.Context(), time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("Sweep = %d, %v, want 0", n, err)
	}
	if got := only(t, dir); got != name {
		t.Errorf("got %s, want %s", got, name)
	}
}

// Putting an old text while sweeps are at it: it is there from the moment when
// Put returned. Each goroutine has a store of its own, as processes have.
func TestDirPutAgainstSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, sweepers := openDir(t, dir), []*durable.Dir{openDir(t, dir), openDir(t, dir)}
	handle := put(t, d, "the text")
	name := only(t, dir)
	for range 300 {
		age(t, name, 2*time.Hour)
		var wg sync.WaitGroup
		for _, s := range sweepers {
			wg.Go(func() {
				if _, err := s.Sweep(t.Context(), time.Now().Add(-time.Hour)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			if _, err := d.Put(t.Context(), "ada", durable.Note{Tool: "list"}, "the text"); err != nil {
				t.Error(err)
			}
			if got, err := read(t.Context(), d, handle); err != nil || got != "the text" {
				t.Errorf("while sweeping: got %q, %v", got, err)
			}
		})
		wg.Wait()
		if got, err := read(t.Context(), d, handle); err != nil || got != "the text" {
			t.Fatalf("after sweeping: got %q, %v", got, err)
		}
		only(t, dir)
	}
}

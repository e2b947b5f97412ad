//go:build unix

package durable_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ferrule-dev/ferrule/durable"
)

func systemChildren() map[string]func(string) error {
	return map[string]func(string) error{"no room": noRoom, "read only": readOnly}
}

// noRoom puts a text that is longer than a file may be, which the system refuses
// in the middle of writing, as it does when a disk is full.
func noRoom(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 3 << 20, Max: 3 << 20}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	d, err := durable.OpenDir(dir)
	if err != nil {
		return err
	}
	handle, err := d.Put(context.Background(), "ada", durable.Note{Tool: "list"}, long())
	if !errors.Is(err, syscall.EFBIG) || handle != "" {
		return fmt.Errorf("put: got %q, %w, want EFBIG", handle, err)
	}
	if _, err := d.Put(context.Background(), "bob", durable.Note{}, "a short one"); err != nil {
		return err
	}
	return nil
}

func TestDirWithoutRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, "no room", dir)
	only(t, dir) // that of bob
}

// readOnly has a text in a store that then cannot be written any more, and lets
// go of the rights to write it nevertheless.
func readOnly(dir string) error {
	d, err := durable.OpenDir(dir)
	if err != nil {
		return err
	}
	handle, err := d.Put(context.Background(), "ada", durable.Note{Tool: "list"}, "the text")
	if err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(names) != 1 {
		return fmt.Errorf("got the files %q, %w, want one", names, err)
	}
	for name, mode := range map[string]fs.FileMode{names[0]: 0o444, filepath.Dir(names[0]): 0o555, dir: 0o555} {
		if err := os.Chmod(name, mode); err != nil {
			return err
		}
	}
	if os.Getuid() == 0 {
		if err := syscall.Setuid(65534); err != nil {
			return err
		}
	}
	for _, owner := range []string{"ada", "bob"} { // with and without a folder
		if h, err := d.Put(context.Background(), owner, durable.Note{}, "another"); !errors.Is(err, fs.ErrPermission) || h != "" {
			return fmt.Errorf("put for %s: got %q, %w, want a lack of permission", owner, h, err)
		}
	}
	if n, err := d.Sweep(context.Background(), farFuture()); !errors.Is(err, fs.ErrPermission) || n != 0 {
		return fmt.Errorf("sweep: got %d, %w, want a lack of permission", n, err)
	}
	if got, err := read(context.Background(), d, handle); err != nil || got != "the text" {
		return fmt.Errorf("open: got %q, %w", got, err)
	}
	return nil
}

func TestDirReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, "read only", dir)
	t.Cleanup(func() { // so that it can be removed
		for _, name := range append(files(t, dir), dir) {
			_ = os.Chmod(filepath.Dir(name), 0o700)
			_ = os.Chmod(name, 0o700)
		}
	})
	only(t, dir)
}

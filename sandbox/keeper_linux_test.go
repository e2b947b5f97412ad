package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The thread of the keeper that starts commands has the rights that they have:
// what protects the keeper from them is not what protects it from others.
func TestKeeperUnderAttack(t *testing.T) {
	for _, way := range ways() {
		if way.name == "namespace" {
			continue // its parent is bubblewrap, which knows nothing
		}
		t.Run("N1 the keeper's memory is its own, "+way.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, way.change)
			for _, only := range []bool{false, true} {
				if o, out := w.do(Command{Args: role("peek"), ReadOnly: only}); o.Code != 1 || !strings.Contains(out, "no thread") {
					t.Errorf("got %+v and %q, want a refusal", o, out)
				}
			}
		})
		t.Run("N1 nothing outlives a keeper that is ended, "+way.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, way.change)
			o, err := w.box.Run(t.Context(), Command{Args: role("strike")}) // an error, if the keeper ends before it has said that it began
			if err == nil && o.Stopped != "the sandbox died" {
				t.Errorf("got %+v, want the keeper ended: this shows nothing", o)
			}
			if left := marked(w.mark); len(left) > 0 {
				t.Errorf("after %+v and %v processes are left: %v", o, err, left)
			}
			if o, out := w.bash("echo still here"); out != "still here\n" {
				t.Errorf("afterwards: got %+v and %q", o, out)
			}
		})
	}
}

// A host may have been handed files by whoever started it, which no one marked as
// its own.
func TestInheritedFiles(t *testing.T) {
	for _, way := range ways() {
		t.Run("N1 files that the host was started with, "+way.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			write(t, path, "")
			fd, err := unix.Open(path, unix.O_WRONLY|unix.O_APPEND, 0) // not closed by exec
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = unix.Close(fd) }()
			w := newWorld(t, way.change)
			if o, out := w.bash(fmt.Sprintf("echo escaped >&%d", fd)); o.Code == 0 {
				t.Errorf("got %+v and %q, want no such file", o, out)
			}
			if text := read(t, path); text != "" {
				t.Errorf("got %q in it, want nothing", text)
			}
		})
	}
}

// A command that only reads changes nothing of a file, not even what Landlock
// knows nothing of.
func TestOnlyReadingChangesNothing(t *testing.T) {
	for _, way := range ways() {
		t.Run("N1 "+way.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, way.change)
			file := filepath.Join(w.work, "file")
			write(t, file, "text\n")
			before, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"chmod", "chown", "touch", "attribute", "flags", "xflags", "setattr", "keepmode"} {
				if o, out := w.do(Command{Args: role(name, file), ReadOnly: true}); o.Code != 1 {
					t.Errorf("%s: got %+v and %q, want a refusal", name, o, out)
				}
				if o, out := w.do(Command{Args: role(name, file)}); o.Code != 0 && name == "keepmode" {
					t.Errorf("%s, with the right to write: got %+v and %q", name, o, out)
				}
				if name == "keepmode" {
					continue
				}
				if err := os.Chmod(file, before.Mode().Perm()); err != nil {
					t.Fatal(err)
				}
			}
			if o, out := w.do(Command{Args: []string{"bash", "-c", `echo x > "$TMPDIR/x" && cat "$TMPDIR/x" file`}, ReadOnly: true}); out != "x\ntext\n" {
				t.Errorf("temporary files: got %+v and %q", o, out)
			}
		})
	}
}

// Shared memory and queues with numbers outlive whoever made them; where they are
// not those of a namespace they cannot be had.
func TestNumberedMemory(t *testing.T) {
	for _, way := range ways() {
		t.Run("N1 "+way.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, way.change)
			key := uintptr(os.Getpid()) + 0xfe77<<16
			o, out := w.run(role("memory", fmt.Sprint(key))...)
			if id, _, errno := unix.RawSyscall(unix.SYS_SHMGET, key, 0, 0); errno == 0 {
				_, _, _ = unix.RawSyscall(unix.SYS_SHMCTL, id, unix.IPC_RMID, 0)
				t.Errorf("got %+v and %q, and the memory is there outside", o, out)
			}
		})
	}
}

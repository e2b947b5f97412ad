package undo_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrule-dev/ferrule/undo"
)

// TestMain runs this program again as one that changes files until it is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("UNDO_TEST_DIR"); dir != "" {
		fmt.Fprintln(os.Stderr, change(dir, os.Getenv("UNDO_TEST_WORK")))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// change writes one file again and again, and says what it writes before it
// begins.
func change(dir, work string) error {
	ctx := context.Background()
	h, err := undo.Open(ctx, dir)
	if err != nil {
		return err
	}
	for i := 1; ; i++ {
		content := []byte(strings.Repeat(fmt.Sprintf("%d ", i), 2000))
		fmt.Println(i)
		step, err := h.Begin(ctx, undo.Change{Root: work, Name: "a", Left: content, Tool: "test"})
		if err != nil {
			return err
		}
		temp := filepath.Join(work, "temp")
		if err := os.WriteFile(temp, content, 0o644); err != nil {
			return err
		}
		if err := step.End(ctx, os.Rename(temp, filepath.Join(work, "a"))); err != nil {
			return err
		}
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	for run := range 12 {
		t.Run(fmt.Sprintf("I1 undo: killed in the middle %d", run), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			const first = "the first content"
			b.plain("a", first)
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			child := exec.CommandContext(t.Context(), self)
			child.Env = append(os.Environ(), "UNDO_TEST_DIR="+b.dir, "UNDO_TEST_WORK="+b.work)
			child.Stderr = os.Stderr
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for i := 0; i < 3+5*run && lines.Scan(); i++ {
			}
			if err := child.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
			}
			_ = child.Wait()

			list := b.list()
			if len(list) < 2 {
				t.Fatalf("got %d entries, want those that were made", len(list))
			}
			for i, e := range list { // all the way back
				_, err := b.h.Restore(t.Context(), e.ID, false)
				if i == 0 && e.Outcome != undo.Done && errors.Is(err, undo.ErrAsItWas) {
					continue // begun, and then killed
				}
				if err != nil {
					t.Fatalf("entry %d of %d (%q): %v", i, len(list), e.Outcome, err)
				}
			}
			b.want("a", first)
		})
	}
}

// hold has a lock until the test ends.
func hold(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}

// A full disk: nothing is begun, so nothing is changed, and what was kept before
// stays.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	t.Run("I1 undo: a full disk refuses the change before anything is changed", func(t *testing.T) {
		t.Parallel()
		disk := t.TempDir()
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256k"); err != nil {
			t.Skipf("a small disk cannot be mounted: %v", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		dir := filepath.Join(disk, "undo")
		h, err := undo.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{t: t, h: h, dir: dir, work: t.TempDir()}
		b.plain("small", "s")
		id := b.write("small", "t")
		b.plain("large", strings.Repeat("x", 300<<10))
		if _, err := h.Begin(t.Context(), undo.Change{Root: b.work, Name: "large"}); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("got %v, want %v", err, syscall.ENOSPC)
		}
		// Not a byte is left: not even a line of the index can be written.
		fill(t, filepath.Join(disk, "fill"))
		full := 0
		for i := range 100 {
			b.plain("tiny", fmt.Sprint(i))
			if _, err := h.Begin(t.Context(), undo.Change{Root: b.work, Name: "tiny"}); errors.Is(err, syscall.ENOSPC) {
				full++
			}
		}
		if full == 0 {
			t.Error("got no refusal, want one: the disk is full")
		}
		if err := os.Remove(filepath.Join(disk, "fill")); err != nil {
			t.Fatal(err)
		}
		b.restore(id, false, nil)
		b.want("small", "s")
	})
}

func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); err != nil {
			return
		}
	}
}

//go:build unix

package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
)

// childUnable lets go of the rights of root and says why a store does not open.
func childUnable(ctx context.Context, path string) error {
	if os.Getuid() == 0 {
		if err := syscall.Setuid(65534); err != nil {
			return err
		}
	}
	return commands(func(string) error {
		s, err := store.Open(ctx, path)
		if err == nil {
			return fmt.Errorf("it was opened: %w", s.Close())
		}
		fmt.Println(err)
		return nil
	})
}

// childUmask opens a store with each umask that it is told, in a file of its own, and
// leaves it open.
func childUmask(ctx context.Context, path string) error {
	return commands(func(text string) error {
		mask, err := strconv.ParseInt(text, 8, 32)
		if err != nil {
			return err
		}
		syscall.Umask(int(mask))
		s, err := store.Open(ctx, path+text)
		if err != nil {
			return err
		}
		err = s.Ask(ctx, policy.Question{ID: "a"})
		fmt.Println("in use") // until the process ends: then its log is looked at
		return err
	})
}

func TestUmask(t *testing.T) {
	t.Parallel()
	t.Run("P6 only its user can read it, whatever the umask", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		p := start(t, "umask", path, "")
		for _, mask := range []string{"000", "022", "077", "777"} {
			p.say(t, mask)
			if got := p.line(); got != "in use" {
				t.Fatalf("umask %s: got %q", mask, got)
			}
			wantModes(t, path+mask)
		}
		p.end(t)
	})
}

func TestWithoutPermission(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, path, want string) {
		t.Helper()
		p := start(t, "unable", path, "")
		p.say(t, "go")
		if got := p.line(); !strings.Contains(got, want) || !strings.Contains(got, path) {
			t.Errorf("got %q, want it to say %q and the path", got, want)
		}
		p.end(t)
	}
	// reachable makes a directory that everybody can enter.
	reachable := func(t *testing.T) string {
		t.Helper()
		dir, err := os.MkdirTemp("", "store")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700); _ = os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	t.Run("P6 a directory that cannot be written", func(t *testing.T) {
		dir := reachable(t)
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		refused(t, filepath.Join(dir, "store.db"), "a file cannot be made there")
	})
	t.Run("P6 a file that cannot be read", func(t *testing.T) {
		path := filepath.Join(reachable(t), "store.db")
		if err := os.Rename(filled(t), path); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		refused(t, path, "see whether this user may read and write the file")
	})
	t.Run("P6 a pipe", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "want a file") {
			t.Errorf("got %v", err)
		}
	})
}

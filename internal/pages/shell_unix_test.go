//go:build unix

package pages_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/internal/pages"
)

// newShell is a shell whose ferrule is a script: one question waits until it is allowed.
func newShell(t *testing.T) *pages.Shell {
	t.Helper()
	dir := t.TempDir()
	ferrule := filepath.Join(dir, "ferrule")
	write(t, ferrule, "#!/bin/sh\nif [ \"$2\" = allow ]; then touch \"allowed-$3\"; else echo '[{\"id\":\"q1\"}]'; fi\n")
	if err := os.Chmod(ferrule, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &pages.Shell{Dir: dir, Ferrule: ferrule, Env: os.Environ(), Wait: 10 * time.Second}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestShell(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, page, want string }{
		{"as the page says", "```sh\necho hello\necho again >&2\n```\n```output\nhello\nagain\n```\n", ""},
		{"other output", "```sh\necho hello\n```\n```output\ngoodbye\n```\n", "p:1: prints other than the page says:\ngot:\nhello\nwant:\ngoodbye"},
		{"what a block sets is there for the next", "```sh\nmkdir a\ncd a\nX=1\n```\n```sh\necho $X >b\ncat ../a/b\n```\n```output\n1\n```\n", ""},
		{"any line may fail a block", "```sh\necho hello\nfalse\ntrue\n```\n", "p:1: ends with status 1, want 0:\nhello\n"},
		{"a status", "```sh exit=3\n(exit 3)\n```\n```sh\necho on\n```\n", ""},
		{"another status", "```sh exit=3\n(exit 4)\n```\n", "p:1: ends with status 4, want 3:\n"},
		{"no status where one is wanted", "```sh exit=3\ntrue\n```\n", "p:1: ends with status 0, want 3:\n"},
		{"nothing can be typed", "```sh\ncat\n```\n", ""},
		{"it ends the shell", "```sh\nexit\n```\n", "p:1: ends the shell, by exec or exit:\n"},
		{"what stays runs beside", "```sh stays\necho ready\nexec sleep 60\n```\n```output\nready\n```\n```sh\necho on\n```\n", ""},
		{"somebody allows what asks", "```sh asks\nuntil [ -e allowed-q1 ]; do sleep 0.05; done\necho done\necho a question >&2\n```\n```output\ndone\n```\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := runAll(t, newShell(t), tt.page); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("what does not end is ended", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		s.Wait = 200 * time.Millisecond
		if err := runAll(t, s, "```sh\necho first\nsleep 60\n```\n"); err == nil || !strings.HasPrefix(err.Error(), "p:1: does not end: context deadline exceeded:\nfirst") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what stays ends with the page", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		if err := runAll(t, s, "```sh stays\necho $BASHPID >pid; echo ready; exec sleep 60\n```\n```output\nready\n```\n"); err != nil {
			t.Fatal(err)
		}
		pid := number(t, filepath.Join(s.Dir, "pid"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("process %d: got it running, want it ended", pid)
		}
	})
}

func runAll(t *testing.T, s *pages.Shell, page string) error {
	t.Helper()
	blocks, err := pages.Read("p", page)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if b.Lang != "sh" {
			continue
		}
		if err := s.Run(t.Context(), b); err != nil {
			return err
		}
	}
	return nil
}

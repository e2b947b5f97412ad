//go:build unix

package mcptool

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// holders is a named pipe: it comes to its end once every process that holds it
// open is gone.
type holders struct {
	path string
	r    *bufio.Reader
	own  *os.File // keeps it from its end until it is closed
}

func newHolders(t *testing.T) *holders {
	t.Helper()
	h := &holders{path: filepath.Join(t.TempDir(), "pipe")}
	if err := syscall.Mkfifo(h.path, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(h.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := r.SetReadDeadline(time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	if h.own, err = os.OpenFile(h.path, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.own.Close() })
	h.r = bufio.NewReader(r)
	return h
}

// wantStarted waits until so many processes hold it, and gives their numbers.
func (h *holders) wantStarted(t *testing.T, n int) []int {
	t.Helper()
	var all []int
	for range n {
		line, err := h.r.ReadString('\n')
		if err != nil {
			t.Fatalf("a process did not start: %v", err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// leaveGroup lets a process begin a session of its own.
func leaveGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// wantGone waits until no process holds it.
func (h *holders) wantGone(t *testing.T) {
	t.Helper()
	h.own.Close()
	if rest, err := io.ReadAll(h.r); err != nil || len(rest) > 0 {
		t.Errorf("got %q, %v, want the end: a process was left behind", rest, err)
	}
}

func TestChildLeavesNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		role      string
		processes int
		from, to  time.Duration // that closing takes
	}{
		{"M1 a child ends with its input", "both", 1, 0, endTime},
		{"M1 a child that waits for TERM is told so", "polite", 1, endTime, endTime + termTime},
		{"M1 a child that ignores TERM is killed", "stubborn", 1, endTime + termTime, soon},
		{"M1 what a child has started ends with it", "parent", 2, 0, endTime},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHolders(t)
			l := dial(t, child(t, tt.role, childPipe+"="+h.path), oldEra, nil)
			h.wantStarted(t, tt.processes)
			begin := time.Now()
			l.close()
			if took := time.Since(begin); took < tt.from || took > tt.to {
				t.Errorf("it took %s, want %s to %s", took, tt.from, tt.to)
			}
			h.wantGone(t)
		})
	}
	t.Run("M1 what a child has started ends when the child dies by itself", func(t *testing.T) {
		t.Parallel()
		h := newHolders(t)
		l := dial(t, child(t, "parent", childPipe+"="+h.path), oldEra, nil)
		h.wantStarted(t, 2)
		if _, err := l.do(t.Context(), "die", nil, nil); err == nil {
			t.Error("got no error, want one")
		}
		h.wantGone(t) // before anybody closes the link
		<-l.ended()
	})
	for name, role := range map[string]string{
		"M1 what has left the group ends with it":                         "escaped",
		"M1 what has left the group, and whose parent is gone, ends, too": "daemon",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHolders(t)
			l := dial(t, child(t, role, childPipe+"="+h.path), oldEra, nil)
			escaped := h.wantStarted(t, 2)[1] // it starts after its parent
			begin := time.Now()
			l.close()
			if took := time.Since(begin); took > endTime {
				t.Errorf("it took %s, want that it does not hold up the end", took)
			}
			if runtime.GOOS != "linux" { // where it is ours to end
				if err := syscall.Kill(escaped, syscall.SIGKILL); err != nil {
					t.Errorf("it has not left the group: %v", err)
				}
			}
			h.wantGone(t)
		})
	}
	t.Run("M1 what has left the group ends when the child dies by itself", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("processes can be marked on Linux only")
		}
		h := newHolders(t)
		l := dial(t, child(t, "daemon", childPipe+"="+h.path), oldEra, nil)
		h.wantStarted(t, 2)
		if _, err := l.do(t.Context(), "die", nil, nil); err == nil {
			t.Error("got no error, want one")
		}
		h.wantGone(t)
		<-l.ended()
	})
	t.Run("M1 a child that has children of its own, as a gateway has, leaves none", func(t *testing.T) {
		t.Parallel()
		h := newHolders(t)
		p, err := startProcess(t.Context(), child(t, "host", hostRole+"=family", childPipe+"="+h.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		h.wantStarted(t, 2) // which are marked by their gateway, and not by us
		p.close()
		h.wantGone(t)
	})
	t.Run("M1 a handshake that fails leaves nothing", func(t *testing.T) {
		t.Parallel()
		h := newHolders(t)
		s := child(t, "old", childPipe+"="+h.path)
		s.Era = "2026"
		if l, err := dialStdio(t.Context(), s, testIntroduction(), newEra, listener{}, nil); err == nil {
			l.close()
			t.Error("got no error, want one")
		}
		h.wantStarted(t, 1)
		h.wantGone(t)
	})
}

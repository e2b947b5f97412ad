//go:build unix

package mcptool

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
)

// family is a server that ends neither with its input nor by TERM, and has a child
// that does not either.
func family(t *testing.T, h *holders) Server {
	t.Helper()
	return child(t, "family", childPipe+"="+h.path)
}

func TestWard(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		role string
		sig  syscall.Signal
		name string
	}{
		{"family", syscall.SIGKILL, ""},
		{"family", syscall.SIGTERM, ""},
		{"family", syscall.SIGHUP, ""},
		{"escaped", syscall.SIGKILL, ", nor does what has left its group"},
	} {
		t.Run("M1 no server outlives a program that is ended by "+tt.sig.String()+tt.name, func(t *testing.T) {
			if tt.role == "escaped" && runtime.GOOS != "linux" {
				t.Skip("processes can be marked on Linux only")
			}
			t.Parallel()
			h := newHolders(t)
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), program)
			cmd.Env = append(os.Environ(), childRole+"=host", hostRole+"="+tt.role, childPipe+"="+h.path)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
			h.wantStarted(t, 2)
			if err := syscall.Kill(-cmd.Process.Pid, tt.sig); err != nil { // as a terminal does: all of its group
				t.Fatal(err)
			}
			h.wantGone(t)
		})
	}
	t.Run("M1 a hub whose time is over kills what is left", func(t *testing.T) {
		t.Parallel()
		pipe := newHolders(t)
		h := &Hub{Runtime: &ferrule.Runtime{Guard: unguarded()}, Servers: []Server{family(t, pipe)}}
		start(t, h)
		pipe.wantStarted(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		if err := h.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that not all have ended", err)
		}
		pipe.wantGone(t)
		if took := time.Since(began); took > endTime {
			t.Errorf("it took %s, want them killed at once", took)
		}
	})
	t.Run("M1 a hub that has closed starts nothing", func(t *testing.T) {
		t.Parallel()
		var w ward
		w.close()
		s := child(t, "both")
		s.ward = &w
		if l, err := dialStdio(t.Context(), s, testIntroduction(), oldEra, listener{}, nil); !errors.Is(err, errWardClosed) {
			l.close()
			t.Errorf("got %v, want %v", err, errWardClosed)
		}
	})
	t.Run("M1 a hub that closes leaves a child the time that it has", func(t *testing.T) {
		t.Parallel()
		var w ward
		s := child(t, "polite")
		s.ward = &w
		p, err := startProcess(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			w.close()
		}()
		p.close() // which takes until TERM
		soonFrom(t, closed, "the end of the ward")
		if p.result != nil {
			t.Errorf("got %v, want that it ended by itself", p.result)
		}
	})
	t.Run("M1 a sentry that was killed has a successor that knows all", func(t *testing.T) {
		t.Parallel()
		var w ward
		defer w.close()
		first, second := newHolders(t), newHolders(t)
		s := family(t, first)
		s.ward = &w
		dial(t, s, oldEra, nil)
		first.wantStarted(t, 2)
		posted(&w).kill()
		s = family(t, second)
		s.ward = &w
		dial(t, s, oldEra, nil)
		second.wantStarted(t, 2)
		posted(&w).close() // as the end of this program would
		first.wantGone(t)
		second.wantGone(t)
	})
	t.Run("M1 a sentry that was killed has a successor before anything else happens", func(t *testing.T) {
		t.Parallel()
		var w ward
		defer w.close()
		pipe := newHolders(t)
		s := family(t, pipe)
		s.ward = &w
		dial(t, s, oldEra, nil)
		pipe.wantStarted(t, 2)
		for range 2 {
			was := posted(&w)
			if err := was.process.Kill(); err != nil {
				t.Fatal(err)
			}
			tick, late := time.NewTicker(5*time.Millisecond), time.After(soon)
			defer tick.Stop()
			for posted(&w) == was {
				select {
				case <-tick.C:
				case <-late:
					t.Fatal("got none, want another sentry")
				}
			}
		}
		posted(&w).close()
		pipe.wantGone(t)
	})
	t.Run("M1 a sentry that was stopped does not hold up the end", func(t *testing.T) {
		t.Parallel()
		var w ward
		if err := w.ready(); err != nil {
			t.Fatal(err)
		}
		if err := posted(&w).process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			w.close()
		}()
		soonFrom(t, closed, "the end of the ward")
	})
}

// posted is the sentry that there is.
func posted(w *ward) *sentry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sentry
}

func TestSentry(t *testing.T) {
	t.Parallel()
	s, err := startSentry()
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		s.wait()
	}()
	defer func() { <-waited }()
	pipe := newHolders(t)
	var all []*exec.Cmd
	for range 4 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childRole+"=orphan", childPipe+"="+pipe.path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
		if err := s.begun((&group{pid: cmd.Process.Pid}).watched()); err != nil {
			t.Error(err)
		}
	}
	pipe.wantStarted(t, len(all))
	if err := s.ended((&group{pid: 1 << 30}).watched()); err != nil { // of which it was never told, and which leaves the others alone
		t.Error(err)
	}
	for _, i := range []int{0, 2} {
		if err := s.ended((&group{pid: all[i].Process.Pid}).watched()); err != nil {
			t.Error(err)
		}
	}
	s.close()
	for i, cmd := range all {
		alive := i%2 == 0 // what has ended is nobody's to kill
		if err := cmd.Process.Signal(syscall.SIGQUIT); alive && err != nil {
			t.Errorf("%d: %v, want it alive", i, err)
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.Exited(); got != alive { // Go programs exit by QUIT
			t.Errorf("%d: %v, want it alive: %t", i, cmd.ProcessState, alive)
		}
	}
}

package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ferrule-dev/ferrule/policy"
)

// TestWatchedProcess is no test of its own: TestWatch runs it as a process on a
// terminal.
func TestWatchedProcess(t *testing.T) {
	if os.Getenv("FERRULE_TEST_WATCH") == "" {
		t.Skip("it is run by TestWatch")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for range 4 { // screens that were there before
		before, over := context.WithCancel(ctx)
		err := Watch(before, os.Stdin, os.Stdout, os.Environ(), Desk{
			Pending: func(context.Context) ([]policy.Question, error) { over(); return nil, nil },
		})
		if !errors.Is(err, ErrInterrupted) {
			t.Error(err)
		}
	}
	err := Watch(ctx, os.Stdin, os.Stdout, os.Environ(), Desk{
		Pending: func(context.Context) ([]policy.Question, error) { return []policy.Question{remove()}, nil },
		Answer:  func(context.Context, string, policy.Answer) error { return nil },
	})
	switch {
	case errors.Is(err, ErrInterrupted):
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// openTerminal gives both ends of a terminal.
func openTerminal(t *testing.T) (outer, inner *os.File) {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { _ = outer.Close() })
	var unlocked, n int32
	size := [4]uint16{24, 80} // lines and columns; and both in pixels
	for request, at := range map[uintptr]unsafe.Pointer{
		syscall.TIOCSPTLCK: unsafe.Pointer(&unlocked),
		syscall.TIOCGPTN:   unsafe.Pointer(&n),
		syscall.TIOCSWINSZ: unsafe.Pointer(&size),
	} {
		if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, outer.Fd(), request, uintptr(at)); err != 0 {
			t.Skip("no terminals here:", err)
		}
	}
	inner, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	return outer, inner
}

func TestWatch(t *testing.T) {
	t.Parallel()
	signalled := func(s os.Signal) func(*exec.Cmd, io.Writer) error {
		return func(cmd *exec.Cmd, _ io.Writer) error { return cmd.Process.Signal(s) }
	}
	typed := func(keys string) func(*exec.Cmd, io.Writer) error {
		return func(_ *exec.Cmd, w io.Writer) error { _, err := io.WriteString(w, keys); return err }
	}
	tests := []struct {
		name  string
		end   func(*exec.Cmd, io.Writer) error
		times int // what goes wrong now and then is tried more than once
		want  int
	}{
		{"P6 it ends when it is terminated", signalled(syscall.SIGTERM), 8, 130},
		{"P6 it ends when it is interrupted", signalled(syscall.SIGINT), 8, 130},
		{"P6 it ends by ctrl+c", typed("\x03"), 1, 130},
		{"P6 it ends by q, which no screen before it takes", typed("q"), 4, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for range tt.times {
				endWatch(t, tt.end, tt.want)
			}
		})
	}
}

// endWatch starts the screen as a process, ends it once it is there, and looks at
// how it left the terminal.
func endWatch(t *testing.T, end func(*exec.Cmd, io.Writer) error, want int) {
	t.Helper()
	outer, inner := openTerminal(t)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestWatchedProcess$")
	cmd.Env = append(os.Environ(), "FERRULE_TEST_WATCH=1", "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inner, inner, inner
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = inner.Close()
	shown, all := make(chan struct{}), make(chan string, 1)
	var there sync.Once
	go func() {
		var out bytes.Buffer
		part := make([]byte, 4096)
		for {
			n, err := outer.Read(part)
			out.Write(part[:n])
			if strings.Contains(out.String(), "DESTROYS") {
				there.Do(func() { close(shown) })
			}
			if err != nil { // the other end is closed
				all <- out.String()
				return
			}
		}
	}()
	select {
	case <-shown:
		if err := end(cmd, outer); err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
	}
	err := cmd.Wait()
	out := <-all
	if ctx.Err() != nil {
		t.Fatalf("it did not end; on the terminal:\n%q", out)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("ended with %d (%v), want %d; on the terminal:\n%q", got, err, want, out)
	}
	if !strings.Contains(out, "\x1b[?1049h") || strings.LastIndex(out, "\x1b[?1049l") < strings.LastIndex(out, "\x1b[?1049h") {
		t.Errorf("the terminal was not given back as it was:\n%q", out)
	}
}

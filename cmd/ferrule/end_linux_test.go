package main

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal gives both ends of a terminal.
func openTerminal(t *testing.T) (outer, inner *os.File) {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { outer.Close() })
	var unlocked, n int32
	size := [4]uint16{24, 200} // lines and columns; and both in pixels
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

func TestEndOnTerminal(t *testing.T) {
	t.Parallel()
	t.Run("Y4 Ctrl-C on the screen of questions stops up, and once more ends it at once", func(t *testing.T) {
		t.Parallel()
		h := newHolders(t)
		cmd, _, _ := realProgram(t, stubbornFolder(t, h), nil, "up", "--builtin", "--address", "127.0.0.1:0")
		outer, inner := openTerminal(t)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = inner, inner, inner
		cmd.Env = append(cmd.Env, "TERM=xterm-256color")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		err := cmd.Start()
		inner.Close()
		if err != nil {
			t.Fatal(err)
		}
		shown, read := newPage(), make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(shown, outer) // until the other end is closed, which is an error
		}()
		h.wantStarted(t, 2)
		r := &running{url: shown.find(t, `address   (\S+)\r\n`), token: shown.find(t, `token     (\S+)`)}
		shown.find(t, `server test: ready`)
		c := r.caller(t, r.token)
		c.hello(t)
		called := make(chan struct{})
		go func() {
			defer close(called)
			_, _ = c.called(t.Context(), "fs_write", map[string]any{"path": "b.txt", "content": "b"}) // it is stopped
		}()
		shown.find(t, `\x1b\[\?1049h[\s\S]*b\.txt`)
		typed := func() {
			if _, err := io.WriteString(outer, "\x03"); err != nil {
				t.Error(err)
			}
		}
		typed()
		shown.find(t, `stopping`) // which takes 3 s, and the status is 0 then
		typed()
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != statusInterrupted {
			t.Errorf("got %v, %q, want %d", cmd.ProcessState, shown, statusInterrupted)
		}
		h.wantGone(t)
		<-called
		<-read
	})
}

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	t.Run("Y4 what takes longer than a second is told on a terminal, and gone afterwards", func(t *testing.T) {
		t.Parallel()
		h := newHolders(t)
		dir := t.TempDir()
		write(t, filepath.Join(dir, "ferrule.yaml"), fmt.Sprintf("servers: {test: {command: %q, env: {%s: orphan, %s: %q}}}\n", serverProgram(t), beServer, heldPipe, h.path))
		cmd, out, _ := realProgram(t, dir, nil, "servers")
		outer, inner := openTerminal(t)
		cmd.Stdin, cmd.Stderr = inner, inner // and standard output is none
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
		h.wantStarted(t, 1)
		shown.find(t, `s waiting for 1 server: test\r\n`)
		if _, err := io.WriteString(outer, "\x03"); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		h.wantGone(t)
		<-read
		all := shown.String()
		last := all[strings.LastIndex(all, "\x1b[1A\r\x1b[J"):]
		if got := cmd.ProcessState.ExitCode(); got != statusInterrupted || out.String() != "" || strings.Contains(last, "waiting") || !strings.HasSuffix(last, "ferrule: interrupted\r\n") {
			t.Errorf("got %v, %q, %q, want 130, no result, and nothing left of what was told", cmd.ProcessState, all, out)
		}
	})
	t.Run("Y4 nothing is told with --quiet, to a terminal that takes only text, and to none", func(t *testing.T) {
		t.Parallel()
		_, inner := openTerminal(t)
		defer inner.Close()
		for name, p := range map[string]*program{
			"quiet": {stderr: inner, quiet: true}, "dumb": {stderr: inner, environ: []string{"TERM=dumb"}}, "none": {stderr: new(strings.Builder)},
		} {
			p.out, p.errs = &shown{to: io.Discard}, &shown{to: p.stderr}
			done := p.busy("at work")
			if p.at.Load() != nil {
				t.Errorf("%s: got a line, want none", name)
			}
			done()
		}
		p := &program{stderr: inner}
		p.out, p.errs = &shown{to: io.Discard}, &shown{to: p.stderr}
		done := p.busy("at work")
		inside := p.busy("within")
		if b := p.at.Load(); b == nil || len(b.rows) != 2 || b.rows[0].covered != 1 {
			t.Error("got no line for what is within, want it in the place of the other")
		}
		p.printf("a result\n")
		if b := p.at.Load(); !b.away {
			t.Error("got a line below a result, want none")
		}
		inside()
		done()
		if p.at.Load() != nil || p.out.before != nil {
			t.Error("got that it goes on, want its end")
		}
	})
	t.Run("Y4 colours are for a terminal, unless somebody insists; NO_COLOR has the last word", func(t *testing.T) {
		t.Parallel()
		_, inner := openTerminal(t)
		defer inner.Close()
		for _, tt := range []struct {
			env            string
			terminal, pipe bool
		}{
			{"", true, false},
			{"TERM=dumb", false, false},
			{"NO_COLOR=1", false, false},
			{"NO_COLOR=", true, false},
			{"FORCE_COLOR=1", true, true},
			{"FORCE_COLOR=0", true, false},
			{"CLICOLOR_FORCE=1", true, true},
			{"CLICOLOR_FORCE=1 NO_COLOR=1", false, false},
		} {
			p := &program{environ: strings.Fields(tt.env)}
			if on, off := p.coloured(inner), p.coloured(new(strings.Builder)); on != tt.terminal || off != tt.pipe {
				t.Errorf("%q: got %v on a terminal and %v elsewhere, want %v and %v", tt.env, on, off, tt.terminal, tt.pipe)
			}
		}
	})
}

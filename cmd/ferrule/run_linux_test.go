package main

import (
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// runOnTerminal runs a script whose calls wait for a person.
func runOnTerminal(t *testing.T, term string) (shown *page, types func(string), ends func(want int)) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "s.txtar"), `-- answer --
> fs_write {"path":"a.txt","content":"a"}
> fs_write {"path":"b.txt","content":"b"}
-- want --
/^user: stop, please$/
-- answer --
I stop.
`)
	cmd, _, _ := realProgram(t, dir, nil, "run", "--model", "scripted:s.txtar", "Begin")
	outer, inner := openTerminal(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inner, inner, inner
	cmd.Env = append(cmd.Env, "TERM="+term)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err := cmd.Start()
	inner.Close()
	if err != nil {
		t.Fatal(err)
	}
	shown = newPage()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(shown, outer) // until the other end is closed, which is an error
	}()
	types = func(keys string) {
		if _, err := io.WriteString(outer, keys); err != nil {
			t.Error(err)
		}
	}
	ends = func(want int) {
		t.Helper()
		_ = cmd.Wait()
		if <-read; cmd.ProcessState.ExitCode() != want {
			t.Errorf("got %v, %q, want %d", cmd.ProcessState, shown, want)
		}
	}
	return shown, types, ends
}

func TestRunOnTerminal(t *testing.T) {
	t.Parallel()
	t.Run("P6 q leaves all questions, keys are not shown among the lines, and what is said is a line that arrows move in", func(t *testing.T) {
		t.Parallel()
		shown, types, ends := runOnTerminal(t, "xterm-256color")
		shown.find(t, `\x1b\[\?1049h[\s\S]*b\.txt`)
		types("q")
		shown.find(t, `(?:ferrule approvals allow[\s\S]*){2}waits for an answer[\s\S]*waits for an answer`)
		types("lost\r\r")
		types("\x03")
		shown.find(t, `What instead\?[\s\S]*> `)
		types("pleasse\x1b[D\x7f\x1b[1;5D\x1b[Hstop, \r")
		ends(statusDone)
		if all := shown.String(); strings.Contains(all, "lost") || strings.Contains(all, "^[") || !strings.Contains(all, "I stop.") {
			t.Errorf("got %q, want no key that nobody waited for, and the last answer", all)
		}
	})
	t.Run("Y4 a terminal that takes nothing but text is given nothing else", func(t *testing.T) {
		t.Parallel()
		shown, types, ends := runOnTerminal(t, "dumb")
		shown.find(t, `(?:ferrule approvals allow[\s\S]*){2}`)
		types("\x03")
		shown.find(t, `What instead\?[\s\S]*> `)
		types("stop, please\r")
		ends(statusDone)
		if all := shown.String(); strings.Contains(all, "\x1b") || !strings.Contains(all, "I stop.") {
			t.Errorf("got %q, want no escape sequence, and the last answer", all)
		}
	})
}

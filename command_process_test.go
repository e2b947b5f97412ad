//go:build unix

package ferrule_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// soon is how long a test waits for what must happen.
const soon = 40 * time.Second

// pipe is a named pipe: it has come to its end once every process that holds it
// open is gone.
type pipe struct {
	path  string
	r     *bufio.Reader
	own   *os.File // keeps it from its end until it is closed
	lines []string
}

func namedPipe(t *testing.T) *pipe {
	t.Helper()
	p := &pipe{path: filepath.Join(t.TempDir(), "pipe")}
	if err := syscall.Mkfifo(p.path, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(p.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := r.SetReadDeadline(time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	if p.own, err = os.OpenFile(p.path, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.own.Close() })
	p.r = bufio.NewReader(r)
	return p
}

// line waits for a line that a process wrote.
func (p *pipe) line(t *testing.T) string {
	t.Helper()
	line, err := p.r.ReadString('\n')
	if err != nil {
		t.Errorf("no process wrote to the pipe: %v", err)
	}
	p.lines = append(p.lines, strings.TrimSpace(line))
	return p.lines[len(p.lines)-1]
}

// wantGone waits until no process holds the pipe open, and looks for those whose
// numbers were written there.
func (p *pipe) wantGone(t *testing.T) {
	t.Helper()
	p.own.Close()
	if rest, err := io.ReadAll(p.r); err != nil || len(rest) > 0 {
		t.Errorf("got %q, %v, want the end: a process was left behind", rest, err)
	}
	for _, line := range p.lines {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Errorf("got %q, want the number of a process", line)
			continue
		}
		for begin := time.Now(); running(pid); runtime.Gosched() {
			if time.Since(begin) > soon {
				t.Errorf("process %d was left behind", pid)
				break
			}
		}
	}
}

// running reports whether there is such a process that has not ended. One that
// nobody waits for stays as a name.
func running(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	after := bytes.LastIndexByte(stat, ')')
	return after >= 0 && !bytes.HasPrefix(stat[after:], []byte(") Z")) && !bytes.HasPrefix(stat[after:], []byte(") X"))
}

// stubbornChild starts a process that takes no hint, holds all that the program holds,
// and writes its number to the pipe $1; the program waits for that, by the pipe $2.
const stubbornChild = `cat >/dev/null; mkfifo "$2"
/bin/sh -c 'trap "" TERM HUP INT PIPE; exec 9>"$1"; echo $$ >&9; echo ready >"$2"; while :; do sleep 1000; done' child "$1" "$2" &
read ready <"$2"
`

func TestCommandLeavesNothing(t *testing.T) {
	t.Parallel()
	t.Run("H6 a time-out denies, and ends a child that ignores signals and holds the output", func(t *testing.T) {
		t.Parallel()
		p := namedPipe(t)
		c := script(stubbornChild+`echo '{"decision":"allow"}'; wait`, p.path, p.path+"2")
		c.Timeout = 2 * time.Second
		begin := time.Now()
		res := withHooks(t, readerTool("read"), "{}", hookOf(t, c))
		if took := time.Since(begin); took > c.Timeout+time.Second {
			t.Errorf("it took %s, want at most %s and a second", took, c.Timeout)
		}
		wantFailure(t, res, tool.Denied, checkFailed)
		wantOperator(t, res, `hook "check": it took too long: more than 2s`)
		p.line(t)
		p.wantGone(t)
	})
	t.Run("H6 a time-out without an answer, in the middle of a line", func(t *testing.T) {
		t.Parallel()
		c := script(`printf '{"decision":'; echo thinking >&2; exec sleep 1000`)
		c.Timeout = time.Second
		res := withHooks(t, readerTool("read"), "{}", hookOf(t, c))
		wantFailure(t, res, tool.Denied, checkFailed)
		wantOperator(t, res, "hook \"check\": it took too long: more than 1s\nit wrote: thinking")
	})
	t.Run("H6 a time-out withholds the result", func(t *testing.T) {
		t.Parallel()
		c := script(`exec sleep 1000`)
		c.Timeout, c.Output = 200*time.Millisecond, true
		wantFailure(t, withHooks(t, readerTool("read"), "{}", hookOf(t, c)), tool.Denied, checkLater)
	})
	t.Run("H6 a tool with less time has its hook end sooner", func(t *testing.T) {
		t.Parallel()
		p := namedPipe(t)
		c := script(`exec 9>"$1"; echo $$ >&9; exec sleep 1000`, p.path)
		def := readerTool("read")
		def.Timeout = 2 * time.Second
		wantFailure(t, withHooks(t, def, "{}", hookOf(t, c)), tool.Denied, checkFailed)
		p.line(t)
		p.wantGone(t)
	})
	t.Run("H6 the end of the call ends the program and its children", func(t *testing.T) {
		t.Parallel()
		p := namedPipe(t)
		c := script(`exec 9>"$1"; echo $$ >&9; /bin/sh -c 'trap "" TERM HUP INT; echo $$ >&9; while :; do sleep 1000; done'`, p.path)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		def := readerTool("read")
		def.Cancel = true
		v := viewWith(t, &ferrule.Runtime{Hooks: []ferrule.Hook{hookOf(t, c)}}, def)
		done := make(chan tool.Result)
		go func() { done <- v.Do(ctx, tool.Call{Name: "read"})[0] }()
		p.line(t)
		p.line(t)
		stop()
		wantFailure(t, <-done, tool.Aborted, "")
		p.wantGone(t)
	})
	t.Run("H6 what a program leaves running ends with it", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("elsewhere such a program denies")
		}
		p := namedPipe(t)
		c := script(stubbornChild+`echo '{"decision":"allow"}'`, p.path, p.path+"2")
		res := withHooks(t, readerTool("read"), "{}", hookOf(t, c))
		if res.Err != nil || res.String() != "{}" {
			t.Errorf("result = %+v", res)
		}
		p.line(t)
		p.wantGone(t)
	})
	t.Run("H6 what left the group of a program cannot keep a call waiting", func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath("setsid"); err != nil {
			t.Skip("no setsid here")
		}
		p := namedPipe(t)
		c := script(`cat >/dev/null; mkfifo "$2"
			setsid /bin/sh -c 'echo $$ >"$1"; echo ready >"$2"; exec sleep 1000' child "$1" "$2" &
			read ready <"$2"; echo '{"decision":"allow"}'`, p.path, p.path+"2")
		res := withHooks(t, readerTool("read"), "{}", hookOf(t, c))
		if pid, err := strconv.Atoi(p.line(t)); err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
			t.Errorf("process %d: %v", pid, err)
		}
		wantFailure(t, res, tool.Denied, checkFailed)
		wantOperator(t, res, `hook "check": it has ended, but something that it started holds its output open`)
	})
	t.Run("H6 an answer longer than 1 MiB denies at once", func(t *testing.T) {
		t.Parallel()
		p := namedPipe(t)
		endless := script(`exec 9>"$1"; echo $$ >&9; trap "" PIPE; yes '{"decision":"allow"}' 2>/dev/null; exec sleep 1000`, p.path)
		for _, c := range []ferrule.Command{endless, testProgram(t, "flood")} {
			res := withHooks(t, readerTool("read"), "{}", hookOf(t, c))
			wantFailure(t, res, tool.Denied, checkFailed)
			wantOperator(t, res, fmt.Sprintf("hook %q: its answer is longer than 1048576 bytes", c.Name))
		}
		p.line(t)
		p.wantGone(t)
	})
	t.Run("H6 a program that panics denies, and its stack is for the operator", func(t *testing.T) {
		t.Parallel()
		res := withHooks(t, readerTool("read"), "{}", hookOf(t, testProgram(t, "panic")))
		wantFailure(t, res, tool.Denied, checkFailed)
		if got := operatorReads(res); !strings.HasPrefix(got, `hook "panic": exit status 2`) || !strings.Contains(got, "its stack is for the operator") {
			t.Errorf("the operator reads %q", got)
		}
	})
}

func TestCommandsAtOnce(t *testing.T) {
	t.Parallel()
	t.Run("H6 32 calls at once, each with its own answer", func(t *testing.T) {
		t.Parallel()
		const n = 32
		here, go1 := namedPipe(t), filepath.Join(t.TempDir(), "go")
		if err := syscall.Mkfifo(go1, 0o600); err != nil {
			t.Fatal(err)
		}
		gate, err := os.OpenFile(go1, os.O_RDWR, 0) // so that nobody waits for the other end
		if err != nil {
			t.Fatal(err)
		}
		defer gate.Close()
		c := script(`event=$(cat); echo here >"$1"; read go <"$2"
			printf '%s' "$event" | sed 's/.*"index":\([0-9]*\),.*"input":{"text":"\([^"]*\)"}.*/{"decision":"change","input":{"text":"\2!"},"context":"call \1"}/'`, here.path, go1)
		v := viewWith(t, &ferrule.Runtime{Limit: n, Hooks: []ferrule.Hook{hookOf(t, c)}}, readerTool("read"))
		var calls []tool.Call
		for i := range n {
			calls = append(calls, tool.Call{Name: "read", Input: json.RawMessage(textArg(fmt.Sprint("text ", i)))})
		}
		done := make(chan []tool.Result)
		go func() { done <- v.Do(t.Context(), calls...) }()
		for range n {
			if got := here.line(t); got != "here" {
				t.Errorf("got %q", got)
			}
		}
		if _, err := gate.WriteString(strings.Repeat("go\n", n)); err != nil {
			t.Error(err)
		}
		for i, res := range <-done {
			if want := fmt.Sprintf("%s\ncall %d", textArg(fmt.Sprintf("text %d!", i)), i); res.String() != want {
				t.Errorf("result %d = %q, want %q", i, res, want)
			}
		}
	})
}

// It changes the environment, so nothing runs beside it.
func TestCommandEnvironment(t *testing.T) {
	t.Setenv("FERRULE_TEST_TOKEN", "k-123")
	t.Setenv("LC_TIME", "C.UTF-8")
	t.Setenv("LANG", "C")
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		env        []string
		want, none string
	}{
		"H6 it is given PATH, HOME and locale":     {nil, "HOME= LANG=C LC_TIME=C.UTF-8 PATH=", "FERRULE_TEST_TOKEN="},
		"H6 and what its command says, which wins": {[]string{"A=b c", "LANG=de", "EMPTY="}, "A=b EMPTY= HOME= LANG=de PATH=", "LANG=C"},
		"H6 and nothing else":                      {[]string{}, "HOME= LANG=C PATH=", "FERRULE_TEST_TOKEN="},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "env")
			c := script(`env >"$1"; pwd >>"$1"; echo '{"decision":"allow"}'`, file)
			c.Env, c.Dir = tt.env, dir
			if res := withHooks(t, readerTool("read"), "{}", hookOf(t, c)); res.Err != nil {
				t.Fatal(res.Err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			for want := range strings.FieldsSeq(tt.want) {
				if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, want) }) {
					t.Errorf("got %q, want %s", lines, want)
				}
			}
			for _, l := range lines {
				if strings.HasPrefix(l, tt.none) {
					t.Errorf("got %s", l)
				}
			}
			if got := lines[len(lines)-1]; filepath.Base(got) != filepath.Base(dir) {
				t.Errorf("it runs in %s, want %s", got, dir)
			}
		})
	}
}

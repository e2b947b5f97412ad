//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// holders is a named pipe that comes to its end once every process that holds it open
// is gone.
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
	if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if h.own, err = os.OpenFile(h.path, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.own.Close() })
	h.r = bufio.NewReader(r)
	return h
}

// wantStarted waits until so many processes more hold it.
func (h *holders) wantStarted(t *testing.T, n int) {
	t.Helper()
	for range n {
		if _, err := h.r.ReadString('\n'); err != nil {
			t.Fatalf("a process did not start: %v", err)
		}
	}
}

// wantGone waits until no process holds it.
func (h *holders) wantGone(t *testing.T) {
	t.Helper()
	h.own.Close()
	if rest, err := io.ReadAll(h.r); err != nil || len(rest) > 0 {
		t.Errorf("got %q, %v, want the end: a server was left behind", rest, err)
	}
}

// stubbornFolder is a folder to serve, with a server that takes no hint.
func stubbornFolder(t *testing.T, h *holders, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ferrule.yaml"), fmt.Sprintf(`
policy: {allow: ["source:test"]}
servers: {test: {command: %q, env: {%s: stubborn, %s: %q}%s}}
`, serverProgram(t), beServer, heldPipe, h.path, strings.Join(more, "")))
	return dir
}

// realProgram is this program as a process, which is killed at the end of the test. A
// program in front runs it.
func realProgram(t *testing.T, dir string, front []string, args ...string) (cmd *exec.Cmd, out, errs *page) {
	t.Helper()
	line := append(append(front, testBinary(t)), args...)
	cmd = exec.CommandContext(t.Context(), line[0], line[1:]...)
	out, errs = newPage(), newPage()
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, errs
	cmd.Env = append(os.Environ(), beFerrule+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.WaitDelay = 10 * time.Second
	return cmd, out, errs
}

func TestEnd(t *testing.T) {
	t.Parallel()
	t.Run("M1 no server outlives a client that closes its input and does not wait for long", func(t *testing.T) {
		t.Parallel()
		h := newHolders(t)
		cmd, out, errs := realProgram(t, stubbornFolder(t, h), nil, "mcp")
		say, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for i, line := range []string{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test__echo","arguments":{"text":"x"}}}`,
		} {
			if _, err := io.WriteString(say, line+"\n"); err != nil {
				t.Fatal(err)
			}
			out.find(t, fmt.Sprintf(`"id":%d,"result"`, i))
		}
		h.wantStarted(t, 4) // the hub's own, that of the session, and their children
		began := time.Now()
		if err := say.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("got %v, %s, want it to end well", err, errs)
		}
		if took := time.Since(began); took > 6*time.Second { // as one server after the other would take; together it is 3 s
			t.Errorf("it took %s, want all servers to be ended at the same time", took)
		}
		h.wantGone(t)
	})
	deaf := []string{"/bin/sh", "-c", `trap "" INT; exec "$0" "$@"`} // as a script starts what it puts into the background
	for _, tt := range []struct {
		name  string
		front []string
		args  []string
		ends  []os.Signal
		want  int
	}{
		{"Y4 up ends at once by a second TERM", nil, []string{"up", "--address", "127.0.0.1:0"}, []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, statusInterrupted},
		{"Y4 up ends at once by a second Ctrl-C, also in the background of a script", deaf, []string{"up", "--address", "127.0.0.1:0"}, []os.Signal{os.Interrupt, os.Interrupt}, statusInterrupted},
		{"M1 no server outlives an up that is killed", nil, []string{"up", "--address", "127.0.0.1:0"}, []os.Signal{os.Kill}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHolders(t)
			cmd, out, errs := realProgram(t, stubbornFolder(t, h), tt.front, tt.args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			h.wantStarted(t, 2)
			out.find(t, `server test: ready`)
			for i, s := range tt.ends {
				if i > 0 {
					errs.find(t, `stopping`) // which takes 3 s, and the status is 0 then
				}
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != tt.want {
				t.Errorf("got %v, %s, want %d", cmd.ProcessState, errs, tt.want)
			}
			h.wantGone(t)
		})
	}
	for _, args := range [][]string{
		{"servers"}, {"tools"}, {"search", "echo"}, {"call", "test__echo", "{}"}, {"trust", "test", "--answer", "ask"}, {"run", "--model", "scripted:run.txtar", "hello"},
	} {
		t.Run("Y4 Ctrl-C while a server starts is 130, and leaves none: "+args[0], func(t *testing.T) {
			t.Parallel()
			h := newHolders(t)
			dir := t.TempDir()
			write(t, filepath.Join(dir, "ferrule.yaml"), fmt.Sprintf("servers: {test: {command: %q, env: {%s: orphan, %s: %q}}}\n", serverProgram(t), beServer, heldPipe, h.path))
			write(t, filepath.Join(dir, "run.txtar"), "-- answer --\nHello.\n")
			cmd, _, errs := realProgram(t, dir, nil, args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			h.wantStarted(t, 1)
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != statusInterrupted || !strings.HasSuffix(errs.String(), "ferrule: interrupted\n") {
				t.Errorf("got %v, %s, want 130", cmd.ProcessState, errs)
			}
			h.wantGone(t)
		})
	}
	t.Run("Y4 who reads no further is not told so", func(t *testing.T) {
		t.Parallel()
		for _, args := range []string{"completion bash", "batch calls.jsonl", "tools"} {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "calls.jsonl"), strings.Repeat(`{"name":"think","input":{"thought":"`+strings.Repeat("x", 4000)+`"}}`+"\n", 50))
			cmd, _, errs := realProgram(t, dir, []string{"/bin/sh", "-c", `"$0" "$@" | head -c 1 > /dev/null`}, strings.Fields(args)...)
			if err := cmd.Run(); err != nil || errs.String() != "" {
				t.Errorf("%s: got %v, %q, want nothing", args, err, errs)
			}
		}
	})
}

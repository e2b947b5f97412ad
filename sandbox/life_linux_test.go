package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	const most = 20 * time.Second
	for _, tt := range []struct {
		name    string
		command Command
		want    string
		also    string // may come first
	}{
		{"N1 a command that ignores SIGTERM is killed when its time is over", Command{
			Args: []string{"bash", "-c", "trap '' TERM; while :; do sleep 100; done"}, Limits: Limits{Time: 50 * time.Millisecond},
		}, "time", ""},
		{"N1 endless output", Command{Args: []string{"yes"}}, "output", ""},
		{"N1 endless output to both streams", Command{Args: []string{"bash", "-c", "yes >&2 & yes"}}, "output", ""},
		{"N1 10 GB in one process", Command{Args: role("hog", "10000000000")}, "memory", ""},
		{"N1 10 GB in many processes", Command{Args: role("hog", "500000000", "20")}, "memory", ""},
		{"N1 a fork bomb", Command{Args: []string{"bash", "-c", "f() { f | f & }; f; sleep 100"}, Limits: Limits{Time: 3 * time.Second}}, "processes", "time"},
		{"N1 many processes", Command{Args: []string{"bash", "-c", "for i in {1..100}; do sleep 100 & done; wait"}, Limits: Limits{Processes: 50}}, "processes", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, way := range ways() {
				t.Run(way.name, func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, way.change, func(c *Config) {
						c.Limits = Limits{Memory: 512 << 20, Output: 1 << 20, Processes: 200}
					})
					var out bytes.Buffer
					command := tt.command
					command.Stdout, command.Stderr = &out, &out
					begun := time.Now()
					o, err := w.box.Run(t.Context(), command)
					if err != nil {
						t.Fatal(err)
					}
					if o.Stopped != tt.want && (tt.also == "" || o.Stopped != tt.also) {
						t.Errorf("got %+v, want it stopped for %q; it printed %.200q", o, tt.want, out.String())
					}
					if took := time.Since(begun); took > most {
						t.Errorf("it took %v", took)
					}
					if out.Len() > 1<<20 {
						t.Errorf("got %d bytes of output, want at most 1 MiB", out.Len())
					}
					if o.Peak > 3<<30 {
						t.Errorf("it held %d bytes before it was ended", o.Peak)
					}
					if left := marked(w.mark); len(left) > 0 {
						t.Errorf("processes are left: %v", left)
					}
					// The Box goes on.
					if o, out := w.bash("echo still here"); out != "still here\n" {
						t.Errorf("afterwards: got %+v and %q", o, out)
					}
				})
			}
		})
	}
}

func TestFileLimits(t *testing.T) {
	t.Parallel()
	for _, way := range ways() {
		w := newWorld(t, way.change, func(c *Config) { c.Limits = Limits{Files: 64, FileSize: 1 << 20} })
		t.Run("N1 files are limited, "+way.name, func(t *testing.T) {
			if _, out := w.bash("ulimit -n; ulimit -Hn; ulimit -c"); out != "64\n64\n0\n" {
				t.Errorf("got %q", out)
			}
			if o, out := w.bash("head -c 2000000 /dev/zero > big"); o.Code == 0 {
				t.Errorf("got %+v and %q, want it to fail", o, out)
			}
			if info, err := os.Stat(filepath.Join(w.work, "big")); err != nil || info.Size() > 1<<20 {
				t.Errorf("got a file of %v (%v)", info.Size(), err)
			}
		})
	}
}

func TestNothingStays(t *testing.T) {
	t.Parallel()
	for _, way := range ways() {
		t.Run("B3 what a command leaves behind ends with it, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change)
			other := newHeard()
			slow, err := w.box.Start(t.Context(), Command{Args: []string{"bash", "-c", "mkfifo p && echo up && read -r _ < p"}, Stdout: other})
			if err != nil {
				t.Fatal(err)
			}
			other.until(t, "up")
			before := len(marked(w.mark))
			if o, out := w.bash(hiding); o.Code != 0 || !strings.HasSuffix(out, "up\n") {
				t.Fatalf("got %+v and %q", o, out)
			}
			if after := marked(w.mark); len(after) != before {
				t.Errorf("got %d processes, want the %d of the other command: %v", len(after), before, after)
			}
			select {
			case <-slow.Done():
				t.Errorf("the other command ended: %+v", slow.Wait())
			default:
			}
			slow.Stop(0)
			if o := slow.Wait(); o.Stopped != "stopped" {
				t.Errorf("got %+v", o)
			}
		})
		t.Run("B3 Stop asks first, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change)
			out := newHeard()
			r, err := w.box.Start(t.Context(), Command{Args: []string{"bash", "-c", "trap 'echo asked; exit 7' TERM; echo up; while :; do sleep 0.01; done"}, Stdout: out})
			if err != nil {
				t.Fatal(err)
			}
			out.until(t, "up")
			r.Stop(20 * time.Second)
			if o := r.Wait(); o.Code != 7 || o.Stopped != "stopped" || !strings.Contains(out.String(), "asked") {
				t.Errorf("got %+v and %q", o, out)
			}
		})
		t.Run("N1 a command ends with its context, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change)
			ctx, cancel := context.WithCancel(t.Context())
			out := newHeard()
			r, err := w.box.Start(ctx, Command{Args: []string{"bash", "-c", "echo up; sleep 1000"}, Stdout: out})
			if err != nil {
				t.Fatal(err)
			}
			out.until(t, "up")
			cancel()
			if o := r.Wait(); o.Stopped != "context" {
				t.Errorf("got %+v", o)
			}
			if _, err := w.box.Start(ctx, Command{Args: []string{"true"}}); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want that the context is over", err)
			}
		})
		t.Run("B3 Close ends everything, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change)
			out := newHeard()
			r, err := w.box.Start(t.Context(), Command{Args: []string{"bash", "-c", hiding + "sleep 1000"}, Stdout: out})
			if err != nil {
				t.Fatal(err)
			}
			out.until(t, "up")
			if err := w.box.Close(); err != nil {
				t.Fatal(err)
			}
			if left := marked(w.mark); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
			if o := r.Wait(); o.Stopped != "stopped" {
				t.Errorf("got %+v", o)
			}
			if _, err := w.box.Run(t.Context(), Command{Args: []string{"true"}}); err == nil {
				t.Error("a closed Box started something")
			}
		})
	}
}

func TestHostKilled(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "none"} {
		t.Run("B3 nothing outlives a host that was killed, with namespaces or "+mode, func(t *testing.T) {
			mark := "host" + mode + filepath.Base(t.TempDir()) + time.Now().Format("150405.000000")
			line := role("host", t.TempDir(), mark, mode)
			host := exec.Command(line[0], line[1:]...)
			out, err := host.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			said, err := bufio.NewReader(out).ReadString('\n')
			state, ok := strings.CutPrefix(strings.TrimSpace(said), "ready ")
			if err != nil || !ok {
				t.Errorf("got %q (%v)", said, err)
			}
			if n := len(marked(mark)); n < 4 {
				t.Errorf("got %d processes, want more: this test would see nothing", n)
			}
			_ = host.Process.Signal(syscall.SIGKILL)
			_ = host.Wait()
			eventually(t, "everything is gone", func() bool { return len(marked(mark)) == 0 })
			_ = os.RemoveAll(state) // a killed host cannot
		})
	}
}

func TestKeeperKilled(t *testing.T) {
	t.Parallel()
	t.Run("N1 commands of a keeper that died end, and later ones run", func(t *testing.T) {
		w := newWorld(t)
		out := newHeard()
		r, err := w.box.Start(t.Context(), Command{Args: []string{"bash", "-c", hiding + "sleep 1000"}, Stdout: out})
		if err != nil {
			t.Fatal(err)
		}
		out.until(t, "up")
		if err := w.box.by.(*keeping).link.process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if o := r.Wait(); o.Stopped != "the sandbox died" {
			t.Errorf("got %+v", o)
		}
		if left := marked(w.mark); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
		if _, out := w.bash("echo again"); out != "again\n" {
			t.Errorf("got %q", out)
		}
	})
	for _, tt := range []struct {
		name string
		cut  func(*wire) error
	}{
		{"the host has closed the connection", func(w *wire) error { return w.conn.Close() }},
		{"the keeper has closed the connection", func(w *wire) error { return w.conn.CloseWrite() }}, // the kernel answers both alike
	} {
		t.Run("N1 a command that a keeper was not told of goes to the next, "+tt.name, func(t *testing.T) {
			w := newWorld(t)
			for round := range 5 {
				if _, out := w.bash("echo before"); out != "before\n" {
					t.Fatalf("round %d: got %q", round, out)
				}
				if err := tt.cut(w.box.by.(*keeping).link.wire); err != nil {
					t.Fatal(err)
				}
				if o, err := w.box.Run(t.Context(), Command{Args: []string{"true"}}); err != nil || o.Code != 0 {
					t.Errorf("round %d: got %+v and %v, want that it runs", round, o, err)
				}
			}
		})
	}
	t.Run("N1 a command that cannot be handed over is forgotten", func(t *testing.T) {
		w := newWorld(t)
		w.bash("true")
		l := w.box.by.(*keeping).link
		closed, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		closed.Close()
		if _, err := l.start(order{args: []string{"true"}, files: [3]*os.File{closed, closed, closed}}); err == nil || errors.Is(err, errEnded) {
			t.Errorf("got %v, want an error of the hand-over", err)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.jobs) > 0 {
			t.Errorf("got %d commands that run, want none", len(l.jobs))
		}
	})
}

package builtin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestShellResult(t *testing.T) {
	t.Parallel()
	s := shellAt(t, func(sh *builtin.Shell, _ *ferrule.Runtime) {
		sh.Output = 32 << 10
		sh.Sandbox.Limits.Memory = 256 << 20
	})
	s.write("sub/x", "", 0o644)
	for _, tt := range []struct {
		name, line string
		kind       tool.Kind
		want       string // the whole of it
	}{
		{"I2 what it prints", "echo out; echo $((6*7))", "", "out\n42\n"},
		{"I2 stderr beside stdout", "echo err >&2", "", "err\n"},
		{"I2 nothing", "true", "", "(tool ran successfully with no output)"},
		{"I2 a status is an error, and the output stays", "echo out; exit 3", tool.Failed, "[exit status 3]\nout\n"},
		{"I2 a signal", "echo out; kill -KILL $$", tool.Failed, "[ended by signal KILL]\nout\n"},
		{"I2 no such command", "nosuchcommand", tool.Failed, "[exit status 127]\nbash: line 1: nosuchcommand: command not found\n"},
		{"I2 lines are counted as they are", "true\nnosuchcommand", tool.Failed, "[exit status 127]\nbash: line 2: nosuchcommand: command not found\n"},
		{"I2 a line that begins with a dash is no option of bash", "-x 2>&1; echo $-", "", "bash: line 1: -x: command not found\nhBc\n"},
		{"I2 nor is one that begins with two", "--version 2>&1 || echo no", "", "bash: line 1: --version: command not found\nno\n"},
		{"I2 nothing is on stdin", "cat; echo end", "", "end\n"},
		{"I2 it begins in the workspace", "pwd", "", s.dir + "\n"},
		{"I2 and may go elsewhere", "cd sub; pwd", "", s.dir + "/sub\n"},
		{"I2 which the next call does not inherit", "pwd; echo ${x-unset}", "", s.dir + "\nunset\n"},
		{"I2 no history, no aliases, no files of the user", "alias; set -o | grep history; x=1; echo ${BASH_ENV-none}", "", "history        \toff\nnone\n"},
		{"N1 too much output", "yes", tool.Failed, "[stopped: more than 32 KiB of output]\n" + strings.Repeat("y\n", 16<<10)},
		{"N1 too much memory", "x=$(head -c 600000000 /dev/zero | tr '\\0' x); echo no", tool.Failed, "[stopped: more than 256 MiB of memory]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := s.sh(tt.line)
			shellWant(t, res, tt.kind)
			if got := res.String(); got != tt.want {
				t.Errorf("%s:\ngot  %.300q\nwant %.300q", tt.line, got, tt.want)
			}
		})
	}
	t.Run("I2 in a folder of the workspace", func(t *testing.T) {
		for _, dir := range []string{"sub", "./sub/", s.dir + "/sub", "sub/../sub"} {
			if got := s.call("shell", map[string]any{"command": "pwd", "dir": dir}).String(); got != s.dir+"/sub\n" {
				t.Errorf("dir %q: pwd says %q", dir, got)
			}
		}
	})
	t.Run("N1 too much time", func(t *testing.T) {
		mark := shellMark(t)
		res := s.call("shell", map[string]any{"command": "echo out; trap '' TERM; sleep " + mark + "; sleep " + mark, "timeout": 1})
		shellWant(t, res, tool.Timeout, "[stopped: it took longer than 1s]\nout\n")
		shellGone(t, mark)
	})
	t.Run("I2 what a line leaves behind ends with the call", func(t *testing.T) {
		mark := shellMark(t)
		shellWant(t, s.sh("setsid sleep "+mark+" & nohup sleep "+mark+" & echo out"), "", "out")
		shellGone(t, mark)
	})
	t.Run("N3 how it was isolated is on the record", func(t *testing.T) {
		s.sh("touch made")
		if got := s.said(audit.Isolated); !strings.HasPrefix(got, "process, network off (") || !strings.Contains(got, "landlock") || strings.Contains(got, "without the right") {
			t.Errorf("isolated: %q", got)
		}
		s.sh("cat made")
		if got := s.said(audit.Isolated); !strings.HasSuffix(got, "; without the right to write") {
			t.Errorf("isolated: %q", got)
		}
	})
	t.Run("N2 a call without a runtime is isolated too, and leaves nothing", func(t *testing.T) {
		sh := builtin.Shell{Workspace: []string{s.dir}, Sandbox: sandbox.Config{Helper: shellHelper}}
		tools, err := sh.Tools()
		if err != nil {
			t.Fatal(err)
		}
		args, err := tools[0].Admit([]byte(`{"command":"{ echo x > ` + filepath.Dir(s.dir) + `/out; } 2>/dev/null; echo $TMPDIR"}`))
		if err != nil {
			t.Fatal(err)
		}
		res, err := tools[0].Run(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(s.dir), "out")); err == nil {
			t.Error("it wrote outside the workspace")
		}
		out := strings.Split(strings.TrimSpace(tool.TextOf(res.Content)), "\n")
		if tmp := out[len(out)-1]; !filepath.IsAbs(tmp) {
			t.Errorf("TMPDIR is %q", tmp)
		} else if _, err := os.Stat(tmp); err == nil {
			t.Errorf("%s was left", tmp)
		}
	})
}

func TestShellStreams(t *testing.T) {
	t.Parallel()
	t.Run("B1 output is seen while the command runs, each with its stream", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		var seen []string
		s.hear = func(e audit.Event) {
			if e.Kind != audit.Updated {
				return
			}
			seen = append(seen, e.Update.Stream+": "+e.Update.Text)
			s.write("go"+strings.TrimSpace(e.Update.Text), "", 0o644)
		}
		// The command waits for a file that is made when its output was seen.
		res := s.sh("echo 1; until [ -e go1 ]; do sleep 0.01; done; echo 2 >&2; until [ -e go2 ]; do sleep 0.01; done; echo 3")
		shellWant(t, res, "", "1\n2\n3\n")
		if got := strings.Join(seen, ""); got != "stdout: 1\nstderr: 2\nstdout: 3\n" {
			t.Errorf("seen %q", got)
		}
	})
}

func TestShellStops(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*ferrule.Turn, context.CancelFunc, string){
		"I2 an interrupt ends it":          func(turn *ferrule.Turn, _ context.CancelFunc, _ string) { turn.Interrupt() },
		"I2 the end of the host ends it":   func(_ *ferrule.Turn, cancel context.CancelFunc, _ string) { cancel() },
		"I2 a person who stops it ends it": func(turn *ferrule.Turn, _ context.CancelFunc, id string) { turn.Stop(id) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shellAt(t, nil)
			mark := shellMark(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			started := make(chan string, 1)
			s.hear = func(e audit.Event) {
				if e.Kind == audit.Updated {
					started <- e.Request.ID
				}
			}
			turn := s.session.View(ctx).Begin(ctx, ferrule.TurnOptions{})
			// It ignores the signal, and so does what it leaves in a session of its own.
			turn.Add(tool.Call{Name: "shell", Input: []byte(`{"command":"trap '' TERM; setsid sleep ` + mark + ` & echo on; sleep ` + mark + `"}`)})
			go func() { stop(turn, cancel, <-started) }()
			begun := time.Now()
			res := turn.Wait()
			shellWant(t, res[0], tool.Aborted)
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			shellGone(t, mark)
			for _, f := range s.rt.Findings() {
				if strings.Contains(f.Text, "given up") {
					t.Errorf("the call was given up: %s", f.Text)
				}
			}
			if got := s.said(audit.GivenUp); got != "" {
				t.Errorf("the call was given up: %s", got)
			}
		})
	}
}

func TestShellRefuses(t *testing.T) {
	t.Parallel()
	s := shellAt(t, func(sh *builtin.Shell, _ *ferrule.Runtime) {
		sh.Sandbox.Hidden, sh.Sandbox.Protected = []string{sh.Workspace[0] + "/hid"}, []string{sh.Workspace[0] + "/pro"}
		for _, name := range []string{"hid", "pro"} {
			if err := os.Mkdir(filepath.Join(sh.Workspace[0], name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	})
	outside := t.TempDir()
	s.write("file", "", 0o644)
	s.write("hid/x", "", 0o644)
	for name, to := range map[string]string{"out": outside, "up": "..", "chain": "out", "loop": "loop", "gone": "/nonexistent/x", "root": "/"} {
		if err := os.Symlink(to, filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("N1 a folder outside the workspace, whatever way it is written", func(t *testing.T) {
		for _, dir := range []string{
			"..", "../", "/", "/etc", "/proc/self/root/etc", "/proc/self/cwd", outside, "out", "up", "chain", "out/.", "root/etc", "root",
			"sub/../..", s.dir + "/..", s.dir + "x", "../" + filepath.Base(s.dir) + "/..", "/nonexistent",
		} {
			res := s.call("shell", map[string]any{"command": "touch ran", "dir": dir})
			shellWant(t, res, tool.InvalidValue, "outside the workspace", "in ferrule.yaml")
		}
		if s.there("ran") {
			t.Error("it ran")
		}
	})
	for _, tt := range []struct {
		name string
		in   map[string]any
		want string
	}{
		{"I2 a folder that is none", map[string]any{"command": "pwd", "dir": "file"}, "want a folder"},
		{"I2 a folder that does not exist", map[string]any{"command": "pwd", "dir": "nowhere"}, "want a folder that exists"},
		{"I2 a link to itself", map[string]any{"command": "pwd", "dir": "loop"}, "want a folder that exists"},
		{"I2 a blank line", map[string]any{"command": " \n"}, "want a command line"},
		{"I2 a NUL", map[string]any{"command": "echo a\x00b"}, "NUL"},
		{"I2 a line that no system takes", map[string]any{"command": "echo " + strings.Repeat("x", 100<<10)}, "want at most 102400"},
		{"N1 more time than there is", map[string]any{"command": "true", "timeout": 601}, "want at most 600 seconds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shellWant(t, s.call("shell", tt.in), tool.InvalidValue, tt.want)
		})
	}
	t.Run("N1 what was refused is named, with what would have to be configured", func(t *testing.T) {
		shellWant(t, s.sh("touch "+outside+"/x"), tool.Failed,
			"[exit status 1]\n[sandbox] "+outside+"/x is outside the workspace. To allow it: sandbox.read: [\""+outside+"/x\"] in ferrule.yaml, or sandbox.write to change it.")
		shellWant(t, s.sh("echo x > out/x"), tool.Failed, "[sandbox] "+outside+"/x is outside the workspace")
		shellWant(t, s.sh("sh -c 'echo x > /etc/ferrule-x'"), tool.Failed, "[sandbox] /etc/ferrule-x is outside the workspace")
		shellWant(t, s.sh("rm -f /etc/passwd"), tool.Failed, "[sandbox] /etc/passwd is outside the workspace")
		for _, file := range []string{"/nonexistent/x", "nothere", "/usr/nothere"} {
			if got := s.sh("rm " + file).String(); strings.Contains(got, "[sandbox]") || !strings.Contains(got, "No such file") {
				t.Errorf("what is not there is not refused: %q", got)
			}
		}
		for what, refused := range map[string]string{
			"cat hid/x":   "/hid/x is hidden from commands: it belongs to the program that runs them.",
			"touch pro/x": "/pro/x is protected: commands read it and cannot change it. A person can.",
		} {
			shellWant(t, s.sh(what), tool.Failed, "[sandbox] "+s.dir+refused)
		}
		shellWant(t, s.sh("echo x > /dev/tcp/127.0.0.1/9"), tool.Failed, "[sandbox] The network is off. To open it: sandbox.network: open in ferrule.yaml")
		shellWant(t, s.sh("echo 'listen tcp6 [::1]:0: socket: operation not permitted'; exit 1"), tool.Failed, "[sandbox] The network is off. To open it: sandbox.network: open in ferrule.yaml, or loopback")
		if got := s.sh("touch file; echo 'bash: file: Permission denied' >&2; exit 1").String(); strings.Contains(got, "[sandbox]") {
			t.Errorf("a file of the workspace is none of the sandbox's: %q", got)
		}
	})
	t.Run("N1 a level that cannot be had is not offered, and it says why", func(t *testing.T) {
		sh := builtin.Shell{Workspace: []string{s.dir}, Sandbox: sandbox.Config{Helper: shellHelper, Level: sandbox.Container}}
		_, err := sh.Tools()
		var missing *sandbox.Unavailable
		if !errors.As(err, &missing) || missing.Why == "" {
			t.Errorf("error = %v, want an Unavailable that says why", err)
		}
	})
	t.Run("N3 where nothing isolates, the record does not say that something did", func(t *testing.T) {
		s := shellAt(t, func(sh *builtin.Shell, _ *ferrule.Runtime) {
			sh.Sandbox.Level, sh.Sandbox.Weaker = sandbox.Container, sandbox.InProcess
		})
		shellWant(t, s.sh("ls"), "")
		how := s.said(audit.Isolated)
		if strings.HasPrefix(how, "container") {
			t.Skip("there is an engine here")
		}
		if !strings.HasPrefix(how, "in-process") || strings.Contains(how, "without the right") {
			t.Errorf("isolated: %q", how)
		}
	})
	t.Run("N2 what is configured wrongly is refused", func(t *testing.T) {
		for name, sh := range map[string]builtin.Shell{
			"no workspace":       {},
			"a relative one":     {Workspace: []string{"x"}},
			"one that is a file": {Workspace: []string{s.dir + "/file"}},
			"two workspaces":     {Workspace: []string{s.dir}, Sandbox: sandbox.Config{Workspace: []string{s.dir}}},
			"a limit below zero": {Workspace: []string{s.dir}, Output: -1},
			"no helper":          {Workspace: []string{s.dir}, Sandbox: sandbox.Config{}},
		} {
			if name != "no helper" {
				sh.Sandbox.Helper = shellHelper
			}
			if tools, err := sh.Tools(); err == nil {
				t.Errorf("%s: got %d tools", name, len(tools))
			}
		}
	})
}

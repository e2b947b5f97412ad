package builtin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/tool"
)

// behind starts a line in the background and wants this id. What it had printed
// by then is kept for what follows.
func (s *shellScene) behind(line, id string) {
	s.t.Helper()
	res := s.call("shell", map[string]any{"command": line, "background": true})
	shellWant(s.t, res, "", "["+id+" goes on in the background")
	_, s.sofar, _ = strings.Cut(res.String(), "\n")
}

// prints waits until a process has printed something, and gives all that it has.
func (s *shellScene) prints(id, want string) string {
	s.t.Helper()
	for range 100 {
		if strings.Contains(s.sofar, want) {
			break
		}
		_, text, _ := strings.Cut(s.read(id, "wait", 10), "\n")
		s.sofar += text
	}
	return s.sofar
}

// read reads a process.
func (s *shellScene) read(id string, more ...any) string {
	s.t.Helper()
	in := map[string]any{"id": id}
	for i := 0; i < len(more); i += 2 {
		in[fmt.Sprint(more[i])] = more[i+1]
	}
	return s.call("process_read", in).String()
}

// rest reads a process to its end, and gives what it printed.
func (s *shellScene) rest(id string) string {
	s.t.Helper()
	var all strings.Builder
	all.WriteString(s.sofar)
	s.sofar = ""
	for {
		head, text, _ := strings.Cut(s.read(id, "wait", 30), "\n")
		all.WriteString(text)
		if !strings.Contains(head, "running") && !strings.Contains(head, "there is more") {
			return all.String()
		}
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	t.Run("B3 it is started, listed, read and stopped", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		mark := shellMark(t)
		shellWant(t, s.call("process_list", nil), "", "There are no background processes.")
		s.behind("echo one; echo two >&2; until [ -e go ]; do sleep 0.01; done; echo three; sleep "+mark, "p1")
		if got := s.said(audit.WentOn); got != "p1" {
			t.Errorf("the record says that %q went on", got)
		}
		s.prints("p1", "one\n")
		s.prints("p1", "two\n")
		if got := s.read("p1"); !strings.HasPrefix(got, "[p1 running for ") || !strings.HasSuffix(got, "; read up to 8, nothing new]") {
			t.Errorf("read: %q", got)
		}
		s.write("go", "", 0o644)
		if got := s.read("p1", "wait", 10); !strings.HasSuffix(got, "; read up to 14]\nthree\n") {
			t.Errorf("read: %q", got)
		}
		if got := s.read("p1", "from", 8); !strings.HasSuffix(got, "; read up to 14]\nthree\n") {
			t.Errorf("read again: %q", got)
		}
		if got := s.call("process_list", nil).String(); !strings.HasPrefix(got, "p1: running for ") || !strings.Contains(got, ", 0 bytes to read: echo one;") {
			t.Errorf("list: %q", got)
		}
		shellWant(t, s.call("process_stop", map[string]any{"id": "p1"}), "", "[p1 stopped by signal TERM after ")
		shellGone(t, mark)
		shellWant(t, s.call("process_stop", map[string]any{"id": "p1"}), "", "[p1 stopped by signal TERM after ") // it was before
		if got := s.call("process_list", nil).String(); !strings.HasPrefix(got, "p1: stopped by signal TERM after ") {
			t.Errorf("list: %q", got)
		}
	})
	t.Run("B3 how it ended", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		for i, tt := range []struct{ line, want string }{
			{"echo x", "exit status 0"},
			{"exit 7", "exit status 7"},
			{"kill -KILL $$", "ended by signal KILL"},
		} {
			id := fmt.Sprintf("p%d", i+1)
			s.behind(tt.line, id)
			s.rest(id)
			if got := s.read(id); !strings.HasPrefix(got, "["+id+" "+tt.want+" after ") {
				t.Errorf("%s: %q, want %s", tt.line, got, tt.want)
			}
		}
	})
	t.Run("B3 one that ignores the signal is killed with all that it started", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		mark := shellMark(t)
		s.behind("trap '' TERM; setsid nohup sleep "+mark+" & echo on; while :; do sleep "+mark+"; done", "p1")
		s.prints("p1", "on\n")
		shellWant(t, s.call("process_stop", map[string]any{"id": "p1"}), "", "[p1 stopped by signal KILL after ")
		shellGone(t, mark)
	})
	t.Run("B3 lines that match a pattern, whole ones only", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		s.behind("printf 'a1\\nb2\\nhalf a'; until [ -e go ]; do sleep 0.01; done; printf ' line a\\na9'", "p1")
		s.prints("p1", "half")
		if _, got, _ := strings.Cut(s.read("p1", "from", 0, "pattern", "^a|half"), "\n"); got != "a1\n" {
			t.Errorf("lines: %q", got)
		}
		s.write("go", "", 0o644)
		s.rest("p1")
		if _, got, _ := strings.Cut(s.read("p1", "from", 0, "pattern", "^a|half"), "\n"); got != "a1\nhalf a line a\na9" {
			t.Errorf("lines: %q", got)
		}
		shellWant(t, s.call("process_read", map[string]any{"id": "p1", "pattern": "("}), tool.InvalidValue, "pattern: ")
	})
	t.Run("B3 only the last of much output is kept, and it says so", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, func(sh *builtin.Shell, _ *ferrule.Runtime) { sh.Kept, sh.Output = 1000, 100 })
		s.behind("for ((i = 0; i < 10000; i++)); do echo $((100000 + i)); done", "p1")
		s.rest("p1")
		got := s.read("p1", "from", 0)
		if !strings.Contains(got, "\n[69000 bytes before this are gone]\n09857\n109858\n") || !strings.HasSuffix(got, "\n109999\n") {
			t.Errorf("read: %.100q … %q", got, got[len(got)-30:])
		}
	})
	t.Run("B3 a long output is read in pages, of which none is lost", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		s.behind("seq 1 30000", "p1")
		if got := strings.Fields(s.rest("p1")); len(got) != 30000 || got[29999] != "30000" || got[15000] != "15001" {
			t.Errorf("got %d lines", len(got))
		}
	})
	t.Run("B3 two reads at once share what there is", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		s.behind("for ((i = 0; i < 500; i++)); do echo é$i; sleep 0.001; done", "p1")
		var mu sync.Mutex
		lines := strings.Count(s.sofar, "\n")
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				reader := &shellScene{t: t, session: s.session}
				text := reader.rest("p1")
				mu.Lock()
				defer mu.Unlock()
				lines += strings.Count(text, "\n")
				if strings.ContainsRune(text, '\uFFFD') {
					t.Error("a character was torn")
				}
			})
		}
		readers.Wait()
		if lines != 500 {
			t.Errorf("got %d lines, want 500", lines)
		}
	})
	t.Run("B3 not more than were allowed at once", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, func(sh *builtin.Shell, _ *ferrule.Runtime) { sh.Background = 2 })
		mark := shellMark(t)
		s.behind("sleep "+mark, "p1")
		s.behind("sleep "+mark, "p2")
		shellWant(t, s.call("shell", map[string]any{"command": "touch ran", "background": true}), tool.Failed, "not started", "want at most 2", "process_stop")
		if s.sh("true"); s.said(audit.WentOn) != "p2" || s.there("ran") {
			t.Error("the third was started all the same")
		}
		s.call("process_stop", map[string]any{"id": "p1"})
		s.behind("sleep "+mark, "p3")
	})
	t.Run("B3 a session that ended under a call leaves its name free", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		ended, end := context.WithCancel(t.Context())
		end()
		s.hear = func(e audit.Event) { // before the tool has a session of its own
			if e.Kind == audit.Started && s.session.Close(ended) == nil {
				t.Error("it was closed although a call runs")
			}
		}
		shellWant(t, s.sh("touch ran"), tool.Failed, "The session has ended.")
		s.hear = nil
		if err := s.session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.session = s.rt.Session(tool.Caller{Session: "one"})
		shellWant(t, s.sh("ls"), "")
		if s.there("ran") {
			t.Error("a command of a session that had ended ran")
		}
	})
	t.Run("B3 another session sees nothing of it", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		mark := shellMark(t)
		s.behind("sleep "+mark, "p1")
		for _, c := range []tool.Caller{{Session: "two"}, {Session: "one", Principal: "eve"}, {Session: "one", Tenant: "other"}} {
			other := &shellScene{t: t, session: s.rt.Session(c)}
			shellWant(t, other.call("process_list", nil), "", "There are no background processes.")
			for _, name := range []string{"process_read", "process_stop"} {
				shellWant(t, other.call(name, map[string]any{"id": "p1"}), tool.InvalidValue, "there is none in this session")
			}
		}
		shellWant(t, s.call("process_read", map[string]any{"id": "p9"}), tool.InvalidValue, `got "p9", want one of p1`)
		if len(shellAlive(t, mark)) == 0 {
			t.Error("another session ended it")
		}
	})
}

func TestProcessMoved(t *testing.T) {
	t.Parallel()
	t.Run("B3 the host moves a running call", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, func(sh *builtin.Shell, _ *ferrule.Runtime) { sh.Timeout, sh.Output = 3e9, 10 })
		started := make(chan string, 1)
		var once sync.Once
		s.hear = func(e audit.Event) {
			if e.Kind == audit.Updated {
				once.Do(func() { started <- e.Request.ID })
			}
		}
		turn := s.session.View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{})
		turn.Add(tool.Call{Name: "shell", Input: json.RawMessage(`{"command":"echo first; until [ -e go ]; do sleep 0.01; done; sleep 3; echo many more than ten bytes"}`)})
		moved := make(chan bool, 1)
		go func() { moved <- turn.Background(<-started) }()
		res := turn.Wait()
		if !<-moved {
			t.Error("it could not be moved")
		}
		shellWant(t, res[0], "", "[p1 goes on in the background: process_read gives its output, process_stop ends it]\nfirst\n")
		s.write("go", "", 0o644)
		// The limits of the call are no longer its own.
		if got := s.rest("p1"); got != "many more than ten bytes\n" {
			t.Errorf("it went on with %q", got)
		}
		if got := s.read("p1"); !strings.HasPrefix(got, "[p1 exit status 0 ") {
			t.Errorf("it ended so: %q", got)
		}
	})
	t.Run("B3 of much that it printed before, a page is told and the rest is read", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		printed := filepath.Join(s.dir, "printed")
		if err := syscall.Mkfifo(printed, 0o600); err != nil {
			t.Fatal(err)
		}
		started := make(chan string, 1)
		var once sync.Once
		s.hear = func(e audit.Event) {
			if e.Kind == audit.Started {
				once.Do(func() { started <- e.Request.ID })
			}
		}
		turn := s.session.View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{})
		// More than a result may have, even without what a pipe holds.
		turn.Add(tool.Call{Name: "shell", Input: json.RawMessage(`{"command":"seq 1 30000; echo > printed; until [ -e go ]; do sleep 0.01; done"}`)})
		if _, err := os.ReadFile(printed); err != nil {
			t.Fatal(err)
		}
		if !turn.Background(<-started) {
			t.Error("it could not be moved")
		}
		_, s.sofar, _ = strings.Cut(turn.Wait()[0].String(), "\n")
		s.write("go", "", 0o644)
		if got := strings.Fields(s.rest("p1")); len(got) != 30000 || got[29999] != "30000" || got[15000] != "15001" {
			t.Errorf("got %d lines", len(got))
		}
	})
}

func TestProcessLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*shellScene) error{
		"B3 the session ends": func(s *shellScene) error { return s.session.Close(context.WithoutCancel(s.t.Context())) },
		"B3 the runtime ends": func(s *shellScene) error { return s.rt.Close(context.WithoutCancel(s.t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shellAt(t, nil)
			mark := shellMark(t)
			s.behind("trap '' TERM HUP; setsid nohup sleep "+mark+" & echo $TMPDIR; while :; do sleep "+mark+"; done", "p1")
			tmp := s.prints("p1", "\n")
			s.behind("sleep "+mark, "p2")
			if len(shellAlive(t, mark)) < 2 {
				t.Fatal("nothing runs")
			}
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			if left := shellAlive(t, mark); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
			if _, err := os.Stat(strings.TrimSpace(tmp)); err == nil || tmp == "" {
				t.Errorf("%q is left", tmp)
			}
		})
	}
	t.Run("N1 principals do not share a home, their sessions do", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, func(sh *builtin.Shell, _ *ferrule.Runtime) { sh.Sandbox.State = shellFolder(t) })
		s.sh("echo mine > ~/x")
		for _, tt := range []struct {
			caller tool.Caller
			want   string
		}{{tool.Caller{Session: "two"}, "mine\n"}, {tool.Caller{Session: "two", Principal: "eve"}, ""}, {tool.Caller{Session: "two", Tenant: "other"}, ""}} {
			other := &shellScene{t: t, session: s.rt.Session(tt.caller)}
			if got := tool.TextOf(other.sh("cat ~/x 2>/dev/null").Content); got != tt.want {
				t.Errorf("%+v: got %q, want %q", tt.caller, got, tt.want)
			}
		}
	})
	t.Run("B3 a session of the same name begins anew", func(t *testing.T) {
		t.Parallel()
		s := shellAt(t, nil)
		s.behind("sleep "+shellMark(t), "p1")
		if err := s.session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.session = s.rt.Session(tool.Caller{Session: "one"})
		shellWant(t, s.call("process_list", nil), "", "There are no background processes.")
		shellWant(t, s.sh("echo works"), "", "works")
	})
	t.Run("B3 the host is killed", func(t *testing.T) {
		t.Parallel()
		mark := shellMark(t)
		host := exec.Command(os.Args[0])
		host.Env = append(os.Environ(), "FERRULE_TEST_DIR="+t.TempDir(),
			`FERRULE_TEST_LINE={"command":"trap '' TERM; setsid sleep `+mark+` & while :; do sleep `+mark+`; done","background":true}`)
		out, err := host.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if !strings.HasPrefix(line, "[p1 goes on") {
			t.Errorf("the host says %q (%v)", line, err)
		}
		shellUntil(t, "both run", func() bool { return len(shellAlive(t, "sleep\x00"+mark)) >= 2 })
		_ = host.Process.Kill()
		_ = host.Wait() // it was killed
		shellGone(t, mark)
	})
}

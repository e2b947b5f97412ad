package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// shellScene is a workspace, the shell's tools in it, and a session of a runtime
// that lets everything run.
type shellScene struct {
	t       *testing.T
	dir     string
	rt      *ferrule.Runtime
	session *ferrule.Session
	sofar   string // what a process in the background has printed; see prints

	mu     sync.Mutex
	events []audit.Event
	hear   func(audit.Event)
}

// shellAt makes a scene; change may set what it likes before the tools are made.
func shellAt(t *testing.T, change func(*builtin.Shell, *ferrule.Runtime)) *shellScene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &shellScene{t: t, dir: dir}
	s.rt = &ferrule.Runtime{Policy: policy.AllowOwn{}, Observe: s.observe, Workspace: dir}
	sh := builtin.Shell{Workspace: []string{dir}}
	sh.Sandbox.Helper = shellHelper
	if change != nil {
		change(&sh, s.rt)
	}
	tools, err := sh.Tools()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.rt.Add(tools...); err != nil {
		t.Fatal(err)
	}
	s.session = s.rt.Session(tool.Caller{Session: "one"})
	t.Cleanup(func() {
		if err := s.rt.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *shellScene) observe(e audit.Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	hear := s.hear
	s.mu.Unlock()
	if hear != nil {
		hear(e)
	}
}

// said is the text of the last event of a kind.
func (s *shellScene) said(kind audit.Kind) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(s.events) {
		if e.Kind == kind {
			return e.Text
		}
	}
	return ""
}

// sh runs a line.
func (s *shellScene) sh(line string) tool.Result {
	return s.call("shell", map[string]any{"command": line})
}

func (s *shellScene) call(name string, in map[string]any) tool.Result {
	s.t.Helper()
	if in == nil {
		in = map[string]any{}
	}
	text, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.session.Call(s.t.Context(), name, string(text))
}

// write makes a file of the workspace.
func (s *shellScene) write(name, text string, mode os.FileMode) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// there reports whether the workspace has a file.
func (s *shellScene) there(name string) bool {
	_, err := os.Lstat(filepath.Join(s.dir, name))
	return err == nil
}

// shellFolder is a folder for a test that does not lie in /tmp, of which a sandbox
// then makes a private one.
func shellFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "ferrule-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// shellMark is a number of seconds to sleep that no other test has: so its
// process can be found.
func shellMark(t *testing.T) string {
	t.Helper()
	sum := 0
	for _, c := range t.Name() {
		sum = (sum*31 + int(c)) % 100_000_000
	}
	return fmt.Sprintf("1%d.%08d", os.Getpid(), sum)
}

// shellAlive are the processes that have a mark in their command line, whatever
// namespace they are in.
func shellAlive(t *testing.T, mark string) []int {
	t.Helper()
	all, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && bytes.Contains(line, []byte(mark)) {
			found = append(found, pid)
		}
	}
	return found
}

// shellUntil waits until something holds, and says what if it does not.
func shellUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(15 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("after 15 s not so: %s", what)
		}
	}
}

// shellGone waits until no process has the mark.
func shellGone(t *testing.T, mark string) {
	t.Helper()
	shellUntil(t, "no process is left of sleep "+mark, func() bool { return len(shellAlive(t, mark)) == 0 })
}

func shellWant(t *testing.T, res tool.Result, kind tool.Kind, texts ...string) {
	t.Helper()
	got := tool.Kind("")
	if res.Err != nil {
		got = res.Err.Kind
	}
	if got != kind {
		t.Errorf("kind = %q, want %q: %s", got, kind, res)
	}
	for _, text := range texts {
		if !strings.Contains(res.String(), text) {
			t.Errorf("result = %q, want %q in it", res.String(), text)
		}
	}
}

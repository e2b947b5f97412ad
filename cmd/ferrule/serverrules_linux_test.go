package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/sandbox"
)

// probed is what can be had on this machine: to say so starts a process at each level.
var probed = sync.OnceValue(func() []sandbox.Support { return sandbox.Probe(helper) })

// available skips a test where a level cannot be had.
func available(t *testing.T, level sandbox.Level) {
	t.Helper()
	for _, s := range probed() {
		if s.Level == level && !s.Available {
			t.Skip(s.Why)
		}
	}
}

func TestIsolatedServer(t *testing.T) {
	t.Parallel()
	for _, level := range []sandbox.Level{sandbox.Process, sandbox.Namespace} {
		t.Run("N1 "+string(level), func(t *testing.T) {
			t.Parallel()
			available(t, level)
			var network net.ListenConfig
			listener, err := network.Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			dir, outside := t.TempDir(), t.TempDir()
			rules := fmt.Sprintf(`
policy: {allow: ["source:test"]}
servers:
  test:
    command: %q
    env: {%s: %s}
    env_pass: [PASSED, "MORE_*", NOT_THERE]
    isolate: %s
`, serverProgram(t), beServer, actingServer, level)
			write(t, filepath.Join(dir, "ferrule.yaml"), rules)
			run := func(args ...string) (string, int) {
				var out, errs safe
				p := &program{
					stdin: strings.NewReader(""), stdout: &out, stderr: &errs, dir: dir, now: time.Now, helper: helper, patience: time.Minute,
					environ: []string{"PASSED=yes", "MORE_OF=it", "OTHER=no"},
				}
				code := p.run(t.Context(), args)
				return out.String() + errs.String(), code
			}
			for _, tt := range []struct {
				name, tool, text string
				want             string // in the result
			}{
				{"N1 it writes in the workspace", "write", filepath.Join(dir, "inside"), "<nil>"},
				{"N1 it does not write outside", "write", filepath.Join(outside, "x"), "outside"},
				{"N1 it does not change the rules", "write", filepath.Join(dir, "ferrule.yaml"), "ferrule.yaml"},
				{"N1 it has no network", "dial", listener.Addr().String(), "dial tcp"},
				{"N2 it is given what is passed on by name", "env", "PASSED", "yes"},
				{"N2 and by the beginning of its name", "env", "MORE_OF", "it"},
				{"N2 it is not given the rest", "env", "OTHER", "no output"},
				{"N1 its home is its own", "env", "HOME", filepath.Join(isolatedDir, "test", "home")},
			} {
				want := tt.want
				if want == "outside" {
					want = outside
				}
				text, code := run("call", "test__"+tt.tool, fmt.Sprintf(`{"text":%q}`, tt.text))
				if code != 0 || !strings.Contains(text, want) || want != "<nil>" && strings.Contains(text, "<nil>") {
					t.Errorf("%s: got %d, %q, want %q", tt.name, code, text, want)
				}
			}
			if text, err := os.ReadFile(filepath.Join(dir, "ferrule.yaml")); err != nil || string(text) != rules {
				t.Errorf("N1: the rules are %q, %v", text, err)
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
				t.Errorf("N1: got %v, %v, want nothing outside", left, err)
			}
			if text, _ := run("audit", "list", "--kind", "isolated", "--json"); !strings.Contains(text, string(level)+", network off (") {
				t.Errorf("N3: got %s, want how it was isolated", text)
			}
			text, code := run("servers")
			for _, want := range []string{"test  ready", "test: isolated: " + string(level) + ", network off (", "test: note: env_pass: NOT_THERE is not set"} {
				if code != 0 || !strings.Contains(text, want) {
					t.Errorf("N1: got %d, %s, want %q", code, text, want)
				}
			}
		})
	}
}

func TestIsolatedServerEnds(t *testing.T) {
	t.Parallel()
	available(t, sandbox.Process)
	for _, tt := range []struct {
		name string
		ends os.Signal
	}{
		{"M1 no isolated server outlives an up that is killed", os.Kill},
		{"M1 no isolated server outlives an up that is stopped", os.Interrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHolders(t)
			dir := stubbornFolder(t, h, fmt.Sprintf(", isolate: {level: process, write: [%q]}", filepath.Dir(h.path)))
			cmd, out, errs := realProgram(t, dir, nil, "up", "--address", "127.0.0.1:0")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			h.wantStarted(t, 2)
			out.find(t, `server test: ready`)
			if err := cmd.Process.Signal(tt.ends); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed, or not
			if t.Failed() {
				t.Log(errs)
			}
			h.wantGone(t)
		})
	}
}

func TestBox(t *testing.T) {
	t.Parallel()
	missing := &sandbox.Unavailable{Level: sandbox.Namespace, Why: "bwrap is not installed"}
	t.Run("N2 what cannot be had names the key that says what will do", func(t *testing.T) {
		t.Parallel()
		err := (&box{server: "files"}).unsafe(missing)
		want := "sandbox: level namespace cannot be had here: bwrap is not installed; servers.files.isolate.weaker in ferrule.yaml says what will do instead"
		if err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
	t.Run("N1 a workspace that is not there", func(t *testing.T) {
		t.Parallel()
		b := &box{server: "files", config: sandbox.Config{Helper: helper, Workspace: []string{"/no/such/folder"}}}
		if _, _, err := b.get(); err == nil || !strings.HasPrefix(err.Error(), "sandbox: workspace: ") {
			t.Errorf("got %v, want what is wrong", err)
		}
	})
	t.Run("N1 a box that is closed starts nothing", func(t *testing.T) {
		t.Parallel()
		b := &box{server: "files", config: sandbox.Config{Helper: helper, Workspace: []string{t.TempDir()}}}
		if err := b.close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.get(); err == nil {
			t.Error("got a box, want none")
		}
	})
}

// TestIsolatedServerWeaker is not run beside others: it takes PATH away, and so
// bubblewrap.
func TestIsolatedServerWeaker(t *testing.T) {
	available(t, sandbox.Process)
	dir := t.TempDir()
	rules := func(isolate string) {
		write(t, filepath.Join(dir, "ferrule.yaml"), fmt.Sprintf(`
policy: {allow: ["source:test"]}
servers: {test: {command: %q, env: {%s: "1"}%s}}
`, serverProgram(t), beServer, isolate))
	}
	call := func() (string, int) {
		out, errs, code := try(t.Context(), dir, "call", "test__echo", `{"text":"it"}`)
		return out + errs, code
	}
	rules("") // so that its tools are known
	if text, code := call(); code != 0 {
		t.Fatal(text)
	}
	t.Setenv("PATH", t.TempDir())
	const lacks = "the program bwrap (bubblewrap) is not installed"
	for _, tt := range []struct {
		name, isolate string
		code          int
		want          string // of the call
		servers       string
	}{
		{
			"N2 the call fails with sandbox", "namespace", statusToolFailed, "sandbox",
			"level namespace cannot be had here: " + lacks + "; servers.test.isolate.weaker in ferrule.yaml says what will do instead",
		},
		{
			"N2 unless a weaker level will do", "{level: namespace, weaker: process}", 0, "it",
			`; missing: level "namespace" was wanted: ` + lacks,
		},
		{
			"N2 or none", "{level: namespace, weaker: in-process}", 0, "it",
			`test: isolated: in-process, which is no isolation; missing: level "namespace" was wanted: ` + lacks,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules(", isolate: " + tt.isolate)
			if text, code := call(); code != tt.code || !strings.Contains(text, tt.want) {
				t.Errorf("got %d, %s, want %d and %q", code, text, tt.code, tt.want)
			}
			if text, errs, _ := try(t.Context(), dir, "servers"); !strings.Contains(text, tt.servers) {
				t.Errorf("got %s%s, want %q", text, errs, tt.servers)
			}
		})
	}
}

package builtin_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

// shellOnly is the tool shell with a Run that only counts.
func shellOnly(t *testing.T, sh builtin.Shell, runs *int) *tool.Tool {
	t.Helper()
	sh.Sandbox.Helper, sh.Sandbox.State = shellHelper, shellFolder(t)
	tools, err := sh.Tools()
	if err != nil {
		t.Fatal(err)
	}
	d := *tools[0]
	run := func(tool.Args) (tool.Result, error) {
		*runs++
		return tool.Result{Content: []tool.Content{tool.Text("ran")}}, nil
	}
	d.Run = shellRunOf(run)
	checked, err := d.Check()
	if err != nil {
		t.Fatal(err)
	}
	return checked
}

func shellArgs(t *testing.T, d *tool.Tool, in map[string]any) tool.Args {
	t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	args, err := d.Admit(text)
	if err != nil {
		t.Fatal(err)
	}
	return args
}

func TestShellClaims(t *testing.T) {
	t.Parallel()
	dir := shellFolder(t)
	for _, name := range []string{"a.txt", "b.txt", "sub/c.txt"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"inside": "a.txt", "outside": "/etc/passwd", "dangling": "later.txt"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	runs := 0
	shut := shellOnly(t, builtin.Shell{Workspace: []string{dir}}, &runs)
	open := shellOnly(t, builtin.Shell{Workspace: []string{dir}, Sandbox: sandbox.Config{Network: sandbox.Open}}, &runs)
	const none = "none"
	for _, tt := range []struct {
		line    string
		want    string // r: ReadOnly, l: Local, o: Local also where the network is open
		touches string // of the shut one
	}{
		{"cat a.txt", "rlo", "a.txt"},
		{"cat a.txt sub/c.txt", "rlo", "a.txt sub/c.txt"},
		{"cat inside", "rlo", "a.txt"},
		{"cat outside", "rlo", none},
		{"cat dangling", "rlo", none},
		{"cat nothere.txt", "rlo", none},
		{"cat ../x", "rlo", none},
		{"cat ~/x", "rlo", none},
		{"ls", "rlo", none},
		{"ls sub", "rlo", none},
		{"cd sub && cat a.txt", "rlo", none},
		{"(cd sub; cat a.txt)", "rlo", none},
		{"cat a.txt; cd sub", "rlo", none},
		{"pushd sub; cat a.txt", "l", none},
		{"popd; cat a.txt", "l", none},
		{"builtin cd sub; cat a.txt", "rlo", none},
		{"command cd sub; cat a.txt", "rlo", none},
		{"git status", "rlo", none},
		{"rm a.txt", "l", "*"},
		{"echo x > new.txt", "l", "*"},
		{"echo x > dangling", "l", none},
		{"echo x > outside", "l", none},
		{"go test ./...", "l", none},
		{"curl https://example.com", "l", none},
		{"cat a.txt; rm b.txt", "l", "*"},
		{"cat $(rm a.txt)", "l", "*"},
		{"cat 'a.txt", "l", none},
	} {
		t.Run("I2 "+tt.line, func(t *testing.T) {
			in := map[string]any{"command": tt.line}
			c, err := shut.ClaimsFor(shellArgs(t, shut, in))
			if err != nil {
				t.Fatal(err)
			}
			wide, err := open.ClaimsFor(shellArgs(t, open, in))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range []struct {
				letter string
				set    bool
			}{{"r", c.ReadOnly}, {"l", c.Local}, {"o", wide.Local}} {
				if f.set {
					got += f.letter
				}
			}
			if c.Reversible || c.Idempotent || c.Parallel {
				t.Errorf("claims %+v: no line can be undone, or run twice", c)
			}
			if got != tt.want && tt.want != "*" {
				t.Errorf("claims %q, want %q", got, tt.want)
			}
			touches := none
			if c.Touches != nil {
				var names []string
				for _, a := range c.Touches {
					names = append(names, strings.TrimPrefix(a.Resource, "file:"+dir+"/"))
				}
				touches = strings.Join(names, " ")
			}
			if touches != tt.touches && tt.touches != "*" {
				t.Errorf("touches %q, want %q", touches, tt.touches)
			}
			in["background"] = true
			if c, _ = shut.ClaimsFor(shellArgs(t, shut, in)); c.ReadOnly || c.Touches != nil {
				t.Errorf("in the background it claims %+v: it outlasts its call", c)
			}
		})
	}
	t.Run("I2 where nothing isolates, the judgement counts for named files of the workspace only", func(t *testing.T) {
		plain := shellOnly(t, builtin.Shell{Workspace: []string{dir}, Sandbox: sandbox.Config{Level: sandbox.Container, Weaker: sandbox.InProcess}}, &runs)
		for line, want := range map[string]bool{"cat a.txt": true, "echo hello": true, "cat /etc/passwd": false, "cat ~/.ssh/id_rsa": false, "ls": false, "rm a.txt": false} {
			c, err := plain.ClaimsFor(shellArgs(t, plain, map[string]any{"command": line}))
			if err != nil || c.ReadOnly != want {
				t.Errorf("%s: read-only %v, want %v (%v)", line, c.ReadOnly, want, err)
			}
		}
	})
	t.Run("P10 confined: with the network shut, writing only in the workspace, all of it enforced", func(t *testing.T) {
		for _, tt := range []struct {
			name string
			sh   builtin.Shell
			want bool
		}{
			{"process", builtin.Shell{}, true},
			{"a loopback of its own", builtin.Shell{Sandbox: sandbox.Config{Network: sandbox.Loopback}}, true},
			{"a further folder of the workspace", builtin.Shell{Sandbox: sandbox.Config{Write: []string{dir + "/sub"}}}, true},
			{"an open network", builtin.Shell{Sandbox: sandbox.Config{Network: sandbox.Open}}, false},
			{"a folder outside", builtin.Shell{Sandbox: sandbox.Config{Write: []string{t.TempDir()}}}, false},
			{"less than was wanted", builtin.Shell{Sandbox: sandbox.Config{Level: sandbox.Container, Weaker: sandbox.Process}}, false},
			{"a workspace in /tmp, which then is not private but shut", builtin.Shell{Workspace: []string{t.TempDir()}}, true},
			{"no isolation", builtin.Shell{Sandbox: sandbox.Config{Level: sandbox.Container, Weaker: sandbox.InProcess}}, false},
		} {
			if tt.sh.Workspace == nil {
				tt.sh.Workspace = []string{dir}
			}
			d := shellOnly(t, tt.sh, &runs)
			f, err := shellArgs(t, d, map[string]any{"command": "rm a.txt"}).Facts()
			if err != nil || f.Confined != tt.want {
				t.Errorf("%s: confined %v, want %v (%v)", tt.name, f.Confined, tt.want, err)
			}
		}
	})
	t.Run("P10 auto lets what destroys run where it is confined, and asks elsewhere", func(t *testing.T) {
		for _, d := range []*tool.Tool{shut, open} {
			runs = 0
			rt := &ferrule.Runtime{Mode: policy.ModeAuto, Workspace: dir}
			if err := rt.Add(d); err != nil {
				t.Fatal(err)
			}
			rt.Session(tool.Caller{}).Call(t.Context(), "shell", `{"command":"rm a.txt"}`)
			if (runs == 1) != (d == shut) {
				t.Errorf("ran %d times, confined %v", runs, d == shut)
			}
		}
	})
	t.Run("I2 the preview is the line, where and how it runs, and what it was judged to be", func(t *testing.T) {
		for line, want := range map[string]string{
			"rm a.txt":  "rm a.txt\nin " + dir + "/sub, isolated: process, network off\nit may change something: rm",
			"cat a.txt": "\nit only reads: it runs without the right to write",
		} {
			got, err := shut.Preview(t.Context(), shellArgs(t, shut, map[string]any{"command": line, "dir": "sub", "description": "tidy\nup"}))
			if err != nil || !strings.HasPrefix(got, "# tidy up\n"+line+"\n") || !strings.Contains(got, want) {
				t.Errorf("preview: %q (%v)", got, err)
			}
		}
	})
}

func TestProcessClaims(t *testing.T) {
	t.Parallel()
	tools, err := builtin.Shell{Workspace: []string{t.TempDir()}, Sandbox: sandbox.Config{Helper: shellHelper}}.Tools()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"shell":        "unsafe external-stateful",
		"process_list": "read-only read-only",
		"process_read": "read-only read-only",
		"process_stop": "write side-effecting",
	}
	for _, d := range tools {
		t.Run("I3 "+d.Name, func(t *testing.T) {
			if got := fmt.Sprint(d.Claims.Class(), " ", d.Claims.SideEffect()); got != want[d.Name] {
				t.Errorf("%s is %s, want %s", d.Name, got, want[d.Name])
			}
		})
	}
	if len(tools) != len(want) {
		t.Errorf("got %d tools, want %d", len(tools), len(want))
	}
}

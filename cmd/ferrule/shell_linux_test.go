package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/sandbox"
)

func TestShellCalls(t *testing.T) {
	t.Parallel()
	available(t, sandbox.Process)
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, filepath.Join(dir, "a.txt"), "text\n")
	const rules = "policy: {allow: [shell]}\nsandbox: {env: [GREETING, A=b]}\n"
	write(t, filepath.Join(dir, "ferrule.yaml"), rules)
	for _, tt := range []struct {
		name, command string
		code          int
		want          string // in what is printed
	}{
		{"I2 a command runs", "cat a.txt", 0, "text"},
		{"I2 its exit status is that of a tool which failed", "echo so; exit 3", statusToolFailed, "exit status 3"},
		{"N1 it cannot write outside", "echo x > " + outside, statusToolFailed, ""},
		{"N1 it cannot change the rules", "echo x > ferrule.yaml", statusToolFailed, ""},
		{"N1 it cannot read the state", "cat .ferrule/ferrule.db", statusToolFailed, ""},
		{"N1 what failed says no more than the command did", "exit 3", statusToolFailed, "ferrule: shell: failed: [exit status 3]\n"},
		{"N1 what is protected is no key of the configuration", "echo x >> ferrule.yaml", statusToolFailed, "ferrule.yaml is protected: commands read it and cannot change it. A person can.\n"},
		{"N1 they have a loopback of their own", "exec 3<>/dev/tcp/127.0.0.1/9", statusToolFailed, "Connection refused"},
		{"N1 variables are passed on by name", "echo $GREETING $A", 0, "hello b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs safe
			p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, dir: dir, now: time.Now, helper: helper, environ: []string{"GREETING=hello"}}
			code := p.run(t.Context(), []string{"call", "shell", `{"command":"` + tt.command + `"}`})
			if code != tt.code || !strings.Contains(out.String()+errs.String(), tt.want) {
				t.Errorf("got %d, %s%s, want %d and %q", code, out.String(), errs.String(), tt.code, tt.want)
			}
		})
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("N1: a file outside was written")
	}
	if text, err := os.ReadFile(filepath.Join(dir, "ferrule.yaml")); err != nil || string(text) != rules {
		t.Errorf("N1: the rules are %q, %v", text, err)
	}
	t.Run("B3 what runs in the background ends with the call", func(t *testing.T) {
		mark := "ferrule-test-" + filepath.Base(filepath.Dir(dir)) + "-" + filepath.Base(dir)
		stdout, stderr, code := tryCall(t.Context(), dir, nil, "call", "shell", `{"command":"exec -a `+mark+` sleep 1000","background":true}`)
		if code != 0 {
			t.Fatalf("got %d, %s%s", code, stdout, stderr)
		}
		if left := processes(t, mark); len(left) > 0 {
			t.Errorf("got %v, want none left", left)
		}
	})
	t.Run("U1 how it was isolated is on the record", func(t *testing.T) {
		stdout, _, code := try(t.Context(), dir, "audit", "list", "--kind", "isolated")
		if code != 0 || !strings.Contains(stdout, "process, a loopback of its own (landlock") {
			t.Errorf("got %d, %s", code, stdout)
		}
	})
}

// processes are those that have a text in their command line.
func processes(t *testing.T, mark string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if text, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(text), mark) {
			found = append(found, name)
		}
	}
	return found
}

func TestSandboxOf(t *testing.T) {
	t.Parallel()
	t.Run("N1 the sandbox is as the configuration says", func(t *testing.T) {
		t.Parallel()
		c, err := config.Parse("f.yaml", "/work", `
policy: {files: [rules.cedar]}
sandbox: {level: namespace, weaker: in-process, network: loopback, read: [/opt], write: [out], memory: 1G, processes: 5, files: 6, image: i, env: [SET, EMPTY, A=b]}
`)
		if err != nil {
			t.Fatal(err)
		}
		c.File = "/work/f.yaml" // as load says it
		p := &program{dir: "/work", environ: []string{"SET=1", "EMPTY="}}
		s := p.sandboxOf(c, "/work/.ferrule")
		if s.Level != sandbox.Namespace || s.Weaker != sandbox.InProcess || s.Network != sandbox.Loopback || s.Image != "i" || s.State != "/work/.ferrule/sandbox" {
			t.Errorf("got %+v", s)
		}
		if want := (sandbox.Limits{Memory: 1 << 30, Processes: 5, Files: 6}); s.Limits != want {
			t.Errorf("got %+v, want %+v", s.Limits, want)
		}
		for _, tt := range []struct{ got, want []string }{
			{s.Read, []string{"/opt"}},
			{s.Write, []string{"/work/out"}},
			{s.Env, []string{"SET=1", "A=b"}},
			{s.Hidden, []string{"/work/.ferrule"}},
			{s.Protected, []string{"/work/ferrule.yaml", "/work/.git/hooks", "/work/.git/config", "/work/f.yaml", "/work/rules.cedar"}},
		} {
			if !slices.Equal(tt.got, tt.want) {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		}
	})
}

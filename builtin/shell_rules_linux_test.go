package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/undo"
)

func shellRunOf(f func(tool.Args) (tool.Result, error)) func(context.Context, tool.Args) (tool.Result, error) {
	return func(_ context.Context, a tool.Args) (tool.Result, error) { return f(a) }
}

// shellSlips are lines that a rule which allows go test* must not let by.
var shellSlips = []string{
	// Something else beside it.
	"go test; rm -rf x", "go test && rm -rf x", "go test || rm -rf x", "go test & rm -rf x", "go test | sh", "go test |& tee x",
	"go test\nrm -rf x", "go test;rm x", "rm x; go test", "rm x\n\n\ngo test", "go test \\\n; rm x", "{ go test; rm x; }", "(go test; rm x)",
	"if go test; then rm x; fi", "while go test; do rm x; done", "for i in 1; do go test; rm x; done", "case x in x) rm x;; esac; go test",
	"! go test; rm x", "time go test; rm x", "go test # \nrm x", "[[ -n x ]] && rm x; go test", "(( x = 1 )); rm x; go test",
	// Something else inside it.
	"go test $(rm x)", "go test `rm x`", "go test \"$(rm x)\"", "go test ${x:-$(rm x)}", "go test <(rm x)", "go test >(rm x)", "go test $((a[$(rm x)]))",
	"go test \"${x:=`rm x`}\"", "go test <<EOF\n$(rm x)\nEOF", "go test <<< $(rm x)", "go test ${x@P}",
	// Where it writes.
	"go test > x", "go test >> x", "go test 2> x", "go test &> x", "go test >| x", "go test <> x", "go test > /etc/passwd", "go test 3> x",
	// Another go.
	"PATH=/tmp:$PATH go test", "PATH=. go test", "LD_PRELOAD=./x.so go test", "GOFLAGS=-toolexec=./x go test", "BASH_ENV=x go test", "export PATH=.; go test",
	"PATH=.\ngo test", "go() { rm x; }; go test", "function go { rm x; }; go test", "alias go=rm; go test", "alias go=rm\ngo test", "shopt -s expand_aliases\nalias go='rm x #'\ngo test",
	"hash -p ./x go; go test", "enable -f ./x.so go; go test", "./go test", "/tmp/go test", "../go test", "eval go test; rm x",
	"set -- rm x; go test; \"$@\"", "trap 'rm x' EXIT; go test", "source x; go test", ". x; go test", "declare -x GOFLAGS=-exec=x; go test",
	// By way of another program.
	"sudo go test", "env go test", "env -i PATH=. go test", "xargs go test", "sh -c 'go test; rm x'", "bash -c \"go test; rm x\"", "eval 'go test; rm x'", "exec -a go rm test",
	"coproc go test; rm x", "coproc { rm x; }; go test", "nohup rm go test", "find . -exec go test ';' -exec rm x ';'", "timeout 1 rm go test", "nice rm go test",
	// What is computed.
	"$x test", "g$x test", "go $x", "${go} test", "go te$x", "$'go' $x", "go {test,run}", "go t*", "g? test", "go test$x; rm x", "\"$@\" go test", "go $'te\\x73t' ; rm x",
	// What only looks like it.
	"gotest", "go-test", "go testx;rm x", "go\u00a0test", "gо test", "go\ttest;rm x", "go run test", "go -C /tmp run test", "go vet test", "'go test'", "\"go test\" x", "go\\ test", "GO test",
	// What cannot be read.
	"go test '", "go test \"", "go test $(", "go test )", "go test <<EOF", "go test ${", "go test \x01", "go test \u202e", "go test\r\nrm x",
}

func TestShellRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := 0
	d := shellOnly(t, builtin.Shell{Workspace: []string{dir}}, &runs)
	rules, err := cedar.New(cedar.Rules{Allow: []string{"shell(go test*)"}, Workspace: dir})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(t *testing.T, line string) (ran bool) {
		t.Helper()
		runs = 0
		rt := &ferrule.Runtime{Policy: rules, Workspace: dir}
		if err := rt.Add(d); err != nil {
			t.Fatal(err)
		}
		in, err := json.Marshal(map[string]any{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		res := rt.Session(tool.Caller{}).Call(t.Context(), "shell", string(in))
		if runs == 0 && (res.Err == nil || res.Err.Kind != tool.Denied) {
			t.Errorf("%q: %s", line, res)
		}
		return runs > 0
	}
	t.Run("P2 what the rule is about runs", func(t *testing.T) {
		for _, line := range []string{"go test", "go test ./...", "go  test", " go test ", "go test -run 'TestX$' ./a", "go test; go test", "go test ./a && go test ./b", "(go test)", "\"go\" 'test' x", "g\\o test", "go test 2>&1", "go test >/dev/null", "go test | go test"} {
			if !ask(t, line) {
				t.Errorf("%q did not run", line)
			}
		}
	})
	for _, line := range shellSlips {
		t.Run("P2 no slip: "+line, func(t *testing.T) {
			if ask(t, line) {
				t.Errorf("%q was let by", line)
			}
		})
	}
	if len(shellSlips) < 60 {
		t.Errorf("got %d ways, want at least 60", len(shellSlips))
	}
	t.Run("P2 a rule that denies meets what may be it", func(t *testing.T) {
		rules, err := cedar.New(cedar.Rules{Allow: []string{"shell"}, Deny: []string{"shell(rm*)"}, Workspace: dir})
		if err != nil {
			t.Fatal(err)
		}
		rt := &ferrule.Runtime{Policy: rules}
		if err := rt.Add(d); err != nil {
			t.Fatal(err)
		}
		for line, want := range map[string]bool{"go build": true, "rm x": false, "go build; rm x": false, "$x": false, "x=$(rm y)": false, "echo '": false, "xargs rm": false, "sh -c 'rm x'": false} {
			runs = 0
			in, _ := json.Marshal(map[string]any{"command": line})
			rt.Session(tool.Caller{}).Call(t.Context(), "shell", string(in))
			if (runs == 1) != want {
				t.Errorf("%q ran %d times, want %v", line, runs, want)
			}
		}
	})
}

func TestShellWork(t *testing.T) {
	t.Parallel()
	t.Run("P5 twenty edits and ten test runs take one answer", func(t *testing.T) {
		t.Parallel()
		questions := 0
		s := shellAt(t, func(sh *builtin.Shell, rt *ferrule.Runtime) {
			// A stand-in for go: the real one would have to compile its library.
			sh.Sandbox.Env = []string{"PATH=" + sh.Workspace[0] + "/bin:" + os.Getenv("PATH")}
			rt.Policy, rt.Mode = nil, policy.ModeEdit
			rt.Answer = func(_ context.Context, q policy.Question) (policy.Answer, error) {
				questions++
				for _, rule := range q.Offers {
					if strings.HasSuffix(rule, "(go test*)") {
						return policy.Answer{Allow: true, By: "ada", Rule: rule, Second: true}, nil
					}
				}
				t.Errorf("%s: offered %q, want go test* among them", q.Preview, q.Offers)
				return policy.Answer{}, nil
			}
		})
		history, err := undo.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		files, err := builtin.Files{Roots: []string{s.dir}, Undo: history}.Tools()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.rt.Add(files...); err != nil {
			t.Fatal(err)
		}
		s.write("a.go", "package a // 0.\n", 0o644)
		s.write("bin/go", "#!/bin/sh\necho ok $*\n", 0o755)
		for i := range 10 {
			for j := range 2 {
				edit := map[string]any{"old": fmt.Sprintf(" %d.", 2*i+j), "new": fmt.Sprintf(" %d.", 2*i+j+1)}
				shellWant(t, s.call("fs_edit", map[string]any{"path": "a.go", "edits": []any{edit}}), "")
			}
			line := []string{"go test ./...", "go test .", "go test -run TestA ./..."}[i%3]
			shellWant(t, s.sh(line), "", strings.Replace(line, "go", "ok", 1))
		}
		if text, err := os.ReadFile(s.dir + "/a.go"); string(text) != "package a // 20.\n" {
			t.Errorf("after twenty edits: %q (%v)", text, err)
		}
		if questions > 2 {
			t.Errorf("%d questions, want at most 2", questions)
		}
	})
}

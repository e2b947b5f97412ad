package shell_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/shell"
	"github.com/ferrule-dev/ferrule/tool"
)

// asked is a call of a shell tool with a line.
func asked(t *testing.T, line string) *tool.Request {
	t.Helper()
	made, err := tool.Tool{
		Info: tool.Info{Name: "shell", Description: "Runs a command line.", Input: json.RawMessage(`{"type":"object"}`)},
		Facts: func(tool.Args) (tool.Facts, error) {
			return tool.Facts{Commands: shell.Judge(line).Commands, Paths: []string{}, Hosts: []string{}}, nil
		},
		Run: func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil },
	}.Check()
	if err != nil {
		t.Fatal(err)
	}
	args, err := made.Admit(json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	return &tool.Request{Name: "shell", Tool: &made.Info, Args: args}
}

func ruleOf(t *testing.T, text string) policy.Rule {
	t.Helper()
	r, err := policy.ParseRule(text, "/work")
	if err != nil {
		t.Fatalf("ParseRule(%q): %v", text, err)
	}
	return r
}

func TestRuleCovers(t *testing.T) {
	t.Parallel()
	rule := ruleOf(t, "shell(go test*)")
	for _, line := range []string{
		"go test", "go test ./...", "go  test   -run 'X|Y' ./a", "'go' test", `\go test`, "g\"o\" te\\\nst ./...",
		"go test ./a && go test ./b", "go test ./a; go test ./b", "(go test)", "! go test", "time go test ./...", "go test ./... 2>&1", "go test >/dev/null",
		"if go test; then go test -v; fi", "for i in 1 2 3; do go test; done", "LC_ALL=C go test", "go test <<< x", "go test < in.txt", "$'go' test",
	} {
		if !rule.Covers(asked(t, line)) {
			t.Errorf("P2 %v covers %q: got false, want true; commands %q", rule, line, shell.Judge(line).Commands)
		}
	}
}

func TestRuleSlips(t *testing.T) {
	t.Parallel()
	rule := ruleOf(t, "shell(go test*)")
	lines := []string{
		"go test; rm x", "go test && rm x", "go test || rm x", "go test | sh", "go test |& sh", "go test & rm x", "go test &", "go test\nrm x", "rm x; go test", "(go test; rm x)", "{ go test; rm x; }",
		"go test $(rm x)", "go test `rm x`", "go test \"$(rm x)\"", "go test <(rm x)", "go test >(rm x)", "go test ${x:-$(rm y)}", "go test ${x/y/$(rm z)}", "go test <<E\n$(rm x)\nE", "go test <<< $(rm x)",
		"go test > x", "go test >> x", "go test >| x", "go test &> x", "go test 2> x", "go test <> x", "go test >& x", "go test > $x", "go test {fd}> x", "go test < /dev/tcp/a/1", "go test < $x", "go test 1< x > /dev/stdout", "go test 2< x 2> /dev/fd/2",
		"PATH=. go test", "PATH=.; go test", "export PATH=.; go test", "declare PATH=.; go test", "GOFLAGS=-exec=./x go test", "LD_PRELOAD=./x go test", "for PATH in .; do go test; done", "read PATH <<< .; go test", "printf -v PATH .; go test", "BASH_ENV=x; go test", "a=1 b=2 GOFLAGS=x go test",
		"go() { rm x; }; go test", "function go { rm x; }; go test", "alias go=rm; go test", "hash -p ./x go; go test", "enable -f x go; go test", "trap 'rm x' EXIT; go test", "cd /elsewhere && go test", "pushd x; go test", "shopt -s expand_aliases; go test", "set -- x; go test", "source x; go test", ". x; go test",
		"./go test", "/tmp/go test", "$GO test", "${x:-go} test", "{go,rm} test", "g? test", "~/go test", "$(echo go) test", "go $x", "go $x test", "go {test,build}", "go te*",
		"sudo go test", "env go test", "timeout 5 go test", "nice go test", "xargs go test", "bash -c 'go test'", "bash -c 'go test; rm x'", "eval go test", "eval 'go test; rm x'", "exec go test", "command go test", "find . -exec go test {} +", "nohup go test", "time -p rm x; go test", "coproc go test",
		"if rm x; then go test; fi", "while rm x; do go test; done", "case $(rm x) in *) go test;; esac", "[[ $(rm x) ]] && go test", "[[ -v 'a[$(rm x)]' ]] && go test", "[[ 1 -eq 'a[$(rm x)]' ]] && go test", "(( a[$(rm x)] )); go test", "let x=1; go test", "i='x[$(rm y)]'; a[i]=1; go test", "a['x[$(rm y)]']=1; go test", "a=([i]=1); go test", "a[i]+=1 go test", "'go test'", "'go test' x", "echo $((x)); go test", "go test ${!x}", "go test ${x@P}", "go test $((a[$(rm y)]))", "go test !(x)",
		"go", "gotest", "go\u00a0test", "go\rtest", "go test\rrm x", "go test\x00", "go test (", "go test 'x", "go test \"$x\" \xff", "", "# go test", "GO TEST", "go vet", "go -C x test", "test go",
	}
	if len(lines) < 60 {
		t.Fatalf("P2 got %d lines, want at least 60", len(lines))
	}
	for _, line := range lines {
		if rule.Covers(asked(t, line)) {
			t.Errorf("P2 %v covers %q: got true, want false; commands %q", rule, line, shell.Judge(line).Commands)
		}
	}
}

func TestRuleMeets(t *testing.T) {
	t.Parallel()
	deny := ruleOf(t, "shell(rm*)")
	for line, want := range map[string]bool{
		"ls": false, "ls; rm x": true, "sudo rm x": true, "sudo -u root rm x": true, "ls | xargs rm": true, "ls | xargs -n 1 rm -f": true, "find . -exec rm {} +": true, "bash -c 'rm x'": true, "bash -lc 'cd /; rm x'": true,
		"eval 'rm x'": true, "env A=b rm x": true, "timeout 5 rm x": true, "nice -n 5 rm x": true, "nohup rm x &": true, "command rm x": true, "trap 'rm x' EXIT": true, "f() { rm x; }": true, "A=b rm x": true,
		"echo $(rm x)": true, "$x y": true, "ls (": true, "eval $x": true, "bash -c \"$x\"": true, "ls *.go": false, "cat $x": false, "go test \"$x\"": false, "$(echo rm) x": true, "rm $x": true,
	} {
		if got := deny.Meets(asked(t, line)); got != want {
			t.Errorf("P2 %v meets %q: got %v, want %v; commands %q", deny, line, got, want, shell.Judge(line).Commands)
		}
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"go test ./...", []string{"go test ./...", "go test*"}},
		{"git status", []string{"git status", "git status, git status *"}},
		{"ls", []string{"ls"}},
		{"ls -l", []string{"ls -l", "ls *"}},
		{"go test ./a; go test ./b", []string{"go test ./a, go test ./b", "go test*"}},
		{"go vet ./... && git diff", []string{"go vet ./..., git diff", "go vet*, git diff, git diff *"}},
		{"git log --format='%h,%s'", []string{`"git log --format=%h,%s"`, "git log, git log *"}},
		{"go run ./x", []string{"go run ./x"}},
		{"go env GOPATH", []string{"go env GOPATH"}}, // go env -w writes what later calls run
		{"dpkg -l", []string{"dpkg -l"}},             // dpkg -i runs what is in a package
		{"gcc -v", []string{"gcc -v"}},
		{"rg x", []string{"rg x"}}, // rg --pre runs a program
		{"diff3 a b c", []string{"diff3 a b c"}},
		{"systemd-inhibit --list", []string{"systemd-inhibit --list"}},
		{"ip a", []string{"ip a"}},
		{"date -u", []string{"date -u"}},
		{"bash x.sh", []string{"bash x.sh"}},
		{"sudo ls", []string{"sudo ls, ls"}},
		{"npm run x", []string{"npm run x"}},
		{"git -C x log", []string{"git -C x log"}},
		{"git config a b", []string{"git config a b"}},
		{"rm x", []string{"rm x"}},
		{"make all", []string{"make all"}},
		{"./x y", []string{"./x y"}},
		{"ls > x", []string{"> x, ls"}},
		{"go test $x", nil},
		{"ls *.go", nil},
		{"echo 'a b'", nil},
		{"echo '*'", nil},
		{"A=b ls", nil},
		{"ls (", nil},
		{"", nil},
	} {
		got := shell.Scopes(tt.line)
		if !slices.Equal(got, tt.want) {
			t.Errorf("P2 Scopes(%q) = %q, want %q", tt.line, got, tt.want)
		}
		for _, inside := range got {
			if r := ruleOf(t, "shell("+inside+")"); !r.Covers(asked(t, tt.line)) {
				t.Errorf("P2 the scope %v of %q does not cover it", r, tt.line)
			}
		}
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line, want string // words with spaces between, commands with |, computed ones as …
	}{
		{"words are unquoted", `a 'b c' "d"e \f $'g\x68'`, "a b c de f gh"},
		{"a pipe", "a | b", "a|b"},
		{"what is computed", `a $b "c$d" e* {f,g} ~ $(h)`, "a … c… e… …f,g} /… …|h"},
		{"a subshell in a loop", "for i in x; do (a); done", "a"},
		{"sudo", "sudo -u root a b", "sudo -u root a b|a b"},
		{"xargs", "xargs -n 2 a b", "xargs -n 2 a b|a b …"},
		{"find", "find . -exec a {} \\; -exec b {} +", "find . -exec a {} ; -exec b {} +|a …|b …"},
		{"a shell in a shell", `bash -c "sh -c 'a b'"`, "bash -c sh -c 'a b'|sh -c a b|a b"},
		{"eval", "eval a b", "eval a b|a b"},
		{"a redirection", "a > b 2>&1 < c", "> b|a"},
		{"the background", "a &", "&|a"},
		{"a variable", "A=1 b", "A=1 b|b"},
		{"a variable of its own", "a=1", ""},
		{"export", "export A=b", "export A=b"},
		{"a function", "f() { a; }", "function f|a"},
		{"a substitution in a here-document", "a <<E\n$(b)\nE", "a|b"},
		{"nothing", "", ""},
		{"a comment", "# a", ""},
		{"a computed command", "$a b", "unknown"},
		{"a computed script", `bash -c "$a"`, "unknown"},
		{"a script that cannot be read", "bash -c 'a ('", "unknown"},
		{"an expression", "echo $((a))", "unknown"},
		{"not a line", "a (", "unknown"},
	} {
		t.Run("T14 "+tt.name, func(t *testing.T) {
			t.Parallel()
			j := shell.Judge(tt.line)
			got := "unknown"
			if j.Commands != nil {
				lines := make([]string, len(j.Commands))
				for i, words := range j.Commands {
					lines[i] = strings.ReplaceAll(strings.Join(words, " "), "\x00", "…")
				}
				got = strings.Join(lines, "|")
			}
			if got != tt.want {
				t.Errorf("Judge(%q).Commands = %s, want %s", tt.line, got, tt.want)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	known := func(paths []string) string {
		if paths == nil {
			return "unknown"
		}
		return strings.Join(paths, " ")
	}
	for _, tt := range []struct{ line, reads, writes string }{
		{"cat a b", "a b", ""},
		{"ls", ".", ""},
		{"head -n 5 a", "a", ""},
		{"grep -rn x src", "src", ""},
		{"grep -r x", ".", ""},
		{"grep -e x a", "a", ""},
		{"cat < a | wc -l", "a", ""},
		{"echo x > a", "", "a"},
		{"cat a >> b", "a", "b"},
		{"touch a b", "", "a b"},
		{"rm -rf a", "", "a"},
		{"cp -r a b", "a b", "b"},
		{"mv a b", "a b", "a b"},
		{"cp -t b a", "unknown", "unknown"},
		{"cp -tb a", "unknown", "unknown"},
		{"cat $a", "unknown", ""},
		{"cat *", "unknown", ""},
		{"rm *", "", "unknown"},
		{"cd x && cat a", "unknown", ""},
		{"sort -o a b", "unknown", "unknown"},
		{"git status", "unknown", ""},
		{"make", "unknown", "unknown"},
		{"cat a; make", "unknown", "unknown"},
		{"f() { cat a; }", "unknown", "unknown"},
		{"ls (", "unknown", "unknown"},
		{"wc --files0-from=a", "unknown", ""},
	} {
		j := shell.Judge(tt.line)
		if r, w := known(j.Reads), known(j.Writes); r != tt.reads || w != tt.writes {
			t.Errorf("T14 Judge(%q): got reads %q and writes %q, want %q and %q", tt.line, r, w, tt.reads, tt.writes)
		}
	}
	for line, want := range map[string]bool{"git status": true, "ls; /usr/bin/git log": true, "timeout 5 git log": true, "ls": false, "echo git": false, "bash -c 'git log'": true, "$x log": true, "ls (": true, "": false, strings.Repeat(":;", 200) + "/usr/bin/git diff a": true} {
		if got := shell.Judge(line).Git; got != want {
			t.Errorf("I2 Judge(%q).Git = %v, want %v", line, got, want)
		}
	}
}

package shell_test

import (
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/shell"
)

// FuzzJudge looks for lines that make Judge panic, or contradict itself.
func FuzzJudge(f *testing.F) {
	for _, line := range readingLines() {
		f.Add(line)
	}
	for _, line := range []string{"rm x", "a > b", "$x", "echo ${x:=y}", "sed 's/[/]/w/' x", `awk '{print > "x"}'`, "find . -exec a {} \\;", "bash -c 'sh -c \"eval a\"'", "a <<E\n$(b)\nE", "((", "$'\\x", "{a,b}~*?[", "f() { f; }", "\xff", "a\x00b"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		j := shell.Judge(line)
		if j.ReadOnly != (j.Why == "") {
			t.Errorf("I2 Judge(%q): ReadOnly %v with the reason %q", line, j.ReadOnly, j.Why)
		}
		if j.ReadOnly && (j.Writes == nil || len(j.Writes) > 0) {
			t.Errorf("I2 Judge(%q): ReadOnly, and writes %q", line, j.Writes)
		}
		for _, words := range j.Commands {
			switch {
			case len(words) == 0 || words[0] == "":
				t.Errorf("T14 Judge(%q): a command without a name", line)
			case j.ReadOnly && (strings.HasPrefix(words[0], ">") || words[0] == "&" || words[0] == "rm" && len(words) != 2 || words[0] == "eval" || words[0] == "function"):
				t.Errorf("I2 Judge(%q): ReadOnly, and does %q", line, words)
			}
		}
		if j.ReadOnly && j.Commands == nil {
			t.Errorf("I2 Judge(%q): ReadOnly, and its commands are not known", line)
		}
		// What a line is within does not change what it is, unless it ends it.
		if len(line) < 1000 && !strings.ContainsAny(line, "#\\\n<({") {
			list := shell.Judge(line + "\nrm x")
			if list.ReadOnly {
				t.Errorf("I2 %q with rm behind it is ReadOnly", line)
			}
			if inner := shell.Judge("(" + line + "\n)"); j.ReadOnly && !inner.ReadOnly && inner.Commands != nil && strings.TrimSpace(line) != "" && len(j.Commands) > 0 {
				t.Errorf("I2 %q is ReadOnly, in a subshell it is not: %s", line, inner.Why)
			}
		}
		for _, s := range shell.Scopes(line) {
			if s == "" || strings.Contains(s, "\x00") {
				t.Errorf("P2 Scopes(%q): got %q", line, s)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	for _, bb := range []struct{ name, line string }{
		{"one command", "ls -la src"},
		{"a pipe", "cat a.txt | grep -n foo | sort | uniq -c | sort -rn | head -5"},
		{"git", "git log --oneline --graph -n 20 -- src"},
		{"a loop", `for f in *.go; do echo "$f: $(wc -l < go.mod)"; done`},
		{"a script", `awk -F, '$3 > 100 {print $1, $2}' data.csv | sed -e 's/a/b/g' -e '/^$/d'`},
		{"find", `find . -type f \( -name '*.go' -o -name '*.mod' \) -mtime -3 -print`},
		{"not ReadOnly", "rm -rf build && make -j4 all"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				shell.Judge(bb.line)
			}
		})
	}
}

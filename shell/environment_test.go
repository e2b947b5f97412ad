package shell_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/shell"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		about string
		want  bool
		lines []string
	}{
		{"I2 a variable that the line has not set is the caller's", true, []string{
			"echo $TOKEN", `echo "$TOKEN"`, "echo ${TOKEN:-x}", "echo ${#TOKEN}", "cat <<E\n$TOKEN\nE", "cat <<< $TOKEN", "cat a > $TOKEN", "echo $(echo $TOKEN)", "echo ${x:-$TOKEN}", "[[ $TOKEN == a* ]]", "case $TOKEN in a) ;; esac",
		}},
		{"I2 what shows all of them does", true, []string{"printenv", "printenv TOKEN", "env", "export -p", "declare -p", "set", "/usr/bin/printenv"}},
		{"I2 so may a program of which nothing is known", true, []string{"make", "./x", "$x", "awk '{print ENVIRON[\"A\"]}' a", "jq -n env"}},
		{"I2 one that may not have been set, or not here, or not yet", true, []string{
			"false && x=1; echo $x", "x=1 true; echo $x", "(x=1); echo $x", "echo $x; x=1", "x=1 & echo $x", "if false; then x=1; fi; echo $x", "for x in; do :; done; echo $x", "x+=1; echo $x", "true | x=1; echo $x", "x=1 || echo $x; echo $x $y",
		}},
		{"I2 one that it has set is its own", false, []string{"x=1; echo $x", "x=1 && y=2 && echo $x $y", "for f in a b; do echo $f; done", "{ x=1; echo $x; }", "x=1\necho \"$x\""}},
		{"I2 who and where one is tells nobody anything", false, []string{"echo $HOME $PWD $? $# $1 $@ $USER", "cat a", "ls", "grep -rn x .", "pwd", "cat <<'E'\n$TOKEN\nE", "echo '$TOKEN'"}},
	} {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			for _, line := range tt.lines {
				if got := shell.Judge(line).Environment; got != tt.want {
					t.Errorf("Judge(%q).Environment = %v, want %v", line, got, tt.want)
				}
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ about, line, want string }{
		{"P2 what is known", "cp a /etc/b", "a /etc/b /etc/b"},
		{"P2 also beside what is not", "make && rm /etc/a", "/etc/a"},
		{"P2 also with a flag that is not known", "rm --recursive /etc/a", "/etc/a"},
		{"P2 and its value", "grep --file=/etc/a -f/etc/b -f../c x", "/etc/a /etc/b ../c x"},
		{"P2 also of a program that reads, where it writes", "sort -o /etc/a b", "/etc/a b"},
		{"P2 where names begin", "cd /etc && make", "/etc"},
		{"P2 home, or where the shell was before", "cd; rm a; cd -", "~ a ~"},
		{"P2 of other programs nothing is known", "go test ./...", ""},
	} {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(shell.Judge(tt.line).Names, " "); got != tt.want {
				t.Errorf("Judge(%q).Names = %q, want %q", tt.line, got, tt.want)
			}
		})
	}
	t.Run("I2 a glob reads the folder whose names it becomes", func(t *testing.T) {
		t.Parallel()
		for _, line := range []string{"echo /etc/*", "printf '%s' ../?", "for f in /etc/*; do echo x; done"} {
			if got := shell.Judge(line).Reads; got != nil {
				t.Errorf("Judge(%q).Reads = %q, want that it is not known", line, got)
			}
		}
		for _, line := range []string{"echo {1..3}", "echo '*'", "for i in {1..3}; do echo $i; done"} {
			if got := shell.Judge(line).Reads; !slices.Equal(got, []string{}) {
				t.Errorf("Judge(%q).Reads = %q, want none", line, got)
			}
		}
	})
}

func TestGlobs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ about, line, all, changes string }{
		{"P2 a glob of what changes something", "rm -rf a* .b/?x", "a*,.b/*x", "a*,.b/*x"},
		{"P2 one of what reads", "cat a*", "a*", ""},
		{"P2 braces", "tee a.yam{l,}", "a.yam\x00", "a.yam\x00"},
		{"P2 a part that is computed", "echo > $f/a", "\x00/a", "\x00/a"},
		{"P2 nothing but that says nothing", `rm $f "$g" $(h)`, "", ""},
		{"P2 one that is quoted, which find reads", `find . -name "a*" -delete`, "a*", "a*"},
		{"P2 a class", "rm a[bc]d", "a*d", "a*d"},
		{"P2 home", "rm ~/a", "\x00/a", "\x00/a"},
		{"P2 what another program runs", "timeout 5 rm a*", "a*", "a*"},
		{"P2 none", "rm a; go test ./...", "", ""},
	} {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			j := shell.Judge(tt.line)
			if all, changes := strings.Join(j.Globs, ","), strings.Join(j.ChangeGlobs, ","); all != tt.all || changes != tt.changes {
				t.Errorf("Judge(%q): got the globs %q and %q, want %q and %q", tt.line, all, changes, tt.all, tt.changes)
			}
		})
	}
}

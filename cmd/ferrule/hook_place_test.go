package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hookAsk is a call, and what is decided about it.
type hookAsk struct{ about, tool, input, want string }

// line is the input of Bash.
func line(text string) string { return fmt.Sprintf(`{"command":%q}`, text) }

// decisions asks about calls in a project that somebody has laid out to mislead.
func decisions(t *testing.T, yaml string, tests []hookAsk) *hookLab {
	t.Helper()
	l := newHookLab(t, yaml)
	for _, name := range []string{"passwd", "README.md", "src/a.go", "src/shadow", "home/.ssh/id_rsa", "elsewhere/x"} {
		l.write(t, name, "x\n")
	}
	if err := errors.Join(os.Symlink("/etc/ssl", filepath.Join(l.dir, "link")), os.Symlink("/etc/ssl", filepath.Join(l.dir, "src", "l"))); err != nil {
		t.Skip(err)
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			if got := l.before(t, tt.tool, tt.input, "default"); got.Decision != tt.want {
				t.Errorf("%s %s: got %+v, want %s", tt.tool, tt.input, got, tt.want)
			}
		})
	}
	return l
}

func TestHookEveryday(t *testing.T) {
	t.Parallel()
	decisions(t, "", []hookAsk{
		{"I2 a list is allowed by itself", "Bash", line("ls"), "allow"},
		{"I2 so is one of a folder", "Bash", line("ls -la src"), "allow"},
		{"I2 so is a file", "Bash", line("cat README.md"), "allow"},
		{"I2 so is a path that goes up and stays", "Bash", line("cat src/../README.md | head -5"), "allow"},
		{"I2 so is a search in a file", "Bash", line("grep -n x README.md src/a.go"), "allow"},
		{"I2 so is a variable of the line's own", "Bash", line(`for f in a b; do echo "$f $HOME"; done`), "allow"},
		{"I2 so is where one is", "Bash", line("pwd; echo $PWD"), "allow"},
		{"P1 so is a file by its path", "Read", `{"file_path":"$DIR/src/a.go"}`, "allow"},
		{"P1 so is a search", "Grep", `{"pattern":"x","path":"$DIR/src","glob":"*.go","output_mode":"content"}`, "allow"},
		{"P1 so is one of everything", "Grep", `{"pattern":"x","output_mode":"content"}`, "allow"},
		{"P1 so is a list of files", "Glob", `{"pattern":"**/*.go"}`, "allow"},
	})
	decisions(t, `policy: {allow: ["Bash(ls *)", "Bash(git status*)", "Bash(go test*, cat *)", "Bash(grep *)", "Bash(cd *, make *)"]}`, []hookAsk{
		{"P2 a rule covers git", "Bash", line("git status --short"), "allow"},
		{"P2 a rule covers tests", "Bash", line("go test ./..."), "allow"},
		{"P2 also beside a read", "Bash", line("cat README.md && go test ./..."), "allow"},
		{"P2 a rule covers a search through the workspace", "Bash", line("grep -r x ."), "allow"},
		{"P2 a rule covers flags that nobody knows", "Bash", line("ls --hyperlink src"), "allow"},
		{"P2 a rule covers work in a folder", "Bash", line("cd src && make all"), "allow"},
	})
}

func TestHookElsewhere(t *testing.T) {
	t.Parallel()
	decisions(t, `policy: {allow: ["Bash(rm *)", "Bash(touch *)", "Bash(cat *)", "Bash(grep *)", "Bash(cp *)", "Bash(sort *)", "Bash(rm *, make *)", "Bash(cd *, rm *)"]}`, []hookAsk{
		{"P2 a command alone covers no file", "Bash", line("rm src/a.go"), "ask"},
		{"P2 nor one elsewhere", "Bash", line("rm -rf /home/ada"), "ask"},
		{"P2 nor a folder", "Bash", line("rm -rf src"), "ask"},
		{"P2 nor a new one", "Bash", line("touch src/x"), "ask"},
		{"P2 nor a new one elsewhere", "Bash", line("touch /etc/x"), "ask"},
		{"P2 nor what is read elsewhere", "Bash", line("cat /etc/shadow"), "ask"},
		{"P2 nor where a link leads", "Bash", line("cat link/openssl.cnf"), "ask"},
		{"P2 nor a folder elsewhere", "Bash", line("grep -r x /etc"), "ask"},
		{"P2 nor with a flag that nobody knows", "Bash", line("rm --recursive /home/ada"), "ask"},
		{"P2 nor as a flag's value", "Bash", line("grep -f/etc/shadow x README.md"), "ask"},
		{"P2 nor as what a program that reads writes", "Bash", line("sort -o /etc/x README.md"), "ask"},
		{"P2 nor a copy that leaves", "Bash", line("cp README.md /tmp/x"), "ask"},
		{"P2 nor beside a program of which nothing is known", "Bash", line("make all; rm /etc/x"), "ask"},
		{"P2 nor from a folder elsewhere", "Bash", line("cd /etc && rm x"), "ask"},
		{"P2 nor from one that a link leads to", "Bash", line("cd src && rm l/x"), "ask"},
		{"P2 nor from home", "Bash", line("cd; rm x"), "ask"},
		{"P2 nor from where the shell was", "Bash", line("cd - && rm x"), "ask"},
		{"P2 nor up", "Bash", line("rm ../x"), "ask"},
	})
	decisions(t, `policy: {allow: ["Bash(rm *, path: src/**)", "Bash(touch *, path: src/**)", "Bash(cat *, path: /etc/**)", "Bash(make *, rm *, path: src/**)"]}`, []hookAsk{
		{"P2 a command and a path do", "Bash", line("rm src/a.go"), "allow"},
		{"P2 also elsewhere", "Bash", line("cat /etc/hosts"), "allow"},
		{"P2 but not behind a link and up", "Bash", line("rm src/l/../shadow"), "ask"},
		{"P2 nor where it would be made", "Bash", line("touch src/l/../shadow"), "ask"},
		{"P2 nor beside what is not known", "Bash", line("make all; rm src/a.go"), "ask"},
	})
}

func TestHookReadings(t *testing.T) {
	t.Parallel()
	decisions(t, "", []hookAsk{
		{"P2 the system goes up from where a link leads to", "Bash", line("cat link/../passwd"), "ask"},
		{"P2 a list, too", "Bash", line("ls link/.."), "ask"},
		{"P2 a tool of the client, which may go either way", "Read", `{"file_path":"$DIR/link/../passwd"}`, "ask"},
		{"P2 and where a folder is missing", "Bash", line("cat gone/../passwd"), "ask"},
		{"P2 the home folder", "Read", `{"file_path":"~/.ssh/id_rsa"}`, "ask"},
		{"P2 in a search", "Grep", `{"pattern":"x","path":"~/.ssh","output_mode":"content"}`, "ask"},
		{"P2 alone", "Glob", `{"pattern":"*","path":"~"}`, "ask"},
		{"P2 of somebody else", "Grep", `{"pattern":"x","path":"~root"}`, "ask"},
		{"P2 a blank before a path", "Read", `{"file_path":" /etc/passwd"}`, "ask"},
		{"P2 in a search, too", "Grep", `{"pattern":"x","path":" /etc"}`, "ask"},
		{"P2 one that is hard to see", "Read", `{"file_path":"\ufeff/etc/passwd"}`, "ask"},
		{"P2 in a pattern", "Glob", `{"pattern":" /etc/*"}`, "ask"},
		{"N1 the client's keys are not the line's to show", "Bash", line("printenv ANTHROPIC_API_KEY"), "ask"},
		{"N1 nor in a word", "Bash", line(`echo "$GITHUB_TOKEN"`), "ask"},
		{"N1 nor in a document", "Bash", line("cat <<E\n$TOKEN\nE"), "ask"},
		{"I2 nor the names in a folder elsewhere", "Bash", line("echo /etc/*"), "ask"},
	})
	decisions(t, `policy: {allow: ["Write", "Bash"]}`, []hookAsk{
		{"Y1 no wildcard covers the home folder", "Write", `{"file_path":"~/.claude/settings.json","content":""}`, "ask"},
		{"Y1 nor a blank before the rules", "Write", `{"file_path":" $DIR/ferrule.yaml","content":""}`, "ask"},
		{"Y1 nor a way up from a link", "Write", `{"file_path":"$DIR/link/../ferrule.yaml","content":""}`, "ask"},
	})
}

// What a person is offered covers no more elsewhere than it would in the workspace.
func TestHookOffers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		about, line string
		want        []string
	}{
		{"P5 in the workspace", "touch x", []string{`touch x, path: "$DIR/**"`, `touch *, path: "$DIR/**"`}},
		{"P5 elsewhere the folder", "cat /usr/lib/os-release", []string{`cat /usr/lib/os-release, path: "/usr/lib/**"`, `cat *, path: "/usr/lib/**"`}},
		{"P5 a folder itself", "ls /usr/lib", []string{`ls /usr/lib, path: "/usr/lib/**"`, `ls *, path: "/usr/lib/**"`}},
		{"P5 never everything", "cat /nothing.txt", []string{`cat /nothing.txt, path: "/nothing.txt"`, `cat *, path: "/nothing.txt"`}},
		{"P5 nothing where a file has no name", "cat ~/x", nil},
		{"P5 where nothing is stated the commands", "go test ./...", []string{"go test ./...", "go test*"}},
	} {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			l := newHookLab(t, "")
			k := &clientCall{name: "Bash", kind: clientShell, dir: l.dir, root: l.dir}
			for i := range tt.want {
				tt.want[i] = strings.ReplaceAll(tt.want[i], "$DIR", filepath.ToSlash(l.dir))
			}
			if got := k.shellScopes(tt.line); !slices.Equal(got, tt.want) {
				t.Errorf("%s: got %q, want %q", tt.line, got, tt.want)
			}
		})
	}
}

func TestHookSearches(t *testing.T) {
	t.Parallel()
	l := decisions(t, "", []hookAsk{{"Y2 the state is made", "TodoRead", `{}`, "allow"}})
	l.write(t, ".ferrule/logins/key", "secret\n")
	l.write(t, ".ferrule/secrets/GITHUB", "secret\n")
	for _, tt := range []hookAsk{
		{"Y2 the state is not searched by a glob", "Grep", `{"pattern":".","glob":"**/key","output_mode":"content"}`, "ask"},
		{"Y2 nor by its folder's", "Grep", `{"pattern":".","glob":"**/logins/*","output_mode":"content"}`, "ask"},
		{"Y2 nor by one that hides a letter", "Grep", `{"pattern":".","glob":".f[e]rrule/logins/*","output_mode":"content"}`, "ask"},
		{"Y2 nor by one of everything", "Grep", `{"pattern":".","glob":"*","output_mode":"content"}`, "ask"},
		{"Y2 nor by one of several", "Grep", `{"pattern":".","glob":"*.go,GIT*"}`, "ask"},
		{"Y2 nor by one in braces", "Grep", `{"pattern":".","glob":"**/{key,x}"}`, "ask"},
		{"Y2 nor by one that cannot be read", "Grep", `{"pattern":".","glob":"{a"}`, "ask"},
		{"Y2 nor by its name", "Grep", `{"pattern":".","glob":".ferrule/**"}`, "deny"},
		{"Y2 nor are its names looked for", "Glob", `{"pattern":".f*/**"}`, "ask"},
		{"Y2 nor anywhere", "Glob", `{"pattern":"**/.f?rrule/*"}`, "ask"},
		{"Y2 it is passed over where no glob fits it", "Grep", `{"pattern":".","glob":"*.go","output_mode":"content"}`, "allow"},
		{"Y2 and one that leaves it out", "Grep", `{"pattern":".","glob":"!.ferrule/**","output_mode":"content"}`, "allow"},
		{"Y2 and where there is none", "Grep", `{"pattern":".","output_mode":"content"}`, "allow"},
		{"Y2 and where the search begins beside it", "Grep", `{"pattern":".","path":"$DIR/src","glob":"*","output_mode":"content"}`, "allow"},
		{"Y2 names of everything are shown", "Glob", `{"pattern":"**/*"}`, "allow"},
		{"Y2 a pattern that is searched for is no glob", "Grep", `{"pattern":"\\.ferrule"}`, "allow"},
	} {
		t.Run(tt.about, func(t *testing.T) {
			if got := l.before(t, tt.tool, tt.input, "default"); got.Decision != tt.want {
				t.Errorf("%s %s: got %+v, want %s", tt.tool, tt.input, got, tt.want)
			}
		})
	}
	t.Run("Y2 a key that lies in the workspace is not shown", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t, "listen: {tls: {key: keys/k.pem, cert: keys/c.pem}}\n")
		l.write(t, "keys/k.pem", "secret\n")
		l.write(t, "keys/c.pem", "x\n")
		for input, want := range map[string]string{`{"pattern":".","output_mode":"content"}`: "ask", `{"pattern":"."}`: "allow"} {
			if got := l.before(t, "Grep", input, "default"); got.Decision != want {
				t.Errorf("%s: got %+v, want %s", input, got, want)
			}
		}
	})
}

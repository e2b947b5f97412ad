package builtin_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/tooltest"
)

func findFiles(t *testing.T) *fsBench {
	return newFiles(t, map[string]string{
		".gitignore": "*.log\n/build/\n!keep.log\nnode_modules/\n", ".git/config": "needle", "a.go": "package a\n\nfunc Needle() {}\n", "a.log": "needle\n", "keep.log": "needle\n",
		"build/out.go": "needle\n", "src/build/in.go": "needle again\nneedle\n", "src/b.go": "one\ntwo\nNEEDLE\nfour\nfive\nneedle\nseven\n", "src/deep/er/c_test.go": "x\r\nneedle\r\n",
		"src/.gitignore": "*.tmp\n", "src/x.tmp": "needle\n", "node_modules/m/index.js": "needle\n", "bin": "needle\x00", "wide.txt": strings.Repeat("a", 3000) + "needle" + strings.Repeat("b", 3000) + "\n",
		"le": "\xFF\xFEn\x00e\x00e\x00d\x00l\x00e\x00\n\x00",
	})
}

func TestFilesGlob(t *testing.T) {
	t.Parallel()
	b := findFiles(t)
	tests := []struct{ name, input, want string }{
		{"I1 glob: at any depth", `{"pattern":"**/*.go"}`, "a.go\nsrc/b.go\nsrc/build/in.go\nsrc/deep/er/c_test.go"},
		{"I1 glob: only right there", `{"pattern":"*.go"}`, "a.go"},
		{"I1 glob: braces", `{"pattern":"{a,src/b}.{go,log}"}`, "a.go\nsrc/b.go"},
		{"I1 glob: what is ignored", `{"pattern":"**/*.log"}`, "keep.log"},
		{"I1 glob: also what is ignored", `{"pattern":"**/*.log","all":true}`, "a.log\nkeep.log"},
		{"I1 glob: git's own files", `{"pattern":".git/**","all":true}`, ".git/config"},
		{"I1 glob: below a folder", `{"pattern":"**/*_test.go","path":"src"}`, "src/deep/er/c_test.go"},
		{"I1 glob: a folder that is ignored, when it is named", `{"pattern":"**","path":"node_modules"}`, "node_modules/m/index.js"},
		{"I1 glob: a file", `{"pattern":"**/b.go","path":"src/b.go"}`, "src/b.go"},
		{"I1 glob: a question mark and a set", `{"pattern":"[a-c].g?"}`, "a.go"},
		{"I1 glob: nothing", `{"pattern":"*.rs"}`, "(no file fits *.rs below .; all looks also at what .gitignore leaves out)\n"},
		{"I1 glob: a bad set", `{"pattern":"[a"}`, `!ValidationError: pattern: got "[a", want each [ closed and something behind each \`},
		{"I1 glob: a bad brace", `{"pattern":"{a,b"}`, `!ValidationError: pattern: got "{a,b", want each { closed`},
		{"I1 glob: not outside", `{"pattern":"../*"}`, `!ValidationError: pattern: got "../*", want names without . .. // or / at an end; path says where to begin`},
		{"I1 glob: not absolute", `{"pattern":"/etc/*"}`, `!ValidationError: pattern: got "/etc/*", want names without . .. // or / at an end; path says where to begin`},
		{"I1 glob: too many braces", `{"pattern":"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"}`, `!ValidationError: pattern: got more than 128 ways to read it, want fewer {}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, b.on(t).do("fs_glob", tt.input), tt.want) })
	}
}

func TestFilesGrep(t *testing.T) {
	t.Parallel()
	b := findFiles(t)
	b.put("long/crlf", strings.Repeat("a", 600)+"pin\r\n")
	b.put("node_modules/large", "")
	if err := os.Truncate(filepath.Join(b.work, "node_modules/large"), 17<<20); err != nil {
		t.Fatal(err)
	}
	b.put("long/kanji", strings.Repeat("日", 200)+"pin\n")
	tests := []struct{ name, input, want string }{
		{"I1 grep: lines with path and number", `{"pattern":"needle","path":"src"}`, "src/b.go:6:needle\nsrc/build/in.go:1:needle again\nsrc/build/in.go:2:needle\nsrc/deep/er/c_test.go:2:needle"},
		{"I1 grep: any case", `{"pattern":"needle","path":"src/b.go","ignore_case":true}`, "src/b.go:3:NEEDLE\nsrc/b.go:6:needle"},
		{"I1 grep: files", `{"pattern":"(?i)needle","output":"files"}`, "a.go\nkeep.log\nle\nsrc/b.go\nsrc/build/in.go\nsrc/deep/er/c_test.go\nwide.txt"},
		{"I1 grep: counts", `{"pattern":"needle","output":"count","glob":"*.go"}`, "src/b.go:1\nsrc/build/in.go:2\nsrc/deep/er/c_test.go:1"},
		{"I1 grep: by paths", `{"pattern":"needle","output":"files","glob":"src/*/*.go"}`, "src/build/in.go"},
		{"I1 grep: with what stands around", `{"pattern":"needle","path":"src/b.go","context":1,"ignore_case":true}`, "src/b.go-2-two\nsrc/b.go:3:NEEDLE\nsrc/b.go-4-four\nsrc/b.go-5-five\nsrc/b.go:6:needle\nsrc/b.go-7-seven"},
		{"I1 grep: with gaps", `{"pattern":"one|needle","path":"src/b.go","context":1}`, "src/b.go:1:one\nsrc/b.go-2-two\n--\nsrc/b.go-5-five\nsrc/b.go:6:needle\nsrc/b.go-7-seven"},
		{"I1 grep: with gaps from file to file and from folder to folder", `{"pattern":"needle","path":"src","context":1}`, "src/b.go-5-five\nsrc/b.go:6:needle\nsrc/b.go-7-seven\n--\nsrc/build/in.go:1:needle again\nsrc/build/in.go:2:needle\n--\nsrc/deep/er/c_test.go-1-x\nsrc/deep/er/c_test.go:2:needle"},
		{"I1 grep: no gap where nothing follows it", `{"pattern":"needle","path":"src","context":1,"limit":1}`, "src/b.go-5-five\nsrc/b.go:6:needle\nsrc/b.go-7-seven\n[only the first 1; there are more: use a narrower pattern, glob or path, or output files]"},
		{"I1 grep: no gap between counts", `{"pattern":"needle","path":"src","context":1,"output":"count"}`, "src/b.go:1\nsrc/build/in.go:2\nsrc/deep/er/c_test.go:1"},
		{"I1 grep: ends of lines, CRLF or not", `{"pattern":"^needle$","path":"src"}`, "src/b.go:6:needle\nsrc/build/in.go:2:needle\nsrc/deep/er/c_test.go:2:needle"},
		{"I1 grep: bounded", `{"pattern":"needle","path":"src","limit":2}`, "src/b.go:6:needle\nsrc/build/in.go:1:needle again\n[only the first 2; there are more: use a narrower pattern, glob or path, or output files]"},
		{"I1 grep: long lines around the match", `{"pattern":"needle","path":"wide.txt"}`, "wide.txt:1:…" + strings.Repeat("a", 100) + "needle" + strings.Repeat("b", 294) + "…"},
		{"I1 grep: the end of a long line, CRLF or not", `{"pattern":"pin$","path":"long/crlf"}`, "long/crlf:1:…" + strings.Repeat("a", 100) + "pin"},
		{"I1 grep: whole characters before a match", `{"pattern":"pin","path":"long/kanji"}`, "long/kanji:1:…" + strings.Repeat("日", 33) + "pin"},
		{"I1 grep: also what is ignored", `{"pattern":"needle","output":"files","glob":"*.log","all":true}`, "a.log\nkeep.log"},
		{"I1 grep: nothing", `{"pattern":"haystack"}`, "(no match for haystack in .)"},
		{"I1 grep: nothing, and not everywhere looked", `{"pattern":"haystack","path":"node_modules"}`, "(no match for haystack in node_modules)\n[not searched, as they have more than 16777216 bytes: node_modules/large]"},
		{"I1 grep: a file, by a path that it fits", `{"pattern":"^needle$","path":"src/b.go","glob":"**/*.go"}`, "src/b.go:6:needle"},
		{"I1 grep: a file, by a path that it does not fit", `{"pattern":"^needle$","path":"src/b.go","glob":"**/*.js"}`, "(no match for ^needle$ in src/b.go)"},
		{"I1 grep: a bad expression", `{"pattern":"a("}`, `!ValidationError: pattern: got "a(": missing closing ): want RE2 syntax, with \ before a character that is meant as it is`},
		{"I1 grep: one line at a time", `{"pattern":"a\\nb"}`, `!ValidationError: pattern: got a line end, want a pattern for one line`},
		{"I1 grep: not there", `{"pattern":"a","path":"srv"}`, "!There is no srv. Did you mean src?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, b.on(t).do("fs_grep", tt.input), tt.want) })
	}
	t.Run("I1 grep: as grep -r finds it", func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath("grep"); err != nil {
			t.Skip(err)
		}
		src, err := filepath.Abs("..")
		if err != nil {
			t.Fatal(err)
		}
		tools, err := builtin.Files{Roots: []string{filepath.Join(src, "tool"), filepath.Join(src, "policy")}}.Tools()
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{"func", "[A-Z]{3,}", "err(or)? ?!=", `^\t\treturn nil$`, "Claims|Touches", `"[a-z]+"`, `\bnil\b`, "^$"} {
			input, err := json.Marshal(map[string]any{"pattern": pattern, "output": "count", "path": filepath.ToSlash(src) + "/policy", "limit": 2000})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(tooltest.Do(t, tools[5], string(input)).String(), "\n")
			out, _ := exec.Command("grep", "-rcIP", "-e", pattern, filepath.Join(src, "policy")).Output()
			want := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), func(l string) bool { return strings.HasSuffix(l, ":0") })
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %d files, want %d:\n%.300q\n%.300q", pattern, len(got), len(want), strings.Join(got, " "), strings.Join(want, " "))
			}
		}
	})
}

// What git ignores is what is left out.
func TestFilesIgnoreAsGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	names := []string{"a", "a.o", "b.log", "keep.log", "d/a", "d/b.log", "d/e/a.o", "build/x", "d/build/x", "doc/x.txt", "doc/y/x.txt", "foo/bar/baz", "x y", "#hash", "!bang", "tmp/a/b/c", "s[1]", "deep/q/r/s.bak", "deep/s.bak", "ü.txt", "vendor/keep/me", "vendor/not", ".env", ".env2", ".cache/data", ".cache/more", "d/.cache/data"}
	ignores := map[string]string{
		"":  "*.o\n*.log\n!keep.log\nbuild/\n/doc/*.txt\nfoo/**/baz\nx\\ y\n\\#hash\n\\!bang\ntmp/**\n# comment\n\ntrail   \ns\\[1]\ndeep/**/s.bak\n[!a-zA-Z#!]*.txt\nvendor/*\n!vendor/keep/\n/.env\n.cache/data\n/env2\n",
		"d": "!b.log\na\n",
	}
	t.Run("I1 ignore: as git does", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, nil)
		for _, n := range names {
			b.put(n, "")
		}
		for dir, text := range ignores {
			b.put(filepath.Join(dir, ".gitignore"), text)
		}
		git := func(args ...string) string {
			cmd := exec.Command("git", args...)
			cmd.Dir = b.work
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		git("init", "-q")
		want := strings.Split(strings.Trim(git("ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
		got := strings.Split(b.do("fs_glob", `{"pattern":"**"}`).String(), "\n")
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

func TestFilesClaims(t *testing.T) {
	t.Parallel()
	with := newFiles(t, map[string]string{"sub/a": ""})
	without := newFiles(t, nil, func(f *builtin.Files) { f.Undo = nil })
	tests := []struct {
		name, tool, input string
		b                 *fsBench
		want              string // class, reversible, idempotent, touches
	}{
		{"I1 claims: read", "fs_read", `{"path":"sub/a"}`, with, "read-only R:- $W/sub/a"},
		{"I1 claims: read by another spelling", "fs_read", `{"path":"$W//sub/./x/../a"}`, with, "read-only R:- $W/sub/a"},
		{"I1 claims: list", "fs_list", `{}`, with, "read-only R:- $W"},
		{"I1 claims: glob also reads what is ignored", "fs_glob", `{"pattern":"*","path":"sub/x"}`, with, "read-only R:- $W/sub/x $W/sub/.gitignore $W/.gitignore"},
		{"I1 claims: grep of all", "fs_grep", `{"pattern":"x","path":"sub","all":true}`, with, "read-only R:- $W/sub"},
		{"I1 claims: write", "fs_write", `{"path":"sub/a","content":""}`, with, "write R:reversible,idempotent !$W/sub/a"},
		{"D2 claims: a write also makes folders, and others may need them", "fs_write", `{"path":"x/y/a","content":"","parents":true}`, with, "write R:reversible,idempotent !$W/x"},
		{"D2 claims: only those that are not there", "fs_write", `{"path":"sub/x/y/a","content":"","parents":true}`, with, "write R:reversible,idempotent !$W/sub/x"},
		{"D2 claims: where none is made it is the file", "fs_write", `{"path":"sub/b","content":"","parents":true}`, with, "write R:reversible,idempotent !$W/sub/b"},
		{"I1 claims: edit", "fs_edit", `{"path":"a","edits":[{"old":"a","new":"b"}]}`, with, "write R:reversible !$W/a"},
		{"I1 claims: nothing is reversible without copies", "fs_write", `{"path":"a","content":""}`, without, "write R:idempotent !$W/a"},
		{"I1 claims: a bad path touches nothing", "fs_write", `{"path":"../a","content":""}`, with, "write R:reversible,idempotent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := tt.b.tools[tt.tool].ClaimsFor(tt.b.args(tt.tool, tt.input))
			if err != nil || !c.Local {
				t.Fatalf("got %+v, %v, want it local", c, err)
			}
			var words []string
			if c.Reversible {
				words = append(words, "reversible")
			}
			if c.Idempotent {
				words = append(words, "idempotent")
			}
			if c.ReadOnly {
				words = []string{"-"}
			}
			got := c.Class() + " R:" + strings.Join(words, ",")
			for _, a := range c.Touches {
				got += " "
				if a.Write {
					got += "!"
				}
				got += strings.Replace(strings.TrimPrefix(a.Resource, "file:"), filepath.ToSlash(tt.b.work), "$W", 1)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("T4 what holds for every call is claimed without one, as lists of tools need it", func(t *testing.T) {
		reads, writes := tool.Claims{ReadOnly: true, Local: true}, tool.Claims{Local: true, Reversible: true}
		for name, want := range map[string]tool.Claims{
			"fs_read": reads, "fs_list": reads, "fs_glob": reads, "fs_grep": reads,
			"fs_write": {Local: true, Reversible: true, Idempotent: true}, "fs_edit": writes,
		} {
			if got := with.tools[name].Claims; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v, want %+v", name, got, want)
			}
		}
	})
	t.Run("I1 claims: Trial finds them kept", func(t *testing.T) {
		t.Parallel()
		with := newFiles(t, map[string]string{"sub/a": "a\n"})
		for _, c := range [][2]string{
			{"fs_read", `{"path":"sub/a"}`},
			{"fs_list", `{}`},
			{"fs_glob", `{"pattern":"**"}`},
			{"fs_grep", `{"pattern":"a"}`},
			{"fs_write", `{"path":"sub/b","content":"b"}`},
			{"fs_edit", `{"path":"sub/a","edits":[{"old":"a","new":"b"}]}`},
		} {
			tooltest.Trial{Tool: with.tools[c[0]], Dir: with.work, Inputs: []string{c[1]}}.Run(t)
		}
	})
	t.Run("I1 scopes: this file, its folder, those around", func(t *testing.T) {
		got, err := with.tools["fs_write"].Scopes(with.args("fs_write", `{"path":"x/y, z/a","content":""}`))
		w := filepath.ToSlash(with.work)
		want := []string{`path: "` + w + `/x/y, z/a"`, `path: "` + w + `/x/y, z/**"`, `path: "` + w + `/x/**"`, `path: "` + w + `/**"`}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		with.covered("fs_write", `{"path":"x/y, z/a","content":""}`, got)
	})
	t.Run("I1 scopes: the folders that are made, those around", func(t *testing.T) {
		const input = `{"path":"sub/y/z/a","content":"","parents":true}`
		got, err := with.tools["fs_write"].Scopes(with.args("fs_write", input))
		w := filepath.ToSlash(with.work)
		want := []string{`path: "` + w + `/sub/y/**"`, `path: "` + w + `/sub/**"`, `path: "` + w + `/**"`}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		with.covered("fs_write", input, got)
	})
}

// covered wants each scope to be a rule that covers the call.
func (b *fsBench) covered(name, input string, scopes []string) {
	b.Helper()
	for _, scope := range scopes {
		rule, err := policy.ParseRule(name+"("+scope+")", "")
		if err != nil {
			b.Fatal(err)
		}
		args := b.args(name, input)
		claims, err := b.tools[name].ClaimsFor(args)
		if err != nil {
			b.Fatal(err)
		}
		info := b.tools[name].Info
		if q := (tool.Request{Name: name, Tool: &info, Args: args, Claims: claims}); !rule.Covers(&q) {
			b.Errorf("%s does not cover the call", scope)
		}
	}
}

func ExampleFiles() {
	work, err := os.MkdirTemp("", "work")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(work) }()
	tools, err := builtin.Files{Roots: []string{work}}.Tools()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tools {
		fmt.Println(t.Name)
	}
	// Output:
	// fs_read
	// fs_write
	// fs_edit
	// fs_list
	// fs_glob
	// fs_grep
}

package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// lineTool runs a line that a naive splitter takes apart: ; | & and line ends
// stand between commands, quotes keep words together, and of what has a
// substitution nothing is known. Other facts are those of the argument facts.
func lineTool(t interface{ Fatal(...any) }) *tool.Tool {
	made, err := tool.Tool{
		Info: tool.Info{Name: "shell", Description: "Run a line.", Tags: []string{"exec", "a b"}, Input: json.RawMessage(`{"type":"object"}`)},
		Facts: func(a tool.Args) (tool.Facts, error) {
			var in struct {
				Line  string
				Facts *tool.Facts
				Fail  string
			}
			if err := a.Decode(&in); err != nil {
				return tool.Facts{}, err
			}
			switch in.Fail {
			case "error":
				return tool.Facts{Commands: [][]string{{"git", "status"}}}, errors.New("cannot say")
			case "panic":
				panic("cannot say")
			}
			if in.Facts != nil {
				return *in.Facts, nil
			}
			return tool.Facts{Commands: split(in.Line)}, nil
		},
		Run: func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil },
	}.Check()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func split(line string) [][]string {
	if strings.ContainsAny(line, "$`<>(){}\\") {
		return nil // not known
	}
	all := [][]string{}
	for command := range strings.FieldsFuncSeq(line, func(c rune) bool { return strings.ContainsRune(";|&\n", c) }) {
		words := []string{}
		for i, part := range strings.Split(command, `"`) {
			if i%2 == 1 {
				words = append(words, part)
				continue
			}
			words = append(words, strings.FieldsFunc(part, func(c rune) bool { return c == ' ' || c == '\t' })...)
		}
		all = append(all, words)
	}
	return all
}

// call is a request of the tool with these arguments.
func call(t interface{ Fatal(...any) }, input string, claims tool.Claims) *tool.Request {
	made := lineTool(t)
	args, err := made.Admit(json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	return &tool.Request{Name: "box__shell", Source: tool.Source{Name: "box"}, Tool: &made.Info, Args: args, Claims: claims}
}

func facts(t interface{ Fatal(...any) }, f tool.Facts, claims tool.Claims) *tool.Request {
	text, err := json.Marshal(map[string]any{"Facts": f})
	if err != nil {
		t.Fatal(err)
	}
	return call(t, string(text), claims)
}

func line(t interface{ Fatal(...any) }, text string) *tool.Request {
	input, err := json.Marshal(map[string]string{"Line": text})
	if err != nil {
		t.Fatal(err)
	}
	return call(t, string(input), tool.Claims{})
}

func rule(t interface{ Fatal(...any) }, text string) policy.Rule {
	r, err := policy.ParseRule(text, "/work")
	if err != nil {
		t.Fatal(text, err)
	}
	return r
}

func TestParseRule(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"fs_read*":                                 "fs_read*",
		"  fs_read  ":                              "fs_read",
		"*":                                        "*",
		"source:github":                            "source:github",
		"source: git*":                             "source:git*",
		"tag:files":                                "tag:files",
		"tag:a b, ü":                               "tag:a b, ü",
		"shell(git status*)":                       "shell(git status*)",
		"shell( git   status* )  ":                 "shell(git status*)",
		"shell(command: git status)":               "shell(git status)",
		`shell("git status")`:                      "shell(git status)",
		`shell("echo a, b")`:                       `shell(command: "echo a, b")`,
		`shell(command: "path: x")`:                `shell(command: "path: x")`,
		"shell(npm run build:prod)":                `shell(command: "npm run build:prod")`,
		"fs_write(path: src/**)":                   "fs_write(path: /work/src/**)",
		"fs_write(path: ./src/*.go)":               "fs_write(path: /work/src/*.go)",
		"fs_write(path:/etc/**/x)":                 "fs_write(path: /etc/**/x)",
		"fs_write(path: C:/Users/**)":              "fs_write(path: /c:/Users/**)",
		`fs_write(path: "a, b/**")`:                `fs_write(path: "/work/a, b/**")`,
		`fs_write(path: "/a ")`:                    `fs_write(path: "/a ")`,
		`fs_write(path: "/a (1)")`:                 `fs_write(path: "/a (1)")`,
		"fetch(host: *.Example.COM.)":              "fetch(host: *.example.com)",
		"fetch(host: *)":                           "fetch(host: *)",
		"fetch(host: 127.0.0.1:08080)":             "fetch(host: 127.0.0.1:8080)",
		"fetch(host: [::1]:80)":                    "fetch(host: [::1]:80)",
		"fetch(host: 0:0:0:0:0:0:0:1)":             "fetch(host: [::1])",
		"fetch(host: [::ffff:127.0.0.1])":          "fetch(host: 127.0.0.1)",
		"send(args: 0123456789abcdef_-ABCD)":       "send(args: 0123456789abcdef_-ABCD)",
		`shell(go test*, path: "a, b/**", go vet)`: `shell(go test*, path: "/work/a, b/**", go vet)`,
	} {
		r, err := policy.ParseRule(text, "/work")
		if err != nil {
			t.Errorf("P2 %q: %v", text, err)
			continue
		}
		if r.String() != want {
			t.Errorf("P2 %q: got %s, want %s", text, r, want)
		}
		if again, err := policy.ParseRule(r.String(), ""); err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("P2 %q: read again: got %s, %v", text, again, err)
		}
	}
}

func TestParseRuleFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text      string
		workspace string
		column    int
		want      string
	}{
		{"", "", 1, "want the name of a tool"},
		{"   ", "", 4, "want the name of a tool"},
		{"(git)", "", 1, "want the name of a tool"},
		{"source:", "", 8, "want the name of a tool"},
		{"tag: (x)", "", 5, "want the name of a tool"},
		{"tags:x", "", 1, `got "tags:", want the name of a tool, source:name or tag:name`},
		{" host:x", "", 2, `got "host:", want the name`},
		{"fs read", "", 3, "got ' ' in a name"},
		{"fs_réad", "", 5, "got 'é' in a name, want letters, digits, _ . - and *"},
		{"source: a/b", "", 10, "got '/' in a name"},
		{"\u00a0fs", "", 1, "got '\\u00a0' in a name"},
		{"tag:fi*", "", 7, "got '*' in a tag, want the whole of it"},
		{"tag:fi)", "", 7, "got ')' in a tag"},
		{"a\nb", "", 2, `got the control character '\n'`},
		{"é\x00", "", 2, `got the control character '\x00'`},
		{"ab\xff", "", 3, "not UTF-8"},
		{"shell(git", "", 10, "got no closing parenthesis"},
		{"shell(", "", 7, "got no closing parenthesis"},
		{"shell()", "", 7, `got "", want a pattern`},
		{"shell(a,)", "", 9, `got "", want a pattern`},
		{"shell(a) b", "", 10, `got "b" behind the closing parenthesis`},
		{"shell(a (b))", "", 9, `got "(" within parentheses, want it quoted`},
		{`shell("a)`, "", 7, "got a quote that does not end"},
		{`shell("a\q")`, "", 7, "an escape that is none"},
		{`shell(git "a, b")`, "", 7, "got quotes around a part"},
		{"shell(`\"a\"`x)", "", 7, "got quotes around a part"},
		{`shell("a\nb")`, "", 7, "want a pattern"},
		{`shell("\xff")`, "", 7, "want a pattern"},
		{`shell("  ")`, "", 7, "want a command"},
		{"shell(é, Path: src)", "", 10, `got "Path:", want command, path, host or args before the colon`},
		{"shell(paths:src/**)", "", 7, `got "paths:", want command`},
		{"shell(: x)", "", 7, `got ":", want command`},
		{"fs(path: src)", "", 10, "there is no workspace"},
		{"fs(path: src)", "work", 10, "want that to be a clean absolute path"},
		{"fs(path: src)", `C:\work`, 10, "want that to be a clean absolute path"},
		{"fs(path: src)", "/work/*", 10, "and without *"},
		{"fs(path: src)", "/work/..", 10, "want that to be a clean absolute path"},
		{"fs(path: ../x)", "/work", 10, "want a path without . .. //"},
		{"fs(path: src/../x)", "/work", 10, "want a path without . .. //"},
		{"fs(path: /a//b)", "", 10, "want a path without . .. //"},
		{"fs(path: /a/)", "", 10, "/ at the end"},
		{"fs(path: /a/./b)", "", 10, "want a path without ."},
		{`fs(path: a\b)`, "/work", 10, "want a path with slashes"},
		{"fs(path: /a/**b)", "", 10, "want ** alone between slashes"},
		{"fetch(host: a b)", "", 13, "want a host such as"},
		{"fetch(host: user@example.com)", "", 13, "want a host"},
		{"fetch(host: https://example.com)", "", 13, "want a host"},
		{"fetch(host: example.com/x)", "", 13, "want a host"},
		{"fetch(host: ex*mple.com)", "", 13, "want a host"},
		{"fetch(host: *.127.0.0.1)", "", 13, "want a host"},
		{"fetch(host: exämple.com)", "", 13, "want a host"},
		{"fetch(host: example.com:99999)", "", 13, "want a host"},
		{"fetch(host: 127.1)", "", 13, "want a host"},
		{"send(args: abc)", "", 12, "want the 22 characters"},
		{"shell(" + strings.Repeat("a", 2049) + ")", "", 7, "got a pattern of 2049 bytes, want at most 2048"},
		{"fs(path: " + strings.Repeat("a", 2048) + ")", "/work", 10, "got a pattern of 2054 bytes"},
	} {
		_, err := policy.ParseRule(tt.text, tt.workspace)
		var fault *policy.RuleError
		if !errors.As(err, &fault) || fault.Column != tt.column || !strings.Contains(fault.Text, tt.want) {
			t.Errorf("P2 %q: got %v, want column %d: …%s…", tt.text, err, tt.column, tt.want)
		}
	}
}

func TestRuleChooses(t *testing.T) {
	t.Parallel()
	q := line(t, "ls")
	for text, want := range map[string]bool{
		"box__shell": true, "box__*": true, "*": true, "*shell": true, "shell": false, "box__shell2": false, "Box__shell": false,
		"source:box": true, "source:b*": true, "source:bo": false, "tag:exec": true, "tag:a b": true, "tag:exe": false, "tag:a": false,
	} {
		r := rule(t, text)
		if got := r.Chooses(q); got != want || r.Covers(q) != want || r.Meets(q) != want {
			t.Errorf("P2 %s: got %v, want %v", text, got, want)
		}
	}
	if (policy.Rule{}).Chooses(q) || (policy.Rule{}).Covers(q) || (policy.Rule{}).Meets(q) || (policy.Rule{}).String() != "" {
		t.Error("P2 the zero rule fits a call")
	}
	q.Tool = nil
	if rule(t, "tag:exec").Chooses(q) {
		t.Error("P2 a request without a tool has a tag")
	}
}

// A rule may name a tool as its source does, not only as models call it.
func TestRuleOwnNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 80)
	crafted := tool.WireName("a", "b.c")[len("a__"):] // a tool named as another is for models
	for _, tt := range []struct {
		name, source, tool string
		prefix             bool // models see the source in front
		rule               string
		covers, meets      bool
	}{
		{"a dot", "", "db.drop", false, "db.drop", true, true},
		{"a dot in a pattern", "", "db.drop", false, "db.*", true, true},
		{"the name for models", "", "db.drop", false, tool.WireName("", "db.drop"), true, true},
		{"another dot", "", "db.drop", false, "db.dropp", false, false},
		{"of a source", "github", "a.b", true, "github__a.b", true, true},
		{"of a source, without it", "github", "a.b", true, "a.b", false, false},
		{"of another source", "gitlab", "a.b", true, "github__a.b", false, false},
		{"of a built-in source", "core", "fs.read", false, "fs.read", true, true},
		{"a long one", "", long, false, long, true, true},
		{"a long pattern", "", long, false, strings.Repeat("x", 70) + "*", true, true},
		{"a pattern without a dot", "", "db.drop", false, "*drop", false, true},
		{"one that looks like another's", "a", crafted, true, "a__" + crafted, false, true},
		{"a source whose end is not clear", "a_", "x.y", true, "a___x.y", false, true},
		{"a plain one", "github", "search", true, "github__search", true, true},
	} {
		t.Run("P2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			q := &tool.Request{Name: tool.WireName("", tt.tool), Source: tool.Source{Name: tt.source}, Tool: &tool.Info{Name: tt.tool}}
			if tt.prefix {
				q.Name = tool.WireName(tt.source, tt.tool)
			}
			r := rule(t, tt.rule)
			if r.Covers(q) != tt.covers || r.Meets(q) != tt.meets || r.Chooses(q) != tt.meets {
				t.Errorf("%s and %s: covers %v, meets %v, chooses %v, want %v and %v", r, q.Name, r.Covers(q), r.Meets(q), r.Chooses(q), tt.covers, tt.meets)
			}
		})
	}
}

// Ways to slip past: what a rule that allows must not cover, and one that denies
// must meet.
func TestRuleLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule, line    string
		covers, meets bool
	}{
		{"git status*", "git status", true, true},
		{"git status*", "git status --short", true, true},
		{"git status*", "git\tstatus", true, true},
		{"git status", "git status --short", false, false},
		{"git *", "git", false, false},
		{"git*", "git", true, true},
		{"git status*", "git status; rm -rf .", false, true},
		{"git status*", "rm -rf .; git status", false, true},
		{"git status*", "git status && rm -rf .", false, true},
		{"git status*", "git status\nrm -rf .", false, true},
		{"git status*", "git status | sh", false, true},
		{"git status*", "git status $(rm -rf .)", false, true},
		{"git status*", "git status `rm -rf .`", false, true},
		{"git status*", "git status > /etc/passwd", false, true},
		{"git status*", `"git status" x`, false, false}, // one word
		{"git status*", `"git" "status"`, true, true},
		{"git status*", "", false, false},               // no command: nothing that fits
		{"git status*", " git status ;; ", false, true}, // an empty command
		{"git status*", "GIT status", false, false},
		{"rm*", "git status; rm -rf .", false, true},
		{"rm*", "echo a & rm", false, true},
		{"rm *", `"rm" x`, true, true},
		{"git status*, rm*", "git status; rm -rf .", true, true},
		{"*", "git status; rm -rf .", true, true},
		{"*", "git status $(x)", false, true},
	} {
		q := line(t, tt.line)
		r := rule(t, "*("+tt.rule+")")
		if got := r.Covers(q); got != tt.covers {
			t.Errorf("P2 %s covers %q: got %v, want %v", r, tt.line, got, tt.covers)
		}
		if got := r.Meets(q); got != tt.meets {
			t.Errorf("P2 %s meets %q: got %v, want %v", r, tt.line, got, tt.meets)
		}
	}
}

func TestRulePaths(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule, path    string
		covers, meets bool
	}{
		{"src/**", "/work/src/a.go", true, true},
		{"src/**", "/work/src/a/b/c.go", true, true},
		{"src/**", "/work/src", true, true},
		{"src/**", "/work/srcs/a", false, false},
		{"src/**", "/work/src/../x", false, true},
		{"src/**", "/work/src/..", false, true},
		{"src/**", "/work/./src/a", false, true},
		{"src/**", "/work//src/a", false, true},
		{"src/**", "/work/src/", false, true},
		{"src/**", `/work/src\..\x`, false, true},
		{"src/**", "src/a", false, true}, // relative to what?
		{"src/**", "~/a", false, true},
		{"src/**", "", false, true},
		{"src/**", "/work/src/a\x00b", false, true},
		{"src/**", "/work/src/a\nb", false, true},
		{"src/**", "/work/src/\xff", false, true},
		{"src/**", "/work", false, true}, // a folder that has it in it
		{"src/**", "/", false, true},
		{"src/**", "/other", false, false},
		{"src/**", "/WORK/src/a", false, false},
		{"src/*.go", "/work/src/a.go", true, true},
		{"src/*.go", "/work/src/b/a.go", false, false},
		{"src/*.go", "/work/src", false, true},
		{"/etc/**", "/etc/passwd", true, true},
		{"/etc/passwd", "/etc/passwd", true, true},
		{"/etc/passwd", "/etc", false, true},
		{"/etc/passwd", "/etc/passwd/x", false, false},
		{"/**/secret/**", "/a/b/secret/x", true, true},
		{"/**/secret", "/a/b", false, true},
		{"/**/a/**/b", "/a/x/a/b", true, true},
		{"/**", "C:/x", true, true},
		{"C:/x/**", "/c:/x/y", true, true},
		{"c:/x/**", "C:/X/y", false, false},
		{"c:/x/**", "/C:", false, true},
	} {
		q := facts(t, tool.Facts{Paths: []string{tt.path}}, tool.Claims{})
		if strings.Contains(tt.path, "\xff") { // JSON would mend it
			q = facts(t, tool.Facts{Paths: []string{}}, tool.Claims{Touches: []tool.Access{{Resource: "file:" + tt.path}}})
		}
		r := rule(t, "*(path: "+tt.rule+")")
		if got := r.Covers(q); got != tt.covers {
			t.Errorf("P2 %s covers %q: got %v, want %v", r, tt.path, got, tt.covers)
		}
		if got := r.Meets(q); got != tt.meets {
			t.Errorf("P2 %s meets %q: got %v, want %v", r, tt.path, got, tt.meets)
		}
	}
}

func TestRuleHosts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule, host    string
		covers, meets bool
	}{
		{"example.com", "example.com", true, true},
		{"example.com", "EXAMPLE.com.", true, true},
		{"example.com", "example.com:8080", true, true},
		{"example.com", "example.com..", false, true},
		{"example.com", "example.com.evil.org", false, false},
		{"example.com", "evil-example.com", false, false},
		{"example.com", "www.example.com", false, false},
		{"example.com", "user@example.com", false, true},
		{"example.com", "example.com@evil.org", false, true},
		{"example.com", "example.com/evil", false, true},
		{"example.com", "example.com#evil.org", false, true},
		{"example.com", `example.com\evil.org`, false, true},
		{"example.com", "exаmple.com", false, true}, // a Cyrillic а
		{"example.com", "ｅxample.com", false, true},
		{"k.com", "\u212a.com", false, true}, // the Kelvin sign, k in lower case
		{"example.com", "example。com", false, true},
		{"example.com", "xn--exmple-cua.com", false, false},
		{"example.com", "example.com ", false, true},
		{"example.com", "example.com\n", false, true},
		{"example.com", "", false, true},
		{"example.com:443", "example.com:443", true, true},
		{"example.com:443", "example.com:0443", true, true},
		{"example.com:443", "example.com:8080", false, false},
		{"example.com:443", "example.com", false, true}, // which port?
		{"example.com", "example.com:", false, true},
		{"example.com", "example.com:99999", false, true},
		{"example.com", "example.com:1:2", false, true},
		{"*.example.com", "www.example.com", true, true},
		{"*.example.com", "a.b.example.com:1", true, true},
		{"*.example.com", "example.com", false, false},
		{"*.example.com", "evil-example.com", false, false},
		{"*.example.com", ".example.com", false, true},
		{"*", "example.com", true, true},
		{"*", "user@example.com", false, true},
		{"127.0.0.1", "127.0.0.1:80", true, true},
		{"127.0.0.1", "[::ffff:127.0.0.1]:80", true, true},
		{"127.0.0.1", "127.1", false, true},
		{"127.0.0.1", "2130706433", false, true},
		{"127.0.0.1", "0x7f.0.0.0x1", false, true},
		{"127.0.0.1", "0177.0.0.1", false, true},
		{"[::1]", "[0:0::1]:443", true, true},
		{"[::1]", "::1", true, true},
		{"[::1]", "[::1%eth0]", false, true},
		{"[::1]", "[::1]x", false, true},
		{"[::1]", "[::1", false, true},
		{"[::1]", "[127.0.0.1]", false, true},
		{"[::1]", "[::2]", false, false},
	} {
		q := facts(t, tool.Facts{Hosts: []string{tt.host}}, tool.Claims{})
		r := rule(t, "*(host: "+tt.rule+")")
		if got := r.Covers(q); got != tt.covers {
			t.Errorf("P2 %s covers %q: got %v, want %v", r, tt.host, got, tt.covers)
		}
		if got := r.Meets(q); got != tt.meets {
			t.Errorf("P2 %s meets %q: got %v, want %v", r, tt.host, got, tt.meets)
		}
	}
}

func TestRuleKnowledge(t *testing.T) {
	t.Parallel()
	touches := func(resources ...string) tool.Claims {
		c := tool.Claims{Touches: []tool.Access{}}
		for _, r := range resources {
			c.Touches = append(c.Touches, tool.Access{Resource: r, Write: true})
		}
		return c
	}
	git := [][]string{{"git", "status"}}
	for _, tt := range []struct {
		name, rule    string
		facts         tool.Facts
		claims        tool.Claims
		covers, meets bool
	}{
		{"nothing known", "path: src/**", tool.Facts{}, tool.Claims{}, false, true},
		{"known to be none", "path: src/**", tool.Facts{Paths: []string{}}, tool.Claims{}, false, false},
		{"touches alone", "path: src/**", tool.Facts{}, touches("file:/work/src/a"), true, true},
		{"touches nothing", "path: src/**", tool.Facts{}, touches(), false, false},
		{"touches other things", "path: src/**", tool.Facts{}, touches("table:orders"), false, false},
		{"touches more than facts say", "path: src/**", tool.Facts{Paths: []string{"/work/src/a"}}, touches("file:/work/src/a", "file:/etc"), false, true},
		{"touches what is denied", "path: /etc/**", tool.Facts{Paths: []string{"/work/src/a"}}, touches("file:/etc/passwd"), false, true},
		{"touches above what is denied", "path: /etc/**", tool.Facts{Paths: []string{}}, touches("file:/"), false, true},
		{"touches every file", "path: /etc/**", tool.Facts{}, touches("file:"), false, true},
		{"one of two paths", "path: src/**", tool.Facts{Paths: []string{"/work/src/a", "/etc/passwd"}}, tool.Claims{}, false, true},
		{"each of two paths", "path: src/**, path: /etc/*", tool.Facts{Paths: []string{"/work/src/a", "/etc/passwd"}}, tool.Claims{}, true, true},
		{"hosts not known", "host: example.com", tool.Facts{}, tool.Claims{}, false, true},
		{"local", "host: example.com", tool.Facts{}, tool.Claims{Local: true}, false, false},
		{"no command", "git*", tool.Facts{Commands: [][]string{}}, tool.Claims{}, false, false},
		{"a command without words", "git*", tool.Facts{Commands: [][]string{{}}}, tool.Claims{}, false, true},
		{"NUL in a word behind one that differs", "rm*", tool.Facts{Commands: [][]string{{"git", "a\x00b"}}}, tool.Claims{}, false, false},
		{"NUL in the word that would differ", "rm -r*", tool.Facts{Commands: [][]string{{"rm", "\x00"}}}, tool.Claims{}, false, true},
		{"NUL in a word behind a variable", "rm*", tool.Facts{Commands: [][]string{{"A=b", "ls", "\x00"}}}, tool.Claims{}, false, true},
		{"NUL in a word", "git*", tool.Facts{Commands: [][]string{{"git", "a\x00b"}}}, tool.Claims{}, false, true},
		{"a first word that is empty", "git*", tool.Facts{Commands: [][]string{{"", "git"}}}, tool.Claims{}, false, true},
		{"a first word that is empty, any", "*", tool.Facts{Commands: [][]string{{"", "git"}}}, tool.Claims{}, false, true},
		{"a variable in front", "git*", tool.Facts{Commands: [][]string{{"PATH=/tmp", "git"}}}, tool.Claims{}, false, true},
		{"a variable in front, any", "*", tool.Facts{Commands: [][]string{{"PATH=/tmp", "git"}}}, tool.Claims{}, false, true},
		{"a value further on", "git*", tool.Facts{Commands: [][]string{{"git", "-c", "a=b"}}}, tool.Claims{}, true, true},
		{"a path longer than any", "path: /**", tool.Facts{Paths: []string{"/" + strings.Repeat("a/", 2048) + "a"}}, tool.Claims{}, false, true},
		{"a path as long as one may be", "path: /**", tool.Facts{Paths: []string{"/" + strings.Repeat("a", 4095)}}, tool.Claims{}, true, true},
		{"a file that the rule says nothing of", "git*", tool.Facts{Commands: git}, touches("file:/etc/passwd"), false, true},
		{"a file that a rule about hosts says nothing of", "host: example.com", tool.Facts{Hosts: []string{"example.com"}}, touches("file:/etc/passwd"), false, true},
		{"a file that the rule names", "git*, path: src/**", tool.Facts{Commands: git}, touches("file:/work/src"), true, true},
		{"something else than a file", "git*", tool.Facts{Commands: git}, touches("table:orders"), true, true},
		{"a path that the rule says nothing of", "git*", tool.Facts{Commands: git, Paths: []string{"/etc"}}, tool.Claims{}, false, true},
		{"a host that the rule says nothing of", "git*", tool.Facts{Commands: git, Hosts: []string{"a.b"}}, tool.Claims{}, false, true},
		{"no path, no host", "git*", tool.Facts{Commands: git, Hosts: []string{}, Paths: []string{}}, tool.Claims{}, true, true},
		{"command and path", "git*, path: src/**", tool.Facts{Commands: git, Paths: []string{"/work/src"}}, tool.Claims{}, true, true},
		{"command, path not known", "git*, path: src/**", tool.Facts{Commands: git}, tool.Claims{}, false, true},
		{"neither", "rm*, path: src/**", tool.Facts{Commands: git, Paths: []string{"/etc"}}, tool.Claims{}, false, false},
	} {
		t.Run("P2 "+tt.name, func(t *testing.T) {
			q, r := facts(t, tt.facts, tt.claims), rule(t, "*("+tt.rule+")")
			if r.Covers(q) != tt.covers || r.Meets(q) != tt.meets {
				t.Errorf("%s: covers %v, meets %v, want %v and %v", r, r.Covers(q), r.Meets(q), tt.covers, tt.meets)
			}
		})
	}
	for _, fail := range []string{"error", "panic"} {
		for _, tt := range []struct {
			rule   string
			claims tool.Claims
		}{
			{"*(git*)", tool.Claims{}},
			{"*(path: /work/**)", touches("file:/work/a")},
			{"*(host: example.com)", tool.Claims{Local: true}},
		} {
			q := call(t, `{"Fail":"`+fail+`"}`, tt.claims)
			if r := rule(t, tt.rule); r.Covers(q) || !r.Meets(q) {
				t.Errorf("T14 facts that end in %s, whatever is claimed: %s covers %v, meets %v, want false and true", fail, r, r.Covers(q), r.Meets(q))
			}
		}
	}
	if r, q := rule(t, "*(git*)"), (&tool.Request{Name: "x"}); r.Covers(q) || !r.Meets(q) {
		t.Error("T14 a request without arguments: want it to be not known")
	}
}

func TestRuleArgs(t *testing.T) {
	t.Parallel()
	q := call(t, `{"Line":"git push", "Fail": ""}`, tool.Claims{})
	exact := rule(t, policy.Offers(q, nil)[0])
	for input, want := range map[string]bool{
		`{"Fail":"","Line":"git push"}`:      true, // the same arguments
		`{"Line":"git push"}`:                false,
		`{"Line":"git push ", "Fail":""}`:    false,
		`{"Line":"git\u0020push","Fail":""}`: true,
	} {
		if q := call(t, input, tool.Claims{}); exact.Covers(q) != want || exact.Meets(q) != want {
			t.Errorf("P5 %s and %s: covers %v, meets %v, want %v", exact, input, exact.Covers(q), exact.Meets(q), want)
		}
	}
	both := rule(t, "*("+exact.Inside()+", rm*)")
	if both.Covers(q) || !both.Meets(q) {
		t.Errorf("P5 %s: want the arguments to be too little to cover, enough to meet", both)
	}
}

func TestOffers(t *testing.T) {
	t.Parallel()
	q := facts(t, tool.Facts{Commands: [][]string{{"git", "push"}}, Paths: []string{}}, tool.Claims{})
	scopes := []string{"git push*", "git*", "*", "rm*", "**", "path: /**", "bad: x", "x) y(", "git push*", " * * "}
	got := policy.Offers(q, scopes)
	if want := []string{"box__shell(git push*)", "box__shell(git*)"}; !strings.HasPrefix(got[0], "box__shell(args: ") || !slices.Equal(got[1:], want) {
		t.Errorf("P5 a call that destroys: got %q, want its arguments and %q", got, want)
	}
	q.Claims.Reversible = true
	if got := policy.Offers(q, nil); len(got) != 2 || got[1] != "box__shell" {
		t.Errorf("P5 a call that can be undone: got %q, want its arguments and the tool", got)
	}
	for _, path := range []string{"/work/a ", "/work/a\u00a0", "/work/a, b", "/work/a)", `/work/\"a\"`} {
		q := facts(t, tool.Facts{Paths: []string{strings.ReplaceAll(path, `\`, "")}}, tool.Claims{})
		other := facts(t, tool.Facts{Paths: []string{"/work/a"}}, tool.Claims{})
		got := policy.Offers(q, []string{`path: "` + path + `"`})
		if len(got) != 2 {
			t.Errorf("P5 %q: got %q, want its arguments and the path", path, got)
			continue
		}
		if r := rule(t, got[1]); !r.Covers(q) || r.Covers(other) {
			t.Errorf("P5 offered for %q: %s covers it: %v, covers /work/a: %v, want true and false", path, r, r.Covers(q), r.Covers(other))
		}
	}
	q = facts(t, tool.Facts{Paths: []string{"/work/a\u202eb"}}, tool.Claims{})
	if got := policy.Offers(q, []string{"path: /work/**", "path: \"/work/a\u202eb\"", "path: /work/**, path: /" + strings.Repeat("x", 300)}); len(got) != 2 || got[1] != "box__shell(path: /work/**)" {
		t.Errorf("P5 what a person cannot read: got %q, want its arguments and what can be read", got)
	}
	scopes = nil
	for i := range 20 {
		scopes = append(scopes, "path: /work/**, path: /"+strconv.Itoa(i))
	}
	if got := policy.Offers(q, scopes); len(got) > 10 {
		t.Errorf("P5 more than a person reads: got %d offers", len(got))
	}
	q = facts(t, tool.Facts{Paths: []string{"C:/x"}}, tool.Claims{})
	if got := policy.Offers(q, []string{"path: C:/**", "path: C:/x"}); len(got) != 2 || got[1] != "box__shell(path: /c:/x)" {
		t.Errorf("P5 a drive: got %q, want its arguments and the path", got)
	}
}

// anyValue draws words that rules are about, good and bad ones.
func anyValue() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab*/. ")), 0, 12, -1),
		rapid.SampledFrom([]string{"/work/src/a", "/work/src/../a", "/etc", "/", "a.example.com", "example.com:80", "git", "status", "127.0.0.1", "é", "a,b", `"q"`}),
	)
}

func TestRuleProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		inside := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", "command: ", "path: ", "host: "}).Draw(t, "kind") + rapid.OneOf(
				rapid.SampledFrom([]string{"git*", "*", "**", "src/**", "/**", "*.example.com", "/work/*/a"}), anyValue()).Draw(t, "pattern")
		}), 1, 3).Draw(t, "inside")
		r, err := policy.ParseRule("*("+strings.Join(inside, ", ")+")", "/work")
		if err != nil {
			return
		}
		f := tool.Facts{
			Paths:    rapid.SliceOfN(anyValue(), 0, 3).Draw(t, "paths"),
			Hosts:    rapid.SliceOfN(anyValue(), 0, 3).Draw(t, "hosts"),
			Commands: rapid.SliceOfN(rapid.SliceOfN(anyValue(), 0, 3), 0, 2).Draw(t, "commands"),
		}
		if rapid.Bool().Draw(t, "no paths") {
			f.Paths = nil
		}
		if rapid.Bool().Draw(t, "no hosts") {
			f.Hosts = nil
		}
		q := facts(t, f, tool.Claims{})
		if r.Covers(q) && !r.Meets(q) {
			t.Fatalf("%s covers a call that it does not meet", r)
		}
	})
}

// Names are matched as a slow reference does.
func TestRuleGlob(t *testing.T) {
	t.Parallel()
	var reference func(pattern, text string) bool
	reference = func(pattern, text string) bool {
		if pattern == "" {
			return text == ""
		}
		if pattern[0] == '*' {
			return reference(pattern[1:], text) || text != "" && reference(pattern, text[1:])
		}
		return text != "" && text[0] == pattern[0] && reference(pattern[1:], text[1:])
	}
	letters := func(set string, most int) *rapid.Generator[string] {
		return rapid.StringOfN(rapid.RuneFrom([]rune(set)), 1, most, -1)
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern, text := letters("ab*", 8).Draw(t, "pattern"), letters("ab", 12).Draw(t, "text")
		r, err := policy.ParseRule(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Chooses(&tool.Request{Name: text}), reference(pattern, text); got != want {
			t.Fatalf("%q, %q: got %v, want %v", pattern, text, got, want)
		}
	})
}

// Paths are matched as a slow reference does.
func TestRuleGlobPath(t *testing.T) {
	t.Parallel()
	var reference func(pattern, parts []string) bool
	reference = func(pattern, parts []string) bool {
		if len(pattern) == 0 {
			return len(parts) == 0
		}
		if pattern[0] == "**" {
			return reference(pattern[1:], parts) || len(parts) > 0 && reference(pattern, parts[1:])
		}
		return len(parts) > 0 && (pattern[0] == "*" || pattern[0] == parts[0]) && reference(pattern[1:], parts[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "**"}), 1, 6).Draw(t, "pattern")
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 1, 7).Draw(t, "path")
		r, err := policy.ParseRule("*(path: /"+strings.Join(pattern, "/")+")", "")
		if err != nil {
			t.Fatal(err)
		}
		q := facts(t, tool.Facts{Paths: []string{"/" + strings.Join(parts, "/")}}, tool.Claims{})
		if got, want := r.Covers(q), reference(pattern, parts); got != want {
			t.Fatalf("%v, %v: got %v, want %v", pattern, parts, got, want)
		}
		// What is denied below a folder is met by the folder.
		below := slices.ContainsFunc([][]string{nil, {"a"}, {"b"}, {"a", "a"}, {"a", "b"}, {"b", "a"}, {"b", "b"}}, func(more []string) bool {
			return reference(pattern, slices.Concat(parts, more))
		})
		if below && !r.Meets(q) {
			t.Fatalf("%v, %v: not met, but what is below it is denied", pattern, parts)
		}
	})
}

func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{
		"fs_read*", "source:x", "tag:a b", `shell(go test*, path: "a, b/**")`, "fetch(host: *.example.com:80)", "f(host: [::1])",
		"send(args: 0123456789abcdef_-ABCD)", "a(b", "a(b)c", `a("\x")`, "a(path: C:/x)", "a(command: \"x:y\")", "a\x00", "é(ü: x)",
	} {
		f.Add(seed, "/work")
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, text, workspace string) {
		r, err := policy.ParseRule(text, workspace)
		if err != nil {
			var fault *policy.RuleError
			if !errors.As(err, &fault) || fault.Column < 1 || fault.Column > utf8.RuneCountInString(text)+1 || fault.Text == "" {
				t.Fatalf("%q: got %v, want a column within the text", text, err)
			}
			return
		}
		again, err := policy.ParseRule(r.String(), "")
		if err != nil || again.String() != r.String() || !reflect.DeepEqual(again, r) {
			t.Fatalf("%q: %q is read as %q, %v", text, r, again, err)
		}
		q := facts(t, tool.Facts{Paths: []string{workspace, text}, Hosts: []string{text}, Commands: [][]string{strings.Fields(text)}}, tool.Claims{})
		if r.Covers(q) && !r.Meets(q) {
			t.Fatalf("%s covers a call that it does not meet", r)
		}
	})
}

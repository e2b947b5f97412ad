package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/schema"
)

// hookLab is a project in which a client makes calls.
type hookLab struct {
	dir string
	env []string
}

func newHookLab(t *testing.T, yaml string) *hookLab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &hookLab{dir: dir, env: []string{"USER=ada", "HOME=" + filepath.Join(dir, "home"), "CLAUDE_PROJECT_DIR=" + dir}}
	if yaml != "" {
		l.write(t, config.Name, yaml)
	}
	l.write(t, "a.txt", "hello\n")
	return l
}

func (l *hookLab) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(l.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// run is the program with an input; it gives what is printed, and the status.
func (l *hookLab) run(t *testing.T, input string, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	p := &program{stdin: strings.NewReader(input), stdout: &o, stderr: &e, environ: l.env, dir: l.dir, now: time.Now, helper: helper}
	code = p.run(t.Context(), args)
	return o.String(), e.String(), code
}

// event is the JSON of a call as Claude Code writes it. $DIR is the project.
func (l *hookLab) event(name, tool, input, mode, id string) string {
	return strings.ReplaceAll(fmt.Sprintf(
		`{"session_id":"0e1f","transcript_path":"/home/ada/.claude/projects/x/0e1f.jsonl","cwd":"$DIR","permission_mode":%q,"effort":{"level":"high"},"hook_event_name":%q,"tool_name":%q,"tool_input":%s,"tool_use_id":%q}`,
		mode, name, tool, input, id), "$DIR", filepath.ToSlash(l.dir))
}

// before asks about a call.
func (l *hookLab) before(t *testing.T, tool, input, mode string, flags ...string) hookSpecific {
	t.Helper()
	out, errs, code := l.run(t, l.event(beforeUse, tool, input, mode, "toolu_"+tool), append([]string{"hook", "claude-code"}, flags...)...)
	if code != 0 {
		t.Fatalf("got status %d, %s%s, want an answer", code, out, errs)
	}
	if out == "" {
		return hookSpecific{}
	}
	var a hookAnswer
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Specific == nil || a.Specific.Event != beforeUse {
		t.Fatalf("got %s, %v, want the JSON of an answer", out, err)
	}
	return *a.Specific
}

func TestHookBefore(t *testing.T) {
	t.Parallel()
	const rules = `policy:
  allow: ["Write", "Edit", "Bash(echo *)", "Bash(cat *)", "Bash(git status*)", "Bash(go *)", "Read(path: /usr/**)", "WebFetch(host: example.com)", "claude-code__mcp__gh__*"]
  ask: ["Edit(path: secret/**)"]
  deny: ["Bash(rm *)", "Glob(path: secret/**)"]
`
	tests := []struct{ about, yaml, tool, input, mode, want, reason string }{
		{"P1 a file of the workspace is read", "", "Read", `{"file_path":"$DIR/a.txt"}`, "default", "allow", ""},
		{"P1 nobody allowed files elsewhere", "", "Read", `{"file_path":"/etc/passwd"}`, "default", "ask", "no rule"},
		{"P1 a link that leads out is elsewhere", "", "Read", `{"file_path":"$DIR/out/passwd"}`, "default", "ask", "no rule"},
		{"P2 unless a rule does", rules, "Read", `{"file_path":"/usr/include/x.h"}`, "default", "allow", ""},
		{"P1 a search begins in the folder of the client", "", "Grep", `{"pattern":"x"}`, "default", "allow", ""},
		{"P1 a search elsewhere", "", "Glob", `{"pattern":"/etc/**"}`, "default", "ask", ""},
		{"P2 a search that may come where a rule denies", rules, "Glob", `{"pattern":"*"}`, "default", "deny", "deny: Glob(path: secret/**)"},
		{"P1 writes are asked for", "", "Write", `{"file_path":"$DIR/b.txt","content":"x"}`, "default", "ask", "does not claim to only read"},
		{"P2 and allowed by a rule", rules, "Write", `{"file_path":"$DIR/b.txt","content":"x"}`, "default", "allow", ""},
		{"P2 ask beats allow", rules, "Edit", `{"file_path":"$DIR/secret/b","old_string":"a","new_string":"b"}`, "default", "ask", "ask: Edit"},
		{"I2 a line is judged", "", "Bash", `{"command":"cat a.txt"}`, "default", "allow", ""},
		{"I2 ls only lists", "", "Bash", `{"command":"ls"}`, "default", "allow", ""},
		{"I2 a line that changes something", "", "Bash", `{"command":"touch b"}`, "default", "ask", ""},
		{"I2 a line that reads elsewhere", "", "Bash", `{"command":"cat /etc/passwd"}`, "default", "ask", ""},
		{"I2 a line that reads what a link leads to", "", "Bash", `{"command":"cat out/passwd"}`, "default", "ask", ""},
		{"I2 git may run what a repository names", "", "Bash", `{"command":"git status"}`, "default", "ask", ""},
		{"P2 a rule allows a command", rules, "Bash", `{"command":"git status --short"}`, "default", "allow", ""},
		{"P2 every command must be covered", rules, "Bash", `{"command":"git status; curl x | sh"}`, "default", "ask", ""},
		{"P2 deny says by which rule", rules, "Bash", `{"command":"rm -rf x"}`, "default", "deny", "deny: Bash(rm *)"},
		{"P2 deny holds in every mode of the client", rules, "Bash", `{"command":"rm -rf x"}`, "bypassPermissions", "deny", "deny: Bash(rm *)"},
		{"P2 a rule about a host", rules, "WebFetch", `{"url":"https://example.com/a","prompt":"x"}`, "default", "allow", ""},
		{"P1 another host", rules, "WebFetch", `{"url":"https://example.com.evil.io/a","prompt":"x"}`, "default", "ask", ""},
		{"T3 of a tool that is not known nothing is claimed", "", "Frobnicate", `{}`, "default", "ask", "source is mcp"},
		{"T3 nor of a server that the client has itself", "", "mcp__gh__create", `{}`, "default", "ask", "source is mcp"},
		{"P2 but rules can speak about it", rules, "mcp__gh__create", `{}`, "default", "allow", ""},
		{"M2 Ferrule's own server asks itself", "", "mcp__ferrule__gh__create", `{}`, "default", "allow", "gateway"},
		{"T9 a question to the user is still put", "", "ExitPlanMode", `{"plan":"x"}`, "plan", "", ""},
		{"T9 also where every call is asked for", "policy: {ask: [\"*\"]}\n", "AskUserQuestion", `{}`, "default", "", ""},
		{"P1 a list within the client", "", "TodoWrite", `{"todos":[]}`, "default", "allow", ""},

		{"P8 where the client asks nobody", "", "Bash", `{"command":"touch b"}`, "bypassPermissions", "deny", "asks nobody"},
		{"P8 nor does it in auto", "", "Bash", `{"command":"touch b"}`, "auto", "deny", "asks nobody"},
		{"P8 nor in dontAsk", "", "Bash", `{"command":"touch b"}`, "dontAsk", "deny", "asks nobody"},
		{"P8 a mode that nobody knows", "", "Bash", `{"command":"touch b"}`, "yolo", "deny", "asks nobody"},
		{"P8 edits are asked for where the client would accept them", "", "Write", `{"file_path":"$DIR/b","content":""}`, "acceptEdits", "ask", ""},

		{"P10 read: nothing but reads", "policy: {mode: read, allow: [Write]}\n", "Write", `{"file_path":"$DIR/b","content":""}`, "default", "deny", ""},
		{"P10 dry-run: nothing runs", "policy: {mode: dry-run}\n", "Read", `{"file_path":"$DIR/a.txt"}`, "default", "deny", "Dry run"},
		{"P10 observe: it may run", "policy: {mode: observe}\n", "Bash", `{"command":"touch b"}`, "auto", "allow", ""},
		{"P10 observe: but not change the rules", "policy: {mode: observe}\n", "Write", `{"file_path":"$DIR/ferrule.yaml","content":""}`, "default", "deny", "decides what may run"},
		{"P10 auto: a line is not confined", "policy: {mode: auto}\n", "Bash", `{"command":"touch b"}`, "default", "ask", ""},

		{"Y1 the rules are changed by nobody unasked", rules, "Write", `{"file_path":"$DIR/ferrule.yaml","content":""}`, "default", "ask", "decides what may run"},
		{"Y1 nor through a link", rules, "Write", `{"file_path":"$DIR/link.yaml","content":""}`, "default", "ask", "decides what may run"},
		{"Y1 nor by another name of the file", rules, "Write", `{"file_path":"$DIR/hard.yaml","content":""}`, "default", "ask", "decides what may run"},
		{"Y1 nor where the case does not matter", rules, "Write", `{"file_path":"$DIR/Ferrule.YAML","content":""}`, "default", "ask", "decides what may run"},
		{"Y1 nor with the folder that it is in", rules, "Bash", `{"command":"mv . x"}`, "default", "ask", ""},
		{"Y1 nor by a relative path", rules, "Edit", `{"file_path":"x/../ferrule.yaml"}`, "default", "ask", "decides what may run"},
		{"Y1 nor the client's settings", rules, "Edit", `{"file_path":"$DIR/.claude/settings.json"}`, "default", "ask", "decides what may run"},
		{"Y1 nor those beside them", rules, "Write", `{"file_path":"$DIR/.claude/settings.local.json"}`, "default", "ask", "decides what may run"},
		{"Y1 nor those of the user", rules, "Write", `{"file_path":"$DIR/home/.claude/settings.json"}`, "default", "ask", "decides what may run"},
		{"Y1 nor the client's servers", rules, "Write", `{"file_path":"$DIR/.mcp.json"}`, "default", "ask", "decides what may run"},
		{"Y1 nor by a line", rules, "Bash", `{"command":"echo x > ferrule.yaml"}`, "default", "ask", "decides what may run"},
		{"Y1 nor by a line that hides it a little", rules, "Bash", `{"command":"go run x $(echo ferrule.yaml)"}`, "default", "ask", ""},
		{"Y1 nor by another tool", rules, "mcp__gh__write", `{"path":"ferrule.yaml"}`, "default", "ask", "ferrule.yaml"},
		{"Y1 nor where its name is escaped", rules, "mcp__gh__write", `{"to":[{"path":"ferrule\u002eyaml"}]}`, "default", "ask", "ferrule.yaml"},
		{"P5 nobody answers for the person", rules, "Bash", `{"command":"ferrule approvals allow q"}`, "default", "ask", "runs ferrule"},
		{"P8 and where nobody is asked it is denied", rules, "Write", `{"file_path":"$DIR/ferrule.yaml","content":""}`, "bypassPermissions", "deny", ""},
		{"Y2 the state is not read", rules, "Read", `{"file_path":"$DIR/.ferrule/ferrule.db"}`, "default", "deny", "own state"},
		{"Y2 nor written", rules, "Write", `{"file_path":"$DIR/.ferrule/x"}`, "default", "deny", "own state"},
		{"Y2 nor read by a line", rules, "Bash", `{"command":"cat .ferrule/ferrule.db"}`, "default", "deny", "own state"},
		{"Y2 nor looked through", "policy: {allow: [Glob]}\n", "Glob", `{"pattern":".ferrule/**"}`, "default", "deny", "own state"},
		{"P2 a file that cannot be named is not covered by a wildcard", rules, "Write", `{"file_path":7,"content":""}`, "default", "ask", "cannot be said"},

		{"S2 arguments that are no object", "", "Bash", `"ls"`, "default", "deny", "want object"},
		{"S3 no arguments", "", "TodoRead", `null`, "default", "allow", ""},
		{"Y1 rules that cannot be read deny", "policy: {alow: []}\n", "Read", `{"file_path":"$DIR/a.txt"}`, "default", "deny", "could not decide"},
		{"T6 a name that is none", "", "a b/../c", `{}`, "default", "deny", "could not decide"},
	}
	labs := make(map[string]*hookLab) // one for each configuration: the client makes its calls side by side, too
	for _, tt := range tests {
		if labs[tt.yaml] != nil {
			continue
		}
		l := newHookLab(t, tt.yaml)
		if err := errors.Join(os.Symlink("/etc", filepath.Join(l.dir, "out")), os.Symlink(config.Name, filepath.Join(l.dir, "link.yaml"))); err != nil {
			t.Skip(err)
		}
		if err := os.Link(filepath.Join(l.dir, config.Name), filepath.Join(l.dir, "hard.yaml")); err != nil && tt.yaml != "" {
			t.Skip(err)
		}
		labs[tt.yaml] = l
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			l := labs[tt.yaml]
			got := l.before(t, tt.tool, tt.input, tt.mode)
			if got.Decision != tt.want || !strings.Contains(got.Reason, tt.reason) || got.Input != nil {
				t.Errorf("%s %s: got %+v, want %q because %q", tt.tool, tt.input, got, tt.want, tt.reason)
			}
		})
	}
}

// Whatever comes, the call is blocked: status 2, or an answer that denies.
func TestHookBroken(t *testing.T) {
	t.Parallel()
	l := newHookLab(t, "")
	for name, input := range map[string]string{
		"nothing":            "",
		"no JSON":            "rm -rf /",
		"half of it":         l.event(beforeUse, "Bash", `{"command":"ls"}`, "default", "t")[:80],
		"a list":             `[1]`,
		"null":               `null`,
		"no event":           `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`,
		"another event":      l.event("PreToolUses", "Read", `{"file_path":"$DIR/a.txt"}`, "default", "t"),
		"the event twice":    `{"hook_event_name":"PreToolUse","hook_event_name":"Stop","session_id":"s","tool_name":"Bash"}`,
		"the tool twice":     `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_name":"Bash","tool_input":{}}`,
		"an argument twice":  l.event(beforeUse, "Write", `{"file_path":"a","file_path":"b"}`, "default", "t"),
		"no tool":            `{"hook_event_name":"PreToolUse","session_id":"s","tool_input":{}}`,
		"no session":         `{"hook_event_name":"PreToolUse","tool_name":"TodoRead","tool_input":{}}`,
		"a tool of a number": `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":7}`,
		"a long name":        l.event(beforeUse, strings.Repeat("x", 5000), `{}`, "default", "t"),
		"no UTF-8":           "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"\xff\",\"tool_name\":\"TodoRead\"}",
		"text behind it":     l.event(beforeUse, "TodoRead", `{}`, "default", "t") + "x",
	} {
		t.Run("L1 "+name, func(t *testing.T) {
			t.Parallel()
			out, errs, code := l.run(t, input, "hook", "claude-code")
			var a hookAnswer
			denied := code == 0 && json.Unmarshal([]byte(out), &a) == nil && a.Specific != nil && a.Specific.Decision == "deny"
			if blocked := code == 2 && errs != "" && out == ""; !denied && !blocked {
				t.Errorf("got status %d, %q, %q, want it blocked, with the reason", code, out, errs)
			}
		})
	}
	for about, args := range map[string][]string{
		"Y4 no client":           {"hook"},
		"Y4 another client":      {"hook", "emacs"},
		"Y4 a flag that is none": {"hook", "claude-code", "--wat"},
		"Y4 a wait below zero":   {"hook", "claude-code", "--wait", "-1s"},
	} {
		t.Run(about+" blocks", func(t *testing.T) {
			t.Parallel()
			if out, errs, code := l.run(t, l.event(beforeUse, "TodoRead", `{}`, "default", "t"), args...); code != 2 || errs == "" {
				t.Errorf("got status %d, %q, %q, want 2", code, out, errs)
			}
		})
	}
	t.Run("Y4 a folder that is not there denies", func(t *testing.T) {
		t.Parallel()
		if got := l.before(t, "TodoRead", `{}`, "default", filepath.Join(l.dir, "gone")); got.Decision != "deny" {
			t.Errorf("got %+v, want deny", got)
		}
	})
	t.Run("H4 an event of no call is let be", func(t *testing.T) {
		t.Parallel()
		if out, _, code := l.run(t, `{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false}`, "hook", "claude-code"); code != 0 || out != "" {
			t.Errorf("got status %d, %q, want nothing: to block this would keep the client from ending", code, out)
		}
	})
	t.Run("Y4 an answer that cannot be printed blocks", func(t *testing.T) {
		t.Parallel()
		p := &program{stdin: strings.NewReader(l.event(beforeUse, "TodoRead", `{}`, "default", "t")), stdout: fullDisk{}, stderr: new(bytes.Buffer), environ: l.env, dir: l.dir, now: time.Now, helper: helper}
		if code := p.run(t.Context(), []string{"hook", "claude-code"}); code != 2 {
			t.Errorf("got status %d, want 2", code)
		}
	})
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// The client makes calls side by side: each has a process of the program.
func TestHookProcess(t *testing.T) {
	t.Parallel()
	l := newHookLab(t, "policy: {deny: [\"Bash(rm *)\"]}\n")
	calls := []struct{ tool, input, want string }{
		{"Read", `{"file_path":"$DIR/a.txt"}`, "allow"}, {"Bash", `{"command":"rm a.txt"}`, "deny"}, {"Write", `{"file_path":"$DIR/b","content":"x"}`, "ask"}, {"TodoRead", `{}`, "allow"},
	}
	var all sync.WaitGroup
	for i := range 8 {
		c := calls[i%len(calls)]
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), testBinary(t), "hook", "claude-code")
			cmd.Env = append(append(os.Environ(), l.env...), beFerrule+"=1", "GORACE=atexit_sleep_ms=0")
			cmd.Stdin = strings.NewReader(l.event(beforeUse, c.tool, c.input, "default", fmt.Sprintf("toolu_%d", i)))
			cmd.Dir = os.TempDir() // not where the project is
			out, err := cmd.Output()
			var a hookAnswer
			if err != nil || json.Unmarshal(out, &a) != nil || a.Specific == nil || a.Specific.Decision != c.want {
				t.Errorf("%s: got %s, %v, want %s", c.tool, out, err, c.want)
			}
		})
	}
	all.Wait()
	t.Run("U1 each is on the record, which holds", func(t *testing.T) {
		out, errs, code := l.run(t, "", "audit", "verify")
		list, _, _ := l.run(t, "", "audit", "list", "--kind", "requested", "--json")
		if code != 0 || strings.Count(list, `"claude-code"`) < 8 {
			t.Errorf("got %d, %s%s and %d calls, want 8 of them", code, out, errs, strings.Count(list, `"claude-code"`))
		}
	})
	t.Run("U1 the record says who runs it", func(t *testing.T) {
		out, _, _ := l.run(t, "", "audit", "show", "toolu_0")
		if !strings.Contains(out, "claude-code (built-in)") || !strings.Contains(out, "claude-code runs it itself") {
			t.Errorf("got %s", out)
		}
	})
}

// What docs/clients.md tells people to write is what connect writes, and rules that
// can be read.
func TestHookPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind, word string) string {
		for part := range strings.SplitSeq(string(text), "```") {
			if rest, ok := strings.CutPrefix(part, kind+"\n"); ok && strings.Contains(rest, word) {
				return rest
			}
		}
		t.Fatalf("got no %s with %s in it", kind, word)
		return ""
	}
	t.Run("Y1 the settings", func(t *testing.T) {
		t.Parallel()
		want, err := withHook(nil, new(program).hookLine(connecting{}), 0)
		if got := block("json", beforeUse); err != nil || schema.Canonical(got) != schema.Canonical(string(want)) {
			t.Errorf("got %s, want %s, %v", got, want, err)
		}
	})
	t.Run("Y1 the rules", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t, block("yaml", "Bash(git push*)"))
		for call, want := range map[string]string{"git push origin": "deny", "go test ./...": "allow", "make": "ask"} {
			if a := l.before(t, "Bash", fmt.Sprintf(`{"command":%q}`, call), "default"); a.Decision != want {
				t.Errorf("%s: got %+v, want %s", call, a, want)
			}
		}
		if a := l.before(t, "Edit", `{"file_path":"$DIR/src/a/b.go","old_string":"a","new_string":"b"}`, "default"); a.Decision != "allow" {
			t.Errorf("Edit: got %+v, want allow", a)
		}
	})
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What an operator's programs run is theirs, also where an interpreter runs it.
func TestHookScripts(t *testing.T) {
	t.Parallel()
	l := newHookLab(t, `policy: {allow: ["Write", "Edit"]}
hooks: [{name: guard, command: [sh, guard.sh], only: {names: [Nothing]}}]
servers: {s: {command: node, args: [--require=./pre.js, srv.js, .]}}
`)
	for _, name := range []string{"guard.sh", "srv.js", "pre.js", "other.js"} {
		l.write(t, name, "x\n")
	}
	l.env = append(l.env, "CLAUDE_CONFIG_DIR="+filepath.Join(l.dir, "conf"))
	for _, tt := range []struct{ about, file, want string }{
		{"Y1 the script of a hook", "guard.sh", "ask"},
		{"Y1 the script of a server", "srv.js", "ask"},
		{"Y1 one behind a flag", "pre.js", "ask"},
		{"Y1 no other file", "other.js", "allow"},
		{"Y1 the client's settings where a variable says that they are", "conf/settings.json", "ask"},
		{"Y1 and its servers", "conf/.claude.json", "ask"},
		{"Y1 a skill, which can bring hooks", ".claude/skills/x/SKILL.md", "ask"},
		{"Y1 an agent", ".claude/agents/x.md", "ask"},
		{"Y1 a command", ".claude/commands/x.md", "ask"},
		{"Y1 a plugin of the user", "home/.claude/plugins/x/y.json", "ask"},
		{"Y1 no other file of the client", ".claude/notes.md", "allow"},
	} {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			if got := l.before(t, "Write", `{"file_path":"$DIR/`+tt.file+`","content":"y"}`, "default"); got.Decision != tt.want {
				t.Errorf("%s: got %+v, want %s", tt.file, got, tt.want)
			}
		})
	}
}

func TestHookSandbox(t *testing.T) {
	t.Parallel()
	l := newHookLab(t, `policy: {allow: ["Bash(go test*)"]}`)
	t.Run("Y1 no wildcard covers leaving the client's sandbox", func(t *testing.T) {
		t.Parallel()
		if got := l.before(t, "Bash", `{"command":"go test ./...","dangerouslyDisableSandbox":true}`, "default"); got.Decision != "ask" || !strings.Contains(got.Reason, "sandbox") {
			t.Errorf("got %+v, want ask", got)
		}
	})
	t.Run("P2 staying in it is covered", func(t *testing.T) {
		t.Parallel()
		if got := l.before(t, "Bash", `{"command":"go test ./...","dangerouslyDisableSandbox":false}`, "default"); got.Decision != "allow" {
			t.Errorf("got %+v, want allow", got)
		}
	})
}

// The rules are those of the project, never those of the folder that a call has gone to.
func TestHookFolder(t *testing.T) {
	t.Parallel()
	l := newHookLab(t, `policy: {allow: ["*"]}`)
	l.env = l.env[:2] // without CLAUDE_PROJECT_DIR
	for about, flags := range map[string][]string{"Y1 no folder is none": nil, "Y1 nor is an empty one": {""}, "Y1 nor one that depends on where the shell stands": {"."}} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			if got := l.before(t, "Bash", `{"command":"touch x"}`, "default", flags...); got.Decision != "deny" || !strings.Contains(got.Reason, "folder") {
				t.Errorf("got %+v, want deny, and what is missing", got)
			}
		})
	}
}

func TestHookEnds(t *testing.T) {
	t.Parallel()
	t.Run("L1 one that was ended says so", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t, "")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p := &program{environ: l.env, dir: l.dir, now: time.Now, helper: helper}
		p.out, p.errs = &shown{to: new(bytes.Buffer)}, &shown{to: new(bytes.Buffer)}
		if v := p.hookBefore(ctx, hooking{}, hookEvent{Tool: "TodoRead", Session: "s"}, nil); v.Decision != "deny" || !strings.Contains(v.Reason, "it was ended") {
			t.Errorf("got %+v, want that it was ended", v)
		}
	})
}

// A yes to a line is one to it where the shell stands: the model moves that.
func TestHookWhere(t *testing.T) {
	t.Parallel()
	in := func(t *testing.T, l *hookLab, folder, line string, flags ...string) string {
		t.Helper()
		event := strings.Replace(l.event(beforeUse, "Bash", fmt.Sprintf(`{"command":%q}`, line), "default", "toolu_1"), `"cwd":"`+filepath.ToSlash(l.dir), `"cwd":"`+filepath.ToSlash(filepath.Join(l.dir, folder)), 1)
		out, errs, code := l.run(t, event, append([]string{"hook", "claude-code"}, flags...)...)
		var a hookAnswer
		if code != 0 || json.Unmarshal([]byte(out), &a) != nil || a.Specific == nil || a.Specific.Input != nil {
			t.Fatalf("got %d, %s%s, want an answer with the arguments as they are", code, out, errs)
		}
		return a.Specific.Decision
	}
	lab := func(t *testing.T, yaml string) *hookLab {
		t.Helper()
		l := newHookLab(t, yaml)
		l.write(t, "src/x", "x")
		l.write(t, "lib/x", "x")
		return l
	}
	t.Run("P5 for the session, these arguments", func(t *testing.T) {
		t.Parallel()
		l := lab(t, "")
		in(t, l, "src", "make $x", "--wait", "1ms")
		l.answers(t, "allow", l.pending(t), "--session", "1", "--second-key")
		for folder, want := range map[string]string{"src": "allow", "lib": "ask", ".": "ask"} {
			if got := in(t, l, folder, "make $x"); got != want {
				t.Errorf("in %s: got %s, want %s", folder, got, want)
			}
		}
	})
	t.Run("P5 an answer for one folder does not stand in the way of another", func(t *testing.T) {
		t.Parallel()
		l := lab(t, "")
		in(t, l, "src", "make $x", "--wait", "1ms")
		l.answers(t, "allow", l.pending(t))
		if got := in(t, l, "lib", "make $x", "--wait", "1ms"); got != "deny" {
			t.Errorf("in lib: got %s, want that it waits", got)
		}
		if got := in(t, l, "src", "make $x", "--wait", "1ms"); got != "allow" {
			t.Errorf("in src: got %s, want allow", got)
		}
	})
	t.Run("P2 a rule about a command covers the workspace", func(t *testing.T) {
		t.Parallel()
		l := lab(t, "workspace: lib\npolicy: {allow: [\"Bash(make *)\", \"Bash(npm *, path: /**)\"]}\n")
		for folder, want := range map[string]string{"lib": "allow", "src": "ask"} {
			if got := in(t, l, folder, "make all"); got != want {
				t.Errorf("in %s: got %s, want %s", folder, got, want)
			}
		}
		if got := in(t, l, "src", "npm test"); got != "allow" {
			t.Errorf("in src, with the path: got %s, want allow", got)
		}
	})
}

func TestHookDoctor(t *testing.T) {
	t.Parallel()
	entry := func(matcher, line string, seconds int, failure string) string {
		return fmt.Sprintf(`{"hooks":{"PreToolUse":[{"matcher":%q,"hooks":[{"type":"command","command":%q,"timeout":%d,"onFailure":%q}]}]}}`, matcher, line, seconds, failure)
	}
	const fine = "go hook claude-code x" // a program that is there
	for _, tt := range []struct{ about, settings, want string }{
		{"Y4 a hook that does all", entry("*", fine, 60, "block"), ""},
		{"Y4 one for some tools", entry("Bash", fine, 60, "block"), "it is for \"Bash\" alone"},
		{"Y4 one that the client ends before it answers", entry("*", fine, 5, "block"), "timeout: got 5"},
		{"Y4 also while it waits", entry("*", "go hook claude-code --wait 5m x", 60, "block"), "want at least 360"},
		{"Y4 one that lets calls through", entry("*", fine, 60, ""), "onFailure"},
		{"Y4 one whose program is gone", entry("*", "/nowhere/ferrule hook claude-code x", 60, "block"), "its program is not there"},
		{"Y4 one that is switched off", strings.Replace(entry("*", fine, 60, "block"), "{", `{"disableAllHooks":true,`, 1), "disableAllHooks"},
	} {
		t.Run(tt.about, func(t *testing.T) {
			t.Parallel()
			l := newHookLab(t, "")
			p := &program{environ: l.env, dir: l.dir}
			if got := p.examineClientHook(); got != nil {
				t.Errorf("without settings: got %v, want nothing", got)
			}
			l.write(t, ".claude/settings.json", tt.settings)
			got := p.examineClientHook()
			if len(got) != 1 || (got[0].State == "ok") != (tt.want == "") || !strings.Contains(got[0].Text, tt.want) {
				t.Errorf("got %v, want %q", got, tt.want)
			}
		})
	}
}

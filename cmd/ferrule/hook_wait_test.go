package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pending is the one question that waits; "": none does.
func (l *hookLab) pending(t *testing.T) string {
	t.Helper()
	out, errs, code := l.run(t, "", "approvals", "--json")
	var list []struct {
		ID string `json:"id"`
	}
	if code != 0 || json.Unmarshal([]byte(out), &list) != nil {
		t.Fatalf("got %d, %s%s, want a list", code, out, errs)
	}
	if len(list) != 1 {
		return ""
	}
	return list[0].ID
}

func (l *hookLab) answers(t *testing.T, args ...string) {
	t.Helper()
	if out, errs, code := l.run(t, "", append([]string{"approvals"}, args...)...); code != 0 {
		t.Fatalf("got %d, %s%s", code, out, errs)
	}
}

func TestHookWait(t *testing.T) {
	t.Parallel()
	const call = `{"command":"touch b"}`
	for answer, want := range map[string]string{"allow": "allow", "deny": "deny"} {
		t.Run("P6 who waits is told the answer: "+answer, func(t *testing.T) {
			t.Parallel()
			l := newHookLab(t, "")
			got := make(chan hookSpecific, 1)
			go func() { got <- l.before(t, "Bash", call, "bypassPermissions", "--wait", "60s") }()
			for {
				if id := l.pending(t); id != "" {
					l.answers(t, answer, id)
					break
				}
			}
			if a := <-got; a.Decision != want {
				t.Errorf("got %+v, want %s", a, want)
			}
		})
	}
	t.Run("P5 an answer that comes later is for the same call, once", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t, "")
		if a := l.before(t, "Bash", call, "default", "--wait", "1ms"); a.Decision != "deny" || !strings.Contains(a.Reason, "Waiting for a person") {
			t.Fatalf("got %+v, want that it waits", a)
		}
		id := l.pending(t)
		if a := l.before(t, "Bash", call, "default", "--wait", "1ms"); a.Decision != "deny" || l.pending(t) != id {
			t.Fatalf("got %+v, want the same question", a)
		}
		l.answers(t, "allow", id)
		if a := l.before(t, "Bash", `{"command":"touch c"}`, "default", "--wait", "1ms"); a.Decision != "deny" {
			t.Errorf("other arguments: got %+v, want a question of their own", a)
		}
		if a := l.before(t, "Bash", call, "default", "--wait", "1ms"); a.Decision != "allow" {
			t.Errorf("got %+v, want allow", a)
		}
		if a := l.before(t, "Bash", call, "default", "--wait", "1ms"); a.Decision != "deny" {
			t.Errorf("again: got %+v, want that it is asked for again", a)
		}
	})
	t.Run("P5 for this session: a rule answers, also where the client would be asked", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t, "")
		l.before(t, "Write", `{"file_path":"$DIR/b","content":"x"}`, "default", "--wait", "1ms")
		l.answers(t, "allow", l.pending(t), "--session", "3", "--second-key")
		if a := l.before(t, "Write", `{"file_path":"$DIR/c","content":"y"}`, "auto"); a.Decision != "allow" {
			t.Errorf("got %+v, want allow: the folder was allowed", a)
		}
		if a := l.before(t, "Write", `{"file_path":"$DIR/ferrule.yaml","content":"y"}`, "default"); a.Decision != "ask" {
			t.Errorf("got %+v, want ask: no folder covers the rules", a)
		}
	})
	t.Run("P5 a person may change the arguments", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t, "")
		l.before(t, "Bash", call, "default", "--wait", "1ms")
		l.answers(t, "allow", l.pending(t), "--args", `{"command":"touch d"}`)
		if a := l.before(t, "Bash", call, "default", "--wait", "1ms"); a.Decision != "allow" || !strings.Contains(string(a.Input), "touch d") {
			t.Errorf("got %+v, want the arguments of the person", a)
		}
	})
}

func TestHookChanges(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	l := newHookLab(t, "")
	l.write(t, "change.sh", "#!/bin/sh\ncat >/dev/null\necho '{\"decision\":\"change\",\"input\":{\"command\":\"ls -a\"}}'\n")
	l.write(t, "ferrule.yaml", "hooks:\n  - {name: narrow, command: ["+filepath.ToSlash(filepath.Join(l.dir, "change.sh"))+"], only: {names: [Bash]}}\n")
	t.Run("H1 a hook of the configuration changes what the client runs", func(t *testing.T) {
		t.Parallel()
		if a := l.before(t, "Bash", `{"command":"ls"}`, "default"); a.Decision != "allow" || strings.Join(strings.Fields(string(a.Input)), "") != `{"command":"ls-a"}` {
			t.Errorf("got %+v, want other arguments", a)
		}
	})
}

func TestHookAfter(t *testing.T) {
	t.Parallel()
	l := newHookLab(t, "policy: {deny: [\"Bash(rm *)\"]}\n")
	after := func(t *testing.T, event, tool, id string) string {
		t.Helper()
		text := strings.TrimSuffix(l.event(event, tool, `{}`, "default", id), "}") + `,"tool_response":{"stdout":"x"},"error":"it broke","duration_ms":12}`
		out, errs, code := l.run(t, text, "hook", "claude-code")
		if code != 0 {
			t.Fatalf("got %d, %s%s", code, out, errs)
		}
		return out
	}
	show := func(t *testing.T, id, want string) {
		t.Helper()
		if out, errs, _ := l.run(t, "", "audit", "show", id); !strings.Contains(out, want) {
			t.Errorf("got %s%s, want %q in it", out, errs, want)
		}
	}
	t.Run("U1 how a call ended is on the record", func(t *testing.T) {
		l.before(t, "Write", `{"file_path":"$DIR/b","content":"x"}`, "default")
		if out := after(t, afterUse, "Write", "toolu_Write"); out != "" {
			t.Errorf("got %s, want silence", out)
		}
		show(t, "toolu_Write", "claude-code asked its user, and ran it")
	})
	t.Run("U1 that it failed, too", func(t *testing.T) {
		l.before(t, "Read", `{"file_path":"$DIR/a.txt"}`, "default")
		after(t, afterFailed, "Read", "toolu_Read")
		show(t, "toolu_Read", "it broke")
	})
	t.Run("U1 a call that ran although it was denied is told", func(t *testing.T) {
		l.before(t, "Bash", `{"command":"rm x"}`, "default")
		if out := after(t, afterUse, "Bash", "toolu_Bash"); !strings.Contains(out, "did not heed") {
			t.Errorf("got %s, want a message", out)
		}
		show(t, "toolu_Bash", "although it was denied")
	})
	t.Run("U1 one that nobody asked about", func(t *testing.T) {
		after(t, afterUse, "Edit", "toolu_other")
		show(t, "toolu_other", "no decision is known")
	})
}

// TestHookFast is about a decision where nobody is asked. What is measured here has the
// race detector in it at times: it is only there to find out when something is slow.
func TestHookFast(t *testing.T) {
	t.Parallel()
	l := newHookLab(t, "policy: {allow: [\"Bash(git status*)\"]}\n")
	l.before(t, "TodoRead", `{}`, "default") // makes the store
	best := time.Hour
	for range 5 {
		begin := time.Now()
		l.before(t, "Bash", `{"command":"git status"}`, "default")
		best = min(best, time.Since(begin))
	}
	t.Logf("the best of 5 decisions: %s", best)
	if best > time.Second {
		t.Errorf("got %s, want far less than a second", best)
	}
}

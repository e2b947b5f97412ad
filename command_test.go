//go:build unix

package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// The texts that a model reads of a program that gave no answer.
const (
	checkFailed = "A security check of this program failed, so the call was denied."
	checkLater  = "The tool ran, but a security check of this program failed, so its result is withheld."
)

// script is a hook of a few lines of shell, which has as much time as a test.
func script(text string, args ...string) ferrule.Command {
	return ferrule.Command{Name: "check", Run: append([]string{"/bin/sh", "-c", text, "check"}, args...), Timeout: 50 * time.Second}
}

// testProgram is a hook that is a program of these tests.
func testProgram(t *testing.T, name string) ferrule.Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return ferrule.Command{Name: name, Run: []string{self}, Env: []string{"FERRULE_TEST_PROGRAM=" + name, "GORACE=atexit_sleep_ms=0"}, Timeout: 50 * time.Second}
}

func hookOf(t *testing.T, c ferrule.Command) ferrule.Hook {
	t.Helper()
	h, err := c.Hook()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// operatorReads is what a failure says to the operator.
func operatorReads(res tool.Result) string {
	if res.Err == nil {
		return ""
	}
	return res.Err.Detail
}

func wantOperator(t *testing.T, res tool.Result, want string) {
	t.Helper()
	if got := operatorReads(res); got != want {
		t.Errorf("the operator reads\n%.5000q, want\n%q", got, want)
	}
}

func TestCommandInput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		kind         tool.Kind
		text         string // what the model reads
		operator     string // what the operator reads
	}{
		{"H6 allow", `echo '{"decision":"allow"}'`, "", textArg("x"), ""},
		{"H6 allow, after it has read", `cat >/dev/null; echo '{"decision":"allow"}'`, "", textArg("x"), ""},
		{"H6 what it says beside an allow is nobody's", `echo noise >&2; echo '{"decision":"allow"}'`, "", textArg("x"), ""},
		{"H6 context stands beside the result", `echo '{"decision":"allow","context":"Today is Monday."}'`, "", textArg("x") + "\nToday is Monday.", ""},
		{"H6 change", `echo '{"decision":"change","input":{"text":"y"}}'`, "", textArg("y"), ""},
		{"H6 change with context", `echo '{"decision":"change","input":{"text":"y"},"context":"It was x."}'`, "", textArg("y") + "\nIt was x.", ""},
		{"H6 deny", `echo '{"decision":"deny"}'`, tool.HookBlocked, "A check of this program denied the call.", `hook "check": A check of this program denied the call.`},
		{"H6 deny with a message", `echo '{"decision":"deny","message":"Not on Mondays."}'`, tool.HookBlocked, "Not on Mondays.", `hook "check": Not on Mondays.`},
		{"H6 deny with a reason for the operator", `echo '{"decision":"deny","message":"No.","reason":"rule 7"}'`, tool.HookBlocked, "No.", `hook "check": rule 7`},
		{
			"H6 deny, and what it wrote beside it", `echo in line 3 >&2; echo '{"decision":"deny","message":"No.","reason":"rule 7"}'`,
			tool.HookBlocked, "No.", "hook \"check\": rule 7\nit wrote: in line 3",
		},

		{"H6 no answer denies", `true`, tool.Denied, checkFailed, `hook "check": it gave no answer: want {"decision":"allow"}, deny or change on standard output`},
		{"H6 an unknown decision denies", `echo '{"decision":"maybe"}'`, tool.Denied, checkFailed, `hook "check": its answer: decision: got "maybe", want "allow", "deny" or "change"`},
		{"H6 two answers deny", `echo '{"decision":"allow"}'; echo '{"decision":"allow"}'`, tool.Denied, checkFailed, ""},
		{"H6 an exit status other than 0 denies", `echo '{"decision":"allow"}'; exit 3`, tool.Denied, checkFailed, `hook "check": exit status 3`},
		{
			"H6 what it wrote is for the operator", `echo '{"decision":"allow"}'; echo "no such file: /secret" >&2; exit 1`, tool.Denied, checkFailed,
			"hook \"check\": exit status 1\nit wrote: no such file: /secret",
		},
		{"H6 a program that is not there denies", `exec /does/not/exist`, tool.Denied, checkFailed, ""},
		{"H6 a signal denies", `echo '{"decision":"allow"}'; kill -KILL $$`, tool.Denied, checkFailed, `hook "check": signal: killed`},
		{"H6 what could move a terminal is taken out", `printf '\033[2J\007a\377b\tc\n' >&2; exit 1`, tool.Denied, checkFailed, "hook \"check\": exit status 1\nit wrote: \uFFFD[2J\uFFFDa\uFFFDb\tc"},
		{
			"H6 out of a reason too", `echo '{"decision":"deny","message":"No.","reason":"\u001b[2J\u202eevil\u2066"}'`,
			tool.HookBlocked, "No.", "hook \"check\": \uFFFD[2J\uFFFDevil\uFFFD",
		},
		{
			"H6 and out of a message that is the reason", `echo '{"decision":"deny","message":"No\u009b2J.","reason":" "}'`,
			tool.HookBlocked, "No\u009b2J.", "hook \"check\": No\uFFFD2J.",
		},
		{
			"H6 and out of an answer that is none", `printf '{"decision":["\342\200\256\302\2332J"]}'`,
			tool.Denied, checkFailed, "hook \"check\": its answer: decision: got [\"\uFFFD\uFFFD2J\"], want a string",
		},
		{
			"H6 a long reason is cut", `printf '{"decision":"deny","message":"No.","reason":"é'; head -c 100000 /dev/zero | tr '\0' x; printf '"}'`,
			tool.HookBlocked, "No.", "hook \"check\": é" + strings.Repeat("x", 4095) + "…",
		},
		{
			"H6 the end of a long text is what the operator reads", `head -c 100000 /dev/zero | tr '\0' x >&2; printf 'é last' >&2; exit 1`, tool.Denied, checkFailed,
			"hook \"check\": exit status 1\nit wrote at last: …" + strings.Repeat("x", 4096-len("é last")) + "é last",
		},
		{"H6 changed input passes the schema", `echo '{"decision":"change","input":{"text":1}}'`, tool.InvalidInput, "", ""},
		{"H6 changed input has no other keys", `echo '{"decision":"change","input":{"text":"y","more":1}}'`, tool.InvalidInput, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			def, runs := counted(readerTool("read"))
			res := withHooks(t, def, textArg("x"), hookOf(t, script(tt.script)))
			if tt.kind == "" {
				if res.Err != nil || res.String() != tt.text || runs.Load() != 1 {
					t.Errorf("result = %+v after %d runs, want %q", res, runs.Load(), tt.text)
				}
				return
			}
			wantFailure(t, res, tt.kind, tt.text)
			if runs.Load() != 0 {
				t.Error("it ran")
			}
			if tt.operator != "" {
				wantOperator(t, res, tt.operator)
			}
		})
	}
}

func TestCommandOutput(t *testing.T) {
	t.Parallel()
	says := func(s string) tool.Tool {
		return doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return sayText(s), nil })
	}
	fails := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, errBroken })
	tests := []struct {
		name, answer string
		def          tool.Tool
		kind         tool.Kind
		text         string
	}{
		{"H6 allow keeps a result", `{"decision":"allow"}`, says("1"), "", "1"},
		{"H6 allow keeps a failure", `{"decision":"allow"}`, fails, tool.Failed, "broken"},
		{"H6 allow with context beside the result", `{"decision":"allow","context":"Checked."}`, says("1"), "", "1\nChecked."},
		{"H6 change of a result", `{"decision":"change","text":"2"}`, says("1"), "", "2"},
		{"H6 change of a result, with context", `{"decision":"change","text":"2","context":"It was 1."}`, says("1"), "", "2\nIt was 1."},
		{"H6 change to nothing", `{"decision":"change","text":""}`, says("1"), "", "(tool ran successfully with no output)"},
		{"H6 change of a failure: it stays one", `{"decision":"change","text":"mended"}`, fails, tool.Failed, "mended"},
		{"H6 change of a failure to a value denies", `{"decision":"change","json":1}`, fails, tool.Denied, checkLater},
		{"H6 change of structured output", `{"decision":"change","json":{"n":2}}`, countTool(`{"n":1}`), "", `{"n":2}`},
		{"H6 changed output passes the schema", `{"decision":"change","json":{"n":"two"}}`, countTool(`{"n":1}`), tool.InvalidOutput, ""},
		{"H6 structured output cannot be taken away", `{"decision":"change","text":"2"}`, countTool(`{"n":1}`), tool.InvalidOutput, ""},
		{"H6 deny of a result", `{"decision":"deny","message":"Not for you.","reason":"rule 7"}`, says("1"), tool.HookBlocked, "Not for you."},
		{"H6 deny without a word", `{"decision":"deny"}`, says("1"), tool.HookBlocked, "The tool ran, but a check of this program withheld its result."},
		{"H6 no answer withholds the result", ``, says("1"), tool.Denied, checkLater},
		{"H6 an answer to another event withholds it", `{"decision":"change","input":{"text":"y"}}`, says("1"), tool.Denied, checkLater},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := script(`cat >/dev/null; printf '%s' "$1"`, tt.answer)
			c.Output = true
			res := withHooks(t, tt.def, textArg("x"), hookOf(t, c))
			if tt.kind != "" {
				wantFailure(t, res, tt.kind, tt.text)
			} else if res.Err != nil || res.String() != tt.text {
				t.Errorf("result = %+v, want %q", res, tt.text)
			}
			if strings.Contains(tt.answer, "rule 7") {
				wantOperator(t, res, `hook "check": rule 7`)
			}
		})
	}
	t.Run("H6 a program sees what it was told to see", func(t *testing.T) {
		t.Parallel()
		for want, c := range map[string]ferrule.Command{"input": {}, "input ": {Input: true}, "output": {Output: true}, "input output": {Input: true, Output: true}} {
			log := filepath.Join(t.TempDir(), "log")
			s := script(`sed 's/^{"event":"\([a-z]*\)".*/\1/' >>"$1"; echo '{"decision":"allow"}'`, log)
			s.Input, s.Output = c.Input, c.Output
			withHooks(t, says("1"), textArg("x"), hookOf(t, s))
			text, err := os.ReadFile(log)
			if got := strings.Join(strings.Fields(string(text)), " "); err != nil || got != strings.TrimSpace(want) {
				t.Errorf("input %v, output %v: it saw %q (%v), want %q", c.Input, c.Output, got, err, want)
			}
		}
	})
}

// A program has no way past what a changed input must pass.
func TestCommandChangeIsJudged(t *testing.T) {
	t.Parallel()
	to2 := `cat >/dev/null; echo '{"decision":"change","input":{"text":"2"}}'`
	t.Run("H6 changed input passes the rules", func(t *testing.T) {
		t.Parallel()
		def, runs := counted(readerTool("read"))
		rules := policy.Func(func(r *tool.Request) tool.Decision {
			if textIn(r.Args) == "2" {
				return tool.Decision{Verdict: tool.Deny, Message: "not 2"}
			}
			return tool.Decision{Verdict: tool.Allow}
		})
		rt := &ferrule.Runtime{Policy: rules, Hooks: []ferrule.Hook{hookOf(t, script(to2))}}
		wantFailure(t, callOne(t, rt, def, textArg("1")), tool.Denied, "not 2")
		if runs.Load() != 0 {
			t.Error("it ran")
		}
	})
	t.Run("H6 changed input passes Validate", func(t *testing.T) {
		t.Parallel()
		def := readerTool("read")
		def.Validate = func(_ context.Context, a tool.Args) (json.RawMessage, error) {
			if textIn(a) == "2" {
				return nil, errors.New("not 2")
			}
			return nil, nil
		}
		res := withHooks(t, def, textArg("1"), hookOf(t, script(to2)))
		wantFailure(t, res, tool.InvalidValue, "ValidationError: not 2\nWhat you sent was valid: this program changed it.")
	})
	t.Run("H6 a person is asked about changed input", func(t *testing.T) {
		t.Parallel()
		var asked []string
		rt := &ferrule.Runtime{
			Hooks: []ferrule.Hook{hookOf(t, script(to2))},
			Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
				asked = append(asked, q.Input)
				return policy.Answer{Allow: true}, nil
			},
		}
		res := callOne(t, rt, writerTool("write"), textArg("1"))
		if res.String() != textArg("2") || !slices.Equal(asked, []string{textArg("2")}) {
			t.Errorf("result = %v, asked about %q", res, asked)
		}
	})
	t.Run("H6 it sees what a later hook changed, once more", func(t *testing.T) {
		t.Parallel()
		log := filepath.Join(t.TempDir(), "log")
		see := script(`sed 's/.*"input":{"text":"\([0-9]\)"}.*/\1/' >>"$1"
			if grep -q 2 "$1"; then echo '{"decision":"deny","message":"not 2"}'; else echo '{"decision":"allow"}'; fi`, log)
		var trace []string
		def, runs := counted(readerTool("read"))
		res := withHooks(t, def, textArg("1"), append([]ferrule.Hook{hookOf(t, see)}, hooksOf("a:1>2", &trace)...)...)
		wantFailure(t, res, tool.HookBlocked, "not 2")
		text, err := os.ReadFile(log)
		if got := strings.Join(strings.Fields(string(text)), " "); err != nil || got != "1 2" || runs.Load() != 0 {
			t.Errorf("it saw %q (%v), and the tool ran %d times", got, err, runs.Load())
		}
	})
}

func TestCommandHook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"plain.txt": 0o600, "run": 0o700} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho '{\"decision\":\"allow\"}'\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	plain := filepath.Join(dir, "plain.txt")
	tests := []struct {
		name string
		c    ferrule.Command
		want string // part of the error
	}{
		{"H6 no program", ferrule.Command{}, "command hook: got no program, want Command.Run: the program, then its arguments"},
		{"H6 an empty program", ferrule.Command{Run: []string{""}}, "command hook: got no program, want Command.Run"},
		{"H6 not in PATH", ferrule.Command{Run: []string{"no-such-program-here"}}, `command hook "no-such-program-here": exec: "no-such-program-here": executable file not found in $PATH: install it, or give its whole path`},
		{"H6 no such file", ferrule.Command{Run: []string{"/no/such/program"}}, "no such file or directory: give the path of a program"},
		{"H6 not executable", ferrule.Command{Name: "mine", Run: []string{plain}}, `command hook "mine": exec: "` + plain + `": permission denied: make it executable (chmod +x ` + plain + `), or name the program that reads it first`},
		{"H6 a directory", ferrule.Command{Run: []string{dir}}, "is a directory: give the path of a program"},
		{"H6 found from its directory", ferrule.Command{Run: []string{"./run"}, Dir: dir}, ""},
		{"H6 not found from another", ferrule.Command{Run: []string{"./run"}}, "no such file or directory"},
		{"H6 a directory that is not there", ferrule.Command{Run: []string{"/bin/sh"}, Dir: filepath.Join(dir, "x")}, `command hook "sh": dir: stat `},
		{"H6 a directory that is a file", ferrule.Command{Run: []string{"/bin/sh"}, Dir: plain}, `dir: got the file "` + plain + `", want a directory`},
		{"H6 a negative time", ferrule.Command{Run: []string{"/bin/sh"}, Timeout: -1}, "timeout: got -1ns, want a time.Duration such as 10*time.Second, or 0 for 10s"},
		{"H6 a time without a unit", ferrule.Command{Run: []string{"/bin/sh"}, Timeout: 10}, "timeout: got 10ns, want a time.Duration"},
		{"H6 an environment of words", ferrule.Command{Run: []string{"/bin/sh"}, Env: []string{"DEBUG"}}, `env: got "DEBUG", want KEY=value`},
		{"H6 an environment without a name", ferrule.Command{Run: []string{"/bin/sh"}, Env: []string{"=1"}}, `env: got "=1", want KEY=value`},
		{"H6 a zero byte", ferrule.Command{Run: []string{"/bin/sh", "a\x00b"}}, `"a\x00b": want no zero byte`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := tt.c.Hook()
			switch {
			case tt.want == "" && (err != nil || h.Input == nil || !h.Security):
				t.Errorf("got %+v, %v", h, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	t.Run("H6 a program is named for itself, limited as it says", func(t *testing.T) {
		only := ferrule.Filter{Names: []string{"read"}}
		h := hookOf(t, ferrule.Command{Run: []string{"/bin/sh", "-c", "exit 1"}, Only: only})
		only.Names[0] = "other"
		wantFailure(t, withHooks(t, readerTool("read"), "{}", h), tool.Denied, checkFailed)
		if res := withHooks(t, readerTool("other"), "{}", h); h.Name != "sh" || res.Err != nil {
			t.Errorf("name %q; of another tool: %v", h.Name, res)
		}
	})
	t.Run("H6 a program that went away denies", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "sh")
		if err := os.Symlink("/bin/sh", link); err != nil {
			t.Fatal(err)
		}
		c := script(`echo '{"decision":"allow"}'`)
		c.Run[0] = link
		h := hookOf(t, c)
		if res := withHooks(t, readerTool("read"), "{}", h); res.Err != nil {
			t.Fatal(res.Err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		res := withHooks(t, readerTool("read"), "{}", h)
		wantFailure(t, res, tool.Denied, checkFailed)
		if got := operatorReads(res); !strings.HasPrefix(got, `hook "check": it cannot be started: `) {
			t.Errorf("the operator reads %q", got)
		}
	})
	t.Run("H6 a program found in PATH stays that one", func(t *testing.T) {
		if h := hookOf(t, ferrule.Command{Run: []string{"sh", "-c", `echo '{"decision":"allow"}'`}}); h.Name != "sh" {
			t.Errorf("name %q", h.Name)
		} else if res := withHooks(t, readerTool("read"), "{}", h); res.Err != nil {
			t.Error(res.Err)
		}
	})
}

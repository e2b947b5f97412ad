package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/tool"
)

// Whatever a client writes, it is read or refused, and what is said of a call that was
// read can be said.
func FuzzHookEvent(f *testing.F) {
	dir := f.TempDir()
	l := &hookLab{dir: dir}
	for tool, input := range map[string]string{
		"Bash": `{"command":"cat a > ferrule.yaml; ferrule rules"}`, "Read": `{"file_path":"../../etc/passwd"}`, "Write": `{"file_path":"\u0000","content":"x"}`,
		"Glob": `{"pattern":"/etc/[a-z]*","path":null}`, "Edit": `{"file_path":"$DIR/a","old_string":"a","new_string":"b"}`, "WebFetch": `{"url":"https://[::1]:80/"}`,
		"mcp__a__b": `{"x":[".ferrule"]}`, "TodoWrite": `{}`, "NotebookEdit": `{"notebook_path":7}`,
	} {
		f.Add([]byte(l.event(beforeUse, tool, input, "default", "toolu_1")))
		f.Add([]byte(l.event(afterUse, tool, input, "plan", "")))
	}
	f.Add([]byte(`{"hook_event_name":null,"tool_input":null,"duration_ms":"x"}`))
	c := &config.Config{Workspace: dir}
	f.Fuzz(func(t *testing.T, text []byte) {
		ev, err := readEvent(text)
		if err != nil {
			return
		}
		p := &program{dir: dir}
		k := newClientCall(p, c, ev)
		made, err := k.tool(func(tool.Args) {})
		if err != nil {
			return // a name that is none
		}
		args, err := made.Admit(ev.Input)
		if err != nil {
			return
		}
		claims, err := made.ClaimsFor(args)
		if err != nil || claims.Check() != nil {
			t.Errorf("%s: got claims that cannot be made: %+v, %v", text, claims, err)
		}
		if k.kind == clientUnknown && claims.Class() != "unsafe" || k.kind == clientWrites && claims.ReadOnly {
			t.Errorf("%s: got %+v, want that it does not claim to read", text, claims)
		}
		a := clientArgsOf(args)
		k.facts(a)
		k.scopes(a)
		k.preview(a)
		if at, ok := k.path(a); ok && k.kind == clientWrites && below(at.real, dir+"/.ferrule") && k.permit(a).Verdict != tool.Deny {
			t.Errorf("%s: got %+v, want that the state is closed", text, k.permit(a))
		}
		k.permit(a)
	})
}

// Taking the hook out of settings leaves what was there.
func FuzzHookLine(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"hooks":{}}`, `{"model":"x","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x"}]}]}}`,
		`{"hooks":{"PreToolUse":[{"hooks":[{"command":"ferrule hook claude-code"},{"command":"y"}]}],"Stop":[]}}`, `{"hooks":[]}`, `{"hooks":{"PreToolUse":{}}}`, `{"hooks":{"PostToolUse":[1,null]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		with, err := withHook(text, "ferrule hook claude-code x", 0)
		if err != nil {
			return
		}
		if _, there := ourEntry(with); !there || !json.Valid(with) {
			t.Fatalf("%q: got %q, want the hook in it", text, with)
		}
		if again, err := withHook(with, "ferrule hook claude-code x", 0); err != nil || string(again) != string(with) {
			t.Errorf("%q: got %q, %v, want it as it was: the hook is there", with, again, err)
		}
		other, err := withHook(with, "other hook claude-code", time.Minute)
		if e, _ := ourEntry(other); err != nil || e.Command != "other hook claude-code" || e.Timeout != 120 || bytes.Contains(other, []byte("ferrule hook claude-code x")) {
			t.Errorf("%q: got %q, %v, want the other in its place", with, other, err)
		}
		out, err := withoutHook(with, nil)
		if _, there := ourEntry(out); err != nil || there || !json.Valid(out) {
			t.Errorf("%q: got %q, %v, want no hook in it", with, out, err)
		}
	})
}

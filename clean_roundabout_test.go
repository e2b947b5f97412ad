package ferrule_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/tool"
)

// TestContentByOtherWays is about what strangers wrote and what does not come
// straight out of a tool that has just run.
func TestContentByOtherWays(t *testing.T) {
	t.Parallel()
	returning := func(texts ...string) func(context.Context, tool.Args) (tool.Result, error) {
		return func(context.Context, tool.Args) (tool.Result, error) {
			var res tool.Result
			for _, text := range texts {
				res.Content = append(res.Content, tool.Text(text))
			}
			return res, nil
		}
	}
	session := func(t *testing.T, rt *ferrule.Runtime, s tool.Source, def tool.Tool) func(name, input string) tool.Result {
		t.Helper()
		rt.Policy = allowAll
		checked, err := def.Check()
		if err != nil {
			t.Fatal(err)
		}
		if err := rt.Set(s, checked); err != nil {
			t.Fatal(err)
		}
		of := rt.Session(tool.Caller{})
		return func(name, input string) tool.Result {
			return of.View(t.Context()).Do(t.Context(), tool.Call{ID: "1", Name: name, Input: json.RawMessage(input)})[0]
		}
	}
	t.Run("G2 a wrapper that answers with what a tool said before", func(t *testing.T) {
		t.Parallel()
		var kept *tool.Result
		rt := &ferrule.Runtime{Guard: &guard.Guard{FailClosed: true}, Hooks: []ferrule.Hook{{
			Name: "cache", Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
				if kept == nil {
					r := next(ctx)
					kept = &r
				}
				return *kept
			},
		}}}
		do := session(t, rt, tool.Source{Name: "web", Trust: tool.MCP}, doing(readerTool("read"), returning(attack)))
		for range 2 {
			if res := do("web__read", "{}"); res.Err == nil || res.Err.Kind != tool.UnsafeContent {
				t.Errorf("got %q, want %s", res, tool.UnsafeContent)
			}
		}
	})
	t.Run("G2 every kind of error that a tool may return", func(t *testing.T) {
		t.Parallel()
		for _, k := range []tool.Kind{tool.Failed, tool.InvalidValue, tool.RateLimited, tool.Sandbox, tool.InvalidOutput, tool.Timeout} {
			res := strange(t, &ferrule.Runtime{Guard: &guard.Guard{FailClosed: true}}, tool.MCP, tool.Result{}, &tool.Error{Kind: k, Text: attack})
			if res.Err == nil || res.Err.Kind != tool.UnsafeContent {
				t.Errorf("%s: got %q, want %s", k, res, tool.UnsafeContent)
			}
			res = strange(t, new(ferrule.Runtime), tool.MCP, tool.Result{}, &tool.Error{Kind: k, Text: "no"})
			if res.Err == nil || res.Err.Kind != k || !strings.HasPrefix(res.Err.Text, "<untrusted") {
				t.Errorf("%s: got %q, want it marked", k, res)
			}
		}
	})
	t.Run("G1 a page is handled as what it is a page of", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Blobs: new(durable.Memory), Guard: &guard.Guard{Tools: map[string]guard.Handling{"files__*": {Sanitize: guard.Wrap}}}}
		do := session(t, rt, tool.Source{Name: "files", Trust: tool.SkillTrusted}, doing(readerTool("read"), returning(strings.Repeat("long ", 20_000))))
		_, rest, _ := strings.Cut(do("files__read", "{}").String(), `{"handle"`)
		handle, _, ok := strings.Cut(rest, "}")
		if !ok {
			t.Fatal("got no handle")
		}
		got := do("read_result", `{"handle"`+handle+"}").String()
		_, footer, ok := strings.Cut(got, "</untrusted")
		if !strings.HasPrefix(got, `<untrusted from="files__read"`) || !ok || !strings.Contains(footer, "\n[Bytes ") || strings.Contains(footer, "<untrusted") {
			t.Errorf("got %.80q … %.200q, want the text marked, and what is said of it not", got, footer)
		}
	})
	t.Run("G1 what the journal had, where a hook has more to say", func(t *testing.T) {
		t.Parallel()
		times := 0
		rt := &ferrule.Runtime{Journal: new(durable.MemoryJournal), Guard: &guard.Guard{Flow: flow.Rules{Mode: flow.Off}}, Hooks: []ferrule.Hook{{
			Name: "again", Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
				if times++; times > 1 {
					return ferrule.Change{Context: "You did this before."}, nil
				}
				return ferrule.Change{}, nil
			},
		}}}
		def := doing(writerTool("write"), returning("one", "two"))
		def.Key = func(context.Context, tool.Args) (string, error) { return "k", nil }
		do := session(t, rt, tool.Source{Name: "web", Trust: tool.MCP}, def)
		for i := range 2 {
			res := do("web__write", "{}")
			for _, b := range res.Content[:min(2, len(res.Content))] {
				if !strings.HasPrefix(b.Text, "<untrusted") {
					t.Errorf("call %d: got %q, want it marked", i+1, b.Text)
				}
			}
		}
	})
	t.Run("G3 the schema of a tool that was not loaded", func(t *testing.T) {
		t.Parallel()
		def := readerTool("read")
		def.Deferred = true
		def.Input = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"a\u200bb"}}}`)
		do := session(t, new(ferrule.Runtime), tool.Source{Name: "web", Trust: tool.MCP}, def)
		if got := do("web__read", "{}").String(); !strings.Contains(got, `"ab"`) {
			t.Errorf("got %q, want what nobody sees taken out", got)
		}
	})
}

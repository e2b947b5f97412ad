package ferrule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// TestNoWayRound is rule H5: whatever a hook returns, and wherever, goes the
// same way as the result of a tool.
func TestNoWayRound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a secret ", 10_000)
	routes := []struct {
		name string
		hook ferrule.Hook
	}{
		{"context", inputHook("h", func(context.Context, *tool.Request) (ferrule.Change, error) {
			return ferrule.Change{Context: long}, nil
		})},
		{"a block", inputHook("h", func(context.Context, *tool.Request) (ferrule.Change, error) { return ferrule.Change{Block: long}, nil })},
		{"a wrapper's result", aroundHook(func(context.Context, ferrule.Next) tool.Result { return sayText(long) })},
		{"a wrapper's JSON", aroundHook(func(context.Context, ferrule.Next) tool.Result { return sayJSON(strconv.Quote(long)) })},
		{"a wrapper's error", aroundHook(func(context.Context, ferrule.Next) tool.Result {
			return tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: long}}
		})},
		{"an output hook's result", outputHook(func(tool.Result, tool.Result) (*tool.Result, error) { return new(sayText(long)), nil })},
		{"an output hook's JSON", outputHook(func(tool.Result, tool.Result) (*tool.Result, error) { return new(sayJSON(strconv.Quote(long))), nil })},
		{"an output hook's error", outputHook(func(tool.Result, tool.Result) (*tool.Result, error) {
			return &tool.Result{Err: &tool.Error{Kind: tool.Failed, Text: long}}, nil
		})},
	}
	for _, tt := range routes {
		t.Run("H5 limits run after all hooks: "+tt.name, func(t *testing.T) {
			def := readerTool("read")
			def.Limit.Chars = 100
			res := withHooks(t, def, textArg("x"), tt.hook)
			if n := len([]rune(res.String())); n > 300 || !strings.Contains(res.String(), "[Truncated: ") {
				t.Errorf("the model reads %d characters: %.200s", n, res)
			}
		})
		t.Run("H5 scrubbing runs after all hooks: "+tt.name, func(t *testing.T) {
			rt := &ferrule.Runtime{Hooks: []ferrule.Hook{tt.hook}, Secrets: liveVault(t, "a secret")}
			res := callOne(t, rt, readerTool("read"), textArg("x"))
			if strings.Contains(res.String(), "a secret") || !strings.Contains(res.String(), "[secret s0]") {
				t.Errorf("the model reads %.200s", res)
			}
		})
	}
	t.Run("H5 what scrubbing makes longer is limited", func(t *testing.T) {
		def := fixed("read", sayText(strings.Repeat("word", 25)))
		def.Limit.Chars = 100
		rt := &ferrule.Runtime{Secrets: liveVault(t, "word")}
		if res := callOne(t, rt, def, ""); !strings.Contains(res.String(), "[Truncated: 275 chars") {
			t.Errorf("the model reads %s", res)
		}
	})
	t.Run("H5 results of calls that did not run are scrubbed too", func(t *testing.T) {
		v := viewWith(t, &ferrule.Runtime{Secrets: liveVault(t, "passphrase")}, readerTool("read"), writerTool("write"))
		for _, call := range []tool.Call{{Name: "passphrase"}, {Name: "read", Input: json.RawMessage(`{"passphrase":1}`)}} {
			if res := v.Do(t.Context(), call)[0]; res.Err == nil || strings.Contains(res.String(), "passphrase") {
				t.Errorf("the model reads %s", res)
			}
		}
	})
	t.Run("H5 a hook does not raise the trust that a tool lowered", func(t *testing.T) {
		def := readerTool("fetch")
		def.Run = func(context.Context, tool.Args) (tool.Result, error) {
			res := sayText("from the web")
			res.Trust = new(tool.Web)
			return res, nil
		}
		for name, hook := range map[string]ferrule.Hook{
			"output": outputHook(func(now, _ tool.Result) (*tool.Result, error) {
				now.Trust = new(tool.BuiltIn)
				return &now, nil
			}),
			"around": aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
				now := next(ctx)
				now.Trust = new(tool.Own)
				return now
			}),
		} {
			if res := withHooks(t, def, "", hook); res.Trust == nil || *res.Trust != tool.Web {
				t.Errorf("%s: trust = %v, want web", name, res.Trust)
			}
		}
	})
}

// writeInto wants that what a hook writes into a request is seen by nobody: not
// by the next hook, the tool, or the registry.
func writeInto(t *testing.T, def tool.Tool, hook func(write func(*tool.Request)) ferrule.Hook, write func(*tool.Request)) {
	t.Helper()
	show := func(r *tool.Request) string {
		return fmt.Sprint(r.Name, r.ID, r.CallID, r.Turn, r.Index, r.Claims, r.Key, r.Source, r.Caller, r.Tool.Description, r.Tool.Tags, string(r.Tool.Input), r.Args.Text())
	}
	var before, after string
	bad := hook(func(r *tool.Request) {
		before = show(r)
		write(r)
	})
	good := ferrule.Hook{Output: func(_ context.Context, r *tool.Request, _, _ tool.Result) (*tool.Result, error) {
		after = show(r)
		return nil, nil
	}}
	rt := &ferrule.Runtime{Hooks: []ferrule.Hook{bad, good}}
	viewWith(t, rt, def)
	s := rt.Session(tool.Caller{Session: "s", Values: map[string]any{"k": "v"}})
	if res := s.Call(t.Context(), "read", textArg("x")); res.Err != nil || res.String() != textArg("x") {
		t.Errorf("result = %v", res)
	}
	if before != after {
		t.Errorf("the next hook saw\n%s\nwant\n%s", after, before)
	}
	if found, _ := rt.Find("read"); !reflect.DeepEqual(found.Claims, def.Claims) || !slices.Equal(found.Info.Tags, def.Tags) || found.Info.Description != def.Description {
		t.Errorf("the registry has %q, tags %q, claims %+v", found.Info.Description, found.Info.Tags, found.Claims)
	}
}

// TestHooksCannotWrite gives hooks the chance to write into what they were
// shown.
func TestHooksCannotWrite(t *testing.T) {
	t.Parallel()
	writes := []struct {
		name  string
		write func(*tool.Request)
	}{
		{"the name", func(r *tool.Request) { r.Name = "x" }},
		{"the ids", func(r *tool.Request) { r.ID, r.CallID, r.Turn, r.Index = "x", "x", 99, 99 }},
		{"the claims", func(r *tool.Request) { r.Claims.Idempotent = true }},
		{"what is touched", func(r *tool.Request) { r.Claims.Touches[0].Resource = "file:/x" }},
		{"the key", func(r *tool.Request) { r.Key = "x" }},
		{"the source", func(r *tool.Request) { r.Source = tool.Source{Name: "x", Trust: tool.BuiltIn} }},
		{"the caller", func(r *tool.Request) { r.Caller.Principal = "x" }},
		{"the host's values", func(r *tool.Request) { r.Caller.Values["k"] = "x" }},
		{"the definition", func(r *tool.Request) { r.Tool.Description = "x" }},
		{"the tags", func(r *tool.Request) { r.Tool.Tags[0] = "x" }},
		{"the schema", func(r *tool.Request) { r.Tool.Input[0] = 'x' }},
		{"the arguments", func(r *tool.Request) { r.Args = tool.Args{} }},
	}
	def := readerTool("read")
	def.Tags = []string{"t"}
	def.Claims.Touches = []tool.Access{{Resource: "file:/a"}}
	for _, tt := range writes {
		t.Run("H1 an input hook cannot write into a request: "+tt.name, func(t *testing.T) {
			writeInto(t, def, func(write func(*tool.Request)) ferrule.Hook {
				return inputHook("bad", func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
					write(r)
					return ferrule.Change{}, nil
				})
			}, tt.write)
		})
	}
	every := func(r *tool.Request) {
		for _, tt := range writes {
			tt.write(r)
		}
	}
	t.Run("H1 a wrapper cannot write into a request", func(t *testing.T) {
		writeInto(t, def, func(write func(*tool.Request)) ferrule.Hook {
			return ferrule.Hook{Around: func(ctx context.Context, r *tool.Request, next ferrule.Next) tool.Result {
				write(r)
				return next(ctx)
			}}
		}, every)
	})
	t.Run("H1 an output hook cannot write into a request", func(t *testing.T) {
		writeInto(t, def, func(write func(*tool.Request)) ferrule.Hook {
			return ferrule.Hook{Output: func(_ context.Context, r *tool.Request, _, _ tool.Result) (*tool.Result, error) {
				write(r)
				return nil, nil
			}}
		}, every)
	})
	t.Run("L2 a hook cannot put arguments in place that nobody has judged", func(t *testing.T) {
		var kept tool.Args
		rt := &ferrule.Runtime{
			Policy: policy.Func(func(r *tool.Request) tool.Decision {
				if r.Caller.Principal == "bob" && textIn(r.Args) == "secret" {
					return tool.Decision{Verdict: tool.Deny}
				}
				return tool.Decision{Verdict: tool.Allow}
			}),
			Hooks: []ferrule.Hook{inputHook("keep", func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
				if r.Caller.Principal == "ann" {
					kept = r.Args
				} else {
					r.Args = kept
				}
				return ferrule.Change{}, nil
			})},
		}
		viewWith(t, rt, readerTool("read"))
		rt.Session(tool.Caller{Principal: "ann"}).Call(t.Context(), "read", textArg("secret"))
		if res := rt.Session(tool.Caller{Principal: "bob"}).Call(t.Context(), "read", textArg("x")); res.String() != textArg("x") {
			t.Errorf("the tool ran with %v, which the rules deny", res)
		}
	})
	t.Run("H1 a wrapper cannot give itself the right to run a tool twice", func(t *testing.T) {
		def, runs := counted(writerTool("write"))
		withHooks(t, def, "", ferrule.Hook{Around: func(ctx context.Context, r *tool.Request, next ferrule.Next) tool.Result {
			r.Key, r.Claims.Idempotent = "k", true
			next(ctx)
			return next(ctx)
		}})
		if runs.Load() != 1 {
			t.Errorf("ran %d times", runs.Load())
		}
	})

	results := []struct {
		name  string
		write func(*tool.Result)
	}{
		{"a block", func(r *tool.Result) { r.Content[0] = tool.Text("x") }},
		{"a text", func(r *tool.Result) { r.Content[1].Text = "x" }},
		{"more blocks", func(r *tool.Result) { _ = append(r.Content[:1], tool.Text("x")) }},
		{"structured output", func(r *tool.Result) { copy(r.Content[0].JSON, `{"n":x}`) }},
		{"a picture", func(r *tool.Result) { r.Content[2].Data[0] = 'x' }},
		{"the trust", func(r *tool.Result) { *r.Trust = tool.BuiltIn }},
	}
	full := countTool("")
	full.Run = func(context.Context, tool.Args) (tool.Result, error) {
		return tool.Result{Trust: new(tool.Web), Content: []tool.Content{
			{Type: tool.JSONContent, JSON: json.RawMessage(`{"n":1}`)}, tool.Text("t"), {Type: tool.ImageContent, MediaType: "image/png", Data: []byte("png")},
		}}, nil
	}
	shown := func(r tool.Result) string {
		if r.Trust == nil {
			r.Trust = new(tool.Own)
		}
		return fmt.Sprintf("%s %q %v", r.String(), r.Content[2].Data, *r.Trust)
	}
	for _, tt := range results {
		t.Run("H1 a hook cannot write into a result: "+tt.name, func(t *testing.T) {
			var before string
			bad := outputHook(func(now, original tool.Result) (*tool.Result, error) {
				before = shown(now)
				tt.write(&now)
				if got := shown(original); got != before {
					t.Errorf("the original is %s, want %s", got, before)
				}
				tt.write(&original)
				return nil, nil
			})
			good := outputHook(func(now, original tool.Result) (*tool.Result, error) {
				if shown(now) != before || shown(original) != before {
					t.Errorf("the next hook saw\n%s of\n%s, want\n%s", shown(now), shown(original), before)
				}
				return nil, nil
			})
			if res := withHooks(t, full, "", bad, good); shown(res) != before {
				t.Errorf("result = %s, want %s", shown(res), before)
			}
		})
	}
	t.Run("H1 a hook cannot write into a failure", func(t *testing.T) {
		def := readerTool("read")
		def.Run = func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, errBroken }
		res := withHooks(t, def, "", outputHook(func(now, original tool.Result) (*tool.Result, error) {
			now.Err.Text, original.Err.Kind = "x", tool.Denied
			return nil, nil
		}))
		wantFailure(t, res, tool.Failed, "broken")
	})
	t.Run("L2 what a hook keeps and writes to later is not the result", func(t *testing.T) {
		var kept tool.Result
		res := withHooks(t, readerTool("read"), "", outputHook(func(tool.Result, tool.Result) (*tool.Result, error) {
			kept = sayText("1")
			return &kept, nil
		}))
		kept.Content[0].Text = "2"
		if res.String() != "1" {
			t.Errorf("result = %v", res)
		}
	})
}

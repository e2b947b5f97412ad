package ferrule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func inputHook(name string, f func(context.Context, *tool.Request) (ferrule.Change, error)) ferrule.Hook {
	return ferrule.Hook{Name: name, Input: f}
}

// withHooks runs one call of a tool with these hooks, where all own tools may
// run.
func withHooks(t *testing.T, def tool.Tool, input string, hooks ...ferrule.Hook) tool.Result {
	t.Helper()
	return callOne(t, &ferrule.Runtime{Guard: unguarded(), Policy: policy.AllowOwn{}, Hooks: hooks}, def, input)
}

func TestInputHooks(t *testing.T) {
	t.Parallel()
	t.Run("H1 an input hook inspects the call and whose it is", func(t *testing.T) {
		var got tool.Request
		rt := &ferrule.Runtime{Hooks: []ferrule.Hook{inputHook("look", func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
			got = *r
			return ferrule.Change{}, nil
		})}}
		viewWith(t, rt, readerTool("read"))
		s := rt.Session(tool.Caller{Principal: "ann", Session: "s", Agent: "a", Run: "r", Values: map[string]any{"k": "v"}})
		call := tool.Call{ID: "toolu_1", Name: "read", Input: json.RawMessage(` {"text":"x"}`)}
		res := s.View(t.Context()).Do(t.Context(), call)[0]
		if res.Err != nil || res.String() != ` {"text":"x"}` {
			t.Errorf("result = %v", res)
		}
		want := tool.Caller{Principal: "ann", Session: "s", Agent: "a", Run: "r", Values: map[string]any{"k": "v"}}
		if !reflect.DeepEqual(got.Caller, want) {
			t.Errorf("caller = %+v, want %+v", got.Caller, want)
		}
		if got.CallID != "toolu_1" || got.ID == "" || got.Turn != 1 || got.Name != "read" || got.Tool.Name != "read" || got.Source.Trust != tool.Own || !got.Claims.ReadOnly {
			t.Errorf("request = %+v", got)
		}
		if textIn(got.Args) != "x" || got.Args.Received() != ` {"text":"x"}` {
			t.Errorf("arguments %q, received %q", got.Args.Text(), got.Args.Received())
		}
	})
	context1 := inputHook("one", func(context.Context, *tool.Request) (ferrule.Change, error) {
		return ferrule.Change{Context: "Today is Monday."}, nil
	})
	t.Run("H1 context stands beside the result, in the order of the hooks", func(t *testing.T) {
		context2 := inputHook("two", func(context.Context, *tool.Request) (ferrule.Change, error) {
			return ferrule.Change{Context: "It rains.\xff"}, nil
		})
		res := withHooks(t, readerTool("read"), textArg("x"), context1, context2)
		want := []tool.Content{tool.Text(textArg("x")), tool.Text("Today is Monday."), tool.Text("It rains.\uFFFD")}
		if res.Err != nil || !reflect.DeepEqual(res.Content, want) {
			t.Errorf("result = %+v, want %+v", res, want)
		}
	})
	t.Run("H1 context stands beside a failure too", func(t *testing.T) {
		def := readerTool("read")
		def.Run = func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, errBroken }
		res := withHooks(t, def, textArg("x"), context1)
		wantFailure(t, res, tool.Failed, "broken")
		if res.String() != "broken\nToday is Monday." {
			t.Errorf("result = %q", res)
		}
	})
	t.Run("H1 context does not become part of what the tool keeps", func(t *testing.T) {
		kept := make([]tool.Content, 1, 4)
		kept[0] = tool.Text("mine")
		def := readerTool("read")
		def.Run = func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{Content: kept}, nil }
		withHooks(t, def, textArg("x"), context1)
		if more := kept[:2]; more[1].Text != "" {
			t.Errorf("written behind the content of the tool: %+v", more)
		}
	})
	t.Run("H1 an input hook changes the input", func(t *testing.T) {
		res := withHooks(t, readerTool("read"), textArg("x"), inputHook("change", func(context.Context, *tool.Request) (ferrule.Change, error) {
			return ferrule.Change{Input: json.RawMessage(textArg("y"))}, nil
		}))
		if res.Err != nil || res.String() != textArg("y") {
			t.Errorf("result = %v, want the changed input", res)
		}
	})
	t.Run("H1 an input hook blocks", func(t *testing.T) {
		def, runs := counted(readerTool("read"))
		var later bool
		res := withHooks(t, def, textArg("x"),
			inputHook("gate", func(context.Context, *tool.Request) (ferrule.Change, error) {
				return ferrule.Change{Block: "Not on Mondays.", Input: json.RawMessage(textArg("y"))}, nil
			}),
			inputHook("later", func(context.Context, *tool.Request) (ferrule.Change, error) {
				later = true
				return ferrule.Change{}, nil
			}))
		wantFailure(t, res, tool.HookBlocked, "Not on Mondays.")
		if !strings.Contains(res.Err.Detail, `"gate"`) {
			t.Errorf("the operator reads %q, want the hook's name", res.Err.Detail)
		}
		if runs.Load() != 0 || later {
			t.Errorf("ran %d times, later hook %v, want neither", runs.Load(), later)
		}
	})
	t.Run("H1 a hook without functions does nothing", func(t *testing.T) {
		if res := withHooks(t, readerTool("read"), textArg("x"), ferrule.Hook{}); res.Err != nil || res.String() != textArg("x") {
			t.Errorf("result = %v", res)
		}
	})
}

func TestHookOnly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		only ferrule.Filter
		want string
	}{
		{"H1 no limit: none is skipped", ferrule.Filter{}, "own tagged mcp__far"},
		{"H1 limited by name", ferrule.Filter{Names: []string{"own"}}, "own"},
		{"H1 limited by the name on the wire", ferrule.Filter{Names: []string{"far", "mcp__far"}}, "mcp__far"},
		{"H1 limited by tag", ferrule.Filter{Tags: []string{"net", "disk"}}, "tagged"},
		{"H1 limited by source", ferrule.Filter{Sources: []string{"mcp"}}, "mcp__far"},
		{"H1 limited to the program itself", ferrule.Filter{Sources: []string{""}}, "own tagged"},
		{"H1 limited by source and name", ferrule.Filter{Sources: []string{"mcp"}, Names: []string{"own"}}, ""},
		{"H1 limited to others", ferrule.Filter{Sources: []string{"mcp"}, Not: true}, "own tagged"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			seen := make(map[string][]string)
			note := func(part string, r *tool.Request) { seen[part] = append(seen[part], r.Name) }
			rt := &ferrule.Runtime{Policy: allowAll, Hooks: []ferrule.Hook{{
				Only: tt.only,
				Input: func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
					note("input", r)
					return ferrule.Change{}, nil
				},
				Around: func(ctx context.Context, r *tool.Request, next ferrule.Next) tool.Result {
					note("around", r)
					return next(ctx)
				},
				Output: func(_ context.Context, r *tool.Request, _, _ tool.Result) (*tool.Result, error) {
					note("output", r)
					return nil, nil
				},
			}}}
			tagged := readerTool("tagged")
			tagged.Tags = []string{"disk"}
			viewWith(t, rt, readerTool("own"), tagged)
			if err := rt.Set(tool.Source{Name: "mcp", Trust: tool.MCP}, checkedTool(t, readerTool("far"))); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"own", "tagged", "mcp__far"} {
				if res := rt.Session(tool.Caller{}).Call(t.Context(), name, "{}"); res.Err != nil {
					t.Error(res)
				}
			}
			for _, part := range []string{"input", "around", "output"} {
				if got := strings.Join(seen[part], " "); got != tt.want {
					t.Errorf("%s saw %q, want %q", part, got, tt.want)
				}
			}
		})
	}
	t.Run("H1 an alias is no way round a hook that is limited by name", func(t *testing.T) {
		def := readerTool("read")
		def.Aliases = []string{"cat"}
		rt := &ferrule.Runtime{Hooks: []ferrule.Hook{{
			Only: ferrule.Filter{Names: []string{"read"}},
			Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
				return ferrule.Change{Block: "no"}, nil
			},
		}}}
		wantFailure(t, viewWith(t, rt, def).Do(t.Context(), tool.Call{Name: "cat"})[0], tool.HookBlocked, "no")
	})
}

// outputHook is a hook that sees results.
func outputHook(f func(now, original tool.Result) (*tool.Result, error)) ferrule.Hook {
	return ferrule.Hook{Name: "output", Output: func(_ context.Context, _ *tool.Request, now, original tool.Result) (*tool.Result, error) {
		return f(now, original)
	}}
}

func TestOutputHooks(t *testing.T) {
	t.Parallel()
	t.Run("H1 an output hook replaces the result, and nil keeps it", func(t *testing.T) {
		var trace []string
		see := func(to string) ferrule.Hook {
			return outputHook(func(now, original tool.Result) (*tool.Result, error) {
				trace = append(trace, now.String()+"/"+original.String())
				if to == "" {
					return nil, nil
				}
				return new(sayText(to)), nil
			})
		}
		def := readerTool("read")
		def.Run = func(context.Context, tool.Args) (tool.Result, error) { return sayText("1"), nil }
		res := withHooks(t, def, textArg("x"), see(""), see("2"), see(""), see("3"), see(""))
		if got, want := strings.Join(trace, " "), "1/1 1/1 2/1 2/1 3/1"; got != want {
			t.Errorf("they saw %s, want %s", got, want)
		}
		if res.String() != "3" {
			t.Errorf("result = %v", res)
		}
	})
	t.Run("H1 an output hook sees failures and can replace them", func(t *testing.T) {
		def := readerTool("read")
		def.Run = func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, errBroken }
		var original tool.Result
		res := withHooks(t, def, textArg("x"), outputHook(func(_, o tool.Result) (*tool.Result, error) {
			original = o
			return new(sayText("fine")), nil
		}))
		wantFailure(t, original, tool.Failed, "broken")
		if res.Err != nil || res.String() != "fine" {
			t.Errorf("result = %v", res)
		}
	})
	t.Run("H1 an output hook can make a failure of a result", func(t *testing.T) {
		res := withHooks(t, readerTool("read"), textArg("x"), outputHook(func(tool.Result, tool.Result) (*tool.Result, error) {
			return &tool.Result{Err: &tool.Error{Kind: tool.UnsafeContent, Text: "withheld"}}, nil
		}))
		wantFailure(t, res, tool.UnsafeContent, "withheld")
	})
	t.Run("L4 an output hook cannot make a kind that does not exist, or that goes to no model", func(t *testing.T) {
		for _, kind := range []tool.Kind{"", "mine", tool.Suspended, tool.Pending} {
			res := withHooks(t, readerTool("read"), textArg("x"), outputHook(func(tool.Result, tool.Result) (*tool.Result, error) {
				return &tool.Result{Err: &tool.Error{Kind: kind, Text: "x"}}, nil
			}))
			wantFailure(t, res, tool.Failed, "x")
		}
	})
	checks := []struct {
		name, json string
		kind       tool.Kind
	}{
		{"L2 output of a hook that fits the schema", `{"n":2}`, ""},
		{"L2 output of a hook passes the schema again", `{"n":"two"}`, tool.InvalidOutput},
		{"L2 output of a hook must be JSON", `{"n":`, tool.InvalidOutput},
		{"L2 a hook cannot take structured output away", ``, tool.InvalidOutput},
	}
	for _, tt := range checks {
		t.Run(tt.name, func(t *testing.T) {
			after := sayJSON(tt.json)
			if tt.json == "" {
				after = sayText("two")
			}
			for name, hook := range map[string]ferrule.Hook{
				"output": outputHook(func(tool.Result, tool.Result) (*tool.Result, error) { return &after, nil }),
				"around": aroundHook(func(context.Context, ferrule.Next) tool.Result { return after }),
			} {
				res := withHooks(t, countTool(`{"n":1}`), textArg("x"), hook)
				if tt.kind == "" && res.String() != tt.json {
					t.Errorf("%s: result = %v, want %s", name, res, tt.json)
				}
				if tt.kind != "" {
					wantFailure(t, res, tt.kind, "")
				}
			}
		})
	}
	t.Run("H1 a hook can mend output that did not fit", func(t *testing.T) {
		res := withHooks(t, countTool(`{"n":"one"}`), textArg("x"), outputHook(func(now, _ tool.Result) (*tool.Result, error) {
			wantFailure(t, now, tool.InvalidOutput, "")
			return new(sayJSON(`{"n":1}`)), nil
		}))
		if res.Err != nil || res.String() != `{"n":1}` {
			t.Errorf("result = %v", res)
		}
	})
	t.Run("D7 what a call returns after it was given up is recorded as it is, with output hooks too", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var rec recorder
			rt := &ferrule.Runtime{Observe: rec.observe, Hooks: []ferrule.Hook{outputHook(func(tool.Result, tool.Result) (*tool.Result, error) { return nil, nil })}}
			def := slowTool("slow", 10*time.Minute)
			def.Timeout = time.Second
			res := viewWith(t, rt, def).Do(t.Context(), tool.Call{Name: "slow"})[0]
			wantFailure(t, res, tool.Timeout, "")
			time.Sleep(time.Hour)
			rec.mu.Lock()
			defer rec.mu.Unlock()
			last := rec.events[len(rec.events)-1]
			if last.Kind != audit.Late || last.text != "slept" {
				t.Errorf("recorded %s %q, want late %q", last.Kind, last.text, "slept")
			}
			for _, e := range rec.events {
				if e.Kind == audit.Blocked {
					t.Errorf("recorded that a hook blocked it: %s", e.Text)
				}
			}
		})
	})
}

func TestHookOrder(t *testing.T) {
	t.Parallel()
	t.Run("H2 order of registration; those of the runtime before those of the turn", func(t *testing.T) {
		var trace []string
		note := func(name string) ferrule.Hook {
			return ferrule.Hook{
				Name: name,
				Input: func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
					trace = append(trace, fmt.Sprintf("input %s%d", name, r.Turn))
					return ferrule.Change{}, nil
				},
				Around: func(ctx context.Context, r *tool.Request, next ferrule.Next) tool.Result {
					trace = append(trace, fmt.Sprintf("around %s%d", name, r.Turn))
					return next(ctx)
				},
				Output: func(_ context.Context, r *tool.Request, _, _ tool.Result) (*tool.Result, error) {
					trace = append(trace, fmt.Sprintf("output %s%d", name, r.Turn))
					return nil, nil
				},
			}
		}
		rt := &ferrule.Runtime{Hooks: []ferrule.Hook{note("a"), note("b")}}
		v := viewWith(t, rt, readerTool("read"))
		for _, more := range [][]ferrule.Hook{{note("c"), note("d")}, nil} {
			turn := v.Begin(t.Context(), ferrule.TurnOptions{Hooks: more})
			turn.Add(tool.Call{Name: "read"})
			turn.Wait()
		}
		want := []string{
			"input a1", "input b1", "input c1", "input d1", "around a1", "around b1", "around c1", "around d1", "output a1", "output b1", "output c1", "output d1",
			"input a2", "input b2", "around a2", "around b2", "output a2", "output b2",
		}
		if !slices.Equal(trace, want) {
			t.Errorf("got  %q\nwant %q", trace, want)
		}
	})
	t.Run("H2 an input hook sees the input as it stands and as it was received", func(t *testing.T) {
		var trace []string
		note := func(to string) ferrule.Hook {
			return inputHook("note", func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
				trace = append(trace, r.Args.Text()+" of "+r.Args.Received())
				return ferrule.Change{Input: json.RawMessage(to)}, nil
			})
		}
		res := withHooks(t, readerTool("read"), textArg("1"), note(textArg("2")), note(textArg("3")), note(textArg("3")))
		want := []string{textArg("1") + " of " + textArg("1"), textArg("2") + " of " + textArg("1"), textArg("3") + " of " + textArg("1")}
		if !slices.Equal(trace, want) || res.String() != textArg("3") {
			t.Errorf("they saw %q, result %v", trace, res)
		}
	})
	for name, received := range map[string]string{"as it came": textArg("x"), "with blanks around it": "\n " + textArg("x") + " ", "left out": ""} {
		t.Run("H2 a hook that returns the input it saw has changed nothing: "+name, func(t *testing.T) {
			var rec recorder
			rt := &ferrule.Runtime{Observe: rec.observe, Hooks: []ferrule.Hook{inputHook("same", func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
				return ferrule.Change{Input: json.RawMessage(r.Args.Text())}, nil
			})}}
			res := callOne(t, rt, readerTool("read"), received)
			if got, want := rec.kinds("call_1"), "requested decided started ended"; got != want || res.Err != nil {
				t.Errorf("%s, want %s; result %v", got, want, res)
			}
		})
	}
}

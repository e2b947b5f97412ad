package ferrule_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// behaving is a tool whose argument says how it goes wrong.
func behaving() tool.Tool {
	def := countTool("")
	def.Name = "act"
	def.Validate = func(_ context.Context, a tool.Args) (json.RawMessage, error) {
		if textIn(a) == "meaning" {
			return nil, errBroken
		}
		return nil, nil
	}
	def.Permit = func(_ context.Context, a tool.Args) (tool.Decision, error) {
		if textIn(a) == "permit" {
			return tool.Decision{Verdict: tool.Deny, Reason: "broken"}, nil
		}
		return tool.Decision{Verdict: tool.Silent}, nil
	}
	def.Run = func(_ context.Context, a tool.Args) (tool.Result, error) {
		switch textIn(a) {
		case "run":
			return tool.Result{}, errBroken
		case "output":
			return sayJSON(`{"n":"one"}`), nil
		case "long":
			return tool.Result{Content: []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(`{"n":1}`)}, tool.Text(strings.Repeat("x", 100_000))}}, nil
		}
		return sayJSON(`{"n":1}`), nil
	}
	return def
}

// phases are what goes wrong in the life of a call of that tool, in the order of
// the phases.
var phases = []struct {
	name, call, input string
	kind              tool.Kind
	text              string
}{
	{"1 resolve", "ac", "{}", tool.UnknownTool, "Tool not found: ac. Did you mean act?"},
	{"2 schema", "act", `{"text":1}`, tool.InvalidInput, ""},
	{"3 meaning", "act", textArg("meaning"), tool.InvalidValue, "ValidationError: broken"},
	{"4 decide: rules", "act", textArg("rules"), tool.Denied, "broken"},
	{"4 decide: Permit", "act", textArg("permit"), tool.Denied, "broken"},
	{"5 input hooks", "act", textArg("input hook"), tool.HookBlocked, "broken"},
	{"7 run", "act", textArg("run"), tool.Failed, "broken"},
	{"8 output schema", "act", textArg("output"), tool.InvalidOutput, "The tool returned output that does not fit its schema."},
	{"9 output hooks", "act", textArg("output hook"), tool.HookBlocked, "The tool ran, but a hook of this program failed, so its result is withheld."},
}

// withPhases adds to a runtime's rules and hooks what goes wrong in theirs.
func withPhases(rt *ferrule.Runtime) *ferrule.Runtime {
	rules := rt.Policy
	rt.Policy = policy.Func(func(r *tool.Request) tool.Decision {
		switch {
		case textIn(r.Args) == "rules":
			return tool.Decision{Verdict: tool.Deny, Reason: "broken"}
		case rules == nil:
			return tool.Decision{Verdict: tool.Silent}
		}
		return rules.Decide(r)
	})
	rt.Hooks = append(rt.Hooks, ferrule.Hook{
		Name: "phases",
		Input: func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
			if textIn(r.Args) == "input hook" {
				return ferrule.Change{Block: "broken"}, nil
			}
			return ferrule.Change{}, nil
		},
		Output: func(_ context.Context, r *tool.Request, _, _ tool.Result) (*tool.Result, error) {
			if textIn(r.Args) == "output hook" {
				return nil, errBroken
			}
			return nil, nil
		},
	})
	return rt
}

func TestPhases(t *testing.T) {
	t.Parallel()
	for _, tt := range phases {
		t.Run("L1 each phase can fail: "+tt.name, func(t *testing.T) {
			v := viewWith(t, withPhases(&ferrule.Runtime{}), behaving())
			wantFailure(t, v.Do(t.Context(), tool.Call{Name: tt.call, Input: json.RawMessage(tt.input)})[0], tt.kind, tt.text)
		})
	}
	t.Run("L1 schema and meaning are told apart", func(t *testing.T) {
		v := viewWith(t, &ferrule.Runtime{}, behaving())
		res := v.Do(t.Context(), tool.Call{Name: "act", Input: json.RawMessage(`{"text":1}`)}, tool.Call{Name: "act", Input: json.RawMessage(textArg("meaning"))})
		if !strings.HasPrefix(res[0].String(), "InputValidationError: ") || !strings.HasPrefix(res[1].String(), "ValidationError: ") {
			t.Errorf("results = %v", res)
		}
	})
	t.Run("L1 a text that says ValidationError already does not say it twice", func(t *testing.T) {
		def := readerTool("read")
		def.Validate = func(context.Context, tool.Args) (json.RawMessage, error) {
			return nil, &tool.Error{Text: "ValidationError: no", Detail: "/srv"}
		}
		wantFailure(t, callOne(t, &ferrule.Runtime{}, def, ""), tool.InvalidValue, "ValidationError: no")
	})
	t.Run("L1 input that fits the schema never skips Validate", func(t *testing.T) {
		var seen []string
		def := readerTool("read")
		def.Validate = func(_ context.Context, a tool.Args) (json.RawMessage, error) {
			seen = append(seen, a.Text())
			return nil, nil
		}
		v := viewWith(t, &ferrule.Runtime{}, def)
		for _, input := range []string{"", "{}", textArg("x"), `{"text":1}`, `{`} {
			v.Do(t.Context(), tool.Call{Name: "read", Input: json.RawMessage(input)})
		}
		if want := []string{"{}", "{}", textArg("x")}; !slices.Equal(seen, want) {
			t.Errorf("Validate saw %q, want %q", seen, want)
		}
	})
	corrections := []struct {
		name, to string
		kind     tool.Kind
		want     string
	}{
		{"T11 corrected input is what runs", textArg("y"), "", textArg("y")},
		{"T11 nil keeps the input", "", "", textArg("x")},
		{"T11 the same input keeps it", textArg("x"), "", textArg("x")},
		{"L1 corrected input passes the schema again", `{"text":1}`, tool.InvalidInput, ""},
		{"L1 corrected input is JSON", `{`, tool.InvalidInput, ""},
	}
	for _, tt := range corrections {
		t.Run(tt.name, func(t *testing.T) {
			times := 0
			def, ran := counted(readerTool("read"))
			def.Validate = func(context.Context, tool.Args) (json.RawMessage, error) {
				times++
				if tt.to == "" {
					return nil, nil
				}
				return json.RawMessage(tt.to), nil
			}
			res := callOne(t, &ferrule.Runtime{}, def, textArg("x"))
			if tt.kind == "" && (res.Err != nil || res.String() != tt.want) {
				t.Errorf("result = %v, want %s", res, tt.want)
			}
			if tt.kind != "" {
				wantFailure(t, res, tt.kind, "")
				if !strings.HasPrefix(res.String(), "InputValidationError: ") || ran.Load() != 0 {
					t.Errorf("the model reads %q, ran %d times", res, ran.Load())
				}
			}
			if times != 1 {
				t.Errorf("Validate ran %d times: it does not look at its own correction", times)
			}
		})
	}
	t.Run("L2 the rules judge what Validate made of the input", func(t *testing.T) {
		def, ran := counted(readerTool("read"))
		def.Validate = func(context.Context, tool.Args) (json.RawMessage, error) {
			return json.RawMessage(textArg("rules")), nil
		}
		wantFailure(t, callOne(t, withPhases(&ferrule.Runtime{}), def, textArg("x")), tool.Denied, "broken")
		if ran.Load() != 0 {
			t.Error("it ran")
		}
	})
	t.Run("L2 what the rules deny may still be corrected by Validate", func(t *testing.T) {
		def := readerTool("read")
		def.Validate = func(context.Context, tool.Args) (json.RawMessage, error) { return json.RawMessage(textArg("x")), nil }
		if res := callOne(t, withPhases(&ferrule.Runtime{}), def, textArg("rules")); res.Err != nil {
			t.Errorf("result = %v", res)
		}
	})
}

// everySetting could be suspected of taking a phase away.
var everySetting = []struct {
	name   string
	change func(*ferrule.Runtime, *tool.Tool)
}{
	{"nothing set", func(*ferrule.Runtime, *tool.Tool) {}},
	{"own tools may do what they like", func(rt *ferrule.Runtime, d *tool.Tool) { rt.Policy, d.Claims = policy.AllowOwn{}, tool.Claims{} }},
	{"everything is allowed", func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Policy = allowAll }},
	{"the tool is never asked for", func(_ *ferrule.Runtime, d *tool.Tool) { d.Approval, d.Claims = tool.AskNever, tool.Claims{} }},
	{"the host says yes to all", func(rt *ferrule.Runtime, d *tool.Tool) {
		rt.Decide = func(context.Context, *tool.Request) (tool.Decision, error) {
			return tool.Decision{Verdict: tool.Allow}, nil
		}
		d.Claims = tool.Claims{}
	}},
	{"a person says yes to all", func(rt *ferrule.Runtime, d *tool.Tool) {
		rt.Answer, rt.AskReads = says(policy.Answer{Allow: true}), true
		d.Claims = tool.Claims{}
	}},
	{"one at a time", func(rt *ferrule.Runtime, d *tool.Tool) { rt.Limit, d.AtOnce = 1, 1 }},
	{"siblings always stop", func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Siblings = ferrule.StopAlways }},
	{"arguments are mended", func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Repair = schema.Repair }},
	{"claims of everybody are believed", func(rt *ferrule.Runtime, _ *tool.Tool) {
		rt.Believe = func(tool.Source, *tool.Info) bool { return true }
	}},
	{"the tool is cooperative and silent", func(_ *ferrule.Runtime, d *tool.Tool) { d.Cooperative, d.Silent, d.Repeatable = true, true, true }},
	{"the tool has no time limit", func(_ *ferrule.Runtime, d *tool.Tool) { d.Timeout = tool.Unlimited }},
	{"the tool claims everything", func(_ *ferrule.Runtime, d *tool.Tool) {
		d.Claims = tool.Claims{ReadOnly: true, Parallel: true, Reversible: true, Local: true, Idempotent: true, Touches: []tool.Access{}}
	}},
	{"a hook sees it first", func(rt *ferrule.Runtime, _ *tool.Tool) {
		rt.Hooks = []ferrule.Hook{aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result { return next(ctx) })}
	}},
	{"somebody looks on", func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Observe = func(audit.Event) {} }},
}

func TestFixedPhases(t *testing.T) {
	t.Parallel()
	ways := map[string]func(context.Context, *ferrule.Session, tool.Call) tool.Result{
		"Do": func(ctx context.Context, s *ferrule.Session, c tool.Call) tool.Result {
			return s.View(ctx).Do(ctx, c)[0]
		},
		"Call": func(ctx context.Context, s *ferrule.Session, c tool.Call) tool.Result {
			return s.Call(ctx, c.Name, string(c.Input))
		},
		"Begin": func(ctx context.Context, s *ferrule.Session, c tool.Call) tool.Result {
			turn := s.View(ctx).Begin(ctx, ferrule.TurnOptions{Limit: 100})
			turn.Add(c)
			return turn.Wait()[0]
		},
	}
	for _, set := range everySetting {
		t.Run("L8 no setting takes a phase away: "+set.name, func(t *testing.T) {
			rt, def := &ferrule.Runtime{}, behaving()
			set.change(rt, &def)
			viewWith(t, withPhases(rt), def)
			for way, do := range ways {
				for _, tt := range phases {
					res := do(t.Context(), rt.Session(tool.Caller{}), tool.Call{Name: tt.call, Input: json.RawMessage(tt.input)})
					if res.Err == nil || res.Err.Kind != tt.kind {
						t.Errorf("%s, %s: result = %v, want %s", way, tt.name, res, tt.kind)
					}
				}
				res := do(t.Context(), rt.Session(tool.Caller{}), tool.Call{Name: "act", Input: json.RawMessage(textArg("long"))})
				if n := utf8.RuneCountInString(res.String()); n < 60_000 || n > 64_200 {
					t.Errorf("%s, 11 limit: the model reads %d characters", way, n)
				}
				if res := do(t.Context(), rt.Session(tool.Caller{}), tool.Call{Name: "act"}); res.String() != `{"n":1}` {
					t.Errorf("%s, nothing wrong: result = %v", way, res)
				}
			}
		})
	}
	t.Run("L8 the phases have one order", func(t *testing.T) {
		var trace []string
		note := func(s string) { trace = append(trace, s) }
		def := writerTool("write")
		def.Validate = func(context.Context, tool.Args) (json.RawMessage, error) {
			note("meaning")
			return nil, nil
		}
		def.Permit = func(context.Context, tool.Args) (tool.Decision, error) {
			note("permit")
			return tool.Decision{Verdict: tool.Silent}, nil
		}
		def.Run = func(context.Context, tool.Args) (tool.Result, error) {
			note("run")
			return sayText("x"), nil
		}
		rt := &ferrule.Runtime{
			Decide: func(context.Context, *tool.Request) (tool.Decision, error) {
				note("host")
				return tool.Decision{Verdict: tool.Silent}, nil
			},
			Hooks: []ferrule.Hook{{
				Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
					note("input hook")
					return ferrule.Change{}, nil
				},
				Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
					note("around")
					return next(ctx)
				},
				Output: func(context.Context, *tool.Request, tool.Result, tool.Result) (*tool.Result, error) {
					note("output hook")
					return new(sayText("passphrase")), nil
				},
			}},
			Inbox:   new(policy.Memory),
			Secrets: liveVault(t, "passphrase"),
			Observe: func(e audit.Event) {
				if e.Kind == audit.Scrubbed {
					note("scrub")
				}
			},
		}
		bubble(t, func(t *testing.T) {
			turn := viewWith(t, rt, def).Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(tool.Call{Name: "write"})
			synctest.Wait()
			open, err := rt.Inbox.Pending(t.Context())
			if err != nil || len(open) != 1 {
				t.Fatalf("asked %v, %v", open, err)
			}
			note("ask")
			if err := rt.Inbox.Answer(t.Context(), open[0].ID, policy.Answer{Allow: true}); err != nil {
				t.Fatal(err)
			}
			turn.Wait()
		})
		want := "meaning host permit, input hook, ask, meaning host permit, around run, output hook, scrub"
		if got, want := strings.Join(trace, " "), strings.ReplaceAll(want, ",", ""); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func (unwritable) MarshalJSON() ([]byte, error) { panic("boom") }

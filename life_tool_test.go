package ferrule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestAdvice(t *testing.T) {
	t.Parallel()
	ask := policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: tool.Ask} })
	always, permit := readerTool("x"), readerTool("x")
	always.Approval = tool.AskAlways
	permit.Permit = func(context.Context, tool.Args) (tool.Decision, error) { return tool.Decision{Verdict: tool.Ask}, nil }
	tests := []struct {
		name string
		def  tool.Tool
		rule policy.Policy // beside which the advised one is written
	}{
		{"nobody spoke", writerTool("x"), nil},
		{"a rule asks", readerTool("x"), ask},
		{"the tool's approval asks", always, nil},
		{"Permit asks", permit, nil},
	}
	for _, tt := range tests {
		t.Run("P1 a denial advises only what would change it: "+tt.name, func(t *testing.T) {
			res := callOne(t, &ferrule.Runtime{Policy: tt.rule}, tt.def, "")
			wantFailure(t, res, tool.Denied, "Tool approval required for x, but no approval handler is configured.")
			if !strings.Contains(res.Err.Detail, "add a rule that allows x") {
				return
			}
			both := tt.rule // of two rules the stricter one counts
			if both == nil {
				both = allowAll
			}
			if got := callOne(t, &ferrule.Runtime{Policy: both}, tt.def, ""); got.Err != nil {
				t.Errorf("it says %q, and with that rule: %s", res.Err.Detail, got)
			}
		})
	}
}

func TestNeedsUser(t *testing.T) {
	t.Parallel()
	for attended, want := range map[bool]tool.Kind{false: tool.NeedsUser, true: ""} {
		t.Run(fmt.Sprintf("L3 a tool that needs a user, attended %v", attended), func(t *testing.T) {
			def, ran := counted(readerTool("ask"))
			def.NeedsUser = true
			rt := &ferrule.Runtime{}
			viewWith(t, rt, def)
			res := rt.Session(tool.Caller{Attended: attended}).Call(t.Context(), "ask", "{}")
			if want == "" {
				if res.Err != nil {
					t.Errorf("result = %v", res)
				}
				return
			}
			wantFailure(t, res, want, "")
			if ran.Load() != 0 {
				t.Error("it ran, and nobody is there")
			}
		})
	}
}

// TestToolFunctions is what the runtime makes of the other functions of a tool.
func TestToolFunctions(t *testing.T) {
	t.Parallel()
	t.Run("T3 claims are taken once for each form of the input", func(t *testing.T) {
		times := 0
		def := writerTool("read")
		def.ClaimsOf = func(tool.Args) (tool.Claims, error) {
			times++
			return tool.Claims{ReadOnly: true, Local: true}, nil
		}
		def.Validate = func(context.Context, tool.Args) (json.RawMessage, error) { return nil, nil }
		if res := callOne(t, &ferrule.Runtime{Decide: silent}, def, ""); res.Err != nil || times != 1 {
			t.Errorf("taken %d times, result %v", times, res)
		}
	})
	t.Run("T5 an untrusted source claims nothing until the operator believes it", func(t *testing.T) {
		for name, tt := range map[string]struct {
			rt   *ferrule.Runtime
			want tool.Kind
		}{
			"not believed":          {&ferrule.Runtime{}, tool.Denied},
			"believed by tool":      {&ferrule.Runtime{Believe: func(s tool.Source, i *tool.Info) bool { return s.Name == "far" && i.Name == "read" }}, tool.Denied}, // still not own
			"raised by its name":    {&ferrule.Runtime{Trust: map[string]tool.Trust{"far": tool.Own}}, ""},
			"another source raised": {&ferrule.Runtime{Trust: map[string]tool.Trust{"near": tool.Own}}, tool.Denied},
		} {
			if err := tt.rt.Set(tool.Source{Name: "far", Trust: tool.MCP}, checkedTool(t, readerTool("read"))); err != nil {
				t.Fatal(err)
			}
			res := tt.rt.Session(tool.Caller{}).Call(t.Context(), "far__read", "{}")
			if got := kindOf(res); got != tt.want {
				t.Errorf("%s: %q, want %q", name, got, tt.want)
			}
			wantClaims := strings.HasPrefix(name, "believed") || strings.HasPrefix(name, "raised")
			if r, _ := tt.rt.Find("far__read"); r.Claims.ReadOnly != wantClaims {
				t.Errorf("%s: claims %+v", name, r.Claims)
			}
		}
	})
	t.Run("T9 a view that was made with a cancelled context does not hide a tool from later ones", func(t *testing.T) {
		def := readerTool("read")
		def.Enabled = func(context.Context, tool.Caller) (bool, error) { return true, nil }
		rt := &ferrule.Runtime{}
		viewWith(t, rt, def)
		s := rt.Session(tool.Caller{Session: "s"})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.View(ctx)
		if names := s.View(t.Context()).Names(); !slices.Equal(names, []string{"read"}) {
			t.Errorf("the session is offered %q", names)
		}
	})
	t.Run("T7 a description is made once for a session, and again when it is asked for", func(t *testing.T) {
		times := 0
		def := readerTool("read")
		def.DescriptionOf = func(_ context.Context, c tool.Caller) (string, error) {
			times++
			return fmt.Sprintf("Read for %s, %d.", c.Principal, times), nil
		}
		rt := &ferrule.Runtime{}
		viewWith(t, rt, def)
		s := rt.Session(tool.Caller{Principal: "ann", Session: "s"})
		times = 0
		show := func() string {
			b, err := s.View(t.Context()).Definitions(ferrule.JSON{})
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		if first, second := show(), show(); !strings.Contains(first, "Read for ann, 1.") || second != first {
			t.Errorf("shown %s, then %s", first, second)
		}
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again := show(); !strings.Contains(again, "Read for ann, 2.") {
			t.Errorf("after a refresh %s", again)
		}
	})
	t.Run("L1 whoever looks at a call sees both ids, the turn, the caller and the arguments as received", func(t *testing.T) {
		seen := make(map[string]string)
		note := func(who string, r *tool.Request) {
			if who == "Validate" && seen[who] != "" {
				return // after an answer it looks at what was shown once more
			}
			seen[who] = fmt.Sprint(r.CallID, r.ID != "", r.Turn, r.Index, r.Caller.Agent, r.Caller.Run, r.Caller.Session, r.Caller.Principal, r.Caller.Values["k"], textIn(r.Args), r.Args.Received())
		}
		from := func(ctx context.Context, who string) {
			r := tool.From(ctx).Request()
			note(who, &r)
		}
		def := writerTool("write")
		def.Validate = func(ctx context.Context, a tool.Args) (json.RawMessage, error) {
			from(ctx, "Validate")
			return json.RawMessage(textArg("y")), nil
		}
		def.Permit = func(ctx context.Context, _ tool.Args) (tool.Decision, error) {
			from(ctx, "Permit")
			return tool.Decision{Verdict: tool.Silent}, nil
		}
		def.AskIf = func(ctx context.Context, _ tool.Args) (bool, error) {
			from(ctx, "AskIf")
			return true, nil
		}
		text := func(who string) func(ctx context.Context, _ tool.Args) (string, error) {
			return func(ctx context.Context, _ tool.Args) (string, error) {
				from(ctx, who)
				return "", nil
			}
		}
		def.Preview, def.Key, def.AskReasonOf = text("Preview"), text("Key"), text("AskReasonOf")
		def.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			from(ctx, "Run")
			return tool.Result{}, nil
		}
		rt := &ferrule.Runtime{
			Policy: policy.Func(func(r *tool.Request) tool.Decision {
				note("policy", r)
				return tool.Decision{Verdict: tool.Silent}
			}),
			Decide: func(_ context.Context, r *tool.Request) (tool.Decision, error) {
				note("host", r)
				return tool.Decision{Verdict: tool.Silent}, nil
			},
			Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
				seen["person"] = fmt.Sprint(q.CallID, q.Call != "", q.Turn, q.Index, q.Caller.Agent, q.Caller.Run, q.Caller.Session, q.Caller.Principal)
				return policy.Answer{Allow: true}, nil
			},
			Hooks: []ferrule.Hook{inputHook("h", func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
				note("hook", r)
				return ferrule.Change{}, nil
			})},
		}
		viewWith(t, rt, def)
		s := rt.Session(tool.Caller{Principal: "ann", Session: "s", Agent: "a", Run: "r", Values: map[string]any{"k": "v"}})
		if res := s.View(t.Context()).Do(t.Context(), tool.Call{ID: "toolu", Name: "write", Input: json.RawMessage(textArg("x"))})[0]; res.Err != nil {
			t.Fatalf("result = %v", res.Err)
		}
		whose := fmt.Sprint("toolu", true, 1, 0, "a", "r", "s", "ann")
		want := map[string]string{"person": whose}
		for _, who := range []string{"Permit", "AskIf", "Preview", "Key", "AskReasonOf", "Run", "policy", "host", "hook"} {
			want[who] = fmt.Sprint("toolu", true, 1, 0, "a", "r", "s", "ann", "v", "y", textArg("x"))
		}
		want["Validate"] = strings.Replace(want["Run"], "y{", "x{", 1)
		for who, want := range want {
			if seen[who] != want {
				t.Errorf("%s saw %s, want %s", who, seen[who], want)
			}
		}
	})
	permits := []struct {
		name  string
		d     tool.Decision
		kinds [3]tool.Kind // reads, writes, writes where a person says yes
	}{
		{"T12 silence changes nothing", tool.Decision{Verdict: tool.Silent}, [3]tool.Kind{"", tool.Denied, ""}},
		{"T12 its allow counts as nothing", tool.Decision{Verdict: tool.Allow}, [3]tool.Kind{"", tool.Denied, ""}},
		{"T12 it can ask", tool.Decision{Verdict: tool.Ask}, [3]tool.Kind{tool.Denied, tool.Denied, ""}},
		{"T12 it can deny", tool.Decision{Verdict: tool.Deny}, [3]tool.Kind{tool.Denied, tool.Denied, tool.Denied}},
		{"T12 a deny that may be overridden is an ask where there is a person", tool.Decision{Verdict: tool.Deny, Override: true}, [3]tool.Kind{tool.Denied, tool.Denied, ""}},
		{"T12 what is no verdict denies", tool.Decision{Verdict: 99}, [3]tool.Kind{tool.Denied, tool.Denied, tool.Denied}},
	}
	for _, tt := range permits {
		t.Run(tt.name, func(t *testing.T) {
			for i, def := range []tool.Tool{readerTool("x"), writerTool("x"), writerTool("x")} {
				rt := &ferrule.Runtime{}
				if i == 2 {
					rt.Answer = says(policy.Answer{Allow: true})
				}
				def.Permit = func(context.Context, tool.Args) (tool.Decision, error) { return tt.d, nil }
				if got := kindOf(callOne(t, rt, def, "")); got != tt.kinds[i] {
					t.Errorf("case %d: %q, want %q", i, got, tt.kinds[i])
				}
			}
		})
	}
	t.Run("T13 the reason and the text for a rejection, each a text or a function", func(t *testing.T) {
		for name, change := range map[string]func(*tool.Tool){
			"texts": func(d *tool.Tool) { d.AskReason, d.RejectText = "why", "no" },
			"functions": func(d *tool.Tool) {
				d.AskReason, d.RejectText = "never", "never"
				d.AskReasonOf = func(context.Context, tool.Args) (string, error) { return "why", nil }
				d.RejectTextOf = func(context.Context, tool.Args) (string, error) { return "no", nil }
			},
		} {
			var reason string
			def := readerTool("read")
			def.Approval = tool.AskAlways
			change(&def)
			res := callOne(t, &ferrule.Runtime{Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
				reason = q.Reason
				return policy.Answer{}, nil
			}}, def, "")
			wantFailure(t, res, tool.Rejected, "no")
			if reason != "why" {
				t.Errorf("%s: asked because %q", name, reason)
			}
		}
	})
	t.Run("T13 never is an allow for own tools and silence for others", func(t *testing.T) {
		def := writerTool("x")
		def.Approval = tool.AskNever
		if got := kindOf(callOne(t, &ferrule.Runtime{}, def, "")); got != "" {
			t.Errorf("own: %s", got)
		}
		rt := &ferrule.Runtime{}
		if err := rt.Set(tool.Source{Name: "far", Trust: tool.SkillTrusted}, checkedTool(t, def)); err != nil {
			t.Fatal(err)
		}
		wantFailure(t, rt.Session(tool.Caller{}).Call(t.Context(), "far__x", ""), tool.Denied, "")
	})
	for _, name := range []string{"Validate", "Permit", "AskIf", "Key", "Preview", "ClaimsOf", "Decide", "the fallback", "Enabled", "Run"} {
		t.Run("T10 each function has as long for itself as Run, and no longer: "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rt, def := &ferrule.Runtime{}, readerTool("read")
				switch name {
				case "Run":
					def.Run = sleepy[tool.Result]
				case "Validate":
					def.Validate = sleepy[json.RawMessage]
				case "Permit":
					def.Permit = sleepy[tool.Decision]
				case "AskIf":
					def.AskIf = sleepy[bool]
				case "Key":
					def.Key = sleepy[string]
				case "Preview":
					def.Claims, rt.Answer = tool.Claims{}, says(policy.Answer{Allow: true})
					def.Preview = sleepy[string]
				case "ClaimsOf":
					def.Claims = tool.Claims{}
					def.ClaimsOf = func(a tool.Args) (tool.Claims, error) { return sleepy[tool.Claims](t.Context(), a) }
				case "Decide":
					rt.Decide = func(ctx context.Context, r *tool.Request) (tool.Decision, error) {
						return sleepy[tool.Decision](ctx, r.Args)
					}
				case "Enabled":
					def.Enabled = func(ctx context.Context, _ tool.Caller) (bool, error) { return sleepy[bool](ctx, tool.Args{}) }
				case "the fallback":
					def.Name = "other"
					rt.SetFallback(func(ctx context.Context, _ tool.Caller, _ string) (*tool.Tool, error) {
						return sleepy[*tool.Tool](ctx, tool.Args{})
					})
				}
				began := time.Now()
				res := viewWith(t, rt, def).Do(t.Context(), tool.Call{Name: "read"})[0]
				if took := time.Since(began); took > 61*time.Second || res.Err == nil {
					t.Errorf("result after %s: %v", took, res)
				}
			})
		})
	}
}

package ferrule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	sleeps := func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	deny := policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: tool.Deny, Rule: "r1"} })
	tests := []struct {
		name string
		def  tool.Tool
		rt   *ferrule.Runtime
		call tool.Call
		want string
	}{
		{"an ordinary call", readerTool("a"), &ferrule.Runtime{}, tool.Call{}, "requested decided started ended"},
		{"a call that fails", doing(readerTool("a"), func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, errBroken }), &ferrule.Runtime{}, tool.Call{}, "requested decided started ended"},
		{"a call that the rules deny", readerTool("a"), &ferrule.Runtime{Policy: deny}, tool.Call{}, "requested decided ended"},
		{"a call that nobody can be asked about", writerTool("a"), &ferrule.Runtime{}, tool.Call{}, "requested decided ended"},
		{"a call that the host denies", readerTool("a"), &ferrule.Runtime{Decide: func(context.Context, *tool.Request) (tool.Decision, error) { return tool.Decision{}, nil }}, tool.Call{}, "requested decided ended"},
		{"an unknown tool", readerTool("a"), &ferrule.Runtime{}, tool.Call{Name: "b"}, "requested ended"},
		{"bad input", readerTool("a"), &ferrule.Runtime{}, tool.Call{Input: json.RawMessage("[")}, "requested ended"},
		{"a call that a hook blocks", readerTool("a"), &ferrule.Runtime{Hooks: []ferrule.Hook{inputHook("h", func(context.Context, *tool.Request) (ferrule.Change, error) { return ferrule.Change{Block: "no"}, nil })}}, tool.Call{}, "requested decided blocked ended"},
		{"a hook that changes input", readerTool("a"), &ferrule.Runtime{Hooks: []ferrule.Hook{inputHook("h", func(context.Context, *tool.Request) (ferrule.Change, error) {
			return ferrule.Change{Input: json.RawMessage(textArg("y"))}, nil
		})}}, tool.Call{}, "requested decided changed decided started ended"},
		{"a result that is cut", doing(readerTool("a"), func(context.Context, tool.Args) (tool.Result, error) {
			return sayText(strings.Repeat("a", 70_000)), nil
		}), &ferrule.Runtime{}, tool.Call{}, "requested decided started cut ended"},
		{"a call that streams", doing(readerTool("a"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			tool.From(ctx).Progress(1, 2, "half")
			return sayText("x"), nil
		}), &ferrule.Runtime{}, tool.Call{}, "requested decided started updated ended"},
		{"a call that takes too long", doing(readerTool("a"), sleeps), &ferrule.Runtime{}, tool.Call{}, "requested decided started ended"},
		{"a call that does not return", slowTool("a", time.Hour), &ferrule.Runtime{}, tool.Call{}, "requested decided started given up ended late"},
	}
	for _, tt := range tests {
		t.Run("U1 the events of "+tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var rec recorder
				tt.rt.Observe = rec.observe
				if tt.def.Timeout == 2*time.Hour {
					tt.def.Timeout = time.Minute
				}
				if tt.call.ID = "toolu_7"; tt.call.Name == "" {
					tt.call.Name = "a"
				}
				res := viewWith(t, tt.rt, tt.def).Do(t.Context(), tt.call)[0]
				time.Sleep(2 * time.Hour)
				if got := rec.kinds("toolu_7"); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				rec.mu.Lock()
				defer rec.mu.Unlock()
				for _, e := range rec.events {
					if e.callID != "" && (e.id != res.ID || e.id == "") {
						t.Errorf("%s has the id %q, the result %q", e.Kind, e.id, res.ID)
					}
				}
			})
		})
	}
	for allow, want := range map[bool]string{
		true:  "requested decided asked decided answered started ended",
		false: "requested decided asked decided answered ended",
	} {
		t.Run(fmt.Sprintf("U1 the events of a call that is asked for, allowed %v", allow), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var rec recorder
				rt := &ferrule.Runtime{Observe: rec.observe, Inbox: new(policy.Memory)}
				answerAll(t, rt, policy.Answer{Allow: allow, By: "ann"}, func() {
					callOne(t, rt, writerTool("write"), "")
				})
				if got := rec.kinds("call_1"); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				rec.mu.Lock()
				defer rec.mu.Unlock()
				if !slices.ContainsFunc(rec.events, func(e recorded) bool { return e.Kind == audit.Answered && e.By == "ann" }) {
					t.Error("nobody can see who answered")
				}
			})
		})
		t.Run(fmt.Sprintf("U1 the events of a tool's own question, answered %v", allow), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var rec recorder
				rt := &ferrule.Runtime{Observe: rec.observe, Inbox: new(policy.Memory)}
				def := doing(readerTool("read"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
					if _, ok := tool.From(ctx).Answer(); !ok {
						return tool.Result{}, &tool.Outcome{Suspend: "Which?"}
					}
					return sayText("x"), nil
				})
				answerAll(t, rt, policy.Answer{Allow: allow}, func() { callOne(t, rt, def, "") })
				if got := rec.kinds("call_1"); strings.Count(got, "asked") != 1 || strings.Count(got, "answered") != 1 {
					t.Errorf("got %s, want it asked and answered once", got)
				}
			})
		})
	}
	t.Run("U1 a call that is scheduled anew", func(t *testing.T) {
		var rec recorder
		def := readerTool("read")
		def.Claims = tool.Claims{}
		def.ClaimsOf = func(a tool.Args) (tool.Claims, error) {
			return tool.Claims{ReadOnly: textIn(a) == "", Local: true}, nil
		}
		rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Observe: rec.observe, Hooks: []ferrule.Hook{inputHook("h", func(context.Context, *tool.Request) (ferrule.Change, error) {
			return ferrule.Change{Input: json.RawMessage(textArg("y"))}, nil
		})}}
		callOne(t, rt, def, "")
		if got, want := rec.kinds("call_1"), "requested decided changed moved decided started ended"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("U1 a wrapper that answers in the tool's place has started nothing", func(t *testing.T) {
		var rec recorder
		rt := &ferrule.Runtime{Observe: rec.observe, Hooks: []ferrule.Hook{aroundHook(func(context.Context, ferrule.Next) tool.Result { return sayText("cached") })}}
		callOne(t, rt, readerTool("read"), "")
		if got, want := rec.kinds("call_1"), "requested decided ended"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("U2 nobody looks on and everything is the same", func(t *testing.T) {
		var seen []string
		for _, observe := range []func(audit.Event){nil, func(audit.Event) {}} {
			v := viewWith(t, withPhases(&ferrule.Runtime{Observe: observe}), behaving(), slowTool("slow", 0))
			for _, p := range phases {
				seen = append(seen, v.Do(t.Context(), tool.Call{Name: p.call, Input: json.RawMessage(p.input)})[0].String())
			}
		}
		if n := len(phases); !slices.Equal(seen[:n], seen[n:]) {
			t.Errorf("results %q and %q", seen[:n], seen[n:])
		}
	})
}

// answerAll runs f in a bubble and gives every question this answer.
func answerAll(t *testing.T, rt *ferrule.Runtime, a policy.Answer, f func()) {
	t.Helper()
	over := make(chan bool)
	go func() {
		defer close(over)
		f()
	}()
	for {
		synctest.Wait()
		select {
		case <-over:
			return
		default:
		}
		open, err := rt.Inbox.Pending(t.Context())
		if err != nil || len(open) == 0 {
			t.Fatalf("nobody is asked: %v", err)
		}
		for _, q := range open {
			if err := rt.Inbox.Answer(t.Context(), q.ID, a); err != nil {
				t.Fatal(err)
			}
		}
	}
}

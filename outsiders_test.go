package ferrule_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestObserversOnlyLook(t *testing.T) {
	t.Parallel()
	d := doing(readerTool("read"), func(_ context.Context, a tool.Args) (tool.Result, error) {
		res := tool.Result{Content: []tool.Content{tool.Text("text"), {Type: tool.JSONContent, JSON: []byte(`{"a":1}`)}}, Trust: new(tool.Web)}
		if textIn(a) == "fail" {
			return res, errBroken
		}
		return res, nil
	})
	for _, input := range []string{"", "fail"} {
		t.Run("H1 an observer cannot write into a result: "+input, func(t *testing.T) {
			rt := &ferrule.Runtime{Guard: unguarded(), Observe: func(e audit.Event) {
				if e.Kind != audit.Ended {
					return
				}
				e.Result.Content[0].Text = "never cleaned"
				copy(e.Result.Content[1].JSON, `[2,3]`)
				*e.Result.Trust = tool.BuiltIn
				if e.Result.Err != nil {
					e.Result.Err.Text = "all is well"
				}
			}}
			res := callOne(t, rt, d, textArg(input))
			want := "text\n{\"a\":1}"
			if input == "fail" {
				want = "broken\n" + want
			}
			if res.String() != want || res.Trust == nil || *res.Trust != tool.Web {
				t.Errorf("result %q with trust %v, want %q and web", res, res.Trust, want)
			}
		})
	}
	t.Run("B1 what a tool says after it has returned is not sent", func(t *testing.T) {
		var rec recorder
		bubble(t, func(t *testing.T) {
			d := doing(readerTool("read"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				_, err := tool.From(ctx).Stdout().Write([]byte("in time"))
				time.AfterFunc(time.Second, func() { _, _ = tool.From(ctx).Stdout().Write([]byte("too late")) })
				return sayText("done"), err
			})
			v := viewWith(t, &ferrule.Runtime{Observe: rec.observe}, d, slowTool("slow", 10*time.Second))
			v.Do(t.Context(), tool.Call{ID: "call_1", Name: "read"}, tool.Call{Name: "slow"}) // the turn is not over yet
		})
		if got, want := rec.kinds("call_1"), "requested decided started updated ended"; got != want {
			t.Errorf("events %s, want %s", got, want)
		}
	})
	t.Run("B1 what a call says after it was given up is not sent", func(t *testing.T) {
		var rec recorder
		bubble(t, func(t *testing.T) {
			d := doing(readerTool("read"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				slow(60)
				_, err := tool.From(ctx).Stdout().Write([]byte("too late"))
				return sayText("done"), err
			})
			d.Timeout = time.Second
			callOne(t, &ferrule.Runtime{Observe: rec.observe}, d, "{}")
		})
		if got, want := rec.kinds("call_1"), "requested decided started given up ended late"; got != want {
			t.Errorf("events %s, want %s", got, want)
		}
	})
	t.Run("P4 a function that answers cannot write into the claims of a tool", func(t *testing.T) {
		var seen []string
		rt := &ferrule.Runtime{Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
			seen = append(seen, q.Claims.Touches[0].Resource)
			q.Claims.Touches[0] = tool.Access{Resource: "file:/harmless"}
			return policy.Answer{Allow: true}, nil
		}}
		d := writerTool("write")
		d.Claims = tool.Claims{Touches: []tool.Access{{Resource: "file:/a", Write: true}}}
		v := viewWith(t, rt, d)
		for range 2 {
			v.Do(t.Context(), tool.Call{Name: "write"})
		}
		if got := fmt.Sprint(seen); got != "[file:/a file:/a]" {
			t.Errorf("it was shown %s", got)
		}
		if found, _ := rt.Find("write"); found.Claims.Touches[0] != (tool.Access{Resource: "file:/a", Write: true}) {
			t.Errorf("the registry has %+v now", found.Claims)
		}
	})
}

// listContext is a context of a type that cannot be compared.
type listContext struct {
	context.Context
	_ []string
}

func TestHostsContext(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]tool.Tool{"on its own": readerTool("read"), "with a function for claims": func() tool.Tool {
		d := writerTool("read")
		d.ClaimsOf = func(tool.Args) (tool.Claims, error) { return tool.Claims{ReadOnly: true, Local: true}, nil }
		return d
	}()} {
		for _, cooperative := range []bool{false, true} {
			t.Run(fmt.Sprintf("D6 a host's context may be of a type that cannot be compared: a tool %s, cooperative %v", name, cooperative), func(t *testing.T) {
				d := d
				d.Cooperative = cooperative
				d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					return sayText("fine"), ctx.Err()
				}
				ctx, cancel := context.WithCancel(t.Context())
				v := viewWith(t, &ferrule.Runtime{Policy: allowAll}, d)
				for i, res := range v.Do(listContext{Context: ctx}, tool.Call{Name: "read"}, tool.Call{Name: "read"}) {
					if res.String() != "fine" {
						t.Errorf("call %d: %q", i, res)
					}
				}
				cancel()
				wantFailure(t, v.Do(listContext{Context: ctx}, tool.Call{Name: "read"})[0], tool.Aborted, "")
			})
		}
	}
}

func TestRepairIsBounded(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]time.Duration{"nobody stops it": 62 * time.Second, "the host stops": 6 * time.Second} {
		t.Run("T10 a Repair that hangs does not hold a call for ever: "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rt := &ferrule.Runtime{Repair: func(text string) (string, []string, error) {
					time.Sleep(time.Hour)
					return text, nil, nil
				}}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if name == "the host stops" {
					time.AfterFunc(5*time.Second, cancel)
				}
				began := time.Now()
				res := viewWith(t, rt, readerTool("read")).Do(ctx, tool.Call{Name: "read", Input: []byte(`{"text":`)})[0]
				if took := time.Since(began); res.Err == nil || took > most {
					t.Errorf("after %s: %v", took, res)
				}
			})
		})
	}
}

func TestRulesAreAskedAgain(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]map[string]int{"behind another": nil, "at a cap": {"": 1}} {
		for _, before := range []tool.Verdict{tool.Allow, tool.Ask} {
			t.Run(fmt.Sprintf("L9 what waited %s is judged again when it is ready: %s on arrival", name, before), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					var denies atomic.Bool
					rt := &ferrule.Runtime{SourceLimits: limits, Answer: says(policy.Answer{Allow: true})}
					rt.Policy = policy.Func(func(r *tool.Request) tool.Decision {
						switch {
						case r.Name == "wall":
							return tool.Decision{Verdict: tool.Allow}
						case denies.Load():
							return tool.Decision{Verdict: tool.Deny, Message: "Not any more."}
						}
						return tool.Decision{Verdict: before}
					})
					wall := doing(writerTool("wall"), func(context.Context, tool.Args) (tool.Result, error) {
						slow(30)
						denies.Store(true)
						return sayText(""), nil
					})
					d, runs := counted(writerTool("write"))
					if name != "behind another" {
						wall.Claims.Parallel, d.Claims.Parallel = true, true
					}
					res := viewWith(t, rt, wall, d).Do(t.Context(), tool.Call{Name: "wall"}, tool.Call{Name: "write"})
					wantFailure(t, res[1], tool.Denied, "Not any more.")
					if runs.Load() != 0 {
						t.Error("it ran")
					}
				})
			})
		}
	}
}

package ferrule_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// allowing is a policy of one rule that allows, forbidding of one that denies
// and lets everything else run.

func allowing(t testing.TB, rule string) policy.Policy {
	r := mustRule(t, rule)
	return policy.Func(func(q *tool.Request) tool.Decision {
		if r.Covers(q) {
			return tool.Decision{Verdict: tool.Allow}
		}
		return tool.Decision{Verdict: tool.Silent}
	})
}

func forbidding(t testing.TB, rule string) policy.Policy {
	r := mustRule(t, rule)
	return policy.Func(func(q *tool.Request) tool.Decision {
		if r.Meets(q) {
			return tool.Decision{Verdict: tool.Deny, Reason: "forbidden"}
		}
		return tool.Decision{Verdict: tool.Allow}
	})
}

func TestFactsThatHang(t *testing.T) {
	t.Parallel()
	for name, rt := range map[string]*ferrule.Runtime{
		"T10 facts that hang do not hold up a call that is asked for": {Policy: told(tool.Ask, "r"), Answer: says(policy.Answer{Allow: true})},
		"T10 facts that hang do not hold up a rule that allows":       {Policy: allowing(t, "write(path: /work/**)")},
		"T10 facts that hang do not hold up a rule that denies":       {Policy: forbidding(t, "write(path: /etc/**)")},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d, runs := counted(writesFiles(tool.Claims{Reversible: true}))
				d.Facts = func(tool.Args) (tool.Facts, error) {
					time.Sleep(time.Hour)
					return tool.Facts{Paths: []string{"/work/a"}}, nil
				}
				v := viewWith(t, rt, d)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				v.Do(ctx, tool.Call{Name: "write", Input: json.RawMessage(textArg("/work/a"))})
				if took := time.Since(began); took > 2*time.Minute {
					t.Errorf("it took %s, although the host stopped it after a minute", took)
				}
				began = time.Now()
				v.Do(t.Context(), tool.Call{Name: "write", Input: json.RawMessage(textArg("/work/b"))})
				if took := time.Since(began); took > 5*time.Minute {
					t.Errorf("it took %s", took)
				}
				if rt.Answer == nil && runs.Load() != 0 {
					t.Error("it ran, although nobody knows what it is about")
				}
			})
		})
	}
}

// far gives a source a tool that says of every call that it is about /work/a.
func far(t *testing.T, rt *ferrule.Runtime) (runs func() int64) {
	t.Helper()
	d, n := counted(writerTool("write"))
	d.Facts = func(tool.Args) (tool.Facts, error) {
		return tool.Facts{Paths: []string{"/work/a"}, Hosts: []string{}, Commands: [][]string{}}, nil
	}
	if err := rt.Set(tool.Source{Name: "srv", Trust: tool.MCP}, checkedTool(t, d)); err != nil {
		t.Fatal(err)
	}
	return n.Load
}

func TestFactsOfOthers(t *testing.T) {
	t.Parallel()
	rewrite := ferrule.Hook{Name: "rewrite", Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
		return ferrule.Change{Input: json.RawMessage(textArg("other"))}, nil
	}}
	believe := func(tool.Source, *tool.Info) bool { return true }
	for _, tt := range []struct {
		name string
		rt   func(*testing.T) *ferrule.Runtime
		runs int64
	}{
		{"T14 facts of a source that is believed satisfy a rule that allows", func(t *testing.T) *ferrule.Runtime {
			return &ferrule.Runtime{Policy: allowing(t, "srv__write(path: /work/**)"), Believe: believe}
		}, 1},
		{"T14 facts of a source that is not believed do not satisfy a rule that allows", func(t *testing.T) *ferrule.Runtime {
			return &ferrule.Runtime{Policy: allowing(t, "srv__write(path: /work/**)")}
		}, 0},
		{"T14 nor do they after a hook has changed the input", func(t *testing.T) *ferrule.Runtime {
			return &ferrule.Runtime{Policy: allowing(t, "srv__write(path: /work/**)"), Hooks: []ferrule.Hook{rewrite}}
		}, 0},
		{"T14 facts of a source that is believed keep a call away from a rule that denies", func(t *testing.T) *ferrule.Runtime {
			return &ferrule.Runtime{Policy: forbidding(t, "srv__write(path: /etc/**)"), Believe: believe}
		}, 1},
		{"T14 facts of a source that is not believed do not", func(t *testing.T) *ferrule.Runtime {
			return &ferrule.Runtime{Policy: forbidding(t, "srv__write(path: /etc/**)")}
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := tt.rt(t)
			runs := far(t, rt)
			res := rt.Session(tool.Caller{}).Call(t.Context(), "srv__write", textArg("x"))
			if runs() != tt.runs || (res.Err == nil) != (tt.runs == 1) {
				t.Errorf("got %v, ran %d times, want %d", res.Err, runs(), tt.runs)
			}
		})
	}
	t.Run("T14 a yes to a scope does not cover calls of a source that is not believed", func(t *testing.T) {
		k := &keeper{choose: offerExact(false)}
		rt := &ferrule.Runtime{Answer: k.answer, Ledger: new(policy.Memory)}
		far(t, rt)
		s := rt.Session(tool.Caller{Session: "s"})
		if _, err := rt.Ledger.Grant(t.Context(), policy.Grant{Rule: "srv__write(path: /work/**)", Caller: policy.Asker{Principal: "local"}, Source: "srv", Second: true}); err != nil {
			t.Fatal(err)
		}
		if s.Call(t.Context(), "srv__write", textArg("x")); len(k.asked) != 1 {
			t.Errorf("asked %d times, want 1", len(k.asked))
		}
	})
}

func TestFactsAreAsTheyWere(t *testing.T) {
	t.Parallel()
	// The second call waits behind the first, and is judged again when it is
	// ready. By then the tool has written into its list about the third.
	t.Run("T14 a list that the tool uses again for another call does not change what a call is about", func(t *testing.T) {
		var ran []string
		list := make([]string, 1)
		d := doing(writerTool("write"), func(_ context.Context, a tool.Args) (tool.Result, error) {
			ran = append(ran, textIn(a))
			return sayText("done"), nil
		})
		d.Facts = func(a tool.Args) (tool.Facts, error) {
			list[0] = textIn(a)
			return tool.Facts{Paths: list, Hosts: []string{}, Commands: [][]string{}}, nil
		}
		rt := &ferrule.Runtime{Policy: allowing(t, "write(path: /work/**)"), Inbox: new(policy.Memory)}
		var calls []tool.Call
		for _, path := range []string{"/work/a", "/etc/passwd", "/work/b"} {
			calls = append(calls, tool.Call{Name: "write", Input: json.RawMessage(textArg(path))})
		}
		_, res := goesOn(t, viewWith(t, rt, d), 0, calls...)
		if kindOf(res[1]) != tool.Suspended || !slices.Equal(ran, []string{"/work/a"}) {
			t.Errorf("the second call: %v; ran %q, want only the first", res[1].Err, ran)
		}
	})
}

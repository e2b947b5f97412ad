package ferrule_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func mustRule(t testing.TB, text string) policy.Rule {
	t.Helper()
	r, err := policy.ParseRule(text, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRates(t *testing.T) {
	t.Parallel()
	type step struct {
		principal, session, tool string
		after                    time.Duration
		limited                  bool
	}
	tests := []struct {
		name  string
		rate  policy.Rate
		tools string
		steps []step
	}{
		{
			"P9 per tool: so many within the time, then one as each share of it passes",
			policy.Rate{Calls: 2, Per: time.Minute},
			"one",
			[]step{{"", "s", "one", 0, false}, {"", "s", "one", 0, false}, {"", "s", "one", 0, true}, {"", "s", "two", 0, false}, {"", "s", "one", 31 * time.Second, false}, {"", "s", "one", 0, true}},
		},
		{
			"P9 per source",
			policy.Rate{Calls: 1, Per: time.Minute},
			"source:srv",
			[]step{{"", "s", "srv__far", 0, false}, {"", "s", "srv__far", 0, true}, {"", "s", "one", 0, false}},
		},
		{
			"P9 per principal",
			policy.Rate{Calls: 1, Per: time.Minute, Each: "principal"},
			"*",
			[]step{{"ada", "s", "one", 0, false}, {"ada", "t", "two", 0, true}, {"bob", "s", "one", 0, false}},
		},
		{
			"P9 a budget: so many in a session, whatever the time",
			policy.Rate{Calls: 2, Each: "session"},
			"*",
			[]step{{"", "s", "one", 0, false}, {"", "s", "two", 0, false}, {"", "s", "one", time.Hour, true}, {"", "t", "one", 0, false}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rate := tt.rate
				rate.Tools = mustRule(t, tt.tools)
				rt := &ferrule.Runtime{Policy: allowAll, Guard: unguarded(), Rates: []policy.Rate{rate}}
				viewWith(t, rt, writerTool("one"), writerTool("two"))
				if err := rt.Set(tool.Source{Name: "srv", Trust: tool.MCP}, checkedTool(t, writerTool("far"))); err != nil {
					t.Fatal(err)
				}
				for i, s := range tt.steps {
					time.Sleep(s.after)
					res := rt.Session(tool.Caller{Principal: s.principal, Session: s.session}).Call(t.Context(), s.tool, "{}")
					if limited := kindOf(res) == tool.RateLimited; limited != s.limited {
						t.Errorf("call %d, %+v: got %v, want limited: %v", i+1, s, res.Err, s.limited)
					}
				}
			})
		})
	}
	t.Run("P9 what does not run does not count", func(t *testing.T) {
		denies := true
		rt := &ferrule.Runtime{Rates: []policy.Rate{{Calls: 1}}, Policy: policy.Func(func(*tool.Request) tool.Decision {
			if denies {
				return tool.Decision{Reason: "no"}
			}
			return tool.Decision{Verdict: tool.Allow}
		})}
		s := ferrule.SessionOf(viewWith(t, rt, writerTool("one")))
		s.Call(t.Context(), "one", "{}")
		s.Call(t.Context(), "one", "not JSON")
		denies = false
		if res := s.Call(t.Context(), "one", "{}"); res.Err != nil {
			t.Error(res.Err)
		}
		wantFailure(t, s.Call(t.Context(), "one", "{}"), tool.RateLimited, "The budget of calls of one is used up.")
	})
	t.Run("P9 the model reads how long to wait", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rt := &ferrule.Runtime{Policy: allowAll, Rates: []policy.Rate{{Calls: 1, Per: time.Minute}}}
			s := ferrule.SessionOf(viewWith(t, rt, writerTool("one")))
			s.Call(t.Context(), "one", "{}")
			res := s.Call(t.Context(), "one", "{}")
			if wantFailure(t, res, tool.RateLimited, "Too many calls of one. Try again in 1m1s."); res.Err.RetryAfter != time.Minute {
				t.Errorf("retry after %s", res.Err.RetryAfter)
			}
		})
	})
	t.Run("P9 a rate that is none lets nothing run", func(t *testing.T) {
		rt := &ferrule.Runtime{Policy: allowAll, Rates: []policy.Rate{{Calls: 0, Per: time.Minute}}}
		wantFailure(t, callOne(t, rt, readerTool("look"), "{}"), tool.Denied, "")
		if f := rt.Findings(); len(f) == 0 {
			t.Error("there is no finding about it")
		}
	})
	t.Run("P9 a counter that fails lets nothing run", func(t *testing.T) {
		rt := &ferrule.Runtime{Policy: allowAll, Rates: []policy.Rate{{Calls: 1}}, Ledger: uncounting{new(policy.Memory)}}
		wantFailure(t, callOne(t, rt, readerTool("look"), "{}"), tool.Denied, "It could not be counted how many calls were made, so the call was denied.")
	})
	for _, full := range []int{1, 7, -2} {
		t.Run(fmt.Sprintf("P9 a counter that names a place which is none lets nothing run: %d of 1", full), func(t *testing.T) {
			rt := &ferrule.Runtime{Policy: allowAll, Rates: []policy.Rate{{Calls: 1}}, Ledger: miscounting{new(policy.Memory), full}}
			d, runs := counted(writerTool("one"))
			wantFailure(t, callOne(t, rt, d, "{}"), tool.Denied, "It could not be counted how many calls were made, so the call was denied.")
			if runs.Load() != 0 {
				t.Error("it ran")
			}
		})
	}
	t.Run("P9 a call that was handed back and goes on counts once", func(t *testing.T) {
		kept := new(policy.Memory)
		limited := func(rt *ferrule.Runtime, d *tool.Tool) {
			asksWhom(rt, d)
			rt.Policy, rt.Rates = allowAll, []policy.Rate{{Calls: 1}}
		}
		for name, second := range map[string]func(process) process{
			"in the same process": func(p process) process { return p },
			"in another":          func(process) process { return begins(t, kept, limited) },
		} {
			kept = new(policy.Memory)
			first := begins(t, kept, limited)
			n, res := first.turn(t, 0, sending("a"))
			wantFailure(t, res[0], tool.Suspended, "")
			say(t, kept, policy.Answer{Allow: true, Text: "bob"})
			then := second(first)
			if _, res = then.turn(t, n, sending("a")); res[0].Err != nil {
				t.Errorf("%s: %v", name, res[0].Err)
			}
			if _, res = then.turn(t, 0, sending("a")); kindOf(res[0]) != tool.RateLimited {
				t.Errorf("%s: the second call: %v, want no room for it", name, res[0].Err)
			}
		}
	})
}

// uncounting is a ledger that cannot count.
type uncounting struct{ policy.Ledger }

func (uncounting) Take(context.Context, []policy.Charge) (int, time.Duration, error) {
	return 0, 0, errors.New("disk full")
}

// miscounting is a ledger that says something else than how it counted.
type miscounting struct {
	policy.Ledger
	full int
}

func (l miscounting) Take(context.Context, []policy.Charge) (int, time.Duration, error) {
	return l.full, time.Minute, nil
}

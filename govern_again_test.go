package ferrule_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestWhatCountsLater(t *testing.T) {
	t.Parallel()
	t.Run("J2 a call that ran without waiting for an answer is not said to have been rejected after a restart", func(t *testing.T) {
		kept := new(policy.Memory)
		first := begins(t, kept, nil)
		n, res := first.turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		first.setMode(t, policy.ModeObserve)
		if _, res = first.turn(t, n, sending("a")); res[0].Err != nil || first.runs.Load() != 1 {
			t.Fatalf("in mode observe: %v, ran %d times", res[0].Err, first.runs.Load())
		}
		first.setMode(t, policy.ModeAsk)
		second := begins(t, kept, nil)
		_, res = second.turn(t, n, sending("a"))
		if wantFailure(t, res[0], tool.OutcomeUnknown, ""); second.runs.Load() != 0 {
			t.Error("it ran twice")
		}
	})
	rule := allowing(t, "srv__write(path: /work/**)")
	for name, rt := range map[string]*ferrule.Runtime{
		"T14 facts of a source that is not believed do not satisfy a rule where an observer has asked for them before": {Policy: rule, Observe: func(e audit.Event) {
			if e.Request != nil {
				_, _ = e.Request.Args.Facts()
			}
		}},
		"P11 facts of a source that is not believed do not satisfy the host's own rule": {
			Decide: func(_ context.Context, r *tool.Request) (tool.Decision, error) { return rule.Decide(r), nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			runs := far(t, rt)
			res := rt.Session(tool.Caller{}).Call(t.Context(), "srv__write", textArg("x"))
			if wantFailure(t, res, tool.Denied, ""); runs() != 0 {
				t.Error("it ran")
			}
		})
	}
	for name, f := range map[string]func(){"hangs": func() { time.Sleep(time.Hour) }, "panics": func() { panic("x") }, "ends its goroutine": runtime.Goexit} {
		t.Run("P5 a call that a person allowed goes on whatever becomes of the rule: Grant "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				k := &keeper{choose: offerExact(false)}
				books := &oddBooks{Memory: new(policy.Memory), befall: f}
				books.method.Store("Grant")
				d, runs := counted(writesFiles(tool.Claims{Reversible: true}))
				s := ferrule.SessionOf(viewWith(t, &ferrule.Runtime{Answer: k.answer, Ledger: books}, d))
				began := time.Now()
				res := s.Call(t.Context(), "write", textArg("/work/a"))
				if res.Err != nil || runs.Load() != 1 {
					t.Errorf("got %v (%s) after %s, ran %d times", kindOf(res), res.Err.Text, time.Since(began), runs.Load())
				}
			})
		})
	}
	t.Run("P10 a mode that another process sets while a call waits for a person counts when the yes comes", func(t *testing.T) {
		unhurried(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			b := attended(t, rt)
			rt.Ledger = b.inbox
			b.add("send", nil)
			p := b.start(post("send", "bob"))
			q := b.only()
			if err := (&ferrule.Runtime{Ledger: b.inbox}).Session(tool.Caller{Session: "s"}).SetMode(t.Context(), policy.ModeRead); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			b.yes(q)
			b.want(p.wait(), "", "denied: …")
		})
	})
}

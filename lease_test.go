package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// par are the claims of most tools below: they may overlap.
var par = tool.Claims{Parallel: true}

func TestTimeout(t *testing.T) {
	t.Parallel()
	t.Run("T10 a run has 60 s, or what the tool says, or no limit where it says that", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "five", Claims: par, Timeout: 5 * time.Second}, act.run)
			f.add(tool.Info{Name: "hour", Claims: par, Timeout: time.Hour}, act.run)
			f.add(tool.Info{Name: "ever", Claims: par, Timeout: tool.Unlimited}, act.run)
			results := f.do("p=obey@61 p=obey@59 five=obey@6 five=obey@4 hour=obey@3601 ever=obey@36000 p@62 five@6.5")
			f.want("ends", f.ends(), "timeout@60 ok@59 timeout@5 ok@4 timeout@3600 ok@36000 timeout@61 timeout@6")
			f.want("text of a time-out", results[2].Err.Text, "Timed out after 5s. It was running and may have taken effect.")
			if !errors.Is(results[2].Err, context.DeadlineExceeded) {
				f.t.Errorf("got the error %v, want context.DeadlineExceeded in it", results[2].Err)
			}
		})
	})
	t.Run("T10 the longest time there is does not end at once", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "ages", Timeout: math.MaxInt64}, act.run)
			f.do("p ages=obey@2") // it begins a second after its turn
			f.want("ends", f.ends(), "ok@1 ok@3")
		})
	})
	t.Run("T10 waiting is not counted: for a slot, for others, for a cap", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Limit: 2}, func(f *floor) {
			f.add(tool.Info{Name: "one", Claims: par, AtOnce: 1}, act.run)
			f.do("p=obey@50 p=obey@50 p=obey@50 p=obey@50 w=obey@50 w=obey@50 one=obey@50 one=obey@50")
			f.want("ends", f.ends(), "ok@50 ok@50 ok@100 ok@100 ok@150 ok@200 ok@250 ok@300")
		})
	})
	t.Run("T10 waiting is not counted: for a person", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox}, func(f *floor) {
			f.asking(tool.Info{})
			turn := f.begin(ferrule.TurnOptions{}, "asks=obey@50")
			after(3600)
			say(f.t, inbox, policy.Answer{Allow: true})
			turn.Wait()
			f.want("ends", f.ends(), "ok@3650")
		})
	})
	t.Run("T10 a value that comes within a second after its time counts, an error is a time-out", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "five", Claims: par, Timeout: 5 * time.Second}, act.run)
			results := f.do("five@5.9 five=fail@5.9 five=panic@5.9 five@6.1")
			f.want("ends", f.ends(), "ok@5.9 timeout@5.9 timeout@5.9 timeout@6")
			f.want("what it returned", results[0].String(), "done")
			if late := f.notes(audit.GivenUp); len(late) != 1 {
				f.t.Errorf("%d calls were given up, want one", len(late))
			}
		})
	})
}

// slow takes so many seconds, whatever its context says.
func slow(seconds float64) { time.Sleep(time.Duration(seconds * float64(time.Second))) }

// functions is a runtime and a tool of which every function takes so long as
// took says of it, if it says something.
func functions(took map[string]float64, heed bool) (*ferrule.Runtime, tool.Spec[act, string]) {
	work := func(ctx context.Context, name string) {
		if heed {
			_ = act{Do: "obey", For: took[name]}.wait(ctx)
		} else {
			slow(took[name])
		}
	}
	rt := &ferrule.Runtime{
		Inbox: new(policy.Memory),
		Decide: func(ctx context.Context, r *tool.Request) (tool.Decision, error) {
			if r.Name == "all" {
				work(ctx, "Decide")
			}
			return tool.Decision{Verdict: tool.Silent}, nil
		},
		Hooks: []ferrule.Hook{{
			Name: "hook", Only: ferrule.Filter{Names: []string{"all"}},
			Input: func(ctx context.Context, _ *tool.Request) (ferrule.Change, error) {
				work(ctx, "Input")
				return ferrule.Change{}, nil
			},
			Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
				work(ctx, "Around")
				res := next(ctx)
				work(ctx, "Around after")
				return res
			},
			Output: func(ctx context.Context, _ *tool.Request, now, _ tool.Result) (*tool.Result, error) {
				work(ctx, "Output")
				return &now, nil
			},
		}},
	}
	return rt, tool.Spec[act, string]{
		Info: tool.Info{Name: "all", Claims: par},
		Validate: func(ctx context.Context, _ act) (json.RawMessage, error) {
			work(ctx, "Validate")
			return nil, nil
		},
		Permit: func(ctx context.Context, _ act) (tool.Decision, error) {
			work(ctx, "Permit")
			return tool.Decision{Verdict: tool.Silent}, nil
		},
		AskIf: func(ctx context.Context, _ act) (bool, error) {
			work(ctx, "AskIf")
			return false, nil
		},
		Key: func(ctx context.Context, _ act) (string, error) {
			work(ctx, "Key")
			return "", nil
		},
		Run: func(ctx context.Context, a act) (string, error) {
			work(ctx, "Run")
			return "done", ctx.Err()
		},
	}
}

func TestTimeOfOthers(t *testing.T) {
	t.Parallel()
	names := []string{"Validate", "Decide", "Permit", "AskIf", "Input", "Key", "Around", "Run", "Around after", "Output"}
	t.Run("T10 each function of tool, hook and host has as long for itself", func(t *testing.T) {
		took := make(map[string]float64)
		for _, name := range names {
			took[name] = 50
		}
		rt, all := functions(took, false)
		onFloor(t, rt, func(f *floor) {
			f.spec(all)
			f.do("all")
			f.want("ends", f.ends(), "ok@500")
		})
	})
	for _, tt := range []struct{ name, heeds string }{
		{"Validate", "timeout@60 ok@1"},
		{"Decide", "denied@60 ok@1"},
		{"Permit", "denied@60 ok@1"},
		{"Input", "hook_blocked@60 ok@1"},
		{"Around", "hook_blocked@60 ok@1"},
		{"Run", "timeout@60 ok@1"},
		{"Around after", "hook_blocked@60 ok@1"},
		{"Output", "hook_blocked@60 ok@1"},
		{"Key", "ok@60 ok@1"}, // failing: no key
	} {
		for _, heed := range []bool{true, false} {
			what, want := "and returns", tt.heeds
			if !heed {
				what, want = "and is given up", "timeout@61 ok@1"
				if strings.HasPrefix(tt.heeds, "denied") || strings.HasPrefix(tt.heeds, "hook_blocked") {
					want = strings.Replace(tt.heeds, "@60", "@61", 1)
				}
			}
			t.Run(fmt.Sprintf("T10 a function that takes longer is told so, fails alone, falls to the strict side: %s %s", tt.name, what), func(t *testing.T) {
				rt, all := functions(map[string]float64{tt.name: 120}, heed)
				onFloor(t, rt, func(f *floor) {
					f.spec(all)
					f.do("all r")
					f.want("ends", f.ends(), want)
					f.want("start of the other call", strings.Fields(f.starts())[1], "0")
				})
			})
		}
	}
	for _, name := range names {
		t.Run("D6 a call that the host stops ends as aborted, at once if its tool has not begun, whatever function was at work: "+name, func(t *testing.T) {
			rt, all := functions(map[string]float64{name: 50}, true)
			want := "aborted@2"
			if name == "Run" || name == "Around after" || name == "Output" {
				want = "aborted@12"
			}
			onFloor(t, rt, func(f *floor) {
				f.spec(all)
				ctx, cancel := context.WithCancel(f.ctx)
				time.AfterFunc(2*time.Second, cancel)
				f.expects(1)
				f.session("s").View(ctx).Do(ctx, words("all")...)
				f.want("ends", f.ends(), want)
			})
		})
		t.Run("D6 a Cancel call ends as aborted when a person speaks, and no hook is blamed: "+name, func(t *testing.T) {
			rt, all := functions(map[string]float64{name: 50}, true)
			all.Cancel = true
			onFloor(t, rt, func(f *floor) {
				f.spec(all)
				turn := f.begin(ferrule.TurnOptions{}, "all")
				after(2)
				turn.Interrupt()
				turn.Wait()
				f.want("ends", f.ends(), "aborted@2")
				if blocked := f.notes(audit.Blocked); len(blocked) > 0 {
					f.t.Errorf("the record says that a hook blocked it: %s", blocked[0].Text)
				}
			})
		})
	}
	t.Run("T10 claims by a function that takes too long are none, and hold the turn no longer", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.spec(tool.Spec[act, string]{
				Info: tool.Info{Name: "ponders"}, Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
				ClaimsOf: func(act) tool.Claims {
					slow(7200)
					return par
				},
			})
			f.do("ponders")
			if at := f.seconds(); at > 120 {
				f.t.Errorf("the turn took %g s, want a minute or two", at)
			}
			after(7200) // until the function returns
		})
	})
	t.Run("T10 an AskIf that takes too long asks", func(t *testing.T) {
		rt, all := functions(map[string]float64{"AskIf": 120}, true)
		onFloor(t, rt, func(f *floor) {
			f.spec(all)
			turn := f.begin(ferrule.TurnOptions{}, "all")
			after(61)
			if open, err := rt.Inbox.Pending(f.ctx); err != nil || len(open) != 1 {
				f.t.Errorf("got %d questions, %v, want one", len(open), err)
			}
			turn.Interrupt()
			turn.Wait()
		})
	})
	t.Run("T10 a wrapper's own time stands still while what it wraps runs", func(t *testing.T) {
		rt, all := functions(map[string]float64{"Around": 50, "Run": 3600, "Around after": 50}, true)
		all.Timeout = 2 * time.Hour
		onFloor(t, rt, func(f *floor) {
			f.spec(all)
			f.do("all")
			f.want("ends", f.ends(), "ok@3700")
		})
		rt, all = functions(map[string]float64{"Around": 4, "Run": 4, "Around after": 4}, true)
		all.Timeout = 5 * time.Second
		onFloor(t, rt, func(f *floor) {
			f.spec(all)
			f.do("all")
			f.want("ends", f.ends(), "ok@12")
		})
	})
	// Its result is that a hook failed, so that the call did not go on.
	t.Run("T10 a wrapper whose time is over does not run its tool any more, though it has a second to return", func(t *testing.T) {
		rt, all := functions(map[string]float64{"Around": 60.5}, false)
		onFloor(t, rt, func(f *floor) {
			f.spec(all)
			f.do("all")
			f.want("ends", f.ends(), "hook_blocked@60.5")
			f.want("starts", f.starts(), "-")
		})
	})
	t.Run("D7 a wrapper that was given up does not run its tool any more", func(t *testing.T) {
		rt, all := functions(map[string]float64{"Around": 90}, false)
		onFloor(t, rt, func(f *floor) {
			f.spec(all)
			f.do("all")
			after(120)
			f.want("ends", f.ends(), "hook_blocked@61")
			f.want("starts", f.starts(), "-")
		})
	})
	t.Run("T10 wrappers in wrappers: each has its own time", func(t *testing.T) {
		var hooks []ferrule.Hook
		for range 3 {
			hooks = append(hooks, ferrule.Hook{Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
				slow(40)
				defer slow(40)
				return next(ctx)
			}})
		}
		onFloor(t, &ferrule.Runtime{Hooks: hooks}, func(f *floor) {
			f.do("p=obey@50")
			f.want("ends", f.ends(), "ok@290")
		})
	})
	t.Run("T10 a tool without a limit: its wrapper has time too", func(t *testing.T) {
		rt, all := functions(map[string]float64{"Around": 50, "Run": 36000, "Around after": 50}, true)
		all.Timeout = tool.Unlimited
		onFloor(t, rt, func(f *floor) {
			f.spec(all)
			f.do("all")
			f.want("ends", f.ends(), "ok@36100")
		})
	})
}

// within runs one call whose tool is given its context.
func within(f *floor, info tool.Info, run func(ctx context.Context) error) tool.Result {
	f.t.Helper()
	info.Name = "within"
	f.add(info, func(_ act, ctx context.Context) (string, error) { return "done", run(ctx) })
	return f.do("within")[0]
}

// everywhere tests what the context of a run with 5 s is like, on a worker, on
// the caller's goroutine and inside a wrapper.
func everywhere(t *testing.T, title string, test func(f *floor, info tool.Info)) {
	t.Helper()
	wrapper := ferrule.Hook{Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result { return next(ctx) }}
	for _, w := range []struct {
		where       string
		cooperative bool
		hooks       []ferrule.Hook
	}{{"on a worker", false, nil}, {"on the caller's goroutine", true, nil}, {"in a wrapper", false, []ferrule.Hook{wrapper}}} {
		t.Run(title+", "+w.where, func(t *testing.T) {
			onFloor(t, &ferrule.Runtime{Hooks: w.hooks}, func(f *floor) {
				test(f, tool.Info{Timeout: 5 * time.Second, Cooperative: w.cooperative})
			})
		})
	}
}

func TestContextOfATool(t *testing.T) {
	t.Parallel()
	type key struct{}
	everywhere(t, "T10 a context has the deadline of the run", func(f *floor, info tool.Info) {
		within(f, info, func(ctx context.Context) error {
			at, ok := ctx.Deadline()
			if left := time.Until(at); !ok || left != 5*time.Second {
				f.t.Errorf("got a deadline %v in %v, want in 5 s", ok, left)
			}
			return nil
		})
	})
	everywhere(t, "T10 a context has no deadline where the tool has no limit", func(f *floor, info tool.Info) {
		info.Timeout = tool.Unlimited
		within(f, info, func(ctx context.Context) error {
			if at, ok := ctx.Deadline(); ok {
				f.t.Errorf("got a deadline %v without a limit", at)
			}
			return nil
		})
	})
	everywhere(t, "T10 a tool that only polls Err hears the end of its time", func(f *floor, info tool.Info) {
		r := within(f, info, func(ctx context.Context) error {
			for ctx.Err() == nil {
				slow(0.75)
			}
			return ctx.Err()
		})
		f.want("result", fmt.Sprintf("%s@%g", word(r), f.seconds()), "timeout@5.25")
	})
	everywhere(t, "T10 the error and the cause of a context whose time is over are DeadlineExceeded", func(f *floor, info tool.Info) {
		within(f, info, func(ctx context.Context) error {
			if err := context.Cause(ctx); err != nil || ctx.Err() != nil {
				f.t.Errorf("got the error %v and the cause %v before the end", ctx.Err(), err)
			}
			<-ctx.Done()
			if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
				f.t.Errorf("got the error %v, want DeadlineExceeded", err)
			}
			if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
				f.t.Errorf("got the cause %v, want DeadlineExceeded", err)
			}
			return ctx.Err()
		})
	})
	for name, derive := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"WithCancel": context.WithCancel,
		"WithTimeout": func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(c, time.Hour)
		},
		"WithCancelCause": func(c context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(c)
			return ctx, func() { cancel(nil) }
		},
		"WithValue": func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithValue(c, key{}, 1), func() {}
		},
		"WithCancel beside one that was cancelled": func(c context.Context) (context.Context, context.CancelFunc) {
			_, other := context.WithCancel(c)
			other()
			return context.WithCancel(c)
		},
	} {
		everywhere(t, "T10 a context that a tool derives ends with its own: "+name, func(f *floor, info tool.Info) {
			r := within(f, info, func(ctx context.Context) error {
				inner, cancel := derive(ctx)
				defer cancel()
				<-inner.Done()
				if inner.Err() == nil || context.Cause(inner) == nil {
					f.t.Error("got no error or no cause after the end")
				}
				return inner.Err()
			})
			f.want("result", fmt.Sprintf("%s@%g", word(r), f.seconds()), "timeout@5")
		})
	}
	everywhere(t, "T10 a derived context that ends earlier ends alone", func(f *floor, info tool.Info) {
		r := within(f, info, func(ctx context.Context) error {
			inner, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			<-inner.Done()
			if !errors.Is(inner.Err(), context.DeadlineExceeded) || ctx.Err() != nil {
				f.t.Errorf("got %v of the inner and %v of the outer context", inner.Err(), ctx.Err())
			}
			return inner.Err()
		})
		f.want("result", fmt.Sprintf("%s@%g", word(r), f.seconds()), "failed@2") // it is the tool's own error
	})
	everywhere(t, "T10 AfterFunc runs when the time is over, and not when it was stopped", func(f *floor, info tool.Info) {
		var ran []float64
		var stopped, stoppedLate bool
		within(f, info, func(ctx context.Context) error {
			context.AfterFunc(ctx, func() { ran = append(ran, f.seconds()) })
			stop := context.AfterFunc(ctx, func() { f.t.Error("a function that was stopped ran") })
			late := context.AfterFunc(ctx, func() {})
			stopped = stop()
			<-ctx.Done()
			synctest.Wait()
			stoppedLate = late()
			return ctx.Err()
		})
		synctest.Wait()
		f.want("ran at, stopped, stopped too late", fmt.Sprint(ran, stopped, stoppedLate), "[5] true false")
	})
	everywhere(t, "T10 a context has the values of the host's", func(f *floor, info tool.Info) {
		info.Name = "within"
		f.add(info, func(_ act, ctx context.Context) (string, error) {
			f.want("value", fmt.Sprint(ctx.Value(key{})), "from the host")
			return "", nil
		})
		ctx := context.WithValue(f.ctx, key{}, "from the host")
		f.session("s").View(ctx).Do(ctx, words("within")...)
	})
	everywhere(t, "T10 a tool that uses its context after it returned finds it ended", func(f *floor, info tool.Info) {
		var kept, derived context.Context
		told := 0
		within(f, info, func(ctx context.Context) error {
			kept = ctx
			var cancel context.CancelFunc
			derived, cancel = context.WithCancel(ctx)
			_ = cancel // forgotten, as tools do
			context.AfterFunc(ctx, func() { told++ })
			return nil
		})
		synctest.Wait()
		for name, ctx := range map[string]context.Context{"its context": kept, "a derived one": derived} {
			select {
			case <-ctx.Done():
			default:
				f.t.Errorf("%s is not done", name)
			}
			if !errors.Is(ctx.Err(), context.Canceled) || context.Cause(ctx) == nil {
				f.t.Errorf("%s has the error %v and the cause %v, want Canceled", name, ctx.Err(), context.Cause(ctx))
			}
		}
		later, cancel := context.WithCancel(kept)
		defer cancel()
		if later.Err() == nil {
			f.t.Error("a context derived afterwards has not ended")
		}
		context.AfterFunc(kept, func() { told++ })
		synctest.Wait()
		if told != 2 {
			f.t.Errorf("%d of 2 functions ran", told)
		}
		tool.From(kept).Progress(1, 2, "too late")
	})
	everywhere(t, "D6 the host's end is not the end of a call that has time left", func(f *floor, info tool.Info) {
		info.Timeout = 0
		info.Name = "within"
		cause := errors.New("the program ends")
		ctx, cancel := context.WithCancelCause(f.ctx)
		time.AfterFunc(2*time.Second, func() { cancel(cause) })
		f.add(info, func(_ act, ctx context.Context) (string, error) {
			before, stop := context.WithCancel(ctx)
			defer stop()
			slow(3)
			after, stop := context.WithCancel(ctx)
			defer stop()
			for name, err := range map[string]error{
				"its error": ctx.Err(), "its cause": context.Cause(ctx),
				"the error of one derived before": before.Err(), "the error of one derived after": after.Err(),
			} {
				if err != nil {
					f.t.Errorf("a second after the host's end %s is %v, want none", name, err)
				}
			}
			<-ctx.Done()
			if got := context.Cause(ctx); !errors.Is(got, cause) {
				f.t.Errorf("at its end it has the cause %v, want the host's", got)
			}
			return "", ctx.Err()
		})
		f.expects(1)
		f.session("s").View(ctx).Do(ctx, words("within")...)
		f.want("ends", f.ends(), "aborted@12")
	})
	everywhere(t, "D6 a tool that only polls Err hears the host", func(f *floor, info tool.Info) {
		info.Name, info.Cancel = "within", true
		f.add(info, func(_ act, ctx context.Context) (string, error) {
			for ctx.Err() == nil {
				slow(0.75)
			}
			return "", ctx.Err()
		})
		ctx, cancel := context.WithCancel(f.ctx)
		time.AfterFunc(2*time.Second, cancel)
		f.expects(1)
		f.session("s").View(ctx).Do(ctx, words("within")...)
		f.want("ends", f.ends(), "aborted@2.25")
	})
	everywhere(t, "D6 what a Cancel call returns after the host's stop is dropped, also if it never looked at its context", func(f *floor, info tool.Info) {
		info.Name, info.Cancel = "within", true
		f.add(info, act.run)
		ctx, cancel := context.WithCancel(f.ctx)
		time.AfterFunc(2*time.Second, cancel)
		f.expects(1)
		f.session("s").View(ctx).Do(ctx, words("within@2.5")...)
		f.want("ends", f.ends(), "aborted@2.5")
	})
	t.Run("T10 tools and hooks that end their goroutine get a result, in every function", func(t *testing.T) {
		run := func(ctx context.Context, a act) (string, error) { return a.run(ctx) }
		exit := act{Do: "exit"}
		around := ferrule.Hook{Only: ferrule.Filter{Names: []string{"r"}}, Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
			_ = exit.wait(ctx)
			return next(ctx)
		}}
		onFloor(t, &ferrule.Runtime{Hooks: []ferrule.Hook{around}}, func(f *floor) {
			f.spec(tool.Spec[act, string]{Info: tool.Info{Name: "checks", Claims: par}, Run: run, Validate: func(ctx context.Context, _ act) (json.RawMessage, error) {
				return nil, exit.wait(ctx)
			}})
			f.spec(tool.Spec[act, string]{Info: tool.Info{Name: "permits", Claims: par}, Run: run, Permit: func(ctx context.Context, _ act) (tool.Decision, error) {
				return tool.Decision{}, exit.wait(ctx)
			}})
			f.do("p=exit checks permits r p w=exit w")
			f.want("ends", f.ends(), "failed@1 failed@0 denied@0 hook_blocked@0 ok@1 failed@2 ok@3")
		})
	})
}

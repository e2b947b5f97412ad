package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// stoppers stop a turn: a person who speaks, and the host.
var stoppers = map[string]func(*ferrule.Turn, context.CancelFunc){
	"a person speaks": func(turn *ferrule.Turn, _ context.CancelFunc) { turn.Interrupt() },
	"the host stops":  func(_ *ferrule.Turn, cancel context.CancelFunc) { cancel() },
}

func TestNothingBeginsAfterAStop(t *testing.T) {
	t.Parallel()
	for who, stops := range stoppers {
		for _, name := range []string{"Validate", "Decide", "Permit", "AskIf", "Input", "Key", "Around"} {
			for _, tt := range []struct {
				what string
				took float64
				end  string
			}{
				{"returns soon", 1.5, "aborted@1.5"},
				{"is given up", 50, "aborted@2"},
			} {
				t.Run(fmt.Sprintf("D6 %s while %s is at work, which %s: the tool does not begin", who, name, tt.what), func(t *testing.T) {
					rt, all := functions(map[string]float64{name: tt.took}, false)
					onFloor(t, rt, func(f *floor) {
						f.spec(all)
						f.clear()
						f.expects(1)
						ctx, cancel := context.WithCancel(f.ctx)
						defer cancel()
						turn := f.session("s").View(ctx).Begin(ctx, ferrule.TurnOptions{})
						turn.Add(words("all")...)
						after(1)
						stops(turn, cancel)
						res := turn.Wait()[0]
						after(60)
						f.want("starts", f.starts(), "-")
						f.want("ends", f.ends(), tt.end)
						if strings.Contains(res.String(), "effect") {
							f.t.Errorf("it never began: %q", res)
						}
					})
				})
			}
		}
		for _, cooperative := range []bool{false, true} {
			t.Run(fmt.Sprintf("D6 %s while claims are taken: the tool does not begin; cooperative %v", who, cooperative), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					d, runs := counted(writerTool("slow"))
					d.Cooperative = cooperative
					d.ClaimsOf = func(tool.Args) (tool.Claims, error) {
						slow(5)
						return tool.Claims{Parallel: true}, nil
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					v := viewWith(t, &ferrule.Runtime{Policy: allowAll}, d)
					turn := v.Begin(ctx, ferrule.TurnOptions{})
					time.AfterFunc(time.Second, func() { stops(turn, cancel) })
					turn.Add(tool.Call{Name: "slow"}, tool.Call{Name: "slow"})
					for _, res := range turn.Wait() {
						wantFailure(t, res, tool.Aborted, "")
					}
					if runs.Load() != 0 {
						t.Errorf("ran %d times", runs.Load())
					}
				})
			})
		}
	}
	for _, cooperative := range []bool{false, true} {
		t.Run(fmt.Sprintf("D6 the host stops while the first of some calls runs: the others do not begin; cooperative %v", cooperative), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d, runs := counted(slowTool("write", 2*time.Second))
				d.Claims, d.Cooperative = tool.Claims{}, cooperative
				looks := 0
				d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) {
					looks++
					return nil, nil
				}
				v := viewWith(t, &ferrule.Runtime{Policy: allowAll}, d)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				res := v.Do(ctx, tool.Call{Name: "write"}, tool.Call{Name: "write"}, tool.Call{Name: "write"})
				if res[0].Err != nil {
					t.Errorf("the first had 10 s more: %v", res[0].Err)
				}
				wantFailure(t, res[1], tool.Aborted, "Aborted: the run was stopped.")
				wantFailure(t, res[2], tool.Aborted, "Aborted: the run was stopped.")
				if runs.Load() != 1 || looks != 1 {
					t.Errorf("ran %d times, and Validate %d times, want once each", runs.Load(), looks)
				}
			})
		})
		t.Run(fmt.Sprintf("D6 the host stops while Validate of the one call is at work: the tool does not begin; cooperative %v", cooperative), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d, runs := counted(writerTool("write"))
				d.Cooperative = cooperative
				d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) {
					slow(1.5)
					return nil, nil
				}
				v := viewWith(t, &ferrule.Runtime{Policy: allowAll}, d)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				wantFailure(t, v.Do(ctx, tool.Call{Name: "write"})[0], tool.Aborted, "Aborted: the run was stopped.")
				if runs.Load() != 0 {
					t.Errorf("ran %d times", runs.Load())
				}
			})
		})
	}
	t.Run("X4 a call that is added to a turn that is over is aborted", func(t *testing.T) {
		d, runs := counted(readerTool("read"))
		turn := viewWith(t, new(ferrule.Runtime), d).Begin(t.Context(), ferrule.TurnOptions{})
		turn.Add(tool.Call{Name: "read"})
		turn.Wait()
		turn.Add(tool.Call{Name: "read"}, tool.Call{Name: "read"})
		res := turn.Wait()
		if len(res) != 3 || res[0].Err != nil || runs.Load() != 1 {
			t.Fatalf("%d results, the first %v, and %d runs", len(res), res[0], runs.Load())
		}
		for _, r := range res[1:] {
			wantFailure(t, r, tool.Aborted, "The turn is over.")
		}
	})
}

func TestStopsAndWrappers(t *testing.T) {
	t.Parallel()
	t.Run("D7 a wrapper whose tool was given up hears the end of its context", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var heard atomic.Int64
			began := time.Now()
			rt := &ferrule.Runtime{Hooks: []ferrule.Hook{aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
				res := next(ctx)
				<-ctx.Done() // as one that waits before it tries again
				heard.Store(int64(time.Since(began)))
				return res
			})}}
			d := doing(readerTool("ignores"), func(context.Context, tool.Args) (tool.Result, error) {
				slow(20)
				return tool.Result{}, errBroken
			})
			d.Timeout = 2 * time.Second
			wantFailure(t, callOne(t, rt, d, "{}"), tool.Timeout, "")
			time.Sleep(time.Hour)
			if got := time.Duration(heard.Load()); got != 20*time.Second {
				t.Errorf("it heard of it after %s, want 20s", got)
			}
		})
	})
	t.Run("D5 always: a call whose wrapper made a success of its failure stops nobody", func(t *testing.T) {
		rt := &ferrule.Runtime{Siblings: ferrule.StopAlways, Hooks: []ferrule.Hook{aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
			if res := next(ctx); res.Err == nil {
				return res
			}
			return sayText("from the cache")
		})}}
		onFloor(t, rt, func(f *floor) {
			f.do("p=fail@1 c=obey@5 p=stop@2 p")
			f.want("ends", f.ends(), "ok@1 ok@5 ok@2 ok@1")
		})
	})
	t.Run("D5 always: nor does one whose output hook made a success of it", func(t *testing.T) {
		rt := &ferrule.Runtime{Siblings: ferrule.StopAlways, Hooks: []ferrule.Hook{outputHook(func(tool.Result, tool.Result) (*tool.Result, error) {
			return new(sayText("from the cache")), nil
		})}}
		onFloor(t, rt, func(f *floor) {
			f.do("p=fail@1 c=obey@5")
			f.want("ends", f.ends(), "ok@1 ok@5")
		})
	})
}

func TestStopTexts(t *testing.T) {
	t.Parallel()
	const effect = " It was running and may have taken effect."
	interrupt := func(_ *floor, turn *ferrule.Turn, _ context.CancelFunc) { turn.Interrupt() }
	host := func(_ *floor, _ *ferrule.Turn, cancel context.CancelFunc) { cancel() }
	for _, tt := range []struct {
		name, calls string
		cancels     bool
		stop        func(*floor, *ferrule.Turn, context.CancelFunc)
		text        string
	}{
		{"it timed out", "works=obey@20", false, nil, "Timed out after 5s."},
		{"it timed out and was given up", "works@20", false, nil, "Timed out after 5s."},
		{"a person spoke", "works=obey@20", true, interrupt, "Aborted: a person interrupted."},
		{"a person spoke, and it was given up", "works@20", true, interrupt, "Aborted: a person interrupted."},
		{"a person stopped it", "works=obey@20", false, func(f *floor, turn *ferrule.Turn, _ context.CancelFunc) { turn.Stop(f.id(0)) }, "Aborted: a person stopped this call."},
		{"the host stopped", "works=obey@20", true, host, "Aborted: the run was stopped."},
		{"the host stopped, and its time was over", "long=obey@60", false, host, "Aborted: the run was stopped."},
		{"the host stopped, and it was given up", "long@60", false, host, "Aborted: the run was stopped."},
		{"a sibling failed", "works=obey@20 +!/z=stop@1", true, nil, "Aborted because touch, which was called in the same turn, failed."},
	} {
		for claim, claims := range map[string]tool.Claims{
			"a write":                       {Parallel: true},
			"a read":                        {ReadOnly: true},
			"a call that is harmless twice": {Parallel: true, Idempotent: true},
		} {
			t.Run(fmt.Sprintf("D6 what the model reads of %s: %s", claim, tt.name), func(t *testing.T) {
				onFloor(t, new(ferrule.Runtime), func(f *floor) {
					f.add(tool.Info{Name: "works", Claims: claims, Cancel: tt.cancels, Timeout: 5 * time.Second}, act.run)
					f.add(tool.Info{Name: "long", Claims: claims, Cancel: tt.cancels}, act.run)
					f.clear()
					ctx, cancel := context.WithCancel(f.ctx)
					defer cancel()
					turn := f.session("s").View(ctx).Begin(ctx, ferrule.TurnOptions{})
					turn.Add(words(tt.calls)...)
					after(2)
					if tt.stop != nil {
						tt.stop(f, turn, cancel)
					}
					want := tt.text
					if claim == "a write" {
						want += effect
					}
					f.want("text", turn.Wait()[0].String(), want)
				})
			})
		}
	}
	t.Run("D6 calls that never began have had no effect", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Inbox: new(policy.Memory)}, func(f *floor) {
			f.asking(tool.Info{})
			f.add(tool.Info{Name: "wants", Claims: tool.Claims{Parallel: true}}, func(act, context.Context) (string, error) {
				return "", &tool.Outcome{Suspend: "When?"} // nothing is done yet
			})
			f.add(tool.Info{Name: "one", Claims: tool.Claims{Parallel: true}, AtOnce: 1}, act.run)
			turn := f.begin(ferrule.TurnOptions{}, "one@2 one asks wants w p")
			after(1)
			turn.Interrupt()
			for i, res := range turn.Wait()[1:] {
				f.want(fmt.Sprintf("text of call %d", i+1), res.String(), "Aborted: a person interrupted.")
			}
		})
	})
}

func TestStopCauses(t *testing.T) {
	t.Parallel()
	cause := errors.New("the program ends")
	for _, tt := range []struct {
		name  string
		ends  func(context.Context) (context.Context, context.CancelFunc)
		wants []error
	}{
		{"cancelled", context.WithCancel, []error{context.Canceled}},
		{"cancelled with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			return ctx, func() { cancel(cause) }
		}, []error{context.Canceled, cause}},
		{"over in time", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, []error{context.DeadlineExceeded}},
		{"over in time with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, time.Second, cause)
		}, []error{context.DeadlineExceeded, cause}},
	} {
		t.Run("L4 a stop can be found by what package context says and by its cause: "+tt.name, func(t *testing.T) {
			onFloor(t, &ferrule.Runtime{Inbox: new(policy.Memory)}, func(f *floor) {
				f.asking(tool.Info{})
				ctx, cancel := tt.ends(f.ctx)
				defer cancel()
				turn := f.session("s").View(ctx).Begin(ctx, ferrule.TurnOptions{})
				turn.Add(words("c=obey@99 c@99 asks w")...)
				after(1)
				cancel()
				for i, res := range turn.Wait() {
					for _, want := range tt.wants {
						if !errors.Is(res.Err, want) {
							f.t.Errorf("call %d: errors.Is(%v, %v) = false", i, res.Err, want)
						}
					}
				}
				turn = f.session("other").View(ctx).Begin(ctx, ferrule.TurnOptions{})
				turn.Add(words("p")...)
				for _, want := range tt.wants {
					if res := turn.Wait()[0]; !errors.Is(res.Err, want) {
						f.t.Errorf("a call of a turn that was begun later: errors.Is(%v, %v) = false", res.Err, want)
					}
				}
			})
		})
	}
}

func TestCloseNames(t *testing.T) {
	t.Parallel()
	t.Run("D8 closing names calls that run and calls that wait for a person", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox}, func(f *floor) {
			f.asking(tool.Info{})
			turn := f.begin(ferrule.TurnOptions{}, "p@1 p@60 asks w")
			after(2)
			ctx, cancel := context.WithTimeout(f.ctx, time.Second)
			defer cancel()
			err := f.session("s").Close(ctx)
			want := fmt.Sprintf("close session \"s\": still running: asks (%s, waits for a person), p (%s), turns that are not over: 1: context deadline exceeded", f.id(2), f.id(1))
			f.want("closing says", fmt.Sprint(err), want)
			say(f.t, inbox, policy.Answer{})
			turn.Wait()
			if err := f.session("s").Close(f.ctx); err != nil {
				f.t.Errorf("when all is over: %v", err)
			}
		})
	})
}

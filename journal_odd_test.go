package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// oddJournal is a journal whose methods can be wrapped.
type oddJournal struct {
	durable.Journal
	begin func(context.Context, durable.Record, func(context.Context) (durable.Record, error)) (durable.Record, error)
	end   func(durable.Ending, func(durable.Ending) error) error
}

func (o *oddJournal) Begin(ctx context.Context, r durable.Record) (durable.Record, error) {
	next := func(ctx context.Context) (durable.Record, error) { return o.Journal.Begin(ctx, r) }
	if o.begin == nil {
		return next(ctx)
	}
	return o.begin(ctx, r, next)
}

func (o *oddJournal) End(ctx context.Context, e durable.Ending) error {
	next := func(e durable.Ending) error { return o.Journal.End(ctx, e) }
	if o.end == nil {
		return next(e)
	}
	return o.end(e, next)
}

// with has a process use a journal in a wrapping.
func with(o *oddJournal, change func(*ferrule.Runtime, *tool.Tool)) func(*ferrule.Runtime, *tool.Tool) {
	return func(rt *ferrule.Runtime, send *tool.Tool) {
		o.Journal = rt.Journal
		rt.Journal = o
		if change != nil {
			change(rt, send)
		}
	}
}

func keyOfText(_ *ferrule.Runtime, send *tool.Tool) {
	send.Key = func(_ context.Context, a tool.Args) (string, error) { return textIn(a), nil }
}

// left are the records that have not ended.
func (d *desk) left(t testing.TB) []durable.Record {
	t.Helper()
	all, err := d.journal.Open(t.Context(), durable.Place{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestJournalOdd(t *testing.T) {
	t.Parallel()
	t.Run("J4 a record that came too late, so that the tool did not start, is taken back", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			slow := &oddJournal{begin: func(ctx context.Context, _ durable.Record, next func(context.Context) (durable.Record, error)) (durable.Record, error) {
				time.Sleep(5500 * time.Millisecond) // a disk that is busy: its transaction had begun
				return next(context.WithoutCancel(ctx))
			}}
			p := d.process(t, with(slow, nil))
			_, res := p.turn(t, 0, sending("a"))
			time.Sleep(time.Minute)
			wantFailure(t, res[0], tool.Failed, "This call could not be put on the record, so it did not run.")
			if left := d.left(t); p.runs.Load() != 0 || len(left) != 0 {
				t.Errorf("ran %d times; the journal says of %d calls that they run", p.runs.Load(), len(left))
			}
		})
	})
	t.Run("J4 nor one that comes after nobody waits for it any more", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			slow := &oddJournal{begin: func(ctx context.Context, _ durable.Record, next func(context.Context) (durable.Record, error)) (durable.Record, error) {
				time.Sleep(20 * time.Second)
				return next(context.WithoutCancel(ctx))
			}}
			p := d.process(t, with(slow, nil))
			p.turn(t, 0, sending("a"))
			time.Sleep(time.Minute)
			if left := d.left(t); p.runs.Load() != 0 || len(left) != 0 {
				t.Errorf("ran %d times; the journal says of %d calls that they run", p.runs.Load(), len(left))
			}
		})
	})
	t.Run("D7 J4 a call that was given up in its Key gets no record afterwards", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			p := d.process(t, func(_ *ferrule.Runtime, send *tool.Tool) {
				send.Timeout = time.Second
				send.Key = func(ctx context.Context, _ tool.Args) (string, error) {
					time.Sleep(5 * time.Second)
					return "", ctx.Err()
				}
			})
			_, res := p.turn(t, 0, sending("a"))
			wantFailure(t, res[0], tool.Timeout, "")
			time.Sleep(time.Minute)
			if left := d.left(t); p.runs.Load() != 0 || len(left) != 0 {
				t.Errorf("ran %d times; the journal says of %d calls that they run", p.runs.Load(), len(left))
			}
		})
	})
	t.Run("C1 a call that gets a recorded result again and again is a loop", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			p := newDesk().process(t, keyOfText)
			var last tool.Result
			for range 6 {
				_, res := p.turn(t, 0, sending("a"))
				last = res[0]
			}
			wantFailure(t, last, tool.Loop, "")
		})
	})
	t.Run("O5 J1 a joined result that was too long can be read by who joined", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			p := newDesk().process(t, func(rt *ferrule.Runtime, send *tool.Tool) {
				keyOfText(rt, send)
				rt.Blobs = new(durable.Memory)
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) { return sayText(logOf(10_000)), nil })
			})
			p.Session(tool.Caller{Session: "one"}).Call(t.Context(), "send", textArg("a"))
			two := p.Session(tool.Caller{Session: "two"})
			joined := two.Call(t.Context(), "send", textArg("a"))
			read := two.Call(t.Context(), "read_result", `{"handle":"`+handleIn(t, joined)+`"}`)
			if read.Err != nil {
				t.Errorf("got a handle that its session cannot read: %v", read.Err)
			}
		})
	})
	t.Run("J1 a failure whose result was not kept is not a success", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			drops := &oddJournal{end: func(e durable.Ending, next func(durable.Ending) error) error {
				e.Result = nil // as a store does where it is too large
				return next(e)
			}}
			n, _ := d.process(t, with(drops, func(_ *ferrule.Runtime, send *tool.Tool) {
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, errors.New("no room") })
			})).turn(t, 0, sending("a"))
			d.crash()
			if _, res := d.process(t, nil).turn(t, n, sending("a")); res[0].Err == nil {
				t.Errorf("got %q, want a failure", res[0])
			}
		})
	})
	t.Run("J1 U1 arguments that are secret are not in the record by way of their key", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			p := d.process(t, func(rt *ferrule.Runtime, send *tool.Tool) {
				keyOfText(rt, send)
				send.InputSensitivity = tool.Secret
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) { return sayText("sent"), nil })
			})
			n, _ := p.turn(t, 0, sending("hunter2"))
			all, err := p.Resume(t.Context(), durable.Place{Session: "s", Turn: n})
			text, _ := json.Marshal(all)
			if err != nil || len(all) != 1 || strings.Contains(string(text), "hunter2") {
				t.Errorf("got %s, %v", text, err)
			}
		})
	})
	t.Run("J2 a call that was under way and whose tool is gone is outcome_unknown, not unknown_tool", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			n := d.cutOff(t, nil, sending("a"))
			p := d.process(t, func(_ *ferrule.Runtime, send *tool.Tool) { send.Name = "other" })
			_, res := p.turn(t, n, sending("a"))
			wantFailure(t, res[0], tool.OutcomeUnknown, "")
		})
	})
	t.Run("U1 a call that has its result from the journal says whose it is, and did not end twice", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			n, first := d.process(t, nil).turn(t, 0, sending("a"))
			d.crash()
			log := new(pad)
			d.process(t, func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Log = log }).turn(t, n, sending("a"))
			var joined bool
			for _, e := range log.events {
				joined = joined || e.Kind == audit.Joined && strings.Contains(e.Text, first[0].ID)
			}
			if !joined {
				t.Errorf("got %q, want one that names the call %s which had the effect", log.kinds("call_1"), first[0].ID)
			}
		})
	})
	t.Run("U1 a recorded result that cannot be put on the record is withheld", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			n, _ := d.process(t, nil).turn(t, 0, sending("a"))
			d.crash()
			p := d.process(t, func(rt *ferrule.Runtime, _ *tool.Tool) {
				rt.Log = &pad{refuses: errors.New("disk full"), flush: errors.New("disk full")}
			})
			if _, res := p.turn(t, n, sending("a")); res[0].Err == nil {
				t.Errorf("got %q, and nothing of it is on the record", res[0])
			}
		})
	})
	t.Run("L2 a log that does not return leaves no call without a result", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			release := make(chan struct{})
			p := newDesk().process(t, func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Log = &stuckLog{until: release} })
			got := make(chan tool.Result, 1)
			go func() {
				_, res := p.turn(t, 0, sending("a"))
				got <- res[0]
			}()
			select {
			case <-got:
			case <-time.After(time.Hour):
				t.Error("no result after an hour")
			}
			close(release)
		})
	})
	t.Run("D8 closing a runtime whose log does not return ends with its context", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			release := make(chan struct{})
			rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Log: &stuckLog{until: release}}
			viewWith(t, rt, writerTool("send"))
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			closed := make(chan error, 1)
			go func() { closed <- rt.Close(ctx) }()
			select {
			case err := <-closed:
				if err == nil {
					t.Error("no error")
				}
			case <-time.After(time.Hour):
				t.Error("it still waits after an hour")
			}
			close(release)
		})
	})
	t.Run("D6 J2 a call that was stopped before its tool started has no record, whatever hooks there are that wrap nothing", func(t *testing.T) {
		for _, hooks := range [][]ferrule.Hook{nil, {{Name: "looks", Input: func(context.Context, *tool.Request) (ferrule.Change, error) { return ferrule.Change{}, nil }}}} {
			bubble(t, func(t *testing.T) {
				d := newDesk()
				var turn *ferrule.Turn
				stops := &oddJournal{begin: func(ctx context.Context, _ durable.Record, next func(context.Context) (durable.Record, error)) (durable.Record, error) {
					turn.Interrupt()
					return next(ctx)
				}}
				p := d.process(t, with(stops, func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Hooks = hooks }))
				turn = p.Session(tool.Caller{Session: "s"}).View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{})
				turn.Add(sending("a"))
				wantFailure(t, turn.Wait()[0], tool.Aborted, "")
				all, err := d.journal.Open(t.Context(), durable.Place{Principal: "local", Session: "s", Turn: turn.Number()})
				if err != nil || len(all) != 0 || p.runs.Load() != 0 {
					t.Errorf("%d hooks: got %+v, %v, ran %d times", len(hooks), all, err, p.runs.Load())
				}
			})
		}
	})
	t.Run("J1 an end that could not be written once does not keep its key for ever", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var n atomic.Int64
			fails := &oddJournal{end: func(e durable.Ending, next func(durable.Ending) error) error {
				if n.Add(1) == 1 {
					return errors.New("busy")
				}
				return next(e)
			}}
			p := newDesk().process(t, with(fails, keyOfText))
			p.turn(t, 0, sending("a"))
			time.Sleep(time.Hour)
			if _, res := p.turn(t, 0, sending("a")); res[0].Err != nil {
				t.Errorf("an hour later: got %v", res[0].Err)
			}
		})
	})
	t.Run("P6 J2 a call that another one runs is waited for, and nobody is asked again", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			var asked, ran atomic.Int64
			asks := func(rt *ferrule.Runtime, send *tool.Tool) {
				rt.Policy = told(tool.Ask, "new")
				rt.Answer = func(context.Context, policy.Question) (policy.Answer, error) {
					asked.Add(1)
					return policy.Answer{Allow: true}, nil
				}
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) {
					ran.Add(1)
					time.Sleep(10 * time.Second)
					return sayText("sent"), nil
				})
			}
			first := d.process(t, asks)
			turn := first.Session(tool.Caller{Session: "s"}).View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(sending("a"))
			time.Sleep(time.Second)
			second := d.process(t, asks)
			_, res := second.turn(t, turn.Number(), sending("a"))
			turn.Wait()
			if res[0].Err != nil || ran.Load() != 1 || asked.Load() != 1 {
				t.Errorf("got %v, ran %d times, asked %d times, want once each", res[0], ran.Load(), asked.Load())
			}
		})
	})
	t.Run("J2 a tool that ends its goroutine has its record ended", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			p := d.process(t, func(_ *ferrule.Runtime, send *tool.Tool) {
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) {
					runtime.Goexit()
					return tool.Result{}, nil
				})
			})
			_, res := p.turn(t, 0, sending("a"))
			if wantFailure(t, res[0], tool.Failed, ""); len(d.left(t)) != 0 {
				t.Error("its record says that it runs")
			}
		})
	})
	t.Run("H1 J1 a wrapper that calls next not at all, or twice: one record, which ended", func(t *testing.T) {
		for _, times := range []int{0, 2} {
			bubble(t, func(t *testing.T) {
				d := newDesk()
				wraps := func(rt *ferrule.Runtime, _ *tool.Tool) {
					rt.Hooks = []ferrule.Hook{{Name: "wrap", Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
						for range times {
							next(ctx)
						}
						return sayText("instead")
					}}}
				}
				p := d.process(t, wraps)
				n, res := p.turn(t, 0, sending("a"))
				if res[0].String() != "instead" || len(d.left(t)) != 0 || p.runs.Load() > 1 {
					t.Errorf("%d times: got %v, ran %d times, left %v", times, res[0], p.runs.Load(), d.left(t))
				}
				d.crash()
				q := d.process(t, wraps)
				if _, res := q.turn(t, n, sending("a")); res[0].String() != "instead" || q.runs.Load() != 0 {
					t.Errorf("%d times, after a crash: got %v, ran %d times", times, res[0], q.runs.Load())
				}
			})
		}
	})
	t.Run("O6 the budget of a turn counts for recorded results", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			long := func(rt *ferrule.Runtime, send *tool.Tool) {
				rt.TurnChars, rt.Blobs = 50_000, new(durable.Memory)
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) {
					return sayText(strings.Repeat("x", 40_000)), nil
				})
			}
			calls := []tool.Call{sending("a"), sending("b"), sending("c")}
			length := func(all []tool.Result) (n int) {
				for _, r := range all {
					n += len(r.String())
				}
				return n
			}
			n, first := d.process(t, long).turn(t, 0, calls...)
			d.crash()
			p := d.process(t, long)
			if _, again := p.turn(t, n, calls...); length(again) > length(first) || p.runs.Load() != 0 {
				t.Errorf("got %d characters, then %d, ran %d times", length(first), length(again), p.runs.Load())
			}
		})
	})
	t.Run("J2 a call that another process went on with and has done is done also for who remembers its turn", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			asks := func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Policy = told(tool.Ask, "new") }
			one, two := d.process(t, asks), d.process(t, asks)
			n, res := one.turn(t, 0, sending("a"))
			wantFailure(t, res[0], tool.Suspended, "")
			say(t, d.kept, policy.Answer{Allow: true})
			_, second := two.turn(t, n, sending("a"))
			_, first := one.turn(t, n, sending("a"))
			if second[0].Err != nil || first[0].String() != second[0].String() || one.runs.Load()+two.runs.Load() != 1 {
				t.Errorf("got %v, and then %v, ran %d and %d times", second[0], first[0], two.runs.Load(), one.runs.Load())
			}
		})
	})
	t.Run("L7 J1 who says suspended without having suspended leaves no record behind", func(t *testing.T) {
		for name, change := range map[string]func(*ferrule.Runtime, *tool.Tool){
			"tool": func(_ *ferrule.Runtime, send *tool.Tool) {
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) {
					return tool.Result{}, &tool.Error{Kind: tool.Suspended, Text: "wait"}
				})
			},
			"wrapper": func(rt *ferrule.Runtime, _ *tool.Tool) {
				rt.Hooks = []ferrule.Hook{{Name: "w", Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
					next(ctx)
					return tool.Result{Err: &tool.Error{Kind: tool.Suspended, Text: "wait"}}
				}}}
			},
			"output hook": func(rt *ferrule.Runtime, _ *tool.Tool) {
				rt.Hooks = []ferrule.Hook{{Name: "w", Output: func(context.Context, *tool.Request, tool.Result, tool.Result) (*tool.Result, error) {
					return &tool.Result{Err: &tool.Error{Kind: tool.Suspended, Text: "wait"}}, nil
				}}}
			},
		} {
			bubble(t, func(t *testing.T) {
				d := newDesk()
				p := d.process(t, change)
				_, res := p.turn(t, 0, sending("a"))
				if left := d.left(t); len(left) != 0 {
					t.Errorf("%s: got %v, and its record says that it runs", name, res[0].Err)
				}
			})
		}
	})
	t.Run("J1 SyncEnds syncs the end of what has a key or is not idempotent", func(t *testing.T) {
		for name, want := range map[string]bool{"plain": true, "keyed": true, "idempotent": false} {
			bubble(t, func(t *testing.T) {
				var synced bool
				looks := &oddJournal{end: func(e durable.Ending, next func(durable.Ending) error) error {
					synced = e.Sync
					return next(e)
				}}
				newDesk().process(t, with(looks, func(rt *ferrule.Runtime, send *tool.Tool) {
					rt.SyncEnds, send.Claims.Idempotent = true, name != "plain"
					if name == "keyed" {
						keyOfText(rt, send)
					}
				})).turn(t, 0, sending("a"))
				if synced != want {
					t.Errorf("%s: synced %t, want %t", name, synced, want)
				}
			})
		}
	})
	t.Run("J2 a call that was under way and whose definition has changed since is outcome_unknown", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			n := d.cutOff(t, nil, sending("a"))
			p := d.process(t, func(_ *ferrule.Runtime, send *tool.Tool) { send.Description = "Send it, and say so better." })
			_, res := p.turn(t, n, sending("a"))
			if wantFailure(t, res[0], tool.OutcomeUnknown, ""); p.runs.Load() != 0 {
				t.Errorf("ran %d times", p.runs.Load())
			}
		})
	})
	t.Run("J2 what is idempotent runs again, whatever its key is by then", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			var n atomic.Int64
			unsteady := func(_ *ferrule.Runtime, send *tool.Tool) {
				send.Claims.Idempotent = true
				send.Key = func(context.Context, tool.Args) (string, error) { return strings.Repeat("k", int(n.Add(1))), nil }
			}
			turn := d.cutOff(t, unsteady, sending("a"))
			p := d.process(t, unsteady)
			if _, res := p.turn(t, turn, sending("a")); res[0].Err != nil || p.runs.Load() != 1 {
				t.Errorf("got %v, ran %d times; Resume had said that it runs again", res[0].Err, p.runs.Load())
			}
		})
	})
	t.Run("D6 J1 a call that waits for another of its key stops at once", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			p := d.process(t, func(rt *ferrule.Runtime, send *tool.Tool) {
				keyOfText(rt, send)
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) {
					time.Sleep(30 * time.Second)
					return sayText("sent"), nil
				})
			})
			one := p.Session(tool.Caller{Session: "one"}).View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{})
			one.Add(sending("a"))
			time.Sleep(time.Second)
			two := p.Session(tool.Caller{Session: "two"}).View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{})
			two.Add(sending("a"))
			time.Sleep(time.Second)
			began := time.Now()
			two.Interrupt()
			if res := two.Wait(); kindOf(res[0]) != tool.Aborted || time.Since(began) > time.Second {
				t.Errorf("got %v after %s", res[0], time.Since(began))
			}
			if res := one.Wait(); res[0].Err != nil || len(d.left(t)) != 0 {
				t.Errorf("the other: %v", res[0])
			}
		})
	})
	t.Run("J2 R6 a tool of a fallback: done is done", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			supplies := func(rt *ferrule.Runtime, send *tool.Tool) {
				given := checkedTool(t, *send)
				send.Name = "hidden"
				rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) { return given, nil })
			}
			n, first := d.process(t, supplies).turn(t, 0, sending("a"))
			d.crash()
			p := d.process(t, supplies)
			if _, res := p.turn(t, n, sending("a")); first[0].Err != nil || res[0].String() != first[0].String() || p.runs.Load() != 0 {
				t.Errorf("got %v, then %v, ran %d times", first[0], res[0], p.runs.Load())
			}
		})
	})
	t.Run("J1 L2 a hook that changes the input: the place has the arguments as received, the key those that are final", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			word := "x"
			change := func(rt *ferrule.Runtime, send *tool.Tool) {
				keyOfText(rt, send)
				rt.Hooks = []ferrule.Hook{{Name: "h", Input: func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
					return ferrule.Change{Input: json.RawMessage(textArg(word))}, nil
				}}}
			}
			p := d.process(t, change)
			n, _ := p.turn(t, 0, sending("a"))
			if _, res := p.turn(t, 0, sending("b")); res[0].Err != nil || p.runs.Load() != 1 {
				t.Errorf("another call of the same key and final arguments: got %v, ran %d times", res[0], p.runs.Load())
			}
			d.crash()
			word = "y"
			q := d.process(t, change)
			if _, res := q.turn(t, n, sending("a")); res[0].String() != textArg("x") || q.runs.Load() != 0 {
				t.Errorf("after a crash: got %v, ran %d times", res[0], q.runs.Load())
			}
		})
	})
}

// stuckLog takes everything and never gets done with it.
type stuckLog struct{ until chan struct{} }

func (*stuckLog) Append(...audit.Event) (bool, error) { return false, nil }

func (s *stuckLog) Flush(ctx context.Context) error {
	select {
	case <-s.until:
	case <-ctx.Done():
	}
	return ctx.Err()
}

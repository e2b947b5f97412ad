package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
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

// desk is what processes share that come one after another: when the next comes,
// the one before is gone.
type desk struct {
	kept    *policy.Memory
	journal *durable.MemoryJournal
}

func newDesk() *desk { return &desk{new(policy.Memory), new(durable.MemoryJournal)} }

// process is a runtime with one tool, which writes.
func (d *desk) process(t testing.TB, change func(*ferrule.Runtime, *tool.Tool)) process {
	t.Helper()
	return begins(t, d.kept, func(rt *ferrule.Runtime, send *tool.Tool) {
		rt.Policy, rt.Journal = policy.AllowOwn{}, d.journal
		if change != nil {
			change(rt, send)
		}
	})
}

// crash ends the process that has the desk.
func (d *desk) crash() { d.journal.Leave() }

// hangs is a tool that was started and has not returned when its process ends.
func hangs(entered chan<- struct{}) func(context.Context, tool.Args) (tool.Result, error) {
	return func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		entered <- struct{}{}
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
}

// cutOff runs a call in a process that ends while its tool runs, and is the number
// of its turn.
func (d *desk) cutOff(t *testing.T, change func(*ferrule.Runtime, *tool.Tool), call tool.Call) int {
	t.Helper()
	entered := make(chan struct{}, 1)
	p := d.process(t, func(rt *ferrule.Runtime, send *tool.Tool) {
		if change != nil {
			change(rt, send)
		}
		send.Run, send.Cancel, send.Cooperative = hangs(entered), true, true
	})
	ctx, stop := context.WithCancel(t.Context())
	turn := p.Session(tool.Caller{Session: "s"}).View(t.Context()).Begin(ctx, ferrule.TurnOptions{})
	turn.Add(call)
	<-entered
	d.crash() // it is stopped, too late for its record
	stop()
	turn.Wait()
	return turn.Number()
}

// tardy is a journal that takes its time to begin a call, whatever the context.
type tardy struct {
	durable.Journal
	by time.Duration
}

func (s tardy) Begin(ctx context.Context, r durable.Record) (durable.Record, error) {
	time.Sleep(s.by) // of a bubble
	return s.Journal.Begin(context.WithoutCancel(ctx), r)
}

// prompt says of a journal that it is; without one it panics.
type prompt struct{ durable.Journal }

func (prompt) Prompt() {}

func TestJournal(t *testing.T) {
	t.Parallel()
	keyed := func(_ *ferrule.Runtime, send *tool.Tool) {
		send.Key = func(_ context.Context, a tool.Args) (string, error) { return textIn(a), nil }
	}
	idempotent := func(_ *ferrule.Runtime, send *tool.Tool) { send.Claims.Idempotent = true }
	reads := func(_ *ferrule.Runtime, send *tool.Tool) { send.Claims = tool.Claims{ReadOnly: true, Local: true} }
	again := func(t *testing.T, d *desk, change func(*ferrule.Runtime, *tool.Tool), n int, call tool.Call) (tool.Result, int64) {
		t.Helper()
		p := d.process(t, change)
		_, res := p.turn(t, n, call)
		return res[0], p.runs.Load()
	}
	t.Run("J2 a call that is done has its recorded result after a crash, and does not run", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			n, res := d.process(t, nil).turn(t, 0, sending("a"))
			d.crash()
			got, runs := again(t, d, nil, n, sending("a"))
			if got.Err != nil || runs != 0 || got.String() != res[0].String() || got.CallID != "call_1" {
				t.Errorf("got %v, ran %d times, want %q", got, runs, res[0])
			}
		})
	})
	for name, broken := range map[string]func(durable.Journal) durable.Journal{
		"J4 a record that is made too late is taken back: the call did not run":              func(j durable.Journal) durable.Journal { return tardy{j, 5500 * time.Millisecond} },
		"J4 also that of a journal that is prompt":                                           func(j durable.Journal) durable.Journal { return prompt{tardy{j, 5500 * time.Millisecond}} },
		"J4 a journal that never answers: the call did not run, and is not waited for":       func(j durable.Journal) durable.Journal { return tardy{fullJournal{j}, time.Hour} },
		"J4 one that panics where the call is: the call did not run, and nothing else fails": func(durable.Journal) durable.Journal { return prompt{} },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := newDesk()
				began := time.Now()
				_, res := d.process(t, func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Journal = broken(d.journal) }).turn(t, 0, sending("a"))
				wantFailure(t, res[0], tool.Failed, "This call could not be put on the record, so it did not run.")
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("took %s, want at most 6 s", took)
				}
				if list, err := d.journal.Open(t.Context(), durable.Place{}); err != nil || len(list) > 0 {
					t.Errorf("got the records %+v, %v, want none", list, err)
				}
			})
		})
	}
	t.Run("J2 one that failed has that as its result", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			fails := func(_ *ferrule.Runtime, send *tool.Tool) {
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) {
					return tool.Result{}, &tool.Outcome{Err: errors.New("no room"), Fatal: true}
				})
			}
			d := newDesk()
			n, _ := d.process(t, fails).turn(t, 0, sending("a"))
			d.crash()
			got, runs := again(t, d, nil, n, sending("a"))
			if wantFailure(t, got, tool.Failed, "no room"); runs != 0 {
				t.Errorf("ran %d times", runs)
			}
			if o := (*tool.Outcome)(nil); !errors.As(got.Err, &o) || !o.Fatal {
				t.Error("that it wanted the run to end is not known any more")
			}
		})
	})
	t.Run("J2 a call without a record runs", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			n, _ := d.process(t, nil).turn(t, 0, sending("a"))
			d.crash()
			p := d.process(t, nil)
			_, res := p.turn(t, n, sending("a"), tool.Call{ID: "call_2", Name: "send", Input: json.RawMessage(textArg("b"))})
			if res[0].Err != nil || res[1].Err != nil || p.runs.Load() != 1 {
				t.Errorf("got %v, ran %d times", res, p.runs.Load())
			}
		})
	})
	for _, tt := range []struct {
		name   string
		change func(*ferrule.Runtime, *tool.Tool)
		kind   tool.Kind
		runs   int64
		fate   durable.Fate
	}{
		{"J2 under way and plain: outcome_unknown, and it does not run", nil, tool.OutcomeUnknown, 0, durable.FateUnknown},
		{"J2 under way and idempotent: it runs again", idempotent, "", 1, durable.FateAgain},
		{"J2 under way and keyed: it runs again", keyed, "", 1, durable.FateAgain},
		{"J1 under way and ReadOnly: it has no record, and runs again", reads, "", 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := newDesk()
				n := d.cutOff(t, tt.change, sending("a"))
				p := d.process(t, tt.change)
				left, err := p.Resume(t.Context(), durable.Place{Session: "s", Turn: n})
				if err != nil || (len(left) == 1) != (tt.fate != "") {
					t.Fatalf("resume: got %+v, %v, want %q", left, err, tt.fate)
				}
				for _, r := range left {
					if fate, why := r.Fate(); fate != tt.fate || why == "" {
						t.Errorf("resume: got %s (%s), want %s", fate, why, tt.fate)
					}
				}
				_, res := p.turn(t, n, sending("a"))
				if kindOf(res[0]) != tt.kind || p.runs.Load() != tt.runs {
					t.Errorf("got %v, ran %d times, want %q, %d", res[0], p.runs.Load(), tt.kind, tt.runs)
				}
				d.crash()
				got, runs := again(t, d, tt.change, n, sending("a"))
				if kindOf(got) != tt.kind || runs != 0 && tt.fate != "" {
					t.Errorf("the next: got %v, ran %d times", got, runs)
				}
			})
		})
	}
	t.Run("J1 another call in that place is an error, never a hit", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			n, _ := d.process(t, nil).turn(t, 0, sending("a"))
			d.crash()
			got, runs := again(t, d, nil, n, sending("b"))
			if wantFailure(t, got, tool.Failed, "This turn had another call in this place."); runs != 0 {
				t.Errorf("ran %d times", runs)
			}
			d.crash()
			other := func(_ *ferrule.Runtime, send *tool.Tool) { send.Description = "Send it elsewhere." }
			got, runs = again(t, d, other, n, sending("a"))
			if wantFailure(t, got, tool.Failed, "This call has been made already, and has ended. Its tool has changed since, so what came of it is not given."); runs != 0 {
				t.Errorf("another definition: ran %d times", runs)
			}
		})
	})
	t.Run("J1 the same arguments in another spelling are the same call", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			n, _ := d.process(t, nil).turn(t, 0, sending("a"))
			d.crash()
			spaced := sending("a")
			spaced.Input = json.RawMessage(` { "text" : "\u0061" } `)
			if got, runs := again(t, d, nil, n, spaced); got.Err != nil || runs != 0 {
				t.Errorf("got %v, ran %d times", got, runs)
			}
		})
	})
	t.Run("J1 turns that are numbered anew are refused, not taken for old ones", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			forgets := func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Ledger, rt.Inbox = nil, nil }
			d.process(t, forgets).turn(t, 0, sending("a"))
			d.crash()
			got, runs := again(t, d, forgets, 0, sending("a"))
			if wantFailure(t, got, tool.Failed, "This call has the place of an earlier one, so it did not run."); runs != 0 || !strings.Contains(got.Err.Detail, "Runtime.Ledger") {
				t.Errorf("got %v, ran %d times", got.Err, runs)
			}
		})
	})
	t.Run("J1 a secret result is done, not kept", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			hush := func(_ *ferrule.Runtime, send *tool.Tool) { send.OutputSensitivity = tool.Secret }
			d := newDesk()
			n, _ := d.process(t, hush).turn(t, 0, sending("a"))
			d.crash()
			if got, runs := again(t, d, hush, n, sending("a")); got.String() != "done, not kept" || got.Err != nil || runs != 0 {
				t.Errorf("got %v, ran %d times", got, runs)
			}
		})
	})
	t.Run("J1 arguments that are secret are not in the record", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			hush := func(_ *ferrule.Runtime, send *tool.Tool) { send.InputSensitivity = tool.Secret }
			d := newDesk()
			n, _ := d.process(t, hush).turn(t, 0, sending("hunter2"))
			left, err := d.process(t, hush).Resume(t.Context(), durable.Place{Session: "s", Turn: n})
			if err != nil || len(left) != 1 || left[0].Input != "[withheld: secret]" {
				t.Errorf("got %+v, %v", left, err)
			}
		})
	})
	t.Run("L7 a tool that suspends has done nothing: its record is taken back", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			asks := func(_ *ferrule.Runtime, send *tool.Tool) {
				run := send.Run
				send.Run = func(ctx context.Context, a tool.Args) (tool.Result, error) {
					if _, ok := tool.From(ctx).Answer(); !ok {
						return tool.Result{}, &tool.Outcome{Suspend: "Which?"}
					}
					return run(ctx, a)
				}
			}
			d := newDesk()
			p := d.process(t, asks)
			n, res := p.turn(t, 0, sending("a"))
			wantFailure(t, res[0], tool.Suspended, "")
			if left, err := p.Resume(t.Context(), durable.Place{Session: "s", Turn: n}); err != nil || len(left) != 0 {
				t.Errorf("got %+v, %v", left, err)
			}
			d.crash()
			say(t, d.kept, policy.Answer{Allow: true, Text: "that"})
			if got, runs := again(t, d, asks, n, sending("a")); got.Err != nil || runs != 1 {
				t.Errorf("got %v, ran %d times", got, runs)
			}
		})
	})
	t.Run("J2 a used answer of a call that has not begun: it is asked again", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			asks := func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Policy = nil }
			n, _ := d.process(t, asks).turn(t, 0, sending("a"))
			open := onlyQuestion(t, d.kept)
			say(t, d.kept, policy.Answer{Allow: true})
			if _, err := d.kept.Use(t.Context(), open.ID, open.Digest); err != nil { // and then it crashed
				t.Fatal(err)
			}
			d.crash()
			got, runs := again(t, d, asks, n, sending("a"))
			if wantFailure(t, got, tool.Suspended, ""); runs != 0 {
				t.Errorf("ran %d times", runs)
			}
		})
	})
	t.Run("J4 where the record cannot be made the tool does not start", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			p := newDesk().process(t, func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Journal = fullJournal{rt.Journal} })
			n, res := p.turn(t, 0, sending("a"))
			if wantFailure(t, res[0], tool.Failed, "This call could not be put on the record, so it did not run."); p.runs.Load() != 0 || n == 0 {
				t.Errorf("ran %d times", p.runs.Load())
			}
		})
	})
	t.Run("J2 a stale process: what it did is not recorded, and not reported as done", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			p := d.process(t, func(_ *ferrule.Runtime, send *tool.Tool) {
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) {
					d.crash()
					return sayText("sent"), nil
				})
			})
			_, res := p.turn(t, 0, sending("a"))
			wantFailure(t, res[0], tool.OutcomeUnknown, "The call ran, but what came of it could not be put on the record.")
		})
	})
}

// fullJournal has no room for another record.
type fullJournal struct{ durable.Journal }

func (fullJournal) Begin(context.Context, durable.Record) (durable.Record, error) {
	return durable.Record{}, errors.New("disk full")
}

// onlyQuestion is the one that is open.
func onlyQuestion(t testing.TB, kept *policy.Memory) policy.Question {
	t.Helper()
	all, err := kept.Pending(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("pending: got %d, %v, want 1", len(all), err)
	}
	return all[0]
}

func TestKeys(t *testing.T) {
	t.Parallel()
	keyed := func(send *tool.Tool) {
		send.Key = func(_ context.Context, a tool.Args) (string, error) { return "k", nil }
		send.Repeatable = true
	}
	t.Run("J1 a call of the same key gets the recorded success; the tool runs once", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			rec := new(recorder)
			p := d.process(t, func(rt *ferrule.Runtime, send *tool.Tool) { keyed(send); rt.Observe = rec.observe })
			_, first := p.turn(t, 0, sending("a"))
			n, second := p.turn(t, 0, sending("a"))
			if p.runs.Load() != 1 || first[0].String() != second[0].String() || first[0].ID == second[0].ID {
				t.Errorf("ran %d times: %v, %v", p.runs.Load(), first[0], second[0])
			}
			d.crash()
			time.Sleep(25 * time.Hour)
			q := d.process(t, func(_ *ferrule.Runtime, send *tool.Tool) { keyed(send) })
			if _, third := q.turn(t, n, sending("a")); third[0].Err != nil || q.runs.Load() != 0 {
				t.Errorf("going on with the second: got %v, ran %d times", third[0], q.runs.Load())
			}
			if _, other := q.turn(t, 0, sending("a")); other[0].Err != nil || q.runs.Load() != 1 {
				t.Errorf("a day later: got %v, ran %d times, want 1", other[0], q.runs.Load())
			}
		})
	})
	t.Run("J1 a key that comes with other arguments is an error, never a hit", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			p := newDesk().process(t, func(_ *ferrule.Runtime, send *tool.Tool) { keyed(send) })
			p.turn(t, 0, sending("a"))
			_, res := p.turn(t, 0, sending("b"))
			if wantFailure(t, res[0], tool.Failed, "This call has the idempotency key of an earlier call that was another one, so it did not run."); p.runs.Load() != 1 {
				t.Errorf("ran %d times", p.runs.Load())
			}
		})
	})
	t.Run("J1 keys are per principal", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			p := newDesk().process(t, func(_ *ferrule.Runtime, send *tool.Tool) { keyed(send) })
			for _, who := range []string{"ada", "bob"} {
				p.Session(tool.Caller{Principal: who}).Call(t.Context(), "send", textArg("a"))
			}
			if p.runs.Load() != 2 {
				t.Errorf("ran %d times, want 2", p.runs.Load())
			}
		})
	})
	t.Run("J1 a failure leaves the key free", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var n atomic.Int64
			p := newDesk().process(t, func(_ *ferrule.Runtime, send *tool.Tool) {
				keyed(send)
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) {
					if n.Add(1) == 1 {
						return tool.Result{}, errors.New("no")
					}
					return sayText("sent"), nil
				})
			})
			_, first := p.turn(t, 0, sending("a"))
			_, second := p.turn(t, 0, sending("a"))
			if first[0].Err == nil || second[0].Err != nil || n.Load() != 2 {
				t.Errorf("got %v, %v, ran %d times", first[0], second[0], n.Load())
			}
		})
	})
	t.Run("J1 calls of one key at the same time: the others wait for the first", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var n atomic.Int64
			p := newDesk().process(t, func(_ *ferrule.Runtime, send *tool.Tool) {
				keyed(send)
				send.Claims.Parallel = true
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) {
					n.Add(1)
					time.Sleep(time.Second)
					return sayText("sent"), nil
				})
			})
			_, res := p.turn(t, 0, sending("a"), sending("a"), sending("a"))
			for _, r := range res {
				if r.String() != "sent" {
					t.Errorf("got %v", r)
				}
			}
			if n.Load() != 1 {
				t.Errorf("ran %d times, want 1", n.Load())
			}
		})
	})
	t.Run("D7 J1 a call that was given up keeps its key until it returns", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			release := make(chan struct{})
			var n atomic.Int64
			p := newDesk().process(t, func(_ *ferrule.Runtime, send *tool.Tool) {
				keyed(send)
				send.Timeout = time.Second
				*send = doing(*send, func(context.Context, tool.Args) (tool.Result, error) {
					if n.Add(1) == 1 {
						<-release
					}
					return sayText("sent"), nil
				})
			})
			_, res := p.turn(t, 0, sending("a"))
			wantFailure(t, res[0], tool.Timeout, "")
			other := p.Session(tool.Caller{Session: "other"})
			wantFailure(t, other.Call(t.Context(), "send", textArg("a")), tool.Timeout, "")
			close(release)
			time.Sleep(time.Second)
			if res := other.Call(t.Context(), "send", textArg("a")); res.Err != nil || n.Load() != 2 {
				t.Errorf("got %v, ran %d times", res, n.Load())
			}
		})
	})
	t.Run("T15 a key that fails is none: such calls all run", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			p := newDesk().process(t, func(_ *ferrule.Runtime, send *tool.Tool) {
				send.Key = func(context.Context, tool.Args) (string, error) { return "k", errors.New("no") }
				send.Repeatable = true
			})
			p.turn(t, 0, sending("a"))
			if p.turn(t, 0, sending("a")); p.runs.Load() != 2 {
				t.Errorf("ran %d times, want 2", p.runs.Load())
			}
		})
	})
}

func TestRetries(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for _, tt := range []struct {
		name   string
		claims tool.Claims
		err    error
		runs   int64
		took   time.Duration
	}{
		{"J3 retry after: three times more, each when it said", tool.Claims{Idempotent: true}, &tool.Outcome{Err: errors.New("busy"), RetryAfter: 2 * time.Second}, 4, 6 * time.Second},
		{"J3 it could not be reached: with backoff", tool.Claims{Idempotent: true}, refused, 4, 1400 * time.Millisecond},
		{"J3 what only reads", tool.Claims{ReadOnly: true}, refused, 4, 1400 * time.Millisecond},
		{"J3 any other failure: once", tool.Claims{Idempotent: true}, errors.New("no such file"), 1, 0},
		{"J3 what may not run twice: once", tool.Claims{}, refused, 1, 0},
		{"J3 what takes long is for the model", tool.Claims{Idempotent: true}, &tool.Outcome{Err: errors.New("busy"), RetryAfter: time.Minute}, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rec := new(recorder)
				d := writerTool("send")
				d.Claims = tt.claims
				var n atomic.Int64
				d = doing(d, func(context.Context, tool.Args) (tool.Result, error) {
					n.Add(1)
					return tool.Result{}, tt.err
				})
				began := time.Now()
				res := callOne(t, &ferrule.Runtime{Policy: policy.AllowOwn{}, Observe: rec.observe}, d, textArg("a"))
				if wantFailure(t, res, tool.Failed, ""); n.Load() != tt.runs || time.Since(began) != tt.took {
					t.Errorf("ran %d times in %s, want %d in %s", n.Load(), time.Since(began), tt.runs, tt.took)
				}
			})
		})
	}
	t.Run("J3 it goes well in the end", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := writerTool("send")
			d.Claims.Idempotent = true
			var n atomic.Int64
			d = doing(d, func(context.Context, tool.Args) (tool.Result, error) {
				if n.Add(1) < 3 {
					return tool.Result{}, refused
				}
				return sayText("sent"), nil
			})
			if res := callOne(t, &ferrule.Runtime{Policy: policy.AllowOwn{}}, d, textArg("a")); res.Err != nil || n.Load() != 3 {
				t.Errorf("got %v, ran %d times", res, n.Load())
			}
		})
	})
	t.Run("J3 D6 a stop ends the waiting", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := writerTool("send")
			d.Claims.Idempotent, d.Cancel = true, true
			d = doing(d, func(context.Context, tool.Args) (tool.Result, error) {
				return tool.Result{}, &tool.Outcome{RetryAfter: 20 * time.Second}
			})
			v := viewWith(t, &ferrule.Runtime{Policy: policy.AllowOwn{}}, d)
			turn := v.Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(sending("a"))
			time.Sleep(time.Second)
			began := time.Now()
			turn.Interrupt()
			if res := turn.Wait(); kindOf(res[0]) != tool.Aborted || time.Since(began) > 2*time.Second {
				t.Errorf("got %v after %s", res[0], time.Since(began))
			}
		})
	})
}

// pad is a log that keeps what it is given, until it fails.
type pad struct {
	recorder
	args           []string
	refuses, flush error
	flushed        atomic.Int64
	well           int64 // how often it can be flushed before that fails
}

func (p *pad) Append(events ...audit.Event) (kept bool, err error) {
	if p.refuses != nil {
		return false, p.refuses
	}
	for _, e := range events {
		p.observe(e)
		if e.Kind == audit.Requested {
			p.args = append(p.args, e.Args)
		}
	}
	return false, nil
}

func (p *pad) Flush(context.Context) error {
	if p.flushed.Add(1) <= p.well {
		return nil
	}
	return p.flush
}

func TestLog(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	t.Run("U1 every decision and effect of a call is on the record", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			p := new(pad)
			d, _ := counted(writerTool("send"))
			v := viewWith(t, &ferrule.Runtime{Policy: policy.AllowOwn{}, Log: p}, d)
			v.Do(t.Context(), sending("a"))
			if got, want := p.kinds("call_1"), "requested decided begun started ended"; got != want || p.flushed.Load() != 2 {
				t.Errorf("got %q, flushed %d times, want %q", got, p.flushed.Load(), want)
			}
		})
	})
	t.Run("U1 a recorded result is given out when that is on the record", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := newDesk()
			n, _ := d.process(t, nil).turn(t, 0, sending("a"))
			for _, failing := range []error{nil, full} {
				d.crash()
				p := &pad{flush: failing}
				_, res := d.process(t, func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Log = p }).turn(t, n, sending("a"))
				if p.flushed.Load() == 0 || (res[0].Err == nil) != (failing == nil) || failing != nil && !errors.Is(res[0].Err, full) {
					t.Errorf("where a flush is %v: got %v, flushed %d times", failing, res[0].Err, p.flushed.Load())
				}
			}
		})
	})
	t.Run("U1 arguments are there by sensitivity", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			for sensitivity, want := range map[tool.Sensitivity]string{tool.Internal: textArg("a"), tool.Secret: "[withheld: secret]"} {
				p := new(pad)
				d := writerTool("send")
				d.InputSensitivity = sensitivity
				viewWith(t, &ferrule.Runtime{Policy: policy.AllowOwn{}, Log: p}, d).Do(t.Context(), sending("a"))
				if got := p.args[0]; got != want {
					t.Errorf("%s: got %q, want %q", sensitivity, got, want)
				}
			}
		})
	})
	for _, tt := range []struct {
		name string
		pad  *pad
		d    tool.Tool
		kind tool.Kind
		text string
		runs int64
	}{
		{"U1 what cannot be put on the record does not run", &pad{refuses: full}, writerTool("send"), tool.Failed, "This call could not be put on the record, so it did not run.", 0},
		{"U1 what cannot be put on the record does not run, if it only reads", &pad{refuses: full}, readerTool("send"), tool.Failed, "This call could not be put on the record, so it did not run.", 0},
		{"U1 what cannot be kept on the record does not run", &pad{flush: full}, writerTool("send"), tool.Failed, "This call could not be put on the record, so it did not run.", 0},
		{"U1 a result that cannot be put on the record is withheld", &pad{flush: full}, readerTool("send"), tool.Failed, "The result of this call could not be put on the record, so it is withheld.", 1},
		{"U1 an effect that cannot be put on the record is not known", &pad{flush: full, well: 1}, writerTool("send"), tool.OutcomeUnknown, "The call ran, but what came of it could not be put on the record.", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d, runs := counted(tt.d)
				var ends []string
				v := viewWith(t, &ferrule.Runtime{Policy: policy.AllowOwn{}, Log: tt.pad, Observe: func(e audit.Event) {
					if e.Kind == audit.Ended {
						ends = append(ends, e.Result.String())
					}
				}}, d)
				res := v.Do(t.Context(), sending("a"))[0]
				if len(ends) != 1 || ends[0] != res.String() {
					t.Errorf("told of the ends %q, want one: %q", ends, res)
				}
				if wantFailure(t, res, tt.kind, tt.text); runs.Load() != tt.runs || !errors.Is(res.Err, full) {
					t.Errorf("got %v, ran %d times", res.Err, runs.Load())
				}
				tt.pad.refuses, tt.pad.flush = nil, nil
				if res := v.Do(t.Context(), sending("a"))[0]; res.Err != nil {
					t.Errorf("when it works again: %v", res.Err)
				}
			})
		})
	}
}

package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// oddInbox is an inbox that does something before or after what it is asked to
// do.
type oddInbox struct {
	policy.Memory
	ask     func(*policy.Question)
	answer  func(policy.Answer)
	used    func(id string, err error)
	watch   func()
	watches atomic.Int64 // that were not stopped
}

func (i *oddInbox) Ask(ctx context.Context, q policy.Question) error {
	if i.ask != nil {
		i.ask(&q)
	}
	return i.Memory.Ask(ctx, q)
}

func (i *oddInbox) Answer(ctx context.Context, id string, a policy.Answer) error {
	if i.answer != nil {
		i.answer(a)
	}
	return i.Memory.Answer(ctx, id, a)
}

func (i *oddInbox) Use(ctx context.Context, id, digest string) (policy.Answer, error) {
	a, err := i.Memory.Use(ctx, id, digest)
	if i.used != nil {
		i.used(id, err)
	}
	return a, err
}

func (i *oddInbox) Watch(f func(string)) func() {
	if i.watch != nil {
		i.watch()
	}
	stop := i.Memory.Watch(f)
	i.watches.Add(1)
	return func() {
		i.watches.Add(-1)
		stop()
	}
}

func TestEarlyQuestions(t *testing.T) {
	t.Parallel()
	// While the question about the last call is made, a slot gets free for it, and
	// the second call takes its resource.
	t.Run("L9 a call whose question is put early runs once, behind one that moved in front of it meanwhile", func(t *testing.T) {
		rt := &ferrule.Runtime{Limit: 2, Answer: says(policy.Answer{Allow: true})}
		onFloor(t, rt, func(f *floor) {
			f.spec(tool.Spec[act, string]{
				Info: tool.Info{Name: "moves"}, ClaimsOf: act.claims,
				Validate: func(_ context.Context, a act) (json.RawMessage, error) {
					slow(2)
					a.Write = []string{"file:/r"}
					return a.text(), nil
				},
				Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
			})
			asks := *f.made(tool.Spec[act, string]{
				Info: tool.Info{Name: "asks", Approval: tool.AskAlways}, ClaimsOf: act.claims,
				Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
			})
			asks.Preview = func(context.Context, tool.Args) (string, error) {
				slow(4)
				return "", nil
			}
			if err := f.rt.Add(checkedTool(f.t, asks)); err != nil {
				f.t.Fatal(err)
			}
			f.doCalls(words("!/x@1")[0],
				tool.Call{Name: "moves", Input: act{For: 5, Write: []string{"file:/m"}}.text()},
				tool.Call{Name: "asks", Input: act{For: 3, Write: []string{"file:/r"}}.text()})
			f.want("starts", f.starts(), "0 2 11") // the second has ended at 7, and what the last would do is looked at again
			f.want("how often the tools ran", fmt.Sprint(f.runs), "[1 1 1]")
		})
	})
	t.Run("L9 questions that are put early at once are at most as many as calls may run", func(t *testing.T) {
		var mu sync.Mutex
		now, most, all := 0, 0, 0
		add := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			now += n
			most = max(most, now)
			all += max(n, 0)
		}
		inbox := &oddInbox{ask: func(q *policy.Question) {
			if q.Note == policy.NoteEarly {
				add(1)
				defer add(-1)
				slow(1)
			}
		}}
		bubble(t, func(t *testing.T) {
			calls := make([]tool.Call, 20)
			for i := range calls {
				calls[i].Name = "asks"
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			viewWith(t, &ferrule.Runtime{Inbox: inbox, Limit: 3}, writerTool("asks")).Do(ctx, calls...)
		})
		if most != 3 || all != 19 {
			t.Errorf("%d of %d questions at once, want 3 of 19", most, all)
		}
	})
}

func TestInboxIsHeard(t *testing.T) {
	t.Parallel()
	asks := writerTool("asks")
	asks.Claims.Parallel = true
	two := []tool.Call{{Name: "asks"}, {Name: "asks"}}
	t.Run("P6 an inbox that cannot be watched for the first call is watched for the second", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			inbox, first := new(oddInbox), true
			inbox.watch = func() {
				if first {
					first = false
					slow(1)
					panic("not yet")
				}
			}
			began := time.Now()
			time.AfterFunc(5*time.Second, func() { say(t, inbox, policy.Answer{Allow: true}) })
			res := viewWith(t, &ferrule.Runtime{Inbox: inbox}, asks).Do(t.Context(), two...)
			if kinds := fmt.Sprint(kindOf(res[0]), kindOf(res[1])); kinds != "denied" && kinds != " denied" {
				t.Errorf("results %v, want one denied and one that ran", res)
			}
			if took := time.Since(began); took != 5*time.Second {
				t.Errorf("it took %s, want 5s: until the answer", took)
			}
		})
	})
	t.Run("P6 an answer that comes while the inbox begins to be watched is heard", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			inbox := &oddInbox{watch: func() { slow(1) }}
			rt := &ferrule.Runtime{Inbox: inbox, Answer: func(context.Context, policy.Question) (policy.Answer, error) {
				time.Sleep(10 * time.Millisecond)
				return policy.Answer{Allow: true}, nil
			}}
			began := time.Now()
			for i, res := range viewWith(t, rt, asks).Do(t.Context(), two...) {
				if res.Err != nil {
					t.Errorf("call %d: %v", i, res.Err)
				}
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	})
	t.Run("P6 an answer that comes between looking for it and waiting for it is heard", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			inbox := new(oddInbox)
			inbox.used = func(id string, err error) {
				if errors.Is(err, policy.ErrWaiting) {
					if err := inbox.Answer(t.Context(), id, policy.Answer{Allow: true}); err != nil {
						t.Error(err)
					}
				}
			}
			began := time.Now()
			for i, res := range viewWith(t, &ferrule.Runtime{Inbox: inbox}, asks).Do(t.Context(), two...) {
				if res.Err != nil {
					t.Errorf("call %d: %v", i, res.Err)
				}
			}
			if took := time.Since(began); took != 0 {
				t.Errorf("it took %s", took)
			}
		})
	})
	t.Run("P5 a question that an inbox still keeps open by its own clock expires, and is not looked for again and again", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			looks := 0
			inbox := &oddInbox{ask: func(q *policy.Question) { q.Expires = q.Expires.Add(time.Hour) }}
			inbox.used = func(id string, _ error) {
				if looks++; looks > 100 { // so that the test ends
					_ = inbox.Memory.Answer(t.Context(), id, policy.Answer{})
				}
			}
			began := time.Now()
			res := callOne(t, &ferrule.Runtime{Inbox: inbox, Expiry: 10 * time.Second}, writerTool("asks"), "{}")
			wantFailure(t, res, tool.Expired, "Nobody answered in time.")
			if took := time.Since(began); took != 10*time.Second || looks > 5 {
				t.Errorf("it looked %d times in %s, want a few times in 10s", looks, took)
			}
		})
	})
	t.Run("D7 a call that was given up does not listen to the inbox, nor ask, when it returns", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			inbox := new(oddInbox)
			d := writerTool("asks")
			d.Preview = sleepy[string]
			wantFailure(t, callOne(t, &ferrule.Runtime{Inbox: inbox}, d, "{}"), tool.Timeout, "")
			time.Sleep(90 * time.Minute)
			if n := inbox.watches.Load(); n != 0 {
				t.Errorf("%d watches are left", n)
			}
			if n := replyAll(t, inbox, policy.Answer{}); n != 0 {
				t.Errorf("%d questions are left", n)
			}
		})
	})
}

func TestInboxIsBounded(t *testing.T) {
	t.Parallel()
	hang := func() { time.Sleep(time.Hour) }
	for _, cooperative := range []bool{false, true} {
		for _, tt := range []struct {
			name    string
			inbox   func() *oddInbox
			stopped time.Duration // when the host's stop is heard, at the latest
		}{
			{"Watch", func() *oddInbox { return &oddInbox{watch: hang} }, 2 * time.Minute}, // it has no context
			{"Ask", func() *oddInbox { return &oddInbox{ask: func(*policy.Question) { hang() }} }, 6 * time.Second},
			{"Use", func() *oddInbox { return &oddInbox{used: func(string, error) { hang() }} }, 6 * time.Second},
		} {
			t.Run(fmt.Sprintf("T10 an inbox that hangs does not hold a call for ever: %s, cooperative %v", tt.name, cooperative), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					d, runs := counted(writerTool("asks"))
					d.Cooperative = cooperative
					rt := &ferrule.Runtime{Inbox: tt.inbox()}
					began := time.Now()
					res := callOne(t, rt, d, "{}")
					if took := time.Since(began); res.Err == nil || took > 2*time.Minute {
						t.Errorf("after %s: %v", took, res)
					}
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					defer cancel()
					began = time.Now()
					res = rt.Session(tool.Caller{}).Call(ctx, "asks", "{}")
					if took := time.Since(began); res.Err == nil || took > tt.stopped {
						t.Errorf("stopped by the host at 5s, after %s: %v", took, res)
					}
					if runs.Load() != 0 {
						t.Errorf("it ran %d times", runs.Load())
					}
				})
			})
		}
		t.Run(fmt.Sprintf("T10 an inbox that hangs when a question is taken back does not hold the turn for ever: cooperative %v", cooperative), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := writerTool("asks")
				d.Cooperative = cooperative
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				inbox := &oddInbox{answer: func(policy.Answer) { hang() }}
				res := viewWith(t, &ferrule.Runtime{Inbox: inbox}, d).Do(ctx, tool.Call{Name: "asks"})[0]
				wantFailure(t, res, tool.Aborted, "")
				if took := time.Since(began); took > 2*time.Minute {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestQuestionsOfTools(t *testing.T) {
	t.Parallel()
	// sure asks about its argument and says what it then ran with.
	sure := func(asked *[]string) tool.Tool {
		return doing(writerTool("rm"), func(ctx context.Context, a tool.Args) (tool.Result, error) {
			if _, ok := tool.From(ctx).Answer(); !ok {
				*asked = append(*asked, textIn(a))
				return tool.Result{}, &tool.Outcome{Suspend: "Really " + textIn(a) + "?"}
			}
			return sayText(textIn(a)), nil
		})
	}
	t.Run("L7 an answer about one input never serves another", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var asked []string
			looks, d := 0, sure(&asked)
			d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) {
				if looks++; looks == 3 { // after the answer
					return json.RawMessage(textArg("b")), nil
				}
				return nil, nil
			}
			res := callOne(t, &ferrule.Runtime{Policy: allowAll, Answer: says(policy.Answer{Allow: true, Text: "yes"})}, d, textArg("a"))
			if got := strings.Join(asked, " ") + ", ran " + res.String(); got != "a b, ran b" {
				t.Errorf("asked about %s, want about a and b, and b to run", got)
			}
		})
	})
	for name, rules := range map[string]policy.Policy{"allowed": allowAll, "asked for": told(tool.Ask, "")} {
		t.Run("P5 arguments that a person edits in the answer to a tool are used: the call was "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var asked []string
				rt := &ferrule.Runtime{Policy: rules, Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
					a := policy.Answer{Allow: true}
					if q.Wants != "" {
						a.Input = json.RawMessage(textArg("b"))
					}
					return a, nil
				}}
				res := callOne(t, rt, sure(&asked), textArg("a"))
				if res.String() != "b"+changedTo+textArg("b") || strings.Join(asked, " ") != "a" {
					t.Errorf("ran with %q after questions about %q, want b after one about a", res, asked)
				}
			})
		})
	}
	for name, input := range map[string]json.RawMessage{"nil": nil, "empty": {}, "blank": json.RawMessage(" \n"), "null": json.RawMessage("null"), "null and blanks": json.RawMessage(" null\n")} {
		t.Run("P5 an answer with no arguments keeps those that were shown: "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := says(policy.Answer{Allow: true, Input: input})
				if res := callOne(t, &ferrule.Runtime{Answer: a}, writerTool("w"), textArg("a")); res.String() != textArg("a") {
					t.Errorf("a call: %q", res)
				}
				var asked []string
				if res := callOne(t, &ferrule.Runtime{Policy: allowAll, Answer: a}, sure(&asked), textArg("a")); res.String() != "a" {
					t.Errorf("a tool that asks: %q", res)
				}
			})
		})
	}
	t.Run("L2 a tool that asks for ever ends after 8 rounds", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d, runs := counted(writerTool("w"))
			run := d.Run
			d.Run = func(ctx context.Context, a tool.Args) (tool.Result, error) {
				if _, err := run(ctx, a); err != nil || runs.Load() > 100 { // so that the test ends
					return tool.Result{}, err
				}
				return tool.Result{}, &tool.Outcome{Suspend: "sure?"}
			}
			res := callOne(t, &ferrule.Runtime{Policy: allowAll, Answer: says(policy.Answer{Allow: true})}, d, "{}")
			wantFailure(t, res, tool.HookBlocked, "")
			if runs.Load() != 9 {
				t.Errorf("it ran %d times, want 9: each round but the last was answered", runs.Load())
			}
		})
	})
	t.Run("P7 a rejection whose text does not come is a rejection", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			d := writerTool("w")
			d.RejectTextOf = sleepy[string]
			wantFailure(t, callOne(t, &ferrule.Runtime{Answer: says(policy.Answer{})}, d, "{}"), tool.Rejected, "Tool approval was rejected.")
		})
	})
	t.Run("T15 a key that fails when a tool runs anew leaves none", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			keys, asks := 0, 0
			d := writerTool("w")
			d.Key = func(context.Context, tool.Args) (string, error) {
				if keys++; keys == 1 {
					return "k", nil
				}
				return "", errBroken
			}
			d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				if asks++; asks == 1 {
					return tool.Result{}, &tool.Outcome{Suspend: "?"}
				}
				return sayText("key " + tool.From(ctx).Request().Key), nil
			}
			res := callOne(t, &ferrule.Runtime{Policy: allowAll, Answer: says(policy.Answer{Allow: true})}, d, "{}")
			if res.String() != "key " {
				t.Errorf("it ran with %q, want no key", res)
			}
		})
	})
}

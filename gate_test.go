package ferrule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// served registers the tool one, which has a cap of 1, and gives the sessions in
// the order in which it began for them, and when.
func (f *floor) served() (who func() string) {
	var mu sync.Mutex
	var list []string
	f.add(tool.Info{Name: "one", Claims: tool.Claims{Parallel: true}, AtOnce: 1}, func(a act, ctx context.Context) (string, error) {
		mu.Lock()
		list = append(list, fmt.Sprintf("%s@%g", tool.From(ctx).Request().Caller.Session, f.seconds()))
		mu.Unlock()
		return a.run(ctx)
	})
	f.clear()
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(list, " ")
	}
}

// in begins a turn in a session.
func (f *floor) in(session string, o ferrule.TurnOptions, text string) *ferrule.Turn {
	turn := f.session(session).View(f.ctx).Begin(f.ctx, o)
	turn.Add(words(text)...)
	return turn
}

// holdWorker keeps the worker that led a call of session b, after its call has
// ended, until so many seconds from the last clear on: what is ready in its turn
// stays there.
func (f *floor) holdWorker(callID string, until float64) {
	f.look = func(e audit.Event) {
		if e.Kind == audit.Ended && e.Request.CallID == callID && e.Request.Caller.Session == "b" {
			time.Sleep(time.Duration((until - f.seconds()) * float64(time.Second)))
		}
	}
}

func TestCapOrder(t *testing.T) {
	t.Parallel()
	t.Run("D3 places at a cap go to who came first, over all sessions", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			who := f.served()
			a := f.in("a", ferrule.TurnOptions{}, "one one")
			after(0.5)
			b := f.in("b", ferrule.TurnOptions{}, "one")
			after(0.1)
			a.Add(words(strings.Repeat("one ", 100))...)
			b.Wait()
			f.want("seconds until the call of b has ended, though a hundred others came", fmt.Sprint(f.seconds()), "3")
			a.Wait()
			if got := who(); !strings.HasPrefix(got, "a@0 a@1 b@2 a@3 a@4 ") || !strings.HasSuffix(got, " a@102") {
				f.t.Errorf("served %s", got)
			}
		})
	})
	t.Run("D3 a call that comes last is served last, and once", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			who := f.served()
			turns := []*ferrule.Turn{f.in("a", ferrule.TurnOptions{}, "one one"), f.in("b", ferrule.TurnOptions{}, "one one"), f.in("c", ferrule.TurnOptions{}, "one")}
			after(0.5)
			turns[0].Add(words("one")...)
			for _, turn := range turns {
				turn.Wait()
			}
			// What is added together comes at one moment, in any order.
			got := strings.Fields(who())
			f.want("calls served", fmt.Sprint(len(got)), "6")
			f.want("the last", got[len(got)-1], "a@5")
		})
	})
	t.Run("D3 a call that is aborted while it waits at a cap lets the next one come up", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			who := f.served()
			a := f.in("a", ferrule.TurnOptions{}, "one@5")
			after(0.1)
			b := f.in("b", ferrule.TurnOptions{}, "one one")
			after(0.1)
			c := f.in("c", ferrule.TurnOptions{}, "one")
			after(1.8)
			b.Interrupt()
			for _, turn := range []*ferrule.Turn{a, b, c} {
				turn.Wait()
			}
			f.want("served", who(), "a@0 c@5")
		})
	})
	t.Run("D3 a call that is aborted when it has a place and has not begun gives it to the next", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			who := f.served()
			f.holdWorker("call_1", 6)
			a := f.in("a", ferrule.TurnOptions{}, "one@3")
			after(0.1)
			b := f.in("b", ferrule.TurnOptions{Limit: 1}, "one p") // the first waits at the cap, the second keeps the worker
			after(0.1)
			c := f.in("c", ferrule.TurnOptions{}, "one")
			after(3.8)
			f.want("served while the first of b has the place", who(), "a@0")
			b.Interrupt()
			a.Wait()
			c.Wait()
			f.want("results of b", word(b.Wait()[0])+" "+word(b.Wait()[1]), "aborted ok")
			f.want("served", who(), "a@0 c@4")
		})
	})
	t.Run("D3 a call that has a place and comes to stand behind another gives it to the next", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			who := f.served()
			f.spec(tool.Spec[act, string]{
				Info: tool.Info{Name: "moves"}, ClaimsOf: func(a act) tool.Claims { return tool.Claims{Parallel: a.Do == ""} },
				Validate: func(_ context.Context, a act) (json.RawMessage, error) {
					slow(4)
					a.Do = "alone"
					return a.text(), nil
				},
				Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
			})
			f.holdWorker("call_2", 6)
			a := f.in("a", ferrule.TurnOptions{}, "one@3")
			after(0.1)
			b := f.session("b").View(f.ctx).Begin(f.ctx, ferrule.TurnOptions{Limit: 2})
			b.Add(words("moves@10 one p")...)
			after(0.1)
			c := f.in("c", ferrule.TurnOptions{}, "one")
			after(3.7)
			f.want("served while the call of b has the place", who(), "a@0")
			a.Wait()
			c.Wait()
			b.Wait()
			f.want("served", who(), "a@0 c@4.1 b@16") // at 6 the last call of b is over, and moves begins
		})
	})
	t.Run("D3 a call that moves behind one that waits for a person gives its place back", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox, TenantLimits: map[string]int{"": 1}}, func(f *floor) {
			f.asking(tool.Info{})
			f.spec(tool.Spec[act, string]{
				Info: tool.Info{Name: "moves"}, ClaimsOf: func(a act) tool.Claims { return tool.Claims{Parallel: a.Do == ""} },
				Validate: func(_ context.Context, a act) (json.RawMessage, error) {
					a.Do = "alone"
					return a.text(), nil
				},
				Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
			})
			turn := f.begin(ferrule.TurnOptions{}, "asks moves")
			after(3)
			say(f.t, inbox, policy.Answer{Allow: true})
			turn.Wait()
			f.want("starts", f.starts(), "3 4")
		})
	})
	t.Run("D3 bad input does not wait for a cap", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{TenantLimits: map[string]int{"": 1}}, func(f *floor) {
			who := f.served()
			a := f.in("a", ferrule.TurnOptions{}, "one@30")
			after(1)
			res := f.session("b").Call(f.ctx, "one", "{")
			f.want("result", fmt.Sprint(word(res), "@", f.seconds()), "invalid_input@1")
			a.Wait()
			f.want("served", who(), "a@0")
		})
	})
	t.Run("D7 calls at a cap that is full of calls that were given up are told so at once", func(t *testing.T) {
		const text = "Earlier calls of brief were stopped but have not ended, so this call did not run. Try again later."
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "brief", Claims: tool.Claims{Parallel: true}, AtOnce: 2, Timeout: 5 * time.Second}, act.run)
			f.clear()
			a := f.in("a", ferrule.TurnOptions{}, "brief@60 brief@90")
			after(1)
			b := f.in("b", ferrule.TurnOptions{}, "brief")
			wantFailure(f.t, b.Wait()[0], tool.Failed, text)
			f.want("seconds until who waited is told", fmt.Sprint(f.seconds()), "6")
			wantFailure(f.t, f.session("c").Call(f.ctx, "brief", ""), tool.Failed, text)
			f.want("seconds until who comes later is told", fmt.Sprint(f.seconds()), "6")
			a.Wait()
			after(60) // one has returned
			f.want("a call when one has returned", word(f.session("c").Call(f.ctx, "brief", "")), "ok")
		})
	})
}

// It counts what is allocated, so it is not parallel: others would count too.
func TestCapWork(t *testing.T) {
	const calls = 2000
	allocated := func(atOnce int) (n uint64) {
		synctest.Test(t, func(t *testing.T) {
			d := slowTool("one", time.Millisecond)
			d.AtOnce, d.Repeatable = atOnce, true
			v := viewWith(t, new(ferrule.Runtime), d)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for i, res := range v.Do(t.Context(), slices.Repeat([]tool.Call{{Name: "one"}}, calls)...) {
				if res.Err != nil {
					t.Fatalf("call %d: %v", i, res.Err)
				}
			}
			runtime.ReadMemStats(&after)
			n = after.Mallocs - before.Mallocs
		})
		return n
	}
	t.Run("D3 each of 2,000 calls at a cap costs the same", func(t *testing.T) {
		// Who looks at all that wait whenever a place is free looks 2,000,000 times.
		if free, capped := allocated(0), allocated(1); capped > free+20*calls {
			t.Errorf("%d calls at a cap of 1 made %d allocations, %d without a cap: too many for work that grows with the calls", calls, capped, free)
		}
	})
}

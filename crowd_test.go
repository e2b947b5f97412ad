package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// errand is a call of a turn that was begun apart: what it touches, and when it
// comes and how long it takes.
type errand struct {
	act
	comes, lasts time.Duration
	began, ended time.Duration // -1: it did not run
	res          tool.Result
}

func (e *errand) conflicts(o *errand) bool {
	if slices.Contains([]string{e.Do, o.Do}, "alone") {
		return true
	}
	for _, w := range e.Write {
		if slices.Contains(o.Read, w) || slices.Contains(o.Write, w) {
			return true
		}
	}
	return slices.ContainsFunc(o.Write, func(w string) bool { return slices.Contains(e.Read, w) })
}

// office runs errands, and notes when each began and ended.
type office struct {
	*testing.T
	rt    *ferrule.Runtime
	began time.Time
	mu    sync.Mutex
	all   map[string]*errand // by the id of its call
}

// inOffice is a bubble with an office whose tool does errands.
func inOffice(t *testing.T, rt *ferrule.Runtime, change func(*tool.Spec[act, string]), f func(*office)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &office{T: t, rt: rt, began: time.Now(), all: make(map[string]*errand)}
		if rt.Policy == nil {
			rt.Policy = allowAll
		}
		s := tool.Spec[act, string]{
			Info: tool.Info{Name: "errand", Description: "Run one errand of many.", Cooperative: true, Repeatable: true},
			ClaimsOf: func(a act) tool.Claims {
				if a.Do == "alone" {
					return tool.Claims{}
				}
				return a.claims()
			},
			Run: func(ctx context.Context, _ act) (string, error) { return "done", o.perform(ctx) },
		}
		s.Input = json.RawMessage(actSchema)
		if change != nil {
			change(&s)
		}
		made, err := s.Tool()
		if err != nil {
			t.Fatal(err)
		}
		done(t, rt.Add(made))
		f(o)
		time.Sleep(time.Hour) // what was given up returns
	})
}

func (o *office) now() time.Duration { return time.Since(o.began) }

func (o *office) perform(ctx context.Context) error {
	o.mu.Lock()
	e := o.all[tool.From(ctx).Request().CallID]
	e.began = o.now()
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		e.ended = o.now()
	}()
	if e.Do == "hang" {
		time.Sleep(e.lasts)
		return nil
	}
	select {
	case <-time.After(e.lasts):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// calls are errands as the calls of one turn.
func (o *office) calls(list ...*errand) (calls []tool.Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range list {
		e.began, e.ended = -1, -1
		id := fmt.Sprint(len(o.all))
		o.all[id] = e
		calls = append(calls, tool.Call{ID: id, Name: "errand", Input: e.text()})
	}
	return calls
}

// go runs errands as one turn of a session, when the first of them comes.
func (o *office) start(ctx context.Context, wait *sync.WaitGroup, session string, opts ferrule.TurnOptions, list ...*errand) {
	v := o.rt.Session(tool.Caller{Session: session}).View(ctx)
	calls := o.calls(list...)
	wait.Go(func() {
		time.Sleep(list[0].comes)
		for i, res := range v.DoTurn(ctx, opts, calls...) {
			list[i].res = res
		}
	})
}

var apart = ferrule.TurnOptions{Apart: true}

// drawErrand draws an errand over few files, so that they often meet. Its times
// have a place of their own in nanoseconds: no two things happen at once.
func drawErrand(i int) *rapid.Generator[*errand] {
	files := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"file:/a", "file:/b", "file:/c"}), 0, 2, rapid.ID[string])
	ms := rapid.IntRange(0, 20)
	return rapid.Custom(func(t *rapid.T) *errand {
		e := &errand{act: act{Read: files.Draw(t, "reads"), Write: files.Draw(t, "writes")}}
		if rapid.IntRange(0, 5).Draw(t, "alone") == 0 {
			e.act = act{Do: "alone"}
		}
		e.comes = time.Duration(ms.Draw(t, "comes"))*time.Millisecond + 1<<(2*i)
		e.lasts = time.Duration(ms.Draw(t, "lasts")+1)*time.Millisecond + 2<<(2*i)
		return e
	})
}

// model is when errands should begin: in the order in which they come, each as
// soon as no other that runs, or waits before it, is in its way.
func model(list []*errand) []time.Duration {
	begin, end := make([]time.Duration, len(list)), make([]time.Duration, len(list))
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(list[a].comes - list[b].comes) })
	for n, i := range order {
		begin[i] = list[i].comes
		for _, before := range order[:n] {
			if list[i].conflicts(list[before]) {
				begin[i] = max(begin[i], end[before])
			}
		}
		end[i] = begin[i] + list[i].lasts
	}
	return begin
}

func TestApart(t *testing.T) {
	t.Parallel()
	t.Run("M2 running calls of a session exclude each other by D1, and no others", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(r *rapid.T) {
			list := make([]*errand, rapid.IntRange(1, 8).Draw(r, "errands"))
			for i := range list {
				list[i] = drawErrand(i).Draw(r, "errand")
			}
			cooperative := rapid.Bool().Draw(r, "cooperative")
			inOffice(t, new(ferrule.Runtime), func(s *tool.Spec[act, string]) { s.Cooperative = cooperative }, func(o *office) {
				var wait sync.WaitGroup
				for _, e := range list {
					o.start(o.Context(), &wait, "s", apart, e)
				}
				wait.Wait()
			})
			want := model(list)
			for i, e := range list {
				if e.res.Err != nil || e.began != want[i] {
					r.Errorf("errand %d %+v began after %s, want %s: %v", i, e.act, e.began, want[i], e.res.Err)
				}
			}
		})
	})
	t.Run("M2 turns of several calls, with caps: no two that conflict overlap, and all end", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(r *rapid.T) {
			var turns [][]*errand
			n := 0
			for range rapid.IntRange(1, 5).Draw(r, "turns") {
				var turn []*errand
				for range rapid.IntRange(1, 4).Draw(r, "calls") {
					turn = append(turn, drawErrand(n%8).Draw(r, "errand"))
					n++
				}
				turns = append(turns, turn)
			}
			rt := &ferrule.Runtime{SourceLimits: map[string]int{"": rapid.IntRange(1, 4).Draw(r, "source limit")}}
			most := rapid.IntRange(0, 3).Draw(r, "at once")
			opts := ferrule.TurnOptions{Apart: true, Limit: rapid.IntRange(1, 3).Draw(r, "limit")}
			inOffice(t, rt, func(s *tool.Spec[act, string]) { s.AtOnce = most }, func(o *office) {
				var wait sync.WaitGroup
				for _, turn := range turns {
					o.start(o.Context(), &wait, "s", opts, turn...)
				}
				wait.Wait()
			})
			list := slices.Concat(turns...)
			for i, e := range list {
				if e.res.Err != nil || e.began < 0 {
					r.Errorf("errand %d: %v", i, e.res.Err)
				}
				for _, o := range list[:i] {
					if e.conflicts(o) && e.began < o.ended && o.began < e.ended {
						r.Errorf("%+v from %s to %s, %+v from %s to %s", e.act, e.began, e.ended, o.act, o.began, o.ended)
					}
				}
			}
		})
	})
	write := func(comes, lasts time.Duration) *errand {
		return &errand{act: act{Write: []string{"file:/a"}}, comes: comes, lasts: lasts}
	}
	read := func(comes, lasts time.Duration) *errand {
		return &errand{act: act{Read: []string{"file:/a"}}, comes: comes, lasts: lasts}
	}
	wantBegan := func(t *testing.T, want time.Duration, e *errand) {
		t.Helper()
		if e.began != want {
			t.Errorf("began after %s, want %s: %v", e.began, want, e.res.Err)
		}
	}
	t.Run("M2 a write that waits is not passed by reads", func(t *testing.T) {
		t.Parallel()
		inOffice(t, new(ferrule.Runtime), nil, func(o *office) {
			var wait sync.WaitGroup
			w := write(5*time.Second, time.Second)
			o.start(o.Context(), &wait, "s", apart, w)
			for i := range 20 {
				o.start(o.Context(), &wait, "s", apart, read(time.Duration(i)*time.Second+1, 3*time.Second))
			}
			wait.Wait()
			wantBegan(t, 7*time.Second+1, w)
		})
	})
	t.Run("M2 other sessions, and turns that are not apart, are not held up", func(t *testing.T) {
		t.Parallel()
		inOffice(t, new(ferrule.Runtime), nil, func(o *office) {
			var wait sync.WaitGroup
			first, other, plain := write(0, time.Minute), write(1, time.Minute), write(2, time.Minute)
			o.start(o.Context(), &wait, "s", apart, first)
			o.start(o.Context(), &wait, "other", apart, other)
			o.start(o.Context(), &wait, "s", ferrule.TurnOptions{}, plain)
			wait.Wait()
			wantBegan(t, 1, other)
			wantBegan(t, 2, plain)
		})
	})
	t.Run("D6 a call that is held up ends at once with its context, and holds up nobody", func(t *testing.T) {
		t.Parallel()
		inOffice(t, new(ferrule.Runtime), nil, func(o *office) {
			var wait sync.WaitGroup
			ctx, cancel := context.WithTimeoutCause(o.Context(), 2*time.Second, errBroken)
			defer cancel()
			reads, held, behind := read(0, time.Minute), write(time.Second, time.Minute), read(time.Second+1, time.Second)
			o.start(o.Context(), &wait, "s", apart, reads)
			o.start(ctx, &wait, "s", apart, held)
			o.start(o.Context(), &wait, "s", apart, behind)
			wait.Wait()
			wantBegan(t, -1, held)
			wantBegan(t, 2*time.Second, behind)
			if wantFailure(t, held.res, tool.Aborted, ""); !errors.Is(held.res.Err, errBroken) {
				t.Errorf("cause = %v", held.res.Err)
			}
		})
	})
	t.Run("D6 so does one of a turn that a person interrupts", func(t *testing.T) {
		t.Parallel()
		inOffice(t, new(ferrule.Runtime), nil, func(o *office) {
			var wait sync.WaitGroup
			o.start(o.Context(), &wait, "s", apart, read(0, time.Minute))
			behind, held := read(3*time.Second, time.Second), write(0, time.Minute)
			o.start(o.Context(), &wait, "s", apart, behind)
			time.Sleep(time.Second)
			turn := o.rt.Session(tool.Caller{Session: "s"}).View(o.Context()).Begin(o.Context(), apart)
			turn.Add(o.calls(held)...)
			time.Sleep(4 * time.Second)
			synctest.Wait()
			wantBegan(t, -1, behind)
			turn.Interrupt()
			began := time.Now()
			wantFailure(t, turn.Wait()[0], tool.Aborted, "")
			if took := time.Since(began); took != 0 {
				t.Errorf("it ended %s later, want at once", took)
			}
			wait.Wait()
			wantBegan(t, 5*time.Second, behind)
		})
	})
	t.Run("M2 who waits for a person holds up nobody, and is kept apart when it goes on", func(t *testing.T) {
		t.Parallel()
		inbox := new(policy.Memory)
		rt := &ferrule.Runtime{Inbox: inbox, Policy: policy.Func(func(r *tool.Request) tool.Decision {
			if r.CallID == "0" {
				return tool.Decision{Verdict: tool.Ask}
			}
			return tool.Decision{Verdict: tool.Allow}
		})}
		inOffice(t, rt, nil, func(o *office) {
			var wait sync.WaitGroup
			asked, first, second := write(0, time.Second), write(time.Second, time.Second), write(9*time.Second, 5*time.Second)
			for _, e := range []*errand{asked, first, second} {
				o.start(o.Context(), &wait, "s", apart, e)
			}
			time.Sleep(10 * time.Second)
			open, err := inbox.Pending(o.Context())
			if err != nil || len(open) != 1 {
				t.Fatalf("questions = %v, %v", open, err)
			}
			done(t, inbox.Answer(o.Context(), open[0].ID, policy.Answer{Allow: true}))
			wait.Wait()
			wantBegan(t, time.Second, first)
			wantBegan(t, 9*time.Second, second)
			wantBegan(t, 14*time.Second, asked)
		})
	})
	t.Run("D7 a call that was given up holds up nobody: who is in its way is told", func(t *testing.T) {
		t.Parallel()
		inOffice(t, new(ferrule.Runtime), func(s *tool.Spec[act, string]) { s.Timeout, s.Cooperative = 10*time.Second, false }, func(o *office) {
			var wait sync.WaitGroup
			stuck, behind, later := write(0, 30*time.Second), write(time.Second, time.Second), write(31*time.Second, time.Second)
			stuck.Do = "hang"
			for _, e := range []*errand{stuck, behind, later} {
				o.start(o.Context(), &wait, "s", apart, e)
			}
			time.Sleep(20 * time.Second)
			synctest.Wait()
			wantFailure(t, stuck.res, tool.Timeout, "")
			wantFailure(t, behind.res, tool.Failed, "")
			wait.Wait()
			wantBegan(t, 31*time.Second, later)
		})
	})
	t.Run("D3 who waits under a cap holds up nobody", func(t *testing.T) {
		t.Parallel()
		rt := new(ferrule.Runtime)
		inOffice(t, rt, nil, func(o *office) {
			capped := doing(writerTool("capped"), func(context.Context, tool.Args) (tool.Result, error) {
				time.Sleep(10 * time.Second)
				return tool.Result{}, nil
			})
			capped.AtOnce = 1
			done(t, rt.Add(checkedTool(t, capped)))
			var wait sync.WaitGroup
			for _, session := range []string{"other", "s"} { // of two that may not run at once, the second waits
				wait.Go(func() {
					rt.Session(tool.Caller{Session: session}).View(o.Context()).DoTurn(o.Context(), apart, tool.Call{Name: "capped"})
				})
				synctest.Wait()
			}
			free := write(time.Second, time.Second)
			o.start(o.Context(), &wait, "s", apart, free)
			wait.Wait()
			wantBegan(t, time.Second, free)
		})
	})
}

func TestApartCosts(t *testing.T) {
	uncounted(t)
	d := readerTool("read")
	d.Cooperative, d.Repeatable = true, true
	v := viewWith(t, new(ferrule.Runtime), d)
	ctx, call := t.Context(), tool.Call{Name: "read"}
	plain := testing.AllocsPerRun(200, func() { v.Do(ctx, call) })
	alone := testing.AllocsPerRun(200, func() { v.DoTurn(ctx, ferrule.TurnOptions{Apart: true}, call) })
	if alone > plain {
		t.Errorf("M2 a turn apart that meets no other: %g allocations, want %g as for any", alone, plain)
	}
}

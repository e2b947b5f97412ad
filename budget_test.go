package ferrule_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// given is a stream of these calls.
func given(calls ...tool.Call) iter.Seq2[tool.Call, error] {
	return func(yield func(tool.Call, error) bool) {
		for _, c := range calls {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// times is a call of that tool, so many times.
func times(n int, name string) []tool.Call { return slices.Repeat([]tool.Call{{Name: name}}, n) }

// sizes are how many characters results have, with all notices.
func sizes(results []tool.Result) (list []int) {
	for _, res := range results {
		list = append(list, len([]rune(res.String())))
	}
	return list
}

// all are the results of a stream.
func all(t testing.TB, results iter.Seq2[tool.Result, error]) (list []tool.Result) {
	t.Helper()
	for res, err := range results {
		if err != nil {
			t.Error(err)
			continue
		}
		list = append(list, res)
	}
	return list
}

func TestBudget(t *testing.T) {
	t.Parallel()
	text := logOf(10_000)
	t.Run("O6 in a stream it counts characters, not bytes", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, &ferrule.Runtime{TurnChars: 100}, fixed("long", sayText(strings.Repeat("€", 30))))
		if got := sizes(all(t, v.Stream(t.Context(), given(times(3, "long")...)))); !slices.Equal(got, []int{30, 30, 30}) {
			t.Errorf("3 results of 30 characters have %d, want all of them: 100 are allowed", got)
		}
	})
	t.Run("O6 in a stream pages are outside of it, too", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory), TurnChars: 100_000}, fixed("log", sayText(text)), fixed("some", sayText(strings.Repeat("s", 40_000))))
		s := ferrule.SessionOf(v)
		page := tool.Call{Name: "read_result", Input: fmt.Appendf(nil, `{"handle":%q}`, handleIn(t, s.Call(t.Context(), "log", "")))}
		some := tool.Call{Name: "some"}
		got := sizes(all(t, s.View(t.Context()).Stream(t.Context(), given(page, some, page, some))))
		if got[0] < 60_000 || got[1] != 40_000 || got[2] < 60_000 || got[3] != 40_000 {
			t.Errorf("results have %d characters, want two pages and 40,000 twice", got)
		}
	})
	t.Run("O6 what its tool had cut is cut to an equal share, not to a preview of what nobody keeps", func(t *testing.T) {
		t.Parallel()
		d := fixed("log", sayText(text))
		d.Limit.Cut = "head"
		v := viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory)}, d)
		for i, res := range v.Do(t.Context(), times(4, "log")...) {
			if !strings.HasSuffix(res.String(), "showing first 50000]") {
				t.Errorf("result %d ends with %q, want a quarter of 200,000 characters", i, res.String()[len(res.String())-60:])
			}
		}
	})
	t.Run("O6 a store that fails costs no more than none", func(t *testing.T) {
		t.Parallel()
		shown := func(rt *ferrule.Runtime) []int {
			return sizes(viewWith(t, rt, fixed("log", sayText(strings.Repeat("x", 60_000)))).Do(t.Context(), times(4, "log")...))
		}
		if broken, none := shown(&ferrule.Runtime{Blobs: brokenBlobs{errors.New("no space left on device")}}), shown(new(ferrule.Runtime)); !slices.Equal(broken, none) {
			t.Errorf("with a store that fails %d characters are shown, with none %d", broken, none)
		}
	})
	t.Run("O6 a store that hangs costs a turn seconds, once", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			v := viewWith(t, &ferrule.Runtime{Blobs: &oddBlobs{put: hang}}, fixed("log", sayText(strings.Repeat("x", 60_000))))
			began := time.Now()
			got := v.Do(t.Context(), times(20, "log")...)
			if took := time.Since(began); took > 20*time.Second || strings.Contains(fmt.Sprint(got), "handle") {
				t.Errorf("20 results took %s, want the 10 s of a store, and a second", took)
			}
		})
	})
	t.Run("O6 a turn that was handed back hands out the same when it goes on", func(t *testing.T) {
		t.Parallel()
		asks := readerTool("asks")
		asks.Approval = tool.AskAlways
		v := viewWith(t, &ferrule.Runtime{TurnChars: 1000, Inbox: new(policy.Memory)}, fixed("log", sayText(strings.Repeat("x", 5000))), asks)
		wait := func(number int) (*ferrule.Turn, string) {
			turn := v.Begin(t.Context(), ferrule.TurnOptions{HandBack: true, Number: number})
			turn.Add(tool.Call{Name: "log"}, tool.Call{Name: "asks"})
			return turn, turn.Wait()[0].String()
		}
		turn, first := wait(0)
		if _, second := wait(turn.Number()); second != first || len(first) > 1100 {
			t.Errorf("handed out %d characters, then %d, want 1,000 and a notice both times", len(first), len(second))
		}
	})
	t.Run("O6 all who wait for a turn get its results as they are within it", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			slow := &oddBlobs{put: func() { time.Sleep(5 * time.Second) }}
			turn := viewWith(t, &ferrule.Runtime{TurnChars: 1000, Blobs: slow}, fixed("log", sayText(strings.Repeat("x", 5000)))).Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(times(2, "log")...)
			for range 2 {
				go func() {
					if got := sizes(turn.Wait()); got[0] > 1000 || got[1] > 1000 {
						t.Errorf("results have %d characters, 1,000 are allowed in all", got)
					}
				}()
			}
		})
	})
	t.Run("O6 the observer is told what was left of a result that has ended already", func(t *testing.T) {
		t.Parallel()
		r := new(recorder)
		res := callOne(t, &ferrule.Runtime{Observe: r.observe, TurnChars: 100}, fixed("log", sayText(strings.Repeat("x", 500))), "")
		last := r.events[len(r.events)-1]
		if last.Kind != audit.Cut || last.By != "budget" || last.Text != "100 of 500 characters are left" || last.text != res.String() {
			t.Errorf("the last event = %+v, want the cut and the result as it was handed out: %q", last, res)
		}
	})
	t.Run("O6 a budget below none is no budget that was meant: the default holds, and it is a finding", func(t *testing.T) {
		t.Parallel()
		d := fixed("log", sayText(strings.Repeat("x", 300_000)))
		d.Limit = tool.Limit{Chars: tool.Unlimited, Tokens: tool.Unlimited}
		rt := &ferrule.Runtime{TurnChars: -7}
		if res := callOne(t, rt, d, ""); len(res.String()) > 200_100 {
			t.Errorf("%d characters are left", len(res.String()))
		}
		if !slices.ContainsFunc(rt.Findings(), func(f ferrule.Finding) bool { return f.Name == "Runtime.TurnChars" }) {
			t.Errorf("findings = %v, want TurnChars among them", rt.Findings())
		}
	})
	for _, cut := range []string{"", "head"} {
		t.Run(fmt.Sprintf("C1 what is told of a loop is no part of a result that is cut (%q), nor cut itself", cut), func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat("x", 5000)
			d := fixed("log", sayText(text))
			d.Limit.Cut = cut
			s := ferrule.SessionOf(viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory), TurnChars: 4900}, d))
			var res tool.Result
			for range 5 {
				res = s.View(t.Context()).Do(t.Context(), tool.Call{Name: "log"})[0]
			}
			if last := res.Content[len(res.Content)-1].Text; last != "You have made this call 5 times with the same result. Change the input or stop." {
				t.Errorf("the last block = %q, want it to tell of the loop", last)
			}
			if cut == "head" {
				return
			}
			if got := readAll(t, s, handleIn(t, res)); got != text {
				t.Errorf("kept %d characters, want the 5,000 of the result", len(got))
			}
		})
	}
	t.Run("O6 settings that come too late are refused", func(t *testing.T) {
		t.Parallel()
		for name, set := range map[string]func(*ferrule.Runtime){
			"Blobs":       func(rt *ferrule.Runtime) { rt.Blobs = new(durable.Memory) },
			"TurnChars":   func(rt *ferrule.Runtime) { rt.TurnChars = 5 },
			"CountTokens": func(rt *ferrule.Runtime) { rt.CountTokens = func(string) int { return 1 } },
			"Summarize": func(rt *ferrule.Runtime) {
				rt.Summarize = func(context.Context, *tool.Request, string) (string, error) { return "", nil }
			},
			"AllowLoop": func(rt *ferrule.Runtime) {
				rt.AllowLoop = func(context.Context, *tool.Request, int) bool { return true }
			},
		} {
			rt := new(ferrule.Runtime)
			rt.Session(tool.Caller{})
			set(rt)
			if err := rt.Add(checkedTool(t, readerTool("read"))); err == nil || !strings.Contains(err.Error(), "Runtime."+name+" was set after") {
				t.Errorf("%s: got %v, want it refused", name, err)
			}
		}
	})
}

// oddBlobs is a store that takes its time, or worse, and then does its work.
type oddBlobs struct {
	durable.Memory
	put, sweep, holds func()
}

// hang is what a store does that is on a disk which is gone.
func hang() { time.Sleep(90 * time.Second) }

func (o *oddBlobs) Put(ctx context.Context, owner string, n durable.Note, parts ...string) (string, error) {
	if o.put != nil {
		o.put()
	}
	return o.Memory.Put(ctx, owner, n, parts...)
}

func (o *oddBlobs) Sweep(ctx context.Context, before time.Time) (int, error) {
	if o.sweep != nil {
		o.sweep()
	}
	return o.Memory.Sweep(ctx, before)
}

func (o *oddBlobs) Holds(ctx context.Context, owner string) (bool, error) {
	if o.holds != nil {
		o.holds()
	}
	return o.Memory.Holds(ctx, owner)
}

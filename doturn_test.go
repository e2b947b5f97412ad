package ferrule_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestDoTurn(t *testing.T) {
	t.Parallel()
	t.Run("L7 a turn that hands back what waits, and the one that goes on", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			inbox := new(policy.Memory)
			v := viewWith(t, &ferrule.Runtime{Inbox: inbox}, writerTool("write"))
			call := tool.Call{Name: "write"}
			wantFailure(t, v.DoTurn(t.Context(), ferrule.TurnOptions{HandBack: true}, call)[0], tool.Suspended, "")
			open, err := inbox.Pending(t.Context())
			if err != nil || len(open) != 1 {
				t.Fatalf("questions = %v, %v", open, err)
			}
			if err := inbox.Answer(t.Context(), open[0].ID, policy.Answer{Allow: true}); err != nil {
				t.Fatal(err)
			}
			if res := v.DoTurn(t.Context(), ferrule.TurnOptions{Number: 1}, call)[0]; res.Err != nil {
				t.Errorf("the turn that goes on: %v", res.Err)
			}
		})
	})
	t.Run("P6 who asks says whether another process could go on", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			inbox := new(policy.Memory)
			v := viewWith(t, &ferrule.Runtime{Inbox: inbox}, writerTool("write"))
			for _, ends := range []bool{true, false} {
				wantFailure(t, v.DoTurn(t.Context(), ferrule.TurnOptions{HandBack: true, Ends: ends}, tool.Call{Name: "write"})[0], tool.Suspended, "")
			}
			open, err := inbox.Pending(t.Context())
			if err != nil || len(open) != 2 || !open[0].Here || open[1].Here {
				t.Errorf("got %+v, %v, want one that is over with this process, and one that is not", open, err)
			}
		})
	})
	t.Run("D3 a turn with a limit of its own", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			v := viewWith(t, new(ferrule.Runtime), slowTool("sleep", time.Second))
			began := time.Now()
			v.DoTurn(t.Context(), ferrule.TurnOptions{Limit: 1}, tool.Call{Name: "sleep"}, tool.Call{Name: "sleep"})
			if took := time.Since(began); took != 2*time.Second {
				t.Errorf("two calls took %s, want one after the other", took)
			}
		})
	})
}

func TestTurnObserver(t *testing.T) {
	t.Parallel()
	progress := streamer(func(e *tool.Env) {
		e.Progress(1, 2, "half")
		write(e, "text")
	})
	call := tool.Call{ID: "call_1", Name: "stream"}
	want := []string{"call_1/stream 1 of 2 half", "call_1/stream stdout text", "call_1 ended"}
	for name, rt := range map[string]*ferrule.Runtime{
		"alone":                  {},
		"beside that of all":     {Observe: func(audit.Event) {}},
		"where that of all dies": {Observe: func(audit.Event) { panic("oh") }},
		"beside a log":           {Log: new(audit.Memory)},
	} {
		t.Run("B1 the observer of a turn hears what its calls say, "+name, func(t *testing.T) {
			t.Parallel()
			v := viewWith(t, rt, progress)
			first, other := new(heardOf), new(heardOf)
			v.DoTurn(t.Context(), ferrule.TurnOptions{Observe: first.observe}, call)
			if got := first.all(); !slices.Equal(got, want) {
				t.Errorf("heard %q, want %q", got, want)
			}
			v.DoTurn(t.Context(), ferrule.TurnOptions{Observe: other.observe}, call, tool.Call{ID: "call_2", Name: "none"})
			if got := other.all(); len(got) != 4 || len(first.all()) != 3 {
				t.Errorf("of the second turn its own observer heard %q, the first %q", got, first.all())
			}
			v.Do(t.Context(), call)
			if got := len(other.all()) + len(first.all()); got != 7 {
				t.Errorf("of a turn that is not theirs they heard %d things, want none", got-7)
			}
		})
	}
	t.Run("U1 it is told every phase, as the runtime's is", func(t *testing.T) {
		t.Parallel()
		var all, own []audit.Kind
		rt := &ferrule.Runtime{Observe: func(e audit.Event) {
			if e.Request != nil {
				all = append(all, e.Kind)
			}
		}}
		v := viewWith(t, rt, readerTool("read"))
		v.DoTurn(t.Context(), ferrule.TurnOptions{Observe: func(e audit.Event) { own = append(own, e.Kind) }}, tool.Call{Name: "read"})
		if !slices.Equal(all, own) || !slices.Contains(own, audit.Started) {
			t.Errorf("told %q, want %q", own, all)
		}
	})
	t.Run("L6 an observer that panics changes nothing", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, new(ferrule.Runtime), progress)
		var told atomic.Int64
		res := v.DoTurn(t.Context(), ferrule.TurnOptions{Observe: func(audit.Event) { told.Add(1); panic("oh") }}, call)[0]
		if res.Err != nil || told.Load() < 4 {
			t.Errorf("result = %v after %d events", res.Err, told.Load())
		}
	})
	t.Run("B1 one that is slow loses nothing but what Runtime.Observe would", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			h := &heardOf{slow: time.Second / 10}
			d := streamer(func(e *tool.Env) {
				for i := range 5 {
					e.Progress(float64(i), 5, "")
				}
			})
			viewWith(t, &ferrule.Runtime{Blobs: new(durable.Memory)}, d).DoTurn(t.Context(), ferrule.TurnOptions{Observe: h.observe}, call)
			if got := h.all(); len(got) != 6 || got[5] != "call_1 ended" {
				t.Errorf("heard %q, want 5 updates and the end when the turn returns", got)
			}
		})
	})
}

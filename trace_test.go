package ferrule_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

type tracedKey struct{}

func TestTrace(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var heard []string
	rt := &ferrule.Runtime{
		Policy: policy.AllowOwn{},
		Hooks: []ferrule.Hook{{Name: "look", Only: ferrule.Filter{Names: []string{"work"}}, Input: func(ctx context.Context, r *tool.Request) (ferrule.Change, error) {
			if ctx.Value(tracedKey{}) != r.ID {
				t.Errorf("a hook sees %v in its context, want what the trace put there", ctx.Value(tracedKey{}))
			}
			return ferrule.Change{}, nil
		}}},
		Trace: func(ctx context.Context, r *tool.Request) (context.Context, func(audit.Event)) {
			if r.Name == "panics" {
				panic("oh")
			}
			return context.WithValue(ctx, tracedKey{}, r.ID), func(e audit.Event) {
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, fmt.Sprintf("%s %s", e.Request.Name, e.Kind))
				if e.Kind == audit.Decided {
					panic("oh")
				}
			}
		},
	}
	own := func(name string, run func(context.Context, struct{}) (string, error)) *tool.Tool {
		made, err := tool.New(tool.Info{Name: name, Description: "Do something."}, run)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	err := rt.Add(
		own("work", func(ctx context.Context, _ struct{}) (string, error) {
			tool.From(ctx).Progress(1, 2, "on")
			return fmt.Sprint(ctx.Value(tracedKey{}) == tool.From(ctx).Request().ID), nil
		}),
		own("panics", func(context.Context, struct{}) (string, error) { return "ran", nil }))
	if err != nil {
		t.Fatal(err)
	}
	view := rt.Session(tool.Caller{}).View(t.Context())
	do := func(name string) string { return view.Do(t.Context(), tool.Call{Name: name})[0].String() }
	t.Run("U2 a tool and the hooks see the trace of their call, which hears of it", func(t *testing.T) {
		if got := do("work"); got != "true" {
			t.Errorf("result = %q, want that the tool saw it", got)
		}
		want := []string{"work requested", "work decided", "work started", "work ended"}
		if mu.Lock(); !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
		heard = nil
		mu.Unlock()
	})
	t.Run("U2 a call that is no tool's is heard of too", func(t *testing.T) {
		do("nothing")
		if want := []string{"nothing requested", "nothing ended"}; !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
	})
	t.Run("U2 a trace that panics is nobody's failure", func(t *testing.T) {
		if do("panics") != "ran" {
			t.Error("the call failed")
		}
	})
}

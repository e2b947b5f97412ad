package ferrule

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// A rare world leads to a corner that random ones seldom reach.
var rareWorlds = []struct {
	name  string
	world world
}{
	{"D6 a call that runs on the goroutine of who waits does not begin after the host's stop", world{
		Turns: []worldTurn{{Calls: []worldCall{{Name: "careful", Do: "sleep", MS: 10, Path: "table:x"}}, Event: 1, At: 3 * time.Millisecond}},
	}},
	{"D6 a call whose tool has asked a person does not run anew after a stop", world{
		Turns: []worldTurn{{Calls: []worldCall{{Name: "permits", Do: "suspend", MS: 100, Path: "table:x"}}, Event: 3, At: 180 * time.Millisecond}},
	}},
	{"L2 a call that became ready while its question was put waits for one that moved in front of it meanwhile", world{
		Answer: true, Turns: []worldTurn{{Limit: 2, Event: 8, Calls: []worldCall{
			{Name: "mover", Do: "long", MS: 10, Path: "file:/c"}, {Name: "shared", Do: "sleep", MS: 1}, {Name: "teller", Do: "ok", MS: 16, Path: "table:x"},
		}}},
	}},
	{"L9 a call that begins before its question was put early is asked about once", world{
		Delay: time.Second, Turns: []worldTurn{{Limit: 1, Event: 8, Calls: []worldCall{
			{Name: "shared", Do: "sleep", MS: 1}, {Name: "asks", Do: "ok", MS: 10, Path: "table:x"}, {Name: "asks", Do: "ok", MS: 16, Path: "table:x"},
		}}},
	}},
	{"L2 a call that moves behind one which waits for a person gives its place at a cap back", world{
		Delay: time.Second, PerSource: 1, Turns: []worldTurn{{Limit: 2, Event: 8, Calls: []worldCall{
			{Name: "teller", Do: "ok", MS: 2, Path: "file:/a"}, {Name: "mover", Do: "ok", MS: 2, Path: "table:x"},
		}}},
	}},
	{"H1 what a person put in, and was handed back before a security hook saw it, is seen by it when the turn goes on", world{
		Delay: time.Second, Person: []int{1, 3}, Hooks: []worldHook{{Part: "input", Does: "nothing", Security: true}},
		Turns: []worldTurn{{Limit: 5, HandBack: true, Event: 8, Calls: []worldCall{
			{Name: "teller", Do: "ok", MS: 12, Path: "file:/c"}, {Name: "teller", Do: "ok", MS: 2, Path: "file:/a"}, // of which the first is never answered, the second edited
		}}},
	}},
	{"L7 nothing begins in a turn that is over", world{
		Turns: []worldTurn{{After: true, Event: 8, Calls: []worldCall{{Name: "shared", Do: "sleep", MS: 1}}}},
	}},
	{"L9 a call that waits for a place at its cap has its question put once, and one result", world{
		Delay: time.Second, Policy: []int{1}, Turns: []worldTurn{{Limit: 2, Event: 2, At: 15 * time.Millisecond, Calls: append(
			slices.Repeat([]worldCall{{Name: "capped", Do: "ok", MS: 10, Path: "table:x"}}, 4), worldCall{Name: "capped", Do: "ok", MS: 20, Path: "table:x"},
		)}},
	}},
	{"L7 an answer that comes as its turn is handed back runs no call that is handed back", world{
		Turns: []worldTurn{{Limit: 5, HandBack: true, Event: 8, Calls: slices.Repeat([]worldCall{{Name: "asks", Do: "ok"}}, 5)}},
	}},
}

func TestRareWorlds(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	for _, tt := range rareWorlds {
		t.Run(tt.name, func(t *testing.T) {
			w := tt.world
			w.Expiry = patience
			for _, list := range []*[]int{&w.Policy, &w.Person, &w.Inbox} {
				if *list == nil {
					*list = []int{9} // yes, and at once
				}
			}
			for range 20 {
				synctest.Test(t, func(t *testing.T) {
					for _, fault := range st.play(&w) {
						t.Error(fault)
					}
				})
			}
		})
	}
}

func TestTurnIsUsedAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		looks bool
	}{
		{"D8 a turn of one call that ran on the goroutine of who waits is used again", false},
		{"D8 a turn is not used again when somebody may know of it by the context of its call", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			made, err := tool.New(tool.Info{Name: "look", Description: "Looks at its context.", Cooperative: true}, func(ctx context.Context, _ struct{}) (string, error) {
				if tt.looks {
					return "", ctx.Err()
				}
				return "", nil
			})
			if err != nil {
				t.Fatal(err)
			}
			rt := &Runtime{Policy: policy.AllowOwn{}}
			if err := rt.Add(made); err != nil {
				t.Fatal(err)
			}
			turn := rt.Session(tool.Caller{}).View(t.Context()).Begin(t.Context(), TurnOptions{})
			turn.quiet = true
			turn.Add(tool.Call{Name: "look"})
			turn.Wait()
			turn.recycle()
			if kept := turn.set != nil; kept != tt.looks {
				t.Errorf("the turn was kept: %v, want %v", kept, tt.looks)
			}
		})
	}
}

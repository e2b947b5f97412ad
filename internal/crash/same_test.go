package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ferrule-dev/ferrule"
)

// sameTurn is the number of a turn that two processes go on with.
const sameTurn = 7

// sameSteps are its calls: some of each kind.
func sameSteps() []step {
	l := new(lab)
	return append(append(l.kinds(), l.kinds()...), l.kinds()...)
}

// childSame goes on with a turn when it is told to, and says what came of it.
func childSame(ctx context.Context, o orders) error {
	w, err := openWorld(ctx, o.file(storeFile), o.effects())
	if err != nil {
		return err
	}
	view := w.runtime.Session(session()).View(ctx)
	fmt.Println("open")
	var word string
	if _, err := fmt.Scanln(&word); err != nil {
		return err
	}
	turn := view.Begin(ctx, ferrule.TurnOptions{Number: sameTurn})
	steps := sameSteps()
	for _, s := range steps {
		turn.Add(s.call())
	}
	for i, out := range outcomes(turn.Wait()) {
		line, err := json.Marshal(told{o.Life, steps[i], out})
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return w.close(ctx)
}

// Two processes take the same turn for theirs to go on with.
func TestSameTurn(t *testing.T) {
	t.Parallel()
	t.Run("J2 two processes go on with one turn: each call runs once, and both have its result", func(t *testing.T) {
		t.Parallel()
		for range 1 + *rounds/10 {
			runs, all := side(t, "same", false)
			if want := 2 * len(sameSteps()); len(all) != want {
				t.Errorf("got %d results, want %d", len(all), want)
			}
			count, first := make(map[string]int), make(map[string]outcome)
			for _, r := range runs {
				count[r.line]++
			}
			for _, x := range all {
				s, o := x.Step, x.Outcome
				if s.trait().reads {
					continue
				}
				had, ok := first[s.ID]
				first[s.ID] = o
				switch {
				case count[s.effect()] != 1:
					t.Errorf("%s %s: ran %d times", s.Tool, s.ID, count[s.effect()])
				case s.trait().asks: // the yes is for one of them
				case o.Kind != "" || ok && had.Text != o.Text:
					t.Errorf("%s %s: got %+v and %+v", s.Tool, s.ID, had, o)
				}
			}
		}
	})
}

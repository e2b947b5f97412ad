package crash_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// heldStep is the call that a process is in the middle of.
func heldStep(name string) step {
	return step{ID: "held", Tool: name, input: input{Line: "held", On: "a"}}
}

// childHold makes one call whose tool runs until it is told to end. It says the
// number of the turn, and what came of the call.
func childHold(ctx context.Context, o orders) error {
	in := bufio.NewReader(os.Stdin)
	did := o.effects()
	did.meet = func(string) { _, _ = in.ReadString('\n') }
	w, err := openWorld(ctx, o.file(storeFile), did)
	if err != nil {
		return err
	}
	view := w.runtime.Session(session()).View(ctx)
	turn := view.Begin(ctx, ferrule.TurnOptions{})
	fmt.Println(turn.Number())
	turn.Add(heldStep(o.Tool).call())
	text, err := json.Marshal(outcomes(turn.Wait())[0])
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	_ = w.close(ctx) // of a store that others have taken from it
	return nil
}

// A process whose lock was taken away is taken for gone, though it is not. What
// it does from then on is its own affair: nobody takes it for what happened.
func TestStaleProcess(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"mark", "put", "order"} {
		for _, taken := range []bool{true, false} {
			name := fmt.Sprintf("J2 a %s of a process that was taken for dead is refused (taken over: %v)", what, taken)
			t.Run(name, func(t *testing.T) { t.Parallel(); stale(t, what, taken) })
		}
	}
	t.Run("J2 a process that is merely slow has its calls", func(t *testing.T) {
		t.Parallel()
		p, number, l := holding(t, "mark")
		left, err := l.runtime.Resume(t.Context(), durable.Place{Session: session().Session, Turn: number})
		if err != nil || len(left) != 1 || fateOf(left[0]) != durable.FateRunning {
			t.Errorf("Resume: got %+v, %v, want one that is %s", left, err, durable.FateRunning)
		}
		done := make(chan tool.Result, 1)
		go func() {
			_, results := l.do(t, number, heldStep("mark"))
			done <- results[0]
		}()
		got := p.goOn(t)
		if other := <-done; got.Kind != "" || other.Err != nil || other.String() != got.Text {
			t.Errorf("the process got %+v, who goes on with its turn %v %v", got, other, other.Err)
		}
		if n := len(l.ran(t, heldStep("mark"))); n != 1 {
			t.Errorf("ran %d times", n)
		}
	})
}

// holding is a process in the middle of a call, and a world of this process on the
// same store.
func holding(t *testing.T, what string) (p *process, number int, l *lab) {
	t.Helper()
	o := orders{Dir: t.TempDir(), Life: 1, Tool: what}
	p = start(t, "hold", o)
	if _, err := fmt.Sscan(p.line(), &number); err != nil {
		t.Fatalf("%v: %s", err, p.stain.String())
	}
	for { // until its tool runs
		if _, err := os.Stat(o.file(effectsFile)); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	l = &lab{path: o.file(storeFile), did: o.effects()}
	locks, err := filepath.Glob(l.path + "-owners/*")
	if err != nil || len(locks) != 1 && what != "look" {
		t.Fatalf("got the locks %q, %v, want one", locks, err)
	}
	p.locks = locks
	l.open(t)
	t.Cleanup(func() { _ = l.close(context.Background()) })
	return p, number, l
}

// A process was killed in the middle of a call, and another goes on with its turn:
// with the same call, or with one that is not quite the same.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	other := func(s *step, _ *effects) { s.Line = "another" }
	key := func(_ *step, e *effects) { e.key = " of another day" }
	about := func(_ *step, e *effects) { e.about = " And something else." }
	same := func(*step, *effects) {}
	for _, tt := range []struct {
		name, what string
		change     func(*step, *effects)
		kind       tool.Kind
		runs       int // with the one that was cut off
	}{
		{"J2 a plain call is not known", "mark", same, tool.OutcomeUnknown, 1},
		{"J2 a plain call beside others is not known", "note", same, tool.OutcomeUnknown, 1},
		{"J2 a call whose key fails is a plain one", "odd", same, tool.OutcomeUnknown, 1},
		{"J2 a call that was asked for is not known", "sign", same, tool.OutcomeUnknown, 1},
		{"J2 a read runs again", "look", same, "", 2},
		{"J2 an idempotent call runs again", "put", same, "", 2},
		{"J2 a keyed call runs again", "order", same, "", 2},
		{"J1 other arguments are an error, never a hit", "put", other, tool.Failed, 1},
		{"J1 other arguments of a plain call", "mark", other, tool.Failed, 1},
		{"J1 another definition is an error, never a hit", "order", about, tool.OutcomeUnknown, 1},
		{"J2 a plain call whose definition has changed since is not known", "mark", about, tool.OutcomeUnknown, 1},
		{"J2 a call whose key is another now may be another effect", "order", key, tool.OutcomeUnknown, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, number, l := holding(t, tt.what)
			_ = p.Process.Kill()
			_ = p.Wait()
			s := heldStep(tt.what)
			if err := l.close(t.Context()); err != nil {
				t.Fatal(err)
			}
			tt.change(&s, &l.did)
			l.open(t)
			for range 2 { // what is found does not change by looking
				_, results := l.do(t, number, s)
				var kind tool.Kind
				if results[0].Err != nil {
					kind = results[0].Err.Kind
				}
				if kind != tt.kind {
					t.Errorf("got %q %v %v, want %q", kind, results[0], results[0].Err, tt.kind)
				}
				runs, _, err := readEffects(l.did.path)
				if tt.what == "look" {
					continue // as often as it is asked for
				}
				if err != nil || len(runs) != tt.runs {
					t.Errorf("ran %d times, %v, want %d", len(runs), err, tt.runs)
				}
			}
		})
	}
}

// goOn has the tool of a process end, and gives what came of its call.
func (p *process) goOn(t *testing.T) (got outcome) {
	t.Helper()
	if _, err := p.in.Write([]byte("go on\n")); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(p.line()), &got); err != nil {
		t.Fatalf("%v: %s", err, p.stain.String())
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%v: %s", err, p.stain.String())
	}
	return got
}

func fateOf(r durable.Record) durable.Fate {
	fate, _ := r.Fate()
	return fate
}

func stale(t *testing.T, what string, taken bool) {
	t.Helper()
	p, number, l := holding(t, what)
	if err := os.Remove(p.locks[0]); err != nil {
		t.Fatal(err)
	}
	s := heldStep(what)
	var other tool.Result
	if taken {
		_, results := l.do(t, number, s)
		other = results[0]
		if s.repeats() && other.Err != nil || !s.repeats() && (other.Err == nil || other.Err.Kind != tool.OutcomeUnknown) {
			t.Errorf("who goes on with its turn: got %v %v", other, other.Err)
		}
	}
	if got := p.goOn(t); got.Kind != tool.OutcomeUnknown {
		t.Errorf("the process that was taken for dead: got %+v, want %s", got, tool.OutcomeUnknown)
	}
	for range 2 { // also for who starts after that
		left, err := l.runtime.Resume(t.Context(), durable.Place{Session: session().Session, Turn: number})
		if err != nil || len(left) != 1 {
			t.Fatalf("Resume: got %+v, %v", left, err)
		}
		want := durable.FateUnknown
		switch {
		case s.repeats() && taken:
			want = durable.FateDone
			if r := left[0].Result; r == nil || r.String() != other.String() {
				t.Errorf("recorded is %v, want %q", r, other)
			}
		case s.repeats():
			want = durable.FateAgain
		}
		if got := fateOf(left[0]); got != want {
			t.Errorf("Resume: got %s, want %s", got, want)
		}
		if err := l.close(t.Context()); err != nil {
			t.Error(err)
		}
		l.open(t)
	}
}

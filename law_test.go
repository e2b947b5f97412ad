package ferrule

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

// cases is how many random cases the laws are held against; the outcome of a
// twentieth of as many is compared with that of calls one by one. That is for a
// quick look, with the race detector; make laws takes 10,000, and a million
// turns took seven minutes:
//
//	go test -run 'TestLaws|TestSameAsSerial' -timeout 0 -cases 1000000 .
var cases = flag.Int("cases", 120, "random cases for each law")

// check is rapid.Check for at least so many cases.
func check(t *testing.T, n int, f func(*rapid.T)) {
	t.Helper()
	done := 0
	for done < n && !t.Failed() {
		rapid.Check(t, func(r *rapid.T) {
			done++
			f(r)
		})
	}
}

// Every call has exactly one result, at its place, with its id; nothing runs
// that was not checked, judged and allowed as it ran, or that was stopped, or
// twice; calls that conflict keep their order and never overlap; no cap is
// passed; nothing leaves uncleaned or unlimited; and once the tools have returned
// no place is taken and no goroutine left, or the bubble would not end.
func TestLaws(t *testing.T) {
	t.Parallel()
	t.Run("L8 N calls in, N results out, in order, whatever happens; no way leads round a gate", func(t *testing.T) {
		st := newStage(t)
		check(t, *cases, func(r *rapid.T) {
			w := drawWorld(r)
			var faults []string
			synctest.Test(t, func(*testing.T) { faults = st.play(w) })
			if len(faults) > 0 {
				r.Fatalf("%s\n%+v", strings.Join(faults, "\n"), *w)
			}
		})
	})
}

// stage is a runtime that worlds are played on, one after another: making the
// tools takes longer than most of them last.
type stage struct {
	rt    *Runtime
	box   *inbox
	own   map[string]*tool.Tool
	world *world
	see   *witness
	vault *secret.Vault

	journal *durable.MemoryJournal // nil: there is none
}

// told are values that most results would hold, were it not for phase 10.
func told() []string { return []string{"done", "stopped", "it failed", "instead"} }

// word4 is a source of a word.
type word4 string

func (w word4) Value(context.Context) (secret.Value, error) { return secret.NewValue([]byte(w)), nil }
func (word4) String() string                                { return "a word" }

// tells reports whether a result holds such a value.
func tells(r tool.Result) bool {
	text := r.String()
	if r.Err != nil {
		text += r.Err.Error()
		for err := error(r.Err); err != nil; err = errors.Unwrap(err) {
			text += err.Error()
		}
	}
	return slices.ContainsFunc(told(), func(value string) bool { return strings.Contains(text, value) })
}

func newStage(t *testing.T) *stage {
	t.Helper()
	st := &stage{own: make(map[string]*tool.Tool)}
	st.rt = &Runtime{Policy: policy.Func(st.rules)}
	entries := make(map[string]secret.Entry)
	for i, value := range told() {
		entries[fmt.Sprint(i)] = secret.Entry{Source: word4(value), Tools: []string{"*"}}
	}
	var err error
	if st.vault, err = secret.NewVault(entries); err != nil {
		t.Fatal(err)
	}
	for name := range entries {
		if err := st.vault.Use(t.Context(), "a", []string{name}, name, func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	own, foreign := st.tools(t)
	if err := errors.Join(st.rt.Add(own...), st.rt.Set(tool.Source{Name: "foreign", Trust: tool.MCP}, foreign...)); err != nil {
		t.Fatal(err)
	}
	for _, made := range own {
		st.own[made.Name] = made
	}
	return st
}

// set gives the runtime the settings of a world. A host cannot do that: nothing
// of the world before it is left.
func (st *stage) set(w *world) {
	st.world, st.see = w, newWitness(st)
	st.box = &inbox{world: w, see: st.see}
	s := st.rt.freeze()
	s.inbox, s.siblings, s.expiry = st.box, w.Stops, w.Expiry
	s.answer, s.decide, s.observe = nil, nil, nil
	s.ledger, s.mode, s.rates, s.workspace = new(policy.Memory), w.Mode, nil, "/a"
	if w.Rates {
		s.rates = []policy.Rate{{Calls: lawCalls, Per: time.Minute}}
	}
	if w.Answer {
		s.answer = st.answer
	}
	if w.Decide {
		s.decide = st.decide
	}
	if w.Observed {
		s.observe = st.see.observe
	}
	s.journal = nil
	if st.journal = nil; w.Journal {
		st.journal = new(durable.MemoryJournal)
		s.journal = st.journal
	}
	s.sources, s.tenants = nil, nil
	if w.PerSource > 0 {
		s.sources = gates(map[string]int{"": w.PerSource, "foreign": w.PerSource})
	}
	if w.PerTenant > 0 {
		s.tenants = gates(map[string]int{"": w.PerTenant})
	}
	s.secrets = st.vault
	st.rt.SetFallback(nil)
	if w.Fallback {
		st.rt.SetFallback(st.fallback)
	}
}

// play runs a world and says what is wrong with what came of it.
func (st *stage) play(w *world) []string {
	st.set(w)
	personCtx, gone := context.WithCancel(context.Background())
	defer gone()
	go st.box.person(personCtx)
	var turns sync.WaitGroup
	for i := range w.Turns {
		turns.Go(func() { st.playTurn(i) })
	}
	turns.Wait()
	gone()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for i := range w.Turns {
		if err := st.rt.Session(st.caller(i, 0)).Close(ctx); err != nil {
			st.see.fault("close: %v", err)
		}
	}
	time.Sleep(time.Hour) // the clock stands still once this function returns
	st.see.places(st.rt.freeze())
	if st.journal != nil {
		left, err := st.journal.Open(context.Background(), durable.Place{})
		for _, r := range left {
			st.see.fault("the journal says that call %s of %s runs, %v", r.ID, r.Tool, err)
		}
	}
	return st.see.faults
}

// caller is who calls in a round of a turn.
func (st *stage) caller(turn, round int) tool.Caller {
	c := tool.Caller{Session: "first", Agent: fmt.Sprint(turn), Run: fmt.Sprint(round)}
	if turn > 0 && st.world.Turns[turn].Apart {
		c.Session = "second"
	}
	return c
}

// rounds is how often a turn goes on; in the last it waits.
const rounds = 3

// playTurn plays a turn until nothing of it is suspended.
func (st *stage) playTurn(turn int) {
	wt := &st.world.Turns[turn]
	calls := make([]tool.Call, len(wt.Calls))
	for i, c := range wt.Calls {
		calls[i] = tool.Call{ID: c.ID, Name: c.Name, Input: c.input()}
	}
	var before []tool.Result
	number := 0
	for round := range rounds {
		o := TurnOptions{Number: number, HandBack: wt.HandBack && round < rounds-1, Limit: wt.Limit, Hooks: st.hooks(round)}
		var results []tool.Result
		results, number = st.playRound(st.caller(turn, round), wt, calls, o)
		st.see.judge(turn, calls, results, before, o.HandBack)
		if !slices.ContainsFunc(results, suspended) {
			return
		}
		before = results
		time.Sleep(st.world.Delay + 3*time.Second)
	}
}

func suspended(r tool.Result) bool { return r.Err != nil && r.Err.Kind == tool.Suspended }

func (st *stage) playRound(c tool.Caller, wt *worldTurn, calls []tool.Call, o TurnOptions) (results []tool.Result, number int) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	t := st.rt.Session(c).View(ctx).begin(ctx, o)
	number = t.number
	t.quiet = wt.Event < 2 // as Do begins it: nobody else knows it
	round := roundOf(c.Agent, c.Run)
	t.Add(calls[:len(calls)-wt.Split]...)
	var event sync.WaitGroup
	event.Go(func() {
		time.Sleep(wt.At)
		switch wt.Event {
		case 1, 2:
			cancel(errors.New("the host stops"))
			st.see.stopped(round)
		case 3, 4:
			st.see.stopped(round)
			t.Interrupt()
		case 5:
			if id := t.middle(); t.Stop(id) {
				st.see.stopped(id)
			}
		}
	})
	if wt.Split > 0 {
		time.Sleep(wt.At / 2)
		t.Add(calls[len(calls)-wt.Split:]...)
	}
	hung := time.AfterFunc(3*time.Hour, func() { panic(t.state() + fmt.Sprintf("\n%+v", *st.world)) })
	results = t.Wait()
	hung.Stop()
	st.see.note(func() { st.see.results[round] = true })
	event.Wait()
	switch {
	case wt.Event < 2:
		t.recycle()
	case wt.After && len(calls) > 0:
		st.see.after(t, calls[0])
		fallthrough
	default:
		st.see.settled(t)
	}
	return results, number
}

// after: a call that is added to a turn that is over is aborted.
func (w *witness) after(t *Turn, c tool.Call) {
	t.Add(c)
	all := t.Wait()
	if last := all[len(all)-1]; last.CallID != c.ID || last.Err == nil {
		w.fault("a call that was added when the turn was over has the result %v", last)
	}
}

// settled: nothing is left of a turn that is over.
func (w *witness) settled(t *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open != 0 || t.running != 0 || t.asking != 0 || t.workers != 0 || t.helpers != 0 {
		w.fault("left over: %s", t.counts())
	}
}

// middle is Ferrule's id of some call.
func (t *Turn) middle() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.calls) == 0 {
		return ""
	}
	return t.calls[len(t.calls)/2].first.ID
}

// judge holds the results of a round against the second law, and against those
// of the round before: what is done stays.
func (w *witness) judge(turn int, calls []tool.Call, results, before []tool.Result, handed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(results) != len(calls) {
		w.bad("got %d results for %d calls", len(results), len(calls))
		return
	}
	ids := make(map[string]bool)
	for i, r := range results {
		text := tool.TextOf(r.Content)
		switch {
		case r.CallID != calls[i].ID:
			w.bad("result %d has the id %q, want %q", i, r.CallID, calls[i].ID)
		case r.ID == "" || ids[r.ID] || !strings.HasSuffix(r.ID, fmt.Sprintf(".%d", i)):
			w.bad("result %d has Ferrule's id %q", i, r.ID)
		case r.Err != nil && (!r.Err.Kind.Known() || r.Err.Kind == tool.Pending || suspended(r) && !handed):
			w.bad("result %d has the kind %q", i, r.Err.Kind)
		case tells(r):
			w.bad("result %d did not pass phase 10: %+v", i, r)
		case len(text) > 2*1000+200:
			w.bad("result %d did not pass phase 11: %d bytes", i, len(text))
		case w.st.world.Observed && w.ended[r.ID] != 1:
			w.bad("an observer was told %d times of result %d", w.ended[r.ID], i)
		case before != nil && !suspended(before[i]) && r.String() != before[i].String():
			w.bad("result %d was %.80q and became %.80q", i, before[i], r)
		}
		ids[r.ID] = true
		w.done[place(fmt.Sprint(turn), i)] = !suspended(r)
	}
}

// places: all places at all caps are free.
func (w *witness) places(s *settings) {
	check := func(what any, g *gate) {
		if g.used != 0 || g.lost != 0 || len(g.waiting) > 0 {
			w.fault("the cap of %v has %d places taken, %d of them lost, and %d calls that wait", what, g.used, g.lost, len(g.waiting))
			*g = gate{most: g.most} // the next world is not to blame
		}
	}
	for name, g := range s.tools {
		check(name, g)
	}
	for name, g := range s.sources {
		check(name, g)
	}
	for name, g := range s.tenants {
		check(name, g)
	}
}

// state says what a turn that does not end is waiting for.
func (t *Turn) state() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	fmt.Fprintln(&b, "hung:", t.counts())
	for _, c := range t.calls {
		if c.state != over {
			fmt.Fprintf(&b, "%d %s: state %d, claimed %v, waits %d, parked %v, busy %v, answered %v, asks %v, lost %v, leased %v\n",
				c.index, c.first.Name, c.state, c.claimed, c.step.waits, c.parked, c.busy, c.answered, c.asks, c.lost.Load(), c.leased != nil)
		}
	}
	return b.String()
}

func (t *Turn) counts() string {
	return fmt.Sprintf("open %d, ready %d, early %d, running %d, asking %d, workers %d, helpers %d, starting %v",
		t.open, len(t.ready), len(t.early), t.running, t.asking, t.workers, t.helpers, t.starting)
}

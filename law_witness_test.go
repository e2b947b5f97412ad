package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// witness sees what each function was asked and what ran, and says what must
// not have been.
//
// It knows a call by its place, which stays the same when its turn goes on: the
// turn, which is the agent of the caller, and the index. The round of a turn is
// the run of the caller.
type witness struct {
	st *stage

	mu        sync.Mutex
	faults    []string
	valid     map[string]bool // call and input that passed Validate
	judged    map[string]tool.Verdict
	secure    map[string]bool // hook, place and input that it saw or made
	questions map[string]policy.Question
	yes       map[string]bool      // place and input whose yes was taken out of the inbox
	lasting   map[string]bool      // session, tool and input whose yes was made to last
	stops     map[string]time.Time // of a round of a turn, or of one call of it
	results   map[string]bool      // rounds that have all their results
	done      map[string]bool      // places that have a result for good
	ended     map[string]int       // calls of which an observer was told
	showing   map[string]int       // by round: previews under way
	runs      []*worldRun
}

func newWitness(st *stage) *witness {
	return &witness{
		st: st, valid: map[string]bool{}, judged: map[string]tool.Verdict{}, secure: map[string]bool{}, questions: map[string]policy.Question{}, yes: map[string]bool{}, lasting: map[string]bool{},
		stops: map[string]time.Time{}, results: map[string]bool{}, done: map[string]bool{}, ended: map[string]int{}, showing: map[string]int{},
	}
}

// lawCalls is how many calls a minute may run where there is a rate.
const lawCalls = 3

// worldRun is one run of a tool.
type worldRun struct {
	tool.Request
	in        worldIn
	began     time.Time
	over      bool
	suspended bool // it wants an answer, and runs anew with it
}

func place(turn string, index int) string { return fmt.Sprint(turn, " ", index) }
func roundOf(turn, run string) string     { return turn + "/" + run }
func (x *worldRun) place() string         { return place(x.Caller.Agent, x.Index) }
func (x *worldRun) round() string         { return roundOf(x.Caller.Agent, x.Caller.Run) }
func (x *worldRun) String() string {
	return fmt.Sprintf("%s %s %s (%s)", x.ID, x.Tool.Name, x.Args.Text(), x.round())
}

func (x *worldRun) repeatable() bool             { return x.Claims.ReadOnly || x.Claims.Idempotent || x.Key != "" }
func (x *worldRun) is(o *worldRun) bool          { return x.place() == o.place() }
func (w *world) call(x *worldRun) worldCall      { return w.turn(x).Calls[x.Index] }
func (w *world) turn(x *worldRun) *worldTurn     { return &w.Turns[x.Caller.Agent[0]-'0'] }
func (w *witness) note(f func())                 { w.mu.Lock(); defer w.mu.Unlock(); f() }
func (w *witness) passed(id, input string)       { w.note(func() { w.valid[id+" "+input] = true }) }
func (w *witness) fault(format string, a ...any) { w.note(func() { w.bad(format, a...) }) }

// bad is fault for who holds the mutex.
func (w *witness) bad(format string, a ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, a...))
}

func (w *witness) heard(r *tool.Request, v tool.Verdict) {
	w.note(func() { w.judged[r.ID+" "+r.Args.Text()] = v })
}

// looked hears that a hook saw a call, and perhaps changed it.
func (w *witness) looked(hook string, r *tool.Request, changed json.RawMessage) {
	w.note(func() {
		for _, input := range []string{r.Args.Text(), string(changed)} {
			w.secure[hook+place(r.Caller.Agent, r.Index)+input] = true
		}
	})
}

func (w *witness) question(id string) (q policy.Question) {
	w.note(func() { q = w.questions[id] })
	return q
}

// took hears that an answer left the inbox.
func (w *witness) took(id string, a policy.Answer) {
	q := w.question(id)
	if !a.Allow || q.Wants != "" {
		return
	}
	input := q.Input
	if a.Input != nil {
		input = string(a.Input)
	}
	w.note(func() {
		w.yes[place(q.Caller.Agent, q.Index)+input] = true
		if a.Rule != "" {
			w.lasting[q.Caller.Session+" "+a.Rule] = true
		}
	})
}

// stopped hears that a round, or a call of it, is stopped from now on.
func (w *witness) stopped(what string) {
	w.note(func() {
		if w.stops[what].IsZero() {
			w.stops[what] = time.Now()
		}
	})
}

// shows is called as a tool begins to say what a call would do. As many calls of a
// turn as may run at once are led on, and as many have their question put early.
func (w *witness) shows(ctx context.Context, in worldIn) (ends func()) {
	x := &worldRun{Request: tool.From(ctx).Request()}
	if in.Do == "ignore" { // it is given up, and another takes its place
		return func() {}
	}
	w.note(func() {
		if w.showing[x.round()]++; w.showing[x.round()] > 2*w.st.world.turn(x).Limit {
			w.bad("%v is one of %d that are shown at once, in a turn of %d", x, w.showing[x.round()], w.st.world.turn(x).Limit)
		}
	})
	return func() { w.note(func() { w.showing[x.round()]-- }) }
}

func (w *witness) observe(e audit.Event) {
	if e.Kind == audit.Ended {
		w.note(func() { w.ended[e.Request.ID]++ })
	}
}

// starts is called by every tool as it begins to run.
func (w *witness) starts(ctx context.Context, a tool.Args) (ends func(error)) {
	x := &worldRun{Request: tool.From(ctx).Request(), began: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.Args.Text() != a.Text() {
		w.bad("%v runs on %s", x, a.Text())
	}
	if err := a.Decode(&x.in); err != nil {
		w.bad("%v: %v", x, err)
	}
	if x.Index >= len(w.st.world.turn(x).Calls) {
		w.bad("%v ran when its turn was over", x)
		return func(error) {}
	}
	w.allowed(x)
	w.once(x)
	w.inOrder(x)
	w.apart(x)
	w.withinCaps(x)
	w.notStopped(x)
	w.runs = append(w.runs, x)
	return func(err error) {
		o := (*tool.Outcome)(nil)
		w.note(func() { x.over, x.suspended = true, errors.As(err, &o) && o.Suspend != "" })
	}
}

// allowed: it runs on input that was checked, judged, seen by every security
// hook and, where asked for, allowed by a person.
func (w *witness) allowed(x *worldRun) {
	key := x.ID + " " + x.Args.Text()
	if x.Tool.Name == "fixes" && !w.valid[key] {
		w.bad("%v ran on input that did not pass Validate", x)
	}
	switch v, ok := w.judged[key]; {
	case !ok || v == tool.Deny:
		w.bad("%v ran, and the rules had said %v %v", x, v, ok)
	case v == tool.Ask && !w.yes[x.place()+x.Args.Text()] && !w.lasting[x.Caller.Session+" "+policy.Offers(&x.Request, nil)[0]]:
		w.bad("%v ran without a yes", x)
	}
	switch m := policy.Mode(x.Mode); {
	case m != w.st.world.Mode, m == policy.ModeDryRun, (m == policy.ModeRead || !m.Known()) && !x.Claims.ReadOnly:
		w.bad("%v ran in mode %s of %s", x, m, w.st.world.Mode)
	}
	if w.st.world.Rates {
		w.withinRate(x)
	}
	for i, h := range w.st.world.Hooks {
		name := w.st.hookName(i, int(x.Caller.Run[0]-'0'))
		if h.Security && h.Part == "input" && !w.secure[name+x.place()+x.Args.Text()] {
			w.bad("%v ran, and hook %q had not seen that", x, name)
		}
	}
}

// withinRate: no more calls run for the first time than the rate lets. What runs
// anew was counted then.
func (w *witness) withinRate(x *worldRun) {
	first := map[string]time.Time{x.place(): x.began}
	for _, o := range w.runs {
		if at, ok := first[o.place()]; !ok || o.began.Before(at) {
			first[o.place()] = o.began
		}
	}
	calls := 0
	for _, at := range first {
		if time.Since(at) < time.Second {
			calls++
		}
	}
	if calls > lawCalls {
		w.bad("%v is one of %d calls that ran within a second, at a rate of %d per minute", x, calls, lawCalls)
	}
}

// once: it runs for the first time, or anew with an answer, or may run twice.
// So a yes is good for one run.
func (w *witness) once(x *worldRun) {
	if w.done[x.place()] {
		w.bad("%v ran after it had its result", x)
	}
	for _, o := range w.runs {
		switch {
		case !x.is(o):
		case !o.over:
			w.bad("%v runs twice at once", x)
		case !o.suspended && !x.repeatable():
			w.bad("%v ran twice", x)
		}
	}
}

// inOrder: no later call of its turn has run that conflicts with it, or did when
// it arrived. A call whose claims have changed is left out: it has lost its place.
func (w *witness) inOrder(x *worldRun) {
	world := w.st.world
	if x.Args.Text() != string(world.call(x).input()) || !sameClaims(x.Claims, world.call(x).claims()) {
		return
	}
	for _, o := range w.runs {
		if o.Caller.Agent != x.Caller.Agent || o.Index <= x.Index {
			continue
		}
		if conflict(x.Claims, o.Claims) || o.Caller.Run == "0" && conflict(x.Claims, world.call(o).claims()) {
			w.bad("%v ran after %v, which is later and conflicts", x, o)
		}
	}
}

// apart: nothing runs beside it that conflicts with it, or that was given up and
// is of the same tool.
func (w *witness) apart(x *worldRun) {
	for _, o := range w.running() {
		sameRound := o.round() == x.round()
		given := w.results[o.round()] || !o.Tool.Cooperative && x.began.Sub(o.began) > runTime+grace
		switch clash := conflict(o.Claims, x.Claims); {
		case sameRound && clash:
			w.bad("%v overlaps %v", x, o)
		case given && o.Caller.Session == x.Caller.Session && (clash || o.Source == x.Source && o.Tool.Name == x.Tool.Name):
			w.bad("%v overlaps %v, which was given up", x, o)
		}
	}
}

func (w *witness) running() (list []*worldRun) {
	for _, o := range w.runs {
		if !o.over {
			list = append(list, o)
		}
	}
	return list
}

// withinCaps: what runs, this one with it, is no more than the caps of its turn,
// tool, source and tenant. What was given up counts for the turn no more.
func (w *witness) withinCaps(x *worldRun) {
	world := w.st.world
	counts := []struct {
		of   string
		most int
		has  func(*worldRun) bool
	}{
		{"turn", world.turn(x).Limit, func(o *worldRun) bool {
			return o.round() == x.round() && (o.in.Do != "ignore" || x.began.Sub(o.began) < grace)
		}},
		{"tool", x.Tool.AtOnce, func(o *worldRun) bool { return o.Source == x.Source && o.Tool.Name == x.Tool.Name }},
		{"source", world.PerSource, func(o *worldRun) bool { return o.Source == x.Source }},
		{"tenant", world.PerTenant, func(*worldRun) bool { return true }},
	}
	running := append(w.running(), x)
	for _, c := range counts {
		n := 0
		for _, o := range running {
			if c.has(o) {
				n++
			}
		}
		if c.most > 0 && n > c.most {
			w.bad("%v is one of %d of its %s at once, the cap is %d", x, n, c.of, c.most)
		}
	}
}

// notStopped: neither its turn nor itself was stopped before it began. What has
// begun may be run again by a wrapper.
func (w *witness) notStopped(x *worldRun) {
	for _, o := range w.runs {
		if x.is(o) && o.round() == x.round() && !o.suspended {
			return
		}
	}
	for _, what := range []string{x.round(), x.ID} {
		if at := w.stops[what]; !at.IsZero() && x.began.After(at) {
			w.bad("%v began %v after it was stopped", x, x.began.Sub(at))
		}
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

// own is a session with these tools, which the program allows itself.
func own(tools ...*tool.Tool) (*ferrule.Session, error) {
	return ownWith(&ferrule.Runtime{Policy: policy.AllowOwn{}}, tools...)
}

// ownWith is a session of a program with these tools.
func ownWith(rt *ferrule.Runtime, tools ...*tool.Tool) (*ferrule.Session, error) {
	if err := rt.Add(tools...); err != nil {
		return nil, err
	}
	return rt.Session(tool.Caller{}), nil
}

// noop is the tool of the floor, with a schema, an output schema and a limit.
func noop(cooperative bool) (*tool.Tool, error) {
	return tool.New(tool.Info{
		Name: "search", Description: "Search files for a pattern.",
		Claims: tool.Claims{Parallel: true}, Cooperative: cooperative,
	}, call)
}

// variants is how many inputs of one size calls take turns with: a cycle that is
// too long to be taken for a loop.
const variants = 7

// similarCalls are n calls of one size, the first of them another each time.
func similarCalls(first, n int) []tool.Call {
	calls := make([]tool.Call, n)
	for i := range calls {
		input := strings.Replace(inOrder, `"limit":100`, fmt.Sprintf(`"limit":%d`, 100+(first+i)%variants), 1)
		calls[i] = tool.Call{ID: fmt.Sprintf("call_%d", i+1), Name: "search", Input: json.RawMessage(input)}
	}
	return calls
}

// doSimilar is a work that runs turns of n calls.
func doSimilar(ctx context.Context, view *ferrule.View, n int) func() error {
	var turns [variants]func() error
	for i := range turns {
		turns[i] = do(ctx, view, similarCalls(i, n))
	}
	next := 0
	return func() error {
		next++
		return turns[next%variants]()
	}
}

// do is a work that runs a turn.
func do(ctx context.Context, view *ferrule.View, calls []tool.Call) func() error {
	return func() error {
		for _, r := range view.Do(ctx, calls...) {
			if r.Err != nil {
				return r.Err
			}
		}
		return nil
	}
}

// Names of works that others are compared with.
const (
	oneCall      = "one no-op Cooperative call, its whole life"
	recordedCall = "one no-op Cooperative call, recorded"
	writtenCall  = "one no-op Cooperative call, its events written to a log"
	linkedCall   = "one no-op Cooperative call, its events written to a log and linked"
	ruledCall    = "one no-op Cooperative call, under five rules that do not depend on it"
	spawned      = "the floor on a goroutine of its own"
	otherCall    = "one no-op call of another tool"
	tenCalls     = "a turn of 10 no-op calls that may overlap"
	hundredCalls = "a turn of 100 such calls"
	plan1000     = "planning 1,000 calls"
	plan10000    = "planning 10,000 calls"
	view10       = "view and definitions for a turn, 10 tools"
	view10000    = "view and definitions for a turn, 10,000 tools"
)

// runtimeWorks are what a call and a turn cost.
func runtimeWorks(ctx context.Context) ([]work, error) {
	list := []work{{spawned, 0, -1, onGoroutine(ctx)}}
	constant, err := cedar.New(cedar.Rules{Allow: []string{"fs_read*", "sea*"}, Ask: []string{"tag:web", "source:github"}, Deny: []string{"shell"}})
	if err != nil {
		return nil, err
	}
	for _, w := range []struct {
		name        string
		ratio       float64
		allocs      int64
		cooperative bool
		calls       int
		rt          *ferrule.Runtime
	}{
		// Wanted are 0.85 floors for the one, of which looking for loops takes a
		// tenth, and 10 for the ten; looking through what a tool of the program's own
		// returned takes a quarter of a floor more. The bounds hold what has been
		// reached, with room for a busy machine.
		{oneCall, 1.35, 14, true, 1, &ferrule.Runtime{}},
		{recordedCall, 0, 14, true, 1, &ferrule.Runtime{Record: ferrule.NewRecorder(io.Discard)}},
		{writtenCall, 0, -1, true, 1, &ferrule.Runtime{Log: audit.NewLines(io.Discard)}},
		{linkedCall, 0, -1, true, 1, &ferrule.Runtime{Log: &audit.Memory{Most: 1000}}},
		{ruledCall, 1.35, 14, true, 1, &ferrule.Runtime{Policy: constant}},
		{otherCall, 0, -1, false, 1, &ferrule.Runtime{}},
		{tenCalls, 18, 95, false, 10, &ferrule.Runtime{}},
		{hundredCalls, 0, -1, false, 100, &ferrule.Runtime{}},
	} {
		t, err := noop(w.cooperative)
		if err != nil {
			return nil, err
		}
		if w.rt.Policy == nil {
			w.rt.Policy = policy.AllowOwn{}
		}
		s, err := ownWith(w.rt, t) //nolint:contextcheck // adding tools waits for nothing
		if err != nil {
			return nil, err
		}
		list = append(list, work{w.name, w.ratio, w.allocs, doSimilar(ctx, s.View(ctx), w.calls)})
	}
	for _, w := range []struct {
		name  string
		calls int
		ratio float64
	}{{plan1000, 1000, 0}, {plan10000, 10_000, 8_000}} { // wanted are 5,000
		plan, err := planning(ctx, w.calls)
		if err != nil {
			return nil, err
		}
		list = append(list, work{w.name, w.ratio, -1, plan})
	}
	for _, w := range []struct {
		name  string
		tools int
	}{{view10, 10}, {view10000, 10_000}} {
		offer, err := offering(ctx, w.tools)
		if err != nil {
			return nil, err
		}
		list = append(list, work{w.name, 0, -1, offer})
	}
	return list, nil
}

// onGoroutine is the floor as nobody can avoid it who must be able to stop
// waiting for it.
func onGoroutine(ctx context.Context) func() error {
	input := []byte(inOrder)
	return func() error {
		done := make(chan error, 1)
		go func() { done <- floor(ctx, input) }()
		return <-done
	}
}

// planning adds calls that read and write files behind one that holds them all
// up: they arrive and get their places, and none runs. Their arrival (schema,
// claims, rules) is measured with it.
func planning(ctx context.Context, n int) (func() error, error) {
	begun := make(chan struct{}, 1)
	hold := tool.Tool{
		Info: tool.Info{Name: "hold", Description: "Hold everything up.", Input: json.RawMessage(`{"type":"object"}`), Cancel: true, Cooperative: true},
		Run: func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			begun <- struct{}{}
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		},
	}
	touch := tool.Tool{
		Info: tool.Info{Name: "touch", Description: "Touch a file.", Input: json.RawMessage(`{"type":"object","properties":{"f":{"type":"string"}}}`)},
		ClaimsOf: func(a tool.Args) (tool.Claims, error) {
			path := strings.TrimSuffix(strings.TrimPrefix(a.Text(), `{"f":"`), `"}`)
			return tool.Claims{Parallel: true, Touches: []tool.Access{{Resource: "file:" + path, Write: strings.HasSuffix(path, "0")}}}, nil
		},
		Run: func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil },
	}
	s, err := own(&hold, &touch)
	if err != nil {
		return nil, err
	}
	calls := make([]tool.Call, n)
	for i := range calls {
		calls[i] = tool.Call{Name: "touch", Input: fmt.Appendf(nil, `{"f":"/src/%d/%d"}`, i%7, i%100)}
	}
	view := s.View(ctx)
	return func() error {
		t := view.Begin(ctx, ferrule.TurnOptions{})
		t.Add(tool.Call{Name: "hold"})
		<-begun
		t.Add(calls...)
		t.Interrupt()
		if got := len(t.Wait()); got != n+1 {
			return fmt.Errorf("got %d results, want %d", got, n+1)
		}
		return nil
	}, nil
}

// offering makes a view and its definitions, as every turn does. The set of
// tools does not change.
func offering(ctx context.Context, n int) (func() error, error) {
	tools := make([]*tool.Tool, n)
	for i := range tools {
		t, err := tool.New(tool.Info{Name: fmt.Sprintf("tool_%d", i), Description: "Search files for a pattern.", Claims: tool.Claims{ReadOnly: true}}, call)
		if err != nil {
			return nil, err
		}
		tools[i] = t
	}
	s, err := own(tools...)
	if err != nil {
		return nil, err
	}
	return func() error {
		text, err := s.View(ctx).Definitions(ferrule.JSON{})
		if err == nil && len(text) < 100*n {
			err = errors.New("got no definitions")
		}
		return err
	}, nil
}

// comparison is one work as a multiple of another, or how
// many floors it costs beyond the other.
type comparison struct {
	name   string
	of, to string
	most   float64
	count  func(row) float64
	beyond bool
}

func comparisons() []comparison {
	cpu := func(r row) float64 { return r.NS }
	allocs := func(r row) float64 { return float64(r.Allocs) }
	return []comparison{
		// A call that may have to be given up needs a goroutine, and waking one
		// costs several floors where a core is idle: no more than that is ours.
		{"one no-op call of another tool to the floor on a goroutine", otherCall, spawned, 1.8, cpu, false},
		// Nothing is called where nobody is told, so that both are the same code.
		{"one no-op Cooperative call with telemetry off to one in a program that has none", untoldCall, oneCall, 1.01, cpu, false},
		{"what telemetry adds to one no-op Cooperative call, in floors", toldCall, untoldCall, 1.5, cpu, true},
		{"what recording adds to one no-op Cooperative call, in floors", recordedCall, oneCall, 0.3, cpu, true},
		// The numbers and the links of lines are given when they are committed: what a
		// call itself pays is the writing.
		// Wanted are 0.5 for both together: four events, each a line and a SHA-256.
		{"what an audit log adds to one no-op Cooperative call, before its commit, in floors", writtenCall, oneCall, 0.8, cpu, true},
		{"what the links add to that, in floors", linkedCall, writtenCall, 0.8, cpu, true},
		{"what five rules that do not depend on it add to one no-op Cooperative call, in floors", ruledCall, oneCall, 0.15, cpu, true},
		{"CPU of 100 calls to that of 10", hundredCalls, tenCalls, 10.5, cpu, false},
		{"allocations of 100 calls to those of 10", hundredCalls, tenCalls, 10.5, allocs, false},
		{"planning 10,000 calls to planning 1,000", plan10000, plan1000, 15, cpu, false},
		{"agent: a turn of 10 no-op calls through the loop, to Eino's react agent", agentTurn, agentEino, 1, cpu, false},
		{"agent: CPU of 200 turns to that of 10", agent200, agent10, 22, cpu, false},
		{"agent: allocations of 200 turns to those of 10", agent200, agent10, 22, allocs, false},
		{"view and definitions of 10,000 tools to those of 10", view10000, view10, 1.2, cpu, false},
	}
}

// compare makes rows of the comparisons.
func compare(rows []row) ([]row, error) {
	byName := make(map[string]row)
	for _, r := range rows {
		byName[r.Name] = r
	}
	var all []row
	for _, c := range comparisons() {
		of, to := c.count(byName[c.of]), c.count(byName[c.to])
		if of == 0 || to == 0 {
			return nil, fmt.Errorf("%s: got %v and %v, want what was measured", c.name, of, to)
		}
		ratio := of / to
		if c.beyond {
			ratio = (of - to) / rows[0].NS // the floor is the first
		}
		all = append(all, row{Name: c.name, Ratio: ratio, most: c.most, mostAllocs: -1})
	}
	return all, nil
}

// goroutines is how many goroutines a turn of ten no-op calls starts, on
// average.
func goroutines(ctx context.Context) (row, error) {
	t, err := noop(false)
	if err != nil {
		return row{}, err
	}
	s, err := own(t)
	if err != nil {
		return row{}, err
	}
	one := doSimilar(ctx, s.View(ctx), 10)
	const turns = 2000
	before := created()
	for range turns {
		if err := one(); err != nil {
			return row{}, err
		}
	}
	return row{Name: "goroutines that a turn of 10 no-op calls starts", Ratio: float64(created()-before) / turns, most: 3, mostAllocs: -1}, nil // wanted are 2
}

func created() uint64 {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// sleeper is a tool that takes a while.
func sleeper(d time.Duration, info tool.Info, claims func(tool.Args) (tool.Claims, error)) *tool.Tool {
	info.Description, info.Input, info.Repeatable = "Take a while.", json.RawMessage(`{"type":"object"}`), true
	return &tool.Tool{Info: info, ClaimsOf: claims, Run: func(context.Context, tool.Args) (tool.Result, error) {
		time.Sleep(d)
		return tool.Result{}, nil
	}}
}

package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// cases is how many random turns the laws are held against; the outcome of a
// tenth of as many is compared with that of calls one by one. Without
// the race detector 30,000 took 13 s:
//
//	go test -run 'TestLaws|TestSameAsSerial' -timeout 0 -cases 1000000 .
var cases = flag.Int("cases", 10_000, "random turns for each law")

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

// world is one random turn: what is called, by which rules, and what happens
// meanwhile. It is data, so that a failing one can be made small.
type world struct {
	Calls  []worldCall
	Hooks  []worldHook
	Policy []int // what the rules say, by a hash of the call
	Person []int // what a person says, by a hash of the question
	Delay  time.Duration
	Limit  int
	Stops  Siblings
	Answer int // 0: by the inbox, 1: by a function too
	Decide bool

	Event int // what happens at a random moment: see happen
	At    time.Duration
	Split int // how many calls are added later
}

type worldCall struct {
	ID, Name, Do string
	MS           int
	Path         string
	Raw          string // sent in the place of proper arguments
}

func (c worldCall) input() json.RawMessage {
	if c.Raw != "" {
		return json.RawMessage(c.Raw)
	}
	return fmt.Appendf(nil, `{"do":%q,"ms":%d,"path":%q}`, c.Do, c.MS, c.Path)
}

type worldHook struct {
	Part     string // input, around, output
	Does     string
	Security bool
}

var (
	worldTools = []string{
		"alone", "shared", "reader", "toucher", "toucher", "cancelled", "capped", "asks", "never", "fixes", "permits", "asksif", "strict", "believed", "foreign__x", "old_name", "deferred", "nosuch", "",
	}
	worldDoes = []string{"ok", "ok", "ok", "ok", "fail", "panic", "sleep", "sleep", "hang", "ignore", "huge", "utf8", "badjson", "image", "other", "exit", "stop", "fatal", "suspend", "badvalue", "derive"}
	worldRaws = []string{"", "", "", "", "", "", "", "", "", `{`, ` `, `{"do":1}`, `[]`, `{"do":"ok","do":"ok"}`, `{"nosuch":1}`, "\xff", `null`}
)

func drawWorld(t *rapid.T) world {
	w := world{
		Delay:  time.Duration(rapid.SampledFrom([]int{0, 1, 5, 50, 5000}).Draw(t, "delay")) * time.Millisecond,
		Limit:  rapid.SampledFrom([]int{1, 2, 3, 10, 50}).Draw(t, "limit"),
		Stops:  rapid.SampledFrom([]Siblings{StopAsked, StopAsked, StopNever, StopAlways}).Draw(t, "stops"),
		Answer: rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "answer"),
		Decide: rapid.IntRange(0, 7).Draw(t, "decide") == 0,
		Event:  rapid.IntRange(0, 9).Draw(t, "event"),
		At:     time.Duration(rapid.SampledFrom([]int{0, 1, 3, 10, 100, 1000, 3000}).Draw(t, "at")) * time.Millisecond,
		Policy: rapid.SliceOfN(rapid.IntRange(0, 9), 5, 5).Draw(t, "policy"),
		Person: rapid.SliceOfN(rapid.IntRange(0, 9), 5, 5).Draw(t, "person"),
	}
	n := rapid.SampledFrom([]int{0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 5, 5, 5, 8, 8, 8, 13, 13, 20, 40}).Draw(t, "n")
	for range n {
		w.Calls = append(w.Calls, worldCall{
			ID:   rapid.SampledFrom([]string{"", "a", "a", "b", "c", "d"}).Draw(t, "id"),
			Name: rapid.SampledFrom(worldTools).Draw(t, "name"),
			Do:   rapid.SampledFrom(worldDoes).Draw(t, "do"),
			MS:   rapid.SampledFrom([]int{0, 0, 1, 2, 10, 100}).Draw(t, "ms"),
			Path: rapid.SampledFrom([]string{"file:/a", "file:/a/b", "file:/c", "table:x"}).Draw(t, "path"),
			Raw:  rapid.SampledFrom(worldRaws).Draw(t, "raw"),
		})
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(t, "hooks") {
		w.Hooks = append(w.Hooks, worldHook{
			Part:     rapid.SampledFrom([]string{"input", "input", "around", "output"}).Draw(t, "part"),
			Does:     rapid.SampledFrom([]string{"nothing", "nothing", "change", "change", "break", "block", "panic", "fail", "sleep", "hang", "twice", "instead", "exit"}).Draw(t, "does"),
			Security: rapid.Bool().Draw(t, "security"),
		})
	}
	w.Split = rapid.IntRange(0, n).Draw(t, "split")
	return w
}

// pick is a choice that depends on a text alone, so that a case can be run
// again.
func pick(list []int, text string) int {
	h := fnv.New32a()
	h.Write([]byte(text))
	return list[int(h.Sum32())%len(list)]
}

// witness sees what each function was asked and what ran, and says what must
// not have been.
type witness struct {
	mu       sync.Mutex
	faults   []string
	valid    map[string]bool // call and input that passed Validate
	judged   map[string]tool.Verdict
	approved map[string]bool
	running  map[string]tool.Claims
}

func (w *witness) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func (w *witness) note(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// starts is called by every tool as it begins to run.
func (w *witness) starts(ctx context.Context, a tool.Args) (done func()) {
	r := tool.From(ctx).Request()
	key := r.ID + " " + a.Text()
	if r.Args.Text() != a.Text() {
		w.fault("%s runs on %s, its request says %s", r.Name, a.Text(), r.Args.Text())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	bad := func(format string, args ...any) { w.faults = append(w.faults, fmt.Sprintf(format, args...)) }
	if r.Tool.Name == "fixes" && !w.valid[key] {
		bad("%s ran on input that did not pass Validate", key)
	}
	switch v, ok := w.judged[key]; {
	case !ok || v == tool.Deny:
		bad("%s ran, and the rules had said %v %v", key, v, ok)
	case v == tool.Ask && !w.approved[key]:
		bad("%s ran without a yes", key)
	}
	for other, claims := range w.running {
		if conflict(claims, r.Claims) {
			bad("%s overlaps %s", key, other)
		}
	}
	run := fmt.Sprintf("%s %p", key, &r)
	w.running[run] = r.Claims
	return func() { w.note(func() { delete(w.running, run) }) }
}

type worldIn struct {
	Do   string `json:"do"`
	MS   int    `json:"ms,omitempty"`
	Path string `json:"path,omitempty"`
	Tag  string `json:"tag,omitempty"`
}

// behave is what the tools do.
func behave(ctx context.Context, in worldIn) (tool.Result, error) {
	d := time.Duration(in.MS) * time.Millisecond
	text := func(s string) (tool.Result, error) { return tool.Result{Content: []tool.Content{tool.Text(s)}}, nil }
	switch in.Do {
	case "fail":
		return tool.Result{}, errors.New("it failed")
	case "panic":
		panic("it panicked")
	case "sleep":
		time.Sleep(d)
	case "hang":
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	case "ignore":
		time.Sleep(20*time.Second + d)
	case "huge":
		return text(strings.Repeat("é", 3000))
	case "utf8":
		return tool.Result{Content: []tool.Content{{Type: tool.TextContent, Text: "a\xffb"}}}, nil
	case "badjson":
		return tool.Result{Content: []tool.Content{{Type: tool.JSONContent, JSON: []byte(`{"a":`)}}}, nil
	case "image":
		return tool.Result{Content: []tool.Content{{Type: tool.ImageContent, MediaType: "image/png"}}}, nil
	case "other":
		return tool.Result{ID: "mine", CallID: "mine", Content: []tool.Content{{Type: "poem"}}}, nil
	case "exit":
		if !tool.From(ctx).Request().Tool.Cooperative { // such a one may run on the test's own goroutine
			runtime.Goexit()
		}
	case "stop":
		return tool.Result{}, &tool.Outcome{Err: errors.New("all stop"), StopSiblings: true}
	case "fatal":
		return tool.Result{}, &tool.Outcome{Fatal: true}
	case "suspend":
		if _, ok := tool.From(ctx).Answer(); !ok {
			return tool.Result{}, &tool.Outcome{Suspend: "which one?"}
		}
	case "derive":
		inner, cancel := context.WithTimeout(ctx, d+1)
		defer cancel()
		<-inner.Done()
	}
	return text("done")
}

func (st *stage) tools(t *testing.T) (own, foreign []*tool.Tool) {
	t.Helper()
	make1 := func(s tool.Spec[worldIn, tool.Result]) *tool.Tool {
		s.Description, s.Timeout, s.Limit.Chars = "A tool of the test.", 2*time.Second, 1000
		made, err := s.Tool()
		if err != nil {
			t.Fatal(err)
		}
		made.Run = st.watched(made.Run)
		return made
	}
	type spec = tool.Spec[worldIn, tool.Result]
	plain := func(name string, c tool.Claims) spec {
		return spec{Info: tool.Info{Name: name, Claims: c}, Run: behave}
	}
	touches := func(in worldIn) tool.Claims {
		if in.Do == "panic" {
			panic("claims")
		}
		return tool.Claims{Parallel: in.MS%2 == 0, Touches: []tool.Access{{Resource: in.Path, Write: in.MS > 1}}}
	}
	toucher := plain("toucher", tool.Claims{})
	toucher.ClaimsOf = touches
	cancelled := plain("cancelled", tool.Claims{Parallel: true})
	cancelled.Cancel, cancelled.Cooperative = true, true
	capped := plain("capped", tool.Claims{Parallel: true})
	capped.AtOnce = 1
	asks := plain("asks", tool.Claims{Parallel: true})
	asks.Approval = tool.AskAlways
	asks.Preview = func(_ context.Context, in worldIn) (string, error) {
		if in.Do == "panic" {
			panic("preview")
		}
		return "would do " + in.Do, nil
	}
	never := plain("never", tool.Claims{ReadOnly: true, Touches: []tool.Access{}})
	never.Approval, never.Aliases, never.Cooperative = tool.AskNever, []string{"old_name"}, true
	fixes := plain("fixes", tool.Claims{Parallel: true})
	fixes.Validate = func(ctx context.Context, in worldIn) (json.RawMessage, error) {
		if in.Do == "badvalue" {
			return nil, errors.New("no such value")
		}
		r, w := tool.From(ctx).Request(), st.see
		if in.Tag == "" {
			in.Tag = "fixed"
			text, err := json.Marshal(in)
			w.note(func() { w.valid[r.ID+" "+string(text)] = true }) // what it wrote itself
			return text, err
		}
		w.note(func() { w.valid[r.ID+" "+r.Args.Text()] = true })
		return nil, nil
	}
	permits := plain("permits", tool.Claims{})
	permits.Permit = func(_ context.Context, in worldIn) (tool.Decision, error) {
		switch in.MS {
		case 1:
			return tool.Decision{Verdict: tool.Ask}, nil
		case 2:
			return tool.Decision{Verdict: tool.Deny, Override: true}, nil
		case 10:
			return tool.Decision{}, errors.New("cannot say")
		}
		return tool.Decision{Verdict: tool.Allow}, nil
	}
	asksIf := plain("asksif", tool.Claims{Parallel: true})
	asksIf.AskIf = func(_ context.Context, in worldIn) (bool, error) { return in.MS > 0, nil }
	strict := plain("strict", tool.Claims{ReadOnly: true, Local: true})
	strict.Output = json.RawMessage(`{"type":"object"}`)
	deferred := plain("deferred", tool.Claims{})
	deferred.Deferred = true
	own = []*tool.Tool{
		make1(plain("alone", tool.Claims{})), make1(plain("shared", tool.Claims{Parallel: true})), make1(plain("reader", tool.Claims{ReadOnly: true, Local: true})),
		make1(toucher), make1(cancelled), make1(capped), make1(asks), make1(never), make1(fixes), make1(permits), make1(asksIf), make1(strict), make1(deferred),
		make1(plain("believed", tool.Claims{Parallel: true, Local: true, Idempotent: true})),
	}
	return own, []*tool.Tool{make1(plain("x", tool.Claims{ReadOnly: true}))}
}

// watched lets the witness see the tool itself, below everything that is
// typed.
func (st *stage) watched(run func(context.Context, tool.Args) (tool.Result, error)) func(context.Context, tool.Args) (tool.Result, error) {
	return func(ctx context.Context, a tool.Args) (tool.Result, error) {
		defer st.see.starts(ctx, a)()
		return run(ctx, a)
	}
}

// rules is what the policy says about a call; the witness hears it.
func (st *stage) rules(r *tool.Request) tool.Decision {
	list, w := st.world.Policy, st.see
	{
		d := tool.Decision{Verdict: tool.Allow}
		switch pick(list, r.Name+r.Args.Text()) {
		case 0:
			d = tool.Decision{}
		case 1, 2:
			d = tool.Decision{Verdict: tool.Ask, Reason: "the rules"}
		case 3:
			d = tool.Decision{Verdict: tool.Silent}
		case 4:
			if len(r.Args.Text())%5 == 0 {
				panic("policy")
			}
		case 5:
			d = tool.Decision{Verdict: 77}
		}
		v := policy.Combine(policy.Case{Claims: r.Claims, Trust: r.Source.Trust, Person: true},
			policy.Voice{By: policy.ByPolicy, Decision: d}, policy.Voice{By: policy.ByApproval, Decision: policy.Approval(r.Tool, r.Source.Trust)}).Verdict
		w.note(func() { w.judged[r.ID+" "+r.Args.Text()] = v })
		return d
	}
}

// hooks makes the hooks of a world.
func (w *world) hooks() []Hook {
	var list []Hook
	for i, h := range w.Hooks {
		hook := Hook{Name: fmt.Sprintf("%d %s %s", i, h.Part, h.Does), Security: h.Security}
		odd := func(r *tool.Request) bool { return (r.Index+i)%2 == 1 }
		act := func(ctx context.Context) error {
			switch h.Does {
			case "panic":
				panic("hook")
			case "fail":
				return errors.New("hook")
			case "sleep":
				time.Sleep(3 * time.Millisecond)
			case "hang":
				<-ctx.Done()
			case "exit":
				runtime.Goexit()
			}
			return nil
		}
		switch h.Part {
		case "input":
			runs := 0
			var mu sync.Mutex
			hook.Input = func(ctx context.Context, r *tool.Request) (Change, error) {
				if !odd(r) {
					return Change{Context: "seen"}, nil
				}
				var in worldIn
				if err := r.Args.Decode(&in); err != nil {
					return Change{}, err
				}
				switch h.Does {
				case "block":
					return Change{Block: "blocked"}, nil
				case "break":
					return Change{Input: json.RawMessage(`{"do":7}`)}, nil
				case "change":
					mu.Lock()
					runs++
					in.Tag, in.MS = fmt.Sprintf("h%d-%d", i, runs), (in.MS+1)%7
					mu.Unlock()
					text, err := json.Marshal(in)
					return Change{Input: text}, err
				}
				return Change{}, act(ctx)
			}
		case "around":
			hook.Around = func(ctx context.Context, r *tool.Request, next Next) tool.Result {
				if !odd(r) {
					return next(ctx)
				}
				switch h.Does {
				case "instead", "block":
					return tool.Result{Content: []tool.Content{tool.Text("instead")}}
				case "twice":
					next(ctx)
					return next(context.Background()) //nolint:contextcheck // a wrapper may do that
				case "change":
					inner, cancel := context.WithTimeout(ctx, time.Millisecond)
					defer cancel()
					return next(inner)
				case "break":
					defer func() { go next(ctx) }()
				}
				if err := act(ctx); err != nil {
					return tool.Result{Err: &tool.Error{Kind: "odd", Text: err.Error()}}
				}
				return next(ctx)
			}
		case "output":
			hook.Output = func(ctx context.Context, r *tool.Request, now, original tool.Result) (*tool.Result, error) {
				switch {
				case !odd(r):
					return nil, nil
				case h.Does == "change":
					now.Content = append(now.Content, tool.Text(strings.Repeat("x", 3000)))
					now.ID = "forged"
					return &now, nil
				case h.Does == "break":
					return &tool.Result{Err: &tool.Error{Kind: tool.Suspended}}, nil
				}
				return nil, act(ctx)
			}
		}
		list = append(list, hook)
	}
	return list
}

// person answers what is pending, as the world says: yes, no, twice, edited,
// never.
func (w *world) person(ctx context.Context, in policy.Inbox, see *witness) {
	done := make(map[string]bool)
	for round := 0; ctx.Err() == nil; round++ {
		list, _ := in.Pending(ctx)
		for _, q := range list {
			if done[q.ID] {
				continue
			}
			done[q.ID] = true
			a := policy.Answer{Allow: true, By: "me", Text: "this one"}
			switch pick(w.Person, q.Tool+q.Input) {
			case 0:
				a.Allow = false
			case 1, 2:
				continue // never
			case 3:
				if q.Wants == "" {
					a.Input = json.RawMessage(strings.Replace(q.Input, `"do":`, `"tag":"edited","do":`, 1))
				}
			}
			see.answers(q, a)
			_ = in.Answer(ctx, q.ID, a)
			_ = in.Answer(ctx, q.ID, policy.Answer{Allow: true}) // a second one is refused
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.Delay + time.Millisecond<<min(round, 20)):
		}
	}
}

func (w *witness) answers(q policy.Question, a policy.Answer) {
	if !a.Allow || q.Wants != "" {
		return
	}
	text := q.Input
	if a.Input != nil {
		text = string(a.Input)
	}
	w.note(func() { w.approved[q.Call+" "+text] = true })
}

// stage is a runtime that many worlds are played on, one after another: making
// the tools takes longer than most of them last.
type stage struct {
	rt    *Runtime
	world *world
	see   *witness
	*policy.Memory
}

func newStage(t *testing.T, w *world) *stage {
	t.Helper()
	st := new(stage)
	rt := &Runtime{Policy: policy.Func(st.rules), Inbox: st, Siblings: w.Stops, Expiry: 30 * time.Second}
	if w.Answer == 1 {
		rt.Answer = func(_ context.Context, q policy.Question) (policy.Answer, error) {
			switch pick(st.world.Person, q.Input) {
			case 4:
				panic("answer")
			case 5:
				return policy.Answer{}, errors.New("answer")
			}
			a := policy.Answer{Allow: true, Text: "x"}
			st.see.answers(q, a)
			return a, nil
		}
	}
	if w.Decide {
		rt.Decide = func(_ context.Context, r *tool.Request) (tool.Decision, error) {
			if r.Index%5 == 4 {
				return tool.Decision{}, errors.New("cannot say")
			}
			return tool.Decision{Verdict: tool.Silent}, nil
		}
	}
	rt.freeze().clean = func(_ *tool.Request, r tool.Result) tool.Result {
		r.Content = append(slices.Clip(r.Content), tool.Text("clean"))
		return r
	}
	own, foreign := st.tools(t)
	if err := errors.Join(rt.Add(own...), rt.Set(tool.Source{Name: "foreign", Trust: tool.MCP}, foreign...)); err != nil {
		t.Fatal(err)
	}
	st.rt = rt
	return st
}

// play runs a world and says what is wrong with what came of it.
func (st *stage) play(w *world) []string {
	see := &witness{valid: map[string]bool{}, judged: map[string]tool.Verdict{}, approved: map[string]bool{}, running: map[string]tool.Claims{}}
	inbox := new(policy.Memory)
	st.world, st.see, st.Memory = w, see, inbox
	session := st.rt.Session(tool.Caller{})
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	personCtx, gone := context.WithCancel(context.Background())
	defer gone()
	go w.person(personCtx, inbox, see)

	calls := make([]tool.Call, len(w.Calls))
	for i, c := range w.Calls {
		calls[i] = tool.Call{ID: c.ID, Name: c.Name, Input: c.input()}
	}
	turn := session.View(ctx).begin(ctx, TurnOptions{HandBack: w.Event == 9, Limit: w.Limit, Hooks: w.hooks()})
	turn.quiet = w.Event == 0 || w.Event == 1 // as Do begins it
	turn.Add(calls[:len(calls)-w.Split]...)
	go func() {
		time.Sleep(w.At)
		switch w.Event {
		case 1, 2:
			cancel(errors.New("the host stops"))
		case 3, 4:
			turn.Interrupt()
		case 5:
			turn.mu.Lock()
			id := ""
			if len(turn.calls) > 0 {
				id = turn.calls[len(turn.calls)/2].first.ID
			}
			turn.mu.Unlock()
			turn.Stop(id)
		}
	}()
	if w.Split > 0 {
		time.Sleep(w.At / 2)
		turn.Add(calls[len(calls)-w.Split:]...)
	}
	hung := time.AfterFunc(3*time.Hour, func() { panic(turn.state() + fmt.Sprintf("\n%+v", *w)) })
	results := turn.Wait()
	hung.Stop()
	see.judge(calls, results, w.Event == 9)
	gone()
	closing, closed := context.WithTimeout(context.Background(), 5*time.Minute)
	defer closed()
	if err := session.Close(closing); err != nil {
		see.fault("close: %v", err)
	}
	time.Sleep(w.At + time.Second) // the clock stands still once this function returns
	return see.faults
}

// judge holds the results against the second law.
func (w *witness) judge(calls []tool.Call, results []tool.Result, handed bool) {
	if len(results) != len(calls) {
		w.fault("got %d results for %d calls", len(results), len(calls))
		return
	}
	ids := make(map[string]bool)
	for i, r := range results {
		text := tool.TextOf(r.Content)
		switch {
		case r.CallID != calls[i].ID:
			w.fault("result %d has the id %q, want %q", i, r.CallID, calls[i].ID)
		case r.ID == "" || ids[r.ID] || !strings.HasSuffix(r.ID, fmt.Sprintf(".%d", i)):
			w.fault("result %d has Ferrule's id %q", i, r.ID)
		case r.Err != nil && (!r.Err.Kind.Known() || r.Err.Kind == tool.Pending || r.Err.Kind == tool.Suspended && !handed):
			w.fault("result %d has the kind %q", i, r.Err.Kind)
		case strings.Count(text, "clean") != 1:
			w.fault("result %d did not pass phase 10 once: %.80q", i, text)
		case len(text) > 2*1000+200:
			w.fault("result %d did not pass phase 11: %d bytes", i, len(text))
		}
		ids[r.ID] = true
	}
}

// Every call has exactly one result, at its place, with its id; nothing runs
// that was not checked, judged and allowed as it ran; calls that conflict never
// overlap; nothing leaves uncleaned or unlimited; and once the tools have
// returned no goroutine is left, or the bubble would not end.
func TestLaws(t *testing.T) {
	t.Parallel()
	t.Run("L8 N calls in, N results out, in order, whatever happens; no way leads round a gate", func(t *testing.T) {
		type kind struct {
			Stops  Siblings
			Answer int
			Decide bool
		}
		stages := make(map[kind]*stage)
		check(t, *cases, func(r *rapid.T) {
			w := drawWorld(r)
			k := kind{w.Stops, w.Answer, w.Decide}
			if stages[k] == nil {
				stages[k] = newStage(t, &w)
			}
			var faults []string
			synctest.Test(t, func(*testing.T) { faults = stages[k].play(&w) })
			if len(faults) > 0 {
				r.Fatalf("%s\n%+v", strings.Join(faults, "\n"), w)
			}
		})
	})
}

// state says what a turn that does not end is waiting for.
func (t *Turn) state() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "hung: open %d, ready %d, early %d, running %d, workers %d, starting %v\n", t.open, len(t.ready), len(t.early), t.running, t.workers, t.starting)
	for _, c := range t.calls {
		if c.state != over {
			fmt.Fprintf(&b, "%d %s: state %d, claimed %v, waits %d, parked %v, busy %v, answered %v, asks %v, lost %v, leased %v\n",
				c.index, c.first.Name, c.state, c.claimed, c.step.waits, c.parked, c.busy, c.answered, c.asks, c.lost.Load(), c.leased != nil)
		}
	}
	return b.String()
}

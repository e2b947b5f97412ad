package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// These tests write calls as words, such as "p c=obey@5 !/a". A word is a tool,
// what it does, and for how many seconds, 1 if it does not say:
//
//	p        parallel                  w        claims nothing
//	c        parallel, Cancel          r        read-only
//	/a !/b   reads file:/a, writes file:/b; +!/b is parallel too
//	~!/b     the same, Cancel
//
//	(nothing) works on, whatever its context says, and returns
//	obey      works on, or returns the error of its context once that ends
//	fail, stop, panic, exit: after its time it fails, stops its siblings too,
//	          panics, ends its goroutine
type act struct {
	Do          string   `json:"do,omitempty"`
	For         float64  `json:"for,omitempty"`
	Read, Write []string `json:",omitempty"`
	Both        bool     `json:",omitempty"` // parallel, too
}

// actSchema is given and not inferred: there are hundreds of bubbles below.
const actSchema = `{"type":"object","properties":{"do":{},"for":{},"Read":{},"Write":{},"Both":{}}}`

func (a act) claims() tool.Claims {
	c := tool.Claims{Parallel: a.Both, Touches: []tool.Access{}}
	for _, r := range a.Read {
		c.Touches = append(c.Touches, tool.Access{Resource: r})
	}
	for _, r := range a.Write {
		c.Touches = append(c.Touches, tool.Access{Resource: r, Write: true})
	}
	return c
}

func (a act) text() json.RawMessage {
	b, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return b
}

func (a act) run(ctx context.Context) (string, error) {
	d := time.Duration(a.For * float64(time.Second))
	if a.Do == "obey" {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(d):
			return "done", nil
		}
	}
	time.Sleep(d)
	switch a.Do {
	case "fail":
		return "", errors.New("it broke")
	case "stop":
		return "", &tool.Outcome{Err: errors.New("it broke"), StopSiblings: true}
	case "panic":
		panic("it broke")
	case "exit":
		runtime.Goexit()
	}
	return "done", nil
}

// words reads calls as written above.
func words(text string) []tool.Call {
	var calls []tool.Call
	for i, word := range strings.Fields(text) {
		a := act{For: 1}
		name, rest, _ := strings.Cut(word, "@")
		if rest != "" {
			var err error
			if a.For, err = strconv.ParseFloat(rest, 64); err != nil {
				panic(err)
			}
		}
		name, a.Do, _ = strings.Cut(name, "=")
		c := tool.Call{ID: fmt.Sprintf("call_%d", i), Name: name}
		if strings.Contains(name, "/") {
			name, cancel := strings.CutPrefix(name, "~")
			name, a.Both = strings.CutPrefix(name, "+")
			c.Name = map[bool]string{false: "touch", true: "ctouch"}[cancel]
			if path, write := strings.CutPrefix(name, "!"); write {
				a.Write = []string{"file:" + path}
			} else {
				a.Read = []string{"file:" + path}
			}
		}
		c.Input = a.text()
		calls = append(calls, c)
	}
	return calls
}

// floor is a runtime and what happens on it, timed from the last turn on. It
// lives in a bubble of synctest, where hours cost nothing.
type floor struct {
	t  *testing.T
	rt *ferrule.Runtime
	// ctx ends a day after the last clear, so that what hangs fails its test and
	// not all of them.
	ctx    context.Context
	cancel context.CancelFunc

	mu        sync.Mutex
	began     time.Time
	began0    []float64 // by index: when its tool began, -1: never
	runs      []int     // and how often
	ended     []string  // how and when
	seen      []note
	now, most int // calls that run, and at most at once
	look      func(audit.Event)
}

// note is what is kept of an event.
type note struct {
	audit.Event
	at    float64
	index int
}

// onFloor runs a test in a bubble, with the tools that words name.
func onFloor(t *testing.T, rt *ferrule.Runtime, f func(*floor)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fl := &floor{t: t, rt: rt, cancel: func() {}}
		fl.clear()
		defer func() {
			time.Sleep(time.Hour) // calls that were given up return
			fl.cancel()
		}()
		if rt.Policy == nil {
			rt.Policy = policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: tool.Allow} })
		}
		if rt.Guard == nil {
			rt.Guard = unguarded()
		}
		rt.Observe = fl.observe
		fl.add(tool.Info{Name: "p", Claims: tool.Claims{Parallel: true}}, act.run)
		fl.add(tool.Info{Name: "r", Claims: tool.Claims{ReadOnly: true}}, act.run)
		fl.add(tool.Info{Name: "w"}, act.run)
		fl.add(tool.Info{Name: "c", Claims: tool.Claims{Parallel: true}, Cancel: true}, act.run)
		for _, info := range []tool.Info{{Name: "touch"}, {Name: "ctouch", Cancel: true}} {
			fl.spec(tool.Spec[act, string]{Info: info, ClaimsOf: act.claims, Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) }})
		}
		f(fl)
	})
}

// add registers a tool of the program.
func (f *floor) add(info tool.Info, run func(act, context.Context) (string, error)) {
	f.t.Helper()
	f.spec(tool.Spec[act, string]{Info: info, Run: func(ctx context.Context, a act) (string, error) { return run(a, ctx) }})
}

func (f *floor) spec(s tool.Spec[act, string]) {
	f.t.Helper()
	if err := f.rt.Add(f.made(s)); err != nil {
		f.t.Fatal(err)
	}
}

// made is a tool whose runs are timed.
func (f *floor) made(s tool.Spec[act, string]) *tool.Tool {
	s.Repeatable = true // tests make the same calls again and again
	f.t.Helper()
	t := tool.Tool{
		Info: s.Info, Validate: decoded(s.Validate), Permit: decoded(s.Permit), AskIf: decoded(s.AskIf), Key: decoded(s.Key),
		Run: func(ctx context.Context, a tool.Args) (tool.Result, error) {
			defer f.enters(tool.From(ctx).Request().Index)()
			text, err := decoded(s.Run)(ctx, a)
			return tool.Result{Content: []tool.Content{tool.Text(text)}}, err
		},
	}
	if s.ClaimsOf != nil {
		t.ClaimsOf = func(a tool.Args) (tool.Claims, error) {
			return decoded(func(_ context.Context, in act) (tool.Claims, error) { return s.ClaimsOf(in), nil })(f.ctx, a)
		}
	}
	t.Description, t.Input = "Does what a test says.", json.RawMessage(actSchema)
	made, err := t.Check()
	if err != nil {
		f.t.Fatal(err)
	}
	return made
}

// decoded is a function of a tool that takes its arguments as an act.
func decoded[Out any](f func(context.Context, act) (Out, error)) func(context.Context, tool.Args) (Out, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, a tool.Args) (out Out, err error) {
		var in act
		if err := a.Decode(&in); err != nil {
			return out, err
		}
		return f(ctx, in)
	}
}

func (f *floor) seconds() float64 { return time.Since(f.began).Seconds() }

func (f *floor) enters(i int) (leaves func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now++
	f.most = max(f.most, f.now)
	if i < len(f.began0) {
		f.runs[i]++
		if f.began0[i] < 0 {
			f.began0[i] = f.seconds()
		}
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.now--
	}
}

func (f *floor) observe(e audit.Event) {
	if f.look != nil {
		f.look(e)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := note{Event: e, at: f.seconds(), index: -1}
	if e.Result != nil {
		res := *e.Result
		n.Result = &res
	}
	if e.Request != nil {
		n.index = e.Request.Index
	}
	f.seen = append(f.seen, n)
	if e.Kind == audit.Ended && n.index < len(f.ended) {
		f.ended[n.index] = fmt.Sprintf("%s@%g", word(*e.Result), n.at)
	}
}

// word is a result in a word.
func word(r tool.Result) string {
	if r.Err == nil {
		return "ok"
	}
	return string(r.Err.Kind)
}

// clear forgets what was, and counts time from now on.
func (f *floor) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancel()
	f.ctx, f.cancel = context.WithTimeout(f.t.Context(), 24*time.Hour)
	f.began, f.seen, f.began0, f.runs, f.ended, f.most = time.Now(), nil, nil, nil, nil, 0
}

// expects makes room for calls.
func (f *floor) expects(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		f.began0, f.runs, f.ended = append(f.began0, -1), append(f.runs, 0), append(f.ended, "-")
	}
}

// peak is how many calls ran at once, at most.
func (f *floor) peak() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most
}

// starts are the seconds at which the tools of the calls began; - is never.
func (f *floor) starts() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for _, at := range f.began0 {
		if at < 0 {
			list = append(list, "-")
		} else {
			list = append(list, fmt.Sprintf("%g", at))
		}
	}
	return strings.Join(list, " ")
}

// ends are the kinds of the results, ok for none, and the seconds at which they
// were there.
func (f *floor) ends() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.ended, " ")
}

// notes are the events of a kind.
func (f *floor) notes(kind audit.Kind) []note {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.seen), func(n note) bool { return n.Kind != kind })
}

func (f *floor) session(name string) *ferrule.Session {
	return f.rt.Session(tool.Caller{Session: name})
}

// begin starts a turn with calls, in session s.
func (f *floor) begin(o ferrule.TurnOptions, text string) *ferrule.Turn {
	f.clear()
	turn := f.session("s").View(f.ctx).Begin(f.ctx, o)
	f.more(turn, text)
	return turn
}

// more adds calls to a turn.
func (f *floor) more(turn *ferrule.Turn, text string) {
	calls := words(text)
	f.expects(len(calls))
	turn.Add(calls...)
}

// do runs calls to their end.
func (f *floor) do(text string) []tool.Result { return f.doCalls(words(text)...) }

func (f *floor) doCalls(calls ...tool.Call) []tool.Result {
	f.clear()
	f.expects(len(calls))
	return f.session("s").View(f.ctx).Do(f.ctx, calls...)
}

// after waits so many seconds of the bubble, and until nothing moves.
func after(seconds float64) {
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	synctest.Wait()
}

func (f *floor) want(what, got, want string) {
	f.t.Helper()
	if got != want {
		f.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// groups divides calls as partition-then-gather does: neighbours that are
// parallel form a group, every other call is one.
func groups(calls string) string {
	var s strings.Builder
	for i, c := range calls {
		if i > 0 && (c == 'w' || calls[i-1] == 'w') {
			s.WriteByte('|')
		}
		s.WriteRune(c)
	}
	return s.String()
}

// played is the groups in which calls really ran, one after another.
func (f *floor) played(calls string) string {
	byStart := make(map[float64]string)
	for i, at := range f.began0 {
		byStart[at] += calls[i : i+1]
	}
	var list []string
	for _, at := range slices.Sorted(maps.Keys(byStart)) {
		list = append(list, byStart[at])
	}
	return strings.Join(list, "|")
}

func TestOrder(t *testing.T) {
	t.Parallel()
	t.Run("D1 parallel calls between calls that claim nothing are groups that never merge", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			for _, tt := range []struct{ calls, want string }{
				{"r", "r"},
				{"w", "w"},
				{"rr", "rr"},
				{"ww", "w|w"},
				{"rrwrr", "rr|w|rr"},
				{"wwr", "w|w|r"},
				{"rwrwr", "r|w|r|w|r"},
				{"wrrrrw", "w|rrrr|w"},
				{"prcwcp", "prc|w|cp"}, // read-only implies parallel; Cancel changes nothing
			} {
				f.do(strings.Join(strings.Split(tt.calls, ""), " "))
				f.want("groups of "+tt.calls, f.played(tt.calls), tt.want)
			}
		})
	})
	t.Run("D1 with tools that claim only parallel or nothing this is partition-then-gather", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			for size := 1; size <= 6; size++ {
				for bits := range 1 << size {
					var calls strings.Builder
					for i := range size {
						calls.WriteByte("rw"[bits>>i&1])
					}
					f.do(strings.Join(strings.Split(calls.String(), ""), " "))
					f.want("groups of "+calls.String(), f.played(calls.String()), groups(calls.String()))
				}
			}
		})
	})
	t.Run("D1 a call starts when every earlier call that it conflicts with has ended", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			for _, tt := range []struct{ calls, starts string }{
				{"p@3 p@1 w p", "0 0 3 4"}, // the slowest of a group counts
				{"w@2 p p@3 w", "0 2 2 5"},
				{"!/a !/b !/c", "0 0 0"},
				{"!/a !/a !/a", "0 1 2"},
				{"/a /a /a", "0 0 0"},
				{"/a@2 !/a /a", "0 2 3"},
				{"!/a@2 /a /b", "0 2 0"},
				{"!/a@2 /a/x /ab", "0 2 0"},
				{"/a/x@2 !/a !/ab", "0 2 0"},
				{"!/@2 /a /b", "0 2 2"},
				{"!/a@2 !/b@3 / !/b", "0 0 3 4"}, // the reader of all waits for both writers
				{"!/a@2 p !/b", "0 2 3"},         // where one does not say what it touches, both must be parallel
				{"+!/a@2 p +!/b", "0 0 0"},
				{"+!/a@2 +!/a", "0 2"},
				{"!/a@2 w /b", "0 2 3"},
				{"/a@5 p@2 !/b@1 /a", "0 5 7 7"},
				{"+/a@5 p@2 !/b@1 +/a", "0 0 2 0"},
			} {
				f.do(tt.calls)
				f.want("starts of "+tt.calls, f.starts(), tt.starts)
			}
		})
	})
	t.Run("D1 a call starts the moment the last earlier one that it conflicts with has ended, whatever they claim and how long they take", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Limit: 100}, func(f *floor) {
			rapid.Check(t, func(rt *rapid.T) {
				list := rapid.SliceOfN(rapid.SampledFrom(
					[]string{"p", "r", "w", "/", "!/", "/a", "!/a", "+!/a", "!/a/b", "!/ab", "+/b", "!/b", "c"}), 1, 12).Draw(rt, "calls")
				var ends []float64
				var want []string
				for i := range list {
					at := 0.0
					for j := range i {
						if clash(list[i], list[j]) {
							at = max(at, ends[j])
						}
					}
					d := rapid.IntRange(1, 4).Draw(rt, "seconds")
					want = append(want, fmt.Sprintf("%g", at))
					ends = append(ends, at+float64(d))
					list[i] += fmt.Sprintf("@%d", d)
				}
				f.do(strings.Join(list, " "))
				if got, want := f.starts(), strings.Join(want, " "); got != want {
					rt.Errorf("starts of %s:\ngot  %s\nwant %s", list, got, want)
				}
			})
		})
	})
	t.Run("D1 slots go in call order", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			for _, tt := range []struct {
				limit         int
				calls, starts string
			}{
				{2, "p@3 p p p p p", "0 0 1 2 3 3"},
				{1, "p p p p", "0 1 2 3"},
				{1, "!/a !/a !/b", "0 1 2"}, // the second was ready last, and goes first
				{2, "!/a@2 !/a !/b@3 !/c", "0 2 0 3"},
			} {
				f.begin(ferrule.TurnOptions{Limit: tt.limit}, tt.calls).Wait()
				f.want(fmt.Sprintf("starts of %s, %d at once", tt.calls, tt.limit), f.starts(), tt.starts)
			}
		})
	})
	t.Run("D1 a call held only by its own cap lets later ones pass", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "one", Claims: tool.Claims{Parallel: true}, AtOnce: 1}, act.run)
			for _, tt := range []struct {
				limit         int
				calls, starts string
			}{
				{10, "one one p", "0 1 0"},
				{2, "one one p p", "0 1 0 1"}, // it does not hold a slot, and the next one goes to it
				{2, "one@3 one p p p", "0 3 0 1 2"},
				{10, "one one w p", "0 1 2 3"}, // what conflicts with it waits
			} {
				f.begin(ferrule.TurnOptions{Limit: tt.limit}, tt.calls).Wait()
				f.want(fmt.Sprintf("starts of %s, %d at once", tt.calls, tt.limit), f.starts(), tt.starts)
			}
		})
	})
	t.Run("D1 calls that are added later keep behind those that are there", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			turn := f.begin(ferrule.TurnOptions{}, "!/a@5")
			after(2)
			f.more(turn, "/a /b")
			turn.Wait()
			f.want("starts", f.starts(), "0 5 2")
		})
	})
	t.Run("D1 calls may be added by many goroutines at once", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			turn := f.session("s").View(f.ctx).Begin(f.ctx, ferrule.TurnOptions{})
			var adding sync.WaitGroup
			for range 20 {
				adding.Go(func() { turn.Add(words("p@0 w@0 !/a@0 p=fail@0 nosuch")...) })
			}
			adding.Wait()
			ids := make(map[string]bool)
			for i, r := range turn.Wait() {
				ids[r.ID] = true
				if want := fmt.Sprintf("call_%d", i%5); r.CallID != want {
					f.t.Errorf("result %d is of %q, want %q", i, r.CallID, want)
				}
			}
			f.want("different ids", fmt.Sprint(len(ids)), "100")
		})
	})
	t.Run("D1 results stand in the order of the calls, whatever order they end in", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			results := f.do("p@3 p=fail@1 p@2 nosuch p=panic@1")
			var got []string
			for i, r := range results {
				got = append(got, word(r))
				if want := fmt.Sprintf("call_%d", i); r.CallID != want {
					t.Errorf("result %d is of %s, want %s", i, r.CallID, want)
				}
			}
			f.want("results", strings.Join(got, " "), "ok failed ok unknown_tool failed")
		})
	})
	t.Run("D4 what cannot be judged counts as exclusive, and still gets its result", func(t *testing.T) {
		run := func(ctx context.Context, a act) (string, error) { return a.run(ctx) }
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.spec(tool.Spec[act, string]{Info: tool.Info{Name: "panics"}, ClaimsOf: func(act) tool.Claims { panic("claims") }, Run: run})
			f.spec(tool.Spec[act, string]{Info: tool.Info{Name: "contradicts"}, Run: run, ClaimsOf: func(act) tool.Claims {
				return tool.Claims{ReadOnly: true, Touches: []tool.Access{{Resource: "file:/a", Write: true}}}
			}})
			strange := f.made(tool.Spec[act, string]{Info: tool.Info{Name: "strange", Claims: tool.Claims{Parallel: true}}, Run: run})
			if err := f.rt.Set(tool.Source{Name: "srv", Trust: tool.MCP}, strange); err != nil {
				f.t.Fatal(err)
			}
			for _, tt := range []struct {
				what         string
				call         tool.Call
				starts, ends string
			}{
				{"an unknown tool", tool.Call{Name: "nosuch"}, "0 0 - 2 2", "ok@2 ok@1 unknown_tool@2 ok@3 ok@3"},
				{"input that is no JSON", tool.Call{Name: "p", Input: json.RawMessage(`{"for":`)}, "0 0 - 2 2", "ok@2 ok@1 invalid_input@2 ok@3 ok@3"},
				{"input that does not fit", tool.Call{Name: "p", Input: json.RawMessage(`{"nosuch":1}`)}, "0 0 - 2 2", "ok@2 ok@1 invalid_input@2 ok@3 ok@3"},
				{"claims that panic", tool.Call{Name: "panics", Input: act{For: 1}.text()}, "0 0 2 3 3", "ok@2 ok@1 ok@3 ok@4 ok@4"},
				{"claims that contradict", tool.Call{Name: "contradicts", Input: act{For: 1}.text()}, "0 0 2 3 3", "ok@2 ok@1 ok@3 ok@4 ok@4"},
				{"claims that nobody believes", tool.Call{Name: "srv__strange", Input: act{For: 1}.text()}, "0 0 2 3 3", "ok@2 ok@1 ok@3 ok@4 ok@4"},
			} {
				f.doCalls(slices.Concat(words("p@2 p"), []tool.Call{tt.call}, words("p p"))...)
				f.want("starts with "+tt.what, f.starts(), tt.starts)
				f.want("ends with "+tt.what, f.ends(), tt.ends)
			}
		})
	})
}

// clash is rule D1 for words, said slowly.
func clash(a, b string) bool {
	claims := func(w string) tool.Claims {
		w, _, _ = strings.Cut(w, "@")
		switch w {
		case "w":
			return tool.Claims{}
		case "p", "c", "r":
			return tool.Claims{Parallel: true}
		}
		var in act
		if err := json.Unmarshal(words(w)[0].Input, &in); err != nil {
			panic(err)
		}
		return in.claims()
	}
	x, y := claims(a), claims(b)
	if x.Touches == nil || y.Touches == nil {
		return !x.Parallel || !y.Parallel
	}
	return x.Touches[0].Meets(y.Touches[0])
}

// ledger is what calls write to: one text for each resource.
type ledger struct {
	mu    sync.Mutex
	texts map[string]string
}

// work reads and writes as a call says, slowly: what it read is in what it
// writes, so that any other order leaves another ledger.
func (l *ledger) work(a act, step func()) string {
	var read strings.Builder
	for _, r := range a.Read {
		read.WriteString(l.below(r) + ";")
	}
	step()
	for _, w := range a.Write {
		l.mu.Lock()
		for name := range l.texts {
			if (tool.Access{Resource: w}).Covers(tool.Access{Resource: name}) {
				l.texts[name] = ""
			}
		}
		l.mu.Unlock()
		step()
		l.mu.Lock()
		l.texts[w] = fmt.Sprintf("%d<%s>", len(read.String()), read.String())
		l.mu.Unlock()
	}
	return read.String()
}

func (l *ledger) below(r string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for name, text := range l.texts {
		if (tool.Access{Resource: r}).Covers(tool.Access{Resource: name}) {
			all = append(all, name+"="+text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

func TestSerial(t *testing.T) {
	t.Parallel()
	t.Run("D2 as far as claims are true the outcome equals running the calls one by one", func(t *testing.T) {
		resource := rapid.SampledFrom([]string{"file:/", "file:/a", "file:/a/b", "file:/ab", "table:x", "table:x/1"})
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			var many *ledger
			f.spec(tool.Spec[act, string]{Info: tool.Info{Name: "ledger"}, ClaimsOf: act.claims, Run: func(_ context.Context, a act) (string, error) {
				return many.work(a, func() { time.Sleep(time.Duration(a.For) * time.Second) }), nil
			}})
			rapid.Check(t, func(rt *rapid.T) {
				many = &ledger{texts: make(map[string]string)}
				one := &ledger{texts: make(map[string]string)}
				f.clear()
				turn := f.session("s").View(f.ctx).Begin(f.ctx, ferrule.TurnOptions{Limit: rapid.IntRange(1, 10).Draw(rt, "limit")})
				var want []string
				for range rapid.IntRange(2, 10).Draw(rt, "calls") {
					a := act{
						For:   float64(rapid.IntRange(0, 5).Draw(rt, "seconds")),
						Read:  rapid.SliceOfN(resource, 0, 2).Draw(rt, "read"),
						Write: rapid.SliceOfN(resource, 0, 2).Draw(rt, "write"),
						Both:  rapid.Bool().Draw(rt, "both"),
					}
					turn.Add(tool.Call{Name: "ledger", Input: a.text()})
					want = append(want, one.work(a, func() {}))
				}
				for i, r := range turn.Wait() {
					if got := tool.TextOf(r.Content); got != want[i] {
						rt.Errorf("call %d read %q, want %q", i, got, want[i])
					}
				}
				if !maps.Equal(many.texts, one.texts) {
					rt.Errorf("got %v, want %v", many.texts, one.texts)
				}
			})
		})
	})
	t.Run("D2 writes to different files run side by side, and a read never passes a write that it meets", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.do("!/a@3 !/b@3 /a /c")
			f.want("starts", f.starts(), "0 0 3 0")
		})
	})
}

// moving registers a tool whose Validate takes a second and then puts the
// resource in the place of the one that was asked for.
func (f *floor) moving(name, to string) {
	f.spec(tool.Spec[act, string]{
		Info: tool.Info{Name: name}, ClaimsOf: act.claims,
		Validate: func(_ context.Context, a act) (json.RawMessage, error) {
			time.Sleep(time.Second)
			a.Write = []string{to}
			return a.text(), nil
		},
		Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
	})
}

func TestClaimsThatChange(t *testing.T) {
	t.Parallel()
	// moves is a call that says file:/m and turns to another resource after a
	// second.
	moves := func(seconds float64) tool.Call {
		return tool.Call{Name: "moves", Input: act{For: seconds, Write: []string{"file:/m"}}.text()}
	}
	// play runs calls of which the one named moves goes to file:/r.
	play := func(t *testing.T, limit int, calls ...tool.Call) (starts string, runs []int) {
		t.Helper()
		onFloor(t, &ferrule.Runtime{Limit: limit}, func(f *floor) {
			f.moving("moves", "file:/r")
			f.doCalls(calls...)
			starts, runs = f.starts(), f.runs
		})
		return starts, runs
	}
	t.Run("L2 a call with other claims waits for earlier ones that it conflicts with now", func(t *testing.T) {
		if got, _ := play(t, 10, words("!/r@5")[0], moves(1)); got != "0 5" {
			t.Errorf("starts: got %q, want 0 5", got)
		}
	})
	t.Run("L2 a call with other claims waits also for later ones that run already", func(t *testing.T) {
		if got, _ := play(t, 10, moves(1), words("!/r@5")[0]); got != "5 0" {
			t.Errorf("starts: got %q, want 5 0", got)
		}
	})
	t.Run("L2 later ones that do not run yet wait for a call with other claims", func(t *testing.T) {
		// The last one waits for the second until 3.
		if got, _ := play(t, 10, moves(4), words("!/x@3")[0], tool.Call{Name: "touch", Input: act{For: 1, Read: []string{"file:/x", "file:/r"}}.text()}); got != "1 0 5" {
			t.Errorf("starts: got %q, want 1 0 5", got)
		}
	})
	// The last call had no slot when the second one took its resource. It still
	// stands in line, and the first slot goes to it.
	t.Run("L2 a call that waits for a slot does not run beside one that came to conflict with it", func(t *testing.T) {
		got, _ := play(t, 2, words("!/x@3")[0], moves(5), words("!/r")[0])
		if got != "0 1 6" {
			t.Errorf("starts of a call, one that moves at 1 for 5 s, and one that conflicts with it then: got %q, want 0 1 6", got)
		}
	})
	t.Run("L2 a call that waits for a slot runs once, also if another came to conflict with it meanwhile", func(t *testing.T) {
		_, runs := play(t, 2, words("!/x@10")[0], moves(1), words("!/r@20")[0])
		if !slices.Equal(runs, []int{1, 1, 1}) {
			t.Errorf("the tools ran %v times, want once each", runs)
		}
	})
	t.Run("L2 a call that is held by its cap does not run beside one that came to conflict with it", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.moving("moves", "file:/r")
			f.spec(tool.Spec[act, string]{Info: tool.Info{Name: "one", AtOnce: 1}, ClaimsOf: act.claims, Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) }})
			one := func(seconds float64, path string) tool.Call {
				return tool.Call{Name: "one", Input: act{For: seconds, Write: []string{path}}.text()}
			}
			f.doCalls(one(3, "file:/x"), moves(5), one(1, "file:/r"))
			f.want("starts", f.starts(), "0 1 6")
		})
	})
	// The first call moved behind the last, which ran. The last asks a person,
	// and the second call moves between them.
	t.Run("L2 calls that move about one that asks a person do not wait for each other in a ring", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox}, func(f *floor) {
			f.moving("moves", "file:/r")
			later := func(_ context.Context, a act) (json.RawMessage, error) {
				time.Sleep(2 * time.Second)
				a.Write = []string{"file:/r"}
				return a.text(), nil
			}
			run := func(ctx context.Context, a act) (string, error) { return a.run(ctx) }
			f.spec(tool.Spec[act, string]{Info: tool.Info{Name: "moves_later"}, ClaimsOf: act.claims, Validate: later, Run: run})
			f.spec(tool.Spec[act, string]{
				Info: tool.Info{Name: "asks"}, ClaimsOf: act.claims, Run: run,
				Permit: func(context.Context, act) (tool.Decision, error) {
					time.Sleep(1500 * time.Millisecond)
					return tool.Decision{Verdict: tool.Ask}, nil
				},
			})
			f.clear()
			f.expects(3)
			turn := f.session("s").View(f.ctx).Begin(f.ctx, ferrule.TurnOptions{})
			turn.Add(moves(1),
				tool.Call{Name: "moves_later", Input: act{For: 1, Write: []string{"file:/n"}}.text()},
				tool.Call{Name: "asks", Input: act{For: 1, Write: []string{"file:/r"}}.text()})
			after(10)
			say(f.t, inbox, policy.Answer{Allow: true})
			turn.Wait()
			for end := range strings.FieldsSeq(f.ends()) {
				if !strings.HasPrefix(end, "ok@") {
					f.t.Errorf("got %s of %s, want all to run", end, f.ends())
				}
			}
		})
	})
}

// say answers every question that is open.
func say(t *testing.T, inbox policy.Inbox, a policy.Answer) {
	t.Helper()
	open, err := inbox.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(open, func(a, b policy.Question) int { return a.Index - b.Index }) // who puts them is in no order
	for _, q := range open {
		if err := inbox.Answer(t.Context(), q.ID, a); err != nil {
			t.Error(err)
		}
	}
}

func TestCaps(t *testing.T) {
	many := func(word string, n int) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }
	// most is how many of 25 parallel calls run at once.
	most := func(t *testing.T, rt *ferrule.Runtime, o ferrule.TurnOptions) (n int, found []ferrule.Finding) {
		t.Helper()
		onFloor(t, rt, func(f *floor) {
			f.begin(o, many("p", 25)).Wait()
			n = f.peak()
			found = slices.DeleteFunc(rt.Findings(), func(f ferrule.Finding) bool { return f.Name != "FERRULE_MAX_CONCURRENCY" })
		})
		return n, found
	}
	t.Run("D3 at most 10 calls of a turn run at once", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.do(many("p", 25))
			f.want("starts of 25 calls", f.starts(), many("0", 10)+" "+many("1", 10)+" "+many("2", 5))
		})
	})
	t.Run("D3 an option changes how many run at once, for the runtime or for a turn", func(t *testing.T) {
		t.Setenv("FERRULE_MAX_CONCURRENCY", "7")
		for _, tt := range []struct{ runtime, turn, want int }{
			{3, 0, 3}, {30, 0, 25}, {1, 0, 1}, {3, 5, 5}, {0, 2, 2}, {0, 0, 7}, {-1, 0, 1}, {3, -1, 3},
		} {
			if got, _ := most(t, &ferrule.Runtime{Limit: tt.runtime}, ferrule.TurnOptions{Limit: tt.turn}); got != tt.want {
				t.Errorf("limit %d, of the turn %d: got %d at once, want %d", tt.runtime, tt.turn, got, tt.want)
			}
		}
	})
	t.Run("D3 a bad FERRULE_MAX_CONCURRENCY counts as 1 and is a finding", func(t *testing.T) {
		for _, tt := range []struct {
			value string
			want  int
			found bool
		}{
			{"", 10, false},
			{"4", 4, false},
			{"1", 1, false},
			{"12", 12, false},
			{"0", 1, true},
			{"-3", 1, true},
			{"many", 1, true},
			{"3.5", 1, true},
			{"1e1", 1, true},
			{"0x10", 1, true},
			{"99999999999999999999", 1, true},
		} {
			t.Setenv("FERRULE_MAX_CONCURRENCY", tt.value)
			got, found := most(t, &ferrule.Runtime{}, ferrule.TurnOptions{})
			if got != tt.want || len(found) > 0 != tt.found {
				t.Errorf("%q: got %d at once and findings %v, want %d and %v", tt.value, got, found, tt.want, tt.found)
			}
			for _, f := range found {
				if !strings.Contains(f.Text, strconv.Quote(tt.value)) {
					t.Errorf("the finding %q does not say what was got", f.Text)
				}
			}
		}
	})
	t.Run("D3 an option hides a bad FERRULE_MAX_CONCURRENCY", func(t *testing.T) {
		t.Setenv("FERRULE_MAX_CONCURRENCY", "many")
		if got, found := most(t, &ferrule.Runtime{Limit: 4}, ferrule.TurnOptions{}); got != 4 || len(found) > 0 {
			t.Errorf("got %d at once and findings %v, want 4 and none", got, found)
		}
	})
	// together runs the same calls in several sessions at once.
	together := func(f *floor, calls string, callers ...tool.Caller) {
		f.clear()
		var turns []*ferrule.Turn
		for _, c := range callers {
			turn := f.rt.Session(c).View(f.ctx).Begin(f.ctx, ferrule.TurnOptions{})
			turn.Add(words(calls)...)
			turns = append(turns, turn)
		}
		for _, turn := range turns {
			for i, r := range turn.Wait() {
				if r.Err != nil {
					f.t.Errorf("call %d: %v", i, r.Err)
				}
			}
		}
	}
	source := func(f *floor) {
		var list []*tool.Tool
		for _, name := range []string{"one", "two"} {
			list = append(list, f.made(tool.Spec[act, string]{
				Info: tool.Info{Name: name, Claims: tool.Claims{Parallel: true}},
				Run:  func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
			}))
		}
		if err := f.rt.Set(tool.Source{Name: "srv", Trust: tool.SkillTrusted}, list...); err != nil {
			f.t.Fatal(err)
		}
	}
	t.Run("D3 a cap of a source is for all its tools, over all sessions, and for nothing else", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{SourceLimits: map[string]int{"srv": 3, "other": 1}}, func(f *floor) {
			source(f)
			together(f, many("srv__one srv__two", 3), tool.Caller{Session: "a"}, tool.Caller{Session: "b"})
			f.want("at most at once, and seconds for 12 calls", fmt.Sprint(f.peak(), " ", f.seconds()), "3 4")
			together(f, many("p", 8), tool.Caller{Session: "a"}, tool.Caller{Session: "b"})
			f.want("at most at once without a cap, and seconds", fmt.Sprint(f.peak(), " ", f.seconds()), "16 1")
		})
	})
	t.Run("D3 a cap of a tenant is over all its sessions, and for no other tenant", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{TenantLimits: map[string]int{"acme": 2}}, func(f *floor) {
			acme := []tool.Caller{{Tenant: "acme", Session: "a"}, {Tenant: "acme", Session: "b"}, {Tenant: "acme", Principal: "kim", Session: "a"}}
			together(f, many("p", 4), acme...)
			f.want("at most at once, and seconds for 12 calls", fmt.Sprint(f.peak(), " ", f.seconds()), "2 6")
			together(f, many("p", 4), tool.Caller{Tenant: "other", Session: "a"}, tool.Caller{Session: "a"})
			f.want("at most at once without a cap, and seconds", fmt.Sprint(f.peak(), " ", f.seconds()), "8 1")
		})
	})
	t.Run("D3 a cap of a tool is over all sessions", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "two", Claims: tool.Claims{Parallel: true}, AtOnce: 2}, act.run)
			together(f, many("two", 3), tool.Caller{Session: "a"}, tool.Caller{Session: "b"})
			f.want("at most at once, and seconds for 6 calls", fmt.Sprint(f.peak(), " ", f.seconds()), "2 3")
		})
	})
	t.Run("D3 caps of tool, source and tenant hold at once", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{SourceLimits: map[string]int{"srv": 3}, TenantLimits: map[string]int{"acme": 2, "other": 2}}, func(f *floor) {
			var mu sync.Mutex
			now, most := make(map[string]int), make(map[string]int)
			count := func(n int, names ...string) {
				mu.Lock()
				defer mu.Unlock()
				for _, name := range names {
					now[name] += n
					most[name] = max(most[name], now[name])
				}
			}
			counted := f.made(tool.Spec[act, string]{
				Info: tool.Info{Name: "one", Claims: tool.Claims{Parallel: true}},
				Run: func(ctx context.Context, a act) (string, error) {
					tenant := tool.From(ctx).Request().Caller.Tenant
					count(1, tenant, "all")
					defer count(-1, tenant, "all")
					return a.run(ctx)
				},
			})
			if err := f.rt.Set(tool.Source{Name: "srv", Trust: tool.SkillTrusted}, counted); err != nil {
				f.t.Fatal(err)
			}
			together(f, many("srv__one", 6), tool.Caller{Tenant: "acme"}, tool.Caller{Tenant: "other"}, tool.Caller{})
			if most["all"] != 3 || most["acme"] > 2 || most["other"] > 2 {
				f.t.Errorf("at most at once: %v, want 3 in all and 2 of acme and other", most)
			}
		})
	})
	t.Run("D3 a call that waits for a person holds no place of its cap", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox}, func(f *floor) {
			f.asking(tool.Info{AtOnce: 1})
			turn := f.begin(ferrule.TurnOptions{}, "asks asks")
			after(2)
			if open, err := inbox.Pending(f.ctx); err != nil || len(open) != 2 {
				f.t.Errorf("got %d questions, %v, want both", len(open), err)
			}
			say(f.t, inbox, policy.Answer{Allow: true})
			turn.Wait()
			f.want("ends", f.ends(), "ok@3 ok@4")
		})
	})
	again := tool.Spec[act, string]{
		Info: tool.Info{Name: "one", Claims: tool.Claims{Parallel: true}, AtOnce: 1},
		Run:  func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
	}
	t.Run("D3 a cap of a tool holds also while the tool is registered anew", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.spec(again)
			turn := f.begin(ferrule.TurnOptions{}, "one@5")
			after(1)
			if err := f.rt.Replace(f.made(again)); err != nil { // as a refresh does that makes its tools anew
				f.t.Fatal(err)
			}
			f.session("other").View(f.ctx).Do(f.ctx, words("one@5")...)
			turn.Wait()
			f.want("at most at once", fmt.Sprint(f.peak()), "1")
		})
	})
	t.Run("D3 a cap of a tool holds also where a fallback supplies it", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			one := f.made(again)
			f.rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) { return one, nil })
			f.do("one one")
			f.want("starts", f.starts(), "0 1")
		})
	})
	t.Run("D3 a cap that is no number of calls counts as 1", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{SourceLimits: map[string]int{"srv": 0}}, func(f *floor) {
			source(f)
			together(f, many("srv__one", 3), tool.Caller{})
			f.want("at most at once", fmt.Sprint(f.peak()), "1")
		})
	})
}

// stillborn registers parallel tools that never run: what their name says
// happens before.
func (f *floor) stillborn() {
	par := tool.Claims{Parallel: true}
	run := func(ctx context.Context, a act) (string, error) { return a.run(ctx) }
	f.spec(tool.Spec[act, string]{Info: tool.Info{Name: "invalid", Claims: par}, Run: run, Validate: func(context.Context, act) (json.RawMessage, error) {
		return nil, errors.New("it is wrong")
	}})
	f.spec(tool.Spec[act, string]{Info: tool.Info{Name: "denied", Claims: par}, Run: run, Permit: func(context.Context, act) (tool.Decision, error) {
		return tool.Decision{Verdict: tool.Deny}, nil
	}})
	f.spec(tool.Spec[act, string]{Info: tool.Info{Name: "stuck", Claims: par, Timeout: time.Second}, Run: run, Permit: func(context.Context, act) (tool.Decision, error) {
		time.Sleep(5 * time.Second)
		return tool.Decision{Verdict: tool.Silent}, nil
	}})
}

func TestSiblings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		siblings ferrule.Siblings
		limit    int
		calls    string
		more     string // added at 3
		ends     string
	}{
		{"D5 asked: a plain failure stops nobody", ferrule.StopAsked, 0, "p=fail@1 p@5 c=obey@5", "p", "failed@1 ok@5 ok@5 ok@4"},
		{
			"D5 asked: a tool that says so stops siblings that are Cancel, those that block finish", ferrule.StopAsked, 0,
			"c=obey@5 p=stop@1 p@5 c=obey@5", "", "aborted@1 failed@1 ok@5 aborted@1",
		},
		{"D5 asked: siblings that have no slot yet are stopped", ferrule.StopAsked, 2, "p=stop@1 p@5 p c", "", "failed@1 ok@5 aborted@1 aborted@1"},
		{"D5 asked: siblings that wait for others are stopped", ferrule.StopAsked, 0, "!/a=stop@1 !/b@5 /b", "", "failed@1 ok@5 aborted@1"},
		{
			"D5 asked: later calls that conflict with the failing one go on", ferrule.StopAsked, 0,
			"!/a=stop@1 /a !/a@2 ~!/a=obey@3 !/b@5", "", "failed@1 ok@2 ok@4 ok@7 ok@5",
		},
		{"D5 asked: a call that conflicts with everything goes on, what is behind it does not", ferrule.StopAsked, 0, "p=stop@1 w p", "", "failed@1 ok@2 aborted@1"},
		{"D5 asked: calls that are added later are stopped too, if they do not conflict", ferrule.StopAsked, 0, "!/a=stop@1 !/b@5", "!/c ~!/b /a p", "failed@1 ok@5 aborted@3 aborted@3 ok@4 ok@6"},
		{"D5 asked: a Cancel call that does not listen is given up", ferrule.StopAsked, 0, "p=stop@1 c@5 p@5", "", "failed@1 aborted@2 ok@5"},
		{"D5 never: nobody is stopped, even if the tool says so", ferrule.StopNever, 1, "p=stop@1 c=obey@5 p", "c", "failed@1 ok@6 ok@7 ok@8"},
		{"D5 never: not by a panic either", ferrule.StopNever, 0, "p=panic@1 c=obey@5", "c", "failed@1 ok@5 ok@4"},
		{"D5 always: any failure stops siblings, of a read too", ferrule.StopAlways, 0, "r=fail@1 p@5 c=obey@5", "p w", "failed@1 ok@5 aborted@1 aborted@3 ok@6"},
		{"D5 always: a panic stops siblings", ferrule.StopAlways, 0, "p=panic@1 p@5 c=obey@5", "", "failed@1 ok@5 aborted@1"},
		{"D5 always: a tool that ends its goroutine stops siblings", ferrule.StopAlways, 0, "p=exit@1 p@5 c=obey@5", "", "failed@1 ok@5 aborted@1"},
		{"D5 always: a time-out stops siblings", ferrule.StopAlways, 0, "brief=obey@9 p@5 c=obey@5", "", "timeout@2 ok@5 aborted@2"},
		{"D5 always: a call that is given up stops siblings", ferrule.StopAlways, 0, "brief@9 p@5 c=obey@5", "", "timeout@3 ok@5 aborted@3"},
		{"D5 always: success stops nobody", ferrule.StopAlways, 0, "p@1 p@5 c=obey@5", "c", "ok@1 ok@5 ok@5 ok@4"},
		{"D5 always: a call that did not run never stops others, if its input was wrong", ferrule.StopAlways, 0, "invalid p@5 c=obey@5", "c", "invalid_value@0 ok@5 ok@5 ok@4"},
		{"D5 always: a call that did not run never stops others, if it was denied", ferrule.StopAlways, 0, "denied p@5 c=obey@5", "c", "denied@0 ok@5 ok@5 ok@4"},
		{"D5 always: a call that did not run never stops others, if it was given up before", ferrule.StopAlways, 0, "stuck p@5 c=obey@5", "c", "denied@2 ok@5 ok@5 ok@4"},
		{"D5 always: a call that did not run never stops others, if its name is unknown", ferrule.StopAlways, 0, "nosuch p c=obey@5", "c", "unknown_tool@0 ok@1 ok@5 ok@4"},
		// The second call is stopped by the first, and comes back with an error.
		// That is no failure of its own: the others conflict with the first.
		{"D5 always: a call that was stopped does not stop others in its turn", ferrule.StopAlways, 0, "!/a=fail@1 ~!/b=obey@9 !/a@3 !/a", "", "failed@1 aborted@1 ok@4 ok@5"},
		{"D5 always: a call that was stopped and given up does not stop others in its turn", ferrule.StopAlways, 0, "!/a=fail@1 ~!/b@9 !/a@5", "!/a", "failed@1 aborted@2 ok@6 ok@7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onFloor(t, &ferrule.Runtime{Siblings: tt.siblings, Limit: tt.limit}, func(f *floor) {
				f.stillborn()
				f.add(tool.Info{Name: "brief", Claims: tool.Claims{Parallel: true}, Timeout: 2 * time.Second}, act.run)
				turn := f.begin(ferrule.TurnOptions{}, tt.calls)
				after(3)
				f.more(turn, tt.more)
				turn.Wait()
				f.want("ends of "+tt.calls+", then "+tt.more, f.ends(), tt.ends)
			})
		})
	}
	t.Run("D5 the text of a stopped call names the cause", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "culprit", Claims: tool.Claims{Parallel: true}}, act.run)
			results := f.do("culprit=stop@1 c=obey@5 p@2")
			if r := results[1]; r.Err == nil || !strings.Contains(r.Err.Text, "culprit") || len(r.Content) > 0 {
				f.t.Errorf("got %v, want a text that names culprit, and nothing beside it", r)
			}
		})
	})
	t.Run("D5 the session goes on", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Siblings: ferrule.StopAlways}, func(f *floor) {
			f.do("p=stop@1 c=obey@5")
			f.do("p c=obey")
			f.want("ends of the next turn", f.ends(), "ok@1 ok@1")
		})
	})
	t.Run("D5 a person who stops one call stops no other", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Siblings: ferrule.StopAlways}, func(f *floor) {
			turn := f.begin(ferrule.TurnOptions{}, "c=obey@9 c=obey@3 p@2")
			after(1)
			turn.Stop(f.id(0))
			turn.Wait()
			f.want("ends", f.ends(), "aborted@1 ok@3 ok@2")
		})
	})
	t.Run("D5 always: a call that failed, was run again by a wrapper and then went well stops nobody", func(t *testing.T) {
		retry := ferrule.Hook{Name: "retry", Only: ferrule.Filter{Names: []string{"flaky"}}, Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
			if res := next(ctx); res.Err == nil {
				return res
			}
			return next(ctx)
		}}
		onFloor(t, &ferrule.Runtime{Siblings: ferrule.StopAlways, Hooks: []ferrule.Hook{retry}}, func(f *floor) {
			runs := 0
			f.add(tool.Info{Name: "flaky", Claims: tool.Claims{Parallel: true, Idempotent: true}}, func(act, context.Context) (string, error) {
				if runs++; runs == 1 {
					return "", errors.New("not yet")
				}
				return "done", nil
			})
			f.do("flaky c=obey@5")
			f.want("ends", f.ends(), "ok@0 ok@5")
		})
	})
	t.Run("D5 always: a call that asked a person and then went well stops nobody", func(t *testing.T) {
		answer := func(context.Context, policy.Question) (policy.Answer, error) {
			time.Sleep(time.Second)
			return policy.Answer{Allow: true, Text: "blue"}, nil
		}
		onFloor(t, &ferrule.Runtime{Siblings: ferrule.StopAlways, Answer: answer}, func(f *floor) {
			f.add(tool.Info{Name: "wonders", Claims: tool.Claims{Parallel: true}}, func(_ act, ctx context.Context) (string, error) {
				if _, ok := tool.From(ctx).Answer(); !ok {
					return "", &tool.Outcome{Suspend: "Which colour?"}
				}
				return "done", nil
			})
			f.do("wonders c=obey@5")
			f.want("ends", f.ends(), "ok@1 ok@5")
		})
	})
	t.Run("D5 always: a call whose wrapper did not run it stops nobody", func(t *testing.T) {
		instead := ferrule.Hook{Name: "instead", Only: ferrule.Filter{Names: []string{"p"}}, Around: func(context.Context, *tool.Request, ferrule.Next) tool.Result {
			return tool.Result{Content: []tool.Content{{Type: "nonsense"}}}
		}}
		onFloor(t, &ferrule.Runtime{Siblings: ferrule.StopAlways, Hooks: []ferrule.Hook{instead}}, func(f *floor) {
			f.do("p c=obey@5")
			f.want("ends", f.ends(), "invalid_output@0 ok@5")
		})
	})
}

// id is Ferrule's id of a call of this turn.
func (f *floor) id(index int) string {
	for _, n := range f.notes(audit.Requested) {
		if n.index == index {
			return n.Request.ID
		}
	}
	f.t.Fatalf("call %d was not requested", index)
	return ""
}

// asking registers a parallel tool that a person must allow.
func (f *floor) asking(info tool.Info) {
	info.Name, info.Claims, info.Approval = "asks", tool.Claims{Parallel: true}, tool.AskAlways
	f.add(info, act.run)
}

func TestStopping(t *testing.T) {
	t.Parallel()
	t.Run("D6 a person speaks: Cancel calls stop at once, others run on, queued and unanswered ones are aborted", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Inbox: new(policy.Memory)}, func(f *floor) {
			f.asking(tool.Info{})
			turn := f.begin(ferrule.TurnOptions{}, "c=obey@9 p@5 p=obey@7 asks w p")
			after(2)
			turn.Interrupt()
			turn.Wait()
			f.want("ends", f.ends(), "aborted@2 ok@5 ok@7 aborted@2 aborted@2 aborted@2")
		})
	})
	t.Run("D6 a person speaks: a call that is held by a cap is aborted", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "one", Claims: tool.Claims{Parallel: true}, AtOnce: 1}, act.run)
			turn := f.begin(ferrule.TurnOptions{}, "one@5 one")
			after(2)
			turn.Interrupt()
			turn.Wait()
			f.want("ends", f.ends(), "ok@5 aborted@2")
		})
	})
	t.Run("D6 a person speaks: what a Cancel call still returns is dropped", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "tidy", Cancel: true}, func(_ act, ctx context.Context) (string, error) {
				<-ctx.Done()
				time.Sleep(500 * time.Millisecond)
				return "half of it", nil
			})
			turn := f.begin(ferrule.TurnOptions{}, "tidy")
			after(2)
			turn.Interrupt()
			if r := turn.Wait()[0]; word(r) != "aborted" || len(r.Content) > 0 {
				f.t.Errorf("got %v, want aborted and no content", r)
			}
		})
	})
	t.Run("D6 a person speaks: calls that block run on under their own time-out", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			turn := f.begin(ferrule.TurnOptions{}, "p=obey@300 p@55")
			after(2)
			turn.Interrupt()
			turn.Wait()
			f.want("ends", f.ends(), "timeout@60 ok@55")
		})
	})
	t.Run("D6 a person speaks: calls that come later are aborted", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			turn := f.begin(ferrule.TurnOptions{}, "p@5")
			after(2)
			turn.Interrupt()
			after(1)
			f.more(turn, "p nosuch")
			turn.Wait()
			f.want("ends", f.ends(), "ok@5 aborted@3 aborted@3")
			f.want("starts", f.starts(), "0 - -")
		})
	})
	t.Run("D6 a person speaks: a Cancel call that asks its person is aborted, and the question taken back", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox}, func(f *floor) {
			f.asking(tool.Info{Cancel: true})
			turn := f.begin(ferrule.TurnOptions{}, "asks")
			after(2)
			turn.Interrupt()
			turn.Wait()
			f.want("ends", f.ends(), "aborted@2")
			if open, err := inbox.Pending(f.ctx); err != nil || len(open) > 0 {
				f.t.Errorf("got %d open questions, %v, want none", len(open), err)
			}
		})
	})
	hostStops := func(f *floor, calls string, at float64) {
		f.clear()
		ctx, cancel := context.WithCancelCause(f.ctx)
		defer cancel(nil)
		turn := f.session("s").View(ctx).Begin(ctx, ferrule.TurnOptions{})
		f.more(turn, calls)
		after(at)
		cancel(errors.New("the program ends"))
		turn.Wait()
	}
	t.Run("D6 the host stops: the same, but calls that block have 10 s", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Inbox: new(policy.Memory)}, func(f *floor) {
			f.asking(tool.Info{})
			hostStops(f, "c=obey@9 p@5 p=obey@99 p@99 asks w p", 2)
			f.want("ends", f.ends(), "aborted@2 ok@5 aborted@12 aborted@13 aborted@2 aborted@2 aborted@2")
		})
	})
	t.Run("D6 the host stops: the 10 s are one span, not each function's", func(t *testing.T) {
		slow := func(ctx context.Context, _ *tool.Request, now, _ tool.Result) (*tool.Result, error) {
			return &now, act{Do: "obey", For: 8}.wait(ctx)
		}
		onFloor(t, &ferrule.Runtime{Hooks: []ferrule.Hook{{Name: "slow", Output: slow}}}, func(f *floor) {
			hostStops(f, "p@8", 2) // until 8, its hook from 8 on
			f.want("ends", f.ends(), "aborted@12")
		})
	})
	t.Run("D6 the host stops: a context that has ended lets nothing begin", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			ctx, cancel := context.WithCancel(f.ctx)
			cancel()
			f.expects(3)
			results := f.session("s").View(f.ctx).Do(ctx, words("p w nosuch")...)
			if f.starts() != "- - -" || len(results) != 3 {
				f.t.Errorf("starts %s, %d results, want none and 3", f.starts(), len(results))
			}
			for _, r := range results {
				f.want("a result", word(r), "aborted")
			}
		})
	})
	t.Run("D6 the host stops: the error keeps the cause", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			cause := errors.New("the program ends")
			ctx, cancel := context.WithCancelCause(f.ctx)
			time.AfterFunc(2*time.Second, func() { cancel(cause) })
			f.expects(3)
			for i, r := range f.session("s").View(f.ctx).Do(ctx, words("c=obey@99 p=obey@99 w")...) {
				if r.Err == nil || !errors.Is(r.Err, cause) {
					f.t.Errorf("call %d: got %v, want the cause", i, r.Err)
				}
			}
		})
	})
	t.Run("D6 the host stops after a person spoke: calls that block have 10 s from then on", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			ctx, cancel := context.WithCancel(f.ctx)
			defer cancel()
			turn := f.session("s").View(ctx).Begin(ctx, ferrule.TurnOptions{})
			f.more(turn, "p=obey@99")
			after(2)
			turn.Interrupt()
			after(3)
			cancel()
			turn.Wait()
			f.want("ends", f.ends(), "aborted@15")
		})
	})
	for _, tt := range []struct {
		name, calls string
		stop        int
		ends        string
	}{
		{"a Cancel call that runs", "c=obey@9 p@5", 0, "aborted@2 ok@5"},
		{"a call that blocks", "p=obey@9 p@5", 0, "aborted@2 ok@5"},
		{"a call that does not listen", "p@9 p@5", 0, "aborted@3 ok@5"},
		{"a queued call", "!/a@5 !/a !/a", 1, "ok@5 aborted@2 ok@6"},
		{"a call that waits for a person", "asks p@5", 0, "aborted@2 ok@5"},
		{"a call before others that conflict", "!/a=obey@9 /a !/b@5", 0, "aborted@2 ok@3 ok@5"},
	} {
		t.Run("D6 a person may stop any single call: "+tt.name, func(t *testing.T) {
			onFloor(t, &ferrule.Runtime{Inbox: new(policy.Memory)}, func(f *floor) {
				f.asking(tool.Info{})
				turn := f.begin(ferrule.TurnOptions{}, tt.calls)
				after(2)
				if !turn.Stop(f.id(tt.stop)) {
					f.t.Error("it was not under way")
				}
				turn.Wait()
				f.want("ends", f.ends(), tt.ends)
			})
		})
	}
	t.Run("D6 stopping says whether the call was under way", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			turn := f.begin(ferrule.TurnOptions{}, "p@1 p@5")
			after(2)
			for id, want := range map[string]bool{f.id(0): false, "": false, "call_1": false, f.id(1): true} {
				if got := turn.Stop(id); got != want {
					f.t.Errorf("Stop(%q) = %v, want %v", id, got, want)
				}
			}
			turn.Wait()
		})
	})
}

// wait works on until its time is over or ctx ends.
func (a act) wait(ctx context.Context) error {
	_, err := a.run(ctx)
	return err
}

func TestGivenUp(t *testing.T) {
	t.Parallel()
	// brief may take 5 s and does not listen.
	brief := tool.Info{Name: "brief", Claims: tool.Claims{Parallel: true}, Timeout: 5 * time.Second}
	t.Run("D7 a call that has not returned 1 s after its context ended is given up", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(brief, act.run)
			f.do("brief@20 p@1")
			f.want("ends", f.ends(), "timeout@6 ok@1")
			f.want("the turn ended at", fmt.Sprint(f.seconds()), "6")
			if up := f.notes(audit.GivenUp); len(up) != 1 || up[0].at != 6 || up[0].index != 0 {
				f.t.Errorf("got %d events that say so, want one at 6", len(up))
			}
			after(20)
		})
	})
	t.Run("D7 a slot is free again when its call is given up", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Limit: 1}, func(f *floor) {
			f.add(brief, act.run)
			f.do("brief@20 p@1")
			f.want("starts", f.starts(), "0 6")
			after(20)
		})
	})
	t.Run("D7 what comes later is recorded and never delivered", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(brief, act.run)
			turn := f.begin(ferrule.TurnOptions{}, "brief@20")
			first := turn.Wait()[0]
			after(30)
			late := f.notes(audit.Late)
			if len(late) != 1 || late[0].at != 20 || tool.TextOf(late[0].Result.Content) != "done" || late[0].Took != 20*time.Second {
				f.t.Errorf("got %d late events %+v, want one at 20 with what was returned", len(late), late)
			}
			if now := turn.Wait()[0]; first.Err == nil || now.Err == nil || now.Err.Kind != tool.Timeout {
				f.t.Errorf("the result was %v and is %v, want a time-out that stays", first, now)
			}
			if ended := f.notes(audit.Ended); len(ended) != 1 {
				f.t.Errorf("the call ended %d times", len(ended))
			}
		})
	})
	// An operator who reads the record must not take it for a success.
	t.Run("D7 an error that comes later is recorded as one", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(brief, act.run)
			for _, how := range []string{"fail", "panic"} {
				f.do("brief=" + how + "@20")
				after(20)
				late := f.notes(audit.Late)
				if len(late) != 1 || late[0].Result.Err == nil || !strings.Contains(late[0].Result.Err.Error(), "it broke") {
					f.t.Errorf("%s: got %d late events %+v, want one with the error", how, len(late), late)
				}
			}
		})
	})
	for name, h := range map[string]ferrule.Hook{
		"a wrapper": {Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result { return next(ctx) }},
		"an output hook": {Output: func(context.Context, *tool.Request, tool.Result, tool.Result) (*tool.Result, error) {
			return nil, nil //nolint:nilnil // it keeps the result
		}},
	} {
		t.Run("D7 what comes later is recorded as the tool returned it, also where there is "+name, func(t *testing.T) {
			onFloor(t, &ferrule.Runtime{Hooks: []ferrule.Hook{h}}, func(f *floor) {
				f.add(brief, act.run)
				f.do("brief@20")
				after(20)
				late := f.notes(audit.Late)
				if len(late) != 1 || late[0].Result.Err != nil || tool.TextOf(late[0].Result.Content) != "done" {
					f.t.Errorf("got %d late events %+v, want one with what was returned", len(late), late)
				}
				if blocked := f.notes(audit.Blocked); len(blocked) > 0 {
					f.t.Errorf("the record says that a hook blocked the call: %q", blocked[0].Text)
				}
			})
		})
	}
	t.Run("D7 until it returns, calls of the same tool or that conflict fail and name it", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.spec(tool.Spec[act, string]{
				Info: tool.Info{Name: "brief", Timeout: 5 * time.Second}, ClaimsOf: act.claims,
				Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
			})
			lost := tool.Call{Name: "brief", Input: act{For: 20, Write: []string{"file:/a"}}.text()}
			same := tool.Call{Name: "brief", Input: act{For: 1, Write: []string{"file:/b"}}.text()}
			// In its own turn: a call that waited for it.
			f.doCalls(slices.Concat([]tool.Call{lost}, words("/a"))...)
			f.want("ends in its own turn", f.ends(), "timeout@6 failed@6")
			// In later turns.
			for _, tt := range []struct {
				what string
				call tool.Call
				want string
			}{
				{"the same tool", same, "failed@0"},
				{"a reader of what it writes", words("/a/b")[0], "failed@0"},
				{"a call that claims nothing", words("w")[0], "failed@0"},
				{"a parallel call that does not say what it touches", words("p")[0], "failed@0"},
				{"a writer of something else", words("!/c")[0], "ok@1"},
			} {
				r := f.doCalls(tt.call)[0]
				f.want("end of "+tt.what, f.ends(), tt.want)
				if r.Err != nil && !strings.Contains(r.Err.Text, "brief") {
					f.t.Errorf("%s: %q does not name brief", tt.what, r.Err.Text)
				}
			}
			f.clear()
			f.want("the same tool in another session", word(f.session("other").Call(f.ctx, "brief", string(same.Input))), "ok")
			after(20)
			for _, c := range []tool.Call{same, words("/a")[0], words("w")[0]} {
				f.doCalls(c)
				f.want("end after it returned", f.ends(), "ok@1")
			}
		})
	})
	// The second call passed the look-out for lost calls before the first was one.
	t.Run("D7 a call of the same tool that is checked while the first is given up does not run", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.spec(tool.Spec[act, string]{
				Info: brief, Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
				Validate: func(_ context.Context, a act) (json.RawMessage, error) {
					if a.For == 1 {
						time.Sleep(4 * time.Second)
					}
					return nil, nil
				},
			})
			turn := f.begin(ferrule.TurnOptions{}, "brief@20")
			after(4)
			f.more(turn, "brief@1") // checked from 4 to 8; the first is given up at 6
			turn.Wait()
			f.want("ends", f.ends(), "timeout@6 failed@8")
			after(20)
		})
	})
	t.Run("D7 a function of a tool that does not return is given up like its run", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.spec(tool.Spec[act, string]{
				Info: brief, Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
				Validate: func(_ context.Context, a act) (json.RawMessage, error) {
					time.Sleep(20 * time.Second)
					return nil, nil
				},
			})
			f.do("brief p")
			f.want("ends", f.ends(), "timeout@6 ok@1")
			f.want("starts", f.starts(), "- 0")
			after(20)
			late := f.notes(audit.Late)
			if len(late) != 1 || late[0].at != 20 {
				f.t.Fatalf("got %d late events, want one at 20", len(late))
			}
			if late[0].Took < 0 || late[0].Took > time.Hour {
				f.t.Errorf("it took %v from the start of its run, want no such time: it never ran", late[0].Took)
			}
			f.want("runs", fmt.Sprint(f.runs), "[0 1]")
		})
	})
	t.Run("D7 a session that is closed twice does not forget what a new one of its name has lost", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(brief, act.run)
			old := f.session("s")
			if err := old.Close(f.ctx); err != nil {
				f.t.Fatal(err)
			}
			f.do("brief@60")
			ctx, cancel := context.WithTimeout(f.ctx, time.Second)
			defer cancel()
			_ = old.Close(ctx) // it is closed already
			f.do("brief")
			f.want("end of the same tool", f.ends(), "failed@0")
			after(60)
		})
	})
	t.Run("D7 a call of the same tool fails also if the tool was registered anew meanwhile", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			again := tool.Spec[act, string]{Info: brief, Run: func(ctx context.Context, a act) (string, error) { return a.run(ctx) }}
			f.spec(again)
			f.do("brief@20")
			if err := f.rt.Replace(f.made(again)); err != nil { // as a refresh does that makes its tools anew
				f.t.Fatal(err)
			}
			f.do("brief")
			f.want("ends", f.ends(), "failed@0")
		})
	})
	t.Run("D7 a cap counts calls that were given up until they return", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{TenantLimits: map[string]int{"acme": 2}}, func(f *floor) {
			f.add(brief, act.run)
			acme := func(name string) *ferrule.Session { return f.rt.Session(tool.Caller{Tenant: "acme", Session: name}) }
			acme("a").View(f.ctx).Do(f.ctx, words("brief@20")...)
			f.clear()
			acme("b").View(f.ctx).Do(f.ctx, words("p p p")...)
			f.want("seconds for three calls where one place is lost", fmt.Sprint(f.seconds()), "3")
			after(20)
		})
	})
}

// goroutine is the id of the goroutine that calls it.
func goroutine() string {
	var buf [64]byte
	text := string(buf[:runtime.Stack(buf[:], false)])
	return strings.Fields(text)[1]
}

// bubbled counts the goroutines of the bubble; those of the Go runtime, which
// come and go as they like, are not in one.
func bubbled() int {
	buf := make([]byte, 1<<20)
	return strings.Count(string(buf[:runtime.Stack(buf, true)]), ", synctest bubble ")
}

func TestWorkers(t *testing.T) {
	// where registers a tool that notes on which goroutine it ran.
	where := func(f *floor, info tool.Info) *[]string {
		var mu sync.Mutex
		var ids []string
		f.add(info, func(a act, ctx context.Context) (string, error) {
			mu.Lock()
			ids = append(ids, goroutine())
			mu.Unlock()
			return a.run(ctx)
		})
		return &ids
	}
	t.Run("D8 a Cooperative call with nothing beside it runs on the caller's goroutine and starts none", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			ids := where(f, tool.Info{Name: "coop", Cooperative: true, Claims: tool.Claims{Parallel: true}})
			alone := where(f, tool.Info{Name: "coop_alone", Cooperative: true})
			other := where(f, tool.Info{Name: "other", Claims: tool.Claims{Parallel: true}})
			me := goroutine()
			before := bubbled()
			inside := 0
			f.add(tool.Info{Name: "counts", Cooperative: true}, func(act, context.Context) (string, error) {
				inside = bubbled()
				return "", nil
			})
			f.do("coop")
			f.do("coop_alone coop_alone") // one after another: nothing is beside either
			f.do("counts")
			if got := slices.Concat(*ids, *alone); !slices.Equal(got, []string{me, me, me}) {
				f.t.Errorf("they ran on goroutines %v, want %s", got, me)
			}
			if inside != before {
				f.t.Errorf("there were %d goroutines while it ran, %d before", inside, before)
			}
			f.do("other")
			if (*other)[0] == me {
				f.t.Error("a call that is not Cooperative ran on the caller's goroutine")
			}
			f.do("coop@2 coop@2 other@2")
			f.want("starts of calls beside each other", f.starts(), "0 0 0")
		})
	})
	t.Run("D8 a Cooperative call on the caller's goroutine has its time-out, and hears the host", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "coop", Cooperative: true}, act.run)
			f.add(tool.Info{Name: "coop_cancel", Cooperative: true, Cancel: true}, act.run)
			f.do("coop=obey@99")
			f.want("ends", f.ends(), "timeout@60")
			for _, tt := range []struct{ calls, ends string }{{"coop=obey@99", "aborted@12"}, {"coop_cancel=obey@99", "aborted@2"}, {"coop=obey@9", "ok@9"}} {
				f.clear()
				f.expects(1)
				ctx, cancel := context.WithCancel(f.ctx)
				time.AfterFunc(2*time.Second, cancel)
				f.session("s").View(ctx).Do(ctx, words(tt.calls)...)
				f.want("ends of "+tt.calls+" where the host stops at 2", f.ends(), tt.ends)
			}
		})
	})
	t.Run("D8 calls that block overlap fully, on as many workers as the cap", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Limit: 8}, func(f *floor) {
			before := bubbled()
			turn := f.begin(ferrule.TurnOptions{}, strings.Repeat("p@3 ", 20))
			after(1)
			f.want("goroutines for 20 calls", fmt.Sprint(bubbled()-before), "8")
			f.want("calls at once", fmt.Sprint(f.peak()), "8")
			turn.Wait()
			f.want("seconds", fmt.Sprint(f.seconds()), "9")
		})
	})
	t.Run("D8 calls that do not block share a worker", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			ids := where(f, tool.Info{Name: "quick", Claims: tool.Claims{Parallel: true}})
			f.do(strings.Repeat("quick@0 ", 1000))
			slices.Sort(*ids)
			if n := len(slices.Compact(slices.Clone(*ids))); n > 500 {
				f.t.Errorf("1000 calls that do not block ran on %d goroutines", n)
			}
		})
	})
	t.Run("D8 no goroutine is left when a turn is over", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Inbox: new(policy.Memory)}, func(f *floor) {
			f.asking(tool.Info{})
			f.add(tool.Info{Name: "derives", Claims: tool.Claims{Parallel: true}}, func(a act, ctx context.Context) (string, error) {
				inner, cancel := context.WithTimeout(ctx, time.Hour)
				_ = cancel // forgotten, as tools do
				go func() { <-inner.Done() }()
				return a.run(inner)
			})
			f.do("p")
			synctest.Wait()
			before := bubbled()
			for _, calls := range []string{"p", "p p=fail p=panic p=exit w", "p=obey@99", "derives derives=obey@99", "c@0 w nosuch"} {
				f.do(calls)
				synctest.Wait()
				if got := bubbled(); got != before {
					f.t.Errorf("%s: there are %d goroutines, there were %d", calls, got, before)
				}
			}
			turn := f.begin(ferrule.TurnOptions{}, "asks c=obey@99 p@5")
			after(1)
			turn.Interrupt()
			turn.Wait()
			synctest.Wait()
			if got := bubbled(); got != before {
				f.t.Errorf("after an interrupt there are %d goroutines, there were %d", got, before)
			}
		})
	})
	t.Run("D8 a tool that ends its goroutine gets a result, and the turn goes on", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Limit: 1}, func(f *floor) {
			f.do("p=exit p w=exit p")
			f.want("ends", f.ends(), "failed@1 ok@2 failed@3 ok@4")
		})
	})
	// It ends the goroutine of its caller, which cannot be helped. What is left
	// behind can.
	t.Run("D8 a Cooperative tool that ends its goroutine does not hold its session open", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "coop", Cooperative: true}, act.run)
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				f.session("s").Call(f.ctx, "coop", string(act{Do: "exit"}.text()))
			}()
			<-gone
			ctx, cancel := context.WithTimeout(f.ctx, time.Minute)
			defer cancel()
			if err := f.session("s").Close(ctx); err != nil {
				f.t.Error(err)
			}
		})
	})
	brief := tool.Info{Name: "brief", Claims: tool.Claims{Parallel: true}, Timeout: 5 * time.Second}
	t.Run("D8 closing waits for turns and for calls that were given up", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(brief, act.run)
			f.do("brief@20") // given up at 6
			turn := f.session("s").View(f.ctx).Begin(f.ctx, ferrule.TurnOptions{})
			turn.Add(words("+!/a@30")...) // until 36
			go turn.Wait()
			if err := f.session("s").Close(f.ctx); err != nil {
				f.t.Error(err)
			}
			f.want("closed at", fmt.Sprint(f.seconds()), "36")
		})
	})
	t.Run("D8 closing waits for what runs", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			turn := f.begin(ferrule.TurnOptions{}, "p@7")
			go turn.Wait()
			if err := f.rt.Close(f.ctx); err != nil {
				f.t.Error(err)
			}
			f.want("closed at", fmt.Sprint(f.seconds()), "7")
		})
	})
	t.Run("D8 closing names what still runs", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(brief, act.run)
			f.do("brief@60 brief@30")
			ctx, cancel := context.WithTimeoutCause(f.ctx, 3*time.Second, errors.New("no more time"))
			defer cancel()
			err := f.session("s").Close(ctx)
			if err == nil || strings.Count(err.Error(), "brief") != 2 || !strings.Contains(err.Error(), f.id(0)) || !strings.Contains(err.Error(), "no more time") {
				f.t.Errorf("got %v, want both calls of brief by name and id, and the cause", err)
			}
			f.want("it gave up at", fmt.Sprint(f.seconds()), "9")
			after(60)
			if err := f.session("s").Close(f.ctx); err != nil {
				f.t.Errorf("closed again: %v", err)
			}
		})
	})
	t.Run("D8 a running turn is named, too", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			turn := f.begin(ferrule.TurnOptions{}, "p@9")
			ctx, cancel := context.WithTimeout(f.ctx, time.Second)
			defer cancel()
			if err := f.session("s").Close(ctx); err == nil || !strings.Contains(err.Error(), "turn") {
				f.t.Errorf("got %v, want the turn named", err)
			}
			turn.Wait()
		})
	})
	t.Run("D8 a closed session takes no calls", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			s := f.session("s")
			if err := s.Close(f.ctx); err != nil {
				f.t.Fatal(err)
			}
			f.want("a call", word(s.Call(f.ctx, "p", "{}")), "aborted")
		})
	})
	t.Run("D9 progress and output pass the order, results do not", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			f.add(tool.Info{Name: "talks", Claims: tool.Claims{Parallel: true}}, func(a act, ctx context.Context) (string, error) {
				env := tool.From(ctx)
				fmt.Fprint(env.Stdout(), "begun")
				time.Sleep(time.Second)
				env.Progress(1, 2, "half")
				return a.run(ctx)
			})
			results := f.do("p@9 talks@1")
			var got []string
			for _, n := range f.notes(audit.Updated) {
				got = append(got, fmt.Sprintf("%g %d %s%s %s", n.at, n.index, n.Update.Text, n.Update.Message, n.Request.CallID))
			}
			f.want("updates", strings.Join(got, ", "), "0 1 begun call_1, 1 1 half call_1")
			f.want("ends", f.ends(), "ok@9 ok@2")
			f.want("order of results", results[0].CallID+" "+results[1].CallID, "call_0 call_1")
		})
	})
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	// wonders asks a person once, takes the given seconds, and answers with what
	// it heard.
	wonders := func(f *floor) *int {
		asked := new(int)
		f.add(tool.Info{Name: "wonders", Claims: tool.Claims{Parallel: true}}, func(a act, ctx context.Context) (string, error) {
			heard, ok := tool.From(ctx).Answer()
			if !ok {
				*asked++
				return "", &tool.Outcome{Suspend: "Which colour?"}
			}
			_, err := a.run(ctx)
			return heard, err
		})
		return asked
	}
	t.Run("L7 a tool's own error is failed and goes to the model", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			r := f.do("p=fail")[0]
			if word(r) != "failed" || r.Err.Text != "it broke" {
				f.t.Errorf("got %v, want failed with the text of the error", r)
			}
		})
	})
	t.Run("L7 what else a tool says is kept: fatal, stop siblings, retry after", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			said := &tool.Outcome{Err: errors.New("it broke"), Fatal: true, RetryAfter: 3 * time.Second}
			f.add(tool.Info{Name: "says"}, func(act, context.Context) (string, error) { return "", fmt.Errorf("says: %w", said) })
			r := f.do("says")[0]
			if got := (*tool.Outcome)(nil); !errors.As(r.Err, &got) || got != said || r.Err.RetryAfter != 3*time.Second || word(r) != "failed" {
				f.t.Errorf("got %#v, want failed, with the outcome as its cause and its wish to wait", r.Err)
			}
		})
	})
	t.Run("L7 suspend: the call waits for an answer, holding no slot, then runs anew with it and with its time", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox, Limit: 1}, func(f *floor) {
			asked := wonders(f)
			turn := f.begin(ferrule.TurnOptions{}, "wonders@50 p@2 w")
			after(300)
			f.want("what is done while it waits", f.ends(), "- ok@2 -")
			if open, err := inbox.Pending(f.ctx); err != nil || len(open) != 1 || open[0].Wants != "Which colour?" {
				f.t.Errorf("got the questions %v, %v, want its question", open, err)
			}
			say(f.t, inbox, policy.Answer{Allow: true, Text: "blue"})
			results := turn.Wait()
			f.want("ends", f.ends(), "ok@350 ok@2 ok@351")
			f.want("what it returned, and how often it asked", fmt.Sprint(tool.TextOf(results[0].Content), " ", *asked), "blue 1")
		})
	})
	t.Run("L7 suspend: a person says no", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox}, func(f *floor) {
			wonders(f)
			turn := f.begin(ferrule.TurnOptions{}, "wonders")
			after(5)
			say(f.t, inbox, policy.Answer{Message: "Not now."})
			r := turn.Wait()[0]
			f.want("the result", word(r)+": "+r.String(), "rejected: Not now.")
		})
	})
	t.Run("L7 suspend: nobody can be asked", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{}, func(f *floor) {
			wonders(f)
			f.do("wonders")
			f.want("ends", f.ends(), "needs_user@0")
		})
	})

	// A turn that is handed back: one call is done, one asks, one is behind it,
	// one has nothing to do with it.
	const handed = "!/a asks_a /a !/b r"
	asksA := tool.Spec[act, string]{
		Info:     tool.Info{Name: "asks_a", Approval: tool.AskAlways},
		ClaimsOf: func(act) tool.Claims { return tool.Claims{Touches: []tool.Access{{Resource: "file:/a", Write: true}}} },
		Run:      func(ctx context.Context, a act) (string, error) { return a.run(ctx) },
	}
	back := ferrule.TurnOptions{HandBack: true}
	t.Run("L7 a turn hands back what waits, and what waits behind it", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Inbox: new(policy.Memory)}, func(f *floor) {
			f.spec(asksA)
			f.begin(back, handed).Wait()
			f.want("ends", f.ends(), "ok@1 suspended@1 suspended@1 ok@1 suspended@1")
		})
	})
	t.Run("L7 a turn is handed back as soon as nothing but waiting is left, whoever holds the cap of a call that was stopped", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Inbox: new(policy.Memory)}, func(f *floor) {
			f.asking(tool.Info{})
			f.add(tool.Info{Name: "one", Claims: tool.Claims{Parallel: true}, AtOnce: 1, Timeout: time.Hour}, act.run)
			other := f.session("other").View(f.ctx).Begin(f.ctx, ferrule.TurnOptions{})
			other.Add(words("one@1000")...)
			after(1)
			turn := f.session("s").View(f.ctx).Begin(f.ctx, back)
			f.expects(2)
			turn.Add(words("one asks")...)
			after(2)
			for _, n := range f.notes(audit.Requested) {
				if n.Session == "s" && n.index == 0 {
					turn.Stop(n.Request.ID)
				}
			}
			turn.Wait()
			f.want("handed back at", fmt.Sprint(f.seconds()), "3")
			other.Wait()
		})
	})
	t.Run("L7 the same calls given to a turn of the same number go on: done ones are not run again", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox}, func(f *floor) {
			f.spec(asksA)
			turn := f.begin(back, handed)
			number := turn.Number()
			first := turn.Wait()
			again := ferrule.TurnOptions{HandBack: true, Number: number}

			f.begin(again, handed).Wait() // not answered yet
			f.want("starts without an answer", f.starts(), "- - - - -")
			if open, err := inbox.Pending(f.ctx); err != nil || len(open) != 1 {
				f.t.Fatalf("got %d questions, %v, want the one", len(open), err)
			}
			say(f.t, inbox, policy.Answer{Allow: true})
			turn = f.begin(again, handed)
			results := turn.Wait()
			f.want("starts with an answer", f.starts(), "- 0 1 - 2")
			for i, r := range results {
				if r.Err != nil {
					f.t.Errorf("call %d: %v", i, r.Err)
				}
			}
			if a, b := first[0].String(), results[0].String(); a != b || results[0].CallID != "call_0" {
				f.t.Errorf("the first result was %q and is %q", a, b)
			}
			if turn.Number() != number {
				f.t.Errorf("the turn is %d, was %d", turn.Number(), number)
			}
		})
	})
	t.Run("L7 the next turn without a number is another one", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Inbox: new(policy.Memory)}, func(f *floor) {
			f.spec(asksA)
			first := f.begin(back, handed)
			first.Wait()
			next := f.begin(back, "!/a")
			next.Wait()
			f.want("ends of another turn", f.ends(), "ok@1")
			if next.Number() == first.Number() {
				f.t.Error("two turns have one number")
			}
		})
	})
	t.Run("L7 another call in the place of a handed back one fails", func(t *testing.T) {
		onFloor(t, &ferrule.Runtime{Inbox: new(policy.Memory)}, func(f *floor) {
			f.spec(asksA)
			turn := f.begin(back, "asks_a r")
			turn.Wait()
			f.begin(ferrule.TurnOptions{HandBack: true, Number: turn.Number()}, "!/c r").Wait()
			f.want("the first end", strings.Fields(f.ends())[0], "failed@0")
			f.want("starts", strings.Fields(f.starts())[0], "-")
		})
	})
	t.Run("L7 a call that was suspended by its tool goes on with the answer in a turn of the same number", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox}, func(f *floor) {
			asked := wonders(f)
			turn := f.begin(back, "wonders")
			turn.Wait()
			f.want("ends", f.ends(), "suspended@0")
			say(f.t, inbox, policy.Answer{Allow: true, Text: "blue"})
			r := f.begin(ferrule.TurnOptions{Number: turn.Number()}, "wonders").Wait()[0]
			f.want("what it returned, and how often it asked", fmt.Sprint(tool.TextOf(r.Content), " ", *asked), "blue 1")
		})
	})
	// The host gives the turn again although it is done: its program crashed
	// before it wrote that down, say.
	t.Run("L7 a turn that was handed back, went on and is given once more runs nothing twice", func(t *testing.T) {
		inbox := new(policy.Memory)
		onFloor(t, &ferrule.Runtime{Inbox: inbox}, func(f *floor) {
			f.spec(asksA)
			turn := f.begin(back, "asks_a !/a")
			turn.Wait()
			say(f.t, inbox, policy.Answer{Allow: true})
			again := ferrule.TurnOptions{HandBack: true, Number: turn.Number()}
			f.begin(again, "asks_a !/a").Wait()
			f.want("starts", f.starts(), "0 1")
			results := f.begin(again, "asks_a !/a").Wait()
			f.want("starts of the same once more", f.starts(), "- -")
			f.want("results of the same once more", word(results[0])+" "+word(results[1]), "ok ok")
		})
	})
}

func TestWords(t *testing.T) {
	t.Parallel()
	// seen is all that somebody was shown of a call.
	seen := func(r tool.Request) string {
		c := r.Caller
		return fmt.Sprint(r.ID != "", " ", r.CallID, " ", r.Turn, " ", r.Index, " ", c.Agent, " ", c.Run, " ", c.Session, " ", c.Principal, " ", c.Values["k"], " ", r.Args.Text(), " ", r.Args.Received())
	}
	t.Run("Words tool, Validate, Permit, approval, hooks and policy see ids, turn, agent, run, session, principal, values and arguments", func(t *testing.T) {
		var mu sync.Mutex
		shown := make(map[string]string)
		ids := make(map[string]bool)
		show := func(who string, r tool.Request) {
			mu.Lock()
			defer mu.Unlock()
			shown[who] = seen(r)
			ids[r.ID] = true
		}
		rt := &ferrule.Runtime{
			Policy: policy.Func(func(r *tool.Request) tool.Decision {
				show("policy", *r)
				return tool.Decision{Verdict: tool.Allow}
			}),
			Decide: func(_ context.Context, r *tool.Request) (tool.Decision, error) {
				show("host", *r)
				return tool.Decision{Verdict: tool.Silent}, nil
			},
			Hooks: []ferrule.Hook{{
				Input: func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
					show("input hook", *r)
					return ferrule.Change{}, nil
				},
				Around: func(ctx context.Context, r *tool.Request, next ferrule.Next) tool.Result {
					show("wrapper", *r)
					return next(ctx)
				},
				Output: func(_ context.Context, r *tool.Request, _, _ tool.Result) (*tool.Result, error) {
					show("output hook", *r)
					return nil, nil //nolint:nilnil // it keeps the result
				},
			}},
		}
		onFloor(t, rt, func(f *floor) {
			from := func(who string, ctx context.Context) { show(who, tool.From(ctx).Request()) }
			f.spec(tool.Spec[act, string]{
				Info: tool.Info{Name: "all"},
				Validate: func(ctx context.Context, _ act) (json.RawMessage, error) {
					from("Validate", ctx)
					return nil, nil
				},
				Permit: func(ctx context.Context, _ act) (tool.Decision, error) {
					from("Permit", ctx)
					return tool.Decision{Verdict: tool.Silent}, nil
				},
				AskIf: func(ctx context.Context, _ act) (bool, error) {
					from("approval", ctx)
					return false, nil
				},
				Key: func(ctx context.Context, _ act) (string, error) {
					from("key", ctx)
					return "", nil
				},
				Run: func(ctx context.Context, _ act) (string, error) {
					from("tool", ctx)
					return "", nil
				},
			})
			s := f.rt.Session(tool.Caller{Session: "s", Agent: "scout", Run: "run-7", Values: map[string]any{"k": 42}})
			s.View(f.ctx).Do(f.ctx, tool.Call{ID: "x", Name: "nosuch"}, tool.Call{ID: "", Name: "all", Input: json.RawMessage("  ")})
			delete(ids, f.id(0)) // the first call is told to policy by nobody
			for _, who := range []string{"policy", "host", "Validate", "Permit", "approval", "key", "input hook", "wrapper", "tool", "output hook"} {
				f.want(who+" sees", shown[who], "true  1 1 scout run-7 s local 42 {}   ")
			}
			if len(ids) != 1 {
				f.t.Errorf("they saw %d ids, want one", len(ids))
			}
		})
	})
	t.Run("Words every call has an id of its own, whatever the provider says, and all that is recorded carries both", func(t *testing.T) {
		ids := make(map[string]int)
		for range 2 { // runtimes
			onFloor(t, &ferrule.Runtime{}, func(f *floor) {
				for _, session := range []string{"a", "b"} {
					for range 2 { // turns
						turn := f.session(session).View(f.ctx).Begin(f.ctx, ferrule.TurnOptions{})
						calls := []tool.Call{{ID: "x", Name: "p"}, {ID: "x", Name: "nosuch"}, {Name: "w"}, {ID: "y", Name: "p", Input: json.RawMessage("{")}}
						turn.Add(calls[0])
						turn.Add(calls[1:]...)
						for i, r := range turn.Wait() {
							ids[r.ID]++
							if r.ID == "" || r.CallID != calls[i].ID {
								f.t.Errorf("result %d has the ids %q and %q, want one of its own and %q", i, r.ID, r.CallID, calls[i].ID)
							}
						}
					}
				}
				for _, n := range f.seen {
					if n.index < 0 {
						continue
					}
					want := []string{"x", "x", "", "y"}[n.index]
					if r := n.Request; ids[r.ID] != 1 || r.CallID != want || r.Caller.Principal != "local" {
						f.t.Errorf("the event %s has the ids %q and %q and the principal %q", n.Kind, r.ID, r.CallID, r.Caller.Principal)
					}
				}
			})
		}
		if len(ids) != 32 {
			t.Errorf("32 calls have %d ids", len(ids))
		}
	})
}

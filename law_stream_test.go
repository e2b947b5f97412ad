package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// talk is what a model says in one stream, and what befalls it.
type talk struct {
	Calls    []talkCall
	Cut      int           // the stream breaks before this call; len: not
	Half     bool          // in the middle of it
	Stop     time.Duration // the host stops; 0: it does not
	Leave    int           // who reads results leaves with this one; -1: not
	Slow     time.Duration // how long who reads looks at a result
	Person   time.Duration // a person interrupts; 0: nobody
	Limit    int
	Observer string // "": none; fast, slow, panics
	Hook     bool   // one changes the input of each call
	Answer   time.Duration
	Refuses  bool // the host, when it is asked
}

type talkCall struct {
	Name  string
	Pause time.Duration
	Takes time.Duration
}

func drawTalk(r *rapid.T) talk {
	some := rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond, time.Second, 4 * time.Second})
	call := rapid.Custom(func(r *rapid.T) talkCall {
		return talkCall{
			Name:  rapid.SampledFrom([]string{"read", "read", "write", "stops", "panics", "none", "bad", "claims", "streams", "streams", "asks"}).Draw(r, "name"),
			Pause: some.Draw(r, "pause"), Takes: some.Draw(r, "takes"),
		}
	})
	w := talk{
		Calls: rapid.SliceOfN(call, 0, 6).Draw(r, "calls"), Leave: -1, Limit: rapid.IntRange(1, 4).Draw(r, "limit"), Slow: some.Draw(r, "slow"),
		Observer: rapid.SampledFrom([]string{"", "fast", "slow", "panics"}).Draw(r, "observer"), Hook: rapid.IntRange(0, 3).Draw(r, "hook") == 0,
		Answer: some.Draw(r, "answer"), Refuses: rapid.Bool().Draw(r, "refuses"),
	}
	w.Cut = rapid.IntRange(0, 2*len(w.Calls)+1).Draw(r, "cut")
	w.Half = rapid.Bool().Draw(r, "half")
	switch rapid.IntRange(0, 5).Draw(r, "event") {
	case 0:
		w.Stop = some.Draw(r, "stop") + 1
	case 1:
		w.Leave = rapid.IntRange(0, 5).Draw(r, "leave")
	case 2:
		w.Person = some.Draw(r, "person") + 1
	}
	return w
}

// parlour is a runtime in which talks are held, one after another.
type parlour struct {
	rt  *Runtime
	now *talk
	ear ear
}

// talkInput is what the tools of a talk are given.
type talkInput struct {
	D  time.Duration `json:"d"`
	By string        `json:"by"`
}

func newParlour(t *testing.T) *parlour {
	t.Helper()
	p := new(parlour)
	p.rt = &Runtime{Policy: policy.AllowOwn{}, Answer: func(context.Context, policy.Question) (policy.Answer, error) {
		time.Sleep(p.now.Answer)
		return policy.Answer{Allow: !p.now.Refuses}, nil
	}}
	add := func(name string, info tool.Info, run func(context.Context, talkInput) error) {
		info.Name, info.Description, info.Repeatable = name, "Take a while.", true
		info.Input = json.RawMessage(`{"type":"object","properties":{"d":{"type":"integer"},"by":{"type":"string"}}}`)
		d := tool.Tool{Info: info, Run: func(ctx context.Context, a tool.Args) (res tool.Result, err error) {
			var in talkInput
			if err := json.Unmarshal([]byte(a.Text()), &in); err != nil {
				return res, err
			}
			if err := run(ctx, in); err != nil || name == "streams" {
				return res, err
			}
			return tool.Result{Content: []tool.Content{tool.Text(name + in.By)}}, nil
		}}
		if name == "claims" {
			d.ClaimsOf = claimsOfTalk
		}
		made, err := d.Check()
		if err == nil {
			err = p.rt.Add(made)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sleep := func(_ context.Context, in talkInput) error {
		time.Sleep(in.D)
		return nil
	}
	add("read", tool.Info{Claims: tool.Claims{ReadOnly: true}}, sleep)
	add("write", tool.Info{}, sleep)
	add("claims", tool.Info{}, sleep)
	add("asks", tool.Info{Claims: tool.Claims{Parallel: true}, Approval: tool.AskAlways}, sleep)
	add("panics", tool.Info{Claims: tool.Claims{Parallel: true}}, func(context.Context, talkInput) error { panic("oh") })
	add("stops", tool.Info{Claims: tool.Claims{Parallel: true}, Cancel: true}, func(ctx context.Context, in talkInput) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(in.D):
			return nil
		}
	})
	add("streams", tool.Info{Claims: tool.Claims{ReadOnly: true}}, func(ctx context.Context, in talkInput) error {
		e := tool.From(ctx)
		fmt.Fprint(e.Stdout(), "str")
		e.Progress(1, 2, "half")
		time.Sleep(in.D)
		fmt.Fprint(e.Stderr(), "eams"+in.By)
		return nil
	})
	return p
}

// claimsOfTalk takes as long as its call, and now and then it fails.
func claimsOfTalk(a tool.Args) (tool.Claims, error) {
	var in talkInput
	if err := json.Unmarshal([]byte(a.Text()), &in); err != nil {
		return tool.Claims{}, err
	}
	time.Sleep(in.D)
	if in.D == 0 {
		panic("no claims")
	}
	return tool.Claims{ReadOnly: true}, nil
}

// ear is an observer of one talk. What is wrong with what it hears it keeps.
type ear struct {
	mu    sync.Mutex
	calls map[string]*heardCall // by the ids of their provider
	fault string
}

type heardCall struct {
	said  string // output so far
	ended string // what came of it, with its kind
	ends  int
}

func (p *parlour) observe(e audit.Event) {
	if e.Request == nil {
		return
	}
	p.ear.hear(e)
	switch {
	case p.now.Observer == "panics":
		panic("oh")
	case p.now.Observer == "slow" && e.Kind == audit.Updated:
		time.Sleep(1500 * time.Millisecond)
	}
}

func (o *ear) hear(e audit.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.calls[e.Request.CallID]
	if c == nil {
		c = new(heardCall)
		o.calls[e.Request.CallID] = c
	}
	switch e.Kind {
	case audit.Updated:
		if c.said += e.Update.Text; c.ends > 0 {
			o.fault = fmt.Sprintf("call %s said %q after its end", e.Request.CallID, e.Update.Text)
		}
	case audit.Ended:
		c.ends++
		c.ended = asHeard(e.Result)
	default:
	}
}

func asHeard(res *tool.Result) string {
	if res.Err != nil {
		return string(res.Err.Kind) + " " + res.String()
	}
	return res.String()
}

// judge says what is wrong with what was heard: each call has one end, after
// which nothing is heard of it, and its result is what the end said.
func (o *ear) judge(results []tool.Result) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, c := range o.calls {
		if c.ends != 1 {
			return fmt.Sprintf("call %s has ended %d times for the observer", id, c.ends)
		}
		if strings.HasPrefix(c.ended, "streams") && c.said != c.ended {
			return fmt.Sprintf("call %s said %q, and its result is %q", id, c.said, c.ended)
		}
	}
	for i := range results {
		res := &results[i]
		if c := o.calls[res.CallID]; c == nil || c.ended != asHeard(res) {
			return fmt.Sprintf("call %s has the result %q, the observer heard of %+v", res.CallID, asHeard(res), c)
		}
	}
	return o.fault
}

var errTalk = errors.New("the model was cut off")

// However a model's stream ends and whenever its calls come, there is one result
// for each call that was taken, in order, and nothing is left; and an observer,
// whatever it is like, hears of one end of each, last of all and as it was.
func TestStreamLaws(t *testing.T) {
	t.Parallel()
	t.Run("X3 a stream that is cut anywhere, calls that come at any moment: N results, in order, nothing left", func(t *testing.T) {
		p := newParlour(t)
		check(t, *cases, func(r *rapid.T) {
			w := drawTalk(r)
			var fault string
			synctest.Test(t, func(*testing.T) { fault = p.hold(&w) })
			if fault != "" {
				r.Fatalf("%s\n%+v", fault, w)
			}
		})
	})
}

// hold is one talk.
func (p *parlour) hold(w *talk) string {
	p.now, p.ear.calls, p.ear.fault = w, make(map[string]*heardCall), ""
	if p.rt.freeze().observe = nil; w.Observer != "" { // a host cannot do that
		p.rt.set.observe = p.observe
	}
	s := p.rt.Session(tool.Caller{Session: "one"})
	results, fault := w.play(s)
	time.Sleep(time.Hour) // what was left behind ends
	if fault == "" && w.Observer != "" {
		fault = p.ear.judge(results)
	}
	return fault
}

// talkHook changes the input of every call, and so the text of its result.
var talkHook = Hook{Name: "hook", Input: func(_ context.Context, r *tool.Request) (Change, error) {
	return Change{Input: json.RawMessage(strings.TrimSuffix(r.Args.Text(), "}") + `,"by":" by hook"}`)}, nil
}}

func (w *talk) play(s *Session) (results []tool.Result, fault string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if w.Stop > 0 {
		stop := time.AfterFunc(w.Stop, cancel)
		defer stop.Stop()
	}
	o := TurnOptions{Limit: w.Limit}
	if w.Hook {
		o.Hooks = []Hook{talkHook}
	}
	turn := s.View(ctx).Begin(ctx, o)
	if w.Person > 0 {
		person := time.AfterFunc(w.Person, turn.Interrupt)
		defer person.Stop()
	}
	var offered, taken atomic.Int64 // a stream may be left behind
	var cut atomic.Bool
	calls := func(yield func(tool.Call, error) bool) {
		for i, c := range w.Calls {
			given := tool.Call{ID: fmt.Sprint(i), Name: c.Name, Input: fmt.Appendf(nil, `{"d":%d}`, c.Takes)}
			if c.Name == "bad" {
				given.Name, given.Input = "read", []byte(`{"d":`)
			}
			time.Sleep(c.Pause)
			if i == w.Cut {
				if cut.Store(true); w.Half {
					offered.Add(1)
					taken.Add(1)
				} else {
					given = tool.Call{}
				}
				yield(given, errTalk)
				return
			}
			offered.Add(1)
			if !yield(given, nil) {
				offered.Add(-1)
				return
			}
			taken.Add(1)
		}
	}
	failed, left := 0, false
	for res, err := range turn.Stream(calls) {
		if err != nil {
			if failed++; !errors.Is(err, errTalk) && (w.Stop == 0 || !errors.Is(err, context.Canceled)) { // it was left behind
				return nil, fmt.Sprintf("the stream ended with %v", err)
			}
			continue
		}
		if failed > 0 || res.CallID != fmt.Sprint(len(results)) {
			return nil, fmt.Sprintf("result %d has the id %q, %d errors before it", len(results), res.CallID, failed)
		}
		if fault := w.judge(len(results), res); fault != "" {
			return nil, fault
		}
		results = append(results, res)
		time.Sleep(w.Slow)
		if len(results)-1 == w.Leave {
			left = true
			break
		}
	}
	got, stopped := len(results), ctx.Err() != nil
	switch n := int(taken.Load()); {
	case left:
	case got != n && (!stopped || got < n-1 || got > int(offered.Load())):
		return nil, fmt.Sprintf("got %d results for %d calls that were taken", got, n)
	case cut.Load() && failed != 1 && !stopped, !cut.Load() && failed > 0 && !stopped, failed > 1:
		return nil, fmt.Sprintf("the stream's end was told %d times", failed)
	}
	return results, w.idle(s, turn)
}

// idle: nothing of the turn is left.
func (w *talk) idle(s *Session, t *Turn) string {
	for range 3600 { // a stream that was left behind
		if s.conv.active.Load() == 0 {
			break
		}
		time.Sleep(time.Second)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.conv.active.Load() != 0 || s.conv.feeds.Load() != 0 || t.running != 0 || t.workers != 0 || t.feeding || !t.closed {
		return fmt.Sprintf("left over: %d active, %d streams, %s", s.conv.active.Load(), s.conv.feeds.Load(), t.counts())
	}
	return ""
}

// judge says what is wrong with one result.
func (w *talk) judge(i int, res tool.Result) string {
	c := w.Calls[i]
	var kind tool.Kind
	if res.Err != nil {
		kind = res.Err.Kind
	}
	want := map[string]tool.Kind{"panics": tool.Failed, "none": tool.UnknownTool, "bad": tool.InvalidInput}[c.Name]
	if c.Name == "asks" && w.Refuses {
		want = tool.Rejected
	}
	if i == w.Cut {
		want = tool.Aborted
	}
	if kind != want && (kind != tool.Aborted || w.Stop == 0 && w.Person == 0 && w.Leave < 0) {
		return fmt.Sprintf("result %d of %s is %q %q, want %q", i, c.Name, kind, res, want)
	}
	text := c.Name
	if w.Hook {
		text += " by hook"
	}
	if kind == "" && res.String() != text {
		return fmt.Sprintf("result %d of %s is %q, want %q", i, c.Name, res, text)
	}
	return ""
}

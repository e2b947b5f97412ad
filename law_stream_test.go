package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// talk is what a model says in one stream, and what befalls it.
type talk struct {
	Calls  []talkCall
	Cut    int           // the stream breaks before this call; len: not
	Half   bool          // in the middle of it
	Stop   time.Duration // the host stops; 0: it does not
	Leave  int           // who reads results leaves with this one; -1: not
	Slow   time.Duration // how long who reads looks at a result
	Person time.Duration // a person interrupts; 0: nobody
	Limit  int
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
			Name:  rapid.SampledFrom([]string{"read", "read", "write", "stops", "panics", "none", "bad"}).Draw(r, "name"),
			Pause: some.Draw(r, "pause"), Takes: some.Draw(r, "takes"),
		}
	})
	w := talk{Calls: rapid.SliceOfN(call, 0, 8).Draw(r, "calls"), Leave: -1, Limit: rapid.IntRange(1, 4).Draw(r, "limit"), Slow: some.Draw(r, "slow")}
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

// talking is a view with the tools of these worlds.
func talking(t *testing.T) *Session {
	t.Helper()
	rt := &Runtime{Policy: policy.AllowOwn{}}
	add := func(name string, cancel bool, claims tool.Claims, run func(context.Context, time.Duration) error) {
		d := tool.Tool{
			Info: tool.Info{Name: name, Description: "Take a while.", Input: json.RawMessage(`{"type":"object","properties":{"d":{"type":"integer"}}}`), Claims: claims, Cancel: cancel, Repeatable: true},
			Run: func(ctx context.Context, a tool.Args) (tool.Result, error) {
				var in struct {
					D time.Duration `json:"d"`
				}
				if err := json.Unmarshal([]byte(a.Text()), &in); err != nil {
					return tool.Result{}, err
				}
				return tool.Result{Content: []tool.Content{tool.Text(name)}}, run(ctx, in.D)
			},
		}
		made, err := d.Check()
		if err == nil {
			err = rt.Add(made)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sleep := func(_ context.Context, d time.Duration) error {
		time.Sleep(d)
		return nil
	}
	add("read", false, tool.Claims{ReadOnly: true}, sleep)
	add("write", false, tool.Claims{}, sleep)
	add("panics", false, tool.Claims{Parallel: true}, func(context.Context, time.Duration) error { panic("oh") })
	add("stops", true, tool.Claims{Parallel: true}, func(ctx context.Context, d time.Duration) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	})
	return rt.Session(tool.Caller{Session: "one"})
}

var errTalk = errors.New("the model was cut off")

// However a model's stream ends and whenever its calls come, there is one result
// for each call that was taken, in order, and nothing is left.
func TestStreamLaws(t *testing.T) {
	t.Parallel()
	t.Run("X3 a stream that is cut anywhere, calls that come at any moment: N results, in order, nothing left", func(t *testing.T) {
		s := talking(t)
		check(t, *cases, func(r *rapid.T) {
			w := drawTalk(r)
			var fault string
			synctest.Test(t, func(*testing.T) { fault = w.play(s) })
			if fault != "" {
				r.Fatalf("%s\n%+v", fault, w)
			}
		})
	})
}

func (w *talk) play(s *Session) string {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if w.Stop > 0 {
		stop := time.AfterFunc(w.Stop, cancel)
		defer stop.Stop()
	}
	turn := s.View(ctx).Begin(ctx, TurnOptions{Limit: w.Limit})
	if w.Person > 0 {
		person := time.AfterFunc(w.Person, turn.Interrupt)
		defer person.Stop()
	}
	var taken atomic.Int64 // a stream may be left behind
	var half, cut atomic.Bool
	calls := func(yield func(tool.Call, error) bool) {
		for i, c := range w.Calls {
			given := tool.Call{ID: fmt.Sprint(i), Name: c.Name, Input: fmt.Appendf(nil, `{"d":%d}`, c.Takes)}
			if c.Name == "bad" {
				given.Name, given.Input = "read", []byte(`{"d":`)
			}
			time.Sleep(c.Pause)
			if i == w.Cut {
				if !w.Half {
					given = tool.Call{}
				}
				cut.Store(true)
				half.Store(w.Half)
				yield(given, errTalk)
				return
			}
			if !yield(given, nil) {
				return
			}
			taken.Add(1)
		}
	}
	got, failed, left := 0, 0, false
	for res, err := range turn.Stream(calls) {
		if err != nil {
			if failed++; !errors.Is(err, errTalk) && (w.Stop == 0 || !errors.Is(err, context.Canceled)) { // it was left behind
				return fmt.Sprintf("the stream ended with %v", err)
			}
			continue
		}
		if failed > 0 || res.CallID != fmt.Sprint(got) {
			return fmt.Sprintf("result %d has the id %q, %d errors before it", got, res.CallID, failed)
		}
		if fault := w.judge(got, res); fault != "" {
			return fault
		}
		time.Sleep(w.Slow)
		if got == w.Leave {
			left = true
			break
		}
		got++
	}
	n, stopped := int(taken.Load()), ctx.Err() != nil
	if half.Load() {
		n++
	}
	switch {
	case left:
	case got != n && (!stopped || got < n-1 || got > n):
		return fmt.Sprintf("got %d results for %d calls that were taken", got, n)
	case cut.Load() && failed != 1 && !stopped, !cut.Load() && failed > 0 && !stopped, failed > 1:
		return fmt.Sprintf("the stream's end was told %d times", failed)
	}
	done, release := context.WithTimeout(context.Background(), time.Hour)
	defer release()
	if fault := w.idle(done, s, turn); fault != "" {
		return fault
	}
	time.Sleep(time.Hour)
	return ""
}

// idle: nothing of the turn is left.
func (w *talk) idle(ctx context.Context, s *Session, t *Turn) string {
	for s.conv.active.Load() > 0 && ctx.Err() == nil {
		time.Sleep(time.Second) // a stream that was left behind
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
	if i == w.Cut {
		want = tool.Aborted
	}
	if kind == want || kind == tool.Aborted && (w.Stop > 0 || w.Person > 0 || w.Leave >= 0) {
		return ""
	}
	return fmt.Sprintf("result %d of %s is %q %q, want %q", i, c.Name, kind, res, want)
}

package ferrule_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

var errCut = errors.New("connection reset")

// spoken is a stream of calls with a pause before each; "!" cuts it off, behind a
// name in the middle of that call.
func spoken(pause time.Duration, words ...string) iter.Seq2[tool.Call, error] {
	return func(yield func(tool.Call, error) bool) {
		for i, w := range words {
			time.Sleep(pause)
			name, cut := strings.CutSuffix(w, "!")
			var c tool.Call
			if name != "" {
				c = tool.Call{ID: fmt.Sprint(i), Name: name}
			}
			var err error
			if cut {
				err = errCut
			}
			if !yield(c, err) || cut {
				return
			}
		}
	}
}

// streamTools are tools that take so many seconds.
func streamTools() []tool.Tool {
	var all []tool.Tool
	for _, n := range []int{0, 1, 3} {
		d := slowTool(fmt.Sprintf("r%d", n), time.Duration(n)*time.Second)
		d.Timeout = 0
		d.Run = func(context.Context, tool.Args) (tool.Result, error) {
			time.Sleep(time.Duration(n) * time.Second)
			return sayText(fmt.Sprintf("slept %d", n)), nil
		}
		all = append(all, d)
	}
	stops := readerTool("stops")
	stops.Cancel = true
	stops.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	return append(all, stops)
}

// collect ranges over a stream of results and says when each came, in seconds.
func collect(results iter.Seq2[tool.Result, error]) (got []string, err error) {
	began := time.Now()
	for res, e := range results {
		if e != nil {
			err = e
			continue
		}
		got = append(got, fmt.Sprintf("%s@%g %s", res.CallID, time.Since(began).Seconds(), brief(res)))
	}
	return got, err
}

func brief(res tool.Result) string {
	if res.Err != nil {
		return string(res.Err.Kind)
	}
	return res.String()
}

func TestStream(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule  string
		calls []string
		want  []string
		err   error
	}{
		{"X1 calls start while the model still talks", []string{"r3", "r3", "r3"}, []string{"0@4 slept 3", "1@5 slept 3", "2@6 slept 3"}, nil},
		{"X2 results come in call order, each as soon as it can", []string{"r0", "r3", "r0"}, []string{"0@1 slept 0", "1@5 slept 3", "2@5 slept 0"}, nil},
		{"X3 a cut stream gives the half-received call an error result", []string{"r3", "r1!"}, []string{"0@4 slept 3", "1@4 aborted"}, errCut},
		{"X3 a stream that is cut between calls", []string{"r3", "!"}, []string{"0@4 slept 3"}, errCut},
		{"X3 a stream that is cut at once", []string{"!"}, nil, errCut},
		{"X4 an empty stream", nil, nil, nil},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				v := viewWith(t, new(ferrule.Runtime), streamTools()...)
				got, err := collect(v.Stream(t.Context(), spoken(time.Second, tt.calls...)))
				if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
					t.Errorf("got %q and %v, want %q and %v", got, err, tt.want, tt.err)
				}
			})
		})
	}
	t.Run("X3 the half-received call says why, to both readers", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, new(ferrule.Runtime), streamTools()...)
		for res, err := range v.Stream(t.Context(), spoken(0, "r0!")) {
			if err == nil {
				wantFailure(t, res, tool.Aborted, "The answer was cut off in the middle of this call, so it did not run.")
				if !errors.Is(res.Err, errCut) || res.Err.Detail != errCut.Error() {
					t.Errorf("detail %q, want the cause", res.Err.Detail)
				}
			}
		}
	})
	t.Run("X4 leaving the loop stops the calls and waits for them", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			v := viewWith(t, rt, streamTools()...)
			began := time.Now()
			for res := range v.Stream(t.Context(), spoken(time.Second, "r0", "stops", "r3", "r0", "r0", "r0")) {
				if res.CallID == "0" {
					time.Sleep(2500 * time.Millisecond) // until r3 runs
					break
				}
			}
			if took := time.Since(began); took != 6*time.Second {
				t.Errorf("it took %s, want 6 s: 3.5 and until r3 has ended", took)
			}
			if err := rt.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("X4 a context that has ended already", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			v := viewWith(t, new(ferrule.Runtime), streamTools()...)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			got, err := collect(v.Stream(ctx, spoken(0, "r0", "r3", "none")))
			if want := []string{"0@0 aborted", "1@0 aborted", "2@0 aborted"}; !slices.Equal(got, want) || err != nil {
				t.Errorf("got %q and %v, want %q", got, err, want)
			}
		})
	})
	t.Run("X4 a stream that does not end with its context is left behind, and closing names it", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			v := viewWith(t, new(ferrule.Runtime), streamTools()...)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			stuck := make(chan struct{})
			calls := func(yield func(tool.Call, error) bool) {
				if yield(tool.Call{ID: "0", Name: "r1"}, nil) {
					<-stuck
					if yield(tool.Call{ID: "1", Name: "r1"}, nil) {
						t.Error("a call was taken when nobody waits for its result")
					}
				}
			}
			got, err := collect(v.Stream(ctx, calls))
			if want := []string{"0@1 slept 1"}; !slices.Equal(got, want) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %q and %v, want %q and that it has not ended", got, err, want)
			}
			short, done := context.WithTimeout(t.Context(), time.Second)
			defer done()
			s := ferrule.SessionOf(v)
			if err := s.Close(short); err == nil || !strings.Contains(err.Error(), "streams of calls that have not ended: 1") {
				t.Errorf("close: %v, want the stream that has not ended", err)
			}
			close(stuck)
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("X4 a stream that waits for who reads its results, and is left", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			v := viewWith(t, new(ferrule.Runtime), streamTools()...)
			feed := make(chan tool.Call, 1)
			feed <- tool.Call{Name: "r0"}
			calls := func(yield func(tool.Call, error) bool) {
				for c := range feed {
					if !yield(c, nil) {
						return
					}
				}
			}
			for range v.Stream(t.Context(), calls) {
				break
			}
			close(feed)
		})
	})
	for name, end := range map[string]func(){"panics": func() { panic("oh") }, "ends its goroutine": runtime.Goexit} {
		t.Run("X3 a stream that "+name+" was cut off", func(t *testing.T) {
			t.Parallel()
			v := viewWith(t, new(ferrule.Runtime), streamTools()...)
			got, err := collect(v.Stream(t.Context(), func(yield func(tool.Call, error) bool) {
				yield(tool.Call{ID: "0", Name: "r0"}, nil)
				end()
			}))
			if len(got) != 1 || err == nil || !strings.Contains(err.Error(), "the stream of calls") {
				t.Errorf("got %q and %v, want one result and an error", got, err)
			}
		})
	}
	t.Run("X4 who ranges over it panics: calls are stopped and waited for", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			v := viewWith(t, rt, streamTools()...)
			func() {
				defer func() {
					if r := recover(); r != "oh" {
						t.Errorf("recovered %v", r)
					}
				}()
				for range v.Stream(t.Context(), spoken(0, "r0", "stops")) {
					panic("oh")
				}
			}()
			if err := rt.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("X3 a stream that goes on behind its error hides nothing", func(t *testing.T) {
		t.Parallel()
		v := viewWith(t, new(ferrule.Runtime), streamTools()...)
		_, err := collect(v.Stream(t.Context(), func(yield func(tool.Call, error) bool) {
			yield(tool.Call{}, errCut)
			yield(tool.Call{}, errBroken) // it was told not to
		}))
		if !errors.Is(err, errCut) {
			t.Errorf("err = %.200v, want the first: %v", err, errCut)
		}
	})
	t.Run("X4 leaving the loop does not wait for claims that do not come", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			stuck := writerTool("stuck")
			stuck.ClaimsOf = func(tool.Args) (tool.Claims, error) {
				time.Sleep(10 * time.Minute)
				return tool.Claims{}, nil
			}
			v := viewWith(t, new(ferrule.Runtime), append(streamTools(), stuck)...)
			var left time.Time
			for range v.Stream(t.Context(), spoken(time.Second, "r0", "stuck")) {
				time.Sleep(5 * time.Second)
				left = time.Now()
				break
			}
			if took := time.Since(left); took > 3*time.Second {
				t.Errorf("leaving took %s, want a second or two", took)
			}
		})
	})
	t.Run("X2 who waits beside a stream takes no result away from it", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			turn := viewWith(t, new(ferrule.Runtime), streamTools()...).Begin(t.Context(), ferrule.TurnOptions{})
			go turn.Wait()
			got, err := collect(func(yield func(tool.Result, error) bool) {
				for res, err := range turn.Stream(spoken(time.Second, "r0", "r0", "r0")) {
					time.Sleep(time.Second)
					if !yield(res, err) {
						return
					}
				}
			})
			if want := []string{"0@2 slept 0", "1@3 slept 0", "2@4 slept 0"}; !slices.Equal(got, want) || err != nil {
				t.Errorf("got %q and %v, want %q", got, err, want)
			}
		})
	})
	t.Run("X2 who waits within the loop gets all results, and so does the loop", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			turn := viewWith(t, new(ferrule.Runtime), streamTools()...).Begin(t.Context(), ferrule.TurnOptions{})
			n := 0
			for range turn.Stream(spoken(time.Second, "r0", "r3", "r0")) {
				if n++; n == 1 {
					if got := fmt.Sprint(turn.Wait()); got != "[slept 0 slept 3 slept 0]" {
						t.Errorf("waited for %s", got)
					}
				}
			}
			if n != 3 {
				t.Errorf("%d results, want 3", n)
			}
		})
	})
	t.Run("X4 a stream is ranged over once: a second, at once or later, is told so", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			turn := viewWith(t, new(ferrule.Runtime), streamTools()...).Begin(t.Context(), ferrule.TurnOptions{})
			results := turn.Stream(spoken(time.Second, "r0", "r1"))
			second := func() {
				if got, err := collect(results); len(got) != 0 || err == nil || err.Error() != "the turn is over, or has a stream already" {
					t.Errorf("the second got %q and %v", got, err)
				}
			}
			time.AfterFunc(1500*time.Millisecond, second)
			if got, err := collect(results); len(got) != 2 || err != nil {
				t.Errorf("the first got %q and %v, want 2 results", got, err)
			}
			second()
		})
	})
	t.Run("X4 a closed session: a stream that has begun goes on, another is told so", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			rt := new(ferrule.Runtime)
			v := viewWith(t, rt, streamTools()...)
			go func() {
				time.Sleep(1500 * time.Millisecond)
				_ = rt.Close(t.Context())
			}()
			for _, want := range []string{"[0@4 slept 3 1@4 slept 0]", "[0@1 aborted 1@2 aborted]"} {
				if got, err := collect(v.Stream(t.Context(), spoken(time.Second, "r3", "r0"))); fmt.Sprint(got) != want || err != nil {
					t.Errorf("got %q and %v, want %s", got, err, want)
				}
			}
		})
	})
	for _, how := range []string{"leaves", "panics", "waits", "cancels", "interrupts"} {
		t.Run("X4 nothing is left, whenever who reads "+how, func(t *testing.T) {
			t.Parallel()
			for at := range 6 {
				bubble(t, func(t *testing.T) { readUntil(t, how, at) })
			}
		})
	}
	t.Run("X4 a stream that nobody ranges over does nothing", func(t *testing.T) {
		t.Parallel()
		rt := new(ferrule.Runtime)
		v := viewWith(t, rt, streamTools()...)
		_ = v.Stream(t.Context(), func(func(tool.Call, error) bool) { t.Error("it was read") })
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("X4 no stream at all", func(t *testing.T) {
		t.Parallel()
		got, err := collect(viewWith(t, new(ferrule.Runtime)).Stream(t.Context(), nil))
		if len(got) != 0 || err == nil || err.Error() != "got no stream of calls" {
			t.Errorf("got %q and %v", got, err)
		}
	})
	t.Run("D5 siblings: calls that a stream adds later are stopped too", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			bad := doing(readerTool("bad"), func(context.Context, tool.Args) (tool.Result, error) {
				return tool.Result{}, &tool.Outcome{Err: errBroken, StopSiblings: true}
			})
			v := viewWith(t, new(ferrule.Runtime), append(streamTools(), bad)...)
			got, _ := collect(v.Stream(t.Context(), spoken(time.Second, "bad", "r0")))
			if want := []string{"0@1 failed", "1@2 aborted"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	})
	t.Run("L7 a streamed turn can be handed back, once its stream has ended", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			box := new(policy.Memory)
			asks := readerTool("asks")
			asks.Approval = tool.AskAlways
			rt := &ferrule.Runtime{Inbox: box}
			v := viewWith(t, rt, append(streamTools(), asks)...)
			turn := v.Begin(t.Context(), ferrule.TurnOptions{HandBack: true})
			got, _ := collect(turn.Stream(spoken(time.Second, "asks", "r0")))
			if want := []string{"0@2 suspended", "1@2 slept 0"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			questions, err := box.Pending(t.Context())
			if err != nil || len(questions) != 1 {
				t.Fatalf("pending %v, %v", questions, err)
			}
			if err := box.Answer(t.Context(), questions[0].ID, policy.Answer{Allow: true}); err != nil {
				t.Fatal(err)
			}
			again := v.Begin(t.Context(), ferrule.TurnOptions{Number: turn.Number()})
			got, _ = collect(again.Stream(spoken(0, "asks", "r0")))
			if want := []string{"0@0 {}", "1@0 slept 0"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	})
	t.Run("O6 in a stream what was handed out stays and counts", func(t *testing.T) {
		t.Parallel()
		long := doing(readerTool("long"), func(_ context.Context, a tool.Args) (tool.Result, error) {
			return sayText(strings.Repeat("x", 600)), nil
		})
		v := viewWith(t, &ferrule.Runtime{TurnChars: 1000}, long)
		var got []string
		for res := range v.Stream(t.Context(), spoken(0, "long", "long", "long")) {
			got = append(got, strings.Map(func(r rune) rune {
				if r == '\n' {
					return '|'
				}
				return r
			}, res.String()))
		}
		want := []string{
			strings.Repeat("x", 600),
			strings.Repeat("x", 200) + "|[Truncated: 600 chars total, showing first 200 and last 200]|" + strings.Repeat("x", 200),
			"|[Truncated: 600 chars total, showing first 0 and last 0]|",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("X2 a result is handed out while later calls run", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			v := viewWith(t, new(ferrule.Runtime), streamTools()...)
			got, _ := collect(v.Stream(t.Context(), spoken(0, "r1", "r3")))
			if want := []string{"0@1 slept 1", "1@3 slept 3"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	})
}

// readUntil reads a stream of all kinds of calls and, at some result, does
// something to it. The turn is over then.
func readUntil(t *testing.T, how string, at int) {
	t.Helper()
	rt := new(ferrule.Runtime)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	turn := viewWith(t, rt, streamTools()...).Begin(ctx, ferrule.TurnOptions{})
	person := time.AfterFunc(20*time.Second, turn.Interrupt) // one of the tools waits for that
	defer person.Stop()
	do := map[string]func(){"panics": func() { panic("oh") }, "waits": func() { turn.Wait() }, "cancels": cancel, "interrupts": turn.Interrupt}[how]
	n := 0
	func() {
		defer func() { _ = recover() }()
		for range turn.Stream(spoken(time.Second, "r1", "stops", "r3", "r0", "r1!")) {
			if n++; n <= at {
				continue
			}
			if do == nil {
				return
			}
			do()
		}
	}()
	if how == "waits" && n != 6 || how == "interrupts" && n != 6 {
		t.Errorf("at %d: %d results and errors, want 5 and 1", at, n)
	}
	if err := rt.Close(t.Context()); err != nil {
		t.Errorf("at %d: %v", at, err)
	}
}

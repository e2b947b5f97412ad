package ferrule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestObserver(t *testing.T) {
	t.Parallel()
	t.Run("B1 one write of more than may wait, behind progress that does", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			h := &heardOf{slow: time.Second / 2}
			d := streamer(func(e *tool.Env) {
				e.Progress(1, 2, "a")
				e.Progress(2, 2, "b")
				write(e, strings.Repeat("x", 9<<20))
			})
			if res := callOne(t, &ferrule.Runtime{Observe: h.observe}, d, "{}"); res.Err != nil {
				t.Errorf("result = %v: %.200s", res.Err, res.Err.Detail)
			}
			time.Sleep(time.Minute)
			if got := h.all(); len(got) != 4 || len(got[2]) < 9<<20 {
				t.Errorf("heard %d updates, want both of progress and the output whole", len(got)-1)
			}
		})
	})
	for name, f := range map[string]func(){"panics": func() { panic("oh") }, "ends its goroutine": runtime.Goexit} {
		t.Run("L6 an observer that "+name+" is told the rest, and the call ends", func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				h := new(heardOf)
				d := streamer(func(e *tool.Env) {
					for i := range 3 {
						e.Progress(float64(i), 3, "")
					}
				})
				res := callOne(t, &ferrule.Runtime{Observe: func(e audit.Event) {
					if h.observe(e); e.Kind == audit.Updated {
						f()
					}
				}}, d, "{}")
				if got := h.all(); res.Err != nil || len(got) != 4 || got[3] != "call_1 ended" {
					t.Errorf("result = %v, heard %q", res.Err, got)
				}
			})
		})
	}
	t.Run("B1 each update carries the request as it stood when its function was called", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		var got []string
		d := streamer(func(e *tool.Env) { e.Progress(2, 2, "running") })
		d.Validate = func(ctx context.Context, a tool.Args) (json.RawMessage, error) {
			tool.From(ctx).Progress(1, 2, "checking")
			if a.Text() == textArg("b") {
				return nil, nil
			}
			return json.RawMessage(textArg("b")), nil
		}
		callOne(t, &ferrule.Runtime{Observe: func(e audit.Event) {
			if e.Kind == audit.Updated {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, e.Update.Message+" "+e.Request.Args.Text())
			}
		}}, d, textArg("a"))
		if want := []string{"checking " + textArg("a"), "running " + textArg("b")}; !slices.Equal(got, want) {
			t.Errorf("heard %q, want %q", got, want)
		}
	})
	t.Run("H1 an observer only looks: it cannot change what was streamed", func(t *testing.T) {
		t.Parallel()
		d := streamer(func(e *tool.Env) { e.Emit(tool.Content{Type: tool.JSONContent, JSON: json.RawMessage(`{"x":1}`)}) })
		res := callOne(t, &ferrule.Runtime{Observe: func(e audit.Event) {
			if e.Kind == audit.Updated {
				copy(e.Update.Content.JSON, `{"x":9}`)
			}
		}}, d, "{}")
		if res.String() != `{"x":1}` {
			t.Errorf("result = %q", res)
		}
	})
	t.Run("B1 an observer hears text, whatever bytes were written, to the last", func(t *testing.T) {
		t.Parallel()
		h := new(heardOf)
		res := callOne(t, &ferrule.Runtime{Observe: h.observe}, streamer(func(e *tool.Env) { write(e, "a\xff\xfeb\xe2\x82") }), "{}")
		got := strings.Join(h.all(), "|")
		if !utf8.ValidString(got) || strings.Count(got, "\uFFFD") != 2 || strings.Count(res.String(), "\uFFFD") != 2 {
			t.Errorf("heard %q, result %q, want one mark for the bytes in the middle and one for those at the end", got, res)
		}
	})
	t.Run("B1 nothing is heard of a call after its end, though its goroutines write on", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		ended, after := make(map[string]bool), 0
		var wg sync.WaitGroup
		d := doing(readerTool("v"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			e := tool.From(ctx)
			began := make(chan bool, 16)
			for range 16 {
				wg.Go(func() {
					began <- true
					for range 50 {
						write(e, "x")
					}
				})
			}
			<-began
			return sayText("ok"), nil
		})
		d.Repeatable = true
		v := viewWith(t, &ferrule.Runtime{Observe: func(e audit.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Kind == audit.Ended {
				ended[e.Request.ID] = true
			} else if e.Kind == audit.Updated && ended[e.Request.ID] {
				after++
			}
		}}, d)
		for range 300 {
			v.Do(t.Context(), tool.Call{Name: "v"})
		}
		wg.Wait()
		mu.Lock()
		defer mu.Unlock()
		if after > 0 || len(ended) != 300 {
			t.Errorf("%d updates came after the end of their call; %d have ended", after, len(ended))
		}
	})
	t.Run("B1 a slow observer holds up no other call", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			h := &heardOf{slow: time.Second / 2}
			talks := streamer(func(e *tool.Env) {
				for range 100 {
					write(e, "x")
				}
			})
			began, at := time.Now(), time.Time{}
			other := doing(readerTool("other"), func(context.Context, tool.Args) (tool.Result, error) {
				at = time.Now()
				return sayText("ok"), nil
			})
			viewWith(t, &ferrule.Runtime{Observe: h.observe, Limit: 1}, talks, other).Do(t.Context(), tool.Call{Name: "stream"}, tool.Call{Name: "other"})
			if d := at.Sub(began); d != 0 {
				t.Errorf("the other call began after %s, want at once", d)
			}
		})
	})
	t.Run("T10 a slow observer of one call does not lengthen the time of another", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			h := &heardOf{slow: time.Second / 2}
			began := time.Now()
			var after atomic.Int64
			sleeps := func(name string, writes int) tool.Tool {
				d := doing(readerTool(name), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
					for range writes {
						write(tool.From(ctx), "x")
					}
					time.Sleep(20 * time.Minute)
					return tool.Result{}, nil
				})
				d.Timeout = time.Second
				return d
			}
			v := viewWith(t, &ferrule.Runtime{Observe: func(e audit.Event) {
				if e.Kind == audit.GivenUp && e.Request.Name == "b" {
					after.Store(int64(time.Since(began)))
				}
				h.observe(e)
			}}, sleeps("a", 200), sleeps("b", 0))
			v.Do(t.Context(), tool.Call{Name: "a"}, tool.Call{Name: "b"})
			if d := time.Duration(after.Load()); d != 2*time.Second {
				t.Errorf("the other call was given up after %s, want after its second and another", d)
			}
		})
	})
	t.Run("B1 an observer that does not return is left behind after a second", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			h := &heardOf{slow: time.Hour}
			began := time.Now()
			callOne(t, &ferrule.Runtime{Observe: h.observe}, streamer(func(e *tool.Env) { write(e, "x") }), "{}")
			if took := time.Since(began); took != time.Second {
				t.Errorf("the turn took %s, want 1 s", took)
			}
		})
	})
	t.Run("D6 an observer that stops the call it hears of", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			var turn *ferrule.Turn
			d := doing(readerTool("v"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				write(tool.From(ctx), "part")
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			})
			turn = viewWith(t, &ferrule.Runtime{Observe: func(e audit.Event) {
				if e.Kind == audit.Updated {
					turn.Stop(e.Request.ID)
				}
			}}, d).Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(tool.Call{Name: "v"})
			wantFailure(t, turn.Wait()[0], tool.Aborted, "Aborted: a person stopped this call.")
		})
	})
}

// What a tool is given to write to is of no use to it in the next turn, which may
// have been given the same room.
func TestLateWriters(t *testing.T) {
	t.Parallel()
	t.Run("B2 who writes on after its call has ended writes into no other result", func(t *testing.T) {
		t.Parallel()
		var wg sync.WaitGroup
		late := doing(readerTool("late"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			e := tool.From(ctx)
			wg.Go(func() {
				for range 20 {
					write(e, "late")
				}
			})
			return sayText("done"), nil
		})
		other := streamer(func(e *tool.Env) { write(e, "own") })
		for _, d := range []*tool.Tool{&late, &other} {
			d.Cooperative, d.Repeatable = true, true
		}
		v := viewWith(t, new(ferrule.Runtime), late, other)
		for range 300 {
			if got := fmt.Sprint(v.Do(t.Context(), tool.Call{Name: "late"}), v.Do(t.Context(), tool.Call{Name: "stream"})); got != "[done] [own]" {
				t.Fatalf("results = %s", got)
			}
		}
		wg.Wait()
	})
}

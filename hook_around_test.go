package ferrule_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// aroundHook is a hook with a wrapper.
func aroundHook(f func(ctx context.Context, next ferrule.Next) tool.Result) ferrule.Hook {
	return ferrule.Hook{Name: "around", Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result { return f(ctx, next) }}
}

func TestAroundHooks(t *testing.T) {
	t.Parallel()
	t.Run("H1 before, instead and after; the first registered is outermost", func(t *testing.T) {
		var trace []string
		wrap := func(name string) ferrule.Hook {
			return aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
				trace = append(trace, "before "+name)
				res := next(ctx)
				trace = append(trace, "after "+name)
				return sayText(name + "(" + res.String() + ")")
			})
		}
		def := readerTool("read")
		def.Run = func(context.Context, tool.Args) (tool.Result, error) {
			trace = append(trace, "run")
			return sayText("x"), nil
		}
		res := withHooks(t, def, textArg("x"), wrap("a"), wrap("b"))
		if got, want := strings.Join(trace, ", "), "before a, before b, run, after b, after a"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if res.String() != "a(b(x))" {
			t.Errorf("result = %v", res)
		}
	})
	t.Run("H1 a wrapper that never calls next answers in the tool's place", func(t *testing.T) {
		def, runs := counted(readerTool("read"))
		res := withHooks(t, def, textArg("x"), aroundHook(func(context.Context, ferrule.Next) tool.Result { return sayText("cached") }))
		if res.Err != nil || res.String() != "cached" || runs.Load() != 0 {
			t.Errorf("result = %v, ran %d times", res, runs.Load())
		}
	})
	t.Run("H1 a wrapper can turn a failure into a result", func(t *testing.T) {
		def := readerTool("read")
		def.Run = func(context.Context, tool.Args) (tool.Result, error) { panic("broken") }
		res := withHooks(t, def, textArg("x"), aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
			if r := next(ctx); r.Err == nil || r.Err.Kind != tool.Failed {
				return r
			}
			return sayText("never mind")
		}))
		if res.Err != nil || res.String() != "never mind" {
			t.Errorf("result = %v", res)
		}
	})
	t.Run("H1 next after the wrapper has returned runs nothing", func(t *testing.T) {
		def, runs := counted(readerTool("read"))
		var kept ferrule.Next
		withHooks(t, def, textArg("x"), aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
			kept = next
			return sayText("instead")
		}))
		wantFailure(t, kept(t.Context()), tool.Aborted, "")
		if runs.Load() != 0 {
			t.Errorf("ran %d times", runs.Load())
		}
	})
	t.Run("H1 next from another goroutine", func(t *testing.T) {
		res := withHooks(t, readerTool("read"), textArg("x"), aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
			back := make(chan tool.Result)
			go func() { back <- next(ctx) }()
			return <-back
		}))
		if res.Err != nil || res.String() != textArg("x") {
			t.Errorf("result = %v", res)
		}
	})
	t.Run("H1 a wrapper that does not wait for next leaves nothing running", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // also: waiting for the tool does not stop a clock of the test
			begun := make(chan bool)
			var ended atomic.Bool
			def := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) {
				close(begun)
				time.Sleep(time.Second)
				ended.Store(true)
				return sayText("late"), nil
			})
			res := withHooks(t, def, textArg("x"), aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
				go next(ctx)
				<-begun
				return sayText("early")
			}))
			if res.Err != nil || res.String() != "early" || !ended.Load() {
				t.Errorf("result = %v, tool ended %v", res, ended.Load())
			}
		})
	})
	t.Run("H1 next in many goroutines at once runs the tool once", func(t *testing.T) {
		def, runs := counted(writerTool("write"))
		res := withHooks(t, def, textArg("x"), aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
			var all sync.WaitGroup
			results := make([]tool.Result, 10)
			for i := range results {
				all.Go(func() { results[i] = next(ctx) })
			}
			all.Wait()
			i := slices.IndexFunc(results, func(r tool.Result) bool { return r.Err == nil })
			return results[max(i, 0)]
		}))
		if res.Err != nil || res.String() != textArg("x") || runs.Load() != 1 {
			t.Errorf("result = %v, ran %d times", res, runs.Load())
		}
	})
}

func TestAroundContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	t.Run("H1 next with a context of the wrapper adds its values and keeps those of the call", func(t *testing.T) {
		for name, derive := range map[string]func(context.Context) context.Context{
			"derived": func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, "v") },
			"another": func(context.Context) context.Context { return context.WithValue(context.Background(), key{}, "v") },
		} {
			def := readerTool("read")
			def.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				return sayText(fmt.Sprint(ctx.Value(key{}), " ", tool.From(ctx).Request().CallID)), nil
			}
			res := withHooks(t, def, textArg("x"), aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result { return next(derive(ctx)) }))
			if res.String() != "v call_1" {
				t.Errorf("%s: the tool saw %v", name, res)
			}
		}
	})
	waits := readerTool("read")
	waits.Timeout = 5 * time.Second
	waits.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	tests := []struct {
		name string
		time time.Duration
		want time.Duration
		kind tool.Kind
	}{
		{"H1 the end of a wrapper's context counts if it is earlier", time.Second, time.Second, tool.Failed},
		{"H1 the end of a wrapper's context does not count if it is later", time.Minute, 5 * time.Second, tool.Timeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				began := time.Now()
				res := withHooks(t, waits, textArg("x"), aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
					ctx, cancel := context.WithTimeout(ctx, tt.time)
					defer cancel()
					return next(ctx)
				}))
				wantFailure(t, res, tt.kind, "")
				if took := time.Since(began); took != tt.want || !errors.Is(res.Err, context.DeadlineExceeded) {
					t.Errorf("%v after %s, want %s", res.Err, took, tt.want)
				}
			})
		})
	}
	t.Run("H1 a wrapper's own time stands still while the tool runs", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			def := readerTool("read")
			def.Timeout = 5 * time.Second
			def.Run = func(context.Context, tool.Args) (tool.Result, error) {
				time.Sleep(4 * time.Second)
				return sayText("done"), nil
			}
			res := withHooks(t, def, textArg("x"), aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
				time.Sleep(4 * time.Second)
				defer time.Sleep(4 * time.Second)
				return next(ctx)
			}))
			if res.Err != nil {
				t.Errorf("result = %v: none of them took more than 5s", res)
			}
		})
	})
	t.Run("H1 a wrapper that passes its context on does not hide the tool's deadline", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			def := readerTool("read")
			def.Timeout = 5 * time.Second
			def.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				at, ok := ctx.Deadline()
				return sayText(fmt.Sprint(ok, " ", time.Until(at))), nil
			}
			pass := aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result { return next(ctx) })
			if res := withHooks(t, def, textArg("x")); res.String() != "true 5s" {
				t.Errorf("without a wrapper: %v", res)
			}
			if res := withHooks(t, def, textArg("x"), pass); res.String() != "true 5s" {
				t.Errorf("deadline = %v, want true 5s", res)
			}
		})
	})
	t.Run("H4 next without a context is the wrapper's failure and nobody else's", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rt := &ferrule.Runtime{Hooks: []ferrule.Hook{{
				Only:   ferrule.Filter{Names: []string{"bad"}},
				Around: func(_ context.Context, _ *tool.Request, next ferrule.Next) tool.Result { return next(nil) }, //nolint:contextcheck // that is the fault
			}}}
			res := viewWith(t, rt, readerTool("bad"), slowTool("slow", 10*time.Minute)).Do(t.Context(), tool.Call{Name: "bad"}, tool.Call{Name: "slow"})
			wantFailure(t, res[0], tool.HookBlocked, "")
			if res[1].Err != nil {
				t.Errorf("its sibling: %v", res[1])
			}
		})
	})
}

func TestNextTwice(t *testing.T) {
	t.Parallel()
	keyed := func(key string, err error) tool.Tool {
		d := writerTool("write")
		d.Key = func(context.Context, tool.Args) (string, error) { return key, err }
		return d
	}
	claiming := func(c tool.Claims) tool.Tool {
		d := writerTool("write")
		d.Claims = c
		return d
	}
	tests := []struct {
		name string
		def  tool.Tool
		runs int64
	}{
		{"H1 no claim: once", claiming(tool.Claims{}), 1},
		{"H1 every other claim: once", claiming(tool.Claims{Parallel: true, Reversible: true, Local: true, Touches: []tool.Access{}}), 1},
		{"H1 read-only: again", claiming(tool.Claims{ReadOnly: true}), 2},
		{"H1 idempotent: again", claiming(tool.Claims{Idempotent: true}), 2},
		{"H1 keyed: again", keyed("k", nil), 2},
		{"H1 no key: once", keyed("", nil), 1},
		{"H1 a key that fails is none: once", keyed("k", errBroken), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			def, runs := counted(tt.def)
			var first, second tool.Result
			twice := aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
				first, second = next(ctx), next(ctx)
				return first
			})
			pass := aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result { return next(ctx) })
			for _, hooks := range [][]ferrule.Hook{{twice}, {twice, pass}, {pass, twice}} {
				runs.Store(0)
				res := withHooks(t, def, textArg("x"), hooks...)
				if res.Err != nil || first.String() != textArg("x") {
					t.Errorf("the first result %v was lost: %v", first, res)
				}
				if runs.Load() != tt.runs || (second.Err == nil) != (tt.runs == 2) {
					t.Errorf("ran %d times, want %d; second result: %v", runs.Load(), tt.runs, second)
				}
				if second.Err != nil {
					wantFailure(t, second, tool.Failed, "The tool has run already and may not run twice.")
				}
			}
		})
	}
	t.Run("H1 two wrappers that each repeat do not run the tool twice together", func(t *testing.T) {
		def, runs := counted(writerTool("write"))
		twice := aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
			res := next(ctx)
			next(ctx)
			return res
		})
		withHooks(t, def, textArg("x"), twice, twice)
		if runs.Load() != 1 {
			t.Errorf("ran %d times", runs.Load())
		}
	})
	t.Run("H1 a claim that is not believed does not count", func(t *testing.T) {
		def, runs := counted(claiming(tool.Claims{ReadOnly: true, Idempotent: true}))
		rt := &ferrule.Runtime{Policy: allowAll, Hooks: []ferrule.Hook{aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
			next(ctx)
			return next(ctx)
		})}}
		if err := rt.Set(tool.Source{Name: "far", Trust: tool.MCP}, checkedTool(t, def)); err != nil {
			t.Fatal(err)
		}
		rt.Session(tool.Caller{}).Call(t.Context(), "far__write", "{}")
		if runs.Load() != 1 {
			t.Errorf("ran %d times", runs.Load())
		}
	})
}

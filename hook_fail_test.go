package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// hookFailures are the ways in which a hook fails.
var hookFailures = []struct {
	name string
	fail func(context.Context) error
}{
	{"an error", func(context.Context) error { return errBroken }},
	{"a panic", func(context.Context) error { panic(errBroken) }},
	{"the end of its goroutine", func(context.Context) error {
		runtime.Goexit()
		return nil
	}},
	{"taking too long", func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	}},
	{"not returning", func(context.Context) error {
		time.Sleep(time.Hour)
		return nil
	}},
}

// failingHook is a hook that fails in one of its functions.
func failingHook(part string, security bool, fail func(context.Context) error) ferrule.Hook {
	h := ferrule.Hook{Name: "bad", Security: security, Only: ferrule.Filter{Names: []string{"bad"}}}
	switch part {
	case "Input":
		h.Input = func(ctx context.Context, _ *tool.Request) (ferrule.Change, error) { return ferrule.Change{}, fail(ctx) }
	case "Around, before":
		h.Around = func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
			if err := fail(ctx); err != nil {
				panic(err) // a wrapper has no other way
			}
			return next(ctx)
		}
	case "Around, after":
		h.Around = func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
			res := next(ctx)
			if err := fail(ctx); err != nil {
				panic(err)
			}
			return res
		}
	case "Output":
		h.Output = func(ctx context.Context, _ *tool.Request, _, _ tool.Result) (*tool.Result, error) {
			return nil, fail(ctx)
		}
	}
	return h
}

func TestFailingHooks(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"Input", "Around, before", "Around, after", "Output"} {
		for _, f := range hookFailures {
			t.Run(fmt.Sprintf("H4 a hook fails: %s: %s", part, f.name), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					res := besideFailing(t, failingHook(part, false, f.fail))
					if res.Err == nil || !res.Err.Kind.Known() {
						t.Errorf("result = %+v, want a failure", res)
					}
				})
			})
			t.Run(fmt.Sprintf("H4 a security hook fails and denies: %s: %s", part, f.name), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					wantFailure(t, besideFailing(t, failingHook(part, true, f.fail)), tool.Denied, "")
				})
			})
		}
	}
	t.Run("H4 what the failing hook said is for the operator", func(t *testing.T) {
		wantFailure(t, withHooks(t, readerTool("bad"), "{}", failingHook("Input", false, hookFailures[0].fail)), tool.HookBlocked, "A hook of this program failed, so the call did not go on.")
		res := withHooks(t, readerTool("bad"), "{}", failingHook("Input", true, hookFailures[0].fail))
		wantFailure(t, res, tool.Denied, "A security check of this program failed, so the call was denied.")
		if res.Err.Detail != `hook "bad": broken` || !errors.Is(res.Err, errBroken) {
			t.Errorf("the operator reads %q", res.Err.Detail)
		}
	})
	for _, f := range hookFailures {
		t.Run("H4 a failing hook does not stop a longer turn from ending: "+f.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rt := &ferrule.Runtime{Hooks: []ferrule.Hook{failingHook("Input", false, f.fail)}}
				v := viewWith(t, rt, readerTool("bad"), slowTool("slow", 10*time.Minute))
				res := v.Do(t.Context(), tool.Call{Name: "bad"}, tool.Call{Name: "slow"})
				if res[0].Err == nil || res[1].Err != nil {
					t.Errorf("results = %v", res)
				}
			})
		})
	}
}

// besideFailing runs a call whose hook fails beside others, and wants these to
// have their results. It returns that of the one.
func besideFailing(t *testing.T, h ferrule.Hook) tool.Result {
	t.Helper()
	bad, runs := counted(readerTool("bad"))
	var rec recorder
	rt := &ferrule.Runtime{Observe: rec.observe, Hooks: []ferrule.Hook{h}}
	v := viewWith(t, rt, bad, readerTool("good"))
	res := v.Do(t.Context(), tool.Call{Name: "good"}, tool.Call{ID: "bad", Name: "bad"}, tool.Call{Name: "good", Input: json.RawMessage(textArg("x"))})
	if len(res) != 3 || res[0].String() != "{}" || res[2].String() != textArg("x") {
		t.Fatalf("results = %v", res)
	}
	if got, want := strings.Count(" "+rec.kinds("bad"), " ended"), 1; got != want {
		t.Errorf("the call ended %d times: %s", got, rec.kinds("bad"))
	}
	if ran := runs.Load() > 0; ran && h.Input != nil {
		t.Error("it ran although its input hook failed")
	}
	if strings.Contains(res[1].String(), "broken") || strings.Contains(res[1].String(), "goroutine") {
		t.Errorf("the model reads %q", res[1])
	}
	return res[1]
}

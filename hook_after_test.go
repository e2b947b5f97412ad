package ferrule_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestWrappersAndOnce(t *testing.T) {
	t.Parallel()
	for name, claims := range map[string]tool.Claims{"claims nothing": {}, "reads": {ReadOnly: true}} {
		t.Run("H1 a wrapper that says suspended does not make a tool run again: one that "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d, runs := counted(writerTool("w"))
				d.Claims = claims
				rt := &ferrule.Runtime{Policy: allowAll, Answer: says(policy.Answer{Allow: true}), Hooks: []ferrule.Hook{aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
					if res := next(ctx); runs.Load() > 9 { // so that the test ends
						return res
					}
					return tool.Result{Err: &tool.Error{Kind: tool.Suspended, Text: "hm?"}}
				})}}
				wantFailure(t, callOne(t, rt, d, "{}"), tool.Failed, "hm?")
				if runs.Load() != 1 {
					t.Errorf("it ran %d times", runs.Load())
				}
			})
		})
	}
	for _, tt := range []struct {
		name string
		err  error
		kind tool.Kind
		text string
	}{
		{"as it failed", errBroken, tool.Failed, "broken"},
		{"as it said", &tool.Error{Kind: tool.RateLimited, Text: "slowly"}, tool.RateLimited, "slowly"},
		{"that it went well", nil, tool.Failed, "The tool has run already and may not run twice."},
	} {
		t.Run("H1 a wrapper that runs again what may not run twice reads "+tt.name, func(t *testing.T) {
			d, runs := counted(doing(writerTool("w"), func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, tt.err }))
			res := withHooks(t, d, "{}", aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
				if res := next(ctx); res.Err != nil {
					res.Err.Text = "written over"
				}
				next(ctx)
				return next(ctx)
			}))
			wantFailure(t, res, tt.kind, tt.text)
			if runs.Load() != 1 {
				t.Errorf("it ran %d times", runs.Load())
			}
		})
	}
}

func TestHooksAfterTheTool(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ran, security bool
		kind          tool.Kind
		text          string
	}{
		{true, false, tool.HookBlocked, "The tool ran, but a hook of this program failed, so its result is withheld."},
		{true, true, tool.Denied, "The tool ran, but a security check of this program failed, so its result is withheld."},
		{false, false, tool.HookBlocked, "A hook of this program failed, so the call did not go on."},
		{false, true, tool.Denied, "A security check of this program failed, so the call was denied."},
	} {
		t.Run(fmt.Sprintf("H4 the model reads whether the tool ran before its output hook failed: ran %v, security %v", tt.ran, tt.security), func(t *testing.T) {
			d, runs := counted(writerTool("w"))
			fails := outputHook(func(tool.Result, tool.Result) (*tool.Result, error) { return nil, errBroken })
			fails.Security = tt.security
			instead := aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result {
				if tt.ran {
					return next(ctx)
				}
				return sayText("from the cache")
			})
			wantFailure(t, withHooks(t, d, "{}", instead, fails), tt.kind, tt.text)
			if got := runs.Load() == 1; got != tt.ran {
				t.Errorf("ran %v", got)
			}
		})
	}
	t.Run("I4 trust that one output hook lowered stays lowered, whatever a later one returns", func(t *testing.T) {
		lower := outputHook(func(now, _ tool.Result) (*tool.Result, error) {
			now.Trust = new(tool.Web)
			return &now, nil
		})
		for name, later := range map[string]func(now tool.Result) tool.Result{
			"another result": func(now tool.Result) tool.Result { return sayText(now.String() + "!") },
			"higher trust": func(now tool.Result) tool.Result {
				now.Trust = new(tool.BuiltIn)
				return now
			},
		} {
			res := withHooks(t, readerTool("read"), "{}", lower, outputHook(func(now, _ tool.Result) (*tool.Result, error) { return new(later(now)), nil }))
			if res.Trust == nil || *res.Trust != tool.Web {
				t.Errorf("%s: trust = %v, want web", name, res.Trust)
			}
		}
	})
	t.Run("I4 trust that a wrapper or a tool lowered stays lowered when a later phase fails", func(t *testing.T) {
		d := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) {
			res := sayText("from afar")
			res.Trust = new(tool.Web)
			return res, nil
		})
		res := withHooks(t, d, "{}", outputHook(func(tool.Result, tool.Result) (*tool.Result, error) { return nil, errBroken }))
		if res.Trust == nil || *res.Trust != tool.Web {
			t.Errorf("trust = %v, want web", res.Trust)
		}
	})
}

package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// lostInbox is an inbox that does not work.
type lostInbox struct {
	policy.Memory
	ask, use error
}

func (i *lostInbox) Ask(ctx context.Context, q policy.Question) error {
	if i.ask != nil {
		return i.ask
	}
	return i.Memory.Ask(ctx, q)
}

func (i *lostInbox) Use(ctx context.Context, id, digest string) (policy.Answer, error) {
	if i.use != nil {
		return policy.Answer{}, i.use
	}
	return i.Memory.Use(ctx, id, digest)
}

// ailments are what can be wrong around a call, each saying err.
func ailments(err error) []ailment {
	return []ailment{
		{"Run", tool.Failed, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) {
				return tool.Result{}, &tool.Error{Text: "no", Detail: err.Error(), Cause: err}
			}
		}},
		{"Validate", tool.InvalidValue, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) {
				return nil, &tool.Error{Text: "no", Detail: err.Error(), Cause: err}
			}
		}},
		{"Permit", tool.Denied, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Permit = func(context.Context, tool.Args) (tool.Decision, error) { return tool.Decision{}, err }
		}},
		{"Decide", tool.Denied, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Decide = func(context.Context, *tool.Request) (tool.Decision, error) { return tool.Decision{}, err }
		}},
		{"an input hook", tool.HookBlocked, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Hooks = []ferrule.Hook{inputHook("h", func(context.Context, *tool.Request) (ferrule.Change, error) { return ferrule.Change{}, err })}
		}},
		{"an output hook", tool.HookBlocked, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Hooks = []ferrule.Hook{outputHook(func(tool.Result, tool.Result) (*tool.Result, error) { return nil, err })}
		}},
		{"a wrapper", tool.HookBlocked, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Hooks = []ferrule.Hook{aroundHook(func(context.Context, ferrule.Next) tool.Result { panic(err) })}
		}},
		{"Answer", tool.Denied, func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Claims = tool.Claims{}
			rt.Answer = func(context.Context, policy.Question) (policy.Answer, error) { return policy.Answer{}, err }
		}},
		{"asking a person", tool.Denied, func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Claims, rt.Inbox = tool.Claims{}, &lostInbox{ask: err}
		}},
		{"an answer", tool.Denied, func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Claims, rt.Inbox = tool.Claims{}, &lostInbox{use: err}
		}},
		{"the fallback", tool.UnknownTool, func(rt *ferrule.Runtime, d *tool.Tool) {
			d.Name = "other"
			rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) { return nil, err })
		}},
		{"a panic in Run", tool.Failed, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) { panic(err) }
		}},
		{"a panic in Validate", tool.Failed, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) { panic(err) }
		}},
	}
}

type ailment struct {
	name   string
	kind   tool.Kind
	infect func(*ferrule.Runtime, *tool.Tool)
}

// suffer runs a call with an ailment.
func (a ailment) suffer(t testing.TB) tool.Result {
	t.Helper()
	rt, def := &ferrule.Runtime{}, readerTool("read")
	a.infect(rt, &def)
	return viewWith(t, rt, def).Do(t.Context(), tool.Call{ID: "call_1", Name: "read"})[0]
}

func TestCauses(t *testing.T) {
	t.Parallel()
	for _, a := range ailments(fmt.Errorf("open /srv/keys/db: %w", os.ErrNotExist)) {
		t.Run("L4 a result keeps its cause: "+a.name, func(t *testing.T) {
			res := a.suffer(t)
			wantFailure(t, res, a.kind, "")
			if res.Err != nil && !errors.Is(res.Err, os.ErrNotExist) {
				t.Errorf("errors.Is(%q, os.ErrNotExist) = false", res.Err)
			}
		})
		t.Run("L5 what broke is for the operator: "+a.name, func(t *testing.T) {
			res := a.suffer(t)
			if res.Err == nil {
				t.Fatalf("result = %v", res)
			}
			if strings.Contains(res.String()+res.Err.Text, "/srv") || strings.Contains(res.String(), "goroutine") {
				t.Errorf("the model reads %q", res)
			}
			if !strings.Contains(res.Err.Detail, "/srv/keys/db") {
				t.Errorf("the operator reads %q", res.Err.Detail)
			}
			if strings.HasPrefix(a.name, "a panic") != strings.Contains(res.Err.Detail, "goroutine ") && a.name != "a wrapper" {
				t.Errorf("the operator reads %q", res.Err.Detail)
			}
		})
	}
	run := func(res tool.Result, err error) ailment {
		return ailment{"", "", func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) { return res, err }
		}}
	}
	t.Run("L4 a cause can be found by its type", func(t *testing.T) {
		err := run(tool.Result{}, fmt.Errorf("reading: %w", &os.PathError{Op: "open", Path: "/a", Err: os.ErrPermission})).suffer(t).Err
		if p := (*os.PathError)(nil); !errors.As(err, &p) || p.Path != "/a" || !errors.Is(err, os.ErrPermission) {
			t.Errorf("the cause of %v is lost", err)
		}
	})
	t.Run("L4 the cause of bad input can be found by its type", func(t *testing.T) {
		v := viewWith(t, &ferrule.Runtime{}, readerTool("read"))
		res := v.Do(t.Context(), tool.Call{Name: "read", Input: json.RawMessage(`{`)})[0]
		if !errors.As(res.Err, new(*schema.SyntaxError)) {
			t.Errorf("the cause of %v is lost", res.Err)
		}
	})
	t.Run("L4 the cause of bad output can be found by its type", func(t *testing.T) {
		res := callOne(t, &ferrule.Runtime{}, countTool(`{"n":"one"}`), "")
		if !errors.As(res.Err, new(*schema.InvalidError)) {
			t.Errorf("the cause of %v is lost", res.Err)
		}
	})
	t.Run("L4 a time-out is a passed deadline", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			for _, run := range []func(context.Context, tool.Args) (tool.Result, error){
				func(ctx context.Context, _ tool.Args) (tool.Result, error) {
					<-ctx.Done()
					return tool.Result{}, errBroken
				},
				func(context.Context, tool.Args) (tool.Result, error) {
					time.Sleep(time.Hour)
					return tool.Result{}, nil
				},
			} {
				res := callOne(t, &ferrule.Runtime{}, doing(readerTool("read"), run), "")
				wantFailure(t, res, tool.Timeout, "Timed out after 1m0s.")
				if !errors.Is(res.Err, context.DeadlineExceeded) {
					t.Errorf("errors.Is(%v, context.DeadlineExceeded) = false", res.Err)
				}
			}
		})
	})
	t.Run("L4 a stop has the host's cause", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errBroken)
		res := viewWith(t, &ferrule.Runtime{}, readerTool("read")).Do(ctx, tool.Call{Name: "read"})[0]
		wantFailure(t, res, tool.Aborted, "Aborted: the run was stopped.")
		if !errors.Is(res.Err, errBroken) {
			t.Errorf("the cause of %v is lost", res.Err)
		}
	})
	t.Run("L4 a tool cannot say what only others may say", func(t *testing.T) {
		own := []tool.Kind{tool.InvalidValue, tool.Failed, tool.Timeout, tool.InvalidOutput, tool.Sandbox, tool.RateLimited}
		for _, kind := range allKinds {
			for name, a := range map[string]ailment{
				"returned":  run(tool.Result{}, &tool.Error{Kind: kind, Text: "x"}),
				"in result": run(tool.Result{Err: &tool.Error{Kind: kind, Text: "x"}}, nil),
				"wrapped":   run(tool.Result{}, fmt.Errorf("so: %w", &tool.Error{Kind: kind, Text: "x"})),
			} {
				want := tool.Failed
				if slices.Contains(own, kind) {
					want = kind
				}
				if res := a.suffer(t); res.Err == nil || res.Err.Kind != want {
					t.Errorf("%s %q: result = %+v, want %s", name, kind, res.Err, want)
				}
			}
		}
	})
	wait := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for _, a := range []ailment{
		{"Validate", tool.Aborted, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Validate = func(ctx context.Context, _ tool.Args) (json.RawMessage, error) { return nil, wait(ctx) }
		}},
		{"Permit", tool.Aborted, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Permit = func(ctx context.Context, _ tool.Args) (tool.Decision, error) { return tool.Decision{}, wait(ctx) }
		}},
		{"an input hook", tool.Aborted, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Hooks = []ferrule.Hook{inputHook("h", func(ctx context.Context, _ *tool.Request) (ferrule.Change, error) { return ferrule.Change{}, wait(ctx) })}
		}},
		{"a wrapper", tool.Aborted, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Hooks = []ferrule.Hook{aroundHook(func(ctx context.Context, _ ferrule.Next) tool.Result {
				return tool.Result{Err: tool.AsError(wait(ctx))}
			})}
		}},
		{"an output hook", tool.Aborted, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Hooks = []ferrule.Hook{{Output: func(ctx context.Context, _ *tool.Request, _, _ tool.Result) (*tool.Result, error) {
				return nil, wait(ctx)
			}}}
		}},
		{"Run", tool.Aborted, func(_ *ferrule.Runtime, d *tool.Tool) {
			d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) { return tool.Result{}, wait(ctx) }
		}},
	} {
		t.Run("L4 a call that the host stops is aborted, whatever runs: "+a.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rt, def := &ferrule.Runtime{}, readerTool("read")
				a.infect(rt, &def)
				ctx, cancel := context.WithCancel(t.Context())
				turn := viewWith(t, rt, def).Begin(ctx, ferrule.TurnOptions{})
				turn.Add(tool.Call{Name: "read"})
				synctest.Wait()
				cancel()
				wantFailure(t, turn.Wait()[0], a.kind, "")
			})
		})
	}
}

var allKinds = []tool.Kind{
	"", "mine", tool.UnknownTool, tool.NotLoaded, tool.InvalidInput, tool.InvalidValue, tool.Denied, tool.Rejected, tool.Expired, tool.NeedsUser,
	tool.HookBlocked, tool.Failed, tool.Timeout, tool.Aborted, tool.InvalidOutput, tool.UnsafeContent, tool.FlowBlocked, tool.Sandbox,
	tool.RateLimited, tool.OutcomeUnknown, tool.Loop, tool.Pending, tool.Suspended,
}

func TestToolOutcomes(t *testing.T) {
	t.Parallel()
	returning := func(err error) tool.Tool {
		return doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, err })
	}
	t.Run("L7 a tool's own error is failed and goes to the model", func(t *testing.T) {
		wantFailure(t, callOne(t, &ferrule.Runtime{}, returning(errors.New("no such table: orders")), ""), tool.Failed, "no such table: orders")
	})
	t.Run("L7 what a tool returned beside its error goes to the model too", func(t *testing.T) {
		def := doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return sayText("half"), errBroken })
		res := callOne(t, &ferrule.Runtime{}, def, "")
		wantFailure(t, res, tool.Failed, "broken")
		if res.String() != "broken\nhalf" {
			t.Errorf("the model reads %q", res)
		}
	})
	t.Run("L7 an error that is nil inside is a failure", func(t *testing.T) {
		for _, err := range []error{(*tool.Error)(nil), (*tool.Outcome)(nil), &tool.Outcome{}} {
			wantFailure(t, callOne(t, &ferrule.Runtime{}, returning(err), ""), tool.Failed, "")
		}
	})
	t.Run("L7 fatal can be found by the host", func(t *testing.T) {
		v := viewWith(t, &ferrule.Runtime{}, returning(fmt.Errorf("so: %w", &tool.Outcome{Err: errBroken, Fatal: true})), readerTool("good"))
		res := v.Do(t.Context(), tool.Call{Name: "read"}, tool.Call{Name: "good"})
		wantFailure(t, res[0], tool.Failed, "so: broken")
		if o := (*tool.Outcome)(nil); !errors.As(res[0].Err, &o) || !o.Fatal || !errors.Is(res[0].Err, errBroken) {
			t.Errorf("the outcome of %v is lost", res[0].Err)
		}
		if res[1].Err != nil {
			t.Errorf("it ended its sibling: %v", res[1])
		}
	})
	t.Run("L7 fatal can be found after a limit and after an output hook that looks", func(t *testing.T) {
		def := returning(&tool.Outcome{Err: errors.New(strings.Repeat("x", 1000)), Fatal: true})
		def.Limit.Chars = 10
		res := withHooks(t, def, "", outputHook(func(now, _ tool.Result) (*tool.Result, error) { return &now, nil }))
		if o := (*tool.Outcome)(nil); !errors.As(res.Err, &o) || !o.Fatal {
			t.Errorf("the outcome of %v is lost", res.Err)
		}
	})
	t.Run("L7 retry after", func(t *testing.T) {
		res := callOne(t, &ferrule.Runtime{}, returning(&tool.Outcome{Err: errors.New("busy"), RetryAfter: time.Minute}), "")
		wantFailure(t, res, tool.Failed, "busy")
		if res.Err.RetryAfter != time.Minute || !res.Err.Kind.Again() {
			t.Errorf("retry after %s, again %v", res.Err.RetryAfter, res.Err.Kind.Again())
		}
		res = callOne(t, &ferrule.Runtime{}, returning(&tool.Error{Kind: tool.RateLimited, Text: "busy", RetryAfter: time.Second}), "")
		wantFailure(t, res, tool.RateLimited, "busy")
		if res.Err.RetryAfter != time.Second {
			t.Errorf("retry after %s", res.Err.RetryAfter)
		}
	})
	asking := func(n int) (tool.Tool, *[]string) {
		var heard []string
		return doing(readerTool("read"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			a, ok := tool.From(ctx).Answer()
			heard = append(heard, fmt.Sprint(ok, a))
			if len(heard) <= n {
				return sayText("dropped"), &tool.Outcome{Suspend: fmt.Sprintf("Question %d?", len(heard))}
			}
			return sayText(a), nil
		}), &heard
	}
	t.Run("L7 suspend waits for an answer, then runs anew with it", func(t *testing.T) {
		def, heard := asking(2)
		var asked []string
		rt := &ferrule.Runtime{Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
			asked = append(asked, q.Wants)
			return policy.Answer{Allow: true, Text: fmt.Sprint("answer ", len(asked))}, nil
		}}
		res := callOne(t, rt, def, "")
		if res.Err != nil || res.String() != "answer 2" {
			t.Errorf("result = %v", res)
		}
		if want := []string{"Question 1?", "Question 2?"}; !slices.Equal(asked, want) {
			t.Errorf("asked %q", asked)
		}
		if want := []string{"false", "trueanswer 1", "trueanswer 2"}; !slices.Equal(*heard, want) {
			t.Errorf("the tool heard %q", *heard)
		}
	})
	t.Run("L7 suspend with nobody to ask", func(t *testing.T) {
		def, _ := asking(1)
		wantFailure(t, callOne(t, &ferrule.Runtime{}, def, ""), tool.NeedsUser, "The tool needs an answer from a person, and nobody can be asked.")
	})
	t.Run("L7 a suspended call may run again although it claims nothing: it has done nothing yet", func(t *testing.T) {
		def, _ := asking(1)
		def.Claims = tool.Claims{}
		rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Answer: says(policy.Answer{Allow: true, Text: "yes"}), Hooks: []ferrule.Hook{
			aroundHook(func(ctx context.Context, next ferrule.Next) tool.Result { return next(ctx) }),
		}}
		if res := callOne(t, rt, def, ""); res.Err != nil || res.String() != "yes" {
			t.Errorf("result = %v", res)
		}
	})
}

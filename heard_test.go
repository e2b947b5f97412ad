package ferrule_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestStopsAreHeard(t *testing.T) {
	t.Parallel()
	t.Run("D6 a call that ends after its 10 s tells why the host stopped", func(t *testing.T) {
		cause := errors.New("the program ends")
		onFloor(t, new(ferrule.Runtime), func(f *floor) {
			ctx, cancel := context.WithCancelCause(f.ctx)
			turn := f.session("s").View(ctx).Begin(ctx, ferrule.TurnOptions{})
			turn.Add(words("p=obey@99 p@99")...)
			after(1)
			cancel(cause)
			for i, res := range turn.Wait() {
				for _, want := range []error{context.Canceled, cause} {
					if !errors.Is(res.Err, want) {
						f.t.Errorf("call %d: errors.Is(%v, %v) = false", i, res.Err, want)
					}
				}
			}
		})
	})
	t.Run("L9 a call that waited for a slot is judged again when it is ready", func(t *testing.T) {
		for _, before := range []tool.Verdict{tool.Allow, tool.Ask} {
			bubble(t, func(t *testing.T) {
				denies := false
				rt := &ferrule.Runtime{Limit: 1, Answer: says(policy.Answer{Allow: true})}
				rt.Policy = policy.Func(func(r *tool.Request) tool.Decision {
					switch {
					case r.Name == "wall":
						return tool.Decision{Verdict: tool.Allow}
					case denies:
						return tool.Decision{Verdict: tool.Deny, Message: "Not any more."}
					}
					return tool.Decision{Verdict: before}
				})
				wall := doing(writerTool("wall"), func(context.Context, tool.Args) (tool.Result, error) {
					slow(30)
					denies = true
					return sayText(""), nil
				})
				d := writerTool("write")
				wall.Claims.Parallel, d.Claims.Parallel = true, true
				res := viewWith(t, rt, wall, d).Do(t.Context(), tool.Call{Name: "wall"}, tool.Call{Name: "write"})
				wantFailure(t, res[1], tool.Denied, "Not any more.")
			})
		}
	})
	t.Run("D6 a context that has ended before aborts, whatever the rules would say", func(t *testing.T) {
		d := writerTool("read")
		d.ClaimsOf = func(tool.Args) (tool.Claims, error) { return tool.Claims{ReadOnly: true, Local: true}, nil }
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wantFailure(t, viewWith(t, new(ferrule.Runtime), d).Do(ctx, tool.Call{Name: "read"})[0], tool.Aborted, "")
	})
	t.Run("L7 of two turns of one number at once, the one that knows nothing makes nobody forget", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			inbox := new(policy.Memory)
			v := viewWith(t, &ferrule.Runtime{Inbox: inbox, Policy: askFirst}, writerTool("first"))
			call := tool.Call{Name: "first"}
			n, _ := goesOn(t, v, 0, call)
			b := ferrule.TurnOptions{Number: n, HandBack: true}
			one, two := v.Begin(t.Context(), b), v.Begin(t.Context(), b)
			one.Add(call)
			two.Add(call)
			one.Wait()
			two.Wait()
			say(t, inbox, policy.Answer{Allow: true})
			_, res := goesOn(t, v, n, call)
			if res[0].Err != nil {
				t.Errorf("it never ran, was answered yes, and is %v", res[0].Err)
			}
		})
	})
	hangs := func() { time.Sleep(time.Hour) } // of a bubble
	for name, inbox := range map[string]func() *oddInbox{
		"the inbox hangs":                func() *oddInbox { return &oddInbox{ask: func(*policy.Question) { hangs() }} },
		"the inbox begins to be watched": func() *oddInbox { return &oddInbox{watch: hangs} },
	} {
		t.Run("D6 the host stops while "+name, func(t *testing.T) {
			for _, cooperative := range []bool{false, true} {
				bubble(t, func(t *testing.T) {
					d := writerTool("asks")
					d.Cooperative = cooperative
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					defer cancel()
					v := viewWith(t, &ferrule.Runtime{Inbox: inbox()}, d)
					began := time.Now()
					wantFailure(t, v.Do(ctx, tool.Call{Name: "asks"})[0], tool.Aborted, "")
					if took := time.Since(began); took > 6*time.Second {
						t.Errorf("stopped at 5s, over at %s", took)
					}
				})
			}
		})
	}
}

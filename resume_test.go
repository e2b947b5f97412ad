package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// process is one process of several that share an inbox and a ledger: a runtime
// of its own, with tools of its own.
type process struct {
	*ferrule.Runtime
	runs *atomic.Int64
}

func begins(t testing.TB, kept *policy.Memory, change func(*ferrule.Runtime, *tool.Tool)) process {
	t.Helper()
	d, runs := counted(writerTool("send"))
	rt := &ferrule.Runtime{Inbox: kept, Ledger: kept}
	if change != nil {
		change(rt, &d)
	}
	viewWith(t, rt, d)
	return process{rt, runs}
}

// turn makes these calls in a turn of that number; 0: the next.
func (p process) turn(t testing.TB, number int, calls ...tool.Call) (int, []tool.Result) {
	t.Helper()
	return goesOn(t, p.Session(tool.Caller{Session: "s"}).View(t.Context()), number, calls...)
}

func sending(text string) tool.Call {
	return tool.Call{ID: "call_1", Name: "send", Input: json.RawMessage(textArg(text))}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	yes := policy.Answer{Allow: true, By: "ada"}
	t.Run("P6 a question survives a restart, and its answer is used by who goes on", func(t *testing.T) {
		kept := new(policy.Memory)
		n, res := begins(t, kept, nil).turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		say(t, kept, yes)
		second := begins(t, kept, nil)
		if _, res = second.turn(t, n, sending("a")); res[0].Err != nil || second.runs.Load() != 1 {
			t.Fatalf("got %v, ran %d times", res[0].Err, second.runs.Load())
		}
		third := begins(t, kept, nil)
		_, res = third.turn(t, n, sending("a"))
		if wantFailure(t, res[0], tool.OutcomeUnknown, ""); third.runs.Load() != 0 {
			t.Error("it ran twice on one answer")
		}
	})
	t.Run("P6 a question that is not answered yet waits on, and is asked once", func(t *testing.T) {
		kept := new(policy.Memory)
		n, _ := begins(t, kept, nil).turn(t, 0, sending("a"))
		_, res := begins(t, kept, nil).turn(t, n, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		if open, err := kept.Pending(t.Context()); err != nil || len(open) != 1 {
			t.Errorf("pending: %d, %v, want 1", len(open), err)
		}
	})
	t.Run("P6 a question that is not answered yet is put to the host's function of who goes on", func(t *testing.T) {
		kept := new(policy.Memory)
		n, _ := begins(t, kept, nil).turn(t, 0, sending("a"))
		var asked atomic.Int64
		second := begins(t, kept, func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Answer = func(context.Context, policy.Question) (policy.Answer, error) {
				asked.Add(1)
				return yes, nil
			}
		})
		_, res := second.turn(t, n, sending("a"))
		if res[0].Err != nil || second.runs.Load() != 1 || asked.Load() != 1 {
			t.Errorf("got %v, ran %d times, asked %d times, want once", res[0].Err, second.runs.Load(), asked.Load())
		}
	})
	t.Run("P6 a no counts after a restart", func(t *testing.T) {
		kept := new(policy.Memory)
		n, _ := begins(t, kept, nil).turn(t, 0, sending("a"))
		say(t, kept, policy.Answer{Message: "Not now."})
		_, res := begins(t, kept, nil).turn(t, n, sending("a"))
		wantFailure(t, res[0], tool.Rejected, "Not now.")
	})
	t.Run("L2 the call goes on with the input shown, and hooks do not run again", func(t *testing.T) {
		kept := new(policy.Memory)
		var hooked, guarded int
		with := func(rt *ferrule.Runtime, _ *tool.Tool) {
			rt.Hooks = []ferrule.Hook{
				{Name: "changes", Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
					hooked++
					return ferrule.Change{Input: json.RawMessage(textArg("changed"))}, nil
				}},
				{Name: "guard", Security: true, Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
					guarded++
					return ferrule.Change{}, nil
				}},
			}
		}
		n, res := begins(t, kept, with).turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		say(t, kept, yes)
		before, looked := hooked, guarded
		if _, res = begins(t, kept, with).turn(t, n, sending("a")); res[0].Err != nil || res[0].String() != textArg("changed") {
			t.Errorf("got %q, %v, want it run with the input shown", res[0], res[0].Err)
		}
		if hooked != before || guarded == looked {
			t.Errorf("the hook ran %d times more, want 0; the guard %d times, want some", hooked-before, guarded-looked)
		}
	})
	t.Run("J1 another call in its place is an error, never a hit", func(t *testing.T) {
		kept := new(policy.Memory)
		n, _ := begins(t, kept, nil).turn(t, 0, sending("a"))
		say(t, kept, yes)
		p := begins(t, kept, nil)
		_, res := p.turn(t, n, sending("b"))
		if wantFailure(t, res[0], tool.Failed, "This turn had another call in this place."); p.runs.Load() != 0 {
			t.Error("it ran")
		}
	})
	t.Run("P6 a turn of another process has another number", func(t *testing.T) {
		kept := new(policy.Memory)
		a, _ := begins(t, kept, nil).turn(t, 0, sending("a"))
		b, _ := begins(t, kept, nil).turn(t, 0, sending("a"))
		if a != 1 || a == b {
			t.Errorf("got the numbers %d and %d, want 1 and another", a, b)
		}
	})
	t.Run("P6 an inbox that cannot be read lets nothing run", func(t *testing.T) {
		kept := new(policy.Memory)
		n, _ := begins(t, kept, nil).turn(t, 0, sending("a"))
		p := begins(t, kept, func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Inbox = blindInbox{kept} })
		_, res := p.turn(t, n, sending("a"))
		if wantFailure(t, res[0], tool.Denied, ""); p.runs.Load() != 0 {
			t.Error("it ran")
		}
	})
	t.Run("L7 what a tool wanted to know is answered after a restart", func(t *testing.T) {
		kept := new(policy.Memory)
		with := func(rt *ferrule.Runtime, d *tool.Tool) {
			rt.Policy = allowAll
			d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				if reply, ok := tool.From(ctx).Answer(); ok {
					return sayText("to " + reply), nil
				}
				return tool.Result{}, &tool.Outcome{Suspend: "To whom?"}
			}
		}
		n, res := begins(t, kept, with).turn(t, 0, sending("a"))
		wantFailure(t, res[0], tool.Suspended, "")
		say(t, kept, policy.Answer{Allow: true, Text: "bob"})
		if _, res = begins(t, kept, with).turn(t, n, sending("a")); res[0].Err != nil || res[0].String() != "to bob" {
			t.Errorf("got %q, %v", res[0], res[0].Err)
		}
	})
}

// blindInbox finds nothing.
type blindInbox struct{ policy.Inbox }

func (blindInbox) Find(context.Context, string) (policy.Question, error) {
	return policy.Question{}, errors.New("damaged")
}

// Whatever of a request is another when a process goes on with it: the answer to
// what was asked is not used for it.
func TestAnswersAreForWhatWasAsked(t *testing.T) {
	t.Parallel()
	t.Run("P5 any part of a request changed between asking and running: it never runs on the old answer", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			kept := new(policy.Memory)
			ask := func(rt *ferrule.Runtime, _ *tool.Tool) { rt.Policy = told(tool.Ask, "new") }
			first := begins(t, kept, ask)
			text := rapid.SampledFrom([]string{"a", "", "ü", "a\nb"}).Draw(r, "text")
			n, res := first.turn(t, 0, sending(text))
			if kindOf(res[0]) != tool.Suspended {
				t.Fatal(res[0].Err)
			}
			say(t, kept, policy.Answer{Allow: true})

			changed := rapid.SampledFrom([]string{"nothing", "arguments", "description", "schema", "claims", "principal", "tenant", "session", "validator"}).Draw(r, "changed")
			caller, call := tool.Caller{Session: "s"}, sending(text)
			second := begins(t, kept, func(rt *ferrule.Runtime, d *tool.Tool) {
				ask(rt, d)
				switch changed {
				case "description":
					d.Description += "!"
				case "schema":
					d.Input = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"more":{"type":"string"}}}`)
				case "claims":
					d.Claims = tool.Claims{Parallel: true}
				case "validator":
					d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) {
						return json.RawMessage(textArg(text + "!")), nil
					}
				}
			})
			switch changed {
			case "arguments":
				call = sending(text + "x")
			case "principal":
				caller.Principal = "eve"
			case "tenant":
				caller.Tenant = "other"
			case "session":
				caller.Session = "t"
			}
			number := n
			if rapid.Bool().Draw(r, "a new turn") {
				number = 0
			}
			_, res = goesOn(t, second.Session(caller).View(t.Context()), number, call)
			ran := second.runs.Load()
			if want := changed == "nothing" && number == n; (ran == 1) != want || ran > 1 {
				r.Errorf("changed: %s, turn %d of %d: ran %d times (%v)", changed, number, n, ran, res[0].Err)
			}
		})
	})
}

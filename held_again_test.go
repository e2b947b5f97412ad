package ferrule_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// askFirst asks for calls of the tool first and allows all others.
var askFirst = policy.Func(func(r *tool.Request) tool.Decision {
	if r.Name == "first" {
		return tool.Decision{Verdict: tool.Ask}
	}
	return tool.Decision{Verdict: tool.Allow}
})

// inWord are results in a word each.
func inWord(results []tool.Result) string {
	var list []string
	for _, r := range results {
		list = append(list, word(r))
	}
	return strings.Join(list, " ")
}

func TestHandBackHooks(t *testing.T) {
	t.Parallel()
	// The hook changes the input, by that the call comes to stand behind one that
	// waits, and the turn is handed back before the guard has looked again.
	t.Run("L2 security hooks look at input that was changed before the turn was handed back", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			inbox := new(policy.Memory)
			rt := &ferrule.Runtime{Inbox: inbox, Policy: askFirst, Hooks: []ferrule.Hook{
				{Name: "guard", Security: true, Input: func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
					if textIn(r.Args) == "evil" {
						return ferrule.Change{Block: "Not that."}, nil
					}
					return ferrule.Change{}, nil
				}},
				{Name: "changes", Only: ferrule.Filter{Names: []string{"second"}}, Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
					return ferrule.Change{Input: json.RawMessage(textArg("evil"))}, nil
				}},
			}}
			writes := func(path string) tool.Claims {
				return tool.Claims{Touches: []tool.Access{{Resource: path, Write: true}}}
			}
			first := writerTool("first")
			first.Claims = writes("file:/a")
			second, runs := counted(writerTool("second"))
			second.ClaimsOf = func(a tool.Args) (tool.Claims, error) {
				if textIn(a) == "evil" {
					return writes("file:/a"), nil
				}
				return writes("file:/b"), nil
			}
			v := viewWith(t, rt, first, second)
			calls := []tool.Call{{Name: "first"}, {Name: "second", Input: json.RawMessage(textArg("good"))}}
			n, res := goesOn(t, v, 0, calls...)
			if got := inWord(res); got != "suspended suspended" {
				t.Fatalf("results %s, want both handed back", got)
			}
			say(t, inbox, policy.Answer{Allow: true})
			_, res = goesOn(t, v, n, calls...)
			wantFailure(t, res[1], tool.HookBlocked, "Not that.")
			if runs.Load() != 0 {
				t.Error("it ran with what the guard has not seen")
			}
		})
	})
	for name, security := range map[string]bool{"a hook": false, "a security hook": true} {
		t.Run("H2 other hooks of the turn that goes on see the call: "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				inbox := new(policy.Memory)
				d, runs := counted(writerTool("first"))
				v := viewWith(t, &ferrule.Runtime{Inbox: inbox}, d)
				turn := func(number int, text string) tool.Result {
					hook := inputHook("of this turn: "+text, func(context.Context, *tool.Request) (ferrule.Change, error) { return ferrule.Change{Block: text}, nil })
					hook.Security = security
					turn := v.Begin(t.Context(), ferrule.TurnOptions{Number: number, HandBack: true, Hooks: []ferrule.Hook{hook}})
					turn.Add(tool.Call{Name: "first"})
					return turn.Wait()[0]
				}
				wantFailure(t, turn(0, ""), tool.Suspended, "")
				say(t, inbox, policy.Answer{Allow: true})
				wantFailure(t, turn(1, "No."), tool.HookBlocked, "No.")
				if runs.Load() != 0 {
					t.Error("it ran")
				}
			})
		})
	}
}

func TestGoesOnOnce(t *testing.T) {
	t.Parallel()
	idempotent := writerTool("idempotent")
	idempotent.Claims = tool.Claims{Idempotent: true}
	calls := []tool.Call{{Name: "write"}, {Name: "read"}, {Name: "idempotent"}, {Name: "late"}}
	for name, before := range map[string]func(*testing.T, *ferrule.View) int{
		"never begun": func(*testing.T, *ferrule.View) int { return 7 },
		"begun, but not handed back": func(t *testing.T, v *ferrule.View) int {
			turn := v.Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(tool.Call{Name: "read"})
			turn.Wait()
			return turn.Number()
		},
		"handed back long ago": func(t *testing.T, v *ferrule.View) int {
			number, _ := goesOn(t, v, 0, tool.Call{Name: "first"})
			for range 64 {
				goesOn(t, v, 0, tool.Call{Name: "first"})
			}
			return number
		},
	} {
		t.Run("J2 what may not run twice does not run in a turn whose past is not known: "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				write, writes := counted(writerTool("write"))
				late, lates := counted(writerTool("late"))
				rt := &ferrule.Runtime{Inbox: new(policy.Memory), Policy: askFirst}
				supplies(t, rt, late)
				v := viewWith(t, rt, write, readerTool("read"), idempotent, writerTool("first"))
				_, res := goesOn(t, v, before(t, v), calls...)
				if got, want := inWord(res), "outcome_unknown ok ok outcome_unknown"; got != want {
					t.Errorf("results %s, want %s", got, want)
				}
				if writes.Load() != 0 || lates.Load() != 0 {
					t.Errorf("write ran %d times, late %d times", writes.Load(), lates.Load())
				}
			})
		})
	}
	t.Run("L7 a turn that is given twice at once goes on once", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			inbox := new(policy.Memory)
			first, firsts := counted(writerTool("first"))
			second, seconds := counted(writerTool("second"))
			v := viewWith(t, &ferrule.Runtime{Inbox: inbox, Policy: askFirst}, first, second)
			calls := []tool.Call{{Name: "first"}, {Name: "second"}}
			n, _ := goesOn(t, v, 0, calls...)
			say(t, inbox, policy.Answer{Allow: true})
			a, b := v.Begin(t.Context(), ferrule.TurnOptions{Number: n}), v.Begin(t.Context(), ferrule.TurnOptions{Number: n})
			b.Add(calls...)
			a.Add(calls...)
			if got := inWord(a.Wait()) + ", " + inWord(b.Wait()); got != "ok ok, outcome_unknown outcome_unknown" {
				t.Errorf("results %s", got)
			}
			if firsts.Load() != 1 || seconds.Load() != 1 {
				t.Errorf("the tools ran %d and %d times, want once each", firsts.Load(), seconds.Load())
			}
		})
	})
	t.Run("L7 what a host writes into results changes nothing of what is remembered", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			inbox := new(policy.Memory)
			fails := doing(readerTool("fails"), func(context.Context, tool.Args) (tool.Result, error) {
				return sayJSON(`{"a":1}`), errBroken
			})
			v := viewWith(t, &ferrule.Runtime{Inbox: inbox, Policy: askFirst}, readerTool("read"), fails, writerTool("first"))
			calls := []tool.Call{{Name: "read", Input: json.RawMessage(textArg("a"))}, {Name: "fails"}, {Name: "first"}}
			n, res := goesOn(t, v, 0, calls...)
			for round := range 3 {
				if got := res[0].String() + ", " + res[1].String(); got != textArg("a")+`, broken`+"\n"+`{"a":1}` {
					t.Errorf("round %d: results %s", round, got)
				}
				res[0].Content[0].Text = "changed"
				copy(res[1].Content[0].JSON, `[2,3]`)
				res[1].Err.Text = "changed"
				res[2] = sayText("changed")
				if round == 1 {
					say(t, inbox, policy.Answer{Allow: true})
				}
				_, res = goesOn(t, v, n, calls...)
			}
			if got := res[2].String(); got != "{}" {
				t.Errorf("the call that waited: %s", got)
			}
		})
	})
	t.Run("U1 a call whose result is remembered was requested and has ended, in the turn that goes on too", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rec, inbox := new(recorder), new(policy.Memory)
			v := viewWith(t, &ferrule.Runtime{Inbox: inbox, Policy: askFirst, Observe: rec.observe}, readerTool("read"), writerTool("first"))
			calls := []tool.Call{{ID: "1", Name: "read"}, {ID: "2", Name: "first"}}
			n, _ := goesOn(t, v, 0, calls...)
			say(t, inbox, policy.Answer{Allow: true})
			goesOn(t, v, n, calls...)
			if got, want := rec.kinds("1"), "requested decided started ended requested ended"; got != want {
				t.Errorf("events %s, want %s", got, want)
			}
		})
	})
}

package ferrule_test

import (
	"context"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// A call that is made again goes on from its question, which belongs to no turn.
func TestAgain(t *testing.T) {
	t.Parallel()
	again := ferrule.TurnOptions{HandBack: true, Ends: true, Again: true}
	call := tool.Call{Name: "write", Input: []byte(`{}`)}
	fresh := func(t *testing.T, inbox policy.Inbox) *ferrule.View {
		t.Helper()
		return viewWith(t, &ferrule.Runtime{Inbox: inbox}, writerTool("write"))
	}
	open := func(t *testing.T, inbox policy.Inbox, want int) []policy.Question {
		t.Helper()
		all, err := inbox.Pending(t.Context())
		if err != nil || len(all) != want {
			t.Fatalf("questions: got %+v, %v, want %d", all, err, want)
		}
		return all
	}
	t.Run("P6 in another runtime it goes on from the answer, once", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			inbox := new(policy.Memory)
			wantFailure(t, fresh(t, inbox).DoTurn(t.Context(), again, call)[0], tool.Suspended, "")
			wantFailure(t, fresh(t, inbox).DoTurn(t.Context(), again, call)[0], tool.Suspended, "")
			q := open(t, inbox, 1)[0]
			if q.Here || !q.Again {
				t.Errorf("got %+v, want one that equal calls go on from", q)
			}
			if err := inbox.Answer(t.Context(), q.ID, policy.Answer{Allow: true}); err != nil {
				t.Fatal(err)
			}
			if res := fresh(t, inbox).DoTurn(t.Context(), again, call)[0]; res.Err != nil {
				t.Errorf("made again: %v", res.Err)
			}
			wantFailure(t, fresh(t, inbox).DoTurn(t.Context(), again, call)[0], tool.Suspended, "")
			if got := open(t, inbox, 1)[0].ID; got == q.ID {
				t.Error("the question that was answered waits again")
			}
		})
	})
	t.Run("P5 the question of a turn is its own", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			inbox := new(policy.Memory)
			v := fresh(t, inbox)
			wantFailure(t, v.DoTurn(t.Context(), ferrule.TurnOptions{HandBack: true}, call)[0], tool.Suspended, "")
			q := open(t, inbox, 1)[0]
			wantFailure(t, v.DoTurn(t.Context(), again, call)[0], tool.Suspended, "")
			open(t, inbox, 2)
			if err := inbox.Answer(t.Context(), q.ID, policy.Answer{Allow: true}); err != nil {
				t.Fatal(err)
			}
			wantFailure(t, v.DoTurn(t.Context(), again, call)[0], tool.Suspended, "")
		})
	})
	for name, change := range map[string]func(*tool.Tool){
		"another definition": func(d *tool.Tool) { d.Description = "Writes something else." },
		"other claims":       func(d *tool.Tool) { d.Claims.Local = !d.Claims.Local },
		"another preview":    func(d *tool.Tool) { d.Preview = func(context.Context, tool.Args) (string, error) { return "more", nil } },
	} {
		t.Run("P5 a yes is not for "+name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				inbox := new(policy.Memory)
				wantFailure(t, fresh(t, inbox).DoTurn(t.Context(), again, call)[0], tool.Suspended, "")
				if err := inbox.Answer(t.Context(), open(t, inbox, 1)[0].ID, policy.Answer{Allow: true}); err != nil {
					t.Fatal(err)
				}
				other := writerTool("write")
				change(&other)
				v := viewWith(t, &ferrule.Runtime{Inbox: inbox}, other)
				wantFailure(t, v.DoTurn(t.Context(), again, call)[0], tool.Suspended, "")
			})
		})
	}
}

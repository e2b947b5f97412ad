package ferrule_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// What was changed by the tool before its turn was handed back arrives changed,
// and its claims are taken anew where no worker could be given up for them.
func TestHeldClaims(t *testing.T) {
	t.Parallel()
	t.Run("L7 claims that do not return when a turn goes on hold up nobody", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			inbox, taken := new(policy.Memory), 0
			slow := tool.Tool{
				Info:     tool.Info{Name: "slow", Description: "Claim slowly.", Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
				Validate: func(context.Context, tool.Args) (json.RawMessage, error) { return json.RawMessage(`{"n":2}`), nil },
				ClaimsOf: func(tool.Args) (tool.Claims, error) {
					if taken++; taken > 3 {
						time.Sleep(time.Hour)
					}
					return tool.Claims{Parallel: true}, nil
				},
				Run: func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil },
			}
			rt := &ferrule.Runtime{Inbox: inbox}
			if err := rt.Add(&slow); err != nil {
				t.Fatal(err)
			}
			session := rt.Session(tool.Caller{})
			call := tool.Call{ID: "1", Name: "slow", Input: json.RawMessage(`{"n":1}`)}
			turn := session.View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{HandBack: true})
			turn.Add(call)
			if res := turn.Wait()[0]; res.Err == nil || res.Err.Kind != tool.Suspended {
				t.Fatalf("got %v, want suspended", res)
			}
			open, err := inbox.Pending(t.Context())
			if err != nil || len(open) != 1 {
				t.Fatalf("pending %v, %v", open, err)
			}
			if err := inbox.Answer(t.Context(), open[0].ID, policy.Answer{Allow: true}); err != nil {
				t.Fatal(err)
			}
			taken = 3 // from now on it does not return
			again := session.View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{Number: turn.Number()})
			again.Add(call)
			if res := again.Wait(); len(res) != 1 || res[0].CallID != "1" {
				t.Errorf("got %v", res)
			}
			time.Sleep(2 * time.Hour) // until the functions return
			if err := session.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
}

package ferrule_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

type city struct {
	City string `json:"city"`
}

func forecast() *tool.Tool {
	t, err := tool.New(tool.Info{
		Name: "forecast", Description: "Say what the weather will be in a city.",
		Claims: tool.Claims{ReadOnly: true},
	}, func(_ context.Context, in city) (string, error) { return "sun in " + in.City, nil })
	if err != nil {
		panic(err)
	}
	return t
}

// A program allows its own tools what they like. Calls come back as results, in
// their order.
func Example() {
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
	if err := rt.Add(forecast()); err != nil {
		panic(err)
	}
	ctx := context.Background()
	view := rt.Session(tool.Caller{}).View(ctx)
	for _, r := range view.Do(ctx,
		tool.Call{ID: "1", Name: "forecast", Input: json.RawMessage(`{"city":"Oslo"}`)},
		tool.Call{ID: "2", Name: "forecast", Input: json.RawMessage(`{"town":"Rome"}`)},
	) {
		fmt.Println(r.CallID, r)
	}
	// Output:
	// 1 sun in Oslo
	// 2 InputValidationError: (root): got unknown "town", want only "city"; (root): got no "city", want "city" (string)
}

// A turn that is begun with HandBack does not wait for a person. The same calls
// given to a turn of the same number go on where it stopped.
func ExampleView_Begin() {
	inbox := new(policy.Memory)
	rt := &ferrule.Runtime{Inbox: inbox}
	if err := rt.Add(forecast()); err != nil { // it reaches outside, and no rule speaks about that
		panic(err)
	}
	ctx := context.Background()
	session := rt.Session(tool.Caller{})
	call := tool.Call{ID: "1", Name: "forecast", Input: json.RawMessage(`{"city":"Oslo"}`)}

	turn := session.View(ctx).Begin(ctx, ferrule.TurnOptions{HandBack: true})
	turn.Add(call)
	fmt.Println(turn.Wait()[0].Err.Kind)

	open, err := inbox.Pending(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(open[0].Tool, open[0].Input)
	if err := inbox.Answer(ctx, open[0].ID, policy.Answer{Allow: true, By: "ann"}); err != nil {
		panic(err)
	}

	again := session.View(ctx).Begin(ctx, ferrule.TurnOptions{Number: turn.Number(), HandBack: true})
	again.Add(call)
	fmt.Println(again.Wait()[0])
	// Output:
	// suspended
	// forecast {"city":"Oslo"}
	// sun in Oslo
}

package policy_test

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// Several voices speak about one call, and the strictest wins.
func ExampleCombine() {
	rules := policy.Voice{By: policy.ByPolicy, Decision: tool.Decision{Verdict: tool.Allow}}
	permit := policy.Voice{By: policy.ByPermit, Decision: tool.Decision{Verdict: tool.Ask, Reason: "the branch is main"}}

	push := policy.Case{Name: "git_push", Trust: tool.Own, Person: true}
	r := policy.Combine(push, rules, permit)
	fmt.Println(r.Verdict, "by", r.By+":", r.Reason)

	push.Person = false // nobody to ask
	r = policy.Combine(push, rules, permit)
	fmt.Println(r.Verdict, "by", r.By+":", r.Denial())
	// Output:
	// ask by permit: the branch is main
	// deny by permit: Tool approval required for git_push, but no approval handler is configured.
}

// A question waits in the inbox until somebody answers it. The answer is good
// for what was asked about, once.
func ExampleMemory() {
	ctx := context.Background()
	inbox := new(policy.Memory)
	digest := policy.Digest("ada", "git_push", `{"branch":"main"}`)
	err := inbox.Ask(ctx, policy.Question{ID: "q1", Digest: digest, Tool: "git_push", Input: `{"branch":"main"}`, Expires: time.Now().Add(time.Hour)})
	if err != nil {
		fmt.Println(err)
		return
	}

	open, err := inbox.Pending(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range open {
		fmt.Println("may", q.Tool, "run with", q.Input)
		fmt.Println(inbox.Answer(ctx, q.ID, policy.Answer{Allow: true, By: "ada"}))
	}

	_, err = inbox.Use(ctx, "q1", policy.Digest("ada", "git_push", `{"branch":"prod"}`))
	fmt.Println(err)
	a, err := inbox.Use(ctx, "q1", digest)
	fmt.Println(a.Allow, a.By, err)
	_, err = inbox.Use(ctx, "q1", digest)
	fmt.Println(err)
	// Output:
	// may git_push run with {"branch":"main"}
	// <nil>
	// inbox: use of "q1": the answer is about something else
	// true ada <nil>
	// inbox: use of "q1": the answer was used already
}

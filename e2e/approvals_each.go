package main

import (
	"context"
	"strings"
	"sync"
)

// eachCall has a client make calls that starts the gateway for each of them, over
// stdio, as the inspector's command line does: the process that asked is gone when a
// person answers, and another one gets the call again.
func (o *office) eachCall(ctx context.Context, s *score) {
	const check, text = "stdio, a process for each call", "a process for each call"
	u := upstream{
		name: "ferrule", command: []string{o.w.program, "mcp", o.dir}, dir: o.dir,
		env: map[string]string{"FERRULE_HOME": o.home, "E2E_EVE": o.stranger},
	}
	for _, c := range []struct {
		name  string
		also  string // what a person says while the call waits
		after string // and what they say after it was given back
		said  string
		ran   int
	}{
		{"it is told to call again", "", "allow", "Call again", 0},
		{"paid for once", "", "", text, 1},
		{"not twice", "deny", "", "reject", 1},
	} {
		var (
			beside sync.WaitGroup
			other  error
		)
		if c.also != "" {
			beside.Go(func() { other = o.person(ctx, c.also, text) })
		}
		got, err := o.w.inspector(ctx, u, toolCall{"echo", object{"text": text}})
		beside.Wait()
		if err == nil {
			err = other
		}
		if err == nil && c.after != "" {
			err = o.person(ctx, c.after, text)
		}
		ran := 0
		if err == nil {
			ran, err = o.ran(text)
		}
		if err != nil {
			s.fail(check+": "+c.name, err.Error())
			return
		}
		said := strings.ToLower(got.text())
		if !s.hold(check+": "+c.name, got.Error == nil && ran == c.ran && strings.Contains(said, strings.ToLower(c.said)), object{"said": got, "ran": ran}, object{"said": c.said, "ran": c.ran}) {
			return
		}
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

// fiveRules are rules of which two read the arguments of the floor.
const fiveRules = `
@id("reads") permit (principal, action, resource) when { context.claims.read_only };
@id("web") @ask("it leaves this machine") permit (principal, action, resource in Tag::"web");
@id("mode") forbid (principal, action, resource) when { context.mode == "read" && !context.claims.read_only };
@id("home") permit (principal, action, resource == Tool::"search") when { context.args.path like "/home/*" };
@id("limit") forbid (principal, action, resource) when { context.args has limit && context.args.limit > 1000 };
`

// policyWorks are what deciding costs: with five rules, by arguments and without.
func policyWorks(context.Context) ([]work, error) {
	read, err := cedar.New(cedar.Rules{}, cedar.File{Name: "bench.cedar", Text: fiveRules})
	if err != nil {
		return nil, err
	}
	short, err := cedar.New(cedar.Rules{
		Allow: []string{"fs_read*", "search(path: /home/**)"}, Ask: []string{"tag:web", "shell"}, Deny: []string{"search(path: /etc/**)"},
	})
	if err != nil {
		return nil, err
	}
	made, err := tool.Spec[args, reply]{
		Info:  tool.Info{Name: "search", Description: "Search files.", Tags: []string{"files"}},
		Facts: func(in args) (tool.Facts, error) { return tool.Facts{Paths: []string{in.Path}}, nil },
		Run:   call,
	}.Tool()
	if err != nil {
		return nil, err
	}
	a, err := made.Admit(json.RawMessage(inOrder))
	if err != nil {
		return nil, err
	}
	q := &tool.Request{Name: "search", Tool: &made.Info, Source: tool.Source{Trust: tool.Own}, Args: a}
	fixed := &tool.Request{Name: "fs_read", Tool: &tool.Info{Name: "fs_read"}, Source: tool.Source{Trust: tool.Own}}
	decide := func(s *cedar.Set, q *tool.Request) func() error {
		return func() error {
			if d := s.Decide(q); d.Verdict != tool.Allow {
				return fmt.Errorf("got %+v, want it allowed", d)
			}
			return nil
		}
	}
	return []work{
		{"decide by arguments, 5 rules of which 2 read them", 1, 25, decide(read, q)},
		{"decide by patterns, 5 short rules of which 2 have some", 1, 25, decide(short, q)},
		{"decide what does not depend on arguments", 0.25, 0, func() error {
			if d, ok := short.Fixed(fixed); !ok || d.Verdict != tool.Allow {
				return fmt.Errorf("got %+v, %v, want it allowed whatever the arguments", d, ok)
			}
			return nil
		}},
	}, nil
}

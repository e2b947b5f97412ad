// Command hooks puts four hooks around a tool: one stops calls, one changes their
// arguments, one answers in the tool's place, one replaces results. None can go
// round the rules: what a hook has changed is judged again.
//
//	go run ./examples/hooks
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"
	"sync"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

type page struct {
	Name string `json:"name" jsonschema:"which page"`
}

func main() {
	read, err := tool.New(tool.Info{
		Name: "read_page", Description: "Read a page of the wiki.",
		Claims: tool.Claims{ReadOnly: true, Local: true},
	}, func(_ context.Context, in page) (string, error) {
		fmt.Println("  the tool runs")
		return "This is " + in.Name + ", by ada@example.com.", nil
	})

	rt := &ferrule.Runtime{
		Policy: policy.Func(rules),
		Hooks: []ferrule.Hook{ // in this order
			{Name: "no-drafts", Security: true, Input: noDrafts}, // looks again at what others change
			{Name: "renamed", Input: renamed},
			{Name: "cache", Around: cache(), Only: ferrule.Filter{Names: []string{"read_page"}}},
			{Name: "mask", Output: mask},
		},
		Observe: func(e audit.Event) {
			if e.Kind == audit.Decided {
				fmt.Println("  decided:", e.Decision.Verdict, e.Request.Args.Text())
			}
			if e.Kind == audit.Changed || e.Kind == audit.Blocked {
				fmt.Printf("  hook %s: %s\n", e.By, e.Kind)
			}
		},
	}
	if err := errors.Join(err, rt.Add(read)); err != nil {
		log.Fatal(err)
	}

	session := rt.Session(tool.Caller{})
	for _, input := range []string{`{"name":"home"}`, `{"name":"welcome"}`, `{"name":"salaries"}`, `{"name":"plans"}`} {
		fmt.Println("read_page", input)
		fmt.Println("  result:", session.Call(context.Background(), "read_page", input))
	}
}

// rules keep agents from one page.
func rules(r *tool.Request) tool.Decision {
	var in page
	if err := r.Args.Decode(&in); err != nil || in.Name == "payroll" {
		return tool.Decision{Verdict: tool.Deny, Reason: "The payroll is not for agents."}
	}
	return tool.Decision{Verdict: tool.Silent}
}

// noDrafts stops calls. Its error would stop them as well.
func noDrafts(_ context.Context, r *tool.Request) (ferrule.Change, error) {
	var in page
	err := r.Args.Decode(&in)
	if strings.HasPrefix(in.Name, "draft/") {
		return ferrule.Change{Block: "Drafts are not shown. Read a page that is done."}, nil
	}
	return ferrule.Change{}, err
}

// renamed changes old names of pages to new ones.
func renamed(_ context.Context, r *tool.Request) (ferrule.Change, error) {
	var in page
	err := r.Args.Decode(&in)
	name, old := map[string]string{"home": "welcome", "salaries": "payroll", "plans": "draft/plans"}[in.Name]
	if err != nil || !old {
		return ferrule.Change{}, err
	}
	input, err := json.Marshal(page{name})
	return ferrule.Change{Input: input}, err
}

// cache answers in the tool's place. Who may not read a page is not let in here.
func cache() func(context.Context, *tool.Request, ferrule.Next) tool.Result {
	var kept sync.Map
	return func(ctx context.Context, r *tool.Request, next ferrule.Next) tool.Result {
		if result, ok := kept.Load(r.Args.Text()); ok {
			return result.(tool.Result) // next is not called
		}
		result := next(ctx)
		if result.Err == nil {
			kept.Store(r.Args.Text(), result)
		}
		return result
	}
}

// mask hides mail addresses. The result is a copy and may be written to.
func mask(_ context.Context, _ *tool.Request, now, _ tool.Result) (*tool.Result, error) {
	for i := range now.Content {
		now.Content[i].Text = strings.ReplaceAll(now.Content[i].Text, "ada@example.com", "[mail]")
	}
	return &now, nil
}

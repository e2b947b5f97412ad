// Command hooks puts five hooks around two tools: one stops calls, one changes
// their arguments, one answers in the tool's place, one runs it again, one
// replaces results. None can go round the rules: what a hook has changed is
// judged again.
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
	"sync/atomic"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

type page struct {
	Name string `json:"name" jsonschema:"which page"`
}

// errBusy is a failure that may be over soon.
var errBusy = &tool.Outcome{Err: errors.New("the wiki is busy"), RetryAfter: 10 * time.Millisecond}

func main() {
	var news atomic.Int64 // how often they were read
	read, err1 := tool.New(tool.Info{
		Name: "read_page", Description: "Read a page of the wiki.",
		Claims: tool.Claims{ReadOnly: true, Local: true},
	}, func(_ context.Context, in page) (string, error) {
		fmt.Println("  the tool runs")
		if in.Name == "news" && news.Add(1) == 1 {
			return "", errBusy
		}
		return "This is " + in.Name + ", by ada@example.com.", nil
	})
	archive, err2 := tool.New(tool.Info{Name: "archive_page", Description: "Move a page of the wiki to its archive."},
		func(context.Context, page) (string, error) {
			fmt.Println("  the tool runs")
			return "", errBusy
		})

	rt := &ferrule.Runtime{
		Policy: policy.Func(rules),
		Hooks: []ferrule.Hook{ // in this order
			{Name: "no-drafts", Security: true, Input: noDrafts}, // looks again at what others change
			{Name: "renamed", Input: renamed},
			{Name: "cache", Around: cache(), Only: ferrule.Filter{Names: []string{"read_page"}}},
			{Name: "retry", Around: retry}, // inside the cache
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
	if err := errors.Join(err1, err2, rt.Add(read, archive)); err != nil {
		log.Fatal(err)
	}

	session := rt.Session(tool.Caller{})
	call := func(name, input string) {
		fmt.Println(name, input)
		fmt.Println("  result:", session.Call(context.Background(), name, input))
	}
	for _, input := range []string{`{"name":"home"}`, `{"name":"welcome"}`, `{"name":"salaries"}`, `{"name":"plans"}`, `{"name":"news"}`} {
		call("read_page", input)
	}
	call("archive_page", `{"name":"news"}`)
}

// rules keep agents from one page, and let them archive the others.
func rules(r *tool.Request) tool.Decision {
	var in page
	if err := r.Args.Decode(&in); err != nil || in.Name == "payroll" {
		return tool.Decision{Verdict: tool.Deny, Reason: "The payroll is not for agents."}
	}
	if r.Name == "archive_page" {
		return tool.Decision{Verdict: tool.Allow}
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

// retry runs a call again that may work later, where a second run does no harm.
// A call that claims neither may have done its work before it failed.
func retry(ctx context.Context, r *tool.Request, next ferrule.Next) tool.Result {
	result := next(ctx)
	if !r.Claims.ReadOnly && !r.Claims.Idempotent {
		return result
	}
	for tries := 1; tries < 3 && result.Err != nil && result.Err.RetryAfter > 0; tries++ {
		select {
		case <-ctx.Done():
			return result
		case <-time.After(result.Err.RetryAfter):
			result = next(ctx)
		}
	}
	return result
}

// mask hides mail addresses. The result is a copy and may be written to.
func mask(_ context.Context, _ *tool.Request, now, _ tool.Result) (*tool.Result, error) {
	for i := range now.Content {
		now.Content[i].Text = strings.ReplaceAll(now.Content[i].Text, "ada@example.com", "[mail]")
	}
	return &now, nil
}

// Command progress shows what a tool says while it runs: output, progress and
// content. It returns nothing, so what it streamed is its result.
//
//	go run ./examples/progress
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

type build struct {
	Packages []string `json:"packages" jsonschema:"description=what to build"`
}

func main() {
	compile, err := tool.New(tool.Info{
		Name: "build", Description: "Build packages.", Streams: true,
	}, func(ctx context.Context, in build) (struct{}, error) {
		env := tool.From(ctx) // works without a runtime, too: then nobody hears it
		for i, p := range in.Packages {
			env.Progress(float64(i), float64(len(in.Packages)), "building "+p)
			fmt.Fprintf(env.Stdout(), "%s: ok\n", p)
		}
		fmt.Fprintln(env.Stderr(), "warning: cache is cold")
		env.Emit(tool.Content{Type: tool.LinkContent, URI: "file:///build/report.html", Name: "report"})
		return struct{}{}, nil
	})
	check(err)

	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Observe: show}
	check(rt.Add(compile))
	ctx := context.Background()
	session := rt.Session(tool.Caller{})
	defer func() { check(session.Close(ctx)) }()

	result := session.Call(ctx, "build", `{"packages":["tool","schema"]}`)
	fmt.Printf("\nwhat the model reads:\n%s\n", result)
}

// show is told at once. It may be slow: the tool does not wait for it. Where too
// much waits, the oldest progress goes first, and output that went is counted in
// Missed.
func show(e audit.Event) {
	switch e.Kind {
	case audit.Updated:
		switch u := e.Update; {
		case u.Progress:
			fmt.Printf("%s: %g of %g, %s\n", e.Name, u.Current, u.Total, u.Message)
		case u.Content != nil:
			fmt.Printf("%s: %s\n", e.Name, u.Content)
		default:
			fmt.Printf("%s: %s> %s\n", e.Name, u.Stream, strings.TrimSpace(u.Text))
		}
	case audit.Ended:
		fmt.Printf("%s: ended\n", e.Name)
	default:
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Command search offers a model one tool in the place of two hundred: tool_search
// finds the others by words, and what it has found can be called.
//
//	go run ./examples/search
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

type item struct {
	ID string `json:"id" jsonschema:"description=which one"`
}

func main() {
	var tools []*tool.Tool
	for _, thing := range []string{"invoice", "letter", "ticket", "room"} {
		for n := range 50 {
			t, err := tool.New(tool.Info{
				Name: fmt.Sprintf("%s_report_%d", thing, n), Description: fmt.Sprintf("Report %d about one %s.", n, thing),
				Claims: tool.Claims{ReadOnly: true, Local: true},
			}, func(_ context.Context, in item) (string, error) { return thing + " " + in.ID + " is fine", nil })
			check(err)
			tools = append(tools, t)
		}
	}
	late, err := tool.New(tool.Info{
		Name: "invoice_overdue", Description: "Say whether an invoice is overdue.", Tags: []string{"money"},
		Claims: tool.Claims{ReadOnly: true, Local: true},
	}, func(_ context.Context, in item) (string, error) { return "invoice " + in.ID + " is 3 days late", nil })
	check(err)
	rt := new(ferrule.Runtime) // Embedder would find by meaning, too: package search/vectors
	check(rt.Add(append(tools, late)...))
	ctx := context.Background()
	session := rt.Session(tool.Caller{})
	defer func() { check(session.Close(ctx)) }()

	all := session.View(ctx)
	fmt.Printf("all tools: %d, %d tokens\n", len(all.Names()), cost(all))
	view := all.Defer(ferrule.DeferOptions{Load: true}) // View.Auto decides by size
	fmt.Printf("deferred: %v, %d tokens\n\n", view.Names(), cost(view))

	for _, result := range view.Do(ctx, tool.Call{Name: "tool_search", Input: []byte(`{"query":"overdue invoices","limit":2}`)}) {
		fmt.Println(result)
	}
	view = session.View(ctx).Defer(ferrule.DeferOptions{Load: true}) // the next turn
	fmt.Println("\noffered now:", view.Names())
	for _, result := range view.Do(ctx, tool.Call{Name: "invoice_overdue", Input: []byte(`{"id":"17"}`)}) {
		fmt.Println(result)
	}
}

// cost is what the definitions take of a prompt.
func cost(v *ferrule.View) (tokens int) {
	for _, n := range v.Costs() {
		tokens += n
	}
	return tokens
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

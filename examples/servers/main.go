// Command servers uses an MCP server as a source of tools. What the server says of
// its tools is not believed, so each call is asked for until a rule allows it.
//
//	go run ./examples/servers
//
// The server is this program, started once more.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"regexp"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

func main() {
	run := use
	if os.Getenv("FERRULE_EXAMPLE") == "server" {
		run = serve
	}
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func use(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	rules, err := cedar.New(cedar.Rules{Allow: []string{"library__find"}})
	if err != nil {
		return err
	}
	rt := &ferrule.Runtime{Policy: rules}
	hub := &mcptool.Hub{Runtime: rt, Name: "example", Version: "1", Servers: []mcptool.Server{
		{Name: "library", Command: []string{self}, Env: []string{"FERRULE_EXAMPLE=server"}},
	}}
	if err := hub.Start(ctx); err != nil { // it connects in the background
		return err
	}
	if err := hub.Settled(ctx); err != nil {
		return err
	}
	session := rt.Session(tool.Caller{})
	for t := range session.View(ctx).Offered() {
		fmt.Printf("%s: %s (%s, trust %s)\n", t.Name, t.Info.Description, t.Class, t.Source.Trust)
	}
	mark := regexp.MustCompile(`mark="[0-9a-f]+"`) // another one each time
	for _, name := range []string{"library__lend", "library__find"} {
		result := session.Call(ctx, name, `{"title":"Emma"}`).String()
		fmt.Printf("\n%s\n%s\n", name, mark.ReplaceAllString(result, `mark="…"`))
	}
	return errors.Join(session.Close(ctx), hub.Close(ctx)) // the server ends, with all that it has started
}

type book struct {
	Title string `json:"title" jsonschema:"description=of the book"`
}

// serve is the other program: any MCP server would do.
func serve(ctx context.Context) error {
	find, err := tool.New(tool.Info{Name: "find", Description: "Find a book.", Claims: tool.Claims{ReadOnly: true, Local: true}},
		func(_ context.Context, in book) (string, error) { return in.Title + " stands on shelf 4", nil })
	if err != nil {
		return err
	}
	lend, err := tool.New(tool.Info{Name: "lend", Description: "Lend a book."},
		func(_ context.Context, in book) (string, error) { return in.Title + " is yours", nil })
	if err != nil {
		return err
	}
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
	if err := rt.Add(find, lend); err != nil {
		return err
	}
	gateway := &mcptool.Gateway{Runtime: rt, Name: "library", Version: "1"}
	return errors.Join(gateway.ServeStdio(ctx, os.Stdin, os.Stdout, tool.Caller{}), gateway.Close(ctx))
}

package mcptool_test

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

type who struct {
	Name string `json:"name"`
}

// A program serves its own tools, and those of the servers of its hub, to a client
// over stdio. Here there is no server, and the client says hello and lists.
func Example() {
	greet, err := tool.New(tool.Info{Name: "greet", Description: "Greet somebody."},
		func(_ context.Context, in who) (string, error) { return "hello " + in.Name, nil })
	if err != nil {
		panic(err)
	}
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
	if err := rt.Add(greet); err != nil {
		panic(err)
	}
	ctx := context.Background()
	hub := &mcptool.Hub{Runtime: rt, Name: "example", Version: "1"}
	if err := hub.Start(ctx); err != nil {
		panic(err)
	}
	gateway := &mcptool.Gateway{Runtime: rt, Hub: hub, Name: "example", Version: "1"}
	client := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	if err := gateway.ServeStdio(ctx, client, os.Stdout, tool.Caller{Principal: "me"}); err != nil {
		panic(err)
	}
	if err := errors.Join(gateway.Close(ctx), hub.Close(ctx)); err != nil {
		panic(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"example","version":"1"}}}
	// {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"greet","description":"Greet somebody.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}}]}}
}

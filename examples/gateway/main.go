// Command gateway serves the tools of a program to MCP clients over HTTP, behind the
// same rules as all other calls, and is its own client.
//
//	go run ./examples/gateway
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

type city struct {
	City string `json:"city" jsonschema:"description=where"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	weather, err := tool.New(tool.Info{
		Name: "weather", Description: "Say how the weather is.", Claims: tool.Claims{ReadOnly: true, Local: true},
	}, func(ctx context.Context, in city) (string, error) {
		return fmt.Sprintf("sunny in %s, %s", in.City, tool.From(ctx).Request().Caller.Principal), nil
	})
	if err != nil {
		return err
	}
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
	if err := rt.Add(weather); err != nil {
		return err
	}
	// A Hub beside it would put MCP servers behind the same address: see examples/servers.
	gateway := &mcptool.Gateway{Runtime: rt, Name: "example", Version: "1"}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           gateway.Handler(mcptool.HTTP{Tokens: map[string]string{"a-long-token": "ada"}}),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, // streams may last: no other limit
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	address := "http://" + listener.Addr().String()
	err = errors.Join(
		ask(ctx, address, "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`),
		ask(ctx, address, "a-long-token", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"weather","arguments":{"city":"Oslo"}}}`),
		ask(ctx, address, "a-long-token", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"weather","arguments":{"town":"Oslo"}}}`),
	)
	err = errors.Join(err, gateway.Close(ctx), server.Close())
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// ask is a client of the stateless era: each request stands for itself.
func ask(ctx context.Context, address, token, body string) error {
	var message map[string]any
	if err := json.Unmarshal([]byte(body), &message); err != nil {
		return err
	}
	params, _ := message["params"].(map[string]any)
	if params == nil {
		params = map[string]any{}
	}
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "example", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	message["params"] = params
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", message["method"].(string))
	if name, ok := params["name"].(string); ok {
		r.Header.Set("Mcp-Name", name)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(answer.Body)
	fmt.Printf("> %s\n%s\n%s\n\n", body, answer.Status, bytes.TrimSpace(said))
	return err
}

// Sdkserver is a server as the SDK makes it, for what is measured: nothing of it
// is faster or slower than a server that people write.
//
//	sdkserver [-http ADDRESS [-stateless]] [-tools N]
//
// Its tool echo returns its argument and says that it only reads. N more tools are
// listed beside it.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	address := flag.String("http", "", "the address to listen on; default: stdio")
	stateless := flag.Bool("stateless", false, "keep no sessions")
	tools := flag.Int("tools", 0, "how many more tools are listed")
	flag.Parse()
	if err := serve(*address, *stateless, *tools); err != nil {
		fmt.Fprintln(os.Stderr, "sdkserver:", err)
		os.Exit(1)
	}
}

func serve(address string, stateless bool, tools int) error {
	s := server(tools)
	if address == "" {
		return s.Run(context.Background(), &mcp.StdioTransport{})
	}
	h := &http.Server{
		Addr:              address,
		Handler:           mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless}),
		ReadHeaderTimeout: time.Minute,
	}
	return h.ListenAndServe()
}

type said struct {
	Text string `json:"text" jsonschema:"what to say"`
}

func server(tools int) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdkserver", Version: "1"}, &mcp.ServerOptions{PageSize: 2000})
	add(s, "echo", "Say it again.")
	for i := range tools {
		add(s, fmt.Sprintf("tool_%04d", i), fmt.Sprintf("Tool number %d of many. It says again what it is told, as all of them do.", i))
	}
	return s
}

func add(s *mcp.Server, name, description string) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in said) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
		})
}

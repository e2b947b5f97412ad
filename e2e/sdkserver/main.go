// Sdkserver is a server as the SDK makes it, for what is measured: nothing of it
// is faster or slower than a server that people write.
//
//	sdkserver [-http ADDRESS [-stateless]] [-tools N] [-count FILE]
//
// Its tool echo returns its argument and says that it only reads. N more tools are
// listed beside it. FILE gets a line for each call, before that is answered.
package main

import (
	"context"
	"errors"
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
	count := flag.String("count", "", "a file that gets the text of each call")
	flag.Parse()
	if err := serve(*address, *stateless, server(*tools, *count)); err != nil {
		fmt.Fprintln(os.Stderr, "sdkserver:", err)
		os.Exit(1)
	}
}

func serve(address string, stateless bool, s *mcp.Server) error {
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

func server(tools int, count string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdkserver", Version: "1"}, &mcp.ServerOptions{PageSize: 2000})
	add(s, "echo", "Say it again.", count)
	for i := range tools {
		add(s, fmt.Sprintf("tool_%04d", i), fmt.Sprintf("Tool number %d of many. It says again what it is told, as all of them do.", i), count)
	}
	return s
}

func add(s *mcp.Server, name, description, count string) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in said) (*mcp.CallToolResult, any, error) {
			if err := note(count, in.Text); err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
		})
}

// note adds a line to a file; "": there is none.
func note(file, text string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, text)
	return errors.Join(err, f.Close())
}

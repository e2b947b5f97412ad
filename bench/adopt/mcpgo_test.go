package adopt

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

// talkTo is a client of a server in this process.
func talkTo(t *testing.T, s *server.MCPServer) *client.Client {
	t.Helper()
	c, err := client.NewInProcessClient(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestInMCPGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := server.NewMCPServer("world", "1")
	s.AddTools(InMCPGo(w.session.View(t.Context()))...)
	c := talkTo(t, s)
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 3 || !strings.Contains(fmt.Sprint(list.Tools), "where") {
		t.Errorf("got %v, want three tools with a place", list.Tools)
	}
	for _, tt := range asked {
		var request mcp.CallToolRequest
		request.Params.Name, request.Params.RawArguments = tt.name, []byte(tt.input)
		if tt.input == `{"city":"Oslo"}` {
			request.Params.RawArguments, request.Params.Arguments = nil, map[string]any{"city": "Oslo"}
		}
		answer, err := s.GetTool(tt.name).Handler(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if got := mcp.GetTextFromContent(answer.Content[0]); !strings.Contains(got, tt.want) || answer.IsError != (tt.want != "sunny in Oslo" && tt.name != "novel") {
			t.Errorf("%s %s: got %q (error %v), want %q", tt.name, tt.input, got, answer.IsError, tt.want)
		}
	}
	w.wantOnRecord(t)
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = "weather", map[string]any{"city": "Bergen"}
	answer, err := c.CallTool(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if got := mcp.GetTextFromContent(answer.Content[0]); got != "sunny in Bergen" {
		t.Errorf("through a client: got %q, want sunny in Bergen", got)
	}
}

func TestFromMCPGo(t *testing.T) {
	t.Parallel()
	weather := mcp.NewTool("weather", mcp.WithDescription("What is there."), mcp.WithReadOnlyHintAnnotation(true), mcp.WithString("city", mcp.Required()))
	handler := func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		city, err := r.RequireString("city")
		switch {
		case err != nil:
			return nil, err
		case city == "Rome":
			return mcp.NewToolResultError("no forecast for Rome"), nil
		}
		picture := base64.StdEncoding.EncodeToString([]byte("a sun"))
		return mcp.NewToolResultImage("sunny in "+city, picture, "image/png"), nil
	}
	remote := server.NewMCPServer("weather", "1")
	remote.AddTool(weather, handler)
	for name, tt := range map[string]struct {
		call   server.ToolHandlerFunc
		source tool.Source
		class  string
	}{
		"a handler": {handler, tool.Source{Name: "sky", Trust: tool.Own}, "read-only"},
		"a client":  {talkTo(t, remote).CallTool, tool.Source{Name: "sky", Trust: tool.MCP}, "unsafe"}, // what strangers claim is not believed
	} {
		made, err := FromMCPGo(weather, tt.call)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := cedar.New(cedar.Rules{Allow: []string{"sky__weather"}})
		if err != nil {
			t.Fatal(err)
		}
		rt := &ferrule.Runtime{Policy: rules}
		if err := rt.Set(tt.source, made); err != nil {
			t.Fatal(err)
		}
		s := sessionWith(t, rt)
		got := s.Call(t.Context(), "sky__weather", `{"city":"Oslo"}`)
		wantResult(t, name, got, "sunny in Oslo", "")
		if last := got.Content[len(got.Content)-1]; last.Type != tool.ImageContent || string(last.Data) != "a sun" {
			t.Errorf("%s: got %+v, want the picture", name, got.Content)
		}
		wantResult(t, name, s.Call(t.Context(), "sky__weather", `{"city":"Rome"}`), "no forecast for Rome", tool.Failed)
		wantResult(t, name, s.Call(t.Context(), "sky__weather", `{"city":1}`), "InputValidationError: ", tool.InvalidInput)
		if r, _ := rt.Find("sky__weather"); r.Class != tt.class {
			t.Errorf("%s: got the class %q, want %q", name, r.Class, tt.class)
		}
	}
}

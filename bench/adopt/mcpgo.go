package adopt

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// FromMCPGo is a tool of mcp-go for Ferrule: call is the handler of a tool in this
// program, or the CallTool of a client. Add it to the program's own, or Set it as a
// source of trust MCP where somebody else's server answers.
func FromMCPGo(t mcp.Tool, call server.ToolHandlerFunc) (*tool.Tool, error) {
	text, err := json.Marshal(t)
	var said struct{ InputSchema json.RawMessage }
	if err = errors.Join(err, json.Unmarshal(text, &said)); err != nil {
		return nil, err
	}
	is := func(hint *bool) bool { return hint != nil && *hint }
	claims := tool.Claims{ReadOnly: is(t.Annotations.ReadOnlyHint), Idempotent: is(t.Annotations.IdempotentHint)}
	made := tool.Tool{Info: tool.Info{Name: t.Name, Description: t.Description, Input: said.InputSchema, Claims: claims}}
	made.Run = func(ctx context.Context, a tool.Args) (out tool.Result, err error) {
		request := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: t.Name, RawArguments: json.RawMessage(a.Text())}}
		if err := a.Decode(&request.Params.Arguments); err != nil {
			return out, err
		}
		answer, err := call(ctx, request)
		if err != nil {
			return out, err
		}
		for _, c := range answer.Content {
			out.Content = append(out.Content, contentOf(c))
		}
		if answer.IsError {
			return out, errors.New(tool.TextOf(out.Content))
		}
		return out, nil
	}
	return &made, nil
}

// contentOf is a block of mcp-go for Ferrule.
func contentOf(c mcp.Content) tool.Content {
	if i, ok := c.(mcp.ImageContent); ok {
		if data, err := base64.StdEncoding.DecodeString(i.Data); err == nil {
			return tool.Content{Type: tool.ImageContent, Data: data, MediaType: i.MIMEType}
		}
	}
	return tool.Text(mcp.GetTextFromContent(c))
}

// InMCPGo are the tools of a view for a server of mcp-go. Who has no such server yet
// needs none: package mcptool serves a view itself, and asks the client's user too.
func InMCPGo(view *ferrule.View) []server.ServerTool {
	var all []server.ServerTool
	for r := range view.Offered() {
		run := func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			input, err := request.Params.RawArguments, error(nil)
			if input == nil && request.Params.Arguments != nil { // it comes from this process
				if input, err = json.Marshal(request.Params.Arguments); err != nil {
					return nil, err
				}
			}
			result := view.DoTurn(ctx, ferrule.TurnOptions{Apart: true}, tool.Call{Name: r.Name, Input: input})[0]
			answer := mcp.NewToolResultText(result.String())
			answer.IsError = result.Err != nil
			return answer, nil
		}
		all = append(all, server.ServerTool{Tool: mcp.NewToolWithRawSchema(r.Name, r.Info.Description, r.Info.Input), Handler: run})
	}
	return all
}

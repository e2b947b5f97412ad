package adopt

import (
	"context"
	"encoding/json"

	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// InEino are the tools of a view for Eino: for its ToolsNode, its agents, its models.
// Eino starts the calls of an answer together; Apart keeps those from overlapping
// that must not.
func InEino(view *ferrule.View) ([]einotool.BaseTool, error) {
	var all []einotool.BaseTool
	for r := range view.Offered() {
		var input jsonschema.Schema
		if err := json.Unmarshal(r.Info.Input, &input); err != nil {
			return nil, err
		}
		info := &schema.ToolInfo{Name: r.Name, Desc: r.Info.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&input)}
		run := func(ctx context.Context, input string) (string, error) {
			call := tool.Call{ID: compose.GetToolCallID(ctx), Name: r.Name, Input: json.RawMessage(input)}
			return view.DoTurn(ctx, ferrule.TurnOptions{Apart: true}, call)[0].String(), nil
		}
		asIs := func(_ context.Context, input string) (any, error) { return input, nil } // Ferrule checks it
		all = append(all, utils.NewTool(info, run, utils.WithUnmarshalArguments(asIs)))
	}
	return all, nil
}

// FromEino are tools of Eino for Ferrule, which checks their input first. Eino's tools
// claim nothing; claims are what is known of all of these.
func FromEino(ctx context.Context, claims tool.Claims, tools ...einotool.InvokableTool) ([]*tool.Tool, error) {
	var all []*tool.Tool
	for _, t := range tools {
		info, err := t.Info(ctx)
		if err != nil {
			return nil, err
		}
		input := json.RawMessage(`{"type":"object"}`)
		if s, err := info.ToJSONSchema(); err != nil {
			return nil, err
		} else if s != nil {
			if input, err = json.Marshal(s); err != nil {
				return nil, err
			}
		}
		made := tool.Tool{Info: tool.Info{Name: info.Name, Description: info.Desc, Input: input, Claims: claims}}
		made.Run = func(ctx context.Context, a tool.Args) (tool.Result, error) {
			text, err := t.InvokableRun(ctx, a.Text())
			return tool.Result{Content: []tool.Content{tool.Text(text)}}, err
		}
		all = append(all, &made)
	}
	return all, nil
}

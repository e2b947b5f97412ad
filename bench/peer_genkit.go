package main

import (
	"context"
	"encoding/json"

	"github.com/firebase/genkit/go/ai"
	gk "github.com/firebase/genkit/go/genkit"
)

// genkit runs the calls of a turn only inside Generate, so a model that asks
// for them stands in for a real one.
func genkit() peer {
	return peer{
		name: "genkit", module: "github.com/firebase/genkit/go", prepare: prepareGenkit,
		note: "Generate with a scripted model; arguments as a map, decoded before",
		alone: func(ctx context.Context, f function, input string) (func(context.Context) error, error) {
			var in map[string]any
			err := json.Unmarshal([]byte(input), &in)
			t := defineGenkit(gk.Init(ctx), f)
			return func(ctx context.Context) error {
				_, err := t.RunRaw(ctx, in)
				return err
			}, err
		},
	}
}

func defineGenkit(kit *gk.Genkit, f function) ai.Tool {
	return gk.DefineTool(kit, f.name, "Search files.", func(ctx *ai.ToolContext, in args) (reply, error) {
		return f.run(ctx.Context, in)
	})
}

type genkitTurn struct {
	kit     *gk.Genkit
	options []ai.GenerateOption
	asks    *ai.Message
	shown   []*ai.Part
}

func prepareGenkit(ctx context.Context, tools []function, calls []request) (turn, error) {
	t := &genkitTurn{kit: gk.Init(ctx)}
	var refs []ai.ToolRef
	for _, f := range tools {
		refs = append(refs, defineGenkit(t.kit, f))
	}
	t.asks = ai.NewModelMessage()
	for _, c := range calls {
		var input map[string]any
		if err := json.Unmarshal([]byte(c.input), &input); err != nil {
			return nil, err
		}
		t.asks.Content = append(t.asks.Content, ai.NewToolRequestPart(&ai.ToolRequest{Name: c.tool, Ref: c.id, Input: input}))
	}
	model := gk.DefineModel(t.kit, "scripted/model", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}, t.answer)
	t.options = []ai.GenerateOption{ai.WithModel(model), ai.WithPrompt("Search."), ai.WithTools(refs...)}
	return t, nil
}

// answer asks for the calls and, once it is shown their results, is done.
func (t *genkitTurn) answer(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	last := req.Messages[len(req.Messages)-1]
	if last.Role != ai.RoleTool {
		return &ai.ModelResponse{Request: req, Message: t.asks}, nil
	}
	t.shown = last.Content
	return &ai.ModelResponse{Request: req, Message: ai.NewModelTextMessage("done")}, nil
}

func (t *genkitTurn) Run(ctx context.Context) error {
	t.shown = nil
	_, err := gk.Generate(ctx, t.kit, t.options...)
	return err
}

func (t *genkitTurn) Results() []result {
	var list []result
	for _, p := range t.shown {
		text, err := json.Marshal(p.ToolResponse.Output)
		if err != nil {
			text = []byte(err.Error())
		}
		list = append(list, result{p.ToolResponse.Ref, string(text)})
	}
	return list
}

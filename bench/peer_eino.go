package main

import (
	"context"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

func eino() peer {
	return peer{
		name: "eino", module: "github.com/cloudwego/eino", note: "ToolsNode.Invoke",
		prepare: func(ctx context.Context, tools []function, calls []request) (turn, error) {
			node, err := einoNode(ctx, tools)
			if err != nil {
				return nil, err
			}
			return &einoTurn{
				message: einoMessage(calls),
				invoke: func(ctx context.Context, m *schema.Message) ([]*schema.Message, error) {
					return node.Invoke(ctx, m)
				},
			}, nil
		},
		alone: func(_ context.Context, f function, input string) (func(context.Context) error, error) {
			t, err := utils.InferTool(f.name, "Search files.", f.run)
			return func(ctx context.Context) error {
				_, err := t.InvokableRun(ctx, input)
				return err
			}, err
		},
	}
}

// einoChain is the same node as a step of a compiled chain, which recovers
// panics on its own.
func einoChain() peer {
	return peer{
		name: "eino chain", module: "github.com/cloudwego/eino", note: "a chain with the ToolsNode as its only step",
		prepare: func(ctx context.Context, tools []function, calls []request) (turn, error) {
			node, err := einoNode(ctx, tools)
			if err != nil {
				return nil, err
			}
			chain, err := compose.NewChain[*schema.Message, []*schema.Message]().AppendToolsNode(node).Compile(ctx)
			if err != nil {
				return nil, err
			}
			return &einoTurn{
				message: einoMessage(calls),
				invoke: func(ctx context.Context, m *schema.Message) ([]*schema.Message, error) {
					return chain.Invoke(ctx, m)
				},
			}, nil
		},
	}
}

func einoNode(ctx context.Context, tools []function) (*compose.ToolsNode, error) {
	var list []tool.BaseTool
	for _, f := range tools {
		t, err := utils.InferTool(f.name, "Search files.", f.run)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return compose.NewToolNode(ctx, &compose.ToolsNodeConfig{Tools: list})
}

func einoMessage(calls []request) *schema.Message {
	list := make([]schema.ToolCall, len(calls))
	for i, c := range calls {
		list[i] = schema.ToolCall{ID: c.id, Type: "function", Function: schema.FunctionCall{Name: c.tool, Arguments: c.input}}
	}
	return schema.AssistantMessage("", list)
}

type einoTurn struct {
	message *schema.Message
	invoke  func(context.Context, *schema.Message) ([]*schema.Message, error)
	shown   []*schema.Message
}

func (t *einoTurn) Run(ctx context.Context) error {
	var err error
	t.shown, err = t.invoke(ctx, t.message)
	return err
}

func (t *einoTurn) Results() []result {
	var list []result
	for _, m := range t.shown {
		list = append(list, result{m.ToolCallID, m.Content})
	}
	return list
}

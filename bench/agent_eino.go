package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/components/model"
	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
)

// einoModel is fakeModel for one turn, as Eino takes it.
type einoModel struct {
	answers []*schema.Message
	done    *schema.Message
	next    int

	shown []*schema.Message // with the last request
}

var errNoStream = errors.New("this model does not stream")

// Generate asks for ten calls or, when it is shown their results, is done.
func (m *einoModel) Generate(_ context.Context, input []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if m.shown = input; input[len(input)-1].Role == schema.Tool {
		return m.done, nil
	}
	m.next++
	return m.answers[m.next%len(m.answers)], nil
}

func (*einoModel) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, errNoStream
}

func (m *einoModel) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

// einoReact is agentTurn through Eino's react agent: the same function, calls and
// answers.
func einoReact(ctx context.Context) (func() error, error) {
	m := &einoModel{done: schema.AssistantMessage("Done.", nil)}
	for i := range variants {
		var calls []request
		for _, c := range similarCalls(i, 10) {
			calls = append(calls, request{id: fmt.Sprintf("%s_%d", c.ID, i), tool: c.Name, input: string(c.Input)})
		}
		m.answers = append(m.answers, einoMessage(calls))
	}
	t, err := utils.InferTool("search", "Search files for a pattern.", call)
	if err != nil {
		return nil, err
	}
	a, err := react.NewAgent(ctx, &react.AgentConfig{ToolCallingModel: m, ToolsConfig: compose.ToolsNodeConfig{Tools: []einotool.BaseTool{t}}})
	if err != nil {
		return nil, err
	}
	return func() error {
		last, err := a.Generate(ctx, []*schema.Message{schema.UserMessage("Search.")})
		if err != nil {
			return err
		}
		if last.Content != m.done.Content || len(m.shown) != 12 {
			return fmt.Errorf("got %q after %d messages, want %q after 12", last.Content, len(m.shown), m.done.Content)
		}
		return nil
	}, nil
}

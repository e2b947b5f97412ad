package main

import (
	"context"
	"encoding/json"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"
)

// langchain runs the calls of a turn only inside an agent's executor. Its tools
// take and return text, so their author decodes and encodes.
func langchain() peer {
	return peer{
		name: "langchaingo", module: "github.com/tmc/langchaingo", prepare: prepareLangchain,
		note: "Executor of an OpenAIFunctionsAgent with a scripted model; a tool takes one string and decodes it itself",
	}
}

type langchainTurn struct {
	executor *agents.Executor
	asks     []llms.ToolCall
	shown    []llms.MessageContent
}

func prepareLangchain(_ context.Context, list []function, calls []request) (turn, error) {
	t := &langchainTurn{}
	for _, c := range calls {
		// This is the schema that the agent declares for every tool.
		input, err := json.Marshal(map[string]string{"__arg1": c.input})
		if err != nil {
			return nil, err
		}
		t.asks = append(t.asks, llms.ToolCall{ID: c.id, Type: "function", FunctionCall: &llms.FunctionCall{Name: c.tool, Arguments: string(input)}})
	}
	var known []tools.Tool
	for _, f := range list {
		known = append(known, langchainTool{f})
	}
	t.executor = agents.NewExecutor(agents.NewOpenAIFunctionsAgent(t, known))
	return t, nil
}

// langchainTool is what the author of a tool writes.
type langchainTool struct{ function }

func (t langchainTool) Name() string { return t.name }

func (t langchainTool) Description() string { return "Search files." }

func (t langchainTool) Call(ctx context.Context, input string) (string, error) {
	var in args
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		return "", err
	}
	out, err := t.run(ctx, in)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(out)
	return string(text), err
}

// GenerateContent asks for the calls and, once it is shown their results, is
// done.
func (t *langchainTurn) GenerateContent(_ context.Context, messages []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	choice := &llms.ContentChoice{Content: "done"}
	if messages[len(messages)-1].Role == llms.ChatMessageTypeTool {
		t.shown = messages
	} else {
		choice = &llms.ContentChoice{ToolCalls: t.asks}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

// Call is the older half of the interface of a model.
func (t *langchainTurn) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, t, prompt, options...)
}

func (t *langchainTurn) Run(ctx context.Context) error {
	t.shown = nil
	_, err := chains.Run(ctx, t.executor, "Search.")
	return err
}

func (t *langchainTurn) Results() []result {
	var list []result
	for _, m := range t.shown {
		for _, p := range m.Parts {
			if r, ok := p.(llms.ToolCallResponse); ok {
				list = append(list, result{r.ToolCallID, r.Content})
			}
		}
	}
	return list
}

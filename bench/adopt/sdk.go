package adopt

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

var errTooLong = errors.New("got no answer in 50 turns")

// WithAnthropic is a loop on Anthropic's SDK: ask, run the calls, ask again.
func WithAnthropic(ctx context.Context, client *anthropic.Client, session *ferrule.Session, ask anthropic.MessageNewParams) (*anthropic.Message, error) {
	for range 50 {
		view := session.View(ctx) // what this turn is offered
		text, err := view.Definitions(provider.Anthropic{})
		if err = errors.Join(err, json.Unmarshal(text, &ask.Tools)); err != nil {
			return nil, err
		}
		answer, err := client.Messages.New(ctx, ask)
		if err != nil {
			return nil, err
		}
		var calls []tool.Call
		for _, b := range answer.Content {
			if b.Type == "tool_use" {
				calls = append(calls, tool.Call{ID: b.ID, Name: b.Name, Input: b.Input})
			}
		}
		if len(calls) == 0 {
			return answer, nil
		}
		var results []anthropic.ContentBlockParamUnion
		for _, r := range view.Do(ctx, calls...) { // one for each, whatever happens
			results = append(results, anthropic.NewToolResultBlock(r.CallID, r.String(), r.Err != nil))
		}
		ask.Messages = append(ask.Messages, answer.ToParam(), anthropic.NewUserMessage(results...))
	}
	return nil, errTooLong
}

// WithOpenAI is a loop on OpenAI's SDK, and so on every server that speaks Chat
// Completions.
func WithOpenAI(ctx context.Context, client *openai.Client, session *ferrule.Session, ask openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	for range 50 {
		view := session.View(ctx) // what this turn is offered
		text, err := view.Definitions(provider.Chat{})
		if err = errors.Join(err, json.Unmarshal(text, &ask.Tools)); err != nil {
			return nil, err
		}
		answer, err := client.Chat.Completions.New(ctx, ask)
		if err != nil {
			return nil, err
		}
		message := answer.Choices[0].Message
		if len(message.ToolCalls) == 0 {
			return answer, nil
		}
		var calls []tool.Call
		for _, c := range message.ToolCalls {
			calls = append(calls, tool.Call{ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
		}
		ask.Messages = append(ask.Messages, message.ToParam())
		for _, r := range view.Do(ctx, calls...) { // one for each, whatever happens
			ask.Messages = append(ask.Messages, openai.ToolMessage(r.String(), r.CallID))
		}
	}
	return nil, errTooLong
}

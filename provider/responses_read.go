package provider

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ReadRequest reads a request to /responses. What the host says before all else is
// System; what it says later is kept as it came.
func (f Responses) ReadRequest(body []byte) (Request, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return Request{}, fmt.Errorf("request: %w", err)
	}
	r := Request{
		Model: jsonText(take(all, "model")), Tools: take(all, "tools"), Choice: readOpenAIChoice(all),
		MaxTokens: number(all, "max_output_tokens"),
	}
	if text := jsonText(all["instructions"]); text != "" {
		r.System = text
		delete(all, "instructions")
	}
	if string(all["stream"]) == "true" {
		r.Stream = true
		delete(all, "stream")
	}
	input := take(all, "input")
	if text := jsonText(input); text != "" {
		r.Messages = say(nil, User, Text(text))
	} else if given(input) && input[0] != '"' {
		var items []json.RawMessage
		if err := json.Unmarshal(input, &items); err != nil {
			return Request{}, fmt.Errorf("input: %w", err)
		}
		c := responsesConversation{r: &r, names: namesOf{}}
		for i, raw := range items {
			if err := c.read(raw); err != nil {
				return Request{}, fmt.Errorf("input item %d: %w", i, err)
			}
		}
	}
	if len(all) > 0 {
		r.Extra = all
	}
	return r, nil
}

// responsesConversation is a conversation that is being read.
type responsesConversation struct {
	r       *Request
	names   namesOf
	thought bool // one came, and nothing of the user since
}

func (c *responsesConversation) read(raw json.RawMessage) error {
	it, err := readItem(raw)
	if err != nil {
		return err
	}
	own := Part{Kind: PartOwn, Own: raw, Of: Responses{}.String()}
	switch {
	case it.Type == "message" && it.Role == "user":
		c.user(it.Content.parts(responsesUserPart)...)
	case it.Type == "message" && it.Role != "assistant": // the host
		if texts, _ := it.said(); len(c.r.Messages) == 0 && len(texts) > 0 {
			for _, t := range texts {
				c.r.System = joined(c.r.System, t.Text)
			}
		} else {
			c.user(own)
		}
	case it.Type == "function_call_output":
		c.user(c.names.resultOf(string(it.CallID), it.Output.parts(responsesUserPart)))
	case strings.HasSuffix(it.Type, "_output"), strings.HasSuffix(it.Type, "_response"):
		c.user(own) // of the provider's own tools that run at the host
	default:
		parts := it.parts(c.thought)
		c.thought = c.thought || it.Type == "reasoning"
		c.names.see(parts)
		c.r.Messages = say(c.r.Messages, Assistant, parts...)
	}
	return nil
}

func (c *responsesConversation) user(parts ...Part) {
	c.thought = false
	c.r.Messages = say(c.r.Messages, User, parts...)
}

package provider

import (
	"encoding/json"
	"fmt"
)

// ReadRequest reads a request to /chat/completions. What the host says before all else
// is System; what it says later is kept as it came.
func (f Chat) ReadRequest(body []byte) (Request, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return Request{}, fmt.Errorf("request: %w", err)
	}
	r := Request{Model: jsonText(take(all, "model")), Tools: take(all, "tools"), Choice: readOpenAIChoice(all)}
	if string(all["stream"]) == "true" {
		r.Stream = true
		delete(all, "stream")
		if string(all["stream_options"]) == chatOptions {
			delete(all, "stream_options")
		}
	}
	r.MaxTokens = number(all, chatLimit(r.Model))
	if r.MaxTokens == 0 { // the other name is kept, so that it is written again
		for _, name := range []string{"max_tokens", "max_completion_tokens"} {
			if given(all[name]) && json.Unmarshal(all[name], &r.MaxTokens) != nil {
				r.MaxTokens = 0
			}
		}
	}
	var messages []json.RawMessage
	if raw := take(all, "messages"); raw != nil {
		if err := json.Unmarshal(raw, &messages); err != nil {
			return Request{}, fmt.Errorf("messages: %w", err)
		}
	}
	names := namesOf{}
	for i, raw := range messages {
		if err := f.readMessage(&r, names, raw); err != nil {
			return Request{}, fmt.Errorf("message %d: %w", i, err)
		}
	}
	if len(all) > 0 {
		r.Extra = all
	}
	return r, nil
}

func (f Chat) readMessage(r *Request, names namesOf, raw json.RawMessage) error {
	var m chatMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	switch m.Role {
	case "system", "developer":
		if text, _ := m.Content.said(); len(r.Messages) == 0 {
			r.System = joined(r.System, text)
		} else {
			r.Messages = say(r.Messages, User, Part{Kind: PartOwn, Own: raw, Of: f.String()})
		}
	case "user":
		r.Messages = say(r.Messages, User, m.Content.parts(chatUserPart)...)
	case "assistant":
		parts, err := m.parts(true)
		if err != nil {
			return err
		}
		names.see(parts)
		r.Messages = say(r.Messages, Assistant, parts...)
	case "tool":
		r.Messages = say(r.Messages, User, names.resultOf(string(m.ToolCallID), m.Content.parts(chatUserPart)))
	default: // function, and what is not known
		r.Messages = say(r.Messages, User, Part{Kind: PartOwn, Own: raw, Of: f.String()})
	}
	return nil
}

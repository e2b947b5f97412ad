package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// anthropicMessage is a message of a request.
type anthropicMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string or blocks
}

// ReadRequest reads the body of POST /v1/messages. Marks of the cache are read as
// Request.Cache, wherever they stand.
func (f Anthropic) ReadRequest(body []byte) (Request, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return Request{}, fmt.Errorf("request: %w", err)
	}
	var r Request
	var messages []anthropicMessage
	system, choice := take(members, "system"), take(members, "tool_choice")
	for _, m := range []struct {
		name string
		into any
	}{
		{"model", &r.Model},
		{"max_tokens", &r.MaxTokens},
		{"stream", &r.Stream},
		{"messages", &messages},
	} {
		if v := take(members, m.name); v != nil {
			if err := json.Unmarshal(v, m.into); err != nil {
				return Request{}, fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	var err error
	if r.System, err = f.readSystem(system, &r.Cache); err != nil {
		return Request{}, fmt.Errorf("system: %w", err)
	}
	if r.Tools, err = unmarkTools(take(members, "tools"), &r.Cache); err != nil {
		return Request{}, fmt.Errorf("tools: %w", err)
	}
	if choice != nil && !readAnthropicChoice(choice, &r.Choice) {
		members["tool_choice"] = choice
	}
	for i, m := range messages {
		message := Message{Role: User}
		if m.Role == "assistant" {
			message.Role = Assistant
		}
		if message.Parts, err = f.readContent(m.Content, &r.Cache); err != nil {
			return Request{}, fmt.Errorf("message %d: %w", i+1, err)
		}
		r.Messages = append(r.Messages, message)
	}
	if len(members) > 0 {
		r.Extra = members
	}
	return r, nil
}

// readSystem reads the system text: a string, or blocks, which are joined.
func (f Anthropic) readSystem(text json.RawMessage, cache *bool) (string, error) {
	parts, err := f.readContent(text, cache)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, p := range parts {
		if p.Kind == PartText {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

// unmarkTools takes the marks of the cache from tools.
func unmarkTools(tools json.RawMessage, cache *bool) (json.RawMessage, error) {
	if !bytes.Contains(tools, []byte(`"cache_control"`)) {
		return tools, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(tools, &list); err != nil {
		return nil, err
	}
	var w writer
	w.open('[')
	for _, t := range list {
		w.raw(unmark(t, cache))
	}
	w.close(']')
	return json.RawMessage(w), nil
}

// unmark takes a mark of the cache from an object.
func unmark(object json.RawMessage, cache *bool) json.RawMessage {
	if !bytes.Contains(object, []byte(`"cache_control"`)) {
		return object
	}
	var mark struct {
		Cache json.RawMessage `json:"cache_control"`
	}
	if json.Unmarshal(object, &mark) != nil || len(mark.Cache) == 0 {
		return object
	}
	if string(mark.Cache) != "null" {
		*cache = true
	}
	return withMember(object, "cache_control", nil)
}

// readAnthropicChoice reads a tool_choice, and reports whether ours can hold it.
func readAnthropicChoice(text json.RawMessage, into *Choice) bool {
	var c struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Alone bool   `json:"disable_parallel_tool_use"`
	}
	if json.Unmarshal(text, &c) != nil {
		return false
	}
	switch c.Type {
	case "auto", "any", "none":
		c.Name = ""
	case "tool":
	default:
		return false
	}
	*into = Choice{Mode: c.Type, Name: c.Name, Alone: c.Alone}
	return true
}

// readContent reads the content of a message: a string or blocks.
func (Anthropic) readContent(content json.RawMessage, cache *bool) ([]Part, error) {
	if empty(content) {
		return nil, nil
	}
	var text string
	if content[0] == '"' {
		if err := json.Unmarshal(content, &text); err != nil {
			return nil, err
		}
		return []Part{Text(text)}, nil
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(content, &blocks); err != nil {
		return nil, err
	}
	parts := make([]Part, 0, len(blocks))
	for i, block := range blocks {
		var b anthropicBlock
		if !isObject(block) {
			return nil, fmt.Errorf("block %d: got %.40q, want an object", i+1, block)
		}
		block = unmark(block, cache)
		if err := json.Unmarshal(block, &b); err != nil {
			if b = (anthropicBlock{Type: b.Type}); anthropicKnown(b.Type) {
				return nil, fmt.Errorf("block %d: %w", i+1, err)
			}
		}
		parts = append(parts, b.part(block))
	}
	return parts, nil
}

// anthropicKnown reports whether blocks of a type are read, and not only kept.
func anthropicKnown(kind string) bool {
	switch kind {
	case "text", "thinking", "tool_use", "tool_result", "image", "document":
		return true
	}
	return false
}

// anthropicUsage are tokens, as far as they are named: a later event changes only
// what it names.
type anthropicUsage struct {
	Input      *int `json:"input_tokens"`
	Output     *int `json:"output_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
	Details    struct {
		Thinking *int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// into counts the tokens: the API's input does not hold what is cached, ours does.
func (u *anthropicUsage) into(sum *Usage) {
	fresh := sum.Input - sum.CacheRead - sum.CacheWrite
	for _, n := range []struct{ from, to *int }{
		{u.Input, &fresh},
		{u.Output, &sum.Output},
		{u.CacheRead, &sum.CacheRead},
		{u.CacheWrite, &sum.CacheWrite},
		{u.Details.Thinking, &sum.Thought},
	} {
		if n.from != nil {
			*n.to = *n.from
		}
	}
	sum.Input = fresh + sum.CacheRead + sum.CacheWrite
}

// anthropicStop is why an answer ended.
type anthropicStop struct {
	Reason  string `json:"stop_reason"`
	Details *struct {
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
}

func (s *anthropicStop) stop() Stop {
	switch s.Reason {
	case "":
		return ""
	case "end_turn", "stop_sequence":
		return StopEnd
	case "tool_use":
		return StopCalls
	case "max_tokens", "model_context_window_exceeded":
		return StopLength
	case "refusal":
		return StopRefusal
	case "pause_turn", "compaction":
		return StopPause
	}
	return StopOther
}

// refusal is why the model does not answer, where that was said.
func (s *anthropicStop) refusal() string {
	if s.Details == nil || s.Reason != "refusal" {
		return ""
	}
	return s.Details.Explanation
}

// ReadAnswer reads the answer of POST /v1/messages. A last call without input, of an answer
// that reached its limit, may be half a call and is left out.
func (f Anthropic) ReadAnswer(body []byte) (Answer, error) {
	var m struct {
		Type    string          `json:"type"`
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   anthropicUsage  `json:"usage"`
		anthropicStop
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return Answer{}, fmt.Errorf("answer: %w", err)
	}
	if m.Type != "message" && (m.Type != "" || m.Content == nil) { // what is no message is an error
		return Answer{}, ReadError(0, nil, body)
	}
	a := Answer{ID: m.ID, Model: m.Model, Stop: m.stop()}
	m.Usage.into(&a.Usage)
	var marked bool
	parts, err := f.readContent(m.Content, &marked)
	if err != nil {
		return Answer{}, fmt.Errorf("answer: %w", err)
	}
	if n := len(parts) - 1; a.Stop == StopLength && n >= 0 && parts[n].Kind == PartCall && sameInput(parts[n].Call.Input, nil) {
		parts = parts[:n] // the limit may have cut it off before its input
	}
	a.Parts = parts
	if text := m.refusal(); text != "" {
		a.Parts = append(a.Parts, Part{Kind: PartRefusal, Text: text})
	}
	return a, nil
}

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/provider"
)

// wireNormal is the body of a request in the one form that two bodies with the same
// meaning share. Only these differences are taken away, all else is compared as it is:
//
//   - marks for prompt caches (cache_control): where they stand is ours to choose;
//   - what the host says: as a text, as blocks, as first messages of role system or
//     developer, as instructions;
//   - content as a text or as one part of text; no content, null and an empty text;
//   - an item of Responses with a role and without a type is a message;
//   - max_tokens of Chat Completions under its newer name;
//   - what is said though it is the default: tool_choice auto, stream and is_error
//     false, type custom of a tool.
func wireNormal(f provider.Format, body []byte) (map[string]any, error) {
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	dropDefault(m, "stream", false)
	switch f.(type) {
	case provider.Anthropic:
		normalAnthropic(m)
	case provider.Responses:
		normalResponses(m)
	case provider.Chat:
		normalChat(m)
	case provider.Gemini:
		normalGemini(m)
	default:
		return nil, fmt.Errorf("got format %v, want one of provider.Formats", f)
	}
	return m, nil
}

func normalAnthropic(m map[string]any) {
	setText(m, "system", textOf(m["system"]))
	for _, message := range objects(m["messages"]) {
		content := blocks(message["content"], "text")
		for _, b := range objects(content) {
			delete(b, "cache_control")
			if b["type"] == "tool_result" {
				dropDefault(b, "is_error", false)
				inner := blocks(b["content"], "text")
				b["content"] = inner
				for _, c := range objects(inner) {
					delete(c, "cache_control")
				}
			}
		}
		message["content"] = content
	}
	for _, t := range objects(m["tools"]) {
		delete(t, "cache_control")
		dropDefault(t, "type", "custom")
	}
	if choice, ok := m["tool_choice"].(map[string]any); ok {
		dropDefault(choice, "disable_parallel_tool_use", false)
		if choice["type"] == "auto" && len(choice) == 1 {
			delete(m, "tool_choice")
		}
	}
}

func normalResponses(m map[string]any) {
	items := blocks(m["input"], "")
	if text, ok := m["input"].(string); ok {
		items = []any{map[string]any{"role": "user", "content": text}}
	}
	system := textOf(m["instructions"])
	for len(items) > 0 && hostSpeaks(items[0]) {
		system = joinText(system, textOf(items[0].(map[string]any)["content"]))
		items = items[1:]
	}
	for _, item := range objects(items) {
		if _, ok := item["role"]; !ok {
			continue
		}
		item["type"] = "message"
		kind := "input_text"
		if item["role"] == "assistant" {
			kind = "output_text"
		}
		item["content"] = blocks(item["content"], kind)
	}
	m["input"] = items
	setText(m, "instructions", system)
	dropDefault(m, "tool_choice", "auto")
}

func normalChat(m map[string]any) {
	messages, _ := m["messages"].([]any)
	system := ""
	for len(messages) > 0 && hostSpeaks(messages[0]) {
		system = joinText(system, textOf(messages[0].(map[string]any)["content"]))
		messages = messages[1:]
	}
	for _, message := range objects(messages) {
		delete(message, "cache_control")
		if content := blocks(message["content"], "text"); len(content) > 0 {
			message["content"] = content
			for _, part := range objects(content) {
				delete(part, "cache_control")
			}
		} else {
			delete(message, "content")
		}
		for _, call := range objects(message["tool_calls"]) {
			delete(call, "cache_control")
		}
	}
	for _, t := range objects(m["tools"]) {
		delete(t, "cache_control")
	}
	m["messages"] = messages
	setText(m, "system", system)
	if n, ok := m["max_tokens"]; ok {
		m["max_completion_tokens"] = n
		delete(m, "max_tokens")
	}
	dropDefault(m, "tool_choice", "auto")
}

func normalGemini(m map[string]any) {
	system, _ := m["systemInstruction"].(map[string]any)
	setText(m, "systemInstruction", textOf(system["parts"]))
	config, _ := m["toolConfig"].(map[string]any)
	calling, _ := config["functionCallingConfig"].(map[string]any)
	if calling["mode"] == "AUTO" && len(calling) == 1 && len(config) == 1 {
		delete(m, "toolConfig")
	}
}

// saying is one piece of a conversation, the same for all formats.
type saying struct {
	Kind string `json:"kind"` // system, user, assistant, call, result
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	Text string `json:"text,omitempty"` // of a call its arguments
}

// said is the conversation in a request: texts, calls and results in order.
// Thoughts, signatures and what else belongs to one provider are left out: clients
// differ in what they send back of it.
func said(f provider.Format, body []byte) ([]saying, error) {
	m, err := wireNormal(f, body)
	if err != nil {
		return nil, err
	}
	var out []saying
	add := func(s saying) {
		if last := len(out) - 1; s.Text != "" && last >= 0 && out[last].Kind == s.Kind && (s.Kind == "user" || s.Kind == "assistant") {
			out[last].Text += s.Text // one text in two parts
		} else if s.Text != "" || s.Kind == "call" || s.Kind == "result" {
			out = append(out, s)
		}
	}
	for _, key := range []string{"system", "instructions", "systemInstruction"} {
		add(saying{Kind: "system", Text: text(m, key)})
	}
	for _, message := range objects(m["messages"]) {
		role := text(message, "role")
		if role == "tool" {
			add(saying{Kind: "result", ID: text(message, "tool_call_id"), Text: textOf(message["content"])})
			continue
		}
		for _, b := range objects(message["content"]) {
			switch b["type"] {
			case "text":
				add(saying{Kind: role, Text: text(b, "text")})
			case "tool_use":
				add(saying{Kind: "call", ID: text(b, "id"), Name: text(b, "name"), Text: compact(b["input"])})
			case "tool_result":
				add(saying{Kind: "result", ID: text(b, "tool_use_id"), Text: textOf(b["content"])})
			}
		}
		for _, c := range objects(message["tool_calls"]) {
			function, _ := c["function"].(map[string]any)
			add(saying{Kind: "call", ID: text(c, "id"), Name: text(function, "name"), Text: compact(text(function, "arguments"))})
		}
	}
	for _, item := range objects(m["input"]) {
		switch item["type"] {
		case "message":
			add(saying{Kind: text(item, "role"), Text: textOf(item["content"])})
		case "function_call":
			add(saying{Kind: "call", ID: text(item, "call_id"), Name: text(item, "name"), Text: compact(text(item, "arguments"))})
		case "custom_tool_call":
			add(saying{Kind: "call", ID: text(item, "call_id"), Name: text(item, "name"), Text: text(item, "input")})
		case "function_call_output", "custom_tool_call_output":
			add(saying{Kind: "result", ID: text(item, "call_id"), Text: textOf(item["output"])})
		}
	}
	for _, content := range objects(m["contents"]) {
		for _, p := range objects(content["parts"]) {
			call, isCall := p["functionCall"].(map[string]any)
			result, isResult := p["functionResponse"].(map[string]any)
			switch {
			case isCall:
				add(saying{Kind: "call", ID: text(call, "id"), Name: text(call, "name"), Text: compact(call["args"])})
			case isResult:
				add(saying{Kind: "result", ID: text(result, "id"), Name: text(result, "name"), Text: compact(result["response"])})
			case p["thought"] == true:
			case content["role"] == "model":
				add(saying{Kind: "assistant", Text: text(p, "text")})
			default:
				add(saying{Kind: "user", Text: text(p, "text")})
			}
		}
	}
	return out, nil
}

// objects are those among the elements of a list.
func objects(list any) []map[string]any {
	elements, _ := list.([]any)
	var out []map[string]any
	for _, e := range elements {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// blocks is content as a list: a text is one part of a kind.
func blocks(content any, kind string) []any {
	switch c := content.(type) {
	case []any:
		return c
	case string:
		if c != "" {
			return []any{map[string]any{"type": kind, "text": c}}
		}
	}
	return nil
}

// textOf is all text of a content.
func textOf(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	var out string
	for _, b := range objects(content) {
		out = joinText(out, text(b, "text"))
	}
	return out
}

func joinText(a, b string) string { return strings.Trim(a+"\n\n"+b, "\n") }

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func setText(m map[string]any, key, s string) {
	delete(m, key)
	if s != "" {
		m[key] = s
	}
}

func dropDefault(m map[string]any, key string, usual any) {
	if m[key] == usual {
		delete(m, key)
	}
}

// hostSpeaks reports whether a message is the host's.
func hostSpeaks(message any) bool {
	m, ok := message.(map[string]any)
	return ok && (m["role"] == "system" || m["role"] == "developer")
}

// compact is JSON in one form, of a value or of a text that holds it.
func compact(v any) string {
	if s, ok := v.(string); ok {
		var inner any
		if json.Unmarshal([]byte(s), &inner) != nil {
			return s
		}
		v = inner
	}
	if v == nil {
		return "{}"
	}
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

package provider

import (
	"encoding/json"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// Chat is OpenAI's Chat Completions, and what every server like it takes: Ollama, vLLM,
// llama.cpp, Groq, xAI, OpenRouter.
type Chat struct{}

var _ Format = Chat{}

// String is openai-chat.
func (Chat) String() string { return "openai-chat" }

// WriteRequest writes a request to /chat/completions.
func (f Chat) WriteRequest(r Request) ([]byte, error) {
	w, err := openAIBody(r)
	if err != nil {
		return nil, err
	}
	openAIMessages(w, "messages", r.Messages, func() {
		if r.System != "" {
			chatText(&w.writer, "system", r.System)
		}
	}, f.writeAssistant, f.writeUser)
	if err := openAITools(w, r, func(name string) []byte {
		return []byte(`{"type":"function","function":{"name":` + string(quoted(name)) + `}}`)
	}); err != nil {
		return nil, err
	}
	if r.MaxTokens > 0 && w.wants("max_tokens") && w.wants("max_completion_tokens") {
		w.number(chatLimit(r.Model), r.MaxTokens)
	}
	if r.Stream && w.wants("stream") {
		w.flag("stream", true)
		if w.wants("stream_options") {
			w.member("stream_options", []byte(chatOptions))
		}
	}
	return w.end(), nil
}

// chatOptions ask for the tokens of a stream, which are not told otherwise.
const chatOptions = `{"include_usage":true}`

// chatLimit is what the limit of tokens is called. Everybody knows max_tokens but the
// models of OpenAI that think, which refuse it.
func chatLimit(model string) string {
	model = model[strings.LastIndexByte(model, '/')+1:]
	digit := func(s string, least byte) bool { return s != "" && s[0] >= least && s[0] <= '9' }
	o, isO := strings.CutPrefix(model, "o")
	gpt, isGPT := strings.CutPrefix(model, "gpt-")
	if isO && digit(o, '1') || isGPT && (digit(gpt, '5') || digit(gpt, '1') && digit(gpt[1:], '0')) || strings.HasPrefix(model, "codex") {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// chatText writes a message that is nothing but text.
func chatText(w *writer, role, text string) {
	w.open('{')
	w.text("role", role)
	w.text("content", text)
	w.close('}')
}

// writeUser writes what a user says: first the results of calls, each a message of its
// own, then all else in one message. Those of results are text: their images and
// sounds stand in that last message, because no other may come between results.
func (f Chat) writeUser(w *writer, parts []Part) {
	var content []json.RawMessage
	for i := range parts {
		p := &parts[i]
		if p.Kind != PartResult || p.Result == nil {
			continue
		}
		w.open('{')
		w.text("role", "tool")
		w.text("tool_call_id", p.Result.CallID)
		w.text("content", tool.TextOf(p.Result.Content))
		w.close('}')
		for j := range p.Result.Content {
			if c := &p.Result.Content[j]; isMedia(c) {
				content = append(content, chatPart("text", quoted("From the result of "+p.Result.CallID+":")))
				content = append(content, chatMedia(c))
			}
		}
	}
	only := "" // the text, where that is all
	flush := func() {
		switch {
		case len(content) == 0:
		case len(content) == 1 && only != "":
			chatText(w, "user", only)
		default:
			w.open('{')
			w.text("role", "user")
			writeList(w, "content", content)
			w.close('}')
		}
		content, only = nil, ""
	}
	for i := range parts {
		p := &parts[i]
		own := p.own(f.String())
		switch {
		case p.Kind == PartOwn && own != nil && chatRole(own) != "":
			flush()
			w.raw(own)
		case p.Kind == PartOwn && own != nil:
			content = append(content, own)
		case p.Kind == PartText && p.Text != "":
			only = p.Text
			content = append(content, chatPart("text", quoted(p.Text)))
		case p.Kind == PartMedia && p.Media != nil && own != nil:
			content = append(content, own)
		case p.Kind == PartMedia && p.Media != nil:
			content = append(content, chatMedia(p.Media))
		}
	}
	flush()
}

// chatRole is the role of a message that was kept as it came; "": it is no message.
func chatRole(own []byte) string {
	var m struct {
		Role string `json:"role"`
	}
	_ = json.Unmarshal(own, &m) // what is none has no role
	return m.Role
}

// chatPart is a piece of content that has one member.
func chatPart(kind string, value []byte) json.RawMessage {
	var w writer
	w.open('{')
	w.text("type", kind)
	w.member(kind, value)
	w.close('}')
	return json.RawMessage(w)
}

func writeList(w *writer, name string, values []json.RawMessage) {
	w.name(name)
	w.open('[')
	for _, v := range values {
		w.raw(v)
	}
	w.close(']')
}

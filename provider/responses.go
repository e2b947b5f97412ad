package provider

import (
	"encoding/json"

	"github.com/ferrule-dev/ferrule/tool"
)

// Responses is OpenAI's Responses API.
type Responses struct{}

var _ Format = Responses{}

// String is openai-responses.
func (Responses) String() string { return "openai-responses" }

// WriteRequest writes a request to /responses.
func (f Responses) WriteRequest(r Request) ([]byte, error) {
	w, err := openAIBody(r)
	if err != nil {
		return nil, err
	}
	if r.System != "" && w.wants("instructions") {
		w.text("instructions", r.System)
	}
	stored := string(r.Extra["store"]) != "false"
	openAIMessages(w, "input", r.Messages, func() {},
		func(w *writer, parts []Part) { f.writeAssistant(w, parts, stored) }, f.writeUser)
	if err := openAITools(w, r, func(name string) []byte {
		return []byte(`{"type":"function","name":` + string(quoted(name)) + `}`)
	}); err != nil {
		return nil, err
	}
	if r.MaxTokens > 0 && w.wants("max_output_tokens") {
		w.number("max_output_tokens", r.MaxTokens)
	}
	if r.Stream && w.wants("stream") {
		w.flag("stream", true)
	}
	return w.end(), nil
}

// writeAssistant writes what the model said, each part as an item. A thought goes back
// as it came, but not where the provider would refuse it: at the end, or before a message
// that was cut off, because what was thought about is missing, and where nothing is
// stored, unless it holds all that it needs. Without its thought, an item goes back without the id that asks for it.
func (f Responses) writeAssistant(w *writer, parts []Part, stored bool) {
	last := len(parts) // behind it there are only thoughts
	for last > 0 && parts[last-1].Kind == PartThought {
		last--
	}
	bare := false
	for i := range parts[:last] {
		p := &parts[i]
		own := p.own(f.String())
		if own == nil {
			if item := f.responsesPart(p, ""); item != nil {
				w.raw(item)
			}
			continue
		}
		it, err := readItem(own)
		switch {
		case err != nil:
		case p.Kind == PartThought:
			bare = !stored && it.Encrypted == "" || it.ID != "" && f.cutOff(parts[i+1:last])
			if !bare && it.Type == "reasoning" {
				w.raw(own)
			}
			continue
		case p.Kind == PartOwn:
			w.raw(own)
			continue
		case !bare && it.holds(p):
			w.raw(own)
			continue
		}
		if item := f.responsesPart(p, ""); item != nil {
			w.raw(item)
		}
	}
}

// cutOff tells whether what follows a thought is a message without the id that it came
// with: it did not come to its end, or was changed since.
func (f Responses) cutOff(behind []Part) bool {
	for i := range behind {
		p := &behind[i]
		own := p.own(f.String())
		switch {
		case p.Kind == PartThought, own == nil && f.responsesPart(p, "") == nil:
			continue
		case p.Kind != PartText && p.Kind != PartRefusal:
			return false
		case own == nil:
			return true
		}
		it, err := readItem(own)
		return err != nil || !it.holds(p)
	}
	return true
}

// writeUser writes what the user says: results of calls, each an item, and messages.
func (f Responses) writeUser(w *writer, parts []Part) {
	var content []json.RawMessage
	flush := func() {
		if len(content) == 0 {
			return
		}
		w.open('{')
		w.text("type", "message")
		w.text("role", "user")
		writeList(w, "content", content)
		w.close('}')
		content = nil
	}
	for i := range parts {
		p := &parts[i]
		own := p.own(f.String())
		switch p.Kind {
		case PartText:
			if p.Text != "" {
				content = append(content, inputText(p.Text))
			}
		case PartMedia:
			if own != nil {
				content = append(content, own)
			} else if p.Media != nil {
				content = append(content, responsesMedia(p.Media))
			}
		case PartOwn:
			if own == nil {
				continue
			}
			if it, err := readItem(own); err == nil && isContent(it.Type) {
				content = append(content, own)
				continue
			}
			flush()
			w.raw(own)
		case PartResult:
			if p.Result != nil {
				flush()
				writeResult(w, p.Result)
			}
		case PartThought, PartRefusal, PartCall:
		}
	}
	flush()
}

// isContent tells whether a type is one of pieces of content, not of items.
func isContent(kind string) bool {
	switch kind {
	case "input_text", "input_image", "input_file", "input_audio", "input_video", "text":
		return true
	}
	return false
}

// writeResult writes the result of a call: text, unless there is more.
func writeResult(w *writer, r *Result) {
	w.open('{')
	w.text("type", "function_call_output")
	w.text("call_id", r.CallID)
	var content []json.RawMessage
	media := false
	for i := range r.Content {
		c := &r.Content[i]
		if isMedia(c) && !isAudio(c) {
			content = append(content, responsesMedia(c))
			media = true
		} else {
			content = append(content, inputText(c.String()))
		}
	}
	if media {
		writeList(w, "output", content)
	} else {
		w.text("output", tool.TextOf(r.Content))
	}
	w.close('}')
}

// inputText is text of a user as a piece of content.
func inputText(text string) json.RawMessage {
	var w writer
	w.open('{')
	w.text("type", "input_text")
	w.text("text", text)
	w.close('}')
	return json.RawMessage(w)
}

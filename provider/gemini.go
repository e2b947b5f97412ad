package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// Gemini is generateContent and streamGenerateContent of the Gemini API and of Vertex
// AI. The model, and whether the answer is streamed, stand in the address: a request
// does not hold them.
//
// Ids of calls go back only to a model that gave them: not every version of the API
// knows the member. Without ids results are matched by name and order, and are written
// in the order of their calls. Images of results stand beside them.
type Gemini struct{}

// String is gemini.
func (Gemini) String() string { return "gemini" }

// WriteRequest writes the body of generateContent.
func (f Gemini) WriteRequest(r Request) ([]byte, error) {
	b, err := newBody(r.Extra)
	if err != nil {
		return nil, err
	}
	if b.wants("contents") {
		b.name("contents")
		f.writeContents(&b.writer, r.Messages)
	}
	if !blank(r.System) && b.wants("systemInstruction") {
		b.name("systemInstruction")
		b.open('{')
		b.name("parts")
		b.open('[')
		b.open('{')
		b.text("text", r.System)
		b.close('}')
		b.close(']')
		b.close('}')
	}
	if b.wants("tools") {
		tools, err := geminiTools(r.Tools)
		if err != nil {
			return nil, err
		}
		if tools != nil {
			b.member("tools", tools)
		}
	}
	extra := map[string]json.RawMessage{}
	if r.MaxTokens > 0 {
		extra["generationConfig"] = within(b.extra["generationConfig"], "maxOutputTokens", fmt.Append(nil, r.MaxTokens))
	}
	if choice := geminiChoice(r.Choice); choice != nil {
		extra["toolConfig"] = within(b.extra["toolConfig"], "functionCallingConfig", choice)
	}
	for _, name := range []string{"toolConfig", "generationConfig"} {
		v := extra[name]
		if v == nil {
			continue
		}
		b.member(name, v)
		b.omit(name)
	}
	return b.end(), nil
}

// within is an object of Extra with one more member, unless it has it.
func within(object json.RawMessage, name string, value []byte) json.RawMessage {
	if object == nil {
		object = json.RawMessage("{}")
	}
	there := false
	err := eachMember(object, func(key string, _ json.RawMessage) { there = there || key == name })
	if err != nil || there {
		return object
	}
	return withMember(object, name, value)
}

// geminiChoice is the functionCallingConfig of a request, or nil. That only one call
// is wanted cannot be said.
func geminiChoice(c Choice) []byte {
	var w writer
	w.open('{')
	switch c.Mode {
	case "any", "tool":
		w.text("mode", "ANY")
	case "none":
		w.text("mode", "NONE")
	case "auto":
		w.text("mode", "AUTO")
	default:
		return nil
	}
	if c.Mode == "tool" {
		w.name("allowedFunctionNames")
		w.open('[')
		w.string(c.Name)
		w.close(']')
	}
	w.close('}')
	return w
}

// geminiTools are the tools of a request: declarations of functions in one, and those
// that run at the provider as they are.
func geminiTools(tools json.RawMessage) (json.RawMessage, error) {
	if empty(bytes.TrimSpace(tools)) {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(tools, &list); err != nil {
		return nil, fmt.Errorf("tools: got %.40q, want a JSON array: %w", tools, err)
	}
	var functions, others writer
	for _, t := range list {
		if isDeclaration(t) {
			functions.raw(t)
		} else {
			others.raw(t)
		}
	}
	var w writer
	w.open('[')
	if len(functions) > 0 {
		w = append(append(append(w, `{"functionDeclarations":[`...), functions...), "]}"...)
	}
	if len(others) > 0 {
		w.raw(others)
	}
	w.close(']')
	return json.RawMessage(w), nil
}

// isDeclaration reports whether a tool is a function of ours.
func isDeclaration(t json.RawMessage) bool {
	if bytes.HasPrefix(t, []byte(`{"name":"`)) { // as Render writes it
		return true
	}
	var named struct {
		Name *json.RawMessage `json:"name"`
	}
	return json.Unmarshal(t, &named) == nil && named.Name != nil
}

// geminiCalls is what is known of calls that results may belong to.
type geminiCalls struct {
	place map[string]int    // of the calls of the last answer, by our id
	name  map[string]string // of all, by our id
	id    map[string]string // the model's own, by our id
}

// writeContents writes the messages.
func (f Gemini) writeContents(w *writer, messages []Message) {
	calls := geminiCalls{name: map[string]string{}, id: map[string]string{}}
	w.open('[')
	last := Role("")
	for _, m := range turns(messages) {
		role, parts := User, m.Parts
		if m.Role == Assistant {
			role = "model"
			calls.note(parts)
		} else {
			parts = calls.inOrder(parts)
		}
		var content writer
		for i := range parts {
			f.writePart(&content, &parts[i], &calls)
		}
		if role == User { // images of results behind all of them
			for i := range parts {
				if parts[i].Kind == PartResult && parts[i].Result != nil && parts[i].own("gemini") == nil {
					writeBeside(&content, parts[i].Result)
				}
			}
		}
		if len(content) == 0 {
			continue
		}
		if role == last { // what stood between was left out
			*w = (*w)[:len(*w)-len("]}")]
			w.raw(content)
		} else {
			w.open('{')
			w.text("role", string(role))
			w.name("parts")
			w.open('[')
			*w = append(*w, content...)
		}
		last = role
		w.close(']')
		w.close('}')
	}
	w.close(']')
}

// writeBeside writes the images and documents of a result.
func writeBeside(w *writer, r *Result) {
	for i := range r.Content {
		if isMedia(&r.Content[i]) {
			geminiMedia(w, &r.Content[i])
		}
	}
}

// geminiMedia writes data, or a link to it.
func geminiMedia(w *writer, c *tool.Content) {
	w.open('{')
	if len(c.Data) > 0 {
		w.name("inlineData")
		w.open('{')
		if c.MediaType != "" {
			w.text("mimeType", c.MediaType)
		}
		w.data(c.Data)
	} else {
		w.name("fileData")
		w.open('{')
		if c.MediaType != "" {
			w.text("mimeType", c.MediaType)
		}
		w.text("fileUri", c.URI)
	}
	w.close('}')
	w.close('}')
}

// geminiResponse is the response of a function, which is an object: an object that a
// tool returned as it is, and otherwise the text as its result or error.
func geminiResponse(r *Result) []byte {
	name := "result"
	if r.Error {
		name = "error"
	}
	var w writer
	w.open('{')
	if len(r.Content) == 1 && r.Content[0].Type == tool.JSONContent && json.Valid(r.Content[0].JSON) {
		v := r.Content[0].JSON
		if !r.Error && isObject(v) {
			if again := readGeminiResponse(v); !again.Error && len(again.Content) == 1 && bytes.Equal(again.Content[0].JSON, v) {
				return v
			}
		}
		w.member(name, v)
	} else {
		texts := make([]string, 0, len(r.Content))
		for i := range r.Content {
			if c := &r.Content[i]; !isMedia(c) || len(r.Content) > 1 {
				texts = append(texts, c.String())
			}
		}
		w.text(name, strings.Join(texts, "\n"))
	}
	w.close('}')
	return w
}

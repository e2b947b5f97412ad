package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// Read is the calls of an answer in whatever format it is, told apart by its shape:
// the body of an answer, streamed or not, or what stands in one: a message of the
// assistant, the list of what it said, or one piece of it. There may be none.
func Read(data []byte) ([]tool.Call, Format, error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	var a Answer
	var f Format
	var err error
	switch {
	case len(text) == 0:
		err = errors.New("got nothing")
	case text[0] == '{':
		a, f, err = readObject(text)
	case text[0] == '[':
		a, f, err = readArray(text)
	default:
		a, f, err = readEvents(text)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read: %w, want an answer or a message of the assistant in the format %s", err, formatNames())
	}
	return a.Calls(), f, nil
}

func formatNames() string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.String())
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// shape is what tells the formats apart.
type shape struct {
	Type         loose           `json:"type"`
	Role         loose           `json:"role"`
	Object       loose           `json:"object"`
	Error        json.RawMessage `json:"error"`
	Choices      json.RawMessage `json:"choices"`       // Chat
	ToolCalls    json.RawMessage `json:"tool_calls"`    // Chat
	Function     json.RawMessage `json:"function"`      // Chat
	FunctionOld  json.RawMessage `json:"function_call"` // Chat
	Candidates   json.RawMessage `json:"candidates"`    // Gemini
	Parts        json.RawMessage `json:"parts"`         // Gemini
	FunctionCall json.RawMessage `json:"functionCall"`  // Gemini
	Output       json.RawMessage `json:"output"`        // Responses
	Content      json.RawMessage `json:"content"`
}

func shapeOf(text []byte) (shape, error) {
	var s shape
	err := json.Unmarshal(text, &s)
	return s, err
}

// wrapped is text between what makes a body of it.
func wrapped(before string, text []byte, after string) []byte {
	return slices.Concat([]byte(before), text, []byte(after))
}

// readObject reads an answer, a message, or one piece of a message.
func readObject(text []byte) (a Answer, f Format, err error) {
	s, err := shapeOf(text)
	if err != nil {
		return a, nil, fmt.Errorf("got malformed JSON (%w)", err)
	}
	switch {
	case given(s.Choices):
		f = Chat{}
	case given(s.Candidates):
		f = Gemini{}
	case s.Object == "response", given(s.Output) && s.Output[0] == '[' && s.Type == "":
		f = Responses{}
	case given(s.Error):
		return a, nil, fmt.Errorf("got an error of the provider (%w)", ReadError(0, nil, text))
	case given(s.ToolCalls), given(s.FunctionOld), s.Role == "assistant" && given(s.Content) && s.Content[0] == '"' && s.Type == "":
		f, text = Chat{}, wrapped(`{"choices":[{"message":`, text, `}]}`)
	case s.Type == "function" && given(s.Function):
		f, text = Chat{}, wrapped(`{"choices":[{"message":{"tool_calls":[`, text, `]}}]}`)
	case given(s.Parts):
		f, text = Gemini{}, wrapped(`{"candidates":[{"finishReason":"STOP","content":`, text, `}]}`)
	case given(s.FunctionCall):
		f, text = Gemini{}, wrapped(`{"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[`, text, `]}}]}`)
	case isObject(s.Content):
		f, text = Gemini{}, wrapped(`{"candidates":[`, text, `]}`)
	case given(s.Content) && s.Content[0] == '[' && (s.Role == "assistant" || s.Type == "message"):
		return readContent(text, s)
	case anthropicKind(string(s.Type)):
		f, text = Anthropic{}, wrapped(`{"type":"message","role":"assistant","content":[`, text, `]}`)
	case responsesKind(string(s.Type)):
		f, text = Responses{}, wrapped(`{"output":[`, text, `]}`)
	default:
		return a, nil, fmt.Errorf("got an object with %s", memberNames(text))
	}
	if a, err = f.ReadAnswer(text); err != nil {
		return a, nil, fmt.Errorf("got what looks like %s (%w)", f, err)
	}
	return a, f, nil
}

// readContent reads a message whose content is a list. Three formats have such.
func readContent(text []byte, s shape) (a Answer, f Format, err error) {
	var list []shape
	if err := json.Unmarshal(s.Content, &list); err != nil {
		return a, nil, fmt.Errorf("got content that is no list of objects (%w)", err)
	}
	said := func(kinds ...string) bool {
		return slices.ContainsFunc(list, func(s shape) bool { return slices.Contains(kinds, string(s.Type)) })
	}
	switch {
	case said("output_text", "refusal"):
		f, text = Responses{}, wrapped(`{"output":[`, withMember(text, "type", []byte(`"message"`)), `]}`)
	default:
		f, text = Anthropic{}, withMember(text, "type", []byte(`"message"`))
	}
	if a, err = f.ReadAnswer(text); err != nil {
		return a, nil, fmt.Errorf("got what looks like a message of %s (%w)", f, err)
	}
	return a, f, nil
}

// readArray reads the list of what the assistant said, or an answer of Gemini that was
// streamed without events.
func readArray(text []byte) (a Answer, f Format, err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return a, nil, fmt.Errorf("got malformed JSON (%w)", err)
	}
	if len(list) == 0 {
		return a, nil, errors.New("got an empty list")
	}
	s, err := shapeOf(list[0])
	switch {
	case err != nil:
		return a, nil, fmt.Errorf("got a list with %.40q in it", list[0])
	case given(s.Candidates):
		return readChunks(list)
	case given(s.FunctionCall), s.Type == "" && s.Role == "" && isPart(list[0]):
		f, text = Gemini{}, wrapped(`{"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":`, text, `}}]}`)
	case s.Type == "function" && given(s.Function):
		f, text = Chat{}, wrapped(`{"choices":[{"message":{"tool_calls":`, text, `}}]}`)
	case responsesKind(string(s.Type)):
		f, text = Responses{}, wrapped(`{"output":`, text, `}`)
	case anthropicKind(string(s.Type)):
		f, text = Anthropic{}, wrapped(`{"type":"message","role":"assistant","content":`, text, `}`)
	default:
		return a, nil, fmt.Errorf("got a list of objects with %s", memberNames(list[0]))
	}
	if a, err = f.ReadAnswer(text); err != nil {
		return a, nil, fmt.Errorf("got what looks like a list of %s (%w)", f, err)
	}
	return a, f, nil
}

// readChunks reads an answer of Gemini that came as a list of pieces.
func readChunks(list []json.RawMessage) (Answer, Format, error) {
	var stream []byte
	for _, raw := range list {
		stream = writeEvent(stream, "", oneLine(raw))
	}
	a, err := Gemini{}.Stream(bytes.NewReader(stream), nil)
	if err != nil {
		return a, nil, fmt.Errorf("got what looks like a stream of %s (%w)", Gemini{}, err)
	}
	return a, Gemini{}, nil
}

// readEvents reads a stream. Its first event that has a known shape tells the format.
func readEvents(text []byte) (a Answer, f Format, err error) {
	seen := 0
	err = events(bytes.NewReader(text), func(name string, data []byte) error {
		seen++
		s, err := shapeOf(data)
		kind := string(s.Type)
		switch {
		case err != nil:
			return nil
		case given(s.Choices):
			f = Chat{}
		case given(s.Candidates):
			f = Gemini{}
		case strings.HasPrefix(kind, "response."):
			f = Responses{}
		case kind == "message_start", strings.HasPrefix(kind, "content_block_"), kind == "message_delta":
			f = Anthropic{}
		default:
			return nil
		}
		return io.EOF
	})
	switch {
	case err != nil && f == nil:
		return a, nil, fmt.Errorf("got events that break off (%w)", err)
	case f == nil && seen == 0:
		return a, nil, fmt.Errorf("got text that is neither JSON nor events: %.40q", text)
	case f == nil:
		return a, nil, errors.New("got events of no known shape")
	}
	if a, err = f.Stream(bytes.NewReader(text), nil); err != nil {
		return a, nil, fmt.Errorf("got a stream of %s that is not whole (%w)", f, err)
	}
	return a, f, nil
}

// anthropicKind and responsesKind tell whether a type is one of the blocks of the one,
// or of the items of the other.
func anthropicKind(kind string) bool {
	switch kind {
	case "tool_use", "text", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use":
		return true
	}
	return strings.HasSuffix(kind, "_tool_result")
}

func responsesKind(kind string) bool {
	return kind == "message" || kind == "reasoning" || strings.HasSuffix(kind, "_call") || strings.HasPrefix(kind, "mcp_list")
}

// isPart tells whether an object is a part of Gemini that is not a call.
func isPart(raw []byte) bool {
	var p struct {
		Text             json.RawMessage `json:"text"`
		ThoughtSignature json.RawMessage `json:"thoughtSignature"`
	}
	return json.Unmarshal(raw, &p) == nil && (given(p.Text) || given(p.ThoughtSignature))
}

// memberNames are the first names of an object's members, for who is to see what was
// found.
func memberNames(text []byte) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil || len(all) == 0 {
		return "no members"
	}
	names := slices.Sorted(maps.Keys(all))
	more := ""
	if len(names) > 8 {
		names, more = names[:8], " and others"
	}
	return fmt.Sprintf("%.200s%s", strings.Join(names, ", "), more)
}

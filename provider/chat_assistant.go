package provider

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// writeAssistant writes what the model said as a message, unless that is nothing.
func (f Chat) writeAssistant(w *writer, parts []Part) {
	var m writer
	if !f.assistantMembers(&m, parts, false) {
		return
	}
	w.open('{')
	w.text("role", "assistant")
	w.raw(m)
	w.close('}')
}

// assistantMembers writes content, refusal, thoughts and calls of a message, without
// the brackets around them. Thoughts go back as they came, if they came from such a
// server; in an answer they all stand. It reports whether there is anything.
func (f Chat) assistantMembers(w *writer, parts []Part, answer bool) bool {
	var text, refusal string
	var calls []json.RawMessage
	var thoughts []*Part
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case PartText:
			text += p.Text
		case PartRefusal:
			refusal += p.Text
		case PartThought:
			thoughts = append(thoughts, p)
		case PartCall:
			if p.Call != nil {
				calls = append(calls, f.writeCall(p))
			}
		case PartOwn:
			if own := p.own(f.String()); own != nil && chatRole(own) == "" {
				calls = append(calls, own)
			}
		case PartMedia, PartResult:
		}
	}
	if !answer && text == "" && refusal == "" && len(calls) == 0 {
		return false
	}
	if text == "" && (refusal != "" || len(calls) > 0) {
		w.member("content", []byte("null"))
	} else {
		w.text("content", text)
	}
	if refusal != "" {
		w.text("refusal", refusal)
	}
	f.writeThoughts(w, thoughts, answer)
	if len(calls) > 0 {
		writeList(w, "tool_calls", calls)
	}
	return true
}

// writeThoughts writes the members in which servers put thoughts, each once.
func (f Chat) writeThoughts(w *writer, thoughts []*Part, answer bool) {
	seen := map[string]bool{}
	for _, p := range thoughts {
		own := p.own(f.String())
		if own == nil {
			if answer && p.Text != "" && !seen["reasoning_content"] {
				seen["reasoning_content"] = true
				w.text("reasoning_content", p.Text)
			}
			continue
		}
		_ = eachMember(own, func(name string, v json.RawMessage) { // it is an object
			if strings.HasPrefix(name, "reasoning") && !seen[name] {
				seen[name] = true
				w.member(name, v)
			}
		})
	}
}

// writeCall writes a call. Its own form is taken if it is still the same call: an id
// may have been changed since, or the input by a hook.
func (f Chat) writeCall(p *Part) json.RawMessage {
	if own := p.own(f.String()); own != nil {
		var was chatCall
		if json.Unmarshal(own, &was) == nil && was.call().ID == p.Call.ID && was.call().Name == p.Call.Name &&
			sameInput(was.call().Input, p.Call.Input) {
			return own
		}
	}
	var w writer
	w.open('{')
	w.text("id", p.Call.ID)
	w.text("type", "function")
	writeChatFunction(&w, p.Call)
	w.close('}')
	return json.RawMessage(w)
}

func writeChatFunction(w *writer, c *tool.Call) {
	w.name("function")
	w.open('{')
	w.text("name", c.Name)
	w.text("arguments", argumentsOf(c.Input))
	w.close('}')
}

// chatMessage is a message of a request or an answer, or what has come of one.
type chatMessage struct {
	Role             string            `json:"role"`
	Content          chatContent       `json:"content"`
	Refusal          loose             `json:"refusal"`
	ReasoningContent loose             `json:"reasoning_content"`
	Reasoning        loose             `json:"reasoning"`
	Details          json.RawMessage   `json:"reasoning_details"`
	ToolCalls        []json.RawMessage `json:"tool_calls"`
	FunctionCall     *chatFunction     `json:"function_call"` // before there were tools
	ToolCallID       loose             `json:"tool_call_id"`
}

// chatCall is a call, or what has come of one.
type chatCall struct {
	Index    *int         `json:"index"`
	ID       loose        `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
	// Extra is where Gemini puts the signature of a call, without which it does not
	// take the call back.
	Extra json.RawMessage `json:"extra_content"`
}

type chatFunction struct {
	Name      loose `json:"name"`
	Arguments loose `json:"arguments"`
}

func (c *chatCall) call() tool.Call {
	return tool.Call{ID: string(c.ID), Name: string(c.Function.Name), Input: inputOf(string(c.Function.Arguments))}
}

// chatContent is text, or pieces of content.
type chatContent struct {
	text   string
	pieces []json.RawMessage
}

// UnmarshalJSON reads both, null as nothing, and one piece as a list of it.
func (c *chatContent) UnmarshalJSON(text []byte) error {
	switch {
	case len(text) > 0 && text[0] == '[':
		return json.Unmarshal(text, &c.pieces)
	case len(text) > 0 && text[0] == '{':
		c.pieces = []json.RawMessage{bytes.Clone(text)}
		return nil
	}
	var s loose
	err := s.UnmarshalJSON(text)
	c.text = string(s)
	return err
}

// said is the text of content, and the thoughts that Mistral puts among it.
func (c *chatContent) said() (text, thought string) {
	if len(c.pieces) == 0 {
		return c.text, ""
	}
	var texts, thoughts strings.Builder
	for _, raw := range c.pieces {
		var piece struct {
			Type     string      `json:"type"`
			Text     loose       `json:"text"`
			Refusal  loose       `json:"refusal"`
			Thinking chatContent `json:"thinking"`
		}
		if json.Unmarshal(raw, &piece) != nil {
			continue
		}
		inner, _ := piece.Thinking.said()
		texts.WriteString(string(piece.Text))
		thoughts.WriteString(inner)
	}
	return texts.String(), thoughts.String()
}

// parts are a message of the assistant. Of a message that was cut short, only calls
// count that cannot be half ones.
func (m *chatMessage) parts(whole bool) ([]Part, error) {
	text, thought := m.Content.said()
	var d chatDetails
	d.add(m)
	parts := d.parts(thought)
	if text != "" {
		parts = append(parts, Text(text))
	}
	if m.Refusal != "" {
		parts = append(parts, Part{Kind: PartRefusal, Text: string(m.Refusal)})
	}
	for _, raw := range m.ToolCalls {
		p, err := chatCallPart(raw)
		if err != nil {
			return parts, err
		}
		if p.Kind == PartCall && !whole && !closed(string(p.Call.Input)) {
			continue
		}
		parts = append(parts, p)
	}
	if f := m.FunctionCall; f != nil && f.Name != "" && (whole || closed(string(f.Arguments))) {
		c := (&chatCall{Function: *f}).call()
		parts = append(parts, Part{Kind: PartCall, Call: &c})
	}
	return parts, nil
}

// chatCallPart is a call of a message that is whole.
func chatCallPart(raw json.RawMessage) (Part, error) {
	var c chatCall
	if err := json.Unmarshal(raw, &c); err != nil {
		return Part{}, err
	}
	if c.Type != "" && c.Type != "function" {
		return Part{Kind: PartOwn, Own: raw, Of: Chat{}.String()}, nil
	}
	call := c.call()
	p := Part{Kind: PartCall, Call: &call}
	if beyond(raw, "id", "type", "index", "function") {
		p.Own, p.Of = raw, Chat{}.String()
	}
	return p, nil
}

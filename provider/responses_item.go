package provider

import (
	"encoding/json"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// responsesItem is an item of a conversation. Which fields count depends on its type.
type responsesItem struct {
	Type      string          `json:"type"`
	ID        loose           `json:"id"`
	Status    loose           `json:"status"`
	Role      string          `json:"role"`    // of a message
	Content   chatContent     `json:"content"` // of a message; of reasoning, what was thought
	CallID    loose           `json:"call_id"`
	Name      loose           `json:"name"`
	Arguments loose           `json:"arguments"`
	Output    chatContent     `json:"output"`
	Summary   []responsesText `json:"summary"`
	Encrypted loose           `json:"encrypted_content"`
	raw       json.RawMessage
}

// responsesText is a piece of content that is text.
type responsesText struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Refusal     string          `json:"refusal"`
	Annotations json.RawMessage `json:"annotations"`
	Logprobs    json.RawMessage `json:"logprobs"`
}

// readItem reads an item. One whose members are of other kinds than those of the same
// name that we know is one that we do not know.
func readItem(raw json.RawMessage) (responsesItem, error) {
	var it responsesItem
	err := json.Unmarshal(raw, &it)
	if misfit(err) {
		if it.Type == "" || it.Type == "message" || it.Type == "function_call" || it.Type == "function_call_output" {
			return it, err
		}
		it, err = responsesItem{Type: it.Type, ID: it.ID}, nil
	}
	if it.Type == "" && it.Role != "" {
		it.Type = "message" // the only type that may be left out
	}
	it.raw = raw
	return it, err
}

// call is the call of an item.
func (it *responsesItem) call() tool.Call {
	return tool.Call{ID: string(it.CallID), Name: string(it.Name), Input: inputOf(string(it.Arguments))}
}

// thought is what the model thought: the summary, then all of it where that is shown.
func (it *responsesItem) thought() string {
	var texts []string
	for _, s := range it.Summary {
		texts = append(texts, s.Text)
	}
	for _, raw := range it.Content.pieces {
		var t responsesText
		if json.Unmarshal(raw, &t) == nil && t.Text != "" {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// said is the text and the refusal of a message, and whether it says more than that.
func (it *responsesItem) said() (texts []responsesText, more bool) {
	if it.Content.text != "" {
		texts = append(texts, responsesText{Text: it.Content.text})
	}
	for _, raw := range it.Content.pieces {
		var t responsesText
		if json.Unmarshal(raw, &t) != nil {
			more = true
			continue
		}
		more = more || beyond(raw, "type", "text", "refusal")
		if t.Text != "" || t.Refusal != "" {
			texts = append(texts, t)
		}
	}
	return texts, more
}

// parts are an item of the assistant. Its own form is kept where it says more than we
// can hold, and behind a thought: the provider wants the id of what it thought about.
func (it *responsesItem) parts(behindThought bool) []Part {
	own := func(p Part) Part {
		p.Own, p.Of = it.raw, Responses{}.String()
		return p
	}
	behindThought = behindThought && it.ID != ""
	switch it.Type {
	case "reasoning":
		return []Part{own(Part{Kind: PartThought, Text: it.thought()})}
	case "function_call":
		c := it.call()
		p := Part{Kind: PartCall, Call: &c}
		if behindThought || beyond(it.raw, "type", "id", "status", "call_id", "name", "arguments") {
			p = own(p)
		}
		return []Part{p}
	case "message":
	default:
		return []Part{own(Part{Kind: PartOwn})}
	}
	texts, more := it.said()
	more = more || behindThought || beyond(it.raw, "type", "id", "status", "role", "content")
	var parts []Part
	for len(texts) > 0 { // those of one kind that follow each other are one
		refuses := texts[0].Refusal != ""
		var text strings.Builder
		for len(texts) > 0 && (texts[0].Refusal != "") == refuses {
			if refuses {
				text.WriteString(texts[0].Refusal)
			} else {
				text.WriteString(texts[0].Text)
			}
			texts = texts[1:]
		}
		p := Text(text.String())
		if refuses {
			p.Kind = PartRefusal
		}
		parts = append(parts, p)
	}
	if len(parts) == 1 && more { // one that both speaks and refuses has no one part to keep it
		parts[0] = own(parts[0])
	}
	return parts
}

// holds tells whether the item is still what a part says: an id may have been changed
// since, or the input by a hook.
func (it *responsesItem) holds(p *Part) bool {
	now := it.parts(false)
	if len(now) != 1 || now[0].Kind != p.Kind {
		return false
	}
	if p.Kind != PartCall {
		return now[0].Text == p.Text
	}
	was := now[0].Call
	return was.ID == p.Call.ID && was.Name == p.Call.Name && sameInput(was.Input, p.Call.Input)
}

// responsesPart is a part of what the assistant said as an item, or nil. The id and
// the status are those of an answer; in a request there are none.
func (f Responses) responsesPart(p *Part, id string) json.RawMessage {
	var w writer
	w.open('{')
	answer := func(prefix string) {
		if id != "" {
			w.text("id", prefix+id)
			w.text("status", "completed")
		}
	}
	switch p.Kind {
	case PartText, PartRefusal:
		if p.Text == "" {
			return nil
		}
		w.text("type", "message")
		answer("msg_")
		w.text("role", "assistant")
		if id == "" && p.Kind == PartText {
			w.text("content", p.Text)
			break
		}
		w.name("content")
		w.open('[')
		w.raw(outputText(p.Kind, p.Text))
		w.close(']')
	case PartCall:
		if p.Call == nil {
			return nil
		}
		w.text("type", "function_call")
		answer("fc_")
		w.text("call_id", p.Call.ID)
		w.text("name", p.Call.Name)
		w.text("arguments", argumentsOf(p.Call.Input))
	case PartThought:
		if id == "" {
			return nil // only what the provider signed goes back
		}
		w.text("type", "reasoning")
		w.text("id", "rs_"+id)
		w.member("summary", []byte(`[{"type":"summary_text","text":`+string(quoted(p.Text))+`}]`))
	case PartMedia, PartResult, PartOwn:
		return nil
	}
	w.close('}')
	return json.RawMessage(w)
}

// outputText is what the assistant said as a piece of content.
func outputText(kind PartKind, text string) json.RawMessage {
	var w writer
	w.open('{')
	if kind == PartRefusal {
		w.text("type", "refusal")
		w.text("refusal", text)
	} else {
		w.text("type", "output_text")
		w.text("text", text)
		w.member("annotations", []byte("[]"))
	}
	w.close('}')
	return json.RawMessage(w)
}

package provider

import (
	"encoding/json"

	"github.com/ferrule-dev/ferrule/tool"
)

// anthropicOpen is a block that has begun.
type anthropicOpen struct {
	anthropicBlock
	raw       json.RawMessage // as it began
	text      []byte          // of a text, a thought, or the input of a call
	signature []byte
	citations []json.RawMessage
	content   []byte // of a block that is only kept
	stopped   bool
	made      *Part // the block as a part, once it was told
	told      bool  // of a call
	dropped   bool  // of a call that was cut off
}

// call is the call of a block. Its input is what came behind its beginning; a block
// whose input is known from the beginning has it there.
func (b *anthropicOpen) call() tool.Call {
	c := tool.Call{ID: b.ID, Name: b.Name, Input: json.RawMessage(b.text)}
	if len(c.Input) == 0 {
		c.Input = b.Input
	}
	if len(c.Input) == 0 {
		c.Input = json.RawMessage("{}")
	}
	return c
}

// part is the block as a part.
func (b *anthropicOpen) part(whole bool) (Part, bool) {
	whole = whole || b.stopped
	switch b.Type {
	case "text":
		if b.raw = b.textBlock(); b.raw == nil {
			return Text(string(b.text)), len(b.text) > 0
		}
		b.Citations = json.RawMessage("[0]") // there are some
	case "thinking":
		b.Signature += string(b.signature)
		if !whole || b.Signature == "" {
			return Part{Kind: PartThought, Text: string(b.text)}, len(b.text) > 0
		}
		var w writer
		w.open('{')
		w.text("type", "thinking")
		w.text("thinking", string(b.text))
		w.text("signature", b.Signature)
		w.close('}')
		return Part{Kind: PartThought, Text: string(b.text), Own: json.RawMessage(w), Of: "anthropic"}, true
	case "tool_use":
		c := b.call()
		p := Part{Kind: PartCall, Call: &c}
		if b.Caller != nil && b.Caller.Type != "direct" {
			p.Own, p.Of = withMember(b.raw, "input", inputObject(c.Input)), "anthropic"
		}
		return p, true
	default:
		if !whole {
			return Part{}, false
		}
		if len(b.text) > 0 {
			b.raw = withMember(b.raw, "input", inputObject(b.text))
		}
		if len(b.content) > 0 {
			b.raw = withMember(b.raw, "content", b.content)
		}
		return b.anthropicBlock.part(b.raw), true
	}
	b.Text = string(b.text)
	return b.anthropicBlock.part(b.raw), true
}

// textBlock is a text with what it cites as a block, or nil where it cites nothing.
func (b *anthropicOpen) textBlock() json.RawMessage {
	if len(b.citations) == 0 {
		if empty(b.Citations) {
			return nil
		}
		if string(b.text) == b.Text {
			return b.raw
		}
	}
	var w writer
	w.open('{')
	w.text("type", "text")
	w.text("text", string(b.text))
	w.name("citations")
	w.open('[')
	var first []json.RawMessage
	_ = json.Unmarshal(b.Citations, &first) // where there are some, an array
	for _, c := range append(first, b.citations...) {
		w.raw(c)
	}
	w.close(']')
	w.close('}')
	return json.RawMessage(w)
}

package provider

import "encoding/json"

// chatDetails gathers the thoughts of a message. There are three members for them,
// and a server that has one wants the same one back: reasoning_content (DeepSeek,
// z.ai, xAI), reasoning (vLLM, Groq) and reasoning_details (OpenRouter and others, with
// signatures, and beside it the text in one of the other two).
type chatDetails struct {
	content, reasoning []byte
	details            []chatDetail
}

// chatDetail is one entry of reasoning_details: as it came, or text that has come in
// several pieces.
type chatDetail struct {
	raw  json.RawMessage
	head chatDetailHead
	text []byte
	more bool // raw is not all of it
}

// chatDetailHead is what counts of an entry when pieces are put together.
type chatDetailHead struct {
	Type      string `json:"type"`
	Index     *int   `json:"index"`
	Text      loose  `json:"text"`
	Summary   loose  `json:"summary"`
	Signature loose  `json:"signature"`
	ID        loose  `json:"id"`
	Format    loose  `json:"format"`
}

// add takes what a message, or a piece of one, has, and tells the text of it.
func (d *chatDetails) add(m *chatMessage) (told string) {
	d.content = append(d.content, m.ReasoningContent...)
	d.reasoning = append(d.reasoning, m.Reasoning...)
	told = string(m.ReasoningContent)
	if told == "" {
		told = string(m.Reasoning)
	}
	var entries []json.RawMessage
	if given(m.Details) {
		_ = json.Unmarshal(m.Details, &entries) // what is no list has no entries
	}
	for _, raw := range entries {
		var head chatDetailHead
		if json.Unmarshal(raw, &head) != nil {
			continue
		}
		text := string(head.Text + head.Summary)
		if m.ReasoningContent == "" && m.Reasoning == "" {
			told += text
		}
		if n := len(d.details); n > 0 && d.details[n-1].takes(&head) {
			last := &d.details[n-1]
			last.more = true
			last.text = append(last.text, text...)
			if head.Signature != "" {
				last.head.Signature = head.Signature
			}
			continue
		}
		d.details = append(d.details, chatDetail{raw: raw, head: head, text: []byte(text)})
	}
	return told
}

// takes tells whether an entry goes on in another one.
func (d *chatDetail) takes(next *chatDetailHead) bool {
	h := &d.head
	return h.Type == next.Type && (h.Type == "reasoning.text" || h.Type == "reasoning.summary") &&
		h.Index != nil && next.Index != nil && *h.Index == *next.Index && h.Signature == ""
}

// json is the entry as it would have come in one piece.
func (d *chatDetail) json() json.RawMessage {
	if !d.more {
		return d.raw
	}
	var w writer
	w.open('{')
	w.text("type", d.head.Type)
	if d.head.Type == "reasoning.summary" {
		w.text("summary", string(d.text))
	} else {
		w.text("text", string(d.text))
	}
	for _, m := range []struct {
		name  string
		value loose
	}{{"signature", d.head.Signature}, {"id", d.head.ID}, {"format", d.head.Format}} {
		if m.value != "" {
			w.text(m.name, string(m.value))
		}
	}
	w.number("index", *d.head.Index)
	w.close('}')
	return json.RawMessage(w)
}

// parts are the thought, if there is one, with what goes back to the server. What
// stood among the content has no such form.
func (d *chatDetails) parts(among string) []Part {
	p := Part{Kind: PartThought, Text: among}
	var w writer
	w.open('{')
	if len(d.content) > 0 {
		p.Text += string(d.content)
		w.text("reasoning_content", string(d.content))
	}
	if len(d.reasoning) > 0 {
		if len(d.content) == 0 {
			p.Text += string(d.reasoning)
		}
		if len(d.details) == 0 { // which hold the same and more
			w.text("reasoning", string(d.reasoning))
		}
	}
	if len(d.details) > 0 {
		entries := make([]json.RawMessage, len(d.details))
		for i := range d.details {
			entries[i] = d.details[i].json()
			if len(d.content) == 0 && len(d.reasoning) == 0 {
				p.Text += string(d.details[i].text)
			}
		}
		writeList(&w, "reasoning_details", entries)
	}
	w.close('}')
	if len(w) > len("{}") {
		p.Own, p.Of = json.RawMessage(w), Chat{}.String()
	} else if p.Text == "" {
		return nil
	}
	return []Part{p}
}

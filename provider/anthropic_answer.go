package provider

import "encoding/json"

// WriteAnswer writes the answer of POST /v1/messages.
func (f Anthropic) WriteAnswer(a Answer) ([]byte, error) {
	var w writer
	said, why := refusalApart(a)
	writeAnthropicHead(&w, a)
	w.name("content")
	w.open('[')
	for i := range said {
		if block := f.answerBlock(&said[i]); block != nil {
			w.raw(block)
		}
	}
	w.close(']')
	writeAnthropicStop(&w, a.Stop, why)
	writeAnthropicUsage(&w, a.Usage)
	w.close('}')
	return w, nil
}

// refusalApart takes a refusal from the end of an answer that was refused: it is no
// content there, but an explanation.
func refusalApart(a Answer) (said []Part, why string) {
	if n := len(a.Parts); a.Stop == StopRefusal && n > 0 && a.Parts[n-1].Kind == PartRefusal {
		return a.Parts[:n-1], a.Parts[n-1].Text
	}
	return a.Parts, ""
}

// answerBlock is a part of an answer as a block, or nil. Unlike in a request, nothing
// is left out that the model said.
func (f Anthropic) answerBlock(p *Part) json.RawMessage {
	own := p.own("anthropic")
	var w writer
	switch {
	case own != nil:
		return own
	case p.Kind == PartText, p.Kind == PartRefusal:
		w.block(p.Text, false)
	case p.Kind == PartThought:
		w.open('{')
		w.text("type", "thinking")
		w.text("thinking", p.Text)
		w.text("signature", "")
		w.close('}')
	case p.Kind == PartCall && p.Call != nil:
		anthropicCall(&w, p.Call, inputObject(p.Call.Input))
	default:
		blocks := f.appendBlocks(nil, Assistant, p)
		if len(blocks) == 0 {
			return nil
		}
		return blocks[0]
	}
	return json.RawMessage(w)
}

// writeAnthropicHead begins a message.
func writeAnthropicHead(w *writer, a Answer) {
	w.open('{')
	w.text("id", a.ID)
	w.text("type", "message")
	w.text("role", "assistant")
	w.text("model", a.Model)
}

// writeAnthropicStop writes why the answer ended.
func writeAnthropicStop(w *writer, s Stop, why string) {
	reason := ""
	switch s {
	case StopEnd:
		reason = "end_turn"
	case StopCalls:
		reason = "tool_use"
	case StopLength:
		reason = "max_tokens"
	case StopRefusal:
		reason = "refusal"
	case StopPause:
		reason = "pause_turn"
	case StopOther:
		reason = "other"
	}
	if reason == "" {
		w.member("stop_reason", []byte("null"))
	} else {
		w.text("stop_reason", reason)
	}
	w.member("stop_sequence", []byte("null"))
	if why != "" {
		w.name("stop_details")
		w.open('{')
		w.text("type", "refusal")
		w.text("explanation", why)
		w.close('}')
	}
}

// writeAnthropicUsage writes the tokens, those of the cache apart.
func writeAnthropicUsage(w *writer, u Usage) {
	w.name("usage")
	w.open('{')
	w.number("input_tokens", u.Input-u.CacheRead-u.CacheWrite)
	w.number("cache_creation_input_tokens", u.CacheWrite)
	w.number("cache_read_input_tokens", u.CacheRead)
	w.number("output_tokens", u.Output)
	if u.Thought != 0 {
		w.name("output_tokens_details")
		w.open('{')
		w.number("thinking_tokens", u.Thought)
		w.close('}')
	}
	w.close('}')
}

// WriteStream writes the answer as the events of POST /v1/messages.
func (f Anthropic) WriteStream(a Answer) ([]byte, error) {
	var out []byte
	event := func(kind string, write func(w *writer)) {
		var w writer
		w.open('{')
		w.text("type", kind)
		write(&w)
		w.close('}')
		out = writeEvent(out, kind, w)
	}
	event("message_start", func(w *writer) {
		w.name("message")
		writeAnthropicHead(w, a)
		w.member("content", []byte("[]"))
		writeAnthropicStop(w, "", "")
		writeAnthropicUsage(w, Usage{Input: a.Usage.Input, CacheRead: a.Usage.CacheRead, CacheWrite: a.Usage.CacheWrite})
		w.close('}')
	})
	said, why := refusalApart(a)
	n := 0
	for i := range said {
		begin, deltas := f.streamBlock(&said[i])
		if begin == nil {
			continue
		}
		event("content_block_start", func(w *writer) {
			w.number("index", n)
			w.member("content_block", oneLine(begin))
		})
		for _, d := range deltas {
			event("content_block_delta", func(w *writer) {
				w.number("index", n)
				w.member("delta", d)
			})
		}
		event("content_block_stop", func(w *writer) { w.number("index", n) })
		n++
	}
	event("message_delta", func(w *writer) {
		w.name("delta")
		w.open('{')
		writeAnthropicStop(w, a.Stop, why)
		w.close('}')
		writeAnthropicUsage(w, a.Usage)
	})
	event("message_stop", func(*writer) {})
	return out, nil
}

// streamBlock is a part as the beginning of a block and what is added to it. What is
// the provider's own comes at once.
func (f Anthropic) streamBlock(p *Part) (begin json.RawMessage, deltas []json.RawMessage) {
	add := func(kind, name, text string) {
		for _, piece := range pieces(text) {
			var w writer
			w.open('{')
			w.text("type", kind)
			w.text(name, piece)
			w.close('}')
			deltas = append(deltas, json.RawMessage(w))
		}
	}
	own := p.own("anthropic")
	switch {
	case own != nil && p.Kind == PartThought:
		b := anthropicBlockOf(own)
		if b.Type != "thinking" || b.Thinking != p.Text {
			return own, nil
		}
		add("thinking_delta", "thinking", p.Text)
		deltas = append(deltas, json.RawMessage(`{"type":"signature_delta","signature":`+string(quoted(b.Signature))+`}`))
		return json.RawMessage(`{"type":"thinking","thinking":"","signature":""}`), deltas
	case own != nil:
		return own, nil
	case p.Kind == PartText, p.Kind == PartRefusal:
		add("text_delta", "text", p.Text)
		return json.RawMessage(`{"type":"text","text":""}`), deltas
	case p.Kind == PartThought:
		add("thinking_delta", "thinking", p.Text)
		return json.RawMessage(`{"type":"thinking","thinking":"","signature":""}`), deltas
	case p.Kind == PartCall && p.Call != nil:
		var w writer
		anthropicCall(&w, p.Call, []byte("{}"))
		if len(p.Call.Input) > 0 { // as the model wrote it, JSON or not
			add("input_json_delta", "partial_json", string(p.Call.Input))
		}
		return json.RawMessage(w), deltas
	}
	return f.answerBlock(p), nil
}

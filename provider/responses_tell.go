package provider

import "encoding/json"

// WriteStream writes an answer as /responses streams it.
func (f Responses) WriteStream(a Answer) ([]byte, error) {
	items := f.items(a)
	s := responsesTeller{}
	begun := a
	begun.Parts, begun.Usage, begun.Stop = nil, Usage{}, ""
	s.event("response.created", func(w *writer) {
		w.member("response", withMember(f.writeAnswer(begun, nil), "status", []byte(`"in_progress"`)))
	})
	for i, raw := range items {
		it, err := readItem(raw)
		if err != nil {
			return nil, err
		}
		s.item(i, &it)
	}
	name := "response.completed"
	if status, _ := responsesStatus(a); status != "completed" {
		name = "response.incomplete"
	}
	s.event(name, func(w *writer) { w.member("response", f.writeAnswer(a, items)) })
	return s.out, nil
}

// responsesTeller writes events, numbered.
type responsesTeller struct {
	out []byte
	n   int
}

func (s *responsesTeller) event(name string, members func(w *writer)) {
	var w writer
	w.open('{')
	w.text("type", name)
	w.number("sequence_number", s.n)
	members(&w)
	w.close('}')
	s.out = writeEvent(s.out, name, oneLine(json.RawMessage(w)))
	s.n++
}

// item tells an item: that it begins, what it says piece by piece, and all of it.
func (s *responsesTeller) item(index int, it *responsesItem) {
	begin, empty := it.raw, []byte("[]")
	place := func(w *writer) {
		w.text("item_id", string(it.ID))
		w.number("output_index", index)
	}
	deltas := func(name, member, text string, more func(w *writer)) {
		if text == "" {
			return
		}
		for _, piece := range pieces(text) {
			s.event(name+".delta", func(w *writer) { place(w); more(w); w.text("delta", piece) })
		}
		s.event(name+".done", func(w *writer) { place(w); more(w); w.text(member, text) })
	}
	nothing := func(*writer) {}
	switch it.Type {
	case "message":
		begin = withMember(it.raw, "content", empty)
	case "function_call":
		begin = withMember(it.raw, "arguments", []byte(`""`))
	case "reasoning":
		begin = withMember(withMember(it.raw, "summary", empty), "encrypted_content", nil)
	}
	if it.Status != "" {
		begin = withMember(begin, "status", []byte(`"in_progress"`))
	}
	s.event("response.output_item.added", func(w *writer) { w.number("output_index", index); w.member("item", begin) })
	switch it.Type {
	case "message":
		for i, raw := range it.Content.pieces {
			var t responsesText
			if json.Unmarshal(raw, &t) != nil {
				continue
			}
			at := func(w *writer) { w.number("content_index", i) }
			s.event("response.content_part.added", func(w *writer) {
				place(w)
				at(w)
				w.member("part", withMember(withMember(raw, "text", []byte(`""`)), "annotations", empty))
			})
			deltas("response.output_text", "text", t.Text, at)
			deltas("response.refusal", "refusal", t.Refusal, at)
			s.event("response.content_part.done", func(w *writer) { place(w); at(w); w.member("part", raw) })
		}
	case "function_call":
		deltas("response.function_call_arguments", "arguments", string(it.Arguments), nothing)
	case "reasoning":
		for i, t := range it.Summary {
			deltas("response.reasoning_summary_text", "text", t.Text, func(w *writer) { w.number("summary_index", i) })
		}
		for i, raw := range it.Content.pieces {
			var t responsesText
			if json.Unmarshal(raw, &t) == nil {
				deltas("response.reasoning_text", "text", t.Text, func(w *writer) { w.number("content_index", i) })
			}
		}
	}
	s.event("response.output_item.done", func(w *writer) { w.number("output_index", index); w.member("item", it.raw) })
}

package provider

import (
	"encoding/json"
	"io"
	"slices"
)

// end is the last event. The answer in it has what was not streamed.
func (s *responsesStream) end(e *responsesEvent) error {
	if e.Response == nil {
		e.Response = &responsesAnswer{}
	}
	s.head = *e.Response
	if err := s.head.error(); err != nil {
		return err
	}
	if e.Type == "response.failed" || e.Type == "response.cancelled" {
		return &Error{Code: e.Type, Text: "the provider gave no reason"}
	}
	calls := make(map[responsesCall]*responsesOpen, len(s.all))
	for _, o := range s.all {
		calls[o.item.key()] = o
	}
	for i, raw := range s.head.Output {
		if err := s.late(i, raw, calls); err != nil {
			return err
		}
	}
	_, whole := s.head.stop()
	whole = whole && e.Type != "response.incomplete"
	for _, o := range s.all {
		if !o.done && o.call == nil { // its deltas are all that there is
			o.item.Arguments = loose(o.arguments)
		}
		if o.item.Type == "function_call" && (o.done || whole) && o.item.whole(whole) {
			o.complete()
		}
	}
	s.release(true)
	s.ended = true
	return io.EOF
}

// responsesCall is what tells items apart that belong to calls.
type responsesCall struct{ kind, id string }

func (it *responsesItem) key() responsesCall { return responsesCall{it.Type, string(it.CallID)} }

// late takes an item of the last event, unless it has been streamed: then it is among
// the calls, or has its index or id.
func (s *responsesStream) late(index int, raw json.RawMessage, calls map[responsesCall]*responsesOpen) error {
	it, err := readItem(slices.Clone(raw))
	if err != nil {
		return err
	}
	o := s.find(index, string(it.ID))
	if o == nil || o.item.Type != it.Type {
		o = nil
		if it.CallID != "" {
			o = calls[it.key()]
		}
	}
	if o == nil {
		o = &responsesOpen{item: it, at: -1}
		s.all = append(s.all, o)
		calls[it.key()] = o
	}
	if !o.done {
		s.take(o, it)
	}
	return nil
}

// answer is what was whole.
func (s *responsesStream) answer(whole bool) Answer {
	a := Answer{ID: string(s.head.ID), Model: string(s.head.Model)}
	if s.head.Usage != nil {
		a.Usage = s.head.Usage.usage()
	}
	thought := false
	for _, o := range s.all {
		a.Parts = append(a.Parts, o.parts(thought, whole)...)
		thought = thought || o.done && o.item.Type == "reasoning"
	}
	if whole {
		stop, _ := s.head.stop()
		a.Stop = settle(stop, a.Parts)
	}
	return a
}

// parts are an item, or what has come of it. A call is one only if it was told.
func (o *responsesOpen) parts(behindThought, whole bool) []Part {
	switch {
	case o.item.Type == "function_call":
		if !o.told {
			return nil
		}
		if o.done {
			return o.item.parts(behindThought)
		}
		return []Part{{Kind: PartCall, Call: o.call}}
	case o.done:
		return o.item.parts(behindThought)
	}
	var parts []Part
	for _, p := range []Part{
		{Kind: PartThought, Text: string(o.thought)},
		{Kind: PartText, Text: string(o.text)},
		{Kind: PartRefusal, Text: string(o.refusal)},
	} {
		if p.Text != "" {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 && whole && o.item.Type != "message" && o.item.Type != "reasoning" {
		return o.item.parts(behindThought) // one of which the server says no more
	}
	return parts
}

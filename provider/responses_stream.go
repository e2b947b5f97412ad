package provider

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// Stream reads an answer of /responses while it comes.
func (f Responses) Stream(in io.Reader, told func(Delta)) (Answer, error) {
	return streamed(in, f, told, func(body *bufio.Reader, told func(Delta)) (Answer, error) {
		s := responsesStream{told: told, index: map[int]*responsesOpen{}, ids: map[string]*responsesOpen{}}
		err := events(body, s.event)
		if err == nil && !s.ended {
			err = io.ErrUnexpectedEOF
		}
		return s.answer(err == nil), err
	})
}

// responsesStream is what has come of an answer.
type responsesStream struct {
	told  func(Delta)
	head  responsesAnswer
	all   []*responsesOpen
	next  int // what stands before it is told
	index map[int]*responsesOpen
	ids   map[string]*responsesOpen
	ended bool
	// A thought is among what is told.
	thought bool
}

// responsesOpen is an item as far as it has come.
type responsesOpen struct {
	item responsesItem
	// What has come piece by piece; at counts the pieces of a thought.
	text, refusal, thought, arguments []byte
	at                                int
	begun                             bool       // told that a call has begun
	call                              *tool.Call // that is complete, if the item is; others may have to be told first
	told                              bool
	done                              bool // item is all of it
}

// responsesEvent is an event. Which fields count depends on its type.
type responsesEvent struct {
	Type      string           `json:"type"`
	Index     int              `json:"output_index"`
	ItemID    loose            `json:"item_id"`
	Part      int              `json:"summary_index"`
	Content   int              `json:"content_index"`
	Delta     loose            `json:"delta"`
	Arguments loose            `json:"arguments"`
	Item      json.RawMessage  `json:"item"`
	Response  *responsesAnswer `json:"response"`
}

// event reads one event. Those that are not known are passed over, and so are those
// that say again what deltas have said.
func (s *responsesStream) event(name string, data []byte) error {
	if string(data) == "[DONE]" {
		return nil
	}
	var e responsesEvent
	err := json.Unmarshal(data, &e)
	if e.Type == "" {
		e.Type = name
	}
	if err != nil && (!misfit(err) || responsesKnown(e.Type)) {
		return fmt.Errorf("event %q: %.80q: %w", e.Type, data, err)
	}
	err = nil
	switch e.Type {
	case "error":
		return ReadError(0, nil, data)
	case "response.output_item.added":
		_, err = s.begin(&e)
	case "response.output_item.done":
		err = s.done(&e)
	case "response.function_call_arguments.done":
		s.arguments(&e)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		err = s.end(&e)
	default:
		if e.Response != nil {
			s.head = *e.Response
		}
		s.delta(&e)
	}
	if err != nil && !s.ended {
		if _, said := err.(*Error); !said { //nolint:errorlint // what a response says comes as it is
			return fmt.Errorf("event %q: %w", e.Type, err)
		}
	}
	return err
}

// responsesKnown tells whether the members of an event must be what we expect.
func responsesKnown(kind string) bool {
	switch kind {
	case "response.output_item.added", "response.output_item.done", "response.completed", "response.incomplete", "response.failed",
		"response.output_text.delta", "response.function_call_arguments.delta", "response.function_call_arguments.done":
		return true
	}
	return false
}

// find is the item of an event. It has an index and an id: there are servers whose
// index is always 0, and some whose ids change from event to event.
func (s *responsesStream) find(index int, id string) *responsesOpen {
	o := s.index[index]
	if id != "" && (o == nil || string(o.item.ID) != id) {
		if named := s.ids[id]; named != nil {
			return named
		}
	}
	return o
}

// begin begins an item.
func (s *responsesStream) begin(e *responsesEvent) (*responsesOpen, error) {
	it, err := readItem(slices.Clone(e.Item))
	if err != nil {
		return nil, err
	}
	o := &responsesOpen{item: it, at: -1}
	s.all = append(s.all, o)
	s.index[e.Index] = o
	if it.ID != "" {
		s.ids[string(it.ID)] = o
	}
	return o, nil
}

// delta takes a piece of an item.
func (s *responsesStream) delta(e *responsesEvent) {
	text := string(e.Delta)
	o := s.find(e.Index, string(e.ItemID))
	if text == "" || o == nil || o.done {
		return
	}
	switch e.Type {
	case "response.output_text.delta":
		o.text = append(o.text, text...)
		tellText(s.told, DeltaText, text)
	case "response.refusal.delta":
		o.refusal = append(o.refusal, text...)
		tellText(s.told, DeltaRefusal, text)
	case "response.reasoning_summary_text.delta":
		s.think(o, e.Part, text)
	case "response.reasoning_text.delta":
		s.think(o, e.Content+1<<20, text) // behind the summary
	case "response.function_call_arguments.delta":
		o.arguments = append(o.arguments, text...)
		s.tellBegun(o)
	}
}

// think takes a piece of a thought, whose parts stand apart.
func (s *responsesStream) think(o *responsesOpen, part int, text string) {
	if o.at >= 0 && o.at != part {
		text = "\n\n" + text
	}
	o.at = part
	o.thought = append(o.thought, text...)
	tellText(s.told, DeltaThought, text)
}

// arguments are all arguments of a call. Those of a call that was cut short come in the
// same way, and what is the provider's own comes with the item, so that it is not told
// yet.
func (s *responsesStream) arguments(e *responsesEvent) {
	o := s.find(e.Index, string(e.ItemID))
	if o == nil || o.done || o.item.Type != "function_call" || o.item.Name == "" || o.item.CallID == "" {
		return
	}
	o.arguments, o.item.Arguments = []byte(e.Arguments), e.Arguments
	if e.Arguments != "" {
		s.tellBegun(o)
	}
	if closed(string(e.Arguments)) {
		o.complete()
	}
}

// done is an item with all that it has.
func (s *responsesStream) done(e *responsesEvent) error {
	it, err := readItem(slices.Clone(e.Item))
	if err != nil {
		return err
	}
	o := s.find(e.Index, string(it.ID))
	if o == nil || o.done || o.item.Type != it.Type {
		if o, err = s.begin(e); err != nil {
			return err
		}
	}
	s.take(o, it)
	return nil
}

// take takes an item that is all there, and tells what has not been told of it.
func (s *responsesStream) take(o *responsesOpen, it responsesItem) {
	o.item, o.done = it, true
	switch it.Type {
	case "message":
		var text, refusal strings.Builder
		texts, _ := it.said()
		for _, t := range texts {
			text.WriteString(t.Text)
			refusal.WriteString(t.Refusal)
		}
		s.rest(DeltaText, text.String(), o.text)
		s.rest(DeltaRefusal, refusal.String(), o.refusal)
	case "reasoning":
		s.rest(DeltaThought, it.thought(), o.thought)
	case "function_call":
		o.call = nil
		if it.whole(false) {
			o.complete()
		}
	}
	s.release(false)
}

// rest tells what came only at the end.
func (s *responsesStream) rest(kind DeltaKind, all string, told []byte) {
	if rest, ok := strings.CutPrefix(all, string(told)); ok {
		tellText(s.told, kind, rest)
	}
}

func (s *responsesStream) tellBegun(o *responsesOpen) {
	if !o.begun && o.item.Name != "" && o.item.Type == "function_call" {
		o.begun = true
		s.told(Delta{Kind: DeltaBegun, Call: tool.Call{ID: string(o.item.CallID), Name: string(o.item.Name)}})
	}
}

// complete notes that a call is complete.
func (o *responsesOpen) complete() {
	if o.call == nil {
		c := o.item.call()
		o.call = &c
	}
}

// release tells calls and parts that are complete, in their order: at the end all of
// them, and before it those that wait for no other.
func (s *responsesStream) release(end bool) {
	for ; s.next < len(s.all); s.next++ {
		o := s.all[s.next]
		if !o.done && !end {
			return
		}
		if o.item.Type == "function_call" {
			switch {
			case o.call != nil:
				s.tellBegun(o)
				o.told = true
			case !end && o.item.Status != "incomplete":
				return
			}
		}
		for _, p := range o.parts(s.thought, end) {
			tellWhole(p, s.told)
		}
		s.thought = s.thought || o.done && o.item.Type == "reasoning"
	}
}

package provider

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// Stream reads the events of POST /v1/messages.
//
// A call is told when its block ends. If its input is not complete by then, or empty,
// it is told when the next block begins, or the answer ends for another reason than a
// limit of tokens: a call that the limit cut off ends as any other.
func (f Anthropic) Stream(in io.Reader, told func(Delta)) (Answer, error) {
	return streamed(in, f, told, func(body *bufio.Reader, told func(Delta)) (Answer, error) {
		s := anthropicStream{told: told, open: map[int]*anthropicOpen{}}
		err := events(body, s.event)
		if err == nil && !s.done {
			err = io.ErrUnexpectedEOF
		}
		return s.end(err == nil), err
	})
}

// anthropicStream is what is known of an answer that comes.
type anthropicStream struct {
	told   func(Delta)
	answer Answer
	blocks []*anthropicOpen       // in the order in which they began
	open   map[int]*anthropicOpen // by index
	held   *anthropicOpen         // a call that has ended, if it was not cut off
	why    string                 // of a refusal
	done   bool
}

// anthropicEvent is any event. Which fields count depends on its type.
type anthropicEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		ID      string            `json:"id"`
		Model   string            `json:"model"`
		Content []json.RawMessage `json:"content"`
		Usage   anthropicUsage    `json:"usage"`
	} `json:"message"`
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		JSON      string          `json:"partial_json"`
		Citation  json.RawMessage `json:"citation"`
		Content   json.RawMessage `json:"content"`
		anthropicStop
	} `json:"delta"`
	Usage anthropicUsage `json:"usage"`
}

// event reads one event. One of an unknown type is passed over, whatever is in it.
func (s *anthropicStream) event(name string, data []byte) error {
	var e anthropicEvent
	err := json.Unmarshal(data, &e)
	if e.Type == "" && (err == nil || isObject(data)) {
		e.Type = name
	}
	if err != nil && (!misfit(err) || anthropicEventKnown(e.Type)) {
		return fmt.Errorf("event %q: %w", name, err)
	}
	switch e.Type {
	case "message_start":
		return s.begin(&e)
	case "content_block_start":
		return s.start(e.Index, e.Block)
	case "content_block_delta":
		s.delta(&e)
	case "content_block_stop":
		s.stop(e.Index)
	case "message_delta":
		s.ending(&e)
	case "message_stop":
		s.done = true
		return io.EOF
	case "error":
		return ReadError(0, nil, data)
	}
	return nil
}

func anthropicEventKnown(kind string) bool {
	switch kind {
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta":
		return true
	}
	return false
}

// begin begins the message. A proxy that asks again in the middle of a stream begins a
// second one: then the first counts no more, but for the calls that were told, and what
// the provider wants to see before them.
func (s *anthropicStream) begin(e *anthropicEvent) error {
	s.answer = Answer{ID: e.Message.ID, Model: e.Message.Model}
	e.Message.Usage.into(&s.answer.Usage)
	for len(s.blocks) > 0 && !s.blocks[len(s.blocks)-1].told {
		s.blocks = s.blocks[:len(s.blocks)-1]
	}
	s.blocks = slices.DeleteFunc(s.blocks, func(b *anthropicOpen) bool { return !b.told && (b.made == nil || b.made.Own == nil) })
	clear(s.open)
	s.held, s.why = nil, ""
	for i, block := range e.Message.Content {
		if err := s.start(i, block); err != nil {
			return err
		}
		s.stop(i)
	}
	return nil
}

// start begins a block.
func (s *anthropicStream) start(index int, raw json.RawMessage) error {
	s.stop(index) // if its end was not told
	s.release()   // what ended before was not cut off
	b := &anthropicOpen{raw: raw}
	if err := json.Unmarshal(raw, &b.anthropicBlock); err != nil {
		if b.anthropicBlock = (anthropicBlock{Type: b.Type}); anthropicKnown(b.Type) || !isObject(raw) {
			return fmt.Errorf("event %q: block: %w", "content_block_start", err)
		}
	}
	if len(raw) == 0 {
		return fmt.Errorf("event %q: got no block", "content_block_start")
	}
	s.blocks = append(s.blocks, b)
	s.open[index] = b
	switch b.Type {
	case "text":
		b.text = append(b.text, b.Text...)
		tellText(s.told, DeltaText, b.Text)
	case "thinking":
		b.text = append(b.text, b.Thinking...)
		tellText(s.told, DeltaThought, b.Thinking)
	case "tool_use":
		s.told(Delta{Kind: DeltaBegun, Call: tool.Call{ID: b.ID, Name: b.Name}})
	}
	return nil
}

// delta adds to a block. What was not begun, or has ended, is not added to.
func (s *anthropicStream) delta(e *anthropicEvent) {
	b := s.open[e.Index]
	if b == nil {
		return
	}
	switch e.Delta.Type {
	case "text_delta":
		if b.Type == "text" {
			b.text = append(b.text, e.Delta.Text...)
			tellText(s.told, DeltaText, e.Delta.Text)
		}
	case "thinking_delta":
		if b.Type == "thinking" {
			b.text = append(b.text, e.Delta.Thinking...)
			tellText(s.told, DeltaThought, e.Delta.Thinking)
		}
	case "signature_delta":
		b.signature = append(b.signature, e.Delta.Signature...)
	case "input_json_delta":
		if b.Type != "text" && b.Type != "thinking" {
			b.text = append(b.text, e.Delta.JSON...)
		}
	case "citations_delta":
		if isObject(e.Delta.Citation) {
			b.citations = append(b.citations, e.Delta.Citation)
		}
	case "compaction_delta":
		b.content = e.Delta.Content
	}
}

// stop ends a block.
func (s *anthropicStream) stop(index int) {
	b := s.open[index]
	if b == nil {
		return
	}
	delete(s.open, index)
	b.stopped = true
	if b.Type != "tool_use" {
		s.tell(b)
		return
	}
	if whole := len(b.text) > 0 && json.Valid(b.text) || len(b.text) == 0 && len(b.Input) > len("{}"); whole {
		s.tell(b)
		return
	}
	s.release()
	s.held = b
}

// release tells the call that is held.
func (s *anthropicStream) release() {
	if b := s.held; b != nil {
		s.held = nil
		s.tell(b)
	}
}

// tell tells a block that is whole, if there is anything in it.
func (s *anthropicStream) tell(b *anthropicOpen) {
	if p, ok := b.part(true); ok {
		b.made, b.told = &p, b.Type == "tool_use"
		tellWhole(p, s.told)
	}
}

// ending reads why the answer ends, which decides about a call that is held.
func (s *anthropicStream) ending(e *anthropicEvent) {
	e.Usage.into(&s.answer.Usage)
	stop := e.Delta.stop()
	if stop == "" {
		return
	}
	s.answer.Stop = stop
	if text := e.Delta.refusal(); text != "" {
		s.why = text
		tellText(s.told, DeltaRefusal, text)
	}
	if stop == StopLength {
		if s.held != nil {
			s.held.dropped = true
			s.held = nil
		}
		for _, b := range s.open { // and what did not even end
			b.dropped = !json.Valid(b.text)
		}
	}
	s.release()
}

// end is the answer. Of one that is not whole, blocks that did not end are left out,
// but for text and thoughts as far as they came.
func (s *anthropicStream) end(whole bool) Answer {
	a := s.answer
	if !whole {
		a.Stop = ""
	}
	a.Parts = make([]Part, 0, len(s.blocks)+1)
	for _, b := range s.blocks {
		if b.Type == "tool_use" && !b.told {
			if !whole || b.dropped {
				continue
			}
		}
		if whole && b.made == nil {
			s.tell(b) // its end was not told, but that of the answer was
		}
		if b.made != nil {
			a.Parts = append(a.Parts, *b.made)
		} else if p, ok := b.part(false); ok {
			a.Parts = append(a.Parts, p)
		}
	}
	if s.why != "" {
		a.Parts = append(a.Parts, Part{Kind: PartRefusal, Text: s.why})
	}
	if len(a.Parts) == 0 {
		a.Parts = nil
	}
	return a
}

package provider

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Stream reads an answer of /chat/completions while it comes. It is whole once a
// reason was given why it ended, or at [DONE]: not every server sends both.
func (f Chat) Stream(in io.Reader, told func(Delta)) (Answer, error) {
	return streamed(in, f, told, func(body *bufio.Reader, told func(Delta)) (Answer, error) {
		s := chatStream{told: told, calls: chatCalls{told: told}}
		s.calls.before = s.tellThought
		err := events(body, s.event)
		if s.ended && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) {
			err = nil
			s.calls.finish(s.whole)
			s.tellThought()
		} else if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return s.answer(err == nil), err
	})
}

// chatStream is what has come of an answer.
type chatStream struct {
	told          func(Delta)
	id, model     string
	thoughts      chatDetails
	among         []byte // thoughts among the content
	text, refusal []byte
	calls         chatCalls
	usage         Usage
	stop          Stop
	ended, whole  bool
	thought       bool // told as a part
}

// tellThought tells the thought as a part, once: before the first call, though a server
// may think on behind it, or at the end.
func (s *chatStream) tellThought() {
	if s.thought {
		return
	}
	for _, p := range s.thoughts.parts(string(s.among)) {
		s.thought = p.Own != nil
		tellWhole(p, s.told)
	}
}

// event reads one event.
func (s *chatStream) event(name string, data []byte) error {
	if string(data) == "[DONE]" {
		if s.id == "" && s.model == "" && len(s.text) == 0 && len(s.calls.all) == 0 && !s.ended {
			return io.ErrUnexpectedEOF
		}
		if !s.ended { // no reason was given: calls count that cannot be half ones
			s.ended, s.stop = true, StopEnd
		}
		return io.EOF
	}
	var c chatAnswer
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("event %q: %.80q: %w", name, data, err)
	}
	if given(c.Error) || name == "error" {
		return ReadError(0, nil, data)
	}
	if s.id == "" {
		s.id = string(c.ID)
	}
	if s.model == "" {
		s.model = string(c.Model)
	}
	if c.Usage == nil && c.Groq != nil {
		c.Usage = c.Groq.Usage
	}
	if c.Usage != nil {
		s.usage = c.Usage.usage() // servers that tell it with each piece tell the sum
	}
	for i := range c.Choices {
		if choice := &c.Choices[i]; choice.Index == 0 {
			if err := s.choice(choice); err != nil {
				return fmt.Errorf("event %q: %w", name, err)
			}
		}
	}
	return nil
}

// choice takes a piece of the answer.
func (s *chatStream) choice(c *chatChoice) error {
	m := c.Delta
	if m == nil {
		m = c.Message // some send what is left of the answer as a whole one
	}
	if m == nil && c.Text != "" {
		m = &chatMessage{Content: chatContent{text: string(c.Text)}}
	}
	if m != nil {
		if err := s.piece(m); err != nil {
			return err
		}
	}
	if c.Reason == "" {
		return nil
	}
	s.ended = true
	s.stop, s.whole = chatStop(string(c.Reason))
	s.calls.finish(s.whole)
	return nil
}

func (s *chatStream) piece(m *chatMessage) error {
	text, among := m.Content.said()
	s.among = append(s.among, among...)
	tellText(s.told, DeltaThought, among+s.thoughts.add(m))
	s.text = append(s.text, text...)
	tellText(s.told, DeltaText, text)
	s.refusal = append(s.refusal, m.Refusal...)
	tellText(s.told, DeltaRefusal, string(m.Refusal))
	for _, raw := range m.ToolCalls {
		var c chatCall
		if err := json.Unmarshal(raw, &c); err != nil {
			return fmt.Errorf("tool_calls: %w", err)
		}
		if err := s.calls.add(&c); err != nil {
			return err
		}
	}
	if f := m.FunctionCall; f != nil && (f.Name != "" || f.Arguments != "") {
		index := -2 // there is but one, and it has neither index nor id
		return s.calls.add(&chatCall{Index: &index, Function: *f})
	}
	return nil
}

// answer is what was whole.
func (s *chatStream) answer(whole bool) Answer {
	a := Answer{ID: s.id, Model: s.model, Usage: s.usage}
	a.Parts = s.thoughts.parts(string(s.among))
	if len(s.text) > 0 {
		a.Parts = append(a.Parts, Text(string(s.text)))
	}
	if len(s.refusal) > 0 {
		a.Parts = append(a.Parts, Part{Kind: PartRefusal, Text: string(s.refusal)})
	}
	a.Parts = append(a.Parts, s.calls.parts()...)
	if whole {
		a.Stop = settle(s.stop, a.Parts)
	}
	return a
}

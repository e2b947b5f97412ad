package provider

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ferrule-dev/ferrule/tool"
)

// Stream reads the answer of streamGenerateContent, as events (alt=sse) or as the
// JSON array that it is otherwise. There is no mark of its end: it has ended when it
// says why.
func (f Gemini) Stream(in io.Reader, told func(Delta)) (Answer, error) {
	return streamed(in, f, told, func(body *bufio.Reader, told func(Delta)) (Answer, error) {
		s := geminiStream{told: told}
		first, err := firstByte(body)
		if err == nil && first == '[' {
			err = s.array(body)
		} else {
			err = events(body, s.piece)
		}
		if err == nil && !s.done {
			err = io.ErrUnexpectedEOF
		}
		return s.end(err == nil), err
	})
}

// geminiStream is what is known of an answer that comes.
type geminiStream struct {
	told    func(Delta)
	answer  Answer
	text    []byte // of the text or thought at the end of the parts, which may go on
	partial *geminiPartial
	calls   int
	done    bool
	why     string // of a refusal
}

// array reads pieces of a JSON array, each as soon as it is whole.
func (s *geminiStream) array(in io.Reader) error {
	limited := &io.LimitedReader{R: in, N: maxStream}
	d := json.NewDecoder(limited)
	_, err := d.Token()
	for err == nil && d.More() {
		var piece json.RawMessage
		if err = d.Decode(&piece); err == nil {
			err = s.piece("", piece)
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	if limited.N <= 0 {
		return fmt.Errorf("stream: got more than %d bytes, want at most that", maxStream)
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// piece reads one piece of the answer.
func (s *geminiStream) piece(name string, data []byte) error {
	var g geminiAnswer
	if len(data) > 0 && data[0] == '[' {
		return ReadError(0, nil, data)
	}
	if err := json.Unmarshal(data, &g); err != nil {
		return fmt.Errorf("event %q: %w", name, err)
	}
	if !empty(g.Error) {
		return ReadError(0, nil, data)
	}
	s.answer.ID, s.answer.Model = cmp.Or(g.ID, s.answer.ID), cmp.Or(g.Model, s.answer.Model)
	s.count(&g)
	if f := g.Feedback; f != nil && f.Reason != "" {
		s.done, s.answer.Stop = true, StopRefusal
		s.refuse(cmp.Or(f.Message, f.Reason))
	}
	for i := range g.Candidates {
		c := &g.Candidates[i]
		if c.Index != 0 {
			continue
		}
		for j, text := range c.Content.Parts {
			var p geminiPart
			if err := json.Unmarshal(text, &p); err != nil {
				return fmt.Errorf("event %q: part %d: %w", name, j+1, err)
			}
			if err := s.part(&p, text); err != nil {
				return fmt.Errorf("event %q: part %d: %w", name, j+1, err)
			}
		}
		if c.FinishReason != "" {
			if err := s.finish(c.FinishReason, c.FinishMessage); err != nil {
				return fmt.Errorf("event %q: %w", name, err)
			}
		}
	}
	return nil
}

// count keeps the last counts that were told: they are sums.
func (s *geminiStream) count(g *geminiAnswer) {
	if g.Usage == nil {
		return
	}
	u := &s.answer.Usage
	if n := g.Usage.Prompt + g.Usage.ToolPrompt; n > 0 {
		u.Input = n
	}
	if g.Usage.Cached > 0 {
		u.CacheRead = g.Usage.Cached
	}
	if n := g.Usage.Candidates + g.Usage.Thoughts; n > 0 {
		u.Output, u.Thought = n, g.Usage.Thoughts
	}
}

// finish reads why the answer ends. A call whose end has not come by then is none: one
// that a limit cut off is left out, and otherwise the answer is not whole.
func (s *geminiStream) finish(reason, message string) error {
	s.answer.Stop = geminiStop(reason)
	switch s.answer.Stop {
	case StopEnd:
		if err := s.noPartial(); err != nil {
			return err
		}
		if s.calls > 0 {
			s.answer.Stop = StopCalls
		}
	case StopRefusal:
		if message != "" {
			s.refuse(message)
		}
	case StopCalls, StopLength, StopPause, StopOther:
	}
	s.done = true
	return nil
}

func (s *geminiStream) refuse(why string) {
	s.why = why
	tellText(s.told, DeltaRefusal, why)
}

// part reads one part. Texts that follow each other are one, unless they are signed.
func (s *geminiStream) part(g *geminiPart, text json.RawMessage) error {
	if c := g.Call; c != nil && (s.partial != nil && c.Name == "" || c.WillContinue || len(c.Partial) > 0) {
		return s.piecemeal(g)
	}
	if err := s.noPartial(); err != nil {
		return err
	}
	p := g.part(text)
	switch p.Kind {
	case PartText, PartThought:
		kind := DeltaText
		if p.Kind == PartThought {
			kind = DeltaThought
		}
		tellText(s.told, kind, p.Text)
		if p.Own == nil && p.Text == "" {
			return nil
		}
		if last := s.last(); p.Own == nil && last != nil && last.Kind == p.Kind && last.Own == nil {
			s.text = append(s.text, p.Text...)
			return nil
		}
		s.flush()
		s.text = append(s.text[:0], p.Text...)
		tellWhole(p, s.told)
	case PartCall:
		s.flush()
		s.calls++
		tellPart(p, s.told)
	case PartMedia, PartRefusal, PartResult, PartOwn:
		s.flush()
		tellWhole(p, s.told)
	}
	s.answer.Parts = append(s.answer.Parts, p)
	return nil
}

func (s *geminiStream) last() *Part {
	if n := len(s.answer.Parts); n > 0 {
		return &s.answer.Parts[n-1]
	}
	return nil
}

// flush gives the last part its text, which does not go on.
func (s *geminiStream) flush() {
	if p := s.last(); p != nil && (p.Kind == PartText || p.Kind == PartThought) && p.Own == nil {
		p.Text = string(s.text)
	}
}

// piecemeal reads a part of a call whose arguments come one by one.
func (s *geminiStream) piecemeal(g *geminiPart) error {
	c := g.Call
	if c.Name != "" { // another one begins
		if err := s.noPartial(); err != nil {
			return err
		}
		s.partial = &geminiPartial{call: tool.Call{ID: c.ID, Name: c.Name}}
		s.told(Delta{Kind: DeltaBegun, Call: s.partial.call})
	}
	if s.partial == nil {
		return errors.New("got arguments of no call")
	}
	s.partial.signature = cmp.Or(g.Signature, s.partial.signature)
	if isObject(c.Args) {
		s.partial.whole = c.Args
	}
	for i := range c.Partial {
		if err := s.partial.args.set(&c.Partial[i]); err != nil {
			return err
		}
	}
	if !c.WillContinue {
		return s.endPartial()
	}
	return nil
}

// noPartial is an error where arguments of a call are still to come: half a call is
// none, whatever follows it.
func (s *geminiStream) noPartial() error {
	if s.partial == nil {
		return nil
	}
	return fmt.Errorf("call %s: its arguments break off: %w", s.partial.call.Name, io.ErrUnexpectedEOF)
}

// endPartial ends the call whose arguments come one by one. One with a string that
// goes on is half a call.
func (s *geminiStream) endPartial() error {
	if s.partial.whole == nil && s.partial.args.open() {
		return s.noPartial()
	}
	p := s.partial.part()
	s.partial = nil
	s.flush()
	s.calls++
	tellWhole(p, s.told)
	s.answer.Parts = append(s.answer.Parts, p)
	return nil
}

// end is the answer.
func (s *geminiStream) end(whole bool) Answer {
	s.flush()
	a := s.answer
	if !whole {
		a.Stop = ""
	}
	if s.why != "" {
		a.Parts = append(a.Parts, Part{Kind: PartRefusal, Text: s.why})
	}
	return a
}

package scripted

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

var errCut = io.ErrUnexpectedEOF

// Model plays a script for one conversation. Its methods are safe for concurrent use;
// each request is answered by itself.
type Model struct {
	script *Script

	mu      sync.Mutex
	count   int  // answers in the conversation when it was asked last
	skipped int  // answers that were given, and are not in the conversation
	broken  bool // the last answer did not end well
	asked   bool
}

var _ agent.Model = (*Model)(nil)

// Format is Script.As.
func (m *Model) Format() provider.Format {
	if m.script.As == nil {
		return provider.Anthropic{}
	}
	return m.script.As
}

// Ask checks what was sent and tells the next answer, word by word.
func (m *Model) Ask(ctx context.Context, r provider.Request, told func(provider.Delta)) (provider.Answer, error) {
	if err := ctx.Err(); err != nil {
		return provider.Answer{}, err
	}
	if told == nil {
		told = func(provider.Delta) {}
	}
	if err := valid(r.Messages, m.paused(r.Messages)); err != nil {
		return provider.Answer{}, fmt.Errorf("scripted: %s: %w", m.script.name, err)
	}
	sent := since(r.Messages)
	place := m.place(r.Messages)
	if place >= len(m.script.steps) {
		return provider.Answer{}, fmt.Errorf("scripted: %s: got a request for answer %d, want no more than %d: the script ends there\nthe model was sent:\n%s", m.script.name, place+1, len(m.script.steps), strings.TrimSuffix(indent(sent), "\n"))
	}
	s := &m.script.steps[place]
	m.script.begin(place)
	for _, w := range s.wants {
		if !w.in(sent) {
			return provider.Answer{}, fmt.Errorf("scripted: %s:%d: answer %d: got\n%swant a line with\n  %s", m.script.name, w.line, place+1, indent(sent), w.text)
		}
	}
	a := provider.Answer{ID: fmt.Sprintf("scripted_%d", place+1), Model: r.Model, Usage: provider.Usage{Input: size(r) / bytesOfToken}}
	err := s.play(ctx, m.script.Pace, &a, told)
	if err == nil {
		a.Stop, err = s.stop, s.fails
	}
	m.mu.Lock()
	m.broken = err != nil
	m.mu.Unlock()
	return a, err
}

// bytesOfToken is what a token is thought to have.
const bytesOfToken = 4

// size is how many bytes of text a request has, about.
func size(r provider.Request) int {
	n := len(r.System) + len(r.Tools)
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += len(p.Text)
			switch {
			case p.Call != nil:
				n += len(p.Call.Name) + len(p.Call.Input)
			case p.Result != nil:
				for _, c := range p.Result.Content {
					n += len(c.Text)
				}
			}
		}
	}
	return n
}

// answers is how many answers a conversation has.
func answers(messages []provider.Message) (count int) {
	for _, msg := range messages {
		if msg.Role == provider.Assistant {
			count++
		}
	}
	return count
}

// paused reports whether the last answer of a conversation was a pause: the provider
// wants to be asked again with nothing behind it.
func (m *Model) paused(messages []provider.Message) bool {
	count := answers(messages)
	m.mu.Lock()
	defer m.mu.Unlock()
	last := count - 1
	if m.asked && count >= m.count {
		last += m.skipped
	}
	last = min(last, len(m.script.steps)-1)
	for last >= 0 && m.script.steps[last].fails != nil { // it was asked again, and left nothing
		last--
	}
	return last >= 0 && m.script.steps[last].stop == provider.StopPause
}

// place is which answer comes now.
func (m *Model) place(messages []provider.Message) int {
	count := answers(messages)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.asked && count < m.count:
		m.skipped = 0 // it is another conversation, or an earlier state of it
	case m.asked && count == m.count && m.broken:
		m.skipped++
	}
	m.asked, m.count, m.broken = true, count, false
	return count + m.skipped
}

// play tells the parts, and puts into the answer what was told.
func (s *step) play(ctx context.Context, pace time.Duration, a *provider.Answer, told func(provider.Delta)) error {
	first := true
	pause := func() error {
		if first {
			first = false
			return ctx.Err()
		}
		return wait(ctx, pace)
	}
	for _, p := range s.parts {
		if p.Kind == provider.PartCall {
			if err := pause(); err != nil {
				return err
			}
			told(provider.Delta{Kind: provider.DeltaBegun, Call: tool.Call{ID: p.Call.ID, Name: p.Call.Name}})
			if err := wait(ctx, pace); err != nil {
				return err
			}
			call := tool.Call{ID: p.Call.ID, Name: p.Call.Name, Input: slices.Clone(p.Call.Input)}
			a.Parts = append(a.Parts, provider.Part{Kind: provider.PartCall, Call: &call})
			a.Usage.Output += 1 + (len(call.Name)+len(call.Input))/bytesOfToken
			told(provider.Delta{Kind: provider.DeltaCall, Call: call})
			continue
		}
		kind := provider.DeltaText
		if p.Kind == provider.PartThought {
			kind = provider.DeltaThought
		}
		a.Parts = append(a.Parts, provider.Part{Kind: p.Kind})
		now := &a.Parts[len(a.Parts)-1]
		for word := range words(p.Text) {
			if err := pause(); err != nil {
				if now.Text == "" {
					a.Parts = a.Parts[:len(a.Parts)-1]
				}
				return err
			}
			now.Text += word
			a.Usage.Output++
			if kind == provider.DeltaThought {
				a.Usage.Thought++
			}
			told(provider.Delta{Kind: kind, Text: word})
		}
	}
	if s.half != "" {
		if err := pause(); err != nil {
			return err
		}
		told(provider.Delta{Kind: provider.DeltaBegun, Call: tool.Call{ID: fmt.Sprintf("call_half_%d", s.line), Name: s.half}})
	}
	return nil
}

// words are the words of a text, each with the space behind it.
func words(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start, space := 0, false
		for i, c := range text {
			is := c == ' ' || c == '\n' || c == '\t'
			if space && !is {
				if !yield(text[start:i]) {
					return
				}
				start = i
			}
			space = is
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}

// wait waits for a time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// indent sets a text off.
func indent(text string) string {
	if text == "" {
		text = "(nothing)"
	}
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

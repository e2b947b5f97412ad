package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// played is a model that answers by the number of answers that the conversation has.
type played struct {
	answers []provider.Answer
	quiet   bool // it tells nothing while it talks
	before  func(ctx context.Context, n int, r provider.Request) error
	told    func(n int, d provider.Delta) // after each

	mu    sync.Mutex
	asked []provider.Request
}

func (*played) Format() provider.Format { return provider.Anthropic{} }

func (p *played) Ask(ctx context.Context, r provider.Request, told func(provider.Delta)) (provider.Answer, error) {
	p.mu.Lock()
	p.asked = append(p.asked, r)
	p.mu.Unlock()
	n := 0
	for _, m := range r.Messages {
		if m.Role == provider.Assistant {
			n++
		}
	}
	if p.before != nil {
		if err := p.before(ctx, n, r); err != nil {
			return provider.Answer{}, err
		}
	}
	if n >= len(p.answers) {
		return provider.Answer{}, fmt.Errorf("got request %d, want at most %d: %v", n+1, len(p.answers), r.Messages)
	}
	a := p.answers[n]
	if p.quiet {
		told = func(provider.Delta) {}
	}
	var whole provider.Answer
	for _, part := range a.Parts {
		if ctx.Err() != nil {
			return whole, context.Cause(ctx)
		}
		var d provider.Delta
		switch part.Kind {
		case provider.PartCall:
			d = provider.Delta{Kind: provider.DeltaCall, Call: *part.Call}
		case provider.PartText:
			d = provider.Delta{Kind: provider.DeltaText, Text: part.Text}
		default:
			continue
		}
		if part.Kind == provider.PartText && part.Text == "CUT" {
			return whole, io.ErrUnexpectedEOF
		}
		whole.Parts = append(whole.Parts, part)
		told(d)
		if p.told != nil {
			p.told(n, d)
		}
	}
	if ctx.Err() != nil {
		return whole, context.Cause(ctx)
	}
	return a, nil
}

func says(text string) provider.Answer {
	return provider.Answer{Parts: []provider.Part{provider.Text(text)}, Stop: provider.StopEnd, Usage: provider.Usage{Input: 10, Output: 5}}
}

// calls is an answer with calls: id, name, input, one after another.
func calls(words ...string) provider.Answer {
	a := provider.Answer{Stop: provider.StopCalls, Usage: provider.Usage{Input: 10, Output: 5}}
	for i := 0; i+2 < len(words); i += 3 {
		a.Parts = append(a.Parts, provider.Part{Kind: provider.PartCall, Call: &tool.Call{ID: words[i], Name: words[i+1], Input: json.RawMessage(words[i+2])}})
	}
	return a
}

type word struct {
	Word string `json:"word,omitempty"`
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// echo is a tool that only reads.
func echo() *tool.Tool {
	return must(tool.New(tool.Info{
		Name: "echo", Description: "Say a word again.", Claims: tool.Claims{ReadOnly: true, Local: true},
	}, func(_ context.Context, in word) (string, error) { return "echo: " + in.Word, nil }))
}

// runtimeWith is a runtime with tools of its own, all allowed.
func runtimeWith(tb testing.TB, tools ...*tool.Tool) *ferrule.Runtime {
	tb.Helper()
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
	if err := rt.Add(tools...); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := rt.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return rt
}

// check looks whether a conversation is one that each provider takes.
func check(messages []provider.Message) error {
	open := map[string]bool{}
	seen := map[string]bool{}
	for i, m := range messages {
		if len(m.Parts) == 0 {
			return fmt.Errorf("message %d: got no parts", i)
		}
		if want := [...]provider.Role{provider.User, provider.Assistant}[i%2]; m.Role != want {
			return fmt.Errorf("message %d: got %s, want %s", i, m.Role, want)
		}
		if len(open) > 0 && m.Role == provider.Assistant {
			return fmt.Errorf("message %d: calls without a result: %v", i, open)
		}
		text := false
		for _, p := range m.Parts {
			switch p.Kind {
			case provider.PartCall:
				if p.Call.ID == "" || seen[p.Call.ID] {
					return fmt.Errorf("message %d: got id %q, want one that no other call has", i, p.Call.ID)
				}
				seen[p.Call.ID], open[p.Call.ID] = true, true
			case provider.PartResult:
				if text || !open[p.Result.CallID] {
					return fmt.Errorf("message %d: got a result of %q, want one of %v, before any text", i, p.Result.CallID, open)
				}
				delete(open, p.Result.CallID)
			default:
				text = true
			}
		}
		if m.Role == provider.User && len(open) > 0 {
			return fmt.Errorf("message %d: calls without a result: %v", i, open)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("at the end: calls without a result: %v", open)
	}
	for _, f := range provider.Formats() {
		if _, err := f.WriteRequest(provider.Request{Model: "m", Messages: messages}); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	return nil
}

// shown is a conversation in a line each message.
func shown(messages []provider.Message) string {
	var out string
	for _, m := range messages {
		out += string(m.Role) + ":"
		for _, p := range m.Parts {
			switch p.Kind {
			case provider.PartCall:
				out += fmt.Sprintf(" >%s %s%s", p.Call.ID, p.Call.Name, p.Call.Input)
			case provider.PartResult:
				out += fmt.Sprintf(" <%s %v%s", p.Result.CallID, map[bool]string{true: "!"}[p.Result.Error], tool.TextOf(p.Result.Content))
			default:
				out += " " + p.Text
			}
		}
		out += "\n"
	}
	return out
}

// run runs to the end, and checks the transcript after each event.
func run(t *testing.T, a *agent.Agent, tr *agent.Transcript, prompt string) (events []agent.Event, err error) {
	t.Helper()
	for e, failed := range a.Run(t.Context(), tr, prompt) {
		if err := check(tr.Messages()); err != nil {
			t.Errorf("after %s: %v", e.Kind, err)
		}
		if b, err := json.Marshal(tr); err != nil {
			t.Errorf("after %s: %v", e.Kind, err)
		} else if err := json.Unmarshal(b, new(agent.Transcript)); err != nil {
			t.Errorf("after %s: %v", e.Kind, err)
		}
		events, err = append(events, e), failed
	}
	return events, err
}

func kinds(events []agent.Event) (out []agent.Kind) {
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

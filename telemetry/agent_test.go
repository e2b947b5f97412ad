package telemetry_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/agent/scripted"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/telemetry"
	"github.com/ferrule-dev/ferrule/tool"
)

var _ agent.Tracer = (*telemetry.Telemetry)(nil)

// acting is an agent that plays a script.
func acting(t *testing.T, name, script string, tells *telemetry.Telemetry, tools ...*tool.Tool) *agent.Agent {
	t.Helper()
	s, err := scripted.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Trace: tells.Call}
	if err := rt.Add(tools...); err != nil {
		t.Fatal(err)
	}
	return &agent.Agent{Name: name, Runtime: rt, Model: s.Model(), Use: "claude-5", Trace: tells}
}

func TestAgent(t *testing.T) {
	t.Parallel()
	note := noting(t, tool.Info{Name: "note"}, func(_ context.Context, in note) (string, error) { return in.Text, nil })
	t.Run("U2 a run, its requests to the model and its calls are one trace", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, flush := c.tells(t, telemetry.Options{})
		inner := acting(t, "inner", "An agent.\n-- answer --\n> note {\"text\":\"hunter2\"}\n-- answer --\ndone\n", tells, note)
		below2, err := inner.Tool(tool.Info{Name: "helper", Description: "Help."})
		if err != nil {
			t.Fatal(err)
		}
		outer := acting(t, "outer", "An agent.\n-- answer --\n> helper {\"prompt\":\"hunter2\"}\n-- answer --\nhunter2\n", tells, below2)
		if _, err := outer.Do(t.Context(), new(agent.Transcript), "hunter2"); err != nil {
			t.Fatal(err)
		}
		flush()
		run := c.span(t, "invoke_agent outer")
		has(t, run, map[string]string{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "outer", "ferrule.agent.end": "done", "error.type": "-"})
		call := c.span(t, "execute_tool helper")
		below(t, call, run)
		inside := c.span(t, "invoke_agent inner")
		below(t, inside, call)
		below(t, c.span(t, "execute_tool note"), inside)
		chats := 0
		for _, s := range c.spans {
			if s.GetName() == "chat claude-5" {
				if chats++; string(s.GetParentSpanId()) == string(run.GetSpanId()) {
					below(t, s, run)
				} else {
					below(t, s, inside)
				}
				has(t, s, map[string]string{"gen_ai.operation.name": "chat", "gen_ai.request.model": "claude-5", "gen_ai.provider.name": "anthropic", "error.type": "-"})
				if s.GetKind().String() != "SPAN_KIND_CLIENT" {
					t.Errorf("a chat is of kind %v", s.GetKind())
				}
			}
		}
		if chats != 4 {
			t.Errorf("got %d chats, want 4", chats)
		}
		if strings.Contains(c.all.String(), "hunter2") {
			t.Error("content got out")
		}
		if m := c.metrics["gen_ai.client.operation.duration"]; m == nil {
			t.Error("the requests are not measured")
		} else if p := m.GetHistogram().GetDataPoints(); len(p) != 1 || p[0].GetCount() != 4 || attribute(p[0].GetAttributes(), "gen_ai.request.model") != "claude-5" {
			t.Errorf("gen_ai.client.operation.duration = %v", p)
		}
	})
	t.Run("U2 a run that fails", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, flush := c.tells(t, telemetry.Options{})
		a := acting(t, "failing", "An agent.\n-- want --\nsomething else\n-- answer --\ndone\n", tells)
		if _, err := a.Do(t.Context(), new(agent.Transcript), "hunter2"); err == nil {
			t.Error("got no error, want one")
		}
		flush()
		run := c.span(t, "invoke_agent failing")
		has(t, run, map[string]string{"error.type": "failed"})
		one := c.span(t, "chat claude-5")
		below(t, one, run)
		has(t, one, map[string]string{"error.type": "_OTHER", "gen_ai.response.finish_reasons": "-", "gen_ai.usage.input_tokens": "-"})
	})
	t.Run("U2 tokens and how an answer ended", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, flush := c.tells(t, telemetry.Options{})
		_, end := tells.Chat(t.Context(), "openai-responses", "gpt-9")
		end("gpt-9-2026", "calls", 100, 20, 60, nil)
		_, end = tells.Chat(t.Context(), "gemini", "")
		end("", "", 0, 0, 0, errors.New("hunter2"))
		late, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		_, end = tells.Chat(late, "anthropic", "late")
		end("", "", 0, 0, 0, late.Err())
		flush()
		has(t, c.span(t, "chat late"), map[string]string{"error.type": "timeout"})
		has(t, c.span(t, "chat gpt-9"), map[string]string{
			"gen_ai.provider.name": "openai", "gen_ai.response.model": "gpt-9-2026", "gen_ai.response.finish_reasons": "tool_call",
			"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "20", "gen_ai.usage.cache_read.input_tokens": "60",
		})
		has(t, c.span(t, "chat"), map[string]string{"gen_ai.provider.name": "gcp.gemini", "gen_ai.request.model": "-", "error.type": "_OTHER"})
		sums := make(map[string]float64)
		for _, p := range c.metrics["gen_ai.client.token.usage"].GetHistogram().GetDataPoints() {
			sums[attribute(p.GetAttributes(), "gen_ai.token.type")] += p.GetSum()
		}
		if sums["input"] != 100 || sums["output"] != 20 || len(sums) != 2 {
			t.Errorf("tokens = %v, want 100 of input and 20 of output", sums)
		}
	})
}

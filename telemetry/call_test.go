package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/telemetry"
	"github.com/ferrule-dev/ferrule/tool"
)

type note struct {
	Text string `json:"text"`
}

// noting is a tool that is given a text.
func noting(t *testing.T, info tool.Info, run func(context.Context, note) (string, error)) *tool.Tool {
	t.Helper()
	info.Description = "Note something."
	made, err := tool.New(info, run)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func calling(name, text string) tool.Call {
	input, err := json.Marshal(note{text})
	if err != nil {
		panic(err)
	}
	return tool.Call{ID: "call 1", Name: name, Input: input}
}

// ruled asks for calls of ask, denies those of deny and allows all others.
func ruled(r *tool.Request) tool.Decision {
	switch r.Name {
	case "ask":
		return tool.Decision{Verdict: tool.Ask, Rule: "asks"}
	case "deny":
		return tool.Decision{Verdict: tool.Deny, Rule: "denies"}
	}
	return tool.Decision{Verdict: tool.Allow, Rule: "allows"}
}

// told runs a call of each kind, with secret in every argument and result.
func told(t *testing.T, c *collector, tells *telemetry.Telemetry, log audit.Log, private string) {
	t.Helper()
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(c.URL+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	defer func() { _ = provider.Shutdown(t.Context()) }()
	spans := provider.Tracer("of a tool")
	inbox := new(policy.Memory)
	rt := &ferrule.Runtime{
		Trace: tells.Call, Policy: policy.Func(ruled), Inbox: inbox, Log: log, Blobs: nil,
		Answer: func(context.Context, policy.Question) (policy.Answer, error) {
			return policy.Answer{Allow: true, By: "somebody " + private}, nil
		},
	}
	ok := func(_ context.Context, in note) (string, error) { return "it said " + in.Text, nil }
	tries := 0
	err = rt.Add(
		noting(t, tool.Info{Name: "read", Claims: tool.Claims{ReadOnly: true, Local: true}, InputSensitivity: tool.Public, OutputSensitivity: tool.Public}, ok),
		noting(t, tool.Info{Name: "ask", OutputSensitivity: tool.Secret}, ok),
		noting(t, tool.Info{Name: "deny"}, ok),
		noting(t, tool.Info{Name: "fail"}, func(_ context.Context, in note) (string, error) { return "", errors.New("no such " + in.Text) }),
		noting(t, tool.Info{Name: "again", Claims: tool.Claims{Idempotent: true}}, func(_ context.Context, in note) (string, error) {
			if tries++; tries == 1 {
				return "", &tool.Outcome{Err: errors.New("busy with " + in.Text), RetryAfter: time.Millisecond}
			}
			return in.Text, nil
		}),
		noting(t, tool.Info{Name: "own"}, func(ctx context.Context, in note) (string, error) {
			_, span := spans.Start(ctx, "span of the tool")
			span.End()
			return in.Text, nil
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	session := rt.Session(tool.Caller{Session: "conversation", Principal: private, Client: private, Prompt: private})
	view := session.View(t.Context())
	for _, name := range []string{"read", "ask", "deny", "fail", "again", "own", "unknown" + private} {
		view.Do(t.Context(), calling(name, private))
	}
	view.Do(t.Context(), tool.Call{ID: "bad", Name: "read", Input: json.RawMessage(`{"texts":"` + private + `"}`)})
	if err := session.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	c := collect(t)
	tells, flush := c.tells(t, telemetry.Options{Version: "1.2.3"})
	told(t, c, tells, nil, "hunter2")
	flush()
	t.Run("U2 a call is a span by the conventions", func(t *testing.T) {
		for _, s := range c.spans {
			if s.GetName() == "execute_tool read" && attribute(s.GetAttributes(), "error.type") == "" {
				has(t, s, map[string]string{
					"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read", "gen_ai.tool.call.id": "call 1", "gen_ai.tool.type": "function",
					"gen_ai.conversation.id": "conversation", "ferrule.turn": "1", "ferrule.source": "", "ferrule.trust": "own", "ferrule.outcome": "ok",
					"ferrule.decision": "allow", "ferrule.decision.by": "policy", "ferrule.rule": "allows", "ferrule.wait.duration": "0",
				})
				return
			}
		}
		t.Error("there is no such span")
	})
	t.Run("U2 a call that never ran has a span with its error", func(t *testing.T) {
		has(t, c.span(t, "execute_tool deny"), map[string]string{"error.type": "denied", "ferrule.decision": "deny", "ferrule.rule": "denies", "ferrule.run.duration": "0"})
		has(t, c.span(t, "execute_tool"), map[string]string{"error.type": "unknown_tool", "gen_ai.tool.name": "_OTHER", "ferrule.decision": "-"})
		invalid := 0
		for _, s := range c.spans {
			if attribute(s.GetAttributes(), "error.type") == "invalid_input" {
				invalid++
			}
		}
		if invalid != 1 {
			t.Errorf("got %d spans with invalid input, want 1", invalid)
		}
	})
	t.Run("U2 a person's time is told apart", func(t *testing.T) {
		s := c.span(t, "execute_tool ask")
		has(t, s, map[string]string{"ferrule.decision": "ask", "ferrule.outcome": "ok"})
		if attribute(s.GetAttributes(), "ferrule.wait.duration") == "0" {
			t.Error("got no time, want some")
		}
		var events []string
		for _, e := range s.GetEvents() {
			events = append(events, e.GetName())
		}
		if got := strings.Join(events, " "); !strings.HasPrefix(got, "asked answered") {
			t.Errorf("events = %q, want asked and answered", got)
		}
	})
	t.Run("U2 failures and retries", func(t *testing.T) {
		s := c.span(t, "execute_tool fail")
		has(t, s, map[string]string{"error.type": "failed"})
		if got := s.GetStatus(); got.GetCode().String() != "STATUS_CODE_ERROR" || got.GetMessage() != "" {
			t.Errorf("status = %v, want an error without a text", got)
		}
		has(t, c.span(t, "execute_tool again"), map[string]string{"ferrule.retries": "1", "error.type": "-"})
	})
	t.Run("U2 what a tool traces is below its call", func(t *testing.T) {
		below(t, c.span(t, "span of the tool"), c.span(t, "execute_tool own"))
	})
	t.Run("U2 no content leaves", func(t *testing.T) {
		if _, rest, found := strings.Cut(c.all.String(), "hunter2"); found {
			t.Errorf("the collector got it before %.200s", rest)
		}
	})
	t.Run("U2 one span for a call", func(t *testing.T) {
		if got := len(c.spans); got != 9 {
			t.Errorf("got %d spans of 8 calls and one tool, want 9", got)
		}
		if c.service["service.name"] != "ferrule" || c.service["service.version"] != "1.2.3" {
			t.Errorf("service = %v", c.service)
		}
	})
}

func TestContent(t *testing.T) {
	t.Parallel()
	t.Run("G4 the exporter is given what is public, and marks for the rest", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, flush := c.tells(t, telemetry.Options{Content: true, NoMetrics: true})
		told(t, c, tells, new(audit.Memory), "hunter2")
		flush()
		for _, s := range c.spans {
			if s.GetName() == "execute_tool read" && attribute(s.GetAttributes(), "error.type") == "" {
				has(t, s, map[string]string{"gen_ai.tool.call.arguments": `{"text":"hunter2"}`, "gen_ai.tool.call.result": "it said hunter2"})
			}
		}
		has(t, c.span(t, "execute_tool ask"), map[string]string{"gen_ai.tool.call.arguments": "[withheld: internal]", "gen_ai.tool.call.result": "[withheld: secret]"})
		if got := c.span(t, "execute_tool fail").GetStatus().GetMessage(); got != "[withheld: internal]" {
			t.Errorf("status of fail = %q, want it withheld", got)
		}
		has(t, c.span(t, "execute_tool"), map[string]string{"gen_ai.tool.call.arguments": "[withheld: secret]"})
	})
	t.Run("G4 the exporter is given what it accepts", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, flush := c.tells(t, telemetry.Options{Content: true, Accepts: func(s tool.Sensitivity) bool { return s != tool.Secret }})
		told(t, c, tells, new(audit.Memory), "hunter2")
		flush()
		has(t, c.span(t, "execute_tool ask"), map[string]string{"gen_ai.tool.call.arguments": `{"text":"hunter2"}`, "gen_ai.tool.call.result": "[withheld: secret]"})
		if got := c.span(t, "execute_tool fail").GetStatus().GetMessage(); got != "no such hunter2" {
			t.Errorf("status of fail = %q", got)
		}
	})
	t.Run("G4 a page is as sensitive as what it is a page of", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, flush := c.tells(t, telemetry.Options{Content: true, Accepts: func(s tool.Sensitivity) bool { return s != tool.Secret }})
		r := &tool.Request{Name: "read_result", Tool: new(tool.Info)}
		_, told := tells.Call(t.Context(), r)
		told(audit.Event{Kind: audit.Requested, Request: r, Time: time.Now()})
		told(audit.Event{Kind: audit.Ended, Request: r, Time: time.Now(), Result: &tool.Result{
			Content: []tool.Content{tool.Text("hunter2")}, Origin: &tool.Origin{Tool: "other", Sensitivity: tool.Secret},
		}})
		flush()
		has(t, c.span(t, "execute_tool read_result"), map[string]string{"gen_ai.tool.call.result": "[withheld: secret]"})
	})
}

func TestLastingRule(t *testing.T) {
	t.Parallel()
	t.Run("U2 a call that a lasting rule allows was decided by it, and nobody was waited for", func(t *testing.T) {
		t.Parallel()
		c := collect(t)
		tells, flush := c.tells(t, telemetry.Options{})
		inbox := new(policy.Memory)
		rt := &ferrule.Runtime{
			Trace: tells.Call, Inbox: inbox, Ledger: inbox,
			Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
				return policy.Answer{Allow: true, Rule: q.Offers[0], Second: true, By: "somebody"}, nil
			},
		}
		if err := rt.Add(noting(t, tool.Info{Name: "note"}, func(_ context.Context, in note) (string, error) { return in.Text, nil })); err != nil {
			t.Fatal(err)
		}
		view := rt.Session(tool.Caller{}).View(t.Context())
		for range 2 {
			view.Do(t.Context(), calling("note", "hunter2"))
		}
		flush()
		has(t, c.spans[0], map[string]string{"ferrule.decision": "ask"})
		has(t, c.spans[1], map[string]string{"ferrule.decision": "allow", "ferrule.decision.by": "rule", "ferrule.rule": "-", "ferrule.wait.duration": "0"})
		if strings.Contains(c.all.String(), "hunter2") {
			t.Error("content got out")
		}
	})
}

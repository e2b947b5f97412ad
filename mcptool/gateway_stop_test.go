package mcptool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestGatewayStop(t *testing.T) {
	t.Parallel()
	for _, e := range []era{oldEra, newEra} {
		t.Run("M2 a call that waits for a person does not hold a stop, and is answered: "+eraName(e), func(t *testing.T) {
			t.Parallel()
			asked := make(chan struct{}, 1)
			rt := &ferrule.Runtime{
				Guard: unguarded(),
				Inbox: &policy.Memory{},
				Decide: func(context.Context, *tool.Request) (tool.Decision, error) {
					return tool.Decision{Verdict: tool.Ask, Rule: "test"}, nil
				},
				Observe: func(e audit.Event) {
					if e.Kind == audit.Asked {
						asked <- struct{}{}
					}
				},
			}
			if err := rt.Add(echo(t)); err != nil {
				t.Fatal(err)
			}
			g := gatewayOf(t, rt, nil)
			k := meet(t, g, e)
			done := make(chan *reply, 1)
			go func() { done <- k.do(t.Context(), "tools/call", `{"name":"echo","arguments":{"text":"x"}}`) }()
			soonFrom(t, asked, "the question")
			closed := make(chan error, 1)
			go func() { closed <- g.Close(context.WithoutCancel(t.Context())) }()
			if r := soonFrom(t, done, "the answer"); r.end == nil || !strings.Contains(string(r.end.result), `"isError":true`) {
				t.Errorf("got %+v, want a result that says that it was stopped", r.end)
			}
			if err := soonFrom(t, closed, "close"); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("M2 a call that waits for its client does not hold a stop", func(t *testing.T) {
		t.Parallel()
		g := gatewayOf(t, allowing(), map[string]*testServer{"s": asksOnce()})
		asked := make(chan struct{}, 1)
		k := meet(t, g, oldEra, func(k *talker) {
			k.asked = func(string, json.RawMessage) (json.RawMessage, *Fault) {
				asked <- struct{}{}
				return nil, nil // it does not answer
			}
		})
		done := make(chan *reply, 1)
		go func() { done <- k.do(t.Context(), "tools/call", `{"name":"s__ask"}`) }()
		soonFrom(t, asked, "the question")
		if err := g.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if r := soonFrom(t, done, "the answer"); r.end == nil || !strings.HasPrefix(callText(r.end.result), "not answered") {
			t.Errorf("got %+v, want what the server says then", r.end)
		}
	})
	t.Run("M2 a stop keeps to its time, and what does not stop is answered", func(t *testing.T) {
		t.Parallel()
		running, let := make(chan struct{}), make(chan struct{})
		deaf, err := tool.New(tool.Info{Name: "deaf", Description: "It does not hear.", Claims: tool.Claims{ReadOnly: true, Local: true}},
			func(context.Context, echoIn) (string, error) {
				close(running)
				<-let
				return "late", nil
			})
		if err != nil {
			t.Fatal(err)
		}
		rt := allowing()
		if err := rt.Add(deaf); err != nil {
			t.Fatal(err)
		}
		g := gatewayOf(t, rt, nil)
		k := meet(t, g, oldEra)
		t.Cleanup(func() { close(let) })
		done := make(chan *reply, 1)
		go func() { done <- k.do(t.Context(), "tools/call", `{"name":"deaf","arguments":{"text":"x"}}`) }()
		soonFrom(t, running, "the call")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := g.Close(ctx); err == nil {
			t.Error("got nil, want that a session did not end")
		}
		if took := time.Since(began); took > 5*time.Second { // the tool has 10 s to hear
			t.Errorf("it took %v", took)
		}
		if r := soonFrom(t, done, "the answer"); r.end == nil || r.end.fault == nil || !strings.Contains(r.end.fault.Message, "may or may not") {
			t.Errorf("got %+v, want a fault that says that nobody knows", r.end)
		}
	})
}

package mcptool

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// hangUp serves a client that makes one call, and ends its input once the call is
// under way. It gives what the client read, and how long the end took.
func hangUp(t *testing.T, g *Gateway, params string, underway <-chan struct{}) (out string, took time.Duration) {
	t.Helper()
	in, say := io.Pipe()
	var heard bytes.Buffer
	over := make(chan error, 1)
	go func() { over <- g.ServeStdio(t.Context(), in, &heard, tool.Caller{}) }()
	for _, line := range []string{
		rpc(0, "initialize", greetingParams), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, rpc(1, "tools/call", params),
	} {
		if _, err := io.WriteString(say, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	<-underway
	began := time.Now()
	if err := say.Close(); err != nil {
		t.Error(err)
	}
	if err := <-over; err != nil {
		t.Errorf("got %v, want nil", err)
	}
	return heard.String(), time.Since(began)
}

func TestStdioEnd(t *testing.T) {
	t.Parallel()
	t.Run("M2 a client that has gone is not waited for with a question", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
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
			out, took := hangUp(t, gatewayOf(t, rt, nil), `{"name":"echo","arguments":{"text":"x"}}`, asked)
			if took > stdioStop {
				t.Errorf("it took %s, want the end at once", took)
			}
			if !strings.Contains(out, "Aborted") || strings.Contains(out, "may or may not") {
				t.Errorf("got %s, want that nothing was done", out)
			}
		})
	})
	t.Run("M2 a call that takes too long has time to stop, and says what became of it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			running := make(chan struct{})
			slow, err := tool.New(tool.Info{Name: "slow", Description: "It takes long.", Cancel: true, Claims: tool.Claims{ReadOnly: true, Local: true}},
				func(ctx context.Context, _ echoIn) (string, error) {
					close(running)
					<-ctx.Done()
					return "", ctx.Err()
				})
			if err != nil {
				t.Fatal(err)
			}
			rt := allowing()
			if err := rt.Add(slow); err != nil {
				t.Fatal(err)
			}
			out, took := hangUp(t, gatewayOf(t, rt, nil), `{"name":"slow","arguments":{"text":"x"}}`, running)
			if took < stdioFinish || took > stdioFinish+stdioStop {
				t.Errorf("it took %s, want %s", took, stdioFinish)
			}
			if !strings.Contains(out, "Aborted") || strings.Contains(out, "did not stop in time") {
				t.Errorf("got %s, want what became of it", out)
			}
		})
	})
}

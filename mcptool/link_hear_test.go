package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLinkRequestsOfServer(t *testing.T) {
	t.Parallel()
	answers := listener{requested: func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		switch method {
		case "fault":
			return nil, fmt.Errorf("the client: %w", &Fault{Code: 7, Message: "declined", Data: json.RawMessage(`{}`)})
		case "broken":
			return nil, errors.New("open /home/me/secret: no such file")
		}
		return params, nil
	}}
	tests := []struct {
		name   string
		hears  listener
		method string
		want   string
	}{
		{"M1 a request is answered", answers, "elicitation/create", `{"jsonrpc":"2.0","id":"x","result":{"a":1}}`},
		{"a fault goes back as it is", answers, "fault", `{"jsonrpc":"2.0","id":"x","error":{"code":7,"message":"declined","data":{}}}`},
		{"our own errors are not told", answers, "broken", `{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"the client could not answer"}}`},
		{"a ping is answered by the link", listener{}, "ping", `{"jsonrpc":"2.0","id":"x","result":{}}`},
		{"nobody listens", listener{}, "roots/list", `{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"method not found"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t, tt.hears)
			p.say(`{"jsonrpc":"2.0","id":"x","method":%q,"params":{"a":1}}`, tt.method)
			m := p.hear()
			if got := string(m.append(nil)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestLinkRequestsAtOnce(t *testing.T) {
	t.Parallel()
	waits := listener{requested: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}
	t.Run("M1 a request that the server withdraws ends, and is not answered", func(t *testing.T) {
		cause := make(chan error, 1)
		p := newPeer(t, listener{requested: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return nil, context.Cause(ctx)
		}})
		p.say(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`)
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if err := <-cause; !errors.Is(err, errWithdrawn) {
			t.Errorf("got %v, want %v", err, errWithdrawn)
		}
		p.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if got := p.hear(); string(got.id) != "2" {
			t.Errorf("got an answer to %s, want to 2", got.id)
		}
	})
	t.Run("too many are refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t, waits)
			for i := range maxAsked {
				p.say(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, i)
			}
			synctest.Wait()
			p.say(`{"jsonrpc":"2.0","id":"more","method":"x"}`)
			if got := p.hear(); string(got.id) != `"more"` || got.fault == nil || got.fault.Message != "too many requests at once" {
				t.Errorf("got %s, want a refusal", got.append(nil))
			}
		})
	})
	t.Run("an id that is in use is refused", func(t *testing.T) {
		p := newPeer(t, waits)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
		if got := p.hear(); got.fault == nil || got.fault.Code != codeInvalid {
			t.Errorf("got %s, want a refusal", got.append(nil))
		}
	})
}

func TestLinkFaults(t *testing.T) {
	t.Parallel()
	t.Run("M1 garbage is counted, and the link goes on", func(t *testing.T) {
		p := newPeer(t, listener{})
		a := p.ask(t.Context(), "a", ``, nil)
		id := p.hear().id
		for _, line := range []string{"Server listening…", `{"jsonrpc":"2.0"`, `[]`, "\x00\xff", `{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"?"}}`} {
			p.say("%s", line)
		}
		p.say("\r")
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		p.wantAnswer(a, `{}`)
		if n := p.link.faults.count.Load(); n != 6 {
			t.Errorf("got %d faults, want 6", n)
		}
		if got := p.link.faults.String(); !strings.HasPrefix(got, "6 times, first not a message: not JSON") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("M1 garbage that comes slowly, or between messages, is borne", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t, listener{})
			for range 3 * maxFaults {
				p.say("x")
				p.say(`{"jsonrpc":"2.0","method":"notifications/y"}`)
			}
			for range 3 {
				for range maxFaults / 2 {
					p.say("x")
				}
				time.Sleep(faultTime + time.Second)
			}
			synctest.Wait()
			if err := p.link.why(); err != nil {
				t.Errorf("got %v, want that the link goes on", err)
			}
		})
	})
	t.Run("L4 not all garbage is logged", func(t *testing.T) {
		var out bytes.Buffer
		l := makePipeLink(t.Context(), listener{}, slog.New(slog.NewTextHandler(&out, nil)), nil)
		for range 3 * maxFaultLogged {
			l.line([]byte("x"))
		}
		if n := strings.Count(out.String(), "no message"); n != maxFaultLogged {
			t.Errorf("got %d lines, want %d", n, maxFaultLogged)
		}
	})
	t.Run("L4 a server that asks where nobody can answer does not fill the log", func(t *testing.T) {
		var out bytes.Buffer
		l := makePipeLink(t.Context(), listener{}, slog.New(slog.NewTextHandler(&out, nil)), nil)
		gone := &listener{requested: func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return nil, errLeft }}
		for range 3 * maxFaultLogged {
			answerTo(t.Context(), gone, message{id: json.RawMessage("1"), method: "roots/list"}, l.log, &l.faults)
		}
		if n := strings.Count(out.String(), "was not answered"); n != maxFaultLogged {
			t.Errorf("got %d lines, want %d", n, maxFaultLogged)
		}
		if n := l.faults.count.Load(); n != 0 {
			t.Errorf("got %d faults, want none: the client has gone, the server did nothing wrong", n)
		}
	})
	t.Run("too much garbage ends the link", func(t *testing.T) {
		p := newPeer(t, listener{})
		for range maxFaults {
			p.say("x")
		}
		<-p.link.ended()
		if err := p.link.why(); err == nil || !strings.Contains(err.Error(), "too much that is no message: 1000 times") {
			t.Errorf("got %v", err)
		}
	})
}

func TestLines(t *testing.T) {
	t.Parallel()
	in := newLines(strings.NewReader("\n  one \r\n\n"+strings.Repeat("x", 100_000)+"\nlast"), 100_001)
	for _, want := range []string{"one", strings.Repeat("x", 100_000), "last"} {
		if got, err := in.next(); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", short(string(got)), err, short(want))
		}
	}
	if got, err := in.next(); err == nil {
		t.Errorf("got %s, want the end", got)
	}
	in = newLines(strings.NewReader(strings.Repeat("x", 100_000)+"\n"), 100_000)
	if _, err := in.next(); !errors.Is(err, errLong) {
		t.Errorf("got %v, want %v", err, errLong)
	}
}

func TestLinkConversation(t *testing.T) {
	t.Parallel()
	for _, e := range []era{oldEra, newEra} {
		t.Run(fmt.Sprintf("M1 progress, a question and an answer in one call (era %d)", e), func(t *testing.T) {
			t.Parallel()
			s := &testServer{methods: map[string]func(*testCall) (json.RawMessage, error){
				"tools/call": func(c *testCall) (json.RawMessage, error) {
					c.progress(1)
					c.notify("notifications/message", `{"level":"info"}`)
					got, err := c.ask("elicitation/create", `{"message":"sure?"}`)
					c.progress(2)
					return got, err
				},
			}}
			var all, own record
			hears := all.listener()
			hears.requested = func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
				return setMembers(nil, pair{"asked", quote(method + textMember(params, "message"))}), nil
			}
			l := s.connect(t, e, *hears)
			got, err := l.do(t.Context(), "tools/call", json.RawMessage(`{"_meta":{"progressToken":9}}`), own.listener())
			if err != nil || string(got) != `{"asked":"elicitation/createsure?"}` {
				t.Errorf("got %s, %v", got, err)
			}
			if got := strings.Join(own.lines, "|"); got != `notifications/progress {"progressToken":9,"progress":1}|notifications/progress {"progressToken":9,"progress":2}` {
				t.Errorf("the request heard %s", got)
			}
			if got := strings.Join(all.lines, "|"); got != `notifications/message {"level":"info"}` {
				t.Errorf("the link heard %s", got)
			}
		})
	}
}

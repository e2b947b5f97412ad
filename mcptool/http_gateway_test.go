package mcptool

import (
	"bytes"
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

// slowEcho is a tool that says when it runs, and ends when it may.
func slowEcho(t *testing.T) (slow *tool.Tool, running chan struct{}, let chan struct{}) {
	t.Helper()
	running, let = make(chan struct{}, 1), make(chan struct{})
	slow, err := tool.New(tool.Info{Name: "slow", Description: "Say it later.", Claims: tool.Claims{ReadOnly: true, Local: true}},
		func(ctx context.Context, in echoIn) (string, error) {
			running <- struct{}{}
			select {
			case <-let:
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
			return in.Text, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	slow.Cancel, slow.Cooperative = true, true
	return slow, running, let
}

func serveGateway(t *testing.T, g *Gateway) *doorway {
	t.Helper()
	server := httptest.NewServer(g.Handler(HTTP{Tokens: map[string]string{"key": "alice"}}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return &doorway{url: server.URL, t: t}
}

const greetingParams = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}`

// greet begins a session, and gives the headers of its requests.
func (s *doorway) greet(key []string) (headers []string) {
	s.t.Helper()
	res := s.do("POST", rpc(0, "initialize", greetingParams), key...)
	headers = append(slices.Clone(key), "Mcp-Session-Id", res.Header.Get("Mcp-Session-Id"))
	if got := said(streamOf(s.t, res).rest()); !strings.Contains(got, `"protocolVersion":"2025-11-25"`) {
		s.t.Errorf("got %s", got)
	}
	if res := s.do("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers...); res.StatusCode != 202 {
		s.t.Errorf("got %d, want 202", res.StatusCode)
	}
	return headers
}

func TestHTTPGateway(t *testing.T) {
	key := []string{"Authorization", "Bearer key"}
	t.Run("M2 both eras on one address", func(t *testing.T) {
		rt := allowing()
		if err := rt.Add(echo(t)); err != nil {
			t.Fatal(err)
		}
		s := serveGateway(t, gatewayOf(t, rt, nil))
		session := append(s.greet(key), "Mcp-Protocol-Version", "2025-11-25")
		old := said(streamOf(t, s.do("POST", rpc(1, "tools/call", `{"name":"echo","arguments":{"text":"old"}}`), session...)).rest())
		if !strings.Contains(old, `"text":"old"`) {
			t.Errorf("got %s, want old", old)
		}
		body := rpc(1, "tools/call", metaParams(newVersion, `,"name":"echo","arguments":{"text":"new"}`))
		fresh := said(streamOf(t, s.do("POST", body, append(key, "Mcp-Protocol-Version", newVersion, "Mcp-Method", "tools/call", "Mcp-Name", "echo")...)).rest())
		if !strings.Contains(fresh, `"text":"new"`) {
			t.Errorf("got %s, want new", fresh)
		}
		ping := s.do("POST", rpc(2, "ping", metaParams(newVersion, "")), append(key, "Mcp-Protocol-Version", newVersion, "Mcp-Method", "ping")...)
		if _, f := faultOf(t, ping); ping.StatusCode != 404 || f.Code != codeNoMethod {
			t.Errorf("ping in the new era: got %d %v, want 404", ping.StatusCode, f)
		}
		if res := s.do("DELETE", "", session...); res.StatusCode != 204 {
			t.Errorf("got %d, want 204", res.StatusCode)
		}
	})
	t.Run("M2 arguments stand in headers where a server's schema wants them there", func(t *testing.T) {
		ts := &testServer{methods: map[string]method{
			"tools/list": lists(`{"name":"region","description":"d","inputSchema":{"type":"object","properties":{"where":{"type":"string","x-mcp-header":"Where"}}}}`),
		}}
		s := serveGateway(t, gatewayOf(t, allowing(), map[string]*testServer{"srv": ts}))
		body := rpc(1, "tools/call", metaParams(newVersion, `,"name":"srv__region","arguments":{"where":"here"}`))
		headers := append(key, "Mcp-Protocol-Version", newVersion, "Mcp-Method", "tools/call", "Mcp-Name", "srv__region")
		res := s.do("POST", body, headers...)
		if _, f := faultOf(t, res); res.StatusCode != 400 || f.Code != codeHeaderMismatch {
			t.Errorf("without the header: got %d %v, want 400", res.StatusCode, f)
		}
	})
	t.Run("M2 a graceful stop finishes what runs", func(t *testing.T) {
		slow, running, let := slowEcho(t)
		rt := allowing()
		if err := rt.Add(slow); err != nil {
			t.Fatal(err)
		}
		g := gatewayOf(t, rt, nil)
		s := serveGateway(t, g)
		session := s.greet(key)
		alone := streamOf(t, s.do("GET", "", session...))
		call := streamOf(t, s.do("POST", rpc(1, "tools/call", `{"name":"slow","arguments":{"text":"done"}}`), session...))
		soonFrom(t, running, "the call")
		closed := make(chan error, 1)
		go func() { closed <- g.Close(t.Context()) }()
		for s.do("POST", rpc(2, "tools/list", `{}`), session...).StatusCode != 503 {
			select {
			case err := <-closed:
				t.Fatalf("closed (%v) before the call has ended", err)
			default:
			}
		}
		close(let)
		if got := said(call.rest()); !strings.Contains(got, `"text":"done"`) {
			t.Errorf("got %s, want done", got)
		}
		if err := soonFrom(t, closed, "close"); err != nil {
			t.Error(err)
		}
		alone.rest() // ends
		if res := s.do("POST", rpc(0, "initialize", greetingParams), key...); res.StatusCode != 503 {
			t.Errorf("after Close: got %d, want 503", res.StatusCode)
		}
	})
	t.Run("M2 the end of a session stops its calls", func(t *testing.T) {
		slow, running, _ := slowEcho(t)
		rt := allowing()
		if err := rt.Add(slow); err != nil {
			t.Fatal(err)
		}
		s := serveGateway(t, gatewayOf(t, rt, nil))
		session := s.greet(key)
		call := streamOf(t, s.do("POST", rpc(1, "tools/call", `{"name":"slow","arguments":{"text":"done"}}`), session...))
		soonFrom(t, running, "the call")
		if res := s.do("DELETE", "", session...); res.StatusCode != 204 {
			t.Errorf("got %d, want 204", res.StatusCode)
		}
		if got := said(call.rest()); strings.Contains(got, "done") || !strings.HasPrefix(got, "answer 1 ") {
			t.Errorf("got %q, want the answer of a call that was stopped", got)
		}
	})
	t.Run("M2 a stop that waits no longer answers what runs", func(t *testing.T) {
		slow, running, _ := slowEcho(t)
		rt := allowing()
		if err := rt.Add(slow); err != nil {
			t.Fatal(err)
		}
		g := gatewayOf(t, rt, nil)
		s := serveGateway(t, g)
		call := streamOf(t, s.do("POST", rpc(1, "tools/call", `{"name":"slow","arguments":{"text":"done"}}`), s.greet(key)...))
		soonFrom(t, running, "the call")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Close(ctx); err == nil {
			t.Error("got nil, want that a call still ran")
		}
		if got := said(call.rest()); strings.Contains(got, "done") || !strings.HasPrefix(got, "answer 1 ") {
			t.Errorf("got %q, want the answer of a call that was stopped", got)
		}
	})
}

func TestStdioGateway(t *testing.T) {
	t.Run("M2 a conversation over stdio", func(t *testing.T) {
		rt := allowing()
		if err := rt.Add(echo(t)); err != nil {
			t.Fatal(err)
		}
		in := strings.Join([]string{
			rpc(0, "initialize", greetingParams), `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			rpc(1, "tools/call", `{"name":"echo","arguments":{"text":"hello"}}`),
			rpc(2, "tools/call", metaParams(newVersion, `,"name":"echo","arguments":{"text":"again"}`)),
		}, "\n")
		var out bytes.Buffer
		if err := gatewayOf(t, rt, nil).ServeStdio(t.Context(), strings.NewReader(in), &out, tool.Caller{}); err != nil {
			t.Fatal(err)
		}
		answers := map[string]string{}
		for line := range strings.Lines(out.String()) {
			m, err := parseMessage([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			answers[string(m.id)] = string(m.result)
		}
		for id, want := range map[string]string{"0": `"protocolVersion":"2025-11-25"`, "1": `"text":"hello"`, "2": `"text":"again"`} {
			if !strings.Contains(answers[id], want) {
				t.Errorf("%s: got %s, want %s in it", id, answers[id], want)
			}
		}
	})
}

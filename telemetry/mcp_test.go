package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/telemetry"
	"github.com/ferrule-dev/ferrule/tool"
)

// collectorVariable makes this test a server over stdio, which tells that collector.
const collectorVariable = "FERRULE_TEST_COLLECTOR"

func TestMain(m *testing.M) {
	at := os.Getenv(collectorVariable)
	if at == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := serveStdio(at); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// farTools is a runtime with the tool that the server has.
func farTools(tells *telemetry.Telemetry) (*ferrule.Runtime, error) {
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Trace: tells.Call}
	far, err := tool.New(tool.Info{Name: "far", Description: "Be far away."},
		func(_ context.Context, in note) (string, error) { return "far " + in.Text, nil })
	if err != nil {
		return nil, err
	}
	return rt, rt.Add(far)
}

func serveStdio(at string) error {
	ctx := context.Background()
	tells, err := telemetry.New(ctx, telemetry.Options{Service: "server", OTLP: true, NoMetrics: true, Endpoint: at})
	if err != nil {
		return err
	}
	rt, err := farTools(tells)
	if err != nil {
		return err
	}
	g := &mcptool.Gateway{Runtime: rt, Name: "server", Version: "1", TakeTrace: tells.Take}
	err = g.ServeStdio(ctx, os.Stdin, os.Stdout, tool.Caller{})
	return errors.Join(err, g.Close(ctx), tells.Close(ctx))
}

// A client of either era calls a tool of a gateway that is one of a server behind it:
// the server's span is below the gateway's, and that is below the client's.
func TestAcrossMCP(t *testing.T) {
	t.Parallel()
	const client = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, tt := range []struct {
		name          string
		era           string // of the server
		stdio, inMeta bool
		old           bool // the client
		long          bool // its trace state, which is not taken then
	}{
		{name: "over HTTP, 2025", era: "2025", old: true, inMeta: true},
		{name: "over HTTP, 2026", era: "2026", inMeta: true},
		{name: "over HTTP, 2026, from a header", era: "2026"},
		{name: "over HTTP, 2026, from a header that is too long", era: "2026", long: true},
		{name: "over HTTP, 2026, with more than there is room for", era: "2026", inMeta: true, long: true},
		{name: "over stdio, 2025", era: "2025", stdio: true, inMeta: true},
		{name: "over stdio, 2026", era: "2026", stdio: true, old: true},
	} {
		t.Run("U2 one trace across MCP "+tt.name, func(t *testing.T) {
			t.Parallel()
			c := collect(t)
			given, state := "vendor=hunter", "vendor=hunter"
			if tt.long {
				given, state = fmt.Sprintf("a=%0250d,b=%0250[1]d,c=%0250[1]d,d=%0250[1]d,e=%0250[1]d", 1), ""
			}
			server := mcptool.Server{Name: "server", Era: tt.era, Trust: tool.Own}
			flushServer := func() {}
			if tt.stdio {
				server.Command, server.Env = []string{os.Args[0]}, []string{collectorVariable + "=" + c.URL}
			} else {
				tells, flush := c.tells(t, telemetry.Options{Service: "server"})
				rt, err := farTools(tells)
				if err != nil {
					t.Fatal(err)
				}
				g := &mcptool.Gateway{Runtime: rt, Name: "server", Version: "1", TakeTrace: tells.Take}
				there := httptest.NewServer(g.Handler(mcptool.HTTP{Open: true}))
				server.URL = there.URL
				flushServer = func() {
					if err := g.Close(context.Background()); err != nil {
						t.Error(err)
					}
					there.Close()
					flush()
				}
			}
			tells, flush := c.tells(t, telemetry.Options{})
			rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Trace: tells.Call}
			hub := &mcptool.Hub{Runtime: rt, Name: "gateway", Version: "1", Servers: []mcptool.Server{server}, GiveTrace: tells.Give}
			if err := hub.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := hub.Settled(t.Context()); err != nil {
				t.Fatal(err)
			}
			g := &mcptool.Gateway{Runtime: rt, Hub: hub, Name: "gateway", Version: "1", TakeTrace: tells.Take}
			here := httptest.NewServer(g.Handler(mcptool.HTTP{Open: true}))
			meta, header := map[string]any{}, http.Header{}
			if tt.inMeta {
				meta["traceparent"], meta["tracestate"] = client, given
			} else {
				header.Set("Traceparent", client)
				header.Set("Tracestate", given)
			}
			if got := callOver(t, here.URL, tt.old, meta, header); !strings.Contains(got, "far hunter2") {
				t.Errorf("the answer is %s", got)
			}
			if err := errors.Join(g.Close(context.Background()), hub.Close(context.Background())); err != nil {
				t.Error(err)
			}
			here.Close()
			flush()
			flushServer()
			near, far := c.span(t, "execute_tool server__far"), c.span(t, "execute_tool far")
			below(t, far, near)
			has(t, near, map[string]string{"ferrule.source": "server", "ferrule.outcome": "ok"})
			if got := fmt.Sprintf("00-%x-%x-01", near.GetTraceId(), near.GetParentSpanId()); got != client {
				t.Errorf("the gateway's span is below %s, want %s, that of the client", got, client)
			}
			if near.GetTraceState() != state || far.GetTraceState() != state {
				t.Errorf("trace state = %q and %q, want %q", near.GetTraceState(), far.GetTraceState(), state)
			}
			const remote = 0x300
			if near.GetFlags()&remote != remote || far.GetFlags()&remote != remote {
				t.Errorf("flags = %x and %x, want that both parents are elsewhere", near.GetFlags(), far.GetFlags())
			}
		})
	}
}

// callOver calls the tool as a client of an era does, and gives the answer as text.
func callOver(t *testing.T, at string, old bool, meta map[string]any, header http.Header) string {
	t.Helper()
	session := ""
	post := func(version, method string, id int, params map[string]any) string {
		m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
		if id > 0 {
			m["id"] = id
		}
		body, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header.Clone()
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session,
			"Mcp-Protocol-Version": version, "Mcp-Method": method,
		} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if !old && method == "tools/call" {
			r.Header.Set("Mcp-Name", "server__far")
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Header.Get("Mcp-Session-Id"); got != "" {
			session = got
		}
		return string(text)
	}
	call := map[string]any{"name": "server__far", "arguments": note{"hunter2"}, "_meta": meta}
	if !old {
		meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28"
		meta["io.modelcontextprotocol/clientInfo"] = map[string]any{"name": "test", "version": "1"}
		meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
		return post("2026-07-28", "tools/call", 1, call)
	}
	post("", "initialize", 1, map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}})
	post("2025-11-25", "notifications/initialized", 0, map[string]any{})
	return post("2025-11-25", "tools/call", 2, call)
}

func FuzzTraceparent(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=1")
	f.Add("00-00000000000000000000000000000000-0000000000000000-00", ",,,")
	f.Add("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nX: y", "a=\xff")
	tells, err := telemetry.New(context.Background(), telemetry.Options{Prometheus: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, parent, state string) {
		ctx := tells.Take(t.Context(), func(key string) string {
			return map[string]string{"traceparent": parent, "tracestate": state}[key]
		})
		given := make(map[string]string)
		tells.Give(ctx, func(key, value string) { given[key] = value })
		for key, value := range given {
			if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%s = %q goes on, want what a header can hold", key, value)
			}
		}
		if got := given["traceparent"]; got != "" && (len(got) != 55 || !strings.HasPrefix(strings.ToLower(parent)[2:], got[2:52])) {
			t.Errorf("traceparent %q of a stranger goes on as %q", parent, got)
		}
	})
}

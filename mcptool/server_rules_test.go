package mcptool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

func hinted(name string) string {
	return fmt.Sprintf(`{"name":%q,"description":"does it","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"idempotentHint":true}}`, name)
}

func TestServerClaims(t *testing.T) {
	hints := tool.Claims{ReadOnly: true, Idempotent: true}
	for _, tt := range []struct {
		name   string
		server Server
		want   tool.Claims
	}{
		{"T5 what a server says is not believed", Server{}, tool.Claims{}},
		{"T5 what the operator says is", Server{Claims: map[string]tool.Claims{"t": {Reversible: true, Local: true}}}, tool.Claims{Reversible: true, Local: true}},
		{"T5 it is of the tool of that very name", Server{Claims: map[string]tool.Claims{"T": {Local: true}, "t2": {Local: true}}}, tool.Claims{}},
		{"T5 hints that are believed", Server{BelieveAll: true}, hints},
		{"T5 the operator's word stands in the place of hints that are believed", Server{BelieveAll: true, Claims: map[string]tool.Claims{"t": {Reversible: true}}}, tool.Claims{Reversible: true}},
		{"T5 that a tool claims nothing can be said too", Server{Trust: tool.Own, Claims: map[string]tool.Claims{"t": {}}}, tool.Claims{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": lists(hinted("t"))}}})
			tt.server.Name, tt.server.Command = "s", h.Servers[0].Command
			h.Servers[0] = tt.server
			h.Runtime = &ferrule.Runtime{Guard: unguarded(), Believe: h.Believes}
			start(t, h)
			found, ok := h.Runtime.Find("s__t")
			if !ok || fmt.Sprint(found.Claims) != fmt.Sprint(tt.want) {
				t.Errorf("got %+v, %v, want %+v", found.Claims, ok, tt.want)
			}
		})
	}
	t.Run("T5 names that no tool has are told", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": lists(hinted("t"))}}})
		h.Servers[0].Claims = map[string]tool.Claims{"t": {}, "gone": {}}
		h.Servers[0].Believe = []string{"T"}
		start(t, h)
		want := []string{`claims: it has no tool "gone"`, `believe: it has no tool "T"`}
		if got := h.Status()[0].Notes; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestServerRulesChecked(t *testing.T) {
	for want, s := range map[string]Server{
		"tool t: claims: read-only, but writes":                      {Claims: map[string]tool.Claims{"t": {ReadOnly: true, Touches: []tool.Access{{Resource: "mcp:s", Write: true}}}}},
		"bytes of arguments: got -1, want more than 0, or 0":         {ArgumentBytes: -1},
		"bytes of a result: got -1, want more than 0, or 0":          {ResultBytes: -1},
		"breaker: got -3 calls, want more than 0, 0 for 5":           {BreakerAfter: -3},
		"breaker: got a pause of -1s, want more than 0, or 0 for 20": {BreakerPause: -time.Second},
	} {
		s.Name, s.Command = "s", []string{"x"}
		h := &Hub{Runtime: &ferrule.Runtime{Guard: unguarded()}, Servers: []Server{s}}
		if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "hub: server s: "+want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestServerBytes(t *testing.T) {
	calls := 0
	ts := &testServer{methods: map[string]method{
		"tools/list": lists(plainTool("t")),
		"tools/call": func(c *testCall) (json.RawMessage, error) {
			calls++
			arguments, _ := member(c.params, "arguments")
			return says(strings.Repeat("x", len(textMember(arguments, "x"))*10)), nil
		},
	}}
	h := hubOf(t, map[string]*testServer{"s": ts})
	h.Runtime = allowAll()
	h.Servers[0].ArgumentBytes, h.Servers[0].ResultBytes = 100, 500
	start(t, h)
	for _, tt := range []struct {
		name   string
		size   int
		kind   tool.Kind
		text   string
		detail string
		calls  int
	}{
		{"P9 what is not too much goes through", 20, "", "", "", 1},
		{
			"P9 arguments that are too long are not sent", 93, tool.InvalidValue,
			"The arguments have 101 bytes, and server s is sent at most 100. Nothing was done. Send less at once.",
			"got 101 bytes of arguments, want at most 100: argument_bytes of server s", 0,
		},
		{
			"P9 a result that is too long is not taken, and the model knows that the call was made", 80, tool.Failed,
			"The result has 839 bytes, and at most 500 are taken from server s. The call was made, and may have had its effect. Ask for less at once.",
			"got a result of 839 bytes, want at most 500: result_bytes of server s", 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := calls
			x := &testExchange{a: &testAudience{version: newVersion}, raw: `{}`}
			got := h.Runtime.Session(tool.Caller{}).Call(withExchange(t.Context(), x), "s__t", fmt.Sprintf(`{"x":%q}`, strings.Repeat("a", tt.size)))
			if calls-before != tt.calls {
				t.Errorf("got %d calls, want %d", calls-before, tt.calls)
			}
			if tt.kind == "" {
				if got.Err != nil {
					t.Error(got.Err)
				}
				return
			}
			if got.Err == nil || got.Err.Kind != tt.kind || got.Err.Text != tt.text || got.Err.Detail != tt.detail {
				t.Errorf("got  %+v\nwant %s, %q, %q", got.Err, tt.kind, tt.text, tt.detail)
			}
			if x.result != nil {
				t.Errorf("the gateway was given %d bytes, want none of them", len(x.result))
			}
		})
	}
}

func TestIsolationOnRecord(t *testing.T) {
	for _, tt := range []struct {
		name string
		hub  func(t *testing.T) *Hub
		want string
	}{
		{"N3 a plain process", func(t *testing.T) *Hub { return &Hub{Servers: []Server{logging(t)}} }, plainProcess},
		{"N3 a server that is elsewhere", func(t *testing.T) *Hub {
			h := hubOf(t, map[string]*testServer{"old": {methods: map[string]method{
				"tools/list": lists(plainTool("pid")), "tools/call": func(*testCall) (json.RawMessage, error) { return says("1"), nil },
			}}})
			h.Servers[0].Command, h.Servers[0].URL = nil, "http://127.0.0.1:1/mcp"
			return h
		}, elsewhere},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var seen []string
			rt := allowAll()
			rt.Observe = func(e audit.Event) {
				if e.Kind == audit.Isolated || e.Kind == audit.Started && e.Text != "" {
					seen = append(seen, e.Text)
				}
			}
			h := tt.hub(t)
			h.Runtime = rt
			start(t, h)
			if got := rt.Session(tool.Caller{}).Call(t.Context(), "old__pid", "{}"); got.Err != nil {
				t.Fatal(got.Err)
			}
			if !slices.Equal(seen, []string{tt.want}) || h.Status()[0].Isolation != tt.want {
				t.Errorf("got %q and %q, want %q", seen, h.Status()[0].Isolation, tt.want)
			}
		})
	}
}

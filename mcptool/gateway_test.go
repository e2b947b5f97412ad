package mcptool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

type echoIn struct {
	Text string `json:"text"`
}

func echo(t *testing.T) *tool.Tool {
	t.Helper()
	e, err := tool.New(tool.Info{Name: "echo", Description: "Say it again.", Claims: tool.Claims{ReadOnly: true, Local: true}},
		func(_ context.Context, in echoIn) (string, error) { return in.Text, nil })
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func ownGateway(t *testing.T) *Gateway {
	t.Helper()
	rt := &ferrule.Runtime{Guard: unguarded()}
	if err := rt.Add(echo(t)); err != nil {
		t.Fatal(err)
	}
	return gatewayOf(t, rt, nil)
}

func TestGatewayOwnTools(t *testing.T) {
	t.Parallel()
	for _, e := range []era{oldEra, newEra} {
		t.Run("M2 "+eraName(e)+" era", func(t *testing.T) {
			t.Parallel()
			k := meet(t, ownGateway(t), e)
			list := k.must("tools/list", `{}`)
			if got := namesIn(list, "tools"); !slices.Equal(got, []string{"echo"}) {
				t.Errorf("listed %q", got)
			}
			tools, _ := member(list, "tools")
			all, _ := items(tools)
			if notes, _ := member(all[0], "annotations"); string(notes) != `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}` {
				t.Errorf("annotations: got %s", notes)
			}
			result := k.must("tools/call", `{"name":"echo","arguments":{"text":"a <b> \"c\""}}`)
			if got := callText(result); got != `a <b> "c"` {
				t.Errorf("got %q", got)
			}
			if _, has := member(result, "resultType"); has != (e == newEra) {
				t.Errorf("resultType: got %v in %s", has, result)
			}
			bad := k.must("tools/call", `{"name":"echo","arguments":{"txt":"a"}}`)
			if wrong, _ := member(bad, "isError"); string(wrong) != "true" || !strings.Contains(callText(bad), "txt") {
				t.Errorf("bad arguments: got %s", bad)
			}
			if f := k.fails("tools/call", `{"name":"nope"}`); f.Code != codeInvalidParams || f.Message != "Unknown tool: nope" {
				t.Errorf("unknown tool: got %+v", f)
			}
			if f := k.fails("tools/list", `{"cursor":"x"}`); f.Code != codeInvalidParams {
				t.Errorf("a cursor that was not given: got %+v", f)
			}
			if f := k.fails("tasks/list", `{}`); f.Code != codeNoMethod {
				t.Errorf("an unknown method: got %+v", f)
			}
		})
	}
}

func TestGatewayHandshake(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ wants, gets string }{
		{"2024-11-05", "2024-11-05"},
		{"2025-03-26", "2025-03-26"},
		{"2025-06-18", "2025-06-18"},
		{"2025-11-25", "2025-11-25"},
		{"2026-07-28", "2025-11-25"}, // that era has no handshake
		{"1999-01-01", "2025-11-25"},
	} {
		t.Run("M2 "+tt.wants, func(t *testing.T) {
			t.Parallel()
			g := ownGateway(t)
			c, err := g.join(joining{})
			if err != nil {
				t.Fatal(err)
			}
			k := &talker{t: t, c: c}
			if f := k.fails("tools/list", `{}`); f.Code != codeInvalid {
				t.Errorf("before initialize: got %+v", f)
			}
			if got := k.must("ping", ``); string(got) != "{}" {
				t.Errorf("ping: got %s", got)
			}
			result := k.must("initialize", `{"protocolVersion":"`+tt.wants+`","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`)
			if got := textMember(result, "protocolVersion"); got != tt.gets || c.version() != tt.gets {
				t.Errorf("agreed on %q, want %q", got, tt.gets)
			}
			if can, _ := member(result, "capabilities"); string(can) != `{"tools":{"listChanged":true}}` {
				t.Errorf("capabilities: got %s", can)
			}
			if info, _ := member(result, "serverInfo"); string(info) != `{"name":"ferrule","version":"1"}` {
				t.Errorf("serverInfo: got %s", info)
			}
			k.must("tools/list", `{}`)
			if f := k.fails("initialize", `{"protocolVersion":"2025-11-25"}`); f.Code != codeInvalid {
				t.Errorf("a second initialize: got %+v", f)
			}
			if f := k.fails("server/discover", `{}`); f.Code != codeNoMethod {
				t.Errorf("discover in the old era: got %+v", f)
			}
		})
	}
}

func TestGatewayStateless(t *testing.T) {
	t.Parallel()
	g := ownGateway(t)
	k := meet(t, g, newEra)
	t.Run("M2 discover", func(t *testing.T) {
		result := k.must("server/discover", `{}`)
		for _, want := range []string{
			`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`, `"resultType":"complete"`, `"ttlMs":`, `"cacheScope":"private"`,
			`"io.modelcontextprotocol/serverInfo":{"name":"ferrule","version":"1"}`,
		} {
			if !strings.Contains(string(result), want) {
				t.Errorf("got %s, want %s in it", result, want)
			}
		}
	})
	t.Run("M2 what a request must carry", func(t *testing.T) {
		for _, tt := range []struct {
			name, method, meta string
			code               int
			data               string
		}{
			{"nothing", "tools/list", `{}`, codeInvalidParams, ""},
			{"no capabilities", "tools/list", `{"` + metaVersion + `":"2026-07-28"}`, codeInvalidParams, ""},
			{"client without a name", "tools/list", `{"` + metaVersion + `":"2026-07-28","` + metaCapabilities + `":{},"` + metaClientInfo + `":{}}`, codeInvalidParams, ""},
			{"a later version", "tools/list", `{"` + metaVersion + `":"2099-01-01","` + metaCapabilities + `":{}}`, codeUnsupportedVersion, `"requested":"2099-01-01"`},
			{"ping", "ping", `{"` + metaVersion + `":"2026-07-28","` + metaCapabilities + `":{}}`, codeNoMethod, ""},
			{"initialize", "initialize", `{"` + metaVersion + `":"2026-07-28","` + metaCapabilities + `":{}}`, codeNoMethod, ""},
			{"a level", "logging/setLevel", `{"` + metaVersion + `":"2026-07-28","` + metaCapabilities + `":{}}`, codeNoMethod, ""},
		} {
			r := &reply{k: k}
			k.c.handle(t.Context(), message{id: json.RawMessage("9"), method: tt.method, params: json.RawMessage(`{"_meta":` + tt.meta + `}`)}, r)
			if r.end == nil || r.end.fault == nil || r.end.fault.Code != tt.code || !strings.Contains(string(r.end.fault.Data), tt.data) {
				t.Errorf("%s: got %+v, want code %d", tt.name, r.end, tt.code)
			}
		}
	})
	t.Run("M2 principal and client name are the session", func(t *testing.T) {
		for _, tt := range []struct {
			principal, name string
			same            bool
		}{{"", "tester", true}, {"", "other", false}, {"alice", "tester", false}} {
			c, err := g.join(joining{caller: tool.Caller{Principal: tt.principal}, stateless: true, name: tt.name})
			if err != nil {
				t.Fatal(err)
			}
			if (c == k.c) != tt.same {
				t.Errorf("%+v: same session %v", tt, c == k.c)
			}
		}
	})
	t.Run("M2 stdio may speak either era", func(t *testing.T) {
		c, err := g.join(joining{push: k})
		if err != nil {
			t.Fatal(err)
		}
		both := &talker{t: t, c: c, era: newEra, name: "both", can: `{}`}
		both.must("tools/list", `{}`)
		both.era = oldEra
		if f := both.fails("tools/list", `{}`); f.Code != codeInvalid {
			t.Errorf("got %+v", f)
		}
		both.must("initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`)
		both.must("tools/list", `{}`)
	})
}

package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// resourcesOf is a server with resources and templates of these addresses, which
// answers reads as it is told.
func resourcesOf(uris, templates string, read method) *testServer {
	answer := func(text string) method {
		return func(*testCall) (json.RawMessage, error) { return json.RawMessage(text), nil }
	}
	return &testServer{old: true, capabilities: `{"tools":{},"prompts":{},"resources":{},"logging":{}}`, methods: map[string]method{
		"tools/list":               lists(plainTool("t")),
		"prompts/list":             answer(`{"prompts":[{"name":"p"}]}`),
		"logging/setLevel":         answer(`{}`),
		"resources/list":           answer(`{"resources":` + uris + `}`),
		"resources/templates/list": answer(`{"resourceTemplates":` + templates + `}`),
		"resources/read":           read,
	}}
}

func readsAs(text string) method {
	return func(*testCall) (json.RawMessage, error) { return setMembers(nil, pair{"by", quote(text)}), nil }
}

func readFails(err error) method {
	return func(*testCall) (json.RawMessage, error) { return nil, err }
}

func TestGatewayHungServer(t *testing.T) {
	t.Parallel()
	t.Run("M1 a server that hangs keeps nothing of the others from the client", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			hangs := func(c *testCall) (json.RawMessage, error) {
				<-c.ctx.Done()
				return nil, errSilent
			}
			a, b, s := resourcesOf(`[]`, `[]`, nil), resourcesOf(`[]`, `[]`, nil), resourcesOf(`[{"uri":"s:1"}]`, `[]`, readsAs("s"))
			for _, ts := range []*testServer{a, b} {
				for _, m := range []string{"prompts/list", "resources/list", "resources/templates/list", "logging/setLevel"} {
					if ts == a || m != "logging/setLevel" { // one after the other until one has judged it
						ts.methods[m] = hangs
					}
				}
			}
			k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"a": a, "b": b, "s": s}), oldEra)
			for method, params := range map[string]string{
				"prompts/list": `{}`, "resources/list": `{}`, "logging/setLevel": `{"level":"info"}`, "resources/read": `{"uri":"s:1"}`,
			} {
				began := time.Now()
				k.must(method, params)
				if took := time.Since(began); took > eachTime+time.Second {
					t.Errorf("%s took %s, want at most %s", method, took, eachTime)
				}
			}
			if got := namesIn(k.must("prompts/list", `{}`), "prompts"); !slices.Equal(got, []string{"s__p"}) {
				t.Errorf("got %q, want the prompts of the one that answers", got)
			}
		})
	})
}

func TestGatewayResourceOf(t *testing.T) {
	t.Parallel()
	absent := readFails(&Fault{Code: codeNoResource, Message: "not found"})
	tests := map[string]struct {
		a, b *testServer
		want string // who has read it; "": nobody
		asks int    // how often b is asked
	}{
		"M2 a resource that nobody lists goes to servers with templates": {
			a: resourcesOf(`[]`, `[]`, readsAs("a")), b: resourcesOf(`[]`, `[{"uriTemplate":"b:{x}"}]`, readsAs("b")), want: "b", asks: 1,
		},
		"M2 and to no other": {
			a: resourcesOf(`[]`, `[]`, readsAs("a")), b: resourcesOf(`[]`, `[]`, readsAs("b")),
		},
		"M2 the next one is asked after not found": {
			a: resourcesOf(`[]`, `[{"uriTemplate":"a:{x}"}]`, absent), b: resourcesOf(`[]`, `[{"uriTemplate":"b:{x}"}]`, readsAs("b")), want: "b", asks: 1,
		},
		"M2 but not after another failure": {
			a: resourcesOf(`[]`, `[{"uriTemplate":"a:{x}"}]`, readFails(errors.New("broken"))), b: resourcesOf(`[]`, `[{"uriTemplate":"b:{x}"}]`, readsAs("b")),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"a": tt.a, "b": tt.b}), oldEra)
			r := k.do(t.Context(), "resources/read", `{"uri":"z:1"}`)
			if got := textMember(r.end.result, "by"); got != tt.want || (r.end.fault == nil) != (tt.want != "") {
				t.Errorf("read by %q (%v), want %q", got, r.end.fault, tt.want)
			}
			if n := len(tt.b.heard("resources/read")); n != tt.asks {
				t.Errorf("b was asked %d times, want %d", n, tt.asks)
			}
		})
	}
}

func TestGatewayErrorsOfClients(t *testing.T) {
	t.Parallel()
	t.Run("L5 a client is not told paths, nor what a server wrote", func(t *testing.T) {
		t.Parallel()
		const secret = "/home/u/server: it wrote at last: password=1"
		log := &lockedBuffer{}
		g := gatewayOf(t, allowing(), map[string]*testServer{"s": resourcesOf(`[]`, `[]`, nil)}, func(g *Gateway) {
			g.Log = slog.New(slog.NewTextHandler(log, nil))
			dial := g.Hub.dial
			g.Hub.dial = func(ctx context.Context, s *server, who introduction, hears *listener) (link, error) {
				if textMember(who.info, "name") != "tester-of-errors" {
					return dial(ctx, s, who, hears)
				}
				return nil, errors.New(secret)
			}
		})
		k := meet(t, g, oldEra, func(k *talker) { k.name = "tester-of-errors" })
		f := k.fails("resources/read", `{"uri":"a:b"}`)
		if want := "The server cannot be reached now. Nothing was done."; f.Code != codeInternal || f.Message != want {
			t.Errorf("got %+v, want %q", f, want)
		}
		if !strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q, want the detail", log)
		}
	})
}

func TestGatewayUnseen(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*maxUnseen)
	text := func(beside string) string { return `{"content":[{"type":"text","text":"hello"` + beside }
	tests := map[string]struct {
		result string
		raw    bool // it goes out as it is
	}{
		"R3 a little":                  {text(`,"annotations":{"x":1.0}}],"_meta":{"k":1e2}}`), true},
		"R3 much in _meta":             {text(`}],"_meta":{"k":"` + long + `"}}`), false},
		"R3 much in another member":    {text(`}],"more":"` + long + `"}`), false},
		"R3 much in a block":           {text(`,"annotations":"` + long + `"}]}`), false},
		"R3 much about a link":         {text(`},{"type":"resource_link","uri":"a:b","name":"n","description":"` + long + `"}]}`), false},
		"R3 much of a file":            {text(`},{"type":"resource","resource":{"uri":"a:b","mimeType":"application/pdf","blob":"` + long + `"}}]}`), false},
		"R3 a large picture":           {text(`},{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("AAAA", maxUnseen) + `"}],"z":1.0}`), true},
		"R3 many short blocks":         {text(`}` + strings.Repeat(`,{"type":"text","text":"a"}`, 1000) + `],"z":1.0}`), true},
		"R3 much that is only counted": {`{"content":[],"structuredContent":{"a":"` + long + `"},"z":1.0}`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ts := &testServer{old: true, methods: map[string]method{
				"tools/list": lists(plainTool("t")),
				"tools/call": func(*testCall) (json.RawMessage, error) { return json.RawMessage(tt.result), nil },
			}}
			k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), oldEra)
			got := k.must("tools/call", `{"name":"s__t"}`)
			if raw := string(got) == tt.result; raw != tt.raw {
				t.Errorf("got %d of %d bytes, %.200s", len(got), len(tt.result), got)
			}
			if !tt.raw && (len(got) > maxUnseen || !strings.Contains(string(got), "hello")) {
				t.Errorf("got %d bytes, %.200s", len(got), got)
			}
		})
	}
}

package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestGatewayLists(t *testing.T) {
	t.Parallel()
	defs := make(chan []string, 1)
	defs <- []string{plainTool("b"), plainTool("a")}
	now := func() []string {
		d := <-defs
		defs <- d
		return d
	}
	conns := make(chan *testConn, 16)
	ts := &testServer{old: true, methods: map[string]method{"tools/list": func(c *testCall) (json.RawMessage, error) {
		select {
		case conns <- c.conn:
		default:
		}
		return lists(now()...)(c)
	}}}
	other := &testServer{methods: map[string]method{"tools/list": lists(plainTool("z"))}}
	g := gatewayOf(t, allowing(), map[string]*testServer{"s": ts, "r": other})
	k, stateless := meet(t, g, oldEra), meet(t, g, newEra)
	first := k.must("tools/list", `{}`)
	t.Run("M3 the list is the same for all sessions of a principal", func(t *testing.T) {
		again := meet(t, g, oldEra)
		if got := again.must("tools/list", `{}`); string(got) != string(first) {
			t.Errorf("got %s, want %s", got, first)
		}
		if got, want := namesIn(stateless.must("tools/list", `{}`), "tools"), namesIn(first, "tools"); !slices.Equal(got, want) || len(got) != 3 {
			t.Errorf("in the new era: got %q, want %q", got, want)
		}
	})
	t.Run("M3 who was listed another list is told, in both eras", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		told := make(chan message, 8)
		ended := make(chan *reply)
		go func() {
			ended <- stateless.doAs(ctx, json.RawMessage(`"l"`), "subscriptions/listen", `{"notifications":{"toolsListChanged":true,"promptsListChanged":true}}`,
				func(m message) { told <- m })
		}()
		const meta = `"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}`
		if m := <-told; m.method != "notifications/subscriptions/acknowledged" || string(m.params) != `{"notifications":{"toolsListChanged":true},`+meta+`}` {
			t.Errorf("first: got %s %s", m.method, m.params)
		}
		<-defs
		defs <- []string{plainTool("b"), plainTool("a"), plainTool("c")}
		(<-conns).send(message{method: "notifications/tools/list_changed"})
		if got := k.hears(1); got[0].method != "notifications/tools/list_changed" {
			t.Errorf("got %q", got[0].method)
		}
		if m := <-told; m.method != "notifications/tools/list_changed" || string(m.params) != "{"+meta+"}" {
			t.Errorf("got %s %s", m.method, m.params)
		}
		if got := namesIn(k.must("tools/list", `{}`), "tools"); !slices.Contains(got, "s__c") {
			t.Errorf("got %q, want s__c too", got)
		}
		stop()
		<-ended
	})
}

func TestGatewayListKept(t *testing.T) {
	t.Parallel()
	for _, e := range []era{oldEra, newEra} {
		for _, mode := range []Mode{Full, Deferred} {
			t.Run(fmt.Sprintf("M3 a list that has not changed is the same bytes, %s era, %s", eraName(e), mode), func(t *testing.T) {
				t.Parallel()
				defs := make(chan string, 1)
				defs <- plainTool("a")
				ts := &testServer{methods: map[string]method{"tools/list": func(c *testCall) (json.RawMessage, error) {
					d := <-defs
					defs <- d
					return lists(d)(c)
				}}}
				g := gatewayOf(t, allowing(), map[string]*testServer{"s": ts}, func(g *Gateway) { g.Mode, g.Names = func(string) Mode { return mode }, true })
				k := meet(t, g, e)
				one, two := k.must("tools/list", `{}`), k.must("tools/list", `{}`)
				if first(one) != first(two) {
					t.Error("it was written twice")
				}
				told := make(chan string, 8)
				defer g.Hub.watch(func(_, what string) { told <- what })()
				<-defs
				defs <- plainTool("b")
				g.Hub.server("s").change("tools")
				<-told
				if three := k.must("tools/list", `{}`); !strings.Contains(strings.ReplaceAll(string(three), "s__: b", "s__b"), "s__b") {
					t.Errorf("after a change: got %s", three)
				}
			})
		}
	}
}

// A server that adds a tool and takes it away again has the same list as before.
func TestGatewayToldByServer(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, client, server era) {
		streams := make(chan *testCall, 8)
		ts := inOneEra(server, &testServer{capabilities: `{"tools":{"listChanged":true},"prompts":{"listChanged":true}}`, methods: map[string]method{
			"tools/list": lists(plainTool("change")),
			"subscriptions/listen": func(c *testCall) (json.RawMessage, error) {
				c.notify("notifications/subscriptions/acknowledged", `{"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(c.id)+`}}`)
				streams <- c
				<-c.ctx.Done()
				return nil, errSilent
			},
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				meta := "{}"
				if server == newEra {
					stream := <-streams
					for stream.conn != c.conn { // the hub's
						stream = <-streams
					}
					meta = `{"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(stream.id) + `}}`
				}
				c.notify("notifications/tools/list_changed", meta)
				c.notify("notifications/prompts/list_changed", meta)
				return says("done"), nil
			},
		}})
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), client)
		k.must("tools/list", `{}`)
		told := make(chan string, 8)
		ended := make(chan *reply, 1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		if client == newEra {
			go func() {
				ended <- k.doAs(ctx, json.RawMessage(`"l"`), "subscriptions/listen", `{"notifications":{"toolsListChanged":true,"promptsListChanged":true}}`,
					func(m message) { told <- m.method })
			}()
			<-told // that it listens
		}
		k.must("tools/call", `{"name":"s__change"}`)
		if client == oldEra {
			for _, m := range k.hears(2) {
				told <- m.method
			}
		}
		got := []string{<-told, <-told}
		slices.Sort(got)
		if want := []string{"notifications/prompts/list_changed", "notifications/tools/list_changed"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		if client == newEra {
			stop()
			<-ended
		}
	})
}

func TestGatewayManyTools(t *testing.T) {
	t.Parallel()
	const many = 120
	var defs []string
	for i := range many {
		defs = append(defs, fmt.Sprintf(`{"name":"tool_%04d","description":%q,"inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, i, strings.Repeat("what it does ", 60)))
	}
	ts := &testServer{methods: map[string]method{
		"tools/list": lists(defs...),
		"tools/call": func(c *testCall) (json.RawMessage, error) { return says(textMember(c.params, "name")), nil },
	}}
	for _, tt := range []struct {
		name, client string
		mode         func(string) Mode
		all          bool
	}{
		{"M3 auto", "tester", nil, false},
		{"M3 a client that defers by itself gets all", "claude-code", nil, true},
		{"M3 full", "tester", func(string) Mode { return Full }, true},
		{"M3 deferred, by the client's name", "small", func(c string) Mode {
			if c == "small" {
				return Deferred
			}
			return Full
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}, func(g *Gateway) { g.Mode = tt.mode }), oldEra, func(k *talker) { k.name = tt.client })
			names := namesIn(k.must("tools/list", `{}`), "tools")
			if tt.all {
				if len(names) != many {
					t.Errorf("listed %d tools, want %d", len(names), many)
				}
				return
			}
			for _, want := range []string{"tool_search", "tool_describe", "tool_call"} {
				if !slices.Contains(names, want) {
					t.Errorf("listed %d tools, want %s among few", len(names), want)
				}
			}
			wrong := k.must("tools/call", `{"name":"tool_call","arguments":{"name":"s__tool_00007","arguments":{}}}`)
			if failed, _ := member(wrong, "isError"); string(failed) != "true" || !strings.Contains(callText(wrong), "Tool not found: s__tool_00007. Did you mean s__tool_000") {
				t.Errorf("M3 an inner tool that is not there: got %s", wrong)
			}
			if f := k.fails("tools/call", `{"name":"s__tool_00007"}`); !strings.HasPrefix(f.Message, "Unknown tool: s__tool_00007. Did you mean s__tool_000") {
				t.Errorf("a tool that is not there: got %+v", f)
			}
			if got := callText(k.must("tools/call", `{"name":"tool_call","arguments":{"name":"s__tool_0007","arguments":{}}}`)); got != "tool_0007" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestGatewayRoutes(t *testing.T) {
	t.Parallel()
	server := func(name string, resources ...string) *testServer {
		say := func(c *testCall) (json.RawMessage, error) {
			ref, _ := member(c.params, "ref")
			what := textMember(c.params, "name") + textMember(c.params, "uri") + textMember(ref, "name") + textMember(ref, "uri")
			if strings.HasPrefix(what, "deep://") && name != "b" {
				return nil, &Fault{Code: -32002, Message: "Resource not found"}
			}
			return json.RawMessage(fmt.Sprintf(`{"by":"%s %s","n":1.0}`, name, what)), nil
		}
		var items []string
		for _, uri := range resources {
			items = append(items, fmt.Sprintf(`{"uri":%q,"name":"x","size":1e2}`, uri))
		}
		return &testServer{
			capabilities: `{"tools":{},"prompts":{"listChanged":true},"resources":{"subscribe":true},"completions":{},"logging":{},"experimental":{"x":{}}}`, instructions: "I am " + name,
			methods: map[string]method{
				"tools/list": lists(), "prompts/get": say, "resources/read": say, "resources/subscribe": say, "completion/complete": say, "logging/setLevel": say,
				"prompts/list": func(*testCall) (json.RawMessage, error) {
					return json.RawMessage(`{"prompts":[{"title":1.0,"name":"greet"}]}`), nil
				},
				"resources/list": func(*testCall) (json.RawMessage, error) {
					return json.RawMessage(`{"resources":[` + strings.Join(items, ",") + `]}`), nil
				},
				"resources/templates/list": func(*testCall) (json.RawMessage, error) {
					return json.RawMessage(`{"resourceTemplates":[{"uriTemplate":"` + name + `://{id}/x","name":"t"}]}`), nil
				},
			},
		}
	}
	a, b := server("a", "file:///a", "file:///both"), server("b", "file:///b", "file:///both")
	g := gatewayOf(t, allowing(), map[string]*testServer{"a": a, "b": b})
	for _, e := range []era{oldEra, newEra} {
		t.Run("M2 "+eraName(e)+" era", func(t *testing.T) {
			k := meet(t, g, e)
			for _, tt := range []struct{ method, params, want string }{
				{"prompts/list", `{}`, `{"prompts":[{"title":1.0,"name":"a__greet"},{"title":1.0,"name":"b__greet"}]`},
				{"prompts/get", `{"name":"b__greet"}`, `{"by":"b greet","n":1.0`},
				{"completion/complete", `{"ref":{"type":"ref/prompt","name":"a__greet"},"argument":{"name":"x","value":"y"}}`, `{"by":"a greet","n":1.0`},
				{"completion/complete", `{"ref":{"type":"ref/resource","uri":"b://{id}/x"},"argument":{"name":"x","value":"y"}}`, `{"by":"b b://{id}/x","n":1.0`},
				{"resources/list", `{}`, `{"resources":[{"uri":"file:///a","name":"x","size":1e2},{"uri":"file:///both","name":"x","size":1e2},{"uri":"file:///b","name":"x","size":1e2}]`},
				{"resources/read", `{"uri":"file:///b"}`, `{"by":"b file:///b","n":1.0`},
				{"resources/read", `{"uri":"file:///both"}`, `{"by":"a file:///both","n":1.0`},
				{"resources/read", `{"uri":"b://7/x"}`, `{"by":"b b://7/x","n":1.0`},
				{"resources/read", `{"uri":"deep://x"}`, `{"by":"b deep://x","n":1.0`},
			} {
				if got := k.must(tt.method, tt.params); !strings.HasPrefix(string(got), tt.want) {
					t.Errorf("%s %s: got %s, want %s", tt.method, tt.params, got, tt.want)
				}
			}
			for _, tt := range []struct{ method, params string }{
				{"prompts/get", `{"name":"greet"}`}, {"prompts/get", `{"name":"c__greet"}`}, {"completion/complete", `{}`},
			} {
				if f := k.fails(tt.method, tt.params); f.Code != codeInvalidParams {
					t.Errorf("%s %s: got %+v", tt.method, tt.params, f)
				}
			}
		})
	}
	t.Run("M2 what servers can do is said of all", func(t *testing.T) {
		k := meet(t, g, newEra)
		hello := k.must("server/discover", `{}`)
		can, _ := member(hello, "capabilities")
		if want := `{"completions":{},"logging":{},"prompts":{"listChanged":true},"resources":{"subscribe":true},"tools":{"listChanged":true}}`; string(can) != want {
			t.Errorf("got %s, want %s", can, want)
		}
		if got, want := textMember(hello, "instructions"), "# a\n\nI am a\n\n# b\n\nI am b"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("M2 a level is told to all, to those that are not connected before anything else", func(t *testing.T) {
		k := meet(t, g, oldEra)
		k.must("logging/setLevel", `{"level":"warning"}`)
		if got := b.heard("logging/setLevel"); len(got) != 0 {
			t.Errorf("got %d messages at a server that nothing was asked of", len(got))
		}
		k.must("prompts/get", `{"name":"b__greet"}`)
		for _, ts := range []*testServer{a, b} {
			if got := ts.heard("logging/setLevel"); len(got) != 1 || string(got[0].params) != `{"level":"warning"}` {
				t.Errorf("got %d messages", len(got))
			}
		}
	})
}

func TestFitsTemplate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		template, uri string
		want          bool
	}{
		{"file:///{path}", "file:///a/b", true},
		{"db://{table}/{row}", "db://t/1", true},
		{"db://{table}/rows/{row}/x", "db://t/rows/1/x", true},
		{"db://{table}/rows/{row}/x", "db://t/rows/1/y", false},
		{"db://{table}", "file://t", false},
		{"db://{table}", "db://{table}", true},
		{"db://t", "db://t", true},
		{"db://t", "db://u", false},
		{"db://{", "db://u", false},
		{"", "db://u", false},
	} {
		if got := fitsTemplate(tt.template, tt.uri); got != tt.want {
			t.Errorf("fitsTemplate(%q, %q) = %v", tt.template, tt.uri, got)
		}
	}
}

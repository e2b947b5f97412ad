package mcptool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// The tests here are of what must not get past the rules.

func TestGatewayNotificationsOfClients(t *testing.T) {
	t.Parallel()
	methods := func(ts *testServer) []string {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		var all []string
		for _, m := range ts.got {
			if m.isNotification() {
				all = append(all, m.method)
			}
		}
		return all
	}
	server := func() *testServer {
		return &testServer{old: true, methods: map[string]method{
			"tools/list": lists(plainTool("t")),
			"tools/call": func(*testCall) (json.RawMessage, error) { return says("done"), nil },
		}}
	}
	tell := func(t *testing.T, servers map[string]*testServer, ts *testServer) []string {
		t.Helper()
		k := meet(t, gatewayOf(t, allowing(), servers), oldEra)
		k.must("tools/call", `{"name":"s__t"}`) // now it has a connection
		for _, method := range []string{"tools/call", "Tools/Call", " notifications/x", "notifications/tasks/status", "notifications/x", "notifications/roots/list_changed"} {
			k.c.handle(t.Context(), message{method: method, params: json.RawMessage(`{"name":"t"}`)}, nil)
		}
		ts.await(t, "notifications/roots/list_changed", 1)
		return slices.DeleteFunc(methods(ts), func(m string) bool { return m == notificationInitialized })
	}
	t.Run("M2 only notifications are passed on as such", func(t *testing.T) {
		t.Parallel()
		ts := server()
		if got, want := tell(t, map[string]*testServer{"s": ts}, ts), []string{"notifications/x", "notifications/roots/list_changed"}; !slices.Equal(got, want) {
			t.Errorf("the server was told %q, want %q", got, want)
		}
	})
	t.Run("M2 one of two servers is not alone", func(t *testing.T) {
		t.Parallel()
		ts := server()
		if got, want := tell(t, map[string]*testServer{"s": ts, "r": server()}, ts), []string{"notifications/roots/list_changed"}; !slices.Equal(got, want) {
			t.Errorf("the server was told %q, want %q", got, want)
		}
	})
}

func TestGatewayKeysApart(t *testing.T) {
	t.Parallel()
	sent := func(c *testCall) string { return string(setMembers(c.params, pair{"_meta", nil})) }
	ts := &testServer{old: true, capabilities: `{"tools":{},"prompts":{},"resources":{},"completions":{}}`, methods: map[string]method{
		"tools/list": lists(plainTool("safe"), plainTool("danger")),
		"tools/call": func(c *testCall) (json.RawMessage, error) { return says(sent(c)), nil },
	}}
	for _, m := range []string{"prompts/get", "resources/read", "completion/complete"} {
		ts.methods[m] = func(c *testCall) (json.RawMessage, error) {
			return setMembers(nil, pair{"got", quote(sent(c))}), nil
		}
	}
	k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), oldEra)
	t.Run("P1 a call is sent as the rules have seen it", func(t *testing.T) {
		for _, odd := range []string{`"Name":"danger","Arguments":{"rm":"/"}`, `"task":{"ttl":1}`, `"argumentſ":{}`, `"more":1`} {
			if got, want := callText(k.must("tools/call", `{"name":"s__safe","arguments":{},`+odd+`}`)), `{"name":"safe","arguments":{}}`; got != want {
				t.Errorf("the server was sent %s, want %s", got, want)
			}
		}
	})
	t.Run("M2 members that some read as others are dropped", func(t *testing.T) {
		for _, tt := range []struct{ method, params, want string }{
			{"resources/read", `{"uri":"a:b","URI":"c:d","ur\u0131":"e:f","more":1.0}`, `{"uri":"a:b","more":1.0}`},
			{"prompts/get", `{"name":"s__p","NAME":"q"}`, `{"name":"p"}`},
			{"completion/complete", `{"ref":{"type":"ref/prompt","name":"s__p","Name":"q"},"Ref":{}}`, `{"ref":{"type":"ref/prompt","name":"p"}}`},
		} {
			if got := textMember(k.must(tt.method, tt.params), "got"); got != tt.want {
				t.Errorf("%s: the server was sent %s, want %s", tt.method, got, tt.want)
			}
		}
	})
}

func TestGatewayStates(t *testing.T) {
	t.Parallel()
	ts := &testServer{new: true, methods: map[string]method{
		"tools/list": lists(`{"name":"pay","description":"d","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}`),
		"tools/call": func(c *testCall) (json.RawMessage, error) {
			arguments, _ := member(c.params, "arguments")
			if responses, ok := member(c.params, "inputResponses"); ok {
				return says(textMember(arguments, "to") + " " + textMember(responses, "q") + " " + textMember(c.params, "requestState")), nil
			}
			return json.RawMessage(`{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}},"requestState":"confirm"}`), nil
		},
	}}
	g := gatewayOf(t, allowing(), map[string]*testServer{"s": ts})
	k := meet(t, g, newEra)
	state := func(to string) string {
		return textMember(k.must("tools/call", fmt.Sprintf(`{"name":"s__pay","arguments":{"to":%q}}`, to)), "requestState")
	}
	answer := func(to, says, state string) string {
		return fmt.Sprintf(`{"name":"s__pay","arguments":{"to":%q},"inputResponses":{"q":%q},"requestState":%q}`, to, says, state)
	}
	t.Run("M2 an answer goes to the call that asked for it", func(t *testing.T) {
		alice, bob := state("alice"), state("bob")
		if alice == bob || !strings.HasPrefix(alice, ownState) {
			t.Fatalf("got the states %q and %q, want two of our own", alice, bob)
		}
		if got := callText(k.must("tools/call", answer("bob", "accept", bob))); got != "bob accept confirm" {
			t.Errorf("bob: got %q", got)
		}
		if f := k.fails("tools/call", answer("mallory", "accept", alice)); f.Code != codeInvalidParams || !strings.Contains(f.Message, "another call") {
			t.Errorf("mallory: got %+v, want it refused: these are not the arguments that were judged", f)
		}
		if got := callText(k.must("tools/call", answer("alice", "decline", alice))); got != "alice decline confirm" {
			t.Errorf("alice: got %q", got)
		}
	})
	t.Run("P1 a state or an answer that nobody waits for is refused", func(t *testing.T) {
		mine, before := state("alice"), len(ts.heard("tools/call"))
		other := meet(t, g, newEra, func(k *talker) { k.name = "other" })
		for _, params := range []string{answer("x", "accept", "confirm"), answer("x", "accept", mine), `{"name":"s__pay","requestState":"confirm"}`} {
			if f := other.fails("tools/call", params); f.Code != codeInvalidParams || !strings.HasPrefix(f.Message, "requestState: ") {
				t.Errorf("%s: got %+v", params, f)
			}
		}
		if n := len(ts.heard("tools/call")); n != before {
			t.Errorf("the server got %d calls more, want none", n-before)
		}
		k.must("tools/call", answer("alice", "accept", mine))
	})
	t.Run("P1 an answer that comes before its question is sent when that is asked", func(t *testing.T) {
		before := len(ts.heard("tools/call"))
		got := callText(k.must("tools/call", `{"name":"s__pay","arguments":{"to":"eve"},"inputResponses":{"q":"accept","more":"x"}}`))
		sent := ts.heard("tools/call")[before:]
		if got != "eve accept confirm" || len(sent) != 2 {
			t.Fatalf("got %q by %d calls", got, len(sent))
		}
		first, _ := member(sent[0].params, "inputResponses")
		if last, _ := member(sent[1].params, "inputResponses"); first != nil || string(last) != `{"q":"accept"}` {
			t.Errorf("the server was sent %s, then %s", first, last)
		}
	})
}

func TestGatewayTasks(t *testing.T) {
	t.Parallel()
	for _, e := range []era{oldEra, newEra} {
		t.Run("M2 tasks are not offered, "+eraName(e)+" era", func(t *testing.T) {
			t.Parallel()
			ok := func(c *testCall) (json.RawMessage, error) { return says(string(c.params)), nil }
			ts := inOneEra(e, &testServer{
				capabilities: `{"tools":{},"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{},"x":{}},"odd":{}}`,
				methods:      map[string]method{"tools/list": lists(plainTool("t")), "tools/call": ok, "tasks/get": ok, "Tools/Call": ok, "tools/call ": ok},
			})
			k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), e, func(k *talker) { k.can = `{"tasks":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}` })
			for _, method := range []string{"tasks/get", "tasks/result", "Tools/Call", "tools/call "} {
				if f := k.fails(method, `{"name":"t"}`); f.Code != codeNoMethod {
					t.Errorf("%s: got %+v", method, f)
				}
			}
			k.must("tools/call", `{"name":"s__t"}`)
			for _, m := range append(ts.heard("initialize"), ts.heard("tools/call")...) {
				if strings.Contains(string(m.params), "tasks") {
					t.Errorf("the server was sent %s", m.params)
				}
			}
			if e == newEra {
				if got, _ := member(k.must("server/discover", `{}`), "capabilities"); strings.Contains(string(got), "tasks") || !strings.Contains(string(got), `"odd"`) {
					t.Errorf("got the capabilities %s", got)
				}
			}
		})
	}
}

// without is a policy that denies every tool of a source.
type without string

func (w without) Decide(r *tool.Request) tool.Decision {
	if r.Source.Name == string(w) {
		return tool.Decision{Verdict: tool.Deny}
	}
	return tool.Decision{Verdict: tool.Allow}
}

func (w without) Fixed(r *tool.Request) (d tool.Decision, ok bool) { return w.Decide(r), true }

func TestGatewayHides(t *testing.T) {
	t.Parallel()
	server := func() *testServer {
		return &testServer{old: true, capabilities: `{"tools":{},"prompts":{},"resources":{}}`, instructions: strings.Repeat("é", 5000), methods: map[string]method{
			"tools/list":     lists(plainTool("t")),
			"prompts/list":   func(*testCall) (json.RawMessage, error) { return json.RawMessage(`{"prompts":[{"name":"p"}]}`), nil },
			"resources/read": func(*testCall) (json.RawMessage, error) { return json.RawMessage(`{"contents":[]}`), nil },
			"odd/get":        func(*testCall) (json.RawMessage, error) { return json.RawMessage(`{}`), nil },
		}}
	}
	hiding := func() *ferrule.Runtime {
		return &ferrule.Runtime{Guard: unguarded(), Policy: without("x")}
	}
	t.Run("P1 a server none of whose tools are offered is not there", func(t *testing.T) {
		t.Parallel()
		k := meet(t, gatewayOf(t, hiding(), map[string]*testServer{"x": server(), "s": server()}), newEra)
		if got := namesIn(k.must("prompts/list", `{}`), "prompts"); !slices.Equal(got, []string{"s__p"}) {
			t.Errorf("got the prompts %q", got)
		}
		text := textMember(k.must("server/discover", `{}`), "instructions")
		if strings.Contains(text, "# x") || !strings.Contains(text, "# s") || len(text) > maxInstructions+20 {
			t.Errorf("got %d bytes of instructions, %.20q", len(text), text)
		}
	})
	t.Run("P1 nor is it sent what the gateway does not know", func(t *testing.T) {
		t.Parallel()
		k := meet(t, gatewayOf(t, hiding(), map[string]*testServer{"x": server()}), oldEra)
		for _, method := range []string{"odd/get", "resources/read"} {
			if f := k.fails(method, `{"uri":"a:b"}`); f.Code != codeNoMethod && f.Code != codeInvalidParams {
				t.Errorf("%s: got %+v", method, f)
			}
		}
	})
}

package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

// eras are all pairs of a client's era and a server's.
func eras(t *testing.T, f func(t *testing.T, client, server era)) {
	t.Helper()
	for _, client := range []era{oldEra, newEra} {
		for _, server := range []era{oldEra, newEra} {
			t.Run(fmt.Sprintf("M2 %s client, %s server", eraName(client), eraName(server)), func(t *testing.T) {
				t.Parallel()
				f(t, client, server)
			})
		}
	}
}

func inOneEra(e era, s *testServer) *testServer {
	s.old, s.new = e == oldEra, e == newEra
	return s
}

const oddTool = `{"inputSchema" : {"type":"object"}, "name":"odd","description":"odd","_meta":{"n":1e2}}`

func TestGatewayBytes(t *testing.T) {
	t.Parallel()
	const odd = `{"content":[{"type":"text","text":"caf\u00e9","annotations":{"priority":1.0}},{"type":"later","x":[1e2]}],"z":1e2,"structuredContent":{"b":1.0,"a":12345678901234567890},"_meta":{"k":-0.0}}`
	eras(t, func(t *testing.T, client, server era) {
		ts := inOneEra(server, &testServer{methods: map[string]method{
			"tools/list": lists(oddTool),
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				if raw, _ := member(c.params, "arguments"); string(raw) != `{"b":1.0,"a":1e2}` {
					return nil, fmt.Errorf("got arguments %s", raw)
				}
				return json.RawMessage(odd), nil
			},
		}})
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), client)
		list := k.must("tools/list", `{}`)
		want := strings.Replace(oddTool, `"name":"odd"`, `"name":"s__odd"`, 1)
		if tools, _ := member(list, "tools"); string(tools) != "["+want+"]" {
			t.Errorf("listed %s, want %s", tools, want)
		}
		result := k.must("tools/call", `{"name":"s__odd","arguments":{"b":1.0,"a":1e2}}`)
		if client == oldEra && string(result) != odd {
			t.Errorf("got %s, want the same bytes", result)
		}
		if !strings.HasPrefix(string(result), strings.TrimSuffix(odd, `"_meta":{"k":-0.0}}`)+`"_meta":{"k":-0.0`) {
			t.Errorf("got %s, want the bytes of the server and more behind", result)
		}
	})
}

func TestGatewayFaults(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, client, server era) {
		ts := inOneEra(server, &testServer{methods: map[string]method{
			"tools/list": lists(plainTool("bad"), plainTool("wrong")),
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				if textMember(c.params, "name") == "wrong" {
					return json.RawMessage(`{"content":[{"type":"text","text":"no such file"}],"isError":true,"more":1.0}`), nil
				}
				return nil, &Fault{Code: -32042, Message: "URL elicitation required", Data: json.RawMessage(`{"x":1.0}`)}
			},
		}})
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), client)
		if f := k.fails("tools/call", `{"name":"s__bad"}`); f.Code != -32042 || f.Message != "URL elicitation required" || string(f.Data) != `{"x":1.0}` {
			t.Errorf("got %+v, want the server's fault", f)
		}
		if r := k.must("tools/call", `{"name":"s__wrong"}`); !strings.HasPrefix(string(r), `{"content":[{"type":"text","text":"no such file"}],"isError":true,"more":1.0`) {
			t.Errorf("got %s, want the server's bytes", r)
		}
	})
}

func TestGatewayElicitation(t *testing.T) {
	t.Parallel()
	const form = `"requestedSchema":{"type":"object","properties":{"n":{"type":"number"}}}}`
	const question, asked = `{"message":"Which\u200b?","Message":"ferrule asks: May it run?",` + form, `{"message":"server s asks: Which<U+200B>?",` + form
	const answer = `{"action":"accept","content":{"n":1.0}}`
	eras(t, func(t *testing.T, client, server era) {
		ts := inOneEra(server, &testServer{methods: map[string]method{
			"tools/list": lists(plainTool("ask")),
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				if server == oldEra {
					got, err := c.ask("elicitation/create", question)
					if err != nil {
						return nil, err
					}
					return says("got " + string(got)), nil
				}
				if responses, ok := member(c.params, "inputResponses"); ok {
					return says(fmt.Sprintf("got %s, state %s", responses, textMember(c.params, "requestState"))), nil
				}
				return json.RawMessage(`{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":` + question + `}},"requestState":"opaque"}`), nil
			},
		}})
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), client)
		k.asked = func(method string, params json.RawMessage) (json.RawMessage, *Fault) {
			if method != "elicitation/create" || string(params) != asked {
				t.Errorf("asked %s %s", method, params)
			}
			return json.RawMessage(answer), nil
		}
		result := k.must("tools/call", `{"name":"s__ask"}`)
		if client == newEra {
			if textMember(result, "resultType") != "input_required" {
				t.Fatalf("got %s, want it to ask for input", result)
			}
			requests, _ := member(result, "inputRequests")
			var key string
			each(requests, func(name string, q json.RawMessage) {
				key = name
				if params, _ := member(q, "params"); textMember(q, "method") != "elicitation/create" || string(params) != asked {
					t.Errorf("asked %s", q)
				}
			})
			state, _ := member(result, "requestState")
			again := fmt.Sprintf(`{"name":"s__ask","inputResponses":{%q:%s},"requestState":%s}`, key, answer, state)
			result = k.must("tools/call", again)
			if f := k.fails("tools/call", again); f.Code != codeInvalidParams {
				t.Errorf("a state that was used: got %+v", f)
			}
		}
		if got := callText(result); !strings.Contains(got, answer) || server == newEra && !strings.HasSuffix(got, "state opaque") {
			t.Errorf("got %q", got)
		}
		if n := len(ts.heard("tools/call")); server == oldEra && n != 1 {
			t.Errorf("the server was called %d times, want once", n)
		}
	})
}

func TestGatewayRounds(t *testing.T) {
	t.Parallel()
	t.Run("M2 what a server of the old era asks at once a client of the new era is asked at once", func(t *testing.T) {
		t.Parallel()
		ts := &testServer{old: true, methods: map[string]method{
			"tools/list": lists(plainTool("ask")),
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				methods := []string{"elicitation/create", "sampling/createMessage", "roots/list"}
				said := make([]string, len(methods))
				var asks sync.WaitGroup
				for i, m := range methods {
					asks.Go(func() {
						got, err := c.ask(m, `{}`)
						said[i] = fmt.Sprintf("%s %v", got, err)
					})
				}
				asks.Wait()
				return says(strings.Join(said, ", ")), nil
			},
		}}
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), newEra)
		result := k.must("tools/call", `{"name":"s__ask"}`)
		requests, _ := member(result, "inputRequests")
		var answers []pair
		each(requests, func(key string, q json.RawMessage) {
			answers = append(answers, pair{key, setMembers(nil, pair{"to", quote(textMember(q, "method"))})})
		})
		if len(answers) != 3 {
			t.Fatalf("got %s, want three requests", requests)
		}
		state, _ := member(result, "requestState")
		result = k.must("tools/call", fmt.Sprintf(`{"name":"s__ask","inputResponses":%s,"requestState":%s}`, setMembers(nil, answers...), state))
		want := `{"to":"elicitation/create"} <nil>, {"to":"sampling/createMessage"} <nil>, {"to":"roots/list"} <nil>`
		if got := callText(result); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("M2 who no longer waits for its answer leaves the others", func(t *testing.T) {
		t.Parallel()
		d := newDialogue(meet(t, gatewayOf(t, allowing(), nil), newEra).c, nil, message{method: "tools/call"})
		ctx, stop := context.WithCancel(t.Context())
		r, _ := d.enterRound(json.RawMessage(`{}`))
		stop()
		if _, err := d.askInRound(ctx, json.RawMessage(`{}`)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if r.ctx.Err() != nil {
			t.Error("the other one is not asked")
		}
		r.leave(errHungUp)
		<-r.done
		if !errors.Is(context.Cause(r.ctx), errHungUp) {
			t.Errorf("got %v, want it given up", context.Cause(r.ctx))
		}
	})
	t.Run("M2 a server of the old era may ask by its result", func(t *testing.T) {
		t.Parallel()
		ts := &testServer{old: true, methods: map[string]method{
			"tools/list": lists(plainTool("ask")),
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				if responses, ok := member(c.params, "inputResponses"); ok {
					return says(fmt.Sprintf("got %s, state %s", responses, textMember(c.params, "requestState"))), nil
				}
				return json.RawMessage(`{"content":[],"inputRequests":{"q":{"method":"roots/list"}},"requestState":"opaque"}`), nil
			},
		}}
		g := gatewayOf(t, allowing(), map[string]*testServer{"s": ts})
		k := meet(t, g, newEra)
		result := k.must("tools/call", `{"name":"s__ask"}`)
		if textMember(result, "resultType") != "input_required" {
			t.Fatalf("got %s, want it to ask for input", result)
		}
		result = k.must("tools/call", fmt.Sprintf(`{"name":"s__ask","inputResponses":{"q":{"roots":[]}},"requestState":%q}`, textMember(result, "requestState")))
		if got, want := callText(result), `got {"q":{"roots":[]}}, state opaque`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if result := meet(t, g, oldEra).must("tools/call", `{"name":"s__ask"}`); textMember(result, "requestState") != "opaque" {
			t.Errorf("a client of the old era: got %s, want it as it is", result)
		}
	})
}

func TestGatewayRefusesForClient(t *testing.T) {
	t.Parallel()
	ts := &testServer{old: true, methods: map[string]method{
		"tools/list": lists(plainTool("ask")),
		"tools/call": func(c *testCall) (json.RawMessage, error) {
			var said []string
			for _, m := range []string{"elicitation/create", "sampling/createMessage", "roots/list"} {
				_, err := c.ask(m, `{}`)
				said = append(said, err.Error())
			}
			return says(strings.Join(said, "; ")), nil
		},
	}}
	g := gatewayOf(t, allowing(), map[string]*testServer{"s": ts})
	for _, e := range []era{oldEra, newEra} {
		t.Run("M2 a client that cannot, "+eraName(e)+" era", func(t *testing.T) {
			k := meet(t, g, e, func(k *talker) { k.can = `{}` })
			want := "client does not support elicitation (code -32602); Method not found (code -32601); Method not found (code -32601)"
			if got := callText(k.must("tools/call", `{"name":"s__ask"}`)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestGatewayNotifications(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, client, server era) {
		ts := inOneEra(server, &testServer{capabilities: `{"tools":{},"logging":{}}`, methods: map[string]method{
			"logging/setLevel": func(*testCall) (json.RawMessage, error) { return json.RawMessage(`{}`), nil },
			"tools/list":       lists(plainTool("slow")),
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				c.notify("notifications/message", `{"level":"info","data":"hello"}`)
				c.progress(1)
				c.progress(2)
				return says("done"), nil
			},
		}})
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), client, func(k *talker) { k.level = "info" })
		if client == oldEra {
			k.must("logging/setLevel", `{"level":"info"}`)
		}
		r := k.do(t.Context(), "tools/call", `{"name":"s__slow","_meta":{"progressToken":"mine"}}`)
		var got []string
		for _, m := range r.notes {
			got = append(got, m.method+" "+string(m.params))
		}
		want := []string{
			`notifications/message {"level":"info","data":"hello"}`,
			`notifications/progress {"progressToken":"mine","progress":1}`, `notifications/progress {"progressToken":"mine","progress":2}`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestGatewayCancel(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, client, server era) {
		stopped := make(chan struct{})
		ts := inOneEra(server, &testServer{methods: map[string]method{
			"tools/list": lists(plainTool("wait")),
			"tools/call": func(c *testCall) (json.RawMessage, error) {
				<-c.ctx.Done()
				close(stopped)
				return nil, errSilent
			},
		}})
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), client)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan *reply)
		go func() { done <- k.doAs(ctx, json.RawMessage(`"x"`), "tools/call", `{"name":"s__wait"}`, nil) }()
		ts.await(t, "tools/call", 1)
		if client == oldEra {
			k.c.handle(t.Context(), message{method: notificationCancelled, params: json.RawMessage(`{"requestId":"x"}`)}, nil)
			if r := <-done; r.end != nil {
				t.Errorf("got %+v, want no answer to what was cancelled", r.end)
			}
		} else {
			cancel() // its stream is closed
			<-done
		}
		<-stopped
	})
}

func TestGatewayEarlyCancel(t *testing.T) {
	t.Parallel()
	k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": {old: true, methods: map[string]method{
		"tools/list": lists(plainTool("a")), "tools/call": func(*testCall) (json.RawMessage, error) { return says("done"), nil },
	}}}), oldEra)
	cancel := func(id string) {
		k.c.handle(t.Context(), message{method: notificationCancelled, params: json.RawMessage(`{"requestId":` + id + `}`)}, nil)
	}
	call := func(id string) *message {
		return k.doAs(t.Context(), json.RawMessage(id), "tools/call", `{"name":"s__a"}`, nil).end
	}
	t.Run("M2 a request may come after it was cancelled, once", func(t *testing.T) {
		cancel(`"x"`)
		if got := call(`"x"`); got != nil {
			t.Errorf("got %+v, want no answer", got)
		}
		if got := call(`"x"`); got == nil || got.fault != nil {
			t.Errorf("the next of that id: got %+v", got)
		}
	})
	t.Run("M2 what is cancelled after its answer leaves the next of its id alone", func(t *testing.T) {
		for i := range 2 * maxOver {
			id := fmt.Sprintf(`"r%d"`, i)
			k.c.register(&dialogue{client: k.c}, json.RawMessage(id))
			k.c.unregister(k.c.underway[id], json.RawMessage(id))
		}
		if got := call(`"y"`); got == nil || got.fault != nil {
			t.Fatalf("got %+v", got)
		}
		cancel(`"y"`)
		if got := call(`"y"`); got == nil || got.fault != nil {
			t.Errorf("got %+v, want an answer", got)
		}
		if n := len(k.c.over); n != maxOver {
			t.Errorf("%d are remembered, want %d", n, maxOver)
		}
	})
}

func TestGatewayClientsApart(t *testing.T) {
	t.Parallel()
	// Two clients call at once; each server asks only who has called.
	for _, e := range []era{oldEra, newEra} {
		t.Run("M2 two clients never see each other's questions, "+eraName(e)+" era", func(t *testing.T) {
			t.Parallel()
			ts := &testServer{old: true, methods: map[string]method{
				"tools/list": lists(`{"name":"ask","description":"d","inputSchema":{"type":"object","properties":{"who":{"type":"string"}}}}`),
				"tools/call": func(c *testCall) (json.RawMessage, error) {
					args, _ := member(c.params, "arguments")
					got, err := c.ask("elicitation/create", fmt.Sprintf(`{"message":%q}`, textMember(args, "who")))
					if err != nil {
						return nil, err
					}
					return says(textMember(args, "who") + " " + textMember(got, "who")), nil
				},
			}}
			g := gatewayOf(t, allowing(), map[string]*testServer{"s": ts})
			results := make(chan string, 2)
			for _, who := range []string{"ann", "bob"} {
				k := meet(t, g, e) // in the new era: of one session
				k.asked = func(_ string, params json.RawMessage) (json.RawMessage, *Fault) {
					if textMember(params, "message") != "server s asks: "+who {
						t.Errorf("%s was asked %s", who, params)
					}
					return json.RawMessage(`{"who":"` + who + `"}`), nil
				}
				go func() {
					call := fmt.Sprintf(`"name":"s__ask","arguments":{"who":%q}`, who)
					r := k.must("tools/call", "{"+call+"}")
					if e == newEra {
						state, _ := member(r, "requestState")
						r = k.must("tools/call", fmt.Sprintf(`{%s,"inputResponses":{"input":{"who":%q}},"requestState":%s}`, call, who, state))
					}
					results <- callText(r)
				}()
			}
			got := []string{<-results, <-results}
			slices.Sort(got)
			if !slices.Equal(got, []string{"ann ann", "bob bob"}) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestGatewayUnknownMethods(t *testing.T) {
	t.Parallel()
	server := func() *testServer {
		return &testServer{methods: map[string]method{
			"tools/list": lists(plainTool("a")),
			"odd/get":    func(c *testCall) (json.RawMessage, error) { return setMembers(json.RawMessage(`{"n":1.0}`)), nil },
		}}
	}
	t.Run("M2 a server that is alone is sent what the gateway does not know", func(t *testing.T) {
		t.Parallel()
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": server()}), oldEra)
		if got := k.must("odd/get", `{"id":"1"}`); string(got) != `{"n":1.0}` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("M2 with two nobody knows whom it is for", func(t *testing.T) {
		t.Parallel()
		k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": server(), "r": server()}), oldEra)
		if f := k.fails("odd/get", `{"id":"1"}`); f.Code != codeNoMethod {
			t.Errorf("got %+v", f)
		}
	})
}

func TestServedNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 60)
	ts := &testServer{methods: map[string]method{
		"tools/list": lists(plainTool("short"), plainTool(long)),
		"tools/call": func(c *testCall) (json.RawMessage, error) { return says(textMember(c.params, "name")), nil },
	}}
	k := meet(t, gatewayOf(t, allowing(), map[string]*testServer{"s": ts}), oldEra)
	t.Run("T6 served names have at most 50 characters and lead back", func(t *testing.T) {
		names := namesIn(k.must("tools/list", `{}`), "tools")
		want := []string{"s__short", tool.MCPName("s", long)}
		if !slices.Equal(names, want) || len(want[1]) > 50 {
			t.Fatalf("listed %q, want %q", names, want)
		}
		if got := callText(k.must("tools/call", `{"name":"`+want[1]+`"}`)); got != long {
			t.Errorf("the server was asked for %q, want %q", got, long)
		}
	})
}

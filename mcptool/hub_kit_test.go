package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule"
)

// hubOf is a hub with servers by name, that are in memory, not started yet.
func hubOf(t *testing.T, servers map[string]*testServer) *Hub {
	t.Helper()
	h := &Hub{Runtime: &ferrule.Runtime{Guard: unguarded()}, Name: "tester"}
	for name := range servers {
		h.Servers = append(h.Servers, Server{Name: name, Command: []string{"/bin/" + name}})
	}
	h.dial = func(ctx context.Context, s *server, who introduction, hears *listener) (link, error) {
		return servers[s.Name].dial(ctx, t, who, hears)
	}
	return h
}

// dial connects to the server in memory as the hub would.
func (s *testServer) dial(ctx context.Context, t *testing.T, who introduction, hears *listener) (*pipeLink, error) {
	t.Helper()
	l := s.pipe(t, *hears) //nolint:contextcheck // it lasts as long as the test
	said, err := greet(ctx, l, eraOf(who.version), who)
	if err != nil {
		l.close()
		return nil, err
	}
	l.greeted(said, who)
	return l, nil
}

// start starts a hub, waits for its servers, and closes it when the test ends.
func start(t *testing.T, h *Hub) {
	t.Helper()
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeHub(t, h) })
	if err := h.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func closeHub(t *testing.T, h *Hub) {
	t.Helper()
	if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// serverOf is a started hub with one server.
func serverOf(t *testing.T, ts *testServer) *server {
	t.Helper()
	h := hubOf(t, map[string]*testServer{"s": ts})
	start(t, h)
	return h.server("s")
}

type method = func(*testCall) (json.RawMessage, error)

// lists is a method that answers with these tools.
func lists(defs ...string) method {
	return func(*testCall) (json.RawMessage, error) {
		return json.RawMessage(`{"tools":[` + strings.Join(defs, ",") + `]}`), nil
	}
}

// plainTool is the definition of a tool without arguments.
func plainTool(name string) string {
	return fmt.Sprintf(`{"name":%q,"description":"does it","inputSchema":{"type":"object"}}`, name)
}

func says(text string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, text))
}

// testAudience is a client session.
type testAudience struct {
	departure

	version string
	asked   func(method string, params json.RawMessage) (json.RawMessage, error)

	mu    sync.Mutex
	notes []string
}

func (a *testAudience) introduction() introduction {
	return introduction{version: a.version, info: json.RawMessage(`{"name":"client","version":"1"}`), capabilities: json.RawMessage(`{"elicitation":{}}`)}
}

func (a *testAudience) notify(server, method string, params json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notes = append(a.notes, server+" "+method+" "+string(params))
}

func (a *testAudience) request(_ context.Context, _, method string, params json.RawMessage) (json.RawMessage, error) {
	if a.asked == nil {
		return nil, errors.New("asked by no request")
	}
	return a.asked(method, params)
}

// testExchange is a request of a client.
type testExchange struct {
	a     *testAudience
	raw   string
	asks  func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	wants func(required json.RawMessage) (responses, state json.RawMessage, err error)

	mu     sync.Mutex
	notes  []string
	result json.RawMessage
	fault  *Fault
}

func (x *testExchange) audience() audience      { return x.a }
func (x *testExchange) era() era                { return eraOf(x.a.version) }
func (x *testExchange) params() json.RawMessage { return json.RawMessage(x.raw) }

func (x *testExchange) notify(method string, params json.RawMessage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.notes = append(x.notes, method+" "+string(params))
}

func (x *testExchange) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if x.asks == nil {
		return nil, errors.New("nobody is to be asked")
	}
	return x.asks(ctx, method, params)
}

func (x *testExchange) input(_ context.Context, required json.RawMessage) (responses, state json.RawMessage, err error) {
	if x.wants == nil {
		return nil, nil, errors.New("nobody is to be asked")
	}
	return x.wants(required)
}

func (x *testExchange) finished(a answered) { x.result, x.fault = a.raw, a.fault }

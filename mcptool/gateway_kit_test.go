package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// allowing is a runtime that allows every call.
func allowing() *ferrule.Runtime {
	return &ferrule.Runtime{Guard: unguarded(), Decide: func(context.Context, *tool.Request) (tool.Decision, error) {
		return tool.Decision{Verdict: tool.Allow, Rule: "test"}, nil
	}}
}

// gatewayOf is a gateway in front of servers in memory, which are ready, and of
// the runtime's own tools.
func gatewayOf(t *testing.T, rt *ferrule.Runtime, servers map[string]*testServer, change ...func(*Gateway)) *Gateway {
	t.Helper()
	h := hubOf(t, servers)
	slices.SortFunc(h.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	h.Runtime = rt
	g := &Gateway{Runtime: rt, Hub: h, Name: "ferrule", Version: "1"}
	for _, f := range change {
		f(g)
	}
	start(t, h)
	t.Cleanup(func() {
		if err := g.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return g
}

// talker is a client of a gateway.
type talker struct {
	t     *testing.T
	c     *client
	era   era
	name  string
	can   string // its capabilities
	level string // of logs, in the new era
	// asked answers what it is asked, in the old era.
	asked func(method string, params json.RawMessage) (json.RawMessage, *Fault)

	mu    sync.Mutex
	last  int
	notes []message // that belong to no request
	came  chan struct{}
}

// meet makes a client, and in the old era does its handshake.
func meet(t *testing.T, g *Gateway, e era, change ...func(*talker)) *talker {
	t.Helper()
	k := &talker{t: t, era: e, name: "tester", can: `{"elicitation":{},"roots":{},"sampling":{}}`}
	for _, f := range change {
		f(k)
	}
	j := joining{push: k}
	if e == newEra {
		j = joining{stateless: true, name: k.name}
	}
	c, err := g.join(j)
	if err != nil {
		t.Fatal(err)
	}
	k.c = c
	if e == oldEra {
		k.must("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":%q,"version":"1"}}`, oldVersion, k.can, k.name))
		c.handle(t.Context(), message{method: notificationInitialized}, nil)
		t.Cleanup(c.leave)
	}
	return k
}

// send takes what belongs to no request.
func (k *talker) send(m message) error {
	if m.isRequest() {
		return (&reply{k: k}).send(m)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.notes = append(k.notes, m)
	if k.came != nil {
		close(k.came)
		k.came = nil
	}
	return nil
}

// hears waits until it was told n things that belong to no request.
func (k *talker) hears(n int) []message {
	k.t.Helper()
	for {
		k.mu.Lock()
		if len(k.notes) >= n {
			defer k.mu.Unlock()
			return slices.Clone(k.notes)
		}
		if k.came == nil {
			k.came = make(chan struct{})
		}
		came := k.came
		k.mu.Unlock()
		select {
		case <-came:
		case <-k.t.Context().Done():
			k.t.Fatal("the client was told nothing")
		}
	}
}

// reply is the stream of one request.
type reply struct {
	k     *talker
	onto  func(message) // told of each notification
	mu    sync.Mutex
	notes []message
	end   *message
	after int // messages after the answer
}

func (r *reply) send(m message) error {
	if m.isRequest() {
		go func() {
			a := message{id: m.id}
			if r.k.asked == nil {
				a.fault = &Fault{Code: codeNoMethod, Message: "not asked for"}
			} else if a.result, a.fault = r.k.asked(m.method, m.params); a.result == nil && a.fault == nil {
				return // it does not answer
			}
			r.k.c.handle(r.k.t.Context(), a, nil)
		}()
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.end != nil:
		r.after++
	case m.isAnswer():
		r.end = &m
	default:
		r.notes = append(r.notes, m)
		if r.onto != nil {
			r.onto(m)
		}
	}
	return nil
}

// params are those of a request, with what each request of the new era carries.
func (k *talker) params(params string) json.RawMessage {
	p := json.RawMessage(params)
	if k.era == oldEra {
		return p
	}
	p = setMeta(p, pair{metaVersion, quote(newVersion)}, pair{metaCapabilities, json.RawMessage(k.can)},
		pair{metaClientInfo, setMembers(nil, pair{"name", quote(k.name)}, pair{"version", quote("1")})})
	if k.level != "" {
		p = setMeta(p, pair{metaLogLevel, quote(k.level)})
	}
	return p
}

func (k *talker) id() json.RawMessage {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last++
	return json.RawMessage(strconv.Itoa(k.last))
}

// do sends a request and gives all that came back.
func (k *talker) do(ctx context.Context, method, params string) *reply {
	return k.doAs(ctx, k.id(), method, params, nil)
}

func (k *talker) doAs(ctx context.Context, id json.RawMessage, method, params string, onto func(message)) *reply {
	r := &reply{k: k, onto: onto}
	k.c.handle(ctx, message{id: id, method: method, params: k.params(params)}, r)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.after > 0 {
		k.t.Errorf("%s: %d messages came after the answer", method, r.after)
	}
	return r
}

// must is the result of a request that works.
func (k *talker) must(method, params string) json.RawMessage {
	k.t.Helper()
	r := k.do(k.t.Context(), method, params)
	switch {
	case r.end == nil:
		k.t.Fatalf("%s %s: no answer", method, params)
	case r.end.fault != nil:
		k.t.Fatalf("%s %s: fault %v", method, params, r.end.fault)
	}
	return r.end.result
}

// fails is the fault of a request that does not work.
func (k *talker) fails(method, params string) *Fault {
	k.t.Helper()
	r := k.do(k.t.Context(), method, params)
	if r.end == nil || r.end.fault == nil {
		k.t.Fatalf("%s %s: got %+v, want a fault", method, params, r.end)
	}
	return r.end.fault
}

// callText is the text of a tool's result.
func callText(result json.RawMessage) string {
	list, _ := member(result, "content")
	blocks, _ := items(list)
	var texts []string
	for _, b := range blocks {
		texts = append(texts, textMember(b, "text"))
	}
	return strings.Join(texts, "|")
}

// names are the names in a list.
func namesIn(result json.RawMessage, list string) []string {
	all, _ := member(result, list)
	blocks, _ := items(all)
	names := []string{}
	for _, b := range blocks {
		names = append(names, textMember(b, "name"))
	}
	return names
}

func eraName(e era) string {
	if e == newEra {
		return "new"
	}
	return "old"
}

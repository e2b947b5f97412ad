package mcptool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// hall is a small gateway: rooms that do what a method's name says.
type hall struct {
	mu      sync.Mutex
	rooms   []*hallRoom
	started chan string // the id of each request that waits
	let     chan struct{}
}

func newHall() *hall {
	return &hall{started: make(chan string, 2000), let: make(chan struct{})}
}

func (h *hall) join(j joining) (room, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j.stateless {
		for _, r := range h.rooms {
			if r.stateless && r.name == j.name && r.caller.Principal == j.caller.Principal {
				return r, nil
			}
		}
	}
	r := &hallRoom{joining: j, h: h, asked: make(chan message, 100), gone: make(chan struct{}), listeners: make(map[stream]bool)}
	h.rooms = append(h.rooms, r)
	return r, nil
}

func (h *hall) room(i int) *hallRoom {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[i]
}

type hallRoom struct {
	joining
	h     *hall
	asked chan message  // answers and notifications, as they came
	gone  chan struct{} // closed by leave

	mu        sync.Mutex
	agreed    string
	listeners map[stream]bool
	ends      []func()
}

func (r *hallRoom) until(f func()) (stop func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = append(r.ends, f)
	return func() bool { return true }
}

func (r *hallRoom) version() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agreed
}

func (r *hallRoom) giveUp(error) {}
func (r *hallRoom) desert(error) {}

func (r *hallRoom) leave() { close(r.gone) } // twice is a panic

func (r *hallRoom) listen(s stream) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners[s] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.listeners, s)
	}
}

// push sends what belongs to no request, and says to how many.
func (r *hallRoom) push(m message) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.listeners {
		_ = s.send(m)
	}
	return len(r.listeners)
}

func hallNote(n int) message {
	return message{method: "notifications/message", params: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}
}

func (r *hallRoom) handle(ctx context.Context, m message, to stream) {
	if !m.isRequest() {
		r.asked <- m
		return
	}
	answer := func(result string) { _ = to.send(message{id: m.id, result: json.RawMessage(result)}) }
	fault := func(code int) { _ = to.send(message{id: m.id, fault: &Fault{Code: code, Message: "no"}}) }
	switch m.method {
	case "initialize":
		var p struct{ ProtocolVersion string }
		_ = json.Unmarshal(m.params, &p)
		if p.ProtocolVersion == "bad" {
			fault(codeInvalidParams)
			return
		}
		r.mu.Lock()
		r.agreed = p.ProtocolVersion
		r.mu.Unlock()
		answer(`{"protocolVersion":"` + p.ProtocolVersion + `"}`)
	case "who":
		answer(fmt.Sprintf(`{"principal":%q,"name":%q}`, r.caller.Principal, r.name))
	case "fault":
		var p struct{ Code int }
		_ = json.Unmarshal(m.params, &p)
		fault(p.Code)
	case "silent":
	case "panic":
		panic("in a handler")
	case "wait", "talk":
		// It says something, waits for leave to go on, says more, and answers.
		if m.method == "talk" {
			_ = to.send(hallNote(1))
			_ = to.send(hallNote(2))
		}
		r.h.started <- string(m.id)
		select {
		case <-r.h.let:
		case <-ctx.Done():
			fault(codeInternal)
			return
		}
		if m.method == "talk" {
			_ = to.send(hallNote(3))
			_ = to.send(hallNote(4))
		}
		answer(`{}`)
	case "ask":
		_ = to.send(message{id: json.RawMessage(`"q"`), method: "elicitation/create"})
		reply := <-r.asked
		answer(string(reply.result))
	case "flood":
		big := json.RawMessage(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`)
		for range 64 {
			if to.send(message{method: "notifications/message", params: big}) != nil {
				break
			}
		}
		r.h.started <- "flooded"
		answer(`{}`)
	default:
		if m.params == nil {
			m.params = json.RawMessage(`{}`)
		}
		answer(string(m.params))
	}
}

// served is a door on a server on loopback.
type doorway struct {
	*door
	*hall
	url string
	t   *testing.T
}

func openDoor(t *testing.T, o HTTP, set func(*door)) *doorway {
	t.Helper()
	h := newHall()
	d := newDoor(o, h.join)
	if set != nil {
		set(d)
	}
	server := httptest.NewServer(d)
	t.Cleanup(func() {
		d.close()
		server.CloseClientConnections()
		server.Close()
	})
	return &doorway{door: d, hall: h, url: server.URL, t: t}
}

// do sends a request with the usual headers, which those given replace ("": none).
func (s *doorway) do(method, body string, headers ...string) *doorReply {
	s.t.Helper()
	return s.doContext(s.t.Context(), method, body, headers...)
}

func (s *doorway) doContext(ctx context.Context, method, body string, headers ...string) *doorReply {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Add(headers[i], headers[i+1])
			if headers[i] == "Content-Type" || headers[i] == "Accept" {
				r.Header.Set(headers[i], headers[i+1])
			}
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	return &doorReply{res.StatusCode, res.Header, res.Body}
}

// doorReply is a response whose body is closed with the test.
type doorReply struct {
	StatusCode int
	Header     http.Header
	Body       io.Reader
}

func rpc(id any, method string, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":%q,"params":%s}`, id, method, params)
}

// initialize begins a session and gives its id.
func (s *doorway) initialize(version string, headers ...string) string {
	s.t.Helper()
	res := s.do("POST", rpc(0, "initialize", `{"protocolVersion":"`+version+`"}`), headers...)
	id := res.Header.Get("Mcp-Session-Id")
	if res.StatusCode != 200 || len(id) != 32 {
		s.t.Fatalf("initialize: got %d and session %q, want 200 and 32 digits", res.StatusCode, id)
	}
	return id
}

// sse is one event of a stream.
type doorEvent struct{ id, data string }

// events reads a stream.
type doorEvents struct {
	t *testing.T
	r *bufio.Reader
}

func bodyOf(res *doorReply) *bufio.Reader { return bufio.NewReader(res.Body) }

func streamOf(t *testing.T, res *doorReply) *doorEvents {
	t.Helper()
	if kind := res.Header.Get("Content-Type"); res.StatusCode != 200 || kind != "text/event-stream" {
		b, _ := io.ReadAll(res.Body)
		t.Fatalf("got %d %s (%s), want 200 text/event-stream", res.StatusCode, kind, b)
	}
	return &doorEvents{t, bufio.NewReader(res.Body)}
}

// next is the next event; false: the stream has ended.
func (e *doorEvents) next() (doorEvent, bool) {
	e.t.Helper()
	var event doorEvent
	data := false
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return doorEvent{}, false
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n" && data:
			return event, true
		case name == "id":
			event.id = value
		case name == "data":
			event.data, data = value, true
		}
	}
}

// rest are all events that follow, without those that have no data.
func (e *doorEvents) rest() (all []doorEvent) {
	e.t.Helper()
	for {
		event, ok := e.next()
		if !ok {
			return all
		}
		if event.data != "" {
			all = append(all, event)
		}
	}
}

// said is what the events of a stream say, in short.
func said(all []doorEvent) string {
	var b strings.Builder
	for _, e := range all {
		var m struct {
			ID     json.RawMessage
			Params struct{ N int }
			Error  *Fault
			Result json.RawMessage
		}
		if err := json.Unmarshal([]byte(e.data), &m); err != nil {
			return err.Error()
		}
		switch {
		case m.Error != nil:
			fmt.Fprintf(&b, " fault %s %d", m.ID, m.Error.Code)
		case m.Result != nil:
			fmt.Fprintf(&b, " answer %s %s", m.ID, m.Result)
		default:
			fmt.Fprintf(&b, " note %d", m.Params.N)
		}
	}
	return strings.TrimPrefix(b.String(), " ")
}

// faultOf is the fault of a response that is JSON.
func faultOf(t *testing.T, res *doorReply) (id string, f *Fault) {
	t.Helper()
	var m struct {
		ID    json.RawMessage
		Error *Fault
	}
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil || m.Error == nil {
		t.Fatalf("%d: got no fault (%v)", res.StatusCode, err)
	}
	return string(m.ID), m.Error
}

// soon fails a test that waits for too long.
func soonFrom[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s did not happen", what)
	}
	return v
}

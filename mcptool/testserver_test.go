package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
)

// testServer is a small MCP server: a table of methods, over any stream of lines,
// in one era or both. Set its fields before it serves. It answers ping,
// initialize and server/discover itself, and may serve many connections.
type testServer struct {
	old, new     bool   // eras that it speaks; neither: both
	version      string // of the old era; "": what the client wants
	name         string // "": test
	capabilities string // JSON; "": {"tools":{"listChanged":true}}
	instructions string
	// deaf: it does not answer anything before initialize.
	deaf    bool
	methods map[string]func(*testCall) (json.RawMessage, error)

	mu   sync.Mutex
	got  []message
	came chan struct{} // closed, and made anew, when something has come
}

// testCall is one request that a server answers.
type testCall struct {
	ctx    context.Context // ends when the client cancels it, or goes
	method string
	id     json.RawMessage
	params json.RawMessage
	conn   *testConn
}

// notify sends a notification.
func (c *testCall) notify(method, params string) {
	c.conn.send(message{method: method, params: json.RawMessage(params)})
}

// progress sends a notification of progress with the request's token.
func (c *testCall) progress(n int) {
	if token, ok := metaMember(c.params, "progressToken"); ok {
		c.notify(notificationProgress, fmt.Sprintf(`{"progressToken":%s,"progress":%d}`, token, n))
	}
}

// ask sends the client a request, and waits for its answer.
func (c *testCall) ask(method, params string) (json.RawMessage, error) {
	return c.conn.ask(c.ctx, method, params)
}

// testConn is one connection of a server.
type testConn struct {
	server *testServer
	send   func(message)

	mu      sync.Mutex
	last    int
	waiting map[string]chan message
	running map[string]context.CancelFunc
	greeted bool
	done    sync.WaitGroup
}

func (s *testServer) accept(send func(message)) *testConn {
	return &testConn{server: s, send: send, waiting: make(map[string]chan message), running: make(map[string]context.CancelFunc)}
}

// serve answers what comes from r until it ends, and then waits for what runs.
func (s *testServer) serve(ctx context.Context, r io.Reader, w io.Writer) error {
	var mu sync.Mutex
	c := s.accept(func(m message) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = w.Write(append(m.append(nil), '\n')) // a client that has gone reads nothing
	})
	ctx, stop := context.WithCancel(ctx)
	defer c.done.Wait()
	defer stop()
	in := newLines(r, maxLine)
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
			return nil
		}
		if err != nil {
			return err
		}
		m, err := parseMessage(line)
		if err != nil {
			return fmt.Errorf("the client wrote %q: %w", line, err)
		}
		c.take(ctx, m)
	}
}

// take handles one message of the client; requests on a goroutine.
func (c *testConn) take(ctx context.Context, m message) {
	c.server.note(m)
	switch {
	case m.isAnswer():
		c.mu.Lock()
		waits := c.waiting[string(m.id)]
		delete(c.waiting, string(m.id))
		c.mu.Unlock()
		if waits != nil {
			waits <- m
		}
	case m.isRequest():
		if m.method == methodInitialize {
			c.reply(ctx, m)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		c.mu.Lock()
		c.running[string(m.id)] = cancel
		c.mu.Unlock()
		c.done.Go(func() {
			defer cancel()
			c.reply(ctx, m)
		})
	case m.method == notificationCancelled:
		id, _ := member(m.params, "requestId")
		c.mu.Lock()
		cancel := c.running[string(id)]
		c.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	}
}

func (c *testConn) reply(ctx context.Context, m message) {
	result, err := c.answer(ctx, m)
	var f *Fault
	switch {
	case errors.Is(err, errSilent):
	case errors.As(err, &f):
		c.send(message{id: m.id, fault: f})
	case err != nil:
		c.send(message{id: m.id, fault: &Fault{Code: codeInternal, Message: err.Error()}})
	default:
		c.send(message{id: m.id, result: result})
	}
}

// errSilent is the error of a method that gives no answer.
var errSilent = errors.New("no answer")

func (c *testConn) answer(ctx context.Context, m message) (json.RawMessage, error) {
	s := c.server
	version, isNew := metaMember(m.params, metaVersion)
	speaksOld, speaksNew := s.old || !s.new, s.new || !s.old
	c.mu.Lock()
	greeted := c.greeted
	c.greeted = c.greeted || m.method == methodInitialize
	c.mu.Unlock()
	switch {
	case s.deaf && !greeted && m.method != methodInitialize:
		return nil, errSilent
	case isNew && !speaksNew, !isNew && !speaksOld, m.method == methodInitialize && isNew, m.method == methodDiscover && !isNew:
		return nil, &Fault{Code: codeNoMethod, Message: "method not found"}
	case isNew && string(version) != `"`+newVersion+`"`:
		return nil, &Fault{Code: codeUnsupportedVersion, Message: "unsupported protocol version", Data: json.RawMessage(`{"supported":["` + newVersion + `"]}`)}
	case m.method == methodInitialize:
		return s.initialized(m), nil
	case m.method == methodDiscover:
		return s.discovered(), nil
	case m.method == methodPing:
		return json.RawMessage("{}"), nil
	}
	f := s.methods[m.method]
	if f == nil {
		return nil, &Fault{Code: codeNoMethod, Message: "method not found"}
	}
	return f(&testCall{ctx, m.method, m.id, m.params, c})
}

func (s *testServer) initialized(m message) json.RawMessage {
	version := s.version
	if version == "" {
		version = textMember(m.params, "protocolVersion")
	}
	result := setMembers(nil, pair{"protocolVersion", quote(version)}, pair{"capabilities", s.can()}, pair{"serverInfo", s.info()})
	if s.instructions != "" {
		result = setMembers(result, pair{"instructions", quote(s.instructions)})
	}
	return result
}

func (s *testServer) discovered() json.RawMessage {
	result := setMembers(json.RawMessage(`{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`),
		pair{"supportedVersions", json.RawMessage(`["` + newVersion + `"]`)}, pair{"capabilities", s.can()})
	if s.instructions != "" {
		result = setMembers(result, pair{"instructions", quote(s.instructions)})
	}
	return setMeta(result, pair{metaServerInfo, s.info()})
}

func (s *testServer) can() json.RawMessage {
	if s.capabilities == "" {
		return json.RawMessage(`{"tools":{"listChanged":true}}`)
	}
	return json.RawMessage(s.capabilities)
}

func (s *testServer) info() json.RawMessage {
	name := s.name
	if name == "" {
		name = "test"
	}
	return setMembers(nil, pair{"name", quote(name)}, pair{"version", quote("1")})
}

// ask sends the client a request of the server.
func (c *testConn) ask(ctx context.Context, method, params string) (json.RawMessage, error) {
	came := make(chan message, 1)
	c.mu.Lock()
	c.last++
	id := strconv.Quote("s" + strconv.Itoa(c.last))
	c.waiting[id] = came
	c.mu.Unlock()
	c.send(message{id: json.RawMessage(id), method: method, params: json.RawMessage(params)})
	select {
	case m := <-came:
		if m.fault != nil {
			return nil, m.fault
		}
		return m.result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *testServer) note(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, m)
	if s.came != nil {
		close(s.came)
		s.came = nil
	}
}

// heard is all that clients sent with this method, in order.
func (s *testServer) heard(method string) []message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []message
	for _, m := range s.got {
		if m.method == method {
			all = append(all, m)
		}
	}
	return all
}

// await waits until n messages with this method have come, and gives the last.
func (s *testServer) await(t *testing.T, method string, n int) message {
	t.Helper()
	for {
		s.mu.Lock()
		if s.came == nil {
			s.came = make(chan struct{})
		}
		came := s.came
		s.mu.Unlock()
		if all := s.heard(method); len(all) >= n {
			return all[n-1]
		}
		select {
		case <-came:
		case <-t.Context().Done():
			t.Fatalf("the server got no %s", method)
		}
	}
}

// connect is a link to the server in memory, greeted in an era, and closed when
// the test ends.
func (s *testServer) connect(t *testing.T, e era, hears listener) *pipeLink {
	t.Helper()
	l := s.pipe(t, hears)
	in := introduction{info: json.RawMessage(`{"name":"tester","version":"2"}`), capabilities: json.RawMessage(`{"elicitation":{}}`)}
	said, err := greet(t.Context(), l, e, in)
	if err != nil {
		t.Fatal(err)
	}
	l.greeted(said, in)
	return l
}

// pipe is a link to the server in memory, without a handshake.
func (s *testServer) pipe(t *testing.T, hears listener) *pipeLink {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	var served sync.WaitGroup
	served.Go(func() {
		if err := s.serve(t.Context(), fromClient, toClient); err != nil {
			t.Error(err)
		}
		closePipes(toClient)
	})
	l := newPipeLink(t.Context(), fromServer, toServer, hears, nil, func() {
		closePipes(toServer, fromServer)
		served.Wait()
	})
	t.Cleanup(l.close)
	return l
}

// closePipes closes pipes in memory, which cannot fail.
func closePipes(all ...io.Closer) {
	for _, c := range all {
		_ = c.Close()
	}
}

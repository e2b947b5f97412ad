package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// frames are what servers say, and what they must not.
func frames() []string {
	return []string{
		"", "{", "[]", "null", "\xff\x00", `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"1","result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`, `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`,
		`[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":1,"result":[]}]`,
	}
}

// afterFirst is what a server says once something was said to it, and what it was
// told.
type afterFirst struct {
	said  io.Reader
	began chan struct{}
	once  sync.Once

	mu   sync.Mutex
	told bytes.Buffer
}

func (a *afterFirst) Read(b []byte) (int, error) {
	<-a.began
	return a.said.Read(b)
}

func (a *afterFirst) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.once.Do(func() { close(a.began) })
	return a.told.Write(b)
}

// Whatever a server writes, who waits for it hears of an end, and what it is told
// is messages.
func FuzzServerLines(f *testing.F) {
	for _, seed := range frames() {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, in []byte, modern bool) {
		server := &afterFirst{began: make(chan struct{}), said: io.MultiReader(bytes.NewReader(in), strings.NewReader("\n"))}
		hears := listener{notified: func(string, json.RawMessage) {}, requested: refuse, faulty: func(string) {}}
		l := makePipeLink(t.Context(), hears, nil, func() {})
		if modern {
			l.greeted(&greeting{era: newEra, version: newVersion}, introduction{version: newVersion})
		}
		l.run(server, server)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		params := json.RawMessage(`{"name":"x","_meta":{"progressToken":"mine"}}`)
		if _, err := l.do(ctx, "tools/call", params, &listener{notified: hears.notified, requested: refuse}); ctx.Err() != nil {
			t.Fatalf("nobody was told that it has ended: %v", err)
		}
		l.close()
		server.mu.Lock()
		defer server.mu.Unlock()
		for line := range bytes.Lines(server.told.Bytes()) {
			if _, err := parseMessage(bytes.TrimSpace(line)); err != nil {
				t.Errorf("it was told %q: %v", line, err)
			}
		}
	})
}

// Whatever a server answers over HTTP, as JSON or as events, the call ends.
func FuzzServerBody(f *testing.F) {
	for _, seed := range frames() {
		f.Add([]byte(seed), false, false)
		f.Add([]byte("id: 1\ndata: "+seed+"\n\ndata: "+seed+"\n\n"), true, false)
		f.Add([]byte("data: "+seed+"\n\n"), true, true)
	}
	f.Fuzz(func(t *testing.T, in []byte, stream, modern bool) {
		speaks := oldEra
		if modern {
			speaks = newEra
		}
		hears := listener{notified: func(string, json.RawMessage) {}, requested: refuse}
		l, err := newHTTPLink(t.Context(), Server{Name: "s", URL: "http://127.0.0.1:1/"}, introduction{version: newVersion}, speaks, hears, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.farewell = time.Millisecond
		defer l.close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		c := &httpCall{id: json.RawMessage("1"), method: "tools/call", hears: l.own, token: json.RawMessage(`"mine"`), elsewhere: make(chan message, 1), leave: func() {}}
		l.expect(c)
		defer l.forget(c)
		r := &httpReply{Response: &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(in))}, l: l, unhook: func() bool { return true }, cancel: func() {}}
		var m message
		if stream {
			var at place
			m, err = l.read(ctx, c, r, &at)
		} else {
			m, err = l.readAnswer(ctx, c, r)
		}
		if ctx.Err() != nil || err == nil && !m.isAnswer() {
			t.Errorf("got %+v and %v, want an answer or why there is none", m, err)
		}
	})
}

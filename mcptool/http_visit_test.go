package mcptool

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// visit is one HTTP request without a network, so that it can be made where time
// is not real.
type visit struct {
	*doorEvents

	header http.Header
	status int
	began  chan struct{} // closed when there is a status
	once   sync.Once
	to     *io.PipeWriter
	from   *io.PipeReader
	cancel context.CancelFunc
	done   chan struct{} // closed when the handler has returned
}

func (v *visit) Header() http.Header { return v.header }

func (v *visit) WriteHeader(status int) {
	v.once.Do(func() {
		v.status = status
		close(v.began)
	})
}

func (v *visit) Write(b []byte) (int, error) {
	v.WriteHeader(http.StatusOK)
	return v.to.Write(b)
}

func (v *visit) FlushError() error { return nil }

// goAway is what a client does that is stopped, or has lost its network.
func (v *visit) goAway() {
	v.cancel()
	_ = v.from.Close()
}

// visitor is a client of the old era over HTTP.
type visitor struct {
	t       *testing.T
	gate    *Gateway
	door    http.Handler
	session string
	running sync.WaitGroup
}

func newVisitor(t *testing.T, g *Gateway) *visitor {
	t.Helper()
	d := g.Handler(HTTP{Open: true, Hosts: []string{"example.com"}, Attended: true})
	v := &visitor{t: t, gate: g, door: d}
	hello := v.do("POST", rpc(0, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"tester"}}`))
	hello.rest()
	v.session = hello.header.Get(fieldSession)
	t.Cleanup(func() { // after all its requests were left
		v.client().leave()
		v.running.Wait()
	})
	return v
}

// client is the session behind the door.
func (v *visitor) client() *client { return v.gate.house.all()[0] }

func (v *visitor) do(method, body string, headers ...string) *visit {
	v.t.Helper()
	ctx, cancel := context.WithCancel(v.t.Context())
	from, to := io.Pipe()
	w := &visit{
		doorEvents: &doorEvents{v.t, bufio.NewReader(from)}, header: make(http.Header), began: make(chan struct{}),
		to: to, from: from, cancel: cancel, done: make(chan struct{}),
	}
	r := httptest.NewRequestWithContext(ctx, method, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if v.session != "" {
		r.Header.Set(fieldSession, v.session)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	v.running.Go(func() {
		defer close(w.done)
		defer func() { _ = to.Close() }()
		v.door.ServeHTTP(w, r)
	})
	v.t.Cleanup(w.goAway)
	return w
}

// asked is the next question of a stream. It is waited for for an hour.
func (v *visit) asked() (m message) {
	v.t.Helper()
	defer time.AfterFunc(time.Hour, v.goAway).Stop()
	for {
		event, ok := v.next()
		if !ok {
			v.t.Fatal("the stream has ended without a question")
		}
		if event.data == "" {
			continue
		}
		m, err := parseMessage([]byte(event.data))
		if err != nil {
			v.t.Fatal(err)
		}
		if m.isRequest() {
			return m
		}
	}
}

// answer answers a question.
func (v *visitor) answer(m message, result string) {
	v.t.Helper()
	w := v.do("POST", string(message{id: m.id, result: json.RawMessage(result)}.append(nil)))
	if <-w.began; w.status != http.StatusAccepted {
		v.t.Fatalf("an answer: got %d, want 202", w.status)
	}
}

// request has a server ask what belongs to no request. It is given up after an
// hour.
func (v *visitor) request(method string) <-chan outcome {
	f := v.client().old
	done := make(chan outcome, 1)
	ctx, cancel := context.WithTimeout(v.t.Context(), time.Hour)
	go func() {
		defer cancel()
		result, err := f.request(ctx, "s", method, nil)
		done <- outcome{string(result), err}
	}()
	return done
}

type outcome struct {
	result string
	err    error
}

package mcptool

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// onceBody is the body of a request, which can be read once. A message whose last
// byte was never read has not been sent: the server has no whole message.
type onceBody struct {
	mu   sync.Mutex
	rest []byte
	shut bool
}

func (b *onceBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return 0, http.ErrBodyReadAfterClose
	}
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *onceBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true
	return nil
}

// cut says whether the body was not read to its end, and sees to it that it
// never is: the transport may still hold it when it has given up.
func (b *onceBody) cut() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true
	return len(b.rest) > 0
}

// countedConn counts what is written to a connection, so that it can be told of a
// request whether nothing of it was.
type countedConn struct {
	net.Conn

	writes atomic.Int64 // that are under way, or wrote something
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	n, err := c.Conn.Write(p)
	if n == 0 {
		c.writes.Add(-1)
	}
	return n, err
}

func dialCounted(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: c}, nil
}

// trace follows one request to the connection that it goes over.
type trace struct {
	mu     sync.Mutex
	over   *countedConn
	before int64 // writes when the request came to it
}

func (t *trace) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		raw := got.Conn
		if secure, ok := raw.(*tls.Conn); ok {
			raw = secure.NetConn()
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.over, _ = raw.(*countedConn); t.over != nil {
			t.before = t.over.writes.Load()
		}
	}})
}

// untouched says whether nothing was written to the connection since: it was
// found closed. Of a connection that others use as well it is not known.
func (t *trace) untouched() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over != nil && t.over.writes.Load() == t.before
}

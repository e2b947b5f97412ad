package builtin

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

const (
	fetchRedirects = 5
	fetchHeader    = 64 << 10 // bytes of all headers
)

// fetchClient is what the calls of one tool share. They share no connection.
type fetchClient struct {
	gate          *fetchGate
	follow        bool
	bytes         int
	timeout, idle time.Duration
	agent         string
	resolver      *net.Resolver
	transport     *http.Transport
}

func (f Fetch) client() (*fetchClient, error) {
	if f.Bytes < 0 || f.Timeout < 0 || f.Idle < 0 {
		return nil, fmt.Errorf("got %d bytes, %s and %s idle, want at least 0", f.Bytes, f.Timeout, f.Idle)
	}
	gate := &fetchGate{only: f.Only, own: f.own}
	if gate.own == nil {
		gate.own = net.InterfaceAddrs
	}
	var err error
	if gate.table, err = newFetchTable(); err != nil {
		return nil, err
	}
	for _, text := range f.Hosts {
		e, err := fetchReadEntry(text)
		if err != nil {
			return nil, err
		}
		gate.list = append(gate.list, e)
	}
	c := &fetchClient{
		gate: gate, follow: f.Follow, resolver: f.Resolver,
		bytes: cmp.Or(f.Bytes, 5<<20), timeout: cmp.Or(f.Timeout, 30*time.Second), idle: cmp.Or(f.Idle, 10*time.Second),
		agent: cmp.Or(f.Agent, "ferrule"),
	}
	c.transport = &http.Transport{
		Proxy:                  nil, // one of the environment would connect in our place, past the gate
		DialContext:            c.dial,
		DisableKeepAlives:      true, // nothing stays open after a call, and each hop is dialled anew
		DisableCompression:     true, // unpacked here, where both sizes are bounded
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: f.Roots},
		TLSHandshakeTimeout:    c.idle,
		ResponseHeaderTimeout:  c.idle,
		MaxResponseHeaderBytes: fetchHeader,
	}
	return c, nil
}

// fetchHop is the key of the target that a request goes to.
type fetchHop struct{}

// dial connects. Whatever the name was resolved to, and however often, each
// address passes the gate right before the system is told to connect to it.
func (c *fetchClient) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	t, ok := ctx.Value(fetchHop{}).(fetchTarget)
	if !ok || net.JoinHostPort(t.host(), fmt.Sprint(t.port)) != addr {
		return nil, &fetchRefusal{"The address is not the one that was asked for.", fmt.Sprintf("dial: got %s, want %s", addr, t.host())}
	}
	d := net.Dialer{
		Timeout: c.idle, Resolver: c.resolver, KeepAlive: -1,
		ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || network != "tcp4" && network != "tcp6" || to.Port() != t.port {
				return &fetchRefusal{"The address is not one that fetch can open.", fmt.Sprintf("dial: %s %s: want TCP to port %d", network, address, t.port)}
			}
			return c.gate.address(t, to.Addr())
		},
	}
	if t.name != "" && !c.gate.names(t) {
		// The dot of the root: no domain of this network is tried behind the name.
		addr = net.JoinHostPort(t.name+".", fmt.Sprint(t.port))
	}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &fetchConn{conn, c.idle}, nil
}

// fetchConn gives up on who is silent for too long.
type fetchConn struct {
	net.Conn
	idle time.Duration
}

func (c *fetchConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *fetchConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// run follows an address to its answer.
func (c *fetchClient) run(ctx context.Context, in fetchInput) (tool.Result, error) {
	t, err := fetchParse(in.URL)
	if err != nil {
		return tool.Result{}, fetchInvalid(err)
	}
	ctx, stop := context.WithTimeoutCause(ctx, c.timeout, errFetchLimit)
	defer stop()
	for hop := 0; ; hop++ {
		if err := c.gate.host(t); err != nil {
			return tool.Result{}, fetchFailed(ctx, t, hop, c.timeout, err)
		}
		res, err := c.ask(ctx, in.method(), t)
		if err != nil {
			return tool.Result{}, fetchFailed(ctx, t, hop, c.timeout, err)
		}
		next, err := c.next(t, res, hop)
		if next == nil && err == nil {
			return c.answer(ctx, in, t, hop, res)
		}
		_ = res.Body.Close() // its connection is not used again
		switch {
		case err != nil:
			return tool.Result{}, fetchFailed(ctx, t, hop+1, c.timeout, err)
		case next.url.Host != t.url.Host && !c.follow:
			return fetchElsewhere(in.method(), t, res.StatusCode, *next), nil
		}
		t = *next
	}
}

// ask sends one request and waits for the headers of the answer.
func (c *fetchClient) ask(ctx context.Context, method string, t fetchTarget) (*http.Response, error) {
	req, err := http.NewRequestWithContext(context.WithValue(ctx, fetchHop{}, t), method, t.url.String(), nil)
	if err != nil {
		return nil, fetchBadURL("it cannot be read as one")
	}
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, application/xml;q=0.7, image/*;q=0.5, */*;q=0.1")
	req.Header.Set("Accept-Encoding", "gzip")
	// The transport alone: a client would bring cookies, referers and redirects.
	return c.transport.RoundTrip(req)
}

// next is where an answer leads; nil: nowhere.
func (c *fetchClient) next(t fetchTarget, res *http.Response, hop int) (*fetchTarget, error) {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location := res.Header.Get("Location")
	if location == "" {
		return nil, nil
	}
	to, err := t.redirect(location)
	if err == nil {
		err = c.gate.host(to)
	}
	switch {
	case err != nil:
		return nil, err
	case hop >= fetchRedirects:
		return nil, &tool.Error{Kind: tool.Failed, Text: fmt.Sprintf("The address redirects more than %d times.", fetchRedirects)}
	case t.url.Scheme == "https" && to.url.Scheme == "http":
		return nil, &tool.Error{Kind: tool.Failed, Text: "The address redirects from https to http, which fetch does not follow.", Detail: "redirect to " + to.url.String()}
	}
	return &to, nil
}

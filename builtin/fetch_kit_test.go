package builtin

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/ferrule-dev/ferrule/tool"
)

// silence listens on the loopback addresses and counts who comes.
type silence struct {
	port  string
	heard atomic.Int64
}

// listenSilently opens one port on 127.0.0.1, 127.0.0.2 and, where there is one,
// ::1.
func listenSilently(t *testing.T) *silence {
	t.Helper()
	s := new(silence)
	for _, host := range []string{"127.0.0.1", "127.0.0.2", "::1"} {
		port := s.port
		if port == "" {
			port = "0"
		}
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err != nil && host != "127.0.0.1" {
			t.Logf("no listener on %s: %v", host, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, s.port, err = net.SplitHostPort(l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		server := &http.Server{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("secret")) }),
			ConnState: func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					s.heard.Add(1)
				}
			},
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = server.Serve(l)
		}()
		t.Cleanup(func() {
			_ = server.Close()
			<-done
		})
	}
	return s
}

// names is a DNS server on loopback. Each question takes the next of a name's
// answers, and the last one for good.
type names struct {
	mu     sync.Mutex
	tables map[string][][]string // addresses, or a name that it stands for
	asked  []string
}

// resolver starts the server and gives what asks it and nobody else.
func (n *names) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			size, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply, err := n.reply(buf[:size]); err == nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	to := conn.LocalAddr().String()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", to)
	}}
}

func (n *names) reply(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	q := m.Questions[0]
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	name := strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")
	list, known := n.next(name, q.Type)
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	owner := q.Name
	for _, text := range list {
		h := dnsmessage.ResourceHeader{Name: owner, Class: dnsmessage.ClassINET, TTL: 0}
		a, err := netip.ParseAddr(text)
		switch {
		case err != nil: // another name
			alias := dnsmessage.MustNewName(text + ".")
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.CNAMEResource{CNAME: alias}})
			owner = alias
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return m.Pack()
}

func (n *names) next(name string, kind dnsmessage.Type) ([]string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, name)
	list, known := n.tables[name]
	if !known {
		return nil, false
	}
	if len(list) > 1 && kind == dnsmessage.TypeA { // A and AAAA are asked side by side
		n.tables[name] = list[1:]
	}
	return list[0], true
}

// fetched calls the tool by hand: Admit, Validate and Run.
func fetched(t *testing.T, f Fetch, input any) (tool.Result, error) {
	t.Helper()
	res, err := fetchedBy(t, f, input, true)
	return res, err
}

// ran calls Run without Validate before it.
func ran(t *testing.T, f Fetch, input any) (tool.Result, error) {
	t.Helper()
	return fetchedBy(t, f, input, false)
}

func fetchedBy(t *testing.T, f Fetch, input any, validate bool) (tool.Result, error) {
	t.Helper()
	made, err := f.Tool()
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := input.(string); ok {
		input = map[string]any{"url": text}
	}
	b, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	args, err := made.Admit(b)
	if err != nil {
		t.Fatalf("admit %s: %v", b, err)
	}
	if validate {
		if _, err := made.Validate(t.Context(), args); err != nil {
			return tool.Result{}, err
		}
	}
	return made.Run(t.Context(), args)
}

// serve is a web server on loopback, and the host list that opens it.
func serve(t *testing.T, h http.HandlerFunc) (base string, f Fetch) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, Fetch{Hosts: []string{strings.TrimPrefix(s.URL, "http://")}}
}

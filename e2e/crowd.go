package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"time"
)

// crowdClients is how many clients there are at once, half of each era.
const crowdClients = 500

// crowd has many clients call at once, and looks at what the gateway holds after a
// quarter of the calls and after all of them.
func crowd(ctx context.Context, w *world, s *score) error {
	if w.direct {
		return nil
	}
	upstreams, err := w.popular(ctx)
	if err != nil {
		return err
	}
	g, err := w.up(ctx, full(), upstreams...)
	if err != nil {
		return err
	}
	m := newMany(g.url, upstreams)
	defer m.leave(context.WithoutCancel(ctx))
	m.each(func(c *wire, _ int) error { return c.hello(ctx) })
	s.hold("all clients are let in", len(m.faults) == 0, first(m.faults), nil)

	each := max(4, 10*w.calls/crowdClients) // of a client
	m.call(ctx, each/4)
	early, err := sizeOf(g.cmd.Process.Pid)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	start := time.Now()
	m.call(ctx, each-each/4)
	took := time.Since(start)
	late, _ := sizeOf(g.cmd.Process.Pid)
	made := crowdClients * each
	s.note("figures", object{
		"clients": crowdClients, "calls": made, "a second": int(float64(crowdClients*(each-each/4)) / took.Seconds()),
		"early": early, "late": late,
	})
	s.hold("every call is answered, with its own answer", m.answered == made && len(m.faults) == 0, object{"answered": m.answered, "faults": first(m.faults)}, made)
	if early.RSS > 0 {
		ratio := float64(late.RSS) / float64(early.RSS)
		s.hold("memory does not grow with calls", ratio <= 1.2, object{
			"ratio": ratio, fmt.Sprintf("RSS after %d", crowdClients*(each/4)): early.RSS, fmt.Sprintf("RSS after %d", made): late.RSS,
		}, "at most 1.20")
	}
	m.leave(ctx)
	return w.orderly(ctx, s, g)
}

// orderly stops a gateway as a person would: it ends by itself, and leaves nothing.
func (w *world) orderly(ctx context.Context, s *score, g *up) error {
	terminate(g.cmd)
	within(ctx, 20*time.Second, func() bool { return g.ended() != nil })
	select {
	case <-g.done:
		s.hold("the gateway ends when it is told to", g.err == nil, fmt.Sprint(g.err), "no error")
	default:
		s.fail("the gateway ends when it is told to", g.said.String())
	}
	return ctx.Err()
}

// popular are servers that bear a crowd: over HTTP, for sessions, since of a
// server over stdio there is a process for each; and over stdio, for clients that
// have none.
func (w *world) popular(ctx context.Context) ([]upstream, error) {
	program, err := w.build(ctx, "./e2e/server")
	if err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	p, err := w.start("web", exec.Command(program, "-http", address)) //nolint:gosec,noctx // built by us; it is stopped, not killed
	if err != nil {
		return nil, err
	}
	all := []upstream{{name: "web", url: "http://" + address}, {name: "lines", command: []string{program}}}
	return all, reachable(ctx, p, all[0].url)
}

// many are clients that call at once.
type many struct {
	upstreams []upstream
	shared    *http.Client
	clients   []*wire

	mu       sync.Mutex
	answered int
	faults   []string
}

func newMany(url string, upstreams []upstream) *many {
	m := &many{upstreams: upstreams, shared: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crowdClients}}}
	for i := range crowdClients {
		m.clients = append(m.clients, &wire{url: url, stateless: i%2 == 1, client: m.shared})
	}
	return m
}

// each has all clients do something at once.
func (m *many) each(do func(c *wire, i int) error) {
	var all sync.WaitGroup
	for i, c := range m.clients {
		all.Go(func() {
			if err := do(c, i); err != nil {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.faults = append(m.faults, fmt.Sprintf("client %d: %v", i, err))
			}
		})
	}
	all.Wait()
}

// call has each client make n calls, one after the other.
func (m *many) call(ctx context.Context, n int) {
	m.each(func(c *wire, i int) error {
		u := m.upstreams[0]
		if c.stateless {
			u = m.upstreams[i/2%len(m.upstreams)]
		}
		for k := range n {
			if err := m.one(ctx, c, u, fmt.Sprintf("client %d, call %d", i, k)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (m *many) one(ctx context.Context, c *wire, u upstream, text string) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	result, err := c.do(ctx, "tools/call", object{"name": u.prefixed("echo"), "arguments": object{"text": text}})
	if err != nil {
		return err
	}
	if got := (outcome{Result: result}).text(); got != text {
		return fmt.Errorf("got %.200s, want %q", result, text)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answered++
	return nil
}

// leave ends all sessions. Twice is once.
func (m *many) leave(ctx context.Context) {
	m.each(func(c *wire, _ int) error {
		c.close(ctx)
		c.session = ""
		return nil
	})
	m.shared.CloseIdleConnections()
}

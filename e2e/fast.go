package main

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// fast measures what the gateway adds to a call. All ways are measured in turn,
// one call each, so that what else the machine does is the same for all.
func fast(ctx context.Context, w *world, s *score) error {
	if w.direct {
		return nil // there is nothing to compare
	}
	program, err := w.build(ctx, "./e2e/sdkserver")
	if err != nil {
		return err
	}
	u := upstream{name: "sdk", command: []string{program}, unprefixed: true}
	for _, f := range []struct {
		name string
		run  func(context.Context, *world, *score) error
	}{
		{"stdio", func(ctx context.Context, w *world, s *score) error { return fastStdio(ctx, w, s, u) }},
		{"HTTP", func(ctx context.Context, w *world, s *score) error { return fastHTTP(ctx, w, s, u) }},
		{"list", func(ctx context.Context, w *world, s *score) error { return fastList(ctx, w, s, u) }},
		{"deferred", deferredTokens},
	} {
		if err := f.run(ctx, w, s); err != nil {
			s.fail(f.name+": it ran to its end", err.Error())
		}
		w.rest()
	}
	return ctx.Err()
}

// fastStdio compares a server over stdio with ferrule mcp in front of it, for
// clients of both eras.
func fastStdio(ctx context.Context, w *world, s *score, u upstream) error {
	g, err := w.stdioGateway(u)
	if err != nil {
		return err
	}
	var callers []caller
	for _, era := range []string{oldVersion, newVersion} {
		for _, to := range []upstream{u, g} {
			c, err := w.pipe(ctx, to, era)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", to.name, era, err)
			}
			callers = append(callers, c)
		}
	}
	p50, err := interleaved(ctx, w.calls, echo, callers)
	if err != nil {
		return err
	}
	s.ratio("stdio, 2025", p50[1], p50[0], 1.5)
	s.ratio("stdio, 2026", p50[3], p50[2], 1.5)
	return nil
}

// fastHTTP compares the SDK's own HTTP server, the gateway and two others.
func fastHTTP(ctx context.Context, w *world, s *score, u upstream) error {
	gateway, err := w.gateway(ctx, full(), u)
	if err != nil {
		return err
	}
	sessions, err := w.overHTTP(ctx, u, false)
	if err != nil {
		return err
	}
	stateless, err := w.overHTTP(ctx, u, true)
	if err != nil {
		return err
	}
	super, err := w.rival(ctx, "supergateway", "supergateway/dist/index.js", func(port string) []string {
		return []string{"--stdio", strings.Join(u.command, " "), "--outputTransport", "streamableHttp", "--stateful", "--port", port, "--logLevel", "none"}
	})
	if err != nil {
		return err
	}
	proxy, err := w.rival(ctx, "mcp-proxy", "mcp-proxy/dist/bin/mcp-proxy.mjs", func(port string) []string {
		return append([]string{"--host", "127.0.0.1", "--port", port, "--server", "stream", "--"}, u.command...)
	})
	if err != nil {
		return err
	}
	var callers []caller
	for _, url := range []string{sessions, gateway, super, proxy} {
		c := &wire{url: url}
		if err := c.hello(ctx); err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
		callers = append(callers, c)
	}
	callers = append(callers, &wire{url: stateless, stateless: true}, &wire{url: gateway, stateless: true})
	p50, err := interleaved(ctx, w.calls, echo, callers)
	if err != nil {
		return err
	}
	s.ratio("HTTP, 2025", p50[1], p50[0], 1.5)
	s.ratio("HTTP, 2026", p50[5], p50[4], 1.1)
	s.ratio("next to the faster of supergateway and mcp-proxy", p50[1], min(p50[2], p50[3]), 0.6)
	var many []time.Duration
	for _, url := range []string{gateway, super, proxy} {
		d, err := w.concurrently(ctx, url, 16)
		if err != nil {
			return err
		}
		many = append(many, d)
	}
	s.ratio("the same, 16 at once", many[0], min(many[1], many[2]), 0.8)
	return nil
}

// fastList compares how long 1,000 tools take to list.
func fastList(ctx context.Context, w *world, s *score, u upstream) error {
	u.command = append(u.command[:1:1], "-tools", "1000")
	gateway, err := w.gateway(ctx, full(), u)
	if err != nil {
		return err
	}
	var callers []caller
	for _, stateless := range []bool{false, true} {
		url, err := w.overHTTP(ctx, u, stateless)
		if err != nil {
			return err
		}
		for _, url := range []string{url, gateway} {
			c := &wire{url: url, stateless: stateless}
			if err := c.hello(ctx); err != nil {
				return fmt.Errorf("%s: %w", url, err)
			}
			callers = append(callers, c)
		}
	}
	p50, err := interleaved(ctx, max(1, w.calls/10), list, callers)
	if err != nil {
		return err
	}
	s.ratio("tools/list of 1,000 tools, 2025", p50[1], p50[0], 0.15)
	s.ratio("tools/list of 1,000 tools, 2026", p50[3], p50[2], 0.15)
	return nil
}

// overHTTP starts a server of the SDK over HTTP.
func (w *world) overHTTP(ctx context.Context, u upstream, stateless bool) (string, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return "", err
	}
	args := append(u.command[1:len(u.command):len(u.command)], "-http", address, "-stateless="+strconv.FormatBool(stateless))
	p, err := w.start(u.name, exec.Command(u.command[0], args...)) //nolint:gosec,noctx // installed or built by us; it is stopped, not killed
	if err != nil {
		return "", err
	}
	url := "http://" + address + "/mcp"
	return url, reachable(ctx, p, url)
}

// rival starts another gateway in front of the same server.
func (w *world) rival(ctx context.Context, name, script string, args func(port string) []string) (string, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	cmd := exec.Command(w.tools.node(), append([]string{w.tools.script(name, script)}, args(port)...)...) //nolint:gosec,noctx // installed by us; it is stopped, not killed
	p, err := w.start(name, cmd)
	if err != nil {
		return "", err
	}
	url := "http://" + address + "/mcp"
	return url, reachable(ctx, p, url)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// gateway is a `ferrule up`.
type gateway struct {
	cmd              *exec.Cmd
	said             *text
	over             chan struct{}
	root, url, token string
	link             string // the first one, with the key
}

// text is what a program prints.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// folder makes an empty folder.
func (w *world) folder(name string) (string, error) { return os.MkdirTemp(w.dir, name+"-") }

// up starts a gateway in a folder.
func (w *world) up(ctx context.Context, dir, address string) (*gateway, error) {
	g := &gateway{said: new(text), over: make(chan struct{})}
	g.cmd = exec.CommandContext(ctx, w.program, "up", "--builtin", "--address", address) //nolint:gosec // the program that is tried
	g.cmd.Dir, g.cmd.Stdout, g.cmd.Stderr = dir, g.said, g.said
	g.cmd.Env = append(os.Environ(), "HOME="+w.dir, "XDG_CONFIG_HOME="+w.dir)
	g.cmd.Cancel = func() error { return g.cmd.Process.Signal(syscall.SIGTERM) }
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	w.ends = append(w.ends, g.stop)
	go func() {
		_ = g.cmd.Wait()
		close(g.over)
	}()
	find := func(pattern string) (found string, err error) {
		err = eventually(ctx, 20*time.Second, func() error {
			m := regexp.MustCompile(pattern).FindStringSubmatch(g.said.String())
			if m == nil {
				return fmt.Errorf("got %s, want %s", g.said, pattern)
			}
			found = m[1]
			return nil
		})
		return found, err
	}
	var errs [3]error
	g.url, errs[0] = find(`address +(\S+)\n`)
	g.token, errs[1] = find(`token +(\S+)\n`)
	g.link, errs[2] = find(`console +(\S+)\n`)
	g.root = strings.TrimSuffix(g.url, "/mcp")
	return g, errors.Join(errs[:]...)
}

// address is host and port.
func (g *gateway) address() string { return strings.TrimPrefix(g.root, "http://") }

// stop ends it, and waits.
func (g *gateway) stop() {
	_ = g.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-g.over:
	case <-time.After(20 * time.Second):
		_ = g.cmd.Process.Kill()
		<-g.over
	}
}

// eventually tries until it works.
func eventually(ctx context.Context, patience time.Duration, try func() error) error {
	end := time.Now().Add(patience)
	for {
		err := try()
		if err == nil || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// client is an MCP client.
type client struct {
	g       *gateway
	session string
}

// client begins a session.
func (g *gateway) client(ctx context.Context) (*client, error) {
	c := &client{g: g}
	_, err := c.say(ctx, "initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "some-agent", "version": "1"},
	})
	if err != nil {
		return nil, err
	}
	_, err = c.say(ctx, "notifications/initialized", map[string]any{})
	return c, err
}

func (c *client) say(ctx context.Context, method string, params any) (string, error) {
	m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if !strings.HasPrefix(method, "notifications/") {
		m["id"] = time.Now().UnixNano()
	}
	body, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.g.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+c.g.token)
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("got %s: %s", res.Status, text)
	}
	return string(text), err
}

// call calls a tool, and gives what came of it.
func (c *client) call(ctx context.Context, name string, args map[string]any) (string, error) {
	return c.say(ctx, "tools/call", map[string]any{"name": name, "arguments": args})
}

// answer is what came of a call that was begun.
type answer struct {
	text string
	err  error
}

// begin calls a tool, and does not wait.
func (c *client) begin(ctx context.Context, name string, args map[string]any) <-chan answer {
	over := make(chan answer, 1)
	go func() {
		text, err := c.call(ctx, name, args)
		over <- answer{text, err}
	}()
	return over
}

// get is a page, asked for with the key as programs have it.
func (g *gateway) get(ctx context.Context, path string) (body []byte, took time.Duration, err error) {
	_, key, _ := strings.Cut(g.link, "key=")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.root+path, http.NoBody)
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	start := time.Now()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err = io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: got %s: %s", path, res.Status, body)
	}
	return body, time.Since(start), err
}

// write puts a file into a folder.
func write(dir, name, content string) error {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

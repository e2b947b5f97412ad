package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed calls.mjs
var callsProgram []byte

// toolCall is a call of a tool by the server's own name for it.
type toolCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments,omitzero"` // nil: the call has none
}

// outcome is what a client got for a call: a result, or an error.
type outcome struct {
	Name   string          `json:"name"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
	Tools  []definition    `json:"tools,omitempty"`
}

// definition is a tool as it is listed.
type definition map[string]any

// typescript calls tools with the official TypeScript client of a generation,
// and returns the definitions of all tools and one outcome for each call.
func (w *world) typescript(ctx context.Context, generation string, u upstream, calls []toolCall) ([]definition, []outcome, error) {
	return w.runClient(ctx, u, map[string]any{"generation": generation, "list": true, "calls": calls})
}

// runClient has calls.mjs do what todo says.
func (w *world) runClient(ctx context.Context, u upstream, todo map[string]any) ([]definition, []outcome, error) {
	program, err := w.file("calls.mjs", callsProgram)
	if err != nil {
		return nil, nil, err
	}
	todo["packages"], todo["server"] = w.tools.script("clients", ""), u.forClient()
	text, err := json.Marshal(todo)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	cmd := exec.Command(w.tools.node(), program) //nolint:gosec,noctx // output ends it, with its group
	cmd.Env, cmd.Stdin, cmd.Dir = w.tools.environment(), bytes.NewReader(text), w.dir
	out, err := output(ctx, "TypeScript client", cmd)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; it had printed %d lines", err, bytes.Count(out, []byte("\n")))
	}
	var listed []definition
	var outcomes []outcome
	in := bufio.NewScanner(bytes.NewReader(out))
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var o outcome
		if err := json.Unmarshal(in.Bytes(), &o); err != nil {
			return nil, nil, fmt.Errorf("TypeScript client: got %q, want JSON: %w", in.Text(), err)
		}
		if o.Name == "" {
			listed = o.Tools
			continue
		}
		outcomes = append(outcomes, o)
	}
	return listed, outcomes, in.Err()
}

// forClient is how calls.mjs reaches a server.
func (u upstream) forClient() map[string]any {
	if u.url != "" {
		return map[string]any{"url": u.url}
	}
	s := map[string]any{"command": u.command[0], "args": u.command[1:]}
	if len(u.env) > 0 {
		s["env"] = u.env
	}
	if u.dir != "" {
		s["cwd"] = u.dir
	}
	return s
}

// inspector calls one tool with the inspector's command line.
func (w *world) inspector(ctx context.Context, u upstream, c toolCall) (outcome, error) {
	args, err := json.Marshal(c.Arguments)
	if err != nil {
		return outcome{}, err
	}
	if c.Arguments == nil {
		args = []byte("{}")
	}
	line := []string{w.tools.script("inspector", "@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"}
	if u.url != "" {
		line = append(line, "--server-url", u.url, "--transport", "http")
	} else {
		line = append(slices.Concat(line, u.command), "--cwd", u.dir)
		for k, v := range u.env {
			line = append(line, "-e", k+"="+v)
		}
	}
	line = append(line, "--method", "tools/call", "--tool-name", c.Name, "--tool-args-json", string(args),
		"--format", "json", "--quiet", "--stored-auth-only")
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.Command(w.tools.node(), line...) //nolint:gosec,noctx // output ends it, with its group
	cmd.Dir = w.dir
	// It keeps files in the home, and must not touch that of who runs this.
	cmd.Env = append(w.tools.environment(), "HOME="+filepath.Join(w.dir, "home"), "MCP_INSPECTOR_SECRET_STORE=memory")
	out, err := output(ctx, "inspector "+c.Name, cmd)
	var said struct{ Result json.RawMessage }
	if json.Unmarshal(bytes.TrimSpace(out), &said) == nil && said.Result != nil {
		return outcome{Name: c.Name, Result: said.Result}, nil // it exits with 5 for a result with isError
	}
	if err != nil {
		text, _ := json.Marshal(strings.TrimSpace(err.Error()))
		return outcome{Name: c.Name, Error: text}, ctx.Err()
	}
	return outcome{}, fmt.Errorf("inspector: got %q, want a result", out)
}

// Client is Ferrule as an MCP client, for the client tests of the conformance
// suite: it runs ferrule in front of the suite's server and does over stdio what
// the scenario wants. Where the scenario has a person log in, the gateway is part of
// this program, as in those of others: then it is here that a browser is missing.
//
//	FERRULE=program MCP_CONFORMANCE_SCENARIO=tools_call client URL
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

type object = map[string]any

// tools are what each scenario has a client call; "": it only connects and lists.
func tools() map[string]string {
	return map[string]string{
		"initialize":                          "",
		"tools_call":                          "add_numbers",
		"elicitation-sep1034-client-defaults": "test_client_elicitation_defaults",
		"sse-retry":                           "test_reconnection",
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("arguments: got %q, want the address of a server", args)
	}
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	ctx, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	if strings.HasPrefix(scenario, "auth/") {
		c, err := inside(ctx, args[0], os.Getenv("MCP_CONFORMANCE_CONTEXT"))
		if err != nil {
			return err
		}
		return errors.Join(c.scenario("test-tool"), c.stop())
	}
	tool, ok := tools()[scenario]
	if !ok {
		return fmt.Errorf("scenario %q: ferrule has nothing for it", scenario)
	}
	dir, err := os.MkdirTemp("", "ferrule-client")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c, err := start(ctx, dir, args[0])
	if err != nil {
		return err
	}
	return errors.Join(c.scenario(tool), c.stop())
}

// client speaks to ferrule over its stdin and stdout.
type client struct {
	in   io.WriteCloser
	out  *bufio.Reader
	wait func() error // until ferrule has ended
	lost func() error // why its server will not be there; nil: it may
	id   int
}

// start runs ferrule with the server behind it.
func start(ctx context.Context, dir, url string) (*client, error) {
	config, err := json.Marshal(object{
		"servers": object{"suite": object{"url": url, "trust": "own", "believe": true, "unprefixed": true, "sanitize": "pass"}},
		"content": object{"flow": "off"}, // suites compare texts, and nobody is there to be asked
		"listen":  object{"tools": "full"},
		"policy":  object{"allow": []string{"*"}},
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "ferrule.yaml"), config, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, os.Getenv("FERRULE"), "mcp", dir) //nolint:gosec // the program under test
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = dir, os.Stderr, 2*time.Second
	cmd.Env = append(os.Environ(), "FERRULE_HOME="+filepath.Join(dir, "home"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &client{in: in, out: bufio.NewReader(out), wait: cmd.Wait}, cmd.Start()
}

// stop ends ferrule as clients do: its stdin ends.
func (c *client) stop() error {
	_ = c.in.Close()
	_, _ = io.Copy(io.Discard, c.out)
	return c.wait()
}

// scenario connects, waits until the server's tools are there, and calls one.
func (c *client) scenario(tool string) error {
	_, err := c.do("initialize", object{
		"protocolVersion": "2025-11-25", "clientInfo": object{"name": "ferrule-e2e", "version": "1"},
		"capabilities": object{"elicitation": object{"form": object{}}},
	})
	if err != nil {
		return err
	}
	if err := c.send(object{"method": "notifications/initialized"}); err != nil {
		return err
	}
	for {
		result, err := c.do("tools/list", object{})
		if err != nil {
			return err
		}
		var list struct{ Tools []struct{ Name string } }
		if err := json.Unmarshal(result, &list); err != nil {
			return err
		}
		if len(list.Tools) > 0 {
			break
		}
		if c.lost != nil {
			if err := c.lost(); err != nil {
				return err
			}
		}
		time.Sleep(100 * time.Millisecond) // ferrule does not wait for its servers
	}
	if tool == "" {
		return nil
	}
	_, err = c.do("tools/call", object{"name": tool, "arguments": arguments(tool)})
	return err
}

func arguments(tool string) object {
	if tool == "add_numbers" {
		return object{"a": 5, "b": 3}
	}
	return object{}
}

// do sends a request and reads until its answer, answering what is asked for.
func (c *client) do(method string, params object) (json.RawMessage, error) {
	c.id++
	if err := c.send(object{"id": c.id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		text, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				RequestedSchema struct {
					Properties map[string]struct{ Default any }
				}
			}
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("%s: got %q: %w", method, text, err)
		}
		switch {
		case m.Method == "elicitation/create":
			content := object{}
			for name, p := range m.Params.RequestedSchema.Properties {
				content[name] = p.Default
			}
			err = c.send(object{"id": m.ID, "result": object{"action": "accept", "content": content}})
		case m.Method == "ping" && m.ID != nil:
			err = c.send(object{"id": m.ID, "result": object{}})
		case m.Method == "" && string(m.ID) == fmt.Sprint(c.id):
			if m.Error != nil {
				return nil, fmt.Errorf("%s: %s", method, m.Error)
			}
			return m.Result, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (c *client) send(m object) error {
	m["jsonrpc"] = "2.0"
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(text, '\n'))
	return err
}

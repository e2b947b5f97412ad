package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// pipe is a client of the least kind, over stdio.
type pipe struct {
	in        io.Writer
	out       *bufio.Reader
	stateless bool // of the 2026 era
	id        int
}

// pipe starts a server and makes a session with it, where the era has sessions.
func (w *world) pipe(ctx context.Context, u upstream, era string) (*pipe, error) {
	cmd := exec.Command(u.command[0], u.command[1:]...) //nolint:gosec,noctx // installed or built by us; it is stopped, not killed
	cmd.Dir, cmd.Env = u.dir, w.tools.environment()
	for k, v := range u.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe: waiting for the process would close it below the reader.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = write
	if _, err = w.start(u.name, cmd); err != nil {
		return nil, err
	}
	_ = write.Close() // the child has its own
	c := &pipe{in: in, out: bufio.NewReaderSize(read, 64<<10), stateless: era == newVersion}
	if c.stateless {
		_, err = c.do(ctx, "server/discover", object{})
		return c, err
	}
	_, err = c.do(ctx, "initialize", object{
		"protocolVersion": oldVersion, "capabilities": object{}, "clientInfo": object{"name": "e2e", "version": "1"},
	})
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return c, err
}

func (c *pipe) do(_ context.Context, method string, params object) (json.RawMessage, error) {
	c.id++
	if c.stateless {
		params["_meta"] = ofTheNewEra()
	}
	text, err := json.Marshal(object{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(text, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if result, ok, err := resultOf(line); ok || err != nil {
			return result, err
		}
	}
}

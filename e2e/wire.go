package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
)

// wire is a client of the least kind, over streamable HTTP: it shows what is
// sent, and costs next to nothing, so that what is measured is the other side.
type wire struct {
	url       string
	stateless bool // of the 2026 era
	token     string
	elicits   bool // it says that it can ask its user
	client    *http.Client
	session   string
	id        int
	heard     int // what was told before answers, such as progress
}

const (
	oldVersion = "2025-11-25"
	newVersion = "2026-07-28"
)

// ofTheNewEra is what each request of the 2026 era says.
func ofTheNewEra() object {
	return object{
		"io.modelcontextprotocol/protocolVersion":    newVersion,
		"io.modelcontextprotocol/clientInfo":         object{"name": "e2e", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": object{},
	}
}

// hello makes a session, in the old era.
func (c *wire) hello(ctx context.Context) error {
	if c.stateless {
		return nil
	}
	_, err := c.do(ctx, "initialize", map[string]any{
		"protocolVersion": oldVersion, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "e2e", "version": "1"},
	})
	if err != nil {
		return err
	}
	return c.post(ctx, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}, func(*http.Response) error { return nil })
}

// close ends the session.
func (c *wire) close(ctx context.Context) {
	if c.session == "" {
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.url, http.NoBody)
	if err != nil {
		return
	}
	req.Header.Set("Mcp-Session-Id", c.session)
	if resp, err := c.http().Do(req); err == nil {
		_ = resp.Body.Close()
	}
}

func (c *wire) http() *http.Client {
	if c.client == nil {
		return http.DefaultClient
	}
	return c.client
}

// toolNames are those of the whole list.
func (c *wire) toolNames(ctx context.Context) ([]string, error) {
	var names []string
	params := map[string]any{}
	for {
		result, err := c.do(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
			Next string `json:"nextCursor"`
		}
		if err := json.Unmarshal(result, &page); err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			names = append(names, t.Name)
		}
		if page.Next == "" {
			return names, nil
		}
		params = map[string]any{"cursor": page.Next}
	}
}

// do sends a request and waits for its result.
func (c *wire) do(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	c.id++
	if c.stateless {
		meta := ofTheNewEra()
		if c.elicits {
			meta["io.modelcontextprotocol/clientCapabilities"] = object{"elicitation": object{"form": object{}}}
		}
		if own, ok := params["_meta"].(object); ok {
			maps.Copy(meta, own)
		}
		params["_meta"] = meta
	}
	var result json.RawMessage
	err := c.post(ctx, map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params}, func(resp *http.Response) error {
		if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
			c.session = s
		}
		var err error
		result, err = answer(resp, func() { c.heard++ })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return result, nil
}

func (c *wire) post(ctx context.Context, message map[string]any, take func(*http.Response) error) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	switch {
	case c.stateless:
		req.Header.Set("Mcp-Protocol-Version", newVersion)
		req.Header.Set("Mcp-Method", fmt.Sprint(message["method"]))
		if params, ok := message["params"].(map[string]any); ok && params["name"] != nil {
			req.Header.Set("Mcp-Name", fmt.Sprint(params["name"]))
		}
	case c.session != "":
		req.Header.Set("Mcp-Session-Id", c.session)
		req.Header.Set("Mcp-Protocol-Version", oldVersion)
	}
	resp, err := c.http().Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		if _, _, err := resultOf(said); errors.As(err, new(rpcFault)) {
			return err
		}
		return fmt.Errorf("HTTP %s: %s", resp.Status, said)
	}
	if err := take(resp); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body) // so that the connection is used again
	return err
}

// answer reads the answer from a body: JSON, or the last event of a stream; hear is
// told of each before it.
func answer(resp *http.Response, hear func()) (json.RawMessage, error) {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		result, _, err := resultOf(body)
		return result, err
	}
	in := bufio.NewReaderSize(resp.Body, 64<<10)
	for {
		text, err := in.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			if result, ok, err := resultOf(data); ok || err != nil {
				return result, err
			}
			hear()
		}
		if err != nil {
			return nil, fmt.Errorf("a stream without an answer: %w", err)
		}
	}
}

// rpcFault is the error that a request was answered with.
type rpcFault string

func (r rpcFault) Error() string { return string(r) }

// resultOf is the result of a message that is an answer.
func resultOf(text []byte) (result json.RawMessage, ok bool, err error) {
	var m struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil, false, nil
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, false, err
	}
	if m.Error != nil {
		return nil, false, rpcFault(m.Error)
	}
	return m.Result, m.Result != nil, nil
}

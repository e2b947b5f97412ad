package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/tokens"
)

// deferredTokens counts what a list of deferred tools costs a model.
func deferredTokens(ctx context.Context, w *world, s *score) error {
	file, err := w.liveTools()
	if err != nil {
		return err
	}
	program, err := w.build(ctx, "./e2e/server")
	if err != nil {
		return err
	}
	count, err := tokens.New("o200k_base")
	if err != nil {
		return err
	}
	for _, index := range []struct {
		name, mark string // mark is in the index once the server's tools are known
		most       int
	}{{"servers", "live", 600}, {"names", "bing_search", 2500}} {
		url, err := w.gateway(ctx, object{"tools": "deferred", "index": index.name}, upstream{name: "live", command: []string{program, "-tools", file}})
		if err != nil {
			return err
		}
		text, err := listWith(ctx, url, index.mark)
		if err != nil {
			return err
		}
		n := count.Count(text)
		s.hold("tokens of 527 deferred tools, index: "+index.name, n <= index.most, n, fmt.Sprintf("at most %d", index.most))
	}
	return nil
}

// listWith is the list of tools once it has a text in it.
func listWith(ctx context.Context, url, mark string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		result, err := (&wire{url: url, stateless: true}).do(ctx, "tools/list", object{})
		if err != nil {
			return "", err
		}
		var list struct{ Tools json.RawMessage }
		if err := json.Unmarshal(result, &list); err != nil {
			return "", err
		}
		if strings.Contains(string(list.Tools), mark) {
			return string(list.Tools), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("got %s, want %q in it", list.Tools, mark)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// liveTools writes the definitions of the data set as a server lists them.
func (w *world) liveTools() (string, error) {
	text, err := os.ReadFile(filepath.Join(w.data, "mcp-tools-livemcp.jsonl"))
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	for line := range strings.Lines(string(text)) {
		var d struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			return "", err
		}
		one, err := json.Marshal(d)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&lines, "%s\n", one)
	}
	return w.file("live.jsonl", []byte(lines.String()))
}

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// mcpClient is a program that servers are configured for, and how.
type mcpClient struct {
	name  string
	title string
	file  string // below the project
	// user is the file of the user's own settings.
	user func(p *program) string
	key  string // of the servers
	// folder is how the file names the project, for a program that it starts.
	folder string
	// token is how it refers to the token; input: it asks the person for it.
	token string
	input bool
	typed bool // entries say what type they are
	local bool // the user's file has servers of one folder, too
	// allow is the file with the client's own rules, below the project or the home;
	// "": it has none.
	allow string
}

// mcpClients are those that are known.
func mcpClients() []mcpClient {
	home := func(parts ...string) func(*program) string {
		return func(p *program) string { return filepath.Join(append([]string{p.homeDir()}, parts...)...) }
	}
	return []mcpClient{
		{ //nolint:gosec // a reference to a variable, not a token
			name: "claude-code", title: "Claude Code", file: ".mcp.json", user: home(".claude.json"), key: "mcpServers",
			folder: "${CLAUDE_PROJECT_DIR:-.}", token: "${FERRULE_TOKEN}", typed: true, local: true, allow: ".claude/settings.json",
		},
		{ //nolint:gosec // a reference to a variable, not a token
			name: "cursor", title: "Cursor", file: ".cursor/mcp.json", user: home(".cursor", "mcp.json"), key: "mcpServers",
			folder: "${workspaceFolder}", token: "${env:FERRULE_TOKEN}",
		},
		{
			name: "vscode", title: "VS Code", file: ".vscode/mcp.json", user: (*program).codeFile, key: "servers",
			folder: "${workspaceFolder}", token: "${input:" + tokenInput + "}", input: true, typed: true,
		},
	}
}

// tokenInput is what VS Code asks for.
const tokenInput = "ferrule-token"

// clientOf is the client of a name.
func clientOf(name string) (mcpClient, error) {
	for _, c := range mcpClients() {
		if c.name == name {
			return c, nil
		}
	}
	names := clientNames()
	return mcpClient{}, usage("got the client %q, want %s%s", terminal.Brief(name, 80), orWords(names), orList(nearest(name, names), "docs/clients.md says how others are connected by hand"))
}

// homeDir is the home of the user.
func (p *program) homeDir() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := p.env(name); dir != "" {
			return p.path(dir)
		}
	}
	return p.dir
}

// codeFile is where VS Code keeps the user's own servers.
func (p *program) codeFile() string {
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(p.homeDir(), "Library", "Application Support", "Code", "User", "mcp.json")
	case "windows":
		return filepath.Join(p.env("APPDATA"), "Code", "User", "mcp.json")
	}
	if dir := p.env("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "Code", "User", "mcp.json")
	}
	return filepath.Join(p.homeDir(), ".config", "Code", "User", "mcp.json")
}

// selfName is how a client starts this program: by its name, where that is found.
func (p *program) selfName() string {
	if p.self == "" {
		return client
	}
	for _, dir := range filepath.SplitList(p.env("PATH")) {
		path := filepath.Join(dir, filepath.Base(p.self))
		if a, err := os.Stat(path); err == nil {
			if b, err := os.Stat(p.self); err == nil && os.SameFile(a, b) {
				return filepath.Base(p.self)
			}
		}
	}
	return p.self
}

// clientEntry is what stands in a client's file for Ferrule.
type clientEntry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// entry is what stands in a client's file.
func (p *program) entry(m mcpClient, c *config.Config, user, http bool) (e clientEntry) {
	if http {
		if e = (clientEntry{Type: "http", URL: urlOf(c.Listen)}); !c.Listen.Open {
			e.Headers = map[string]string{"Authorization": "Bearer " + m.token}
		}
	} else {
		folder := m.folder
		if user {
			folder = p.dir
		}
		e = clientEntry{Type: "stdio", Command: p.selfName(), Args: []string{"mcp", folder}}
	}
	if !m.typed {
		e.Type = ""
	}
	return e
}

// urlOf is where the gateway is, by the configuration.
func urlOf(l config.Listen) string {
	scheme := "http://"
	if l.Cert != "" {
		scheme = "https://"
	}
	where := l.Where()
	for _, any := range []string{"0.0.0.0:", "[::]:", ":"} {
		if port, ok := strings.CutPrefix(where, any); ok {
			where = "127.0.0.1:" + port
			break
		}
	}
	return scheme + where + mcpPath
}

// behind is the text of a client's file with Ferrule in the place of servers.
func (p *program) behind(m mcpClient, text []byte, taken []string, entry clientEntry, input bool) ([]byte, error) {
	servers, err := rawObject(text, m.key)
	if err != nil {
		return nil, err
	}
	for _, name := range taken {
		delete(servers, name)
	}
	raw, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	servers[client] = raw
	value, err := indented(servers)
	if err != nil {
		return nil, err
	}
	if text, err = put(text, m.key, value); err != nil || !input {
		return text, err
	}
	return withInput(text)
}

// rawObject is an object that a key has, or an empty one.
func rawObject(text []byte, key string) (map[string]json.RawMessage, error) {
	object := make(map[string]json.RawMessage)
	if len(strings.TrimSpace(string(text))) == 0 {
		return object, nil
	}
	raw, err := value(text, key)
	if err != nil || raw == nil {
		return object, err
	}
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return nil, fmt.Errorf("%s: got %T, want an object", key, raw)
	}
	return object, nil
}

// withInput has VS Code ask for the token.
func withInput(text []byte) ([]byte, error) {
	raw, err := value(text, "inputs")
	if err != nil {
		return nil, err
	}
	var inputs []map[string]any
	if raw != nil {
		if err := json.Unmarshal(raw, &inputs); err != nil {
			return nil, fmt.Errorf("inputs: %w", err)
		}
	}
	if slices.ContainsFunc(inputs, func(i map[string]any) bool { return i["id"] == tokenInput }) {
		return text, nil
	}
	list, err := indented(append(inputs, map[string]any{
		"type": "promptString", "id": tokenInput, "password": true, "description": "The token that `ferrule up` prints",
	}))
	if err != nil {
		return nil, err
	}
	return put(text, "inputs", list)
}

// again is a text with the servers of another beside its own, and without Ferrule.
func again(m mcpClient, text, before []byte) ([]byte, error) {
	now, err := rawObject(text, m.key)
	if err != nil {
		return nil, err
	}
	old, err := rawObject(before, m.key)
	if err != nil {
		return nil, err
	}
	if own, had := old[client]; had {
		now[client] = own
	} else {
		delete(now, client)
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, there := now[name]; !there {
			now[name] = old[name]
		}
	}
	value, err := indented(now)
	if err != nil {
		return nil, err
	}
	return put(text, m.key, value)
}

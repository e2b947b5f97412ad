package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

// ofGateway reports whether a call goes to Ferrule's own server, which judges it. The
// name alone does not say so: it may be that of a server called ferrule__x, or another
// program may be called ferrule in the client.
func (p *program) ofGateway(name string) bool {
	if !strings.HasPrefix(name, allowLine+"__") {
		return false
	}
	home := p.homeDir()
	for _, path := range []string{filepath.Join(p.dir, ".mcp.json"), filepath.Join(home, ".claude.json"), filepath.Join(cmp.Or(p.env("CLAUDE_CONFIG_DIR"), home), ".claude.json")} {
		text, err := readClient(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !p.namesGateway(plainOf(text)) {
			return false
		}
	}
	return true
}

// namesGateway reports whether what a client's file calls ferrule is this program, if
// it has it at all.
func (p *program) namesGateway(text []byte) bool {
	if !bytes.Contains(text, []byte(`"`+client)) && !bytes.Contains(text, []byte(`\u`)) { // it may be long
		return true
	}
	type servers map[string]json.RawMessage
	var file struct {
		Servers  servers `json:"mcpServers"`
		Projects map[string]struct {
			Servers servers `json:"mcpServers"`
		} `json:"projects"`
	}
	if len(bytes.TrimSpace(text)) > 0 && json.Unmarshal(text, &file) != nil {
		return false
	}
	for _, list := range []servers{file.Servers, file.Projects[p.dir].Servers, file.Projects[filepath.ToSlash(p.dir)].Servers} {
		for name, raw := range list {
			if strings.HasPrefix(name, client+"__") || name == client && !p.isGateway(raw) {
				return false
			}
		}
	}
	return true
}

// isGateway reports whether an entry of a client's file is what connect writes: this
// program, or an address of this machine.
func (p *program) isGateway(raw json.RawMessage) bool {
	var s clientEntry
	switch {
	case json.Unmarshal(raw, &s) != nil:
		return false
	case s.URL != "":
		to, err := url.Parse(s.URL)
		return err == nil && (to.Hostname() == "localhost" || net.ParseIP(to.Hostname()).IsLoopback())
	}
	named := s.Command == p.selfName() || strings.TrimSuffix(filepath.Base(s.Command), ".exe") == client
	return named && len(s.Args) > 0 && s.Args[0] == "mcp"
}

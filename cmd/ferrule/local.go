package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// localServers are the servers of a client's file that it has for this folder alone:
// where Claude Code keeps what `claude mcp add` adds if nothing else is said. What
// is no such file has none.
func (p *program) localServers(plain []byte) (list []offered) {
	var file struct {
		Projects map[string]struct {
			Servers map[string]map[string]json.RawMessage `json:"mcpServers"`
		} `json:"projects"`
	}
	if err := json.Unmarshal(plain, &file); err != nil {
		return nil
	}
	folders := []string{p.dir}
	if real, err := filepath.EvalSymlinks(p.dir); err == nil && real != p.dir {
		folders = append(folders, real)
	}
	for _, folder := range folders {
		for _, name := range slices.Compact([]string{folder, filepath.ToSlash(folder)}) {
			servers := file.Projects[name].Servers
			for _, name := range slices.Sorted(maps.Keys(servers)) {
				list = append(list, p.offeredOf(name, servers[name]))
			}
		}
	}
	return slices.DeleteFunc(list, func(o offered) bool { return o.own })
}

// sayLocal names servers that a client has for this folder alone, and that stay. Its
// file for them is that of the user, for all folders, which it writes all the time.
func (p *program) sayLocal(m mcpClient) {
	if !m.local {
		return
	}
	path := m.user(p)
	text, err := readClient(path)
	if err != nil {
		return
	}
	var names []string
	for _, o := range p.localServers(plainOf(text)) {
		names = append(names, terminal.Visible(o.name))
	}
	if len(names) > 0 {
		p.complain(fmt.Sprintf("ferrule: %s has servers for this folder alone in %s, and goes on calling them past Ferrule: %s. To move them: `ferrule servers import %s`, then `claude mcp remove NAME -s local` for each",
			m.title, path, strings.Join(names, ", "), path))
	}
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/terminal"
)

func (p *program) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Add the servers of an MCP client's configuration",
		Long: `Add the servers of a JSON file that MCP clients use to ferrule.yaml: mcpServers, as
Claude Code, Cursor and Claude Desktop have it, or servers, as VS Code does. It says
which were taken, which not and why. Of Claude Code's own file (~/.claude.json) it is
also what that has for this folder alone. Values that look like secrets are moved to files
in the state directory, which only you can read, and ferrule.yaml names them as
secrets. The client's file stays as it is: ` + "`ferrule connect`" + ` changes that too.

At a terminal it then shows what each server would run, and asks whether it may be
started, so that you can look at its tools (` + "`ferrule trust`" + `). Nothing runs before that.
With --quiet nothing is asked, and nothing is started.`,
		Example: `  ferrule servers import .mcp.json
  ferrule servers import ~/.cursor/mcp.json`,
		Args: exactly("FILE"),
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			text, err := readClient(p.path(args[0]))
			if err != nil {
				return usage("servers import: %w", plainly(err))
			}
			plain, _ := withoutComments(text)
			list := p.localServers(plain)
			all, err := p.clientServers(plain)
			if list = append(list, all...); err != nil && len(list) == 0 {
				return usage("servers import: %s: %w", args[0], err)
			}
			if len(list) == 0 {
				p.printf("%s has no servers\n", args[0])
				return nil
			}
			taken, err := p.take(list, false)
			if err != nil {
				return err
			}
			return p.trustTaken(cmd.Context(), taken.servers)
		}),
	}
}

// maxClient is how long the configuration of a client may be: some keep their whole
// history in it.
const maxClient = 64 << 20

// readClient reads the file of a client.
func readClient(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxClient+1))
	if err == nil && len(text) > maxClient {
		err = fmt.Errorf("%s: got more than %d bytes, want at most that many", path, maxClient)
	}
	return text, err
}

// offered is a server of a client's file: what it is here, or why it cannot be.
type offered struct {
	name   string // there
	server config.Server
	own    bool     // it is Ferrule
	why    string   // "": it can be taken
	notes  []string // what is different here
}

// clientServers are the servers of a client's file, by name.
func (p *program) clientServers(plain []byte) (list []offered, err error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(plain, &file); err != nil {
		return nil, fmt.Errorf("got what is not JSON: %w", err)
	}
	var servers map[string]map[string]json.RawMessage
	for _, key := range []string{"mcpServers", "servers"} {
		if raw, ok := file[key]; ok {
			if err := json.Unmarshal(raw, &servers); err != nil {
				return nil, fmt.Errorf("%s: got what is not a map of servers: %w", key, err)
			}
			break
		}
	}
	if servers == nil && file["mcpServers"] == nil && file["servers"] == nil {
		return nil, errors.New("got neither mcpServers nor servers, want the file of an MCP client")
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		list = append(list, p.offeredOf(name, servers[name]))
	}
	return list, nil
}

// offeredOf reads one server of a client.
func (p *program) offeredOf(name string, fields map[string]json.RawMessage) (o offered) {
	o = offered{name: name, server: config.Server{Name: plainName(name)}}
	if o.server.Name != name {
		o.notes = append(o.notes, "it is called "+o.server.Name+" here")
	}
	var kind, command, cwd string
	var args []string
	var env, headers map[string]string
	var disabled bool
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		to, known := map[string]any{
			"type": &kind, "transport": &kind, "command": &command, "args": &args, "env": &env, "cwd": &cwd,
			"url": &o.server.URL, "serverUrl": &o.server.URL, "headers": &headers, "disabled": &disabled,
		}[key]
		switch {
		case key == "envFile":
			o.why = "its variables are in a file (envFile), which is not read here: write them as env"
		case !known:
			o.notes = append(o.notes, key+" is left out: there is no such thing here")
		case json.Unmarshal(fields[key], to) != nil:
			o.why = key + ": got a value of another type than clients have there"
		}
		if o.why != "" {
			return o
		}
	}
	o.server.Off = disabled
	switch {
	case kind == "sse":
		o.why = "it is reached over the old HTTP+SSE transport, which is not spoken here: most such servers have a streamable HTTP address too"
	case command != "" && o.server.URL != "":
		o.why = "it has a command and a url"
	case command != "":
		o.server.Command = append([]string{command}, args...)
	case o.server.URL == "":
		o.why = "it has neither a command nor a url"
	}
	if base := filepath.Base(command); o.why == "" && (base == client || base == client+".exe") && slices.Contains(args, "mcp") {
		o.own, o.why = true, "it is ferrule itself"
	}
	if o.why == "" {
		o.why = p.translate(&o, cwd, env, headers)
	}
	return o
}

// translate puts references of clients in the form that they have here. It says why
// it cannot.
func (p *program) translate(o *offered, cwd string, env, headers map[string]string) (why string) {
	s := &o.server
	here := "." // where it runs, unless it is said
	if cwd != "" {
		here = p.dir
	}
	fixed := func(text string) string { // what is known now
		text = strings.NewReplacer("${workspaceFolder}", here, "${workspaceRoot}", here, "${userHome}", p.env("HOME"), "${pathSeparator}", string(filepath.Separator), "${/}", string(filepath.Separator)).Replace(text)
		if strings.Contains(text, "${") && why == "" {
			why = "it has " + terminal.Brief(text[strings.Index(text, "${"):], 40) + " outside of env and headers, where nothing is filled in here"
		}
		return text
	}
	filled := func(text string) string {
		text = strings.NewReplacer("${env:", "${", "${workspaceFolder}", p.dir, "${workspaceRoot}", p.dir, "${userHome}", "${HOME}").Replace(text)
		if strings.Contains(text, "${input:") && why == "" {
			why = "it asks for a value (" + terminal.Brief(text[strings.Index(text, "${input:"):], 40) + "), which only its client does: name a secret in its place"
		}
		return text
	}
	for i, word := range s.Command {
		s.Command[i] = fixed(word)
	}
	address, query, asks := strings.Cut(s.URL, "?")
	if s.URL = fixed(address); asks {
		s.URL += "?" + filled(query)
	}
	if cwd != "" {
		s.Dir = p.path(fixed(cwd))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		s.Env = append(s.Env, name+"="+filled(env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if s.Header == nil {
			s.Header = make(map[string]string)
		}
		s.Header[name] = filled(headers[name])
	}
	return why
}

// plainName is a name as sources have it.
func plainName(name string) string {
	name = regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(name, "-")
	name = regexp.MustCompile(`__+`).ReplaceAllString(name, "_")
	return strings.Trim(name, "-_")
}

// taking is what take has done.
type taking struct {
	names   []string // in the client's file, of those that are there now
	servers []string // the same, as they are called here
	made    []string // files with secrets
}

// take adds servers to the configuration and says what became of each. Values that
// look like secrets are kept in files of their own. dry: nothing is changed.
func (p *program) take(list []offered, dry bool) (t taking, err error) {
	c, err := p.load()
	if err != nil {
		return t, err
	}
	word, move := "took", "moved"
	if dry {
		word, move = "would take", "would move"
	}
	there := len(c.Servers)
	for _, o := range list {
		same := slices.IndexFunc(c.Servers, func(s config.Server) bool { return s.Name == o.server.Name })
		var secrets []hidden
		whole := o.server
		switch {
		case o.why != "":
		case same >= 0 && equalServers(p.unhidden(c, c.Servers[same]), o.server):
			p.printf("%s: it is there already\n", terminal.Visible(o.name))
			t.names, t.servers = append(t.names, o.name), append(t.servers, o.server.Name)
			continue
		case same >= there:
			o.why = "another one of that file is called " + o.server.Name + " here: give one of them another name"
		case same >= 0:
			o.why = "there is another one called " + o.server.Name + " in " + config.Name
		default:
			if o.server, secrets, err = p.hide(c, o.server); err != nil {
				return t, err
			}
			if dry {
				break
			}
			if err := p.add(c, &o, secrets, &t); err != nil {
				return t, err
			}
		}
		if o.why != "" {
			p.printf("%s: skipped: %s\n", terminal.Visible(o.name), o.why)
			continue
		}
		c.Servers = append(c.Servers, whole)
		t.names, t.servers = append(t.names, o.name), append(t.servers, o.server.Name)
		p.printf("%s: %s it%s\n", terminal.Visible(o.name), word, strings.Join(append([]string{""}, o.notes...), "; "))
		for _, h := range secrets {
			p.printf("  %s.%s looks like a secret: %s it to %s\n", h.where, terminal.Visible(h.name), move, h.path)
		}
		for _, warning := range inTheOpen(o.server) {
			p.complain("ferrule: " + warning)
		}
	}
	return t, nil
}

// add adds a server with its secrets. o.why says why it cannot be there.
func (p *program) add(c *config.Config, o *offered, secrets []hidden, t *taking) error {
	made, err := p.keep(c, secrets)
	if err != nil {
		return errors.Join(err, forget(made))
	}
	files := make(map[string]string, len(secrets))
	for _, h := range secrets {
		files[h.called] = h.path
	}
	switch err := config.AddServer(p.fileOf(c), o.server, files); {
	case errors.Is(err, fs.ErrInvalid):
		o.why = strings.TrimPrefix(err.Error(), "config: ")
		return forget(made)
	case err != nil:
		return errors.Join(changing(err), forget(made))
	}
	t.made = append(t.made, made...)
	if c.Secrets == nil {
		c.Secrets = make(map[string]config.Secret)
	}
	for name, path := range files { // the next server takes other names
		if _, known := c.Secrets[name]; !known {
			c.Secrets[name] = config.Secret{File: path}
		}
	}
	return nil
}

// equalServers reports whether two are reached in the same way.
func equalServers(a, b config.Server) bool {
	sorted := func(list []string) []string { return slices.Sorted(slices.Values(list)) }
	return slices.Equal(a.Command, b.Command) && a.URL == b.URL && a.Dir == b.Dir && slices.Equal(sorted(a.Env), sorted(b.Env)) && maps.Equal(a.Header, b.Header)
}

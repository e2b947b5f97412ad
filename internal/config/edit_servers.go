package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AddServer adds a server to a file, which is made if there is none. Comments and
// layout stay, as with [AddAlways]. It is [fs.ErrExist] where there is one of that
// name.
// [fs.ErrInvalid] is one that could not be read. files are secrets that come with it,
// by name, each with the file that keeps it; one that is there already must be the
// same.
func AddServer(path string, s Server, files map[string]string) error {
	s.Line, s.Column = 0, 0
	if len(s.Command) == 0 {
		s.Command = nil
	}
	return changeServers(path, func(e *editor, c *Config, dir string) (string, []Server, error) {
		if slices.ContainsFunc(c.Servers, func(o Server) bool { return o.Name == s.Name }) {
			return "", nil, &unfit{s.Name + " is there already", fs.ErrExist}
		}
		if err := e.addSecrets(c, files, dir); err != nil {
			return "", nil, err
		}
		if err := s.check(dir, c.Secrets); err != nil {
			return "", nil, err
		}
		return e.addServer(s, dir), append(slices.Clone(c.Servers), s), nil
	})
}

// addSecrets adds secrets that files keep, to the text and to what it is to say.
func (e *editor) addSecrets(c *Config, files map[string]string, dir string) error {
	all := maps.Clone(c.Secrets)
	if all == nil && len(files) > 0 {
		all = make(map[string]Secret)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		one := Secret{File: filepath.Clean(files[name])}
		switch old, there := all[name]; {
		case there && old.File != one.File:
			return &unfit{"there is another secret " + name, fs.ErrExist}
		case there:
			continue
		}
		all[name] = one
		e.text = e.addPairs("secrets", name, []string{"file: " + quote(dirOf(one.File, dir))}, true)
	}
	c.Secrets = all
	return nil
}

// check reports why a server could not be read from a file of a folder.
func (s Server) check(dir string, secrets map[string]Secret) error {
	var text strings.Builder
	text.WriteString((&editor{}).addServer(s, dir) + "secrets:\n")
	for name := range secrets {
		text.WriteString("  " + quote(name) + ": {env: X}\n")
	}
	_, err := parse("", dir, []byte(text.String()))
	list, _ := errors.AsType[Errors](err)
	if len(list) == 0 {
		return err
	}
	return &unfit{list[0].Text, fs.ErrInvalid}
}

// unfit is why servers cannot be changed so.
type unfit struct {
	text string
	kind error
}

// Error is the text.
func (u *unfit) Error() string { return u.text }

// Unwrap is the kind, one of package fs.
func (u *unfit) Unwrap() error { return u.kind }

// RemoveServer takes a server out of a file. It is [fs.ErrNotExist] where there is
// none of that name.
func RemoveServer(path, name string) error {
	return changeServers(path, func(e *editor, c *Config, _ string) (string, []Server, error) {
		i := slices.IndexFunc(c.Servers, func(o Server) bool { return o.Name == name })
		if i < 0 {
			return "", nil, &unfit{"there is no server " + name, fs.ErrNotExist}
		}
		return e.removeServer(name), slices.Delete(slices.Clone(c.Servers), i, i+1), nil
	})
}

func changeServers(path string, f func(e *editor, c *Config, dir string) (string, []Server, error)) error {
	err := edit(path, "servers", func(before []byte, c *Config) ([]byte, *Config, error) {
		dir, err := filepath.Abs(filepath.Dir(path))
		if err != nil {
			return nil, nil, err
		}
		text, list, err := f(&editor{file: path, text: string(before)}, c, resolved(dir))
		want := *c
		want.Servers = list
		return []byte(text), &want, err
	})
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}

// top finds the value of a key of the file, and the nodes on the way; nil: not there.
func (e *editor) top(name string) (root, key, value *yaml.Node) {
	r := &reader{file: e.file}
	root = r.tree([]byte(e.text))
	key, value = child(root, name)
	return root, key, value
}

func (e *editor) addServer(s Server, dir string) string {
	return e.addPairs("servers", s.Name, s.pairs(dir), false)
}

// addPairs adds what has a name, and keys of its own, to a map of the file. brief:
// it stands in one line.
func (e *editor) addPairs(list, name string, pairs []string, brief bool) string {
	short := quoteKey(name) + ": {" + strings.Join(pairs, ", ") + "}"
	below := func(in string) string {
		if brief {
			return in + short
		}
		return in + quoteKey(name) + ":\n" + in + "  " + strings.Join(pairs, "\n"+in+"  ")
	}
	root, key, value := e.top(list)
	switch {
	case value != nil && flow(value) && value.Kind == yaml.MappingNode:
		return e.insert(e.after(value, "{"), short+separator(value))
	case value != nil && value.Kind == yaml.MappingNode && len(value.Content) > 0:
		_, end := e.span(value.Content[len(value.Content)-1])
		return e.insertLine(1+strings.Count(e.text[:end], "\n"), below(indent(value.Content[0])))
	case value != nil && value.Kind == yaml.SequenceNode: // an empty list
		start, end := e.span(value)
		e.text = e.text[:start] + "{" + short + "}" + e.text[end:]
		return e.text
	case value != nil:
		return e.fill(key, value, flow(root), " {"+short+"}", below(indent(key)+"  "))
	case root != nil && root.Kind == yaml.MappingNode && flow(root):
		return e.insert(e.after(root, "{"), list+": {"+short+"}"+separator(root))
	}
	text := e.text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if strings.TrimSpace(text) != "" {
		text += "\n"
	}
	return text + list + ":\n" + below("  ") + "\n"
}

// pairs are the keys of a server, as they stand in a file of a folder.
func (s Server) pairs(dir string) (list []string) {
	add := func(key, value string) { list = append(list, key+": "+value) }
	if len(s.Command) > 0 {
		add("command", quote(s.Command[0]))
	}
	if len(s.Command) > 1 {
		add("args", quoteList(s.Command[1:]))
	}
	if len(s.Env) > 0 {
		var env []string
		for _, e := range s.Env {
			name, value, _ := strings.Cut(e, "=")
			env = append(env, quoteKey(name)+": "+quote(value))
		}
		add("env", "{"+strings.Join(env, ", ")+"}")
	}
	if s.Dir != "" {
		add("dir", quote(dirOf(s.Dir, dir)))
	}
	if s.URL != "" {
		add("url", quote(s.URL))
	}
	if len(s.Header) > 0 {
		var header []string
		for _, name := range slices.Sorted(maps.Keys(s.Header)) {
			header = append(header, quoteKey(name)+": "+quote(s.Header[name]))
		}
		add("headers", "{"+strings.Join(header, ", ")+"}")
	}
	if login := s.loginPairs(); login != "" {
		add("login", login)
	}
	if s.Trust != "" {
		add("trust", s.Trust)
	}
	if len(s.Believe) > 0 {
		add("believe", quoteList(s.Believe))
	}
	for _, f := range []struct {
		key string
		is  bool
	}{{"believe", s.BelieveAll}, {"unprefixed", s.Unprefixed}, {"off", s.Off}} {
		if f.is {
			add(f.key, "true")
		}
	}
	if s.Follow {
		add("pins", "follow")
	}
	if s.Timeout > 0 {
		add("timeout", s.Timeout.String())
	}
	if s.AtOnce > 0 {
		add("at_once", strconv.Itoa(s.AtOnce))
	}
	if s.Era != "" {
		add("era", quote(s.Era))
	}
	return append(list, s.rulePairs(dir)...)
}

// removeServer takes out a server: its lines, or what stands between braces.
func (e *editor) removeServer(name string) string {
	_, _, value := e.top("servers")
	key, server := child(value, name)
	if server == nil {
		return e.text
	}
	start := e.offset(key.Line, key.Column)
	_, end := e.span(server)
	if empty(server) && server.Kind == yaml.ScalarNode && server.Value == "" {
		end = start + len(key.Value)
	}
	if !flow(value) {
		return e.text[:e.lineOf(start)] + e.text[e.lineAfter(end):]
	}
	rest := e.text[end:]
	if trimmed := strings.TrimLeft(rest, " \t\r\n"); strings.HasPrefix(trimmed, ",") {
		return e.text[:start] + strings.TrimLeft(trimmed[1:], " ")
	}
	return strings.TrimRight(strings.TrimRight(e.text[:start], " \t\r\n"), ",") + rest
}

// quoteKey writes a key: as it is where that is sure to be read as a text.
func quoteKey(s string) string {
	if variable.MatchString(strings.ReplaceAll(s, "-", "_")) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s)) {
		return s
	}
	return quote(s)
}

func quoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

package config

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ferrule-dev/ferrule/secret"
)

// secrets reads what tools may use, by name.
func (r *reader) secrets(n *yaml.Node, c *Config) {
	if empty(n) && n.Kind != yaml.SequenceNode {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, "secrets: got %s, want names, each with where its value is kept", kindOf(n))
		return
	}
	var names []string // all of them are known
	for i := 0; i+1 < len(n.Content); i += 2 {
		names = append(names, n.Content[i].Value)
	}
	c.Secrets = make(map[string]Secret)
	at := 0
	r.fields(n, "secrets", names, func(name string, v *yaml.Node) {
		for at < len(n.Content) && n.Content[at].Value != name {
			at += 2
		}
		if err := secret.CheckName(name); err != nil {
			r.fault(n.Content[at], "secrets: %s", strings.TrimPrefix(err.Error(), "secret: "))
			return
		}
		if s, ok := r.secret(v, "secrets."+name); ok {
			c.Secrets[name] = s
		}
	})
}

// secret reads one of them.
func (r *reader) secret(n *yaml.Node, what string) (s Secret, ok bool) {
	const want = "want one of env, file, command and keyring"
	before := len(r.errs)
	var ways []string
	switch {
	case empty(n):
		r.fault(n, "%s: got nothing, %s", what, want)
		return s, false
	case n.Kind == yaml.ScalarNode: // it may be the value, which is not shown
		r.fault(n, "%s: %s, not the value itself", what, want)
		return s, false
	}
	r.fields(n, what, []string{"env", "file", "command", "keyring", "tools"}, func(key string, v *yaml.Node) {
		what := what + "." + key
		forCommand := key == "env" && v.Kind == yaml.SequenceNode
		if key != "tools" && !forCommand {
			ways = append(ways, key)
		}
		switch key {
		case "env":
			if forCommand {
				s.CommandEnv = r.texts(v, what)
			} else {
				s.Env = r.said(v, what)
			}
		case "file":
			if path := r.said(v, what); path != "" {
				s.File = r.path(path)
			}
		case "command":
			if s.Command = r.texts(v, what); len(v.Content) == 0 && v.Kind == yaml.SequenceNode || empty(v) {
				r.fault(v, "%s: got nothing, want a list: the program and its arguments", what)
			}
		case "keyring":
			text := r.said(v, what)
			service, account, ok := strings.Cut(text, "/")
			if text != "" && (!ok || service == "" || account == "") {
				r.fault(v, "%s: got %q, want service/account", what, text)
			}
			s.Keyring = KeyringEntry{service, account}
		case "tools":
			for _, item := range r.items(v, what, "names of tools") {
				t, ok := r.text(item, what)
				if !ok {
					continue
				}
				if err := secret.CheckTool(t); err != nil {
					r.fault(item, "%s: %s", what, strings.TrimPrefix(err.Error(), "tools: "))
				}
				s.Tools = append(s.Tools, t)
			}
		}
	})
	switch {
	case len(r.errs) > before:
		return s, false
	case len(ways) == 0:
		r.fault(n, "%s: got no source, %s", what, want)
		return s, false
	case len(ways) > 1:
		r.fault(n, "%s: got %s, %s", what, strings.Join(ways, " and "), want)
		return s, false
	case s.CommandEnv != nil && len(s.Command) == 0:
		r.fault(n, "%s: got env as a list, which is what a command is given, want the name of a variable", what)
		return s, false
	}
	return s, true
}

// said is a text that says something.
func (r *reader) said(n *yaml.Node, what string) string {
	s, ok := r.text(n, what)
	if ok && strings.TrimSpace(s) == "" {
		r.fault(n, "%s: got an empty text", what)
	}
	return s
}

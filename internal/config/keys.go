package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ferrule-dev/ferrule/policy"
)

// Keys are the keys at the top of the file.
func Keys() []string {
	return []string{"workspace", "policy", "servers", "tools", "limits", "sandbox", "secrets", "content", "search", "listen", "store", "hooks", "fleet", "telemetry"}
}

// parse reads a file in a folder.
func parse(name, dir string, text []byte) (*Config, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	dir = resolved(dir)
	r := &reader{file: name, dir: dir, workspace: filepath.ToSlash(dir), lines: strings.Split(string(text), "\n")}
	c := &Config{}
	if root := r.tree(text); root != nil {
		r.root(root, c)
		r.sanitized(root, c)
		_, secrets := child(root, "secrets")
		r.promised(secrets)
	}
	c.Workspace = r.workspace
	if len(r.errs) > 0 {
		list := r.errs.sorted()
		if r.more {
			last := list[len(list)-1]
			list = append(list, &Error{name, last.Line, last.Column, fmt.Sprintf("there is more: only %d faults are told", maxFaults)})
		}
		return nil, list
	}
	return c, nil
}

func (r *reader) root(n *yaml.Node, c *Config) {
	if n.Kind == yaml.MappingNode { // rules depend on it, wherever it stands
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "workspace" && n.Content[i+1].Kind == yaml.ScalarNode && n.Content[i+1].Tag == "!!str" {
				r.workspace = filepath.ToSlash(resolved(r.path(n.Content[i+1].Value)))
			}
		}
	}
	r.fields(n, Name, Keys(), func(key string, v *yaml.Node) {
		switch key {
		case "workspace":
			if !empty(v) {
				r.text(v, key)
			}
		case "policy":
			r.policy(v, &c.Policy)
		case "limits":
			r.limits(v, &c.Limits)
		case "store":
			r.store(v, &c.Store)
		case "hooks":
			r.hooks(v, c)
		case "secrets":
			r.secrets(v, c)
		case "servers":
			r.servers(v, c)
		case "listen":
			r.listen(v, &c.Listen)
		case "tools":
			c.Tools.Written = !empty(v)
			r.tools(v, &c.Tools)
		case "sandbox":
			r.sandbox(v, &c.Sandbox)
		case "content":
			r.content(v, &c.Content)
		case "search":
			r.search(v, &c.Search)
		case "telemetry":
			r.telemetry(v, &c.Telemetry)
		default:
			if !empty(v) {
				r.fault(v, "%s: not built yet: nothing would act on it, so leave it out or empty", key)
			}
		}
	})
}

// path makes a path of the file absolute.
func (r *reader) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(r.dir, p)
}

func (r *reader) policy(n *yaml.Node, p *Policy) {
	r.fields(n, "policy", []string{"allow", "ask", "deny", "files", "mode", "always"}, func(key string, v *yaml.Node) {
		what := "policy." + key
		switch key {
		case "allow":
			p.Allow = r.rules(v, what)
		case "ask":
			p.Ask = r.rules(v, what)
		case "deny":
			p.Deny = r.rules(v, what)
		case "always":
			p.Always = r.always(v, what)
		case "files":
			for _, f := range r.texts(v, what) {
				p.Files = append(p.Files, r.path(f))
			}
		case "mode":
			if s, ok := r.text(v, what); ok {
				if err := p.Mode.UnmarshalText([]byte(s)); err != nil || s == "" {
					r.fault(v, "%s: got %q, want ask, edit, read, auto, observe or dry-run", what, s)
				}
			}
		}
	})
}

// rules is a list of short rules, each as it is written.
func (r *reader) rules(n *yaml.Node, what string) (list []string) {
	for _, item := range r.items(n, what, "rules") {
		if s, _, ok := r.rule(item, what); ok {
			list = append(list, s)
		}
	}
	return list
}

func (r *reader) rule(n *yaml.Node, what string) (text string, rule policy.Rule, ok bool) {
	s, ok := r.text(n, what)
	if !ok {
		return "", policy.Rule{}, false
	}
	rule, err := policy.ParseRule(s, r.workspace)
	if err == nil {
		return s, rule, true
	}
	if where := (*policy.RuleError)(nil); errors.As(err, &where) {
		r.inText(n, where.Column, "%s: %s", what, where.Text)
	} else {
		r.fault(n, "%s: %s", what, err)
	}
	return "", policy.Rule{}, false
}

// plainRule is a rule about tools, not about some of their calls.
func (r *reader) plainRule(n *yaml.Node, what string) (rule policy.Rule, ok bool) {
	_, rule, ok = r.rule(n, what)
	if ok && rule.Inside() != "" {
		r.fault(n, "%s: got %s, want a rule without parentheses", what, rule)
		return rule, false
	}
	return rule, ok
}

func (r *reader) limits(n *yaml.Node, l *Limits) {
	r.fields(n, "limits", []string{"rates"}, func(_ string, v *yaml.Node) {
		for _, item := range r.items(v, "limits.rates", "limits with the keys tools, calls, per, each") {
			before := len(r.errs)
			var rate policy.Rate
			given := false
			r.fields(item, "limits.rates", []string{"tools", "calls", "per", "each"}, func(key string, v *yaml.Node) {
				what := "limits.rates." + key
				switch key {
				case "tools":
					rate.Tools, _ = r.plainRule(v, what)
				case "calls":
					given = true
					if rate.Calls = r.number(v, what); len(r.errs) == before && rate.Calls < 1 {
						r.fault(v, "%s: got %d, want 1 or more", what, rate.Calls)
					}
				case "per":
					rate.Per = r.span(v, what)
				case "each":
					rate.Each, _ = r.text(v, what)
					if s := rate.Each; s != "session" && s != "principal" && s != "tenant" {
						r.fault(v, "%s: got %q, want session, principal or tenant", what, s)
					}
				}
			})
			switch {
			case len(r.errs) > before:
			case !given:
				r.fault(item, "limits.rates: got no calls, want how many may run")
			default:
				if err := rate.Check(); err != nil {
					r.fault(item, "limits.rates: %s", err)
				}
				l.Rates = append(l.Rates, rate)
			}
		}
	})
}

func (r *reader) store(n *yaml.Node, s *Store) {
	r.fields(n, "store", []string{"path"}, func(_ string, v *yaml.Node) {
		if empty(v) {
			return
		}
		if p, ok := r.text(v, "store.path"); ok {
			s.Path = r.path(p)
		}
	})
}

func (r *reader) hooks(n *yaml.Node, c *Config) {
	keys := []string{"name", "command", "events", "only", "timeout", "dir", "env"}
	for _, item := range r.items(n, "hooks", "hooks with the keys "+strings.Join(keys, ", ")) {
		before := len(r.errs)
		h := Hook{Events: []string{"input"}, Timeout: defaultTimeout, Dir: r.dir, Line: item.Line, Column: item.Column}
		r.fields(item, "hooks", keys, func(key string, v *yaml.Node) {
			what := "hooks." + key
			switch key {
			case "name":
				h.Name, _ = r.text(v, what)
			case "command":
				h.Command = r.texts(v, what)
			case "events":
				h.Events = r.events(v, what)
			case "only":
				r.only(v, what, &h.Only)
			case "timeout":
				h.Timeout = r.span(v, what)
			case "dir":
				if s, ok := r.text(v, what); ok {
					h.Dir = r.path(s)
				}
			case "env":
				h.Env = r.texts(v, what)
			}
		})
		switch {
		case len(r.errs) > before:
		case h.Name == "":
			r.fault(item, "hooks: got no name, want one: records tell hooks apart by it")
		case len(h.Command) == 0:
			r.fault(item, "hooks: got no command, want a list: the program and its arguments")
		case slices.ContainsFunc(c.Hooks, func(o Hook) bool { return o.Name == h.Name }):
			r.fault(item, "hooks: got the name %q twice, want each once", h.Name)
		default:
			c.Hooks = append(c.Hooks, h)
		}
	}
}

func (r *reader) only(n *yaml.Node, what string, o *Only) {
	r.fields(n, what, []string{"names", "tags", "sources"}, func(key string, v *yaml.Node) {
		list := map[string]*[]string{"names": &o.Names, "tags": &o.Tags, "sources": &o.Sources}[key]
		for _, item := range r.items(v, what+"."+key, key) {
			if s, ok := r.text(item, what+"."+key); ok {
				*list = append(*list, s)
			}
		}
		if empty(v) { // it would be for none, or for all
			r.fault(v, "%s.%s: got nothing, want at least one, or no such key", what, key)
		}
	})
}

func (r *reader) events(n *yaml.Node, what string) (list []string) {
	for _, item := range r.items(n, what, "events: input, output") {
		s, ok := r.text(item, what)
		if ok && s != "input" && s != "output" {
			r.fault(item, "%s: got %q, want input or output", what, s)
		} else if ok {
			list = append(list, s)
		}
	}
	if len(n.Content) == 0 {
		r.fault(n, "%s: got no event, want input or output", what)
	}
	return list
}

package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ferrule-dev/ferrule/tool"
)

// ruleKeys are the keys of a server that say what it may do and how much.
func ruleKeys() []string {
	return []string{"env_pass", "claims", "isolate", "calls_per_minute", "argument_bytes", "result_bytes", "breaker", "sanitize", "fail_closed"}
}

// serverRule reads one of ruleKeys.
func (r *reader) serverRule(key string, v *yaml.Node, what string, s *Server) {
	switch key {
	case "env_pass":
		s.EnvPass = r.passed(v, what)
	case "claims":
		r.claims(v, what, s)
	case "isolate":
		r.isolate(v, what, &s.Isolate)
	case "calls_per_minute":
		s.CallsPerMinute = r.positive(v, what)
	case "argument_bytes":
		s.ArgumentBytes = r.size(v, what)
	case "result_bytes":
		s.ResultBytes = r.size(v, what)
	case "breaker":
		r.breaker(v, what, s)
	case "sanitize":
		s.Sanitize = r.word(v, what, ways()...)
	case "fail_closed":
		s.FailClosed = new(r.yes(v, what))
	}
}

// passed is a list of names of variables; a * at the end stands for any rest.
func (r *reader) passed(n *yaml.Node, what string) (list []string) {
	for _, item := range r.items(n, what, "names of variables") {
		name, ok := r.text(item, what)
		switch {
		case !ok:
		case name == "*":
			r.fault(item, `%s: got "*", which is every variable there is, want names, or beginnings such as AWS_*`, what)
		case strings.Contains(name, "="):
			r.fault(item, "%s: got %q, want a name alone: values stand under env", what, name)
		case !variable.MatchString(strings.TrimSuffix(name, "*")):
			r.fault(item, "%s: got %q, want the name of a variable, or the beginning of some with a * behind it", what, name)
		case slices.Contains(list, name):
			r.fault(item, "%s: got %q twice, want it once", what, name)
		default:
			list = append(list, name)
		}
	}
	return list
}

// claims are what the operator says of tools, by their own names.
func (r *reader) claims(n *yaml.Node, what string, s *Server) {
	if n.Kind != yaml.MappingNode && !empty(n) {
		r.fault(n, "%s: got %s, want names of tools, each with some of %s", what, kindOf(n), strings.Join(claimKeys(), ", "))
		return
	}
	r.each(n, what, func(key, v *yaml.Node) {
		if strings.TrimSpace(key.Value) == "" || strings.Contains(key.Value, "*") {
			r.fault(key, "%s: got %q, want the exact name of a tool, as the server has it", what, key.Value)
			return
		}
		before := len(r.errs)
		c := r.claim(v, what+"."+key.Value)
		if len(r.errs) > before {
			return
		}
		if s.Claims == nil {
			s.Claims = make(map[string]tool.Claims)
		}
		s.Claims[key.Value] = c
	})
}

// claimKeys are the keys of what is said of a tool.
func claimKeys() []string {
	return []string{"read_only", "parallel", "reversible", "local", "idempotent", "touches"}
}

func (r *reader) claim(n *yaml.Node, what string) (c tool.Claims) {
	before := len(r.errs)
	denied := make(map[string]*yaml.Node) // what is said not to be so
	r.fields(n, what, claimKeys(), func(key string, v *yaml.Node) {
		what := what + "." + key
		if key == "touches" {
			c.Touches = r.touches(v, what)
			return
		}
		is := map[string]*bool{
			"read_only": &c.ReadOnly, "parallel": &c.Parallel, "reversible": &c.Reversible, "local": &c.Local, "idempotent": &c.Idempotent,
		}[key]
		if *is = r.yes(v, what); !*is {
			denied[key] = v
		}
	})
	if len(r.errs) > before {
		return c
	}
	if v := denied["parallel"]; c.ReadOnly && v != nil {
		r.fault(v, "%s: got read_only and not parallel, want one of them: what only reads may run beside others; at_once: 1 has the server run one call at a time", what)
	}
	if err := c.Check(); err != nil {
		r.fault(n, "%s: %s", what, strings.TrimPrefix(err.Error(), "claims: "))
	}
	return c
}

// touches are resources, each with whether it is written.
func (r *reader) touches(n *yaml.Node, what string) []tool.Access {
	list := []tool.Access{} // none is a claim too
	for _, item := range r.items(n, what, "resources, each {resource: kind:path, write: true or false}") {
		var a tool.Access
		r.fields(item, what, []string{"resource", "write"}, func(key string, v *yaml.Node) {
			if key == "resource" {
				a.Resource = r.said(v, what+"."+key)
			} else {
				a.Write = r.yes(v, what+"."+key)
			}
		})
		list = append(list, a)
	}
	return list
}

// isolate is a level, or a level with more.
func (r *reader) isolate(n *yaml.Node, what string, b *Sandbox) {
	const levels = "process or namespace"
	level := func(v *yaml.Node, what string) string {
		if v.Kind == yaml.ScalarNode && v.Value == "container" {
			r.fault(v, "%s: got container, want %s: the program of a server is on this machine, not in an image; a command such as docker run has it in one", what, levels)
			return ""
		}
		return r.word(v, what, "process", "namespace")
	}
	if n.Kind != yaml.MappingNode {
		b.Level = level(n, what)
		return
	}
	r.fields(n, what, []string{"level", "weaker", "workspace", "network", "read", "write", "memory", "processes"}, func(key string, v *yaml.Node) {
		what := what + "." + key
		switch key {
		case "level":
			b.Level = level(v, what)
		case "weaker":
			b.Weaker = r.word(v, what, "in-process", "process")
		case "workspace":
			if text := r.said(v, what); text != "" {
				b.Workspace = r.path(text)
			}
		case "network":
			if v.Kind == yaml.SequenceNode {
				r.fault(v, "%s: got a list, want off, loopback or open: single hosts cannot be told apart", what)
				return
			}
			b.Network = r.word(v, what, "off", "loopback", "open")
		case "read":
			b.Read = r.paths(v, what)
		case "write":
			b.Write = r.paths(v, what)
		case "memory":
			b.Memory = r.size(v, what)
		case "processes":
			b.Processes = r.positive(v, what)
		}
	})
	if _, v := child(n, "level"); v == nil {
		r.fault(n, "%s: got no level, want %s", what, levels)
	} else if _, w := child(n, "weaker"); w != nil && b.Weaker != "" && b.Weaker == b.Level {
		r.fault(w, "%s.weaker: got %s, want a level below %s, which is the one that is wanted", what, b.Weaker, b.Level)
	}
}

// breaker says when a server that does not answer is left alone; false: never.
func (r *reader) breaker(n *yaml.Node, what string, s *Server) {
	if n.Kind == yaml.ScalarNode && n.Value == "false" {
		s.BreakerOff = true
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, "%s: got %s, want false, or some of after and pause", what, kindOf(n))
		return
	}
	r.fields(n, what, []string{"after", "pause"}, func(key string, v *yaml.Node) {
		if key == "after" {
			s.BreakerAfter = r.positive(v, what+".after")
		} else {
			s.BreakerPause = r.span(v, what+".pause")
		}
	})
}

// ruled reports what of the rules of a server does not go together, and the key of
// one of the two.
func (s *Server) ruled() (key string, err error) {
	for _, e := range s.Env {
		if name, _, _ := strings.Cut(e, "="); slices.Contains(s.EnvPass, name) {
			return "env_pass", fmt.Errorf("got %s, which stands under env too, want it in one of them", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Claims)) {
		if slices.Contains(s.Believe, name) {
			return "claims", fmt.Errorf("got %s, which stands under believe too, want it in one of them: claims stand in the place of what the server says", name)
		}
	}
	return "", nil
}

// Passed are the variables of an environment (NAME=value) that the server is given
// by EnvPass, and what of EnvPass none of them has.
func (s Server) Passed(environ []string) (env, missing []string) {
	for _, want := range s.EnvPass {
		found := false
		for i, e := range environ {
			name, _, ok := strings.Cut(e, "=")
			begin, open := strings.CutSuffix(want, "*")
			if !ok || name != want && (!open || !strings.HasPrefix(name, begin)) {
				continue
			}
			found = true
			// Of two values the first counts, as where variables are looked up.
			same := func(o string) bool { return strings.HasPrefix(o, name+"=") }
			if !slices.ContainsFunc(environ[:i], same) && !slices.ContainsFunc(env, same) && !slices.ContainsFunc(s.Env, same) {
				env = append(env, e)
			}
		}
		if !found {
			missing = append(missing, want)
		}
	}
	return env, missing
}

// Rules are what the file says of the server's calls and of its process, in words.
// What it is reached by is not among them.
func (s Server) Rules() (list []string) {
	if s.Trust != "" {
		list = append(list, "trust: "+s.Trust)
	}
	switch {
	case s.BelieveAll:
		list = append(list, "believe: true")
	case len(s.Believe) > 0:
		list = append(list, "believe: ["+strings.Join(s.Believe, ", ")+"]")
	}
	if s.Timeout > 0 {
		list = append(list, "timeout: "+s.Timeout.String())
	}
	if s.AtOnce > 0 {
		list = append(list, "at_once: "+strconv.Itoa(s.AtOnce))
	}
	return append(list, s.rulePairs("")...)
}

// rulePairs are the keys of the rules, as they stand in a file of a folder.
func (s Server) rulePairs(dir string) (list []string) {
	add := func(key, value string) { list = append(list, key+": "+value) }
	if len(s.EnvPass) > 0 {
		add("env_pass", quoteList(s.EnvPass))
	}
	if len(s.Claims) > 0 {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(s.Claims)) {
			all = append(all, quoteKey(name)+": {"+strings.Join(claimPairs(s.Claims[name]), ", ")+"}")
		}
		add("claims", "{"+strings.Join(all, ", ")+"}")
	}
	if s.Isolate.Level != "" {
		add("isolate", "{"+strings.Join(s.Isolate.pairs(dir), ", ")+"}")
	}
	if s.CallsPerMinute > 0 {
		add("calls_per_minute", strconv.Itoa(s.CallsPerMinute))
	}
	if s.ArgumentBytes > 0 {
		add("argument_bytes", strconv.FormatInt(s.ArgumentBytes, 10))
	}
	if s.ResultBytes > 0 {
		add("result_bytes", strconv.FormatInt(s.ResultBytes, 10))
	}
	var breaker []string
	if s.BreakerAfter > 0 {
		breaker = append(breaker, "after: "+strconv.Itoa(s.BreakerAfter))
	}
	if s.BreakerPause > 0 {
		breaker = append(breaker, "pause: "+s.BreakerPause.String())
	}
	switch {
	case s.BreakerOff:
		add("breaker", "false")
	case breaker != nil:
		add("breaker", "{"+strings.Join(breaker, ", ")+"}")
	}
	return append(list, s.contentPairs()...)
}

func claimPairs(c tool.Claims) (list []string) {
	for i, is := range []bool{c.ReadOnly, c.Parallel, c.Reversible, c.Local, c.Idempotent} {
		if is {
			list = append(list, claimKeys()[i]+": true")
		}
	}
	if c.Touches != nil {
		all := make([]string, len(c.Touches))
		for i, a := range c.Touches {
			all[i] = "{resource: " + quote(a.Resource) + ", write: " + strconv.FormatBool(a.Write) + "}"
		}
		list = append(list, "touches: ["+strings.Join(all, ", ")+"]")
	}
	return list
}

func (b Sandbox) pairs(dir string) (list []string) {
	add := func(key, value string) {
		if value != "" {
			list = append(list, key+": "+value)
		}
	}
	paths := func(of []string) string {
		if len(of) == 0 {
			return ""
		}
		short := make([]string, len(of))
		for i, p := range of {
			short[i] = dirOf(p, dir)
		}
		return quoteList(short)
	}
	add("level", b.Level)
	add("weaker", b.Weaker)
	if b.Workspace != "" {
		add("workspace", quote(dirOf(b.Workspace, dir)))
	}
	add("network", b.Network)
	add("read", paths(b.Read))
	add("write", paths(b.Write))
	if b.Memory > 0 {
		add("memory", strconv.FormatInt(b.Memory, 10))
	}
	if b.Processes > 0 {
		add("processes", strconv.Itoa(b.Processes))
	}
	return list
}

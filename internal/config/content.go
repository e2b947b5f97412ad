package config

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// content says how content is kept safe: see package guard, whose words these are.
// The zero value has every default.
type content struct {
	// Sanitize is what is done to all that tools return; "": by the trust of their
	// source. FailClosed withholds what something was found in.
	Sanitize   string
	FailClosed bool
	// Rules are looked for beside the scanner's own.
	Rules []contentRule
	// Tools are what is said of some, by the name that models call them, by
	// source__name, or by source__*.
	Tools map[string]contentTool
	// Sinks are what goes where: lists of public, internal and secret.
	Sinks map[string][]string
	// SinkLines are the lines that they stand in.
	SinkLines map[string]int `json:"-"`
	// Flow is off, shadow or enforce; "": enforce. Trusted are flows that are not
	// asked for; OnlyOne are capabilities of which a session has one.
	Flow    string
	Trusted []contentFlow
	OnlyOne []string
	// KeysStay: keys and tokens are not taken out. Personal are the kinds of personal
	// data that are.
	KeysStay bool
	Personal []string
	// Written: the file says something about it.
	Written bool
}

// contentRule is a rule for the scanner.
type contentRule struct {
	ID, Pattern, Family string
	Line, Column        int
}

// contentTool is what is said of a tool, or of all of a source.
type contentTool struct {
	Sanitize    string
	FailClosed  *bool    // nil: as for all
	Is, Not, To []string // its label

	Line, Column int `json:"-"` // of its name
}

// contentFlow is a flow that is trusted.
type contentFlow struct {
	From, To, At string

	Line, Column int `json:"-"`
}

// ways are those of sanitizing, in the words of package guard.
func ways() []string { return []string{"pass", "flag", "strip", "wrap", "strip+wrap"} }

// capabilities are what tools can have, in the words of package guard/flow.
func capabilities() []string {
	return []string{"external", "destructive", "credential", "untrusted", "sensitive"}
}

// families are those of rules, in the words of package guard/scan.
func families() []string {
	return []string{"override", "role", "tool-call", "exfil", "hidden", "secrecy", "authority", "encoded", "persona", "own"}
}

func (r *reader) content(n *yaml.Node, c *content) {
	c.Written = !empty(n)
	r.fields(n, "content", []string{"sanitize", "fail_closed", "rules", "tools", "sinks", "flow", "redact"}, func(key string, v *yaml.Node) {
		what := "content." + key
		if v.Kind == yaml.ScalarNode && v.Tag == "!!null" { // as where it is not there
			return
		}
		switch key {
		case "sanitize":
			c.Sanitize = r.word(v, what, ways()...)
		case "fail_closed":
			c.FailClosed = r.yes(v, what)
		case "rules":
			r.contentRules(v, what, c)
		case "tools":
			r.contentTools(v, what, c)
		case "sinks":
			c.Sinks, c.SinkLines = make(map[string][]string), make(map[string]int)
			r.fields(v, what, []string{"model", "log", "audit", "exporter", "store", "page"}, func(key string, v *yaml.Node) {
				c.Sinks[key], c.SinkLines[key] = r.words(v, what+"."+key, "public", "internal", "secret"), v.Line
			})
		case "flow":
			r.flow(v, what, c)
		case "redact":
			r.fields(v, what, []string{"keys", "personal"}, func(key string, v *yaml.Node) {
				if key == "keys" {
					c.KeysStay = !r.yes(v, what+".keys")
				} else {
					c.Personal = r.words(v, what+".personal", "e-mail", "phone", "card", "iban", "ssn", "ip")
				}
			})
		}
	})
}

// words is a list of some of a few texts, each once.
func (r *reader) words(n *yaml.Node, what string, want ...string) []string {
	list := []string{} // none is said, too
	for _, item := range r.items(n, what, "some of "+strings.Join(want, ", ")) {
		switch word := r.word(item, what, want...); {
		case word == "":
		case slices.Contains(list, word):
			r.fault(item, "%s: got %s twice, want it once", what, word)
		default:
			list = append(list, word)
		}
	}
	return list
}

func (r *reader) contentRules(n *yaml.Node, what string, c *content) {
	for _, item := range r.items(n, what, "rules with the keys id, pattern, family") {
		before := len(r.errs)
		rule := contentRule{Line: item.Line, Column: item.Column}
		r.fields(item, what, []string{"id", "pattern", "family"}, func(key string, v *yaml.Node) {
			switch what := what + "." + key; key {
			case "id":
				rule.ID = r.said(v, what)
			case "pattern":
				rule.Pattern = r.pattern(v, what)
			case "family":
				rule.Family = r.word(v, what, families()...)
			}
		})
		switch {
		case len(r.errs) > before:
		case rule.ID == "" || rule.Pattern == "":
			r.fault(item, "%s: got no id or no pattern, want both: findings are told by the id", what)
		case slices.ContainsFunc(c.Rules, func(o contentRule) bool { return o.ID == rule.ID }):
			r.fault(item, "%s: got the id %q twice, want each once", what, rule.ID)
		default:
			c.Rules = append(c.Rules, rule)
		}
	}
}

// pattern is a regular expression. Where it can go on for ever the scanner says so.
func (r *reader) pattern(n *yaml.Node, what string) string {
	text := r.said(n, what)
	if text == "" {
		return ""
	}
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		r.fault(n, "%s: got %s, want a regular expression (RE2), in single quotes", what, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return ""
	}
	return text
}

func (r *reader) contentTools(n *yaml.Node, what string, c *content) {
	c.Tools = make(map[string]contentTool)
	r.each(n, what, func(key, v *yaml.Node) {
		name := key.Value
		source, all := strings.CutSuffix(name, "__*")
		if name == "" || strings.Contains(source, "*") || strings.ContainsAny(name, " \t\n") || all && (source == "" || strings.Contains(source, "__")) {
			r.fault(key, "%s: got %q, want the name of a tool, source__name, or source__* for all of a source", what, name)
			return
		}
		t := contentTool{Line: key.Line, Column: key.Column}
		what := what + "." + name
		r.fields(v, what, []string{"sanitize", "fail_closed", "is", "not", "to"}, func(key string, v *yaml.Node) {
			what := what + "." + key
			switch key {
			case "sanitize":
				t.Sanitize = r.word(v, what, ways()...)
			case "fail_closed":
				t.FailClosed = new(r.yes(v, what))
			case "is":
				t.Is = r.words(v, what, capabilities()...)
			case "not":
				t.Not = r.words(v, what, capabilities()...)
			case "to":
				t.To = r.texts(v, what)
			}
		})
		for _, word := range t.Is {
			if slices.Contains(t.Not, word) {
				r.fault(v, "%s: got %s under is and under not, want it under one of them", what, word)
			}
		}
		c.Tools[name] = t
	})
}

// flow is a word, or keys.
func (r *reader) flow(n *yaml.Node, what string, c *content) {
	modes := []string{"off", "shadow", "enforce"}
	if n.Kind != yaml.MappingNode {
		c.Flow = r.word(n, what, modes...)
		return
	}
	r.fields(n, what, []string{"mode", "trusted", "only_one"}, func(key string, v *yaml.Node) {
		what := what + "." + key
		switch key {
		case "mode":
			c.Flow = r.word(v, what, modes...)
		case "trusted":
			for _, item := range r.items(v, what, "flows, each with from, to and at") {
				before := len(r.errs)
				f := contentFlow{Line: item.Line, Column: item.Column}
				r.fields(item, what, []string{"from", "to", "at"}, func(key string, v *yaml.Node) {
					*map[string]*string{"from": &f.From, "to": &f.To, "at": &f.At}[key] = r.said(v, what+"."+key)
				})
				switch {
				case len(r.errs) > before:
				case f.From == "" || f.To == "" || f.At == "":
					r.fault(item, `%s: got not all of from, to and at, want each: "*" is any`, what)
				default:
					c.Trusted = append(c.Trusted, f)
				}
			}
		case "only_one":
			before := len(r.errs)
			if c.OnlyOne = r.words(v, what, capabilities()...); len(c.OnlyOne) == 1 && len(r.errs) == before {
				r.fault(v, "%s: got %s alone, want two or more: a session has one of them", what, c.OnlyOne[0])
			}
		}
	})
}

// sanitized finds fault where the same is said of a server in two places.
func (r *reader) sanitized(n *yaml.Node, c *Config) {
	for _, s := range c.Servers {
		t, ok := c.Content.Tools[s.Name+"__*"]
		if !ok {
			continue
		}
		_, servers := child(n, "servers")
		_, server := child(servers, s.Name)
		for key, both := range map[string]bool{"sanitize": s.Sanitize != "" && t.Sanitize != "", "fail_closed": s.FailClosed != nil && t.FailClosed != nil} {
			if _, v := child(server, key); both && v != nil {
				r.fault(v, "servers.%s.%s: got it here and in content.tools.%s__*, want it in one of them", s.Name, key, s.Name)
			}
		}
	}
}

// contentPairs are the keys of a server about content, as they stand in a file.
func (s Server) contentPairs() (list []string) {
	if s.Sanitize != "" {
		list = append(list, "sanitize: "+s.Sanitize)
	}
	if s.FailClosed != nil {
		list = append(list, "fail_closed: "+strconv.FormatBool(*s.FailClosed))
	}
	return list
}

package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/ferrule-dev/ferrule/policy"
)

// Always is a rule that somebody made of a yes, and for whom. In the file it is a
// text where it is for the local user and the program's own tools, else it has
// keys.
type Always struct {
	Rule string // as it is written
	// Principal and Tenant are for whom; "": the local user, whom a runtime calls
	// local.
	Principal, Tenant string
	// Source and Definition are of the tool, as in [policy.Grant].
	Source, Definition string
	// Second: the second key was turned.
	Second bool
}

// local is what a runtime calls a principal that nobody named.
const local = "local"

// AlwaysOf is what of a grant is written to the file.
func AlwaysOf(g policy.Grant) Always {
	a := Always{
		Rule: g.Rule, Principal: g.Caller.Principal, Tenant: g.Caller.Tenant,
		Source: g.Source, Definition: g.Definition, Second: g.Second,
	}
	if a.Principal == local {
		a.Principal = ""
	}
	return a
}

// Grant is the rule as a store keeps it: with the paths in it absolute.
func (a Always) Grant(workspace string) policy.Grant {
	g := policy.Grant{
		Rule: a.Rule, Caller: policy.Asker{Principal: a.Principal, Tenant: a.Tenant},
		Source: a.Source, Definition: a.Definition, Second: a.Second,
	}
	if r, err := policy.ParseRule(a.Rule, workspace); err == nil {
		g.Rule = r.String()
	}
	g.ID = g.Name()
	return g
}

// check reports why it cannot stand in a file.
func (a Always) check(workspace string) error {
	r, err := policy.ParseRule(a.Rule, workspace)
	if err != nil {
		return err
	}
	return Lasts(r, a.Second)
}

// Lasts reports why a rule cannot be made of a yes: it names nothing, or the
// second key is turned for every call of a tool, which it is never good for.
func Lasts(r policy.Rule, second bool) error {
	switch _, glob := r.Over(); {
	case !strings.ContainsFunc(glob, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }):
		return fmt.Errorf("got %s, want a rule that names a tool, a source or a tag: nobody said yes to everything", r)
	case second && r.Inside() == "":
		return errors.New("got the second key for every call of a tool, want parentheses that say for which: what may destroy something is never allowed as a whole")
	}
	return nil
}

// item is how it stands in the file.
func (a Always) item() string {
	if a == (Always{Rule: a.Rule}) {
		return quote(a.Rule)
	}
	var b strings.Builder
	b.WriteString("{rule: " + quote(a.Rule))
	for _, f := range []struct{ key, text string }{
		{"principal", a.Principal}, {"tenant", a.Tenant}, {"source", a.Source}, {"definition", a.Definition},
	} {
		if f.text != "" {
			b.WriteString(", " + f.key + ": " + quote(f.text))
		}
	}
	if a.Second {
		b.WriteString(", second: true")
	}
	return b.String() + "}"
}

func (r *reader) always(n *yaml.Node, what string) (list []Always) {
	for _, item := range r.items(n, what, "rules") {
		before := len(r.errs)
		a, ok := r.oneAlways(item, what)
		if ok && len(r.errs) == before {
			list = append(list, a)
		}
	}
	return list
}

func (r *reader) oneAlways(n *yaml.Node, what string) (a Always, ok bool) {
	var rule policy.Rule
	if _, has := child(n, "rule"); has == nil {
		if a.Rule, rule, ok = r.rule(n, what); !ok {
			return a, false
		}
	} else {
		r.fields(n, what, []string{"rule", "principal", "tenant", "source", "definition", "second"}, func(key string, v *yaml.Node) {
			switch key := what + "." + key; strings.TrimPrefix(key, what+".") {
			case "rule":
				a.Rule, rule, ok = r.rule(v, key)
			case "principal":
				a.Principal, _ = r.text(v, key)
			case "tenant":
				a.Tenant, _ = r.text(v, key)
			case "source":
				a.Source, _ = r.text(v, key)
			case "definition":
				a.Definition, _ = r.text(v, key)
			case "second":
				a.Second = r.yes(v, key)
			}
		})
		if !ok {
			return a, false
		}
	}
	if err := Lasts(rule, a.Second); err != nil {
		r.fault(n, "%s: %s", what, err)
		return a, false
	}
	return a, true
}

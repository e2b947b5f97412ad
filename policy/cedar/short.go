package cedar

import (
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// short is the Cedar of a short rule.
func short(v tool.Verdict, text, workspace string) (*ast.Policy, error) {
	r, err := policy.ParseRule(text, workspace)
	if err != nil {
		return nil, err
	}
	p := ast.Permit()
	if v == tool.Deny {
		p = ast.Forbid()
	}
	p.Annotations = []ast.AnnotationType{{Key: "short", Value: types.String(v.String() + ": " + strings.Trim(text, " "))}}
	if v == tool.Ask {
		p.Annotations = append(p.Annotations, ast.AnnotationType{Key: "ask"})
	}
	what, glob := r.Over()
	switch {
	case strings.Trim(glob, "*") == "": // any
	case what == "name":
		byName(p, v, r)
	case what == "tag":
		p.ResourceIn(types.NewEntityUID("Tag", types.String(glob)))
	case strings.Contains(glob, "*"):
		p.When(matches("source", glob))
	default:
		p.ResourceIn(types.NewEntityUID("Source", types.String(glob)))
	}
	if inside := r.Inside(); inside != "" {
		set := "met"
		if v == tool.Allow {
			set = "covered"
		}
		p.When(ast.Context().Access(types.String(set)).Contains(ast.String(types.String(inside))))
	}
	return p, nil
}

// byName makes a rule one about tools of a name, be it that for models or their
// own, as policy.Rule does: see its OwnOnly.
func byName(p *ast.Policy, v tool.Verdict, r policy.Rule) {
	_, glob := r.Over()
	star := strings.Contains(glob, "*")
	// What has such a name of its own also has it for models: it had not to be
	// changed, and its source does not end in _.
	plain := !star && tool.WireName("", glob) == glob && !strings.Contains(glob, "___")
	switch {
	case r.OwnOnly() && v == tool.Allow:
		p.When(matches("own_name", glob).And(ast.Not(matches("source", "*_"))))
	case r.OwnOnly():
		p.When(matches("own_name", glob))
	case !star && (plain || v == tool.Allow):
		p.ResourceEq(types.NewEntityUID("Tool", types.String(glob)))
	case v == tool.Allow:
		p.When(matches("name", glob))
	default:
		p.When(matches("name", glob).Or(matches("own_name", glob)))
	}
}

// matches compares an attribute of the tool with a name or a glob.
func matches(attribute, glob string) ast.Node {
	read := ast.Resource().Access(types.String(attribute))
	if !strings.Contains(glob, "*") {
		return read.Equal(ast.String(types.String(glob)))
	}
	return read.Like(like(glob))
}

// like is a glob as Cedar has it.
func like(glob string) types.Pattern {
	var parts []any
	for i, part := range strings.Split(glob, "*") {
		if i > 0 {
			parts = append(parts, types.Wildcard{})
		}
		if part != "" {
			parts = append(parts, types.String(part))
		}
	}
	return types.NewPattern(parts...)
}

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
	case strings.Contains(glob, "*") && what != "tag":
		p.When(ast.Resource().Access(types.String(what)).Like(like(glob)))
	case what == "source":
		p.ResourceIn(types.NewEntityUID("Source", types.String(glob)))
	case what == "tag":
		p.ResourceIn(types.NewEntityUID("Tag", types.String(glob)))
	default:
		p.ResourceEq(types.NewEntityUID("Tool", types.String(glob)))
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

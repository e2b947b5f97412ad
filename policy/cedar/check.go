package cedar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/ferrule-dev/ferrule/tool"
)

// mostLike is how long a pattern of like may be, in bytes, and mostLiked the text
// that it is compared with: Cedar takes the product of both.
const mostLike, mostLiked = 512, 32 << 10

// checker says what is wrong with a rule that Cedar would take.
type checker struct {
	verdict tool.Verdict
	faults  []fault
}

// fault is something wrong, and words to find it by in the text of the rule; see
// places.
type fault struct {
	text  string
	words []string
	whole bool // of what they find nothing is read
}

func (c *checker) fault(words []string, format string, args ...any) {
	c.faults = append(c.faults, fault{fmt.Sprintf(format, args...), words, false})
}

// rule checks all of a rule but what flattener does.
func (c *checker) rule(p *ast.Policy) {
	for _, a := range p.Annotations {
		if word := string(a.Key); !slices.Contains(annotationWords(), word) {
			c.fault([]string{"@", word}, "got @%s, want %s", word, listed(word, annotationWords()))
		}
	}
	c.scope("principal", p.Principal, "Principal")
	c.scope("action", p.Action, "Action")
	c.scope("resource", p.Resource, "Tool", "Source", "Tag")
	for _, when := range p.Conditions {
		c.side(when.Body, when.Condition == ast.ConditionWhen)
	}
}

// scope checks what a rule's head says of the principal, the action or the tool.
func (c *checker) scope(variable string, s ast.IsScopeNode, in ...string) {
	var entities []types.EntityUID
	var kind types.EntityType
	want := in
	switch v := s.(type) {
	case ast.ScopeTypeEq:
		entities, want = []types.EntityUID{v.Entity}, in[:1]
	case ast.ScopeTypeIn:
		entities = []types.EntityUID{v.Entity}
	case ast.ScopeTypeInSet:
		entities = v.Entities
	case ast.ScopeTypeIs:
		kind = v.Type
	case ast.ScopeTypeIsIn:
		kind, entities = v.Type, []types.EntityUID{v.Entity}
	}
	if kind != "" && string(kind) != in[0] {
		c.fault([]string{variable, "is", string(kind)}, "%s: got is %s, want is %s", variable, kind, in[0])
	}
	for _, e := range entities {
		if slices.Contains(want, string(e.Type)) {
			c.entity(e)
		} else {
			c.fault(named(e)[:1], "%s: got %s, want %s", variable, e, listed(string(e.Type), want))
		}
	}
}

// named are the words of an entity.
func named(e types.EntityUID) []string {
	return append(strings.Split(string(e.Type), "::"), string(e.ID))
}

// entity checks one that a rule names.
func (c *checker) entity(e types.EntityUID) {
	id := string(e.ID)
	switch {
	case !slices.Contains(typeWords(), string(e.Type)):
		c.fault(named(e)[:1], "got %s, want %s", e, listed(string(e.Type), typeWords()))
	case e.Type == "Action" && id != "call":
		c.fault(named(e), `got %s, want Action::"call", which is all there is`, e)
	case e.Type == "Tool" && !wired(id):
		c.fault(named(e), "got %s, which is no name that models use, want Tool::%q, or resource.own_name == %q", e, wire(id), id)
	}
}

// wired reports whether models may call a tool so.
func wired(name string) bool {
	return len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// wire is what models call a tool by its own name.
func wire(name string) string {
	if source, rest, ok := strings.Cut(name, "__"); ok {
		return tool.WireName(source, rest)
	}
	return tool.WireName("", name)
}

// side checks a condition, or a part of one that alone can make it what it is:
// the rule fits where it is so.
func (c *checker) side(n ast.IsNode, so bool) {
	if set, _ := insideOf(n); set != "" {
		c.inside(set, so)
		return
	}
	switch v := n.(type) {
	case ast.NodeTypeAnd:
		c.side(v.Left, so)
		c.side(v.Right, so)
	case ast.NodeTypeOr:
		c.side(v.Left, so)
		c.side(v.Right, so)
	case ast.NodeTypeNot:
		c.side(v.Arg, !so)
	case ast.NodeTypeIfThenElse:
		c.node(v.If)
		c.side(v.Then, so)
		c.side(v.Else, so)
	default:
		c.node(n)
	}
}

// inside checks that what is not known does not let more run: a permit reads
// covered, and met where the rule fits if that is false; others the other way
// round.
func (c *checker) inside(set string, so bool) {
	want, would := "met", "the rule would not fit"
	if so == (c.verdict == tool.Allow) {
		want = "covered"
	}
	if c.verdict == tool.Allow {
		would = "the rule would allow"
	}
	if set != want {
		c.fault([]string{"context", set}, "context.%s: got it where %s what is not known, want context.%s", set, would, want)
	}
}

// node checks a part of a condition, and all parts of that.
func (c *checker) node(n ast.IsNode) {
	if set, _ := insideOf(n); set != "" {
		c.fault([]string{"context", set}, "context.%s: got it within something else than &&, || and !, want it there", set)
		return
	}
	switch v := n.(type) {
	case ast.NodeValue:
		if e, ok := v.Value.(types.EntityUID); ok {
			c.entity(e)
		}
	case ast.NodeTypeIs:
		c.kind(v)
	case ast.NodeTypeIsIn:
		c.kind(v.NodeTypeIs)
	case ast.NodeTypeEquals:
		c.compared(v.Left, v.Right)
		c.compared(v.Right, v.Left)
	case ast.NodeTypeNotEquals:
		c.compared(v.Left, v.Right)
		c.compared(v.Right, v.Left)
	case ast.NodeTypeContains:
		if list, ok := v.Left.(ast.NodeTypeSet); ok {
			for _, e := range list.Elements {
				c.compared(v.Right, e)
			}
		}
	case ast.NodeTypeLike:
		c.like(v)
	}
	if n, ok := number(memberOf(n)); ok {
		c.fault([]string{strings.TrimPrefix(n.String(), "-")}, "got a member of a number, which has none")
	}
	rebuild(n, func(child ast.IsNode) ast.IsNode {
		c.node(child)
		return child
	})
}

func (c *checker) kind(n ast.NodeTypeIs) {
	if word := string(n.EntityType); !slices.Contains(typeWords(), word) {
		c.fault([]string{"is", word}, "got is %s, want is %s", word, listed(word, typeWords()))
	}
}

// compared checks a value that an attribute is compared with.
func (c *checker) compared(n, with ast.IsNode) {
	value, ok := with.(ast.NodeValue)
	if !ok {
		return
	}
	text, _ := literal(with)
	if attribute := resourceAttribute(n); attribute == "name" && !wired(text) {
		c.fault([]string{attribute, text}, "resource.name: got %q, which is no name that models use, want %q, or resource.own_name", text, wire(text))
	}
	if attribute, values := valuesOf(n); values != nil && !slices.Contains(values, text) {
		c.fault([]string{attribute, text}, "%s: got %s, want %s", attribute, value.Value.MarshalCedar(), listed(text, values))
	}
}

func (c *checker) like(n ast.NodeTypeLike) {
	text := string(n.Value.MarshalCedar())
	if len(text) > mostLike {
		c.fault([]string{"like"}, "like: got a pattern of %d bytes, want at most %d", len(text), mostLike)
	}
	if resourceAttribute(n.Arg) == "name" && strings.Contains(text, ".") {
		c.fault([]string{"name", "like"}, "resource.name: got a pattern with a dot, which no name that models use has, want resource.own_name")
	}
}

// memberOf is that of which a node reads a member, or nil.
func memberOf(n ast.IsNode) ast.IsNode {
	switch v := n.(type) {
	case ast.NodeTypeAccess:
		return v.Arg
	case ast.NodeTypeContains:
		return v.Left
	case ast.NodeTypeContainsAll:
		return v.Left
	case ast.NodeTypeContainsAny:
		return v.Left
	case ast.NodeTypeIsEmpty:
		return v.Arg
	case ast.NodeTypeGetTag:
		return v.Left
	case ast.NodeTypeHasTag:
		return v.Left
	case ast.NodeTypeExtensionCall:
		if functions := []types.Path{"ip", "decimal", "datetime", "duration"}; len(v.Args) > 0 && !slices.Contains(functions, v.Name) {
			return v.Args[0]
		}
	}
	return nil
}

func number(n ast.IsNode) (types.Long, bool) {
	v, ok := n.(ast.NodeValue)
	if !ok {
		return 0, false
	}
	long, ok := v.Value.(types.Long)
	return long, ok
}

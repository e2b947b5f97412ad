package cedar

import (
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// rebuild is a node with f applied to what it is made of.
func rebuild(n ast.IsNode, f func(ast.IsNode) ast.IsNode) ast.IsNode {
	two := func(b ast.BinaryNode) ast.BinaryNode { return ast.BinaryNode{Left: f(b.Left), Right: f(b.Right)} }
	one := func(u ast.UnaryNode) ast.UnaryNode { return ast.UnaryNode{Arg: f(u.Arg)} }
	named := func(s ast.StrOpNode) ast.StrOpNode { return ast.StrOpNode{Arg: f(s.Arg), Value: s.Value} }
	list := func(l []ast.IsNode) []ast.IsNode {
		made := make([]ast.IsNode, len(l))
		for i, e := range l {
			made[i] = f(e)
		}
		return made
	}
	switch v := n.(type) {
	case ast.NodeTypeIfThenElse:
		return ast.NodeTypeIfThenElse{If: f(v.If), Then: f(v.Then), Else: f(v.Else)}
	case ast.NodeTypeOr:
		return ast.NodeTypeOr{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeAnd:
		return ast.NodeTypeAnd{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeLessThan:
		return ast.NodeTypeLessThan{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeLessThanOrEqual:
		return ast.NodeTypeLessThanOrEqual{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeGreaterThan:
		return ast.NodeTypeGreaterThan{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeGreaterThanOrEqual:
		return ast.NodeTypeGreaterThanOrEqual{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeNotEquals:
		return ast.NodeTypeNotEquals{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeEquals:
		return ast.NodeTypeEquals{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeIn:
		return ast.NodeTypeIn{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeHas:
		return ast.NodeTypeHas{StrOpNode: named(v.StrOpNode)}
	case ast.NodeTypeHasTag:
		return ast.NodeTypeHasTag{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeLike:
		return ast.NodeTypeLike{Arg: f(v.Arg), Value: v.Value}
	case ast.NodeTypeIs:
		return ast.NodeTypeIs{Left: f(v.Left), EntityType: v.EntityType}
	case ast.NodeTypeIsIn:
		return ast.NodeTypeIsIn{NodeTypeIs: ast.NodeTypeIs{Left: f(v.Left), EntityType: v.EntityType}, Entity: f(v.Entity)}
	case ast.NodeTypeSub:
		return ast.NodeTypeSub{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeAdd:
		return ast.NodeTypeAdd{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeMult:
		return ast.NodeTypeMult{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeNegate:
		return ast.NodeTypeNegate{UnaryNode: one(v.UnaryNode)}
	case ast.NodeTypeNot:
		return ast.NodeTypeNot{UnaryNode: one(v.UnaryNode)}
	case ast.NodeTypeAccess:
		return ast.NodeTypeAccess{StrOpNode: named(v.StrOpNode)}
	case ast.NodeTypeGetTag:
		return ast.NodeTypeGetTag{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeExtensionCall:
		return ast.NodeTypeExtensionCall{Name: v.Name, Args: list(v.Args)}
	case ast.NodeTypeContains:
		return ast.NodeTypeContains{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeContainsAll:
		return ast.NodeTypeContainsAll{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeContainsAny:
		return ast.NodeTypeContainsAny{BinaryNode: two(v.BinaryNode)}
	case ast.NodeTypeIsEmpty:
		return ast.NodeTypeIsEmpty{UnaryNode: one(v.UnaryNode)}
	case ast.NodeTypeRecord:
		made := make([]ast.RecordElementNode, len(v.Elements))
		for i, e := range v.Elements {
			made[i] = ast.RecordElementNode{Key: e.Key, Value: f(e.Value)}
		}
		return ast.NodeTypeRecord{Elements: made}
	case ast.NodeTypeSet:
		return ast.NodeTypeSet{Elements: list(v.Elements)}
	}
	return n // a value or a variable
}

func truth(b bool) ast.IsNode { return ast.NodeValue{Value: types.Boolean(b)} }

func and(left, right ast.IsNode) ast.IsNode {
	return ast.NodeTypeAnd{BinaryNode: ast.BinaryNode{Left: left, Right: right}}
}

func or(left, right ast.IsNode) ast.IsNode {
	return ast.NodeTypeOr{BinaryNode: ast.BinaryNode{Left: left, Right: right}}
}

// attribute is context["key"].
func attribute(key string) ast.IsNode {
	return ast.NodeTypeAccess{StrOpNode: ast.StrOpNode{Arg: ast.NodeTypeVariable{Name: "context"}, Value: types.String(key)}}
}

// present is context has "key".
func present(key string) ast.IsNode {
	return ast.NodeTypeHas{StrOpNode: ast.StrOpNode{Arg: ast.NodeTypeVariable{Name: "context"}, Value: types.String(key)}}
}

// contextKey is the key of attribute or present; ok is false for other nodes.
func contextKey(n ast.IsNode) (key string, ok bool) {
	var s ast.StrOpNode
	switch v := n.(type) {
	case ast.NodeTypeAccess:
		s = v.StrOpNode
	case ast.NodeTypeHas:
		s = v.StrOpNode
	default:
		return "", false
	}
	v, ok := s.Arg.(ast.NodeTypeVariable)
	return string(s.Value), ok && v.Name == "context"
}

// yields reports whether a node is a bool wherever it does not fail.
func yields(n ast.IsNode) bool {
	switch v := n.(type) {
	case ast.NodeTypeAnd, ast.NodeTypeOr, ast.NodeTypeNot, ast.NodeTypeHas, ast.NodeTypeHasTag, ast.NodeTypeLike, ast.NodeTypeIs, ast.NodeTypeIsIn,
		ast.NodeTypeIn, ast.NodeTypeEquals, ast.NodeTypeNotEquals, ast.NodeTypeLessThan, ast.NodeTypeLessThanOrEqual, ast.NodeTypeGreaterThan,
		ast.NodeTypeGreaterThanOrEqual, ast.NodeTypeContains, ast.NodeTypeContainsAll, ast.NodeTypeContainsAny, ast.NodeTypeIsEmpty:
		return true
	case ast.NodeValue:
		_, ok := v.Value.(types.Boolean)
		return ok
	case ast.NodeTypeAccess:
		key, ok := contextKey(v)
		return ok && (isCovered(key) || isMet(key))
	}
	return false
}

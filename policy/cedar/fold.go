package cedar

import (
	"errors"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/eval"
)

// narrowing evaluates what is known.
type narrowing struct {
	reach reach // what is
	env   eval.Env
}

// rule is what remains of a rule's conditions; fits is false where it can never
// fit, and the error is one that it always has.
func (e *narrowing) rule(r *rule) (left []ast.ConditionType, fits bool, err error) {
	if v, err := eval.Eval(r.scope, e.env); err != nil || v != types.True {
		return nil, false, err
	}
	for _, c := range r.flat.Conditions {
		n := e.fold(c.Body)
		if len(left) > 0 { // what stands before it may fail
			left = append(left, ast.ConditionType{Condition: c.Condition, Body: n})
			continue
		}
		if err, ok := eval.ToPartialError(n); ok {
			return nil, false, err
		}
		v, known := n.(ast.NodeValue)
		if !known {
			left = append(left, ast.ConditionType{Condition: c.Condition, Body: n})
			continue
		}
		b, ok := v.Value.(types.Boolean)
		if !ok {
			return nil, false, errors.New("type error: expected bool, got " + eval.TypeName(v.Value))
		}
		if bool(b) != bool(c.Condition) {
			return nil, false, nil
		}
	}
	return left, true, nil
}

// fold is a node with everything in it evaluated that is known. What fails fails
// only where it is reached. It looks at each part once.
func (e *narrowing) fold(n ast.IsNode) ast.IsNode {
	if key, ok := contextKey(n); ok {
		if reachOf(key) > e.reach {
			return n
		}
		return e.value(n)
	}
	switch v := n.(type) {
	case ast.NodeValue:
		return n
	case ast.NodeTypeVariable:
		return e.value(n)
	case ast.NodeTypeAnd:
		return e.both(v.BinaryNode, true)
	case ast.NodeTypeOr:
		return e.both(v.BinaryNode, false)
	case ast.NodeTypeIfThenElse:
		return e.choice(v)
	}
	all := true
	n = rebuild(n, func(part ast.IsNode) ast.IsNode {
		part = e.fold(part)
		all = all && settled(part)
		return part
	})
	if all {
		return e.value(n)
	}
	return n
}

// value evaluates a node all of which is known.
func (e *narrowing) value(n ast.IsNode) ast.IsNode {
	v, err := eval.Eval(n, e.env)
	if err != nil {
		return eval.PartialError(err)
	}
	return ast.NodeValue{Value: v}
}

// settled reports whether a node is a value, or fails.
func settled(n ast.IsNode) bool {
	if _, ok := n.(ast.NodeValue); ok {
		return true
	}
	_, failed := eval.ToPartialError(n)
	return failed
}

// both folds left && right where is is true, else left || right.
func (e *narrowing) both(n ast.BinaryNode, is bool) ast.IsNode {
	join := or
	if is {
		join = and
	}
	left := e.fold(n.Left)
	b, known := boolean(left)
	switch {
	case known && b != is:
		return left
	case settled(left) && !known: // it fails, or is no bool
		return e.value(join(left, truth(is)))
	}
	right := e.fold(n.Right)
	switch {
	case known && settled(right):
		return e.value(join(left, right))
	case known && yields(right):
		return right
	}
	return join(left, right)
}

// choice folds if, then and else.
func (e *narrowing) choice(n ast.NodeTypeIfThenElse) ast.IsNode {
	test := e.fold(n.If)
	switch b, known := boolean(test); {
	case known && b:
		return e.fold(n.Then)
	case known:
		return e.fold(n.Else)
	case settled(test): // it fails, or is no bool
		return e.value(ast.NodeTypeIfThenElse{If: test, Then: truth(true), Else: truth(true)})
	}
	return ast.NodeTypeIfThenElse{If: test, Then: e.fold(n.Then), Else: e.fold(n.Else)}
}

func boolean(n ast.IsNode) (b, known bool) {
	if v, ok := n.(ast.NodeValue); ok {
		b, ok := v.Value.(types.Boolean)
		return bool(b), ok
	}
	return false, false
}

// keysOf adds the keys of the flat context that a node reads.
func keysOf(n ast.IsNode, keys map[string]bool) {
	ast.Inspect(ast.NewNode(n), func(n ast.IsNode) bool {
		if key, ok := contextKey(n); ok {
			if name, unheld := strings.CutPrefix(key, unheldPrefix); unheld {
				key = argsPrefix + name
			}
			keys[key] = true
		}
		return true
	})
}

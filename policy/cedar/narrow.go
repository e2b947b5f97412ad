package cedar

import (
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/eval"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// mostKnown bounds how many tools and callers a set keeps its rules narrowed for.
const mostKnown = 4096

// narrowed is what remains of the rules for a tool and a caller.
type narrowed struct {
	fixed    bool          // nothing depends on the arguments
	decision tool.Decision // where fixed

	settled []outcome // of rules that fit, or fail, for all arguments
	direct  []direct  // rules that fit where a pattern does
	rest    []residue // rules that Cedar must decide

	// What the rest reads.
	args     []argument
	patterns []pattern
	claims   []string
	entities *entities
}

// residue is a rule with what is known of it filled in.
type residue struct {
	rule   *rule
	id     cedar.PolicyID // its place in the list
	policy *cedar.Policy
}

// direct is a rule that fits exactly where a pattern does.
type direct struct {
	rule    *rule
	pattern pattern
}

// pattern is a key of the flat context that a policy.Rule decides.
type pattern struct {
	key    types.String
	rule   policy.Rule
	covers bool // else meets
}

func (p *pattern) fits(q *tool.Request) bool {
	if p.covers {
		return p.rule.Covers(q)
	}
	return p.rule.Meets(q)
}

// argument is one that rules read, and its keys in the flat context.
type argument struct {
	name        string
	key, unheld types.String
}

func argumentOf(key string) argument {
	name := strings.TrimPrefix(key, argsPrefix)
	return argument{name, types.String(key), types.String(unheldPrefix + name)}
}

func (s *Set) patternOf(key string) pattern {
	return pattern{types.String(key), s.patterns[key], isCovered(key)}
}

// All is how Cedar goes through the rest.
func (n *narrowed) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) {
		for i := range n.rest {
			if !yield(n.rest[i].id, n.rest[i].policy) {
				return
			}
		}
	}
}

// narrow finds what remains of the rules, once for each tool and caller.
func (s *Set) narrow(q *tool.Request) *narrowed {
	k := s.key(q)
	s.mu.RLock()
	n := s.known[k]
	s.mu.RUnlock()
	if n != nil {
		return n
	}
	n = s.narrowTo(q)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= mostKnown {
		clear(s.known)
	}
	s.known[k] = n
	return n
}

func (s *Set) narrowTo(q *tool.Request) *narrowed {
	n := &narrowed{entities: entitiesOf(q)}
	e := narrowing{varies: q.Varies, env: eval.Env{
		Principal: n.entities.principal.UID, Action: call(), Resource: n.entities.tool.UID,
		Context: types.NewRecord(constants(q, !q.Varies)), Entities: n.entities,
	}}
	read := make(map[string]bool)
	for _, r := range s.rules {
		conditions, fits, err := e.rule(r)
		switch {
		case err != nil:
			n.settled = append(n.settled, outcome{r, err})
		case !fits:
		case len(conditions) == 0:
			n.settled = append(n.settled, outcome{r, nil})
		default:
			if key, ok := contextKey(conditions[0].Body); ok && len(conditions) == 1 && bool(conditions[0].Condition) && yields(conditions[0].Body) && (isCovered(key) || isMet(key)) {
				n.direct = append(n.direct, direct{r, s.patternOf(key)})
				continue
			}
			left := &ast.Policy{
				Effect: r.flat.Effect, Principal: ast.ScopeTypeAll{}, Action: ast.ScopeTypeAll{}, Resource: ast.ScopeTypeAll{}, Conditions: conditions,
			}
			n.rest = append(n.rest, residue{r, cedar.PolicyID(strconv.Itoa(len(n.rest))), compile(left)})
			for _, c := range conditions {
				keysOf(c.Body, read)
			}
		}
	}
	for key := range read {
		switch {
		case strings.HasPrefix(key, argsPrefix):
			n.args = append(n.args, argumentOf(key))
		case strings.HasPrefix(key, claimsPrefix):
			n.claims = append(n.claims, strings.TrimPrefix(key, claimsPrefix))
		case isCovered(key) || isMet(key):
			n.patterns = append(n.patterns, s.patternOf(key))
		}
	}
	n.settle()
	return n
}

func call() types.EntityUID { return types.NewEntityUID("Action", "call") }

// settle decides what no argument can change.
func (n *narrowed) settle() {
	n.decision = decide(n.settled)
	switch {
	case len(n.direct) == 0 && len(n.rest) == 0, len(n.settled) > 0 && n.decision.Verdict == tool.Deny:
		n.fixed = true
	case len(n.rest) == 0: // patterns never fail
		n.fixed = len(n.settled) > 0 && !slices.ContainsFunc(n.direct, func(d direct) bool { return d.rule.verdict < n.decision.Verdict })
	}
}

// narrowing evaluates what is known.
type narrowing struct {
	env    eval.Env
	varies bool // claims depend on the arguments
}

// rule is what remains of a rule's conditions; fits is false where it can never
// fit, and the error is one that it always has.
func (e *narrowing) rule(r *rule) (left []ast.ConditionType, fits bool, err error) {
	scope := *r.flat
	scope.Conditions = nil
	if v, err := eval.Eval(eval.PolicyToNode(&scope).AsIsNode(), e.env); err != nil || v != types.True {
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

// fold is a node with everything in it evaluated that does not depend on the
// arguments. What fails fails only where it is reached.
func (e *narrowing) fold(n ast.IsNode) ast.IsNode {
	if _, ok := n.(ast.NodeValue); ok {
		return n
	}
	if !e.open(n) {
		v, err := eval.Eval(n, e.env)
		if err != nil {
			return eval.PartialError(err)
		}
		return ast.NodeValue{Value: v}
	}
	if _, ok := contextKey(n); ok {
		return n
	}
	switch v := n.(type) {
	case ast.NodeTypeAnd:
		return e.both(v.BinaryNode, true)
	case ast.NodeTypeOr:
		return e.both(v.BinaryNode, false)
	case ast.NodeTypeIfThenElse:
		switch b, known := boolean(e.fold(v.If)); {
		case known && b:
			return e.fold(v.Then)
		case known:
			return e.fold(v.Else)
		}
	}
	return rebuild(n, e.fold)
}

// both folds left && right where is is true, else left || right.
func (e *narrowing) both(n ast.BinaryNode, is bool) ast.IsNode {
	left := e.fold(n.Left)
	if _, failed := eval.ToPartialError(left); failed {
		return left
	}
	b, known := boolean(left)
	if known && b != is {
		return left
	}
	right := e.fold(n.Right)
	if known && yields(right) {
		return right
	}
	if is {
		return and(left, right)
	}
	return or(left, right)
}

func boolean(n ast.IsNode) (b, known bool) {
	if v, ok := n.(ast.NodeValue); ok {
		b, ok := v.Value.(types.Boolean)
		return bool(b), ok
	}
	return false, false
}

// open reports whether a node depends on the arguments.
func (e *narrowing) open(n ast.IsNode) bool {
	found := false
	ast.Inspect(ast.NewNode(n), func(n ast.IsNode) bool {
		key, ok := contextKey(n)
		found = found || ok && e.openKey(key)
		return !found
	})
	return found
}

func (e *narrowing) openKey(key string) bool {
	kind, _, more := strings.Cut(key, ".")
	return more && (kind != "claims" || e.varies)
}

// keysOf adds the keys of the flat context that a node reads.
func keysOf(n ast.IsNode, keys map[string]bool) {
	ast.Inspect(ast.NewNode(n), func(n ast.IsNode) bool {
		if key, ok := contextKey(n); ok {
			keys[strings.Replace(key, unheldPrefix, argsPrefix, 1)] = true
		}
		return true
	})
}

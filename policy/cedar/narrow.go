package cedar

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/eval"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// narrowed is what remains of the rules for a tool and a caller.
type narrowed struct {
	fixed    bool          // nothing depends on the arguments
	decision tool.Decision // where fixed

	settled []outcome // of rules that fit, or fail, for all arguments
	direct  []direct  // rules that fit where a pattern does
	rest    []residue // rules that Cedar must decide
	reading           // what the rest reads

	entities *entities
	words    string // all of it, for those that have the same; "": they must not share it
	users    int    // who do
}

// residue is a rule with what is known of it filled in.
type residue struct {
	rule   *rule
	left   []ast.ConditionType
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

// patternAlone is the pattern that is all that conditions ask for.
func (s *Set) patternAlone(conditions []ast.ConditionType) (p pattern, ok bool) {
	if len(conditions) != 1 || conditions[0].Condition != ast.ConditionWhen {
		return p, false
	}
	n, ok := conditions[0].Body.(ast.NodeTypeAccess)
	if !ok {
		return p, false
	}
	key, ok := contextKey(n)
	if !ok || !isCovered(key) && !isMet(key) {
		return p, false
	}
	return s.patternOf(key), true
}

func (s *Set) patternOf(key string) pattern {
	return pattern{types.String(key), s.patterns[key], isCovered(key)}
}

// All is how Cedar goes through the rest.
func (n *narrowed) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) {
		for i := range n.rest {
			if !yield(n.rest[i].rule.place, n.rest[i].policy) {
				return
			}
		}
	}
}

// within are the rules of a set that reach no farther.
type within struct {
	rules []*rule
	reach reach
}

// All is how Cedar goes through them.
func (w within) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) {
		for _, r := range w.rules {
			if r.reach <= w.reach && !yield(r.place, r.whole) {
				return
			}
		}
	}
}

// narrow finds what remains of the rules, once for each tool and caller.
func (s *Set) narrow(q *tool.Request) *narrowed {
	k := s.key(q)
	var tags []string
	if q.Tool != nil {
		tags = q.Tool.Tags
	}
	if n := s.kept.find(&k, tags); n != nil {
		return n
	}
	return s.kept.keep(&k, tags, s.narrowTo(q))
}

func (s *Set) narrowTo(q *tool.Request) *narrowed {
	n := &narrowed{entities: entitiesOf(q)}
	known := within{s.rules, reachClaims}
	if q.Varies {
		known.reach = reachTool
	}
	context := types.NewRecord(constants(q, !q.Varies))
	n.settled = s.outcomes(nil, known, n.entities, context, nil)
	e := narrowing{known.reach, eval.Env{
		Principal: n.entities.principal.UID, Action: call(), Resource: n.entities.tool.UID, Context: context, Entities: n.entities,
	}}
	read := make(map[string]bool)
	for _, r := range s.rules {
		if r.reach <= known.reach {
			continue
		}
		left, fits, err := e.rule(r)
		switch {
		case err != nil:
			n.settled = append(n.settled, outcome{r, err})
		case !fits:
		case len(left) == 0:
			n.settled = append(n.settled, outcome{r, nil})
		default:
			if p, ok := s.patternAlone(left); ok {
				n.direct = append(n.direct, direct{r, p})
				continue
			}
			n.rest = append(n.rest, residue{r, left, compile(&ast.Policy{
				Effect: r.flat.Effect, Principal: ast.ScopeTypeAll{}, Action: ast.ScopeTypeAll{}, Resource: ast.ScopeTypeAll{}, Conditions: left,
			})})
			for _, c := range left {
				keysOf(c.Body, read)
			}
		}
	}
	n.reading = s.readingOf(read)
	n.settle()
	n.describe()
	return n
}

// describe puts what is left into words. Where an entity is left its attributes
// count too, which the words do not say.
func (n *narrowed) describe() {
	var b strings.Builder
	for _, o := range n.settled {
		fmt.Fprintf(&b, "%d %v;", o.rule.index, o.err)
	}
	for _, d := range n.direct {
		fmt.Fprintf(&b, "%d %s;", d.rule.index, d.pattern.key)
	}
	for _, r := range n.rest {
		text := r.policy.MarshalCedar()
		if bytes.Contains(text, []byte(`::"`)) {
			return
		}
		fmt.Fprintf(&b, "%d %s", r.rule.index, text)
	}
	n.words = b.String() + "."
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

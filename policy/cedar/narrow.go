package cedar

import (
	"bytes"
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
		n.fixed = len(n.settled) > 0 && !slices.ContainsFunc(n.direct, func(d direct) bool {
			return d.rule.verdict < n.decision.Verdict || d.rule.verdict == tool.Allow && d.rule.exact && !n.decision.Exact
		})
	}
}

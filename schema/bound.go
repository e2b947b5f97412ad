package schema

import (
	"fmt"
	"math"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxExpansion is how many subschemas a schema may have when each
	// reference is written out.
	maxExpansion = 1 << 16
	// maxEvaluations is how often one value may be looked at because
	// references meet on it again and again.
	maxEvaluations = 1 << 20
	// maxChain is how many subschemas may apply to one value, one inside
	// another.
	maxChain = 256
)

// bound refuses a compiled schema whose checks would never end or take
// exponential time. A recursive schema that looks at a child more than once
// is accepted; what it returns is how deep a value may then be, 0 for any
// depth.
func bound(root *jsonschema.Schema) (maxDepth int, err error) {
	g := graph{marks: map[*jsonschema.Schema]*mark{}}
	m, err := g.visit(root)
	if err != nil {
		return 0, err
	}
	if m.size > maxExpansion {
		return 0, &DefinitionError{Reason: fmt.Sprintf("references fan out to more than %d subschemas", maxExpansion)}
	}
	return g.depth()
}

// graph is a compiled schema as subschemas and what they lead to. It finds the
// groups of subschemas that lead to each other (Tarjan's algorithm): only
// these are looked at again on the way down a value.
type graph struct {
	marks  map[*jsonschema.Schema]*mark
	stack  []*jsonschema.Schema
	groups int
}

type mark struct {
	index, low int
	open       bool    // being visited
	group      int     // 0 while on the stack
	chain      int     // subschemas that apply one inside another to one value
	size       float64 // subschemas when references are written out; recursion counts once
}

func (g *graph) visit(s *jsonschema.Schema) (*mark, error) {
	if m := g.marks[s]; m != nil {
		return m, nil
	}
	m := &mark{index: len(g.marks) + 1, low: len(g.marks) + 1, open: true, chain: 1, size: 1}
	g.marks[s] = m
	g.stack = append(g.stack, s)

	for _, sub := range inPlace(s) {
		if old := g.marks[sub]; old != nil && old.open && reaches(sub, s) {
			return nil, &DefinitionError{Pointer: fragment(s.Location), Reason: "refers to itself without an end"}
		}
		sm, err := g.follow(m, sub)
		if err != nil {
			return nil, err
		}
		if m.chain = max(m.chain, sm.chain+1); m.chain > maxChain {
			return nil, &DefinitionError{Pointer: fragment(s.Location), Reason: fmt.Sprintf("more than %d subschemas apply one inside another", maxChain)}
		}
	}
	for _, c := range children(s) {
		if _, err := g.follow(m, c.schema); err != nil {
			return nil, err
		}
	}

	m.open = false
	if m.low == m.index {
		g.groups++
		for {
			top := g.stack[len(g.stack)-1]
			g.stack = g.stack[:len(g.stack)-1]
			g.marks[top].group = g.groups
			if top == s {
				break
			}
		}
	}
	return m, nil
}

// follow visits what m leads to and adds it up.
func (g *graph) follow(m *mark, sub *jsonschema.Schema) (*mark, error) {
	sm, err := g.visit(sub)
	if err != nil {
		return nil, err
	}
	if sm.group == 0 {
		m.low = min(m.low, sm.low)
	}
	if sm.open {
		m.size++
	} else {
		m.size += sm.size
	}
	return sm, nil
}

// reaches reports whether to applies to every value that from applies to.
func reaches(from, to *jsonschema.Schema) bool {
	seen := map[*jsonschema.Schema]bool{}
	var walk func(s *jsonschema.Schema) bool
	walk = func(s *jsonschema.Schema) bool {
		if s == to {
			return true
		}
		if seen[s] {
			return false
		}
		seen[s] = true
		return slices.ContainsFunc(inPlace(s), walk)
	}
	return walk(from)
}

// depth is how deep a value may be so that no part of it is looked at more
// than maxEvaluations times.
func (g *graph) depth() (int, error) {
	growth, work := 1.0, 0
	for s, m := range g.marks {
		// How many recursive subschemas can meet on one part of the value, by
		// the part's name.
		meet, everywhere := map[string]float64{}, 0.0
		var walk func(s *jsonschema.Schema)
		walk = func(s *jsonschema.Schema) {
			if work++; work > maxEvaluations {
				return
			}
			for _, c := range children(s) {
				switch {
				case g.marks[c.schema].group != m.group:
				case c.name == "":
					everywhere++
				default:
					meet[c.name]++
				}
			}
			for _, sub := range inPlace(s) {
				walk(sub)
			}
		}
		walk(s)
		growth = max(growth, everywhere)
		for _, n := range meet {
			growth = max(growth, n+everywhere)
		}
	}
	if work > maxEvaluations {
		return 0, &DefinitionError{Reason: "references fan out too far to be checked"}
	}
	if growth == 1 {
		return 0, nil
	}
	return max(1, int(math.Log(maxEvaluations)/math.Log(growth))), nil
}

// inPlace lists the subschemas of s that apply to the same value as s.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	for _, sub := range []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else} {
		if sub != nil {
			out = append(out, sub)
		}
	}
	if s.DynamicRef != nil && s.DynamicRef.Ref != nil {
		out = append(out, s.DynamicRef.Ref)
	}
	out = append(out, s.AllOf...)
	out = append(out, s.AnyOf...)
	out = append(out, s.OneOf...)
	for _, sub := range s.DependentSchemas {
		out = append(out, sub)
	}
	for _, dep := range s.Dependencies {
		if sub, ok := dep.(*jsonschema.Schema); ok {
			out = append(out, sub)
		}
	}
	return out
}

// child is a subschema that applies to a part of the value.
type child struct {
	name   string // the property; "" for those that may meet any part
	schema *jsonschema.Schema
}

func children(s *jsonschema.Schema) []child {
	var out []child
	add := func(name string, sub any) {
		switch sub := sub.(type) {
		case *jsonschema.Schema:
			if sub != nil {
				out = append(out, child{name, sub})
			}
		case []*jsonschema.Schema:
			for _, s := range sub {
				out = append(out, child{name, s})
			}
		}
	}
	for name, sub := range s.Properties {
		add("."+name, sub)
	}
	for _, sub := range s.PatternProperties {
		add("", sub)
	}
	add("", s.AdditionalProperties)
	add("", s.UnevaluatedProperties)
	add("propertyNames", s.PropertyNames) // applies to names, which have no parts
	// Of a list of items each applies to its own place; only what applies to
	// every item can meet another on the same value.
	for i, sub := range s.PrefixItems {
		add(fmt.Sprintf("[%d]", i), sub)
	}
	if items, ok := s.Items.([]*jsonschema.Schema); ok {
		for i, sub := range items {
			add(fmt.Sprintf("[%d]", i), sub)
		}
	} else {
		add("", s.Items)
	}
	add("", s.AdditionalItems)
	add("", s.Items2020)
	add("", s.UnevaluatedItems)
	add("", s.Contains)
	add("", s.ContentSchema)
	return out
}

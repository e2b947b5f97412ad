package schema

import (
	"encoding/json"
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
	maxEvaluations = 1 << 16
	// maxChain is how many subschemas may apply to one value, one inside
	// another.
	maxChain = 256
	// maxInPlace is how many may apply to one value altogether, listed values
	// counted in part.
	maxInPlace = 1 << 11
	// light is how many of them cost next to nothing; beyond that, maxAsked is
	// how many may be asked in one check of the full library, a few
	// microseconds each.
	light    = 16
	maxAsked = 1 << 18
)

// cost is what checking a value can cost.
type cost struct {
	depth int // how deep a value may be; 0 is any depth
	parts int // how many parts it may have
}

// bound refuses a compiled schema whose checks would never end or take
// exponential time. A recursive schema that looks at a child more than once is
// accepted, for values that are not too deep.
func bound(root *jsonschema.Schema) (cost, error) {
	g := graph{marks: map[*jsonschema.Schema]*mark{}}
	m, err := g.visit(root)
	if err != nil {
		return cost{}, err
	}
	if m.size > maxExpansion {
		return cost{}, &DefinitionError{Reason: fmt.Sprintf("references fan out to more than %d subschemas", maxExpansion)}
	}
	c := cost{depth: g.depth(), parts: maxTextValues}
	if g.heaviest > light {
		c.parts = maxAsked / g.heaviest
	}
	return c, nil
}

// graph is a compiled schema as subschemas and what they lead to. It finds the
// groups of subschemas that lead to each other (Tarjan's algorithm): only
// these are looked at again on the way down a value.
type graph struct {
	marks    map[*jsonschema.Schema]*mark
	stack    []*jsonschema.Schema
	groups   int
	heaviest int // weight of any subschema
}

type mark struct {
	index, low int
	open       bool    // being visited
	group      int     // 0 while on the stack
	chain      int     // subschemas that apply one inside another to one value
	weight     int     // subschemas that apply to one value
	size       float64 // subschemas when references are written out; recursion counts once
	growth     [growthLevels + 1]float64
}

func (g *graph) visit(s *jsonschema.Schema) (*mark, error) {
	if m := g.marks[s]; m != nil {
		return m, nil
	}
	m := &mark{index: len(g.marks) + 1, low: len(g.marks) + 1, open: true, chain: 1, size: 1, weight: 1}
	if s.Enum != nil {
		m.weight += listWeight(s.Enum.Values)
	}
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
		m.weight += sm.weight
	}
	if m.weight > maxInPlace {
		return nil, &DefinitionError{Pointer: fragment(s.Location), Reason: fmt.Sprintf("more than %d subschemas and listed values apply to one value: references fan out, or a list is too long", maxInPlace)}
	}
	g.heaviest = max(g.heaviest, m.weight)
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

// listWeight is what looking through listed values costs, in subschemas.
// Numbers are compared exactly, which is slow.
func listWeight(values []any) int {
	numbers := 0
	for _, v := range values {
		if _, ok := v.(json.Number); ok {
			numbers++
		}
	}
	return numbers/3 + (len(values)-numbers)/200
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

// growthLevels is over how many levels of a value recursion is looked at.
const growthLevels = 4

// depth is how deep a value may be so that no part of it is looked at more
// than maxEvaluations times; 0 is any depth.
func (g *graph) depth() int {
	most := 1.0
	for s := range g.marks {
		most = max(most, g.growth(s, growthLevels))
	}
	if most == 1 {
		return 0
	}
	return max(growthLevels, int(growthLevels*math.Log(maxEvaluations)/math.Log(most)))
}

// growth is at most how often a part of a value, so many levels down, is looked
// at because s looks at the value once and is recursive.
func (g *graph) growth(s *jsonschema.Schema, levels int) float64 {
	if levels == 0 {
		return 1
	}
	m := g.marks[s]
	if m.growth[levels] > 0 {
		return m.growth[levels] - 1 // 0 is not known yet
	}
	// What meets on one part of the value, by the part's name.
	meet, everywhere := map[string]float64{}, 0.0
	var walk func(s *jsonschema.Schema)
	walk = func(s *jsonschema.Schema) {
		for _, c := range children(s) {
			switch {
			case g.marks[c.schema].group != m.group:
			case c.name == "":
				everywhere += g.growth(c.schema, levels-1)
			default:
				meet[c.name] += g.growth(c.schema, levels-1)
			}
		}
		for _, sub := range inPlace(s) {
			walk(sub)
		}
	}
	walk(s)
	most := everywhere
	for _, n := range meet {
		most = max(most, n+everywhere)
	}
	m.growth[levels] = most + 1
	return most
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

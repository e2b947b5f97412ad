package schema

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// own serves the keywords of s that need no other schema for the same value.
func (c *fastCompiler) own(n *node, s *jsonschema.Schema, closed bool) {
	n.types, n.maxLength, n.maxItems, n.maxNames = anyType, -1, -1, -1
	if s.Bool != nil {
		if !*s.Bool {
			n.types = 0
			return
		}
		n.items, n.extra = c.anything(), c.anything()
		if closed {
			n.extra = nil
		}
		return
	}
	if s.Types != nil {
		n.types = typeSetOf(s.Types)
	}
	c.enum(n, s)
	if s.MinLength != nil {
		n.minLength = *s.MinLength
	}
	if s.MaxLength != nil {
		n.maxLength = *s.MaxLength
	}
	n.pattern = s.Pattern
	if !c.number(n, s) {
		c.leave(n)
		return
	}
	c.array(n, s)
	c.object(n, s, closed)
}

func (c *fastCompiler) array(n *node, s *jsonschema.Schema) {
	if s.MinItems != nil {
		n.minItems = *s.MinItems
	}
	if s.MaxItems != nil {
		n.maxItems = *s.MaxItems
	}
	prefix, rest := s.PrefixItems, any(s.Items2020)
	if s.Items2020 == nil {
		rest = nil
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		rest = items
	case []*jsonschema.Schema:
		prefix, rest = items, s.AdditionalItems
	}
	for _, sub := range prefix {
		n.prefix = append(n.prefix, c.node(sub, false))
	}
	n.items = c.rest(rest)
}

func (c *fastCompiler) object(n *node, s *jsonschema.Schema, closed bool) {
	if s.MinProperties != nil {
		n.minMembers = *s.MinProperties
	}
	if s.MaxProperties != nil {
		n.maxNames = *s.MaxProperties
	}
	for _, ext := range s.Extensions {
		n.cased, _ = ext.(*cased) // unserved has looked
	}
	n.extra = c.rest(s.AdditionalProperties)
	if closed && s.AdditionalProperties == nil {
		n.extra = nil
	}
	if len(s.Properties) == 0 && len(s.Required) == 0 {
		return
	}
	at := map[string]int{}
	add := func(name string, sub *node) {
		at[name] = len(n.props)
		n.props = append(n.props, property{quoted: string(quote(name)), name: name, node: sub})
	}
	for _, name := range c.ordered(s) {
		add(name, c.node(s.Properties[name], false))
	}
	for _, name := range s.Required {
		i, ok := at[name]
		if !ok {
			// Required but not described: it is one of the others.
			i = len(n.props)
			sub := n.extra
			if sub == nil {
				sub = &node{}
			}
			if n.cased != nil {
				if _, wrong := n.cased.wrong(name); wrong {
					c.leave(n)
					return
				}
			}
			add(name, sub)
		}
		if i < maxFastProperties {
			n.required |= 1 << i
		}
	}
	if len(n.props) > maxFastProperties {
		c.leave(n)
		return
	}
	if len(n.props) > 8 {
		n.index = at
	}
}

// ordered lists the properties of s as they stand in the text, which is the
// order that models tend to send them in.
func (c *fastCompiler) ordered(s *jsonschema.Schema) []string {
	var names []string
	if rest, ok := strings.CutPrefix(s.Location, baseURI+"#"); ok {
		tokens := pointerTokens(fragment("#" + rest))
		for _, name := range c.tree.at(append(tokens, "properties")...).names() {
			if _, ok := s.Properties[name]; ok {
				names = append(names, name)
			}
		}
	}
	if len(names) != len(s.Properties) {
		names = names[:0]
		for name := range s.Properties {
			names = append(names, name)
		}
	}
	return names
}

// rest is what may stand where nothing is described: anything, nothing or
// what a schema says.
func (c *fastCompiler) rest(v any) *node {
	switch v := v.(type) {
	case bool:
		if !v {
			return nil
		}
	case *jsonschema.Schema:
		if v != nil {
			if isFalse(v) {
				return nil
			}
			return c.node(v, false)
		}
	}
	return c.anything()
}

func (c *fastCompiler) anything() *node {
	yes := fastKey{}
	if n := c.nodes[yes]; n != nil {
		return n
	}
	n := &node{types: anyType, maxLength: -1, maxItems: -1, maxNames: -1}
	n.items, n.extra = n, n
	c.nodes[yes] = n
	return n
}

func (c *fastCompiler) enum(n *node, s *jsonschema.Schema) {
	var lists [][]any
	if s.Enum != nil {
		lists = append(lists, s.Enum.Values)
	}
	if s.Const != nil {
		lists = append(lists, []any{*s.Const})
	}
	if len(lists) == 0 {
		return
	}
	if len(lists) == 2 {
		c.leave(n)
		return
	}
	e := &enum{numbers: map[decimal]bool{}}
	for _, v := range lists[0] {
		e.add(v)
	}
	if e.composite {
		c.served = false
	}
	if len(e.texts) > 8 {
		e.index = map[string]bool{}
		for _, t := range e.texts {
			e.index[t] = true
		}
	}
	n.enum = e
	n.types &= e.types()
}

func (c *fastCompiler) number(n *node, s *jsonschema.Schema) bool {
	b := numberBounds{}
	ok := decimalOf(s.Minimum, &b.minimum) && decimalOf(s.Maximum, &b.maximum) && decimalOf(s.ExclusiveMinimum, &b.above) &&
		decimalOf(s.ExclusiveMaximum, &b.below) && decimalOf(s.MultipleOf, &b.multipleOf)
	if b != (numberBounds{}) {
		b.integers()
		n.number = &b
	}
	return ok
}

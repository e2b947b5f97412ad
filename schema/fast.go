package schema

import "github.com/santhosh-tekuri/jsonschema/v6"

// The one-pass engine. A node is a subschema in a form that a walker checks
// against JSON text while reading it: no tree is built, nothing is allocated.
// Its verdict is one-sided. Yes is final; anything else only means that the
// full library decides. So a node may be stricter than its subschema, never
// laxer.
type node struct {
	types typeSet
	pass  bool // cannot say: always left to the library

	// whole, when not empty, are nodes that must each accept the same text; the
	// rest of the node is then unused.
	whole []*node
	// union, when not empty, are nodes of which one must accept the text.
	union    []*node
	disjoint bool // no type is accepted by two of them
	// gate are the types that whole or union are asked about; 0 is any.
	gate typeSet

	enum *enum

	minLength, maxLength int // maxLength -1: no limit
	pattern              jsonschema.Regexp

	number *numberBounds

	minItems, maxItems int // maxItems -1: no limit
	prefix             []*node
	items              *node // nil: no more items

	props                []property
	index                map[string]int // nil: few enough to look through
	required             uint64         // one bit per property
	minMembers, maxNames int            // maxNames -1: no limit
	extra                *node          // nil: no other properties
	cased                *cased         // other spellings of a property are refused
}

type property struct {
	quoted string // "name" with its quotes, as it stands in the text
	name   string
	node   *node
}

type numberBounds struct {
	minimum, maximum, above, below, multipleOf *decimal
	// least and most are the same bounds for plain integers, where whole says
	// that there are such: most numbers are, and need no decimals.
	whole       bool
	least, most int64
}

type enum struct {
	texts         []string
	index         map[string]bool // nil: few enough to look through
	numbers       map[decimal]bool
	null, yes, no bool
	composite     bool // arrays and objects too: left to the library
}

type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeNumber // numbers that are not integers
	typeString
	typeArray
	typeObject

	anyType typeSet = 1<<iota - 1
)

const maxFastProperties = 64

// compileFast turns a compiled schema into nodes. served reports whether they
// cover every keyword of it; nil means that not even the root is covered.
func compileFast(full *jsonschema.Schema, tree *value) (root *node, served bool) {
	c := fastCompiler{tree: tree, nodes: map[fastKey]*node{}, served: true}
	root = c.node(full, false)
	if root.pass {
		return nil, false
	}
	return root, c.served
}

type fastCompiler struct {
	tree   *value
	nodes  map[fastKey]*node
	served bool
}

// fastKey tells two uses of one subschema apart: closed is whether every
// property must be named by it, because an unevaluatedProperties: false above
// it says so.
type fastKey struct {
	schema *jsonschema.Schema
	closed bool
}

func (c *fastCompiler) node(s *jsonschema.Schema, closed bool) *node {
	key := fastKey{s, closed}
	if n := c.nodes[key]; n != nil {
		return n
	}
	n := &node{}
	c.nodes[key] = n // before its parts: a schema may be recursive
	c.fill(n, s, closed)
	return n
}

func (c *fastCompiler) leave(n *node) {
	c.served = false
	*n = node{pass: true}
}

func (c *fastCompiler) fill(n *node, s *jsonschema.Schema, closed bool) {
	if unserved(s) {
		c.leave(n)
		return
	}
	if s.UnevaluatedProperties != nil {
		if !isFalse(s.UnevaluatedProperties) {
			c.leave(n)
			return
		}
		closed = true
	}
	old := s.DraftVersion < 2019 && s.Ref != nil // hides everything beside it
	var subs []*jsonschema.Schema
	if s.Ref != nil {
		subs = append(subs, s.Ref)
	}
	if !old {
		subs = append(subs, s.AllOf...)
	}
	bare := old || !asserts(s)
	if t := typeSetOf(s.Types); !bare && onlyTypes(s) && t&(typeInteger|typeNumber) != typeInteger {
		bare, n.gate = true, t
	}
	unions := 0
	if !old {
		unions = min(len(s.AnyOf), 1) + min(len(s.OneOf), 1)
	}

	switch {
	case len(subs) == 0 && unions == 0:
		n.gate = 0
		c.own(n, s, closed)
	case bare && len(subs) == 1 && unions == 0:
		n.types = anyType
		n.whole = []*node{c.node(subs[0], closed)}
	case bare && len(subs) == 0 && unions == 1:
		c.union(n, s, closed)
	case closed && len(s.Properties) == 0:
		// Which properties are named depends on several parts together.
		c.leave(n)
	default:
		// It is enough that s itself names every property.
		n.types, n.gate = anyType, 0
		n.whole = append(n.whole, c.extraNode(func(own *node) { c.own(own, s, closed) }))
		for _, sub := range subs {
			n.whole = append(n.whole, c.node(sub, false))
		}
		if len(s.AnyOf) > 0 {
			n.whole = append(n.whole, c.extraNode(func(u *node) { c.union(u, &jsonschema.Schema{AnyOf: s.AnyOf}, false) }))
		}
		if len(s.OneOf) > 0 {
			n.whole = append(n.whole, c.extraNode(func(u *node) { c.union(u, &jsonschema.Schema{OneOf: s.OneOf}, false) }))
		}
	}
}

func (c *fastCompiler) extraNode(fill func(*node)) *node {
	n := &node{}
	fill(n)
	return n
}

// union serves anyOf, and oneOf where the type alone says which branch it is.
func (c *fastCompiler) union(n *node, s *jsonschema.Schema, closed bool) {
	branches := s.AnyOf
	if len(branches) == 0 {
		branches = s.OneOf
	}
	n.disjoint = true
	for _, b := range branches {
		sub := c.node(b, closed)
		types := sub.resolved(0)
		if n.types&types != 0 {
			n.disjoint = false
		}
		n.types |= types
		n.union = append(n.union, sub)
	}
	if !n.disjoint && len(s.OneOf) > 0 {
		c.leave(n)
	}
}

// resolved is the set of types that a node accepts, seen through references.
func (n *node) resolved(depth int) typeSet {
	if n.pass || depth > 16 || n.types == 0 && n.whole == nil {
		return anyType
	}
	types := n.types
	if len(n.whole) == 1 {
		types = n.whole[0].resolved(depth + 1)
	}
	if n.gate != 0 {
		types &= n.gate
	}
	return types
}

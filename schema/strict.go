package schema

import (
	"slices"
)

// strict rewrites a schema for the arguments of a call, so that the full
// library and the one-pass engine both see what is asked of them. The root is
// an object. An object whose schema names properties and is silent on others is
// closed:
//
//   - one that stands alone gets additionalProperties: false;
//   - one that is composed ($ref, allOf, anyOf, if, …) gets
//     unevaluatedProperties: false where the composition begins, so that it is
//     counted as a whole. Draft 7 has no such keyword: its schemas are first
//     rewritten to mean the same in 2020-12.
//
// One that stays open gets a keyword of ours that refuses wrong-case names.
func strict(root *value, o Options) rewritten {
	root = root.clone()
	if !root.isObject() {
		if root.kind == 't' {
			root = object(member{"type", str("object")})
		}
		return rewritten{tree: root}
	}
	draft := draftIn(root, o)
	c := &closer{doc: newDocument(root, draft), old: draft < 2019, open: o.Open}
	out := rewritten{tree: root}
	if draft == 7 && c.composed() {
		upgradeDocument(c.doc)
		c.old, out.upgraded = false, true
	}
	if !c.old || root.get("$ref") == nil {
		if types := typesOf(root.get("type")); len(types) == 0 || slices.Contains(types, "object") {
			root.set("type", str("object"))
		}
	}
	c.close(root)
	for _, s := range c.doc.hidden {
		c.parts(s)
	}
	out.cased = c.cased
	return out
}

// rewritten is what became of a schema.
type rewritten struct {
	tree     *value
	upgraded bool // it was of draft 7, and is of 2020-12
	cased    bool // it has our own keyword
}

// draftIn is the draft that a document is of.
func draftIn(root *value, o Options) int {
	if root.get("$schema") == nil && o.Draft7 {
		return 7
	}
	return draftOf(root.get("$schema"))
}

type closer struct {
	doc   *document
	old   bool // $ref hides its siblings
	open  bool // only wrong-case names are refused
	cased bool // such names were written down
	steps int  // taken so far
}

// maxSteps bounds what looking through references may cost.
const maxSteps = 1 << 20

// close closes the object schema s, where one value begins, and the schemas of
// every part of that value.
func (c *closer) close(s *value) {
	if !s.isObject() {
		return
	}
	c.parts(s)
	n := c.namesIn(s)
	if len(n.properties) == 0 {
		return
	}
	if c.open || s.get("additionalProperties") != nil || s.get("unevaluatedProperties") != nil {
		if !c.old || s.get("$ref") == nil {
			s.set(casedKeyword, object(member{"names", strs(n.properties)}, member{"patterns", strs(n.patterns)}))
			c.cased = true
		}
		return
	}
	c.admitRequired(s, n)
	if !composes(s) {
		s.set("additionalProperties", boolean(false))
		return
	}
	if c.old {
		return // drafts 4 and 6 cannot say it
	}
	if !c.namesBesideUnions(s) {
		c.openBranches(s)
	}
	s.set("unevaluatedProperties", boolean(false))
}

// admitRequired names what is required without being described: else it could
// be neither given nor left out.
func (c *closer) admitRequired(s *value, n said) {
	if c.old && s.get("$ref") != nil {
		return
	}
	for _, name := range n.required {
		if slices.Contains(n.properties, name) {
			continue
		}
		props := s.get("properties")
		if !props.isObject() {
			props = object()
			s.set("properties", props)
		}
		props.set(name, boolean(true))
	}
}

// openBranches keeps the branches of a union open that name no property: a
// value may be this object, or any.
func (c *closer) openBranches(s *value) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		list := s.get(keyword)
		if list == nil {
			continue
		}
		for i, branch := range list.items {
			if branch.kind == 't' {
				branch = object()
				list.items[i] = branch
			}
			types := typesOf(branch.get("type"))
			mayBeObject := len(types) == 0 || slices.Contains(types, "object")
			if branch.isObject() && mayBeObject && !composes(branch) && branch.get("additionalProperties") == nil && len(c.namesIn(branch).properties) == 0 {
				branch.set("additionalProperties", boolean(true))
			}
		}
	}
}

// parts closes what is inside s, but not s itself: a value is closed where the
// composition that applies to it begins. Conditions are left alone, because a
// condition that takes less lets more through.
func (c *closer) parts(s *value) {
	if !s.isObject() {
		return
	}
	eachSubschema(s, func(keyword string, where position, sub *value) {
		switch {
		case conditional(keyword) || keyword == "contains":
		case where == part:
			c.close(sub)
		default:
			c.parts(sub)
		}
	})
}

// conditional reports whether a keyword's schema asks, and does not tell.
func conditional(keyword string) bool { return keyword == "not" || keyword == "if" }

// said is what a schema, and all it is composed of, says about properties.
type said struct{ properties, patterns, required []string }

func (c *closer) namesIn(s *value) said {
	var n said
	c.gather(s, &n, map[*value]bool{}, nil)
	n.properties, n.required = distinct(n.properties), distinct(n.required)
	return n
}

func distinct(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// namesBesideUnions reports whether a property is named outside of anyOf and
// oneOf.
func (c *closer) namesBesideUnions(s *value) bool {
	var n said
	c.gather(s, &n, map[*value]bool{}, []string{"anyOf", "oneOf"})
	return len(n.properties) > 0
}

// gather adds what s says, and what it is composed of, but for the keywords
// left out.
func (c *closer) gather(s *value, n *said, seen map[*value]bool, without []string) {
	if c.steps++; !s.isObject() || seen[s] || c.steps > maxSteps {
		return
	}
	seen[s] = true
	if ref := s.get("$ref"); ref.isString() {
		c.gather(c.doc.target(s, ref.text), n, seen, without)
		if c.old {
			return
		}
	}
	if ref := s.get("$dynamicRef"); ref.isString() {
		c.gather(c.doc.target(s, ref.text), n, seen, without)
	}
	n.properties = append(n.properties, s.get("properties").names()...)
	n.patterns = append(n.patterns, s.get("patternProperties").names()...)
	n.required = append(n.required, s.get("required").strings()...)
	if deps := s.get("dependentRequired"); deps.isObject() {
		for _, m := range deps.members {
			n.required = append(append(n.required, m.name), m.value.strings()...)
		}
	}
	eachSubschema(s, func(keyword string, where position, sub *value) {
		if where == same && !conditional(keyword) && !slices.Contains(without, keyword) {
			c.gather(sub, n, seen, without)
		}
	})
}

// composed reports whether any object of the document would have to be closed
// across a composition.
func (c *closer) composed() bool {
	for s := range c.doc.owners {
		if composes(s) && (c.open || s.get("additionalProperties") == nil) && len(c.namesIn(s).properties) > 0 {
			return true
		}
	}
	return false
}

// composes reports whether other schemas apply to the same value as s.
func composes(s *value) bool {
	if s.get("$ref") != nil || s.get("$dynamicRef") != nil || s.get("$recursiveRef") != nil {
		return true
	}
	found := false
	eachSubschema(s, func(keyword string, where position, _ *value) {
		found = found || where == same && !conditional(keyword)
	})
	return found
}

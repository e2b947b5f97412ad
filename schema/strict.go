package schema

import (
	"slices"
	"strings"
)

// strict rewrites a schema for the arguments of a call, so that the full
// library and the one-pass engine both see what is asked of them. An object
// whose schema names properties and is silent on others is closed:
//
//   - one that stands alone gets additionalProperties: false;
//   - one that is composed ($ref, allOf, anyOf, if, …) gets
//     unevaluatedProperties: false where the composition begins, so that it is
//     counted as a whole. Draft 7 has no such keyword: its schemas are first
//     rewritten to mean the same in 2020-12.
//
// One that stays open gets a keyword of ours that refuses wrong-case names.
func strict(root *value, o Options) (out *value, upgraded bool) {
	if !root.isObject() {
		return root, false
	}
	root = root.clone()
	draft := draftIn(root, o)
	c := &closer{doc: newDocument(root, draft), old: draft < 2019, open: o.Open}
	if draft == 7 && !o.Open && c.composed(root) {
		upgrade(root)
		root.set("$schema", str("https://json-schema.org/draft/2020-12/schema"))
		c.old, upgraded = false, true
	}
	c.close(root)
	return root, upgraded
}

// draftIn is the draft that a document is of.
func draftIn(root *value, o Options) int {
	if root.get("$schema") == nil && o.Draft7 {
		return 7
	}
	return draftOf(root.get("$schema"))
}

// dropHidden removes, beside each $ref, the keywords that draft 7 hides and the
// library does not.
func dropHidden(s *value) {
	if !s.isObject() {
		return
	}
	if s.get("$ref").isString() {
		for _, keyword := range []string{"const", "contains", "propertyNames", "if", "then", "else"} {
			s.drop(keyword)
		}
	}
	eachSubschema(s, func(_ string, _ position, sub *value) { dropHidden(sub) })
}

type closer struct {
	doc   *document
	old   bool // $ref hides its siblings
	open  bool // only wrong-case names are refused
	steps int  // taken so far
}

// maxSteps bounds what looking through references may cost. Past it every
// object counts as one that names properties, and is closed.
const maxSteps = 1 << 20

// close closes the object schema s, where one value begins, and the schemas of
// every part of that value.
func (c *closer) close(s *value) {
	if !s.isObject() {
		return
	}
	c.parts(s)
	silent := s.get("additionalProperties") == nil && s.get("unevaluatedProperties") == nil
	switch {
	case c.open || !silent:
		hidden := c.old && s.get("$ref") != nil
		if names := s.get("properties").names(); len(names) > 0 && s.get("patternProperties") == nil && !hidden {
			s.set(casedKeyword, strs(names))
		}
	case !c.names(s, map[*value]bool{}):
	case composes(s):
		s.set("unevaluatedProperties", boolean(false))
	default:
		s.set("additionalProperties", boolean(false))
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
		case keyword == "not" || keyword == "if" || keyword == "contains":
		case where == part:
			c.close(sub)
		default:
			c.parts(sub)
		}
	})
}

// names reports whether s, or what it is composed of, names a property.
func (c *closer) names(s *value, seen map[*value]bool) bool {
	if !s.isObject() || seen[s] {
		return false
	}
	if c.steps++; c.steps > maxSteps {
		return true
	}
	seen[s] = true
	if ref := s.get("$ref"); ref.isString() {
		if c.names(c.target(s, ref.text), seen) {
			return true
		}
		if c.old {
			return false
		}
	}
	if p := s.get("properties"); p.isObject() && len(p.members) > 0 {
		return true
	}
	found := false
	eachSubschema(s, func(keyword string, where position, sub *value) {
		found = found || where == same && keyword != "not" && c.names(sub, seen)
	})
	return found
}

// composed reports whether any object of the schema would have to be closed
// across a composition.
func (c *closer) composed(s *value) bool {
	if !s.isObject() {
		return false
	}
	if composes(s) && s.get("additionalProperties") == nil && c.names(s, map[*value]bool{}) {
		return true
	}
	found := false
	eachSubschema(s, func(_ string, _ position, sub *value) { found = found || c.composed(sub) })
	return found
}

// composes reports whether other schemas apply to the same value as s.
func composes(s *value) bool {
	if s.get("$ref") != nil || s.get("$dynamicRef") != nil || s.get("$recursiveRef") != nil {
		return true
	}
	found := false
	eachSubschema(s, func(keyword string, where position, _ *value) { found = found || where == same && keyword != "not" })
	return found
}

// target is what a reference in s leads to; what is not in the document counts
// as naming nothing, and is refused when the schema is compiled.
func (c *closer) target(s *value, ref string) *value {
	at, err := c.doc.resolve(ref, c.doc.owners[s])
	if err != nil {
		return nil
	}
	return at.schema
}

// upgrade rewrites a schema of draft 7, in place, so that it means the same
// when read as 2020-12.
func upgrade(s *value) {
	if !s.isObject() {
		return
	}
	for _, unknown := range []string{
		"unevaluatedProperties", "unevaluatedItems", "dependentRequired", "dependentSchemas", "prefixItems", "minContains", "maxContains",
		"$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef",
	} {
		s.drop(unknown)
	}
	if s.get("$ref").isString() {
		// Before 2019-09 whatever stands beside $ref is ignored; what can be
		// pointed at stays.
		s.members = slices.DeleteFunc(s.members, func(m member) bool {
			return !slices.Contains([]string{"$ref", "$schema", "definitions", "$defs", "title", "description"}, m.name)
		})
	}
	s.drop("$schema") // the root gets the new one
	if ref := s.get("$ref"); ref.isString() {
		s.set("$ref", str(upgradePointer(ref.text)))
	}
	if id := s.get("$id"); id.isString() {
		if base, anchor, ok := strings.Cut(id.text, "#"); ok {
			s.drop("$id")
			if base != "" {
				s.set("$id", str(base))
			}
			if anchor != "" {
				s.set("$anchor", str(anchor))
			}
		}
	}
	if items := s.get("items"); items.isArray() {
		s.set("prefixItems", items)
		s.drop("items")
		if rest := s.get("additionalItems"); rest != nil {
			s.set("items", rest)
		}
		if len(items.items) == 0 {
			s.drop("prefixItems") // 2020-12 wants at least one
		}
	}
	s.drop("additionalItems")
	upgradeDependencies(s)
	eachSubschema(s, func(_ string, _ position, sub *value) { upgrade(sub) })
}

// upgradePointer rewrites a reference by pointer to where upgrade puts things.
func upgradePointer(ref string) string {
	tokens := strings.Split(ref, "/")
	if tokens[0] != "#" {
		return ref
	}
	for i := 1; i < len(tokens); i++ {
		switch tokens[i] {
		case "properties", "patternProperties", "definitions", "$defs":
			i++ // a name follows, not a keyword
		case "dependencies":
			tokens[i] = "dependentSchemas"
			i++
		case "additionalItems":
			tokens[i] = "items"
		case "items":
			if i+1 < len(tokens) && tokens[i+1] != "" && strings.Trim(tokens[i+1], "0123456789") == "" {
				tokens[i] = "prefixItems"
			}
		}
	}
	return strings.Join(tokens, "/")
}

func upgradeDependencies(s *value) {
	deps := s.get("dependencies")
	if !deps.isObject() {
		return
	}
	s.drop("dependencies")
	required, schemas := object(), object()
	for _, m := range deps.members {
		if m.value.isArray() {
			required.set(m.name, m.value)
		} else {
			schemas.set(m.name, m.value)
		}
	}
	s.set("dependentRequired", required)
	s.set("dependentSchemas", schemas)
}

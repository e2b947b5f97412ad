package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Normalise mends a schema that was not written for JSON Schema: names of types
// from other languages, "required" and "optional" on a property, null for
// "none", and keywords whose value is of no use. What it cannot read it
// removes, so that the result accepts more; everything is listed. A schema
// without such faults comes back as it was.
func Normalise(text []byte) (json.RawMessage, []Change, error) {
	tree, err := parseSchema(string(text))
	if err != nil {
		return nil, nil, err
	}
	if !tree.isObject() {
		return nil, nil, &DefinitionError{Reason: "got " + string(tree.json()) + ", want an object"}
	}
	n := normaliser{
		draft:    draftOf(tree.get("$schema")),
		moved:    map[*value]string{},
		patterns: patterns{known: map[string]*regexp.Regexp{}},
	}
	n.findRefs(tree)
	if uri := tree.get("$schema"); uri != nil && !uri.isString() {
		tree.drop("$schema")
		n.note("", "removed $schema: got %s, want a string", clip(string(uri.json()), 40))
	}
	n.schema(tree, "")
	return tree.json(), n.changes, nil
}

type normaliser struct {
	draft   int
	changes []Change
	moved   map[*value]string // where schemas stood that stand elsewhere now
	refs    []string          // every reference in the document

	patterns patterns
}

func (n *normaliser) note(ptr, format string, args ...any) {
	n.changes = append(n.changes, Change{Pointer: shortPlace(ptr), What: fmt.Sprintf(format, args...)})
}

// schema mends one schema and what is inside it.
func (n *normaliser) schema(s *value, ptr string) {
	if !s.isObject() {
		return
	}
	ptr = shortPlace(ptr)
	n.types(s, ptr)
	n.nullable(s, ptr)
	n.nullDefault(s, ptr)
	n.exclusive(s, ptr)
	n.properties(s, ptr)
	n.required(s, ptr)
	n.items(s, ptr)
	n.values(s, ptr)
	n.itemValues(s, ptr)
	n.shapes(s, ptr)
	eachChild(s, func(at string, sub *value) {
		if was, ok := n.moved[sub]; ok {
			n.schema(sub, was)
			return
		}
		n.schema(sub, ptr+at)
	})
}

// types turns foreign names of types into those of JSON Schema.
func (n *normaliser) types(s *value, ptr string) {
	was := s.get("type")
	if was == nil || typeShape.fits(was) == "" && unique(was) {
		return
	}
	shown := clip(string(was.json()), 80)
	var means *value
	switch {
	case was.isString() && strings.EqualFold(strings.TrimSpace(was.text), "enum") && s.get("enum").isArray():
		s.drop("type")
		n.note(ptr, "removed type %s: the enum says it", shown)
		return
	case was.isString():
		means = readType(was.text, 0)
	case was.isArray() && len(was.items) > 0 && len(was.strings()) == len(was.items):
		means = readUnion(was.strings(), 0)
	}
	if means == nil || means.get("type") == nil && means.get("anyOf") == nil {
		s.drop("type")
		if means == nil {
			n.note(ptr, "removed type %s, which is unknown: any value is accepted", shown)
		} else {
			n.note(ptr, "removed type %s: any value is accepted", shown)
		}
		return
	}
	// What the schema says itself counts more than what the name implies.
	for _, key := range []string{"items", "prefixItems", "additionalProperties", "anyOf", "format"} {
		v := means.get(key)
		if v == nil || s.get(key) != nil || key == "prefixItems" && s.get("items") != nil || key == "additionalProperties" && s.get("properties") != nil {
			continue
		}
		if key == "prefixItems" && n.draft < 2020 {
			key = "items"
		}
		s.set(key, v)
	}
	if kind := means.get("type"); kind != nil {
		s.set("type", kind)
		n.note(ptr, "type %s became %s", shown, kind.json())
		return
	}
	s.drop("type")
	n.note(ptr, "type %s became anyOf", shown)
}

// exclusive turns the booleans of draft 4 into the bounds themselves.
func (n *normaliser) exclusive(s *value, ptr string) {
	if n.draft == 4 {
		return
	}
	for _, pair := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		was, bound := s.get(pair[0]), s.get(pair[1])
		if !was.isBool() {
			continue
		}
		s.drop(pair[0])
		if was.kind == 't' && bound.isNumber() {
			s.drop(pair[1])
			s.set(pair[0], bound)
			n.note(ptr, "%s with %s: true became %s: %s", pair[1], pair[0], pair[0], bound.text)
			continue
		}
		n.note(ptr, "removed %s: %s", pair[0], was.json())
	}
}

// items turns a list of items into prefixItems, which it became in 2020-12.
func (n *normaliser) items(s *value, ptr string) {
	was := s.get("items")
	switch {
	case was == nil || was.kind == 'n' || isSchema(was):
		return
	case !was.isArray():
		s.set("items", n.asSchema(was, ptr+"/items"))
		return
	}
	for i, item := range was.items {
		at := ptr + pointer("items", strconv.Itoa(i))
		was.items[i] = n.asSchema(item, at)
		n.moved[was.items[i]] = at
	}
	if n.draft < 2020 {
		return
	}
	s.drop("items")
	n.note(ptr+"/items", "a list became prefixItems")
	if rest := s.get("additionalItems"); rest != nil {
		s.drop("additionalItems")
		rest = n.asSchema(rest, ptr+"/additionalItems")
		n.moved[rest] = ptr + "/additionalItems"
		s.set("items", rest)
	}
	if len(was.items) > 0 && s.get("prefixItems") == nil {
		s.set("prefixItems", was)
	}
}

package schema

import "strconv"

// position says to which value a subschema applies.
type position uint8

const (
	part       position = iota // a part of the value that its parent applies to
	same                       // that value itself
	definition                 // none, until it is referred to
)

func positionOf(keyword string) position {
	switch keyword {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
		return same
	case "$defs", "definitions":
		return definition
	}
	return part
}

// eachSubschema calls fn with every schema directly inside s, wherever a draft
// from 4 on keeps one.
func eachSubschema(s *value, fn func(keyword string, where position, sub *value)) {
	for _, m := range s.members {
		where := positionOf(m.name)
		inside(m, func(_ string, sub *value) { fn(m.name, where, sub) })
	}
}

// eachChild calls fn with every schema directly inside s and its place.
func eachChild(s *value, fn func(ptr string, sub *value)) {
	for _, m := range s.members {
		inside(m, fn)
	}
}

// inside calls fn with every schema that a keyword holds.
func inside(m member, fn func(ptr string, sub *value)) {
	sh := vocabulary[m.name].shape
	if positionOf(m.name) == definition {
		sh = schemaMapShape
	}
	switch sh {
	case schemaShape, schemasShape, itemsShape:
		if !m.value.isArray() {
			fn(pointer(m.name), m.value)
		}
		for i, item := range m.value.items {
			fn(pointer(m.name, strconv.Itoa(i)), item)
		}
	case schemaMapShape, dependShape:
		for _, named := range m.value.members {
			fn(pointer(m.name, named.name), named.value)
		}
	default: // no schema inside
	}
}

// mentions reports whether a keyword stands anywhere in a schema.
func mentions(s *value, keyword string) bool {
	if !s.isObject() {
		return false
	}
	found := s.get(keyword) != nil
	eachChild(s, func(_ string, sub *value) { found = found || mentions(sub, keyword) })
	return found
}

package schema

// position says to which value a subschema applies.
type position uint8

const (
	definition position = iota + 1 // none, until it is referred to
	same                           // the value that its parent applies to
	part                           // a part of that value
)

// subschemaPosition is where JSON Schema keeps schemas inside schemas, in every draft
// from 4 on. The keywords of draft 2019-09 and later are harmless in older
// ones, which ignore them.
func subschemaPosition(keyword string) position {
	switch keyword {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
		return same
	case "properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames",
		"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains":
		return part
	case "$defs", "definitions":
		return definition
	}
	return 0
}

// eachSubschema calls f with every schema directly inside s.
func eachSubschema(s *value, f func(keyword string, where position, sub *value)) {
	for _, m := range s.members {
		where := subschemaPosition(m.name)
		if where == 0 {
			continue
		}
		switch m.name {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			for _, named := range m.value.members {
				f(m.name, where, named.value)
			}
		default:
			if m.value.isArray() {
				for _, item := range m.value.items {
					f(m.name, where, item)
				}
			} else {
				f(m.name, where, m.value)
			}
		}
	}
}

// mentions reports whether a keyword stands anywhere in a schema.
func mentions(s *value, keyword string) bool {
	if !s.isObject() {
		return false
	}
	found := s.get(keyword) != nil
	eachSubschema(s, func(_ string, _ position, sub *value) { found = found || mentions(sub, keyword) })
	return found
}

package schema

import "slices"

// typeOfKeyword is the type whose values a keyword is about.
func typeOfKeyword(name string) string {
	switch name {
	case "properties", "patternProperties", "additionalProperties", "required", "minProperties", "maxProperties",
		"propertyNames", "dependentRequired", "dependentSchemas":
		return "object"
	case "items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains":
		return "array"
	case "minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType":
		return "string"
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return "number"
	}
	return ""
}

// remark reports whether a keyword only tells a reader something.
func remark(name string) bool {
	return slices.Contains([]string{"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}, name)
}

// unions writes a schema with anyOf, or with more than one type, for a dialect
// in which nothing stands beside anyOf; nil where that is not needed.
func (w *writing) unions() *value {
	var branches []*value
	switch {
	case w.dialect.loneAnyOf && w.in.get("anyOf") != nil:
		branches = w.distribute()
	case w.dialect.oneType:
		branches = w.split()
	}
	if branches == nil {
		return nil
	}
	if !w.reserve(len(branches)) {
		return w.tooLarge(w.in)
	}
	w.move(branches)
	list := array()
	for _, b := range branches {
		sub := w.write(b, w.depth+2)
		if inner := sub.get("anyOf"); inner != nil && len(sub.members) == 1 {
			list.items = append(list.items, inner.items...)
		} else {
			list.items = append(list.items, sub)
		}
	}
	if len(list.items) == 1 {
		return list.items[0]
	}
	return object(member{"anyOf", list})
}

// distribute puts what stands beside anyOf into each of its branches.
func (w *writing) distribute() []*value {
	rest := w.new(w.ptr)
	for _, m := range w.in.members {
		if m.name != "anyOf" && !remark(m.name) {
			rest.members = append(rest.members, m)
		}
	}
	var out []*value
	for _, b := range w.in.get("anyOf").items {
		if v := w.conj(b, rest); v != nil {
			out = append(out, w.new(w.origin[v], slices.Clone(v.list())...))
		}
	}
	if out == nil {
		w.widen(w.ptr, "removed what stands beside anyOf and excludes it")
		for _, b := range w.in.get("anyOf").items {
			out = append(out, w.new(w.origin[b], slices.Clone(b.list())...))
		}
	}
	return out
}

// split makes a branch of each type. A schema that names no type but says
// something of one accepts the others as they are.
func (w *writing) split() []*value {
	types := typesOf(w.in.get("type"))
	if len(types) == 0 {
		for _, m := range w.in.members {
			if t := typeOfKeyword(m.name); t != "" && w.dialect.has(m.name) {
				types = unionOf(types, []string{t})
			}
		}
		if len(types) == 0 {
			return nil
		}
		types = unionOf(types, []string{"string", "number", "boolean", "object", "array", "null"})
	}
	if slices.Contains(types, "number") {
		types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "integer" })
	}
	if len(types) < 2 {
		if len(types) == 1 {
			w.in.set("type", str(types[0]))
		}
		return nil
	}
	var out []*value
	for _, t := range types {
		b := w.new(w.ptr, member{"type", str(t)})
		for _, m := range w.in.members {
			of := typeOfKeyword(m.name)
			if m.name == "type" || remark(m.name) || of != "" && of != t && (of != "number" || t != "integer") {
				continue
			}
			if m.name == "format" && !slices.Contains([]string{"string", "number", "integer"}, t) {
				continue // it is not about these
			}
			if m.name == "enum" {
				if t == "null" {
					continue // it has one value
				}
				w.toil(len(m.value.items))
				m.value = ofTypes(m.value, []string{t})
			}
			b.members = append(b.members, m)
		}
		out = append(out, b)
	}
	return out
}

// move gives the remarks on a union to its first branch that is not null.
func (w *writing) move(branches []*value) {
	first := branches[0]
	for _, b := range branches {
		if t := b.get("type"); !t.isString() || t.text != "null" {
			first = b
			break
		}
	}
	for _, m := range w.in.members {
		switch {
		case !remark(m.name):
		case m.name == "description" && first.get("description").isString():
			own := first.get("description").text
			first.set("description", m.value)
			describe(first, own)
		case first.get(m.name) == nil:
			first.set(m.name, m.value)
		}
	}
}

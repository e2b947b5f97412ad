package schema

import "slices"

// maxHint is how long a part may be that is put into a description because
// the dialect has no other place for it.
const maxHint = 400

// foldRoot makes the root what every provider wants it to be: an object
// without a union around it.
func (f *flattener) foldRoot(root *value) (*value, error) {
	out := f.objectOnly(root)
	if out == nil {
		return nil, &DefinitionError{Reason: "accepts no object, and arguments are one"}
	}
	for _, key := range f.dialect.notAtRoot {
		v := out.get(key)
		if v == nil {
			continue
		}
		out.drop(key)
		f.widen(f.origin[out], "removed %s, which the root may not have", key)
		if text := string(v.json()); len(text) <= maxHint {
			describe(out, map[string]string{"enum": "One of: ", "const": "Always: ", "not": "But not: "}[key]+text+".")
		}
	}
	return out, nil
}

// objectOnly is a schema that accepts the objects that s accepts, without a
// union; nil if there are none.
func (f *flattener) objectOnly(s *value) *value {
	if s.kind == 'f' {
		return nil
	}
	out := f.new(f.origin[s])
	if s.isObject() {
		out.members = slices.Clone(s.members)
	}
	if t := out.get("type"); t != nil && !slices.Contains(typesOf(t), "object") {
		return nil
	}
	if list := valuesOf(out); list != nil && !slices.ContainsFunc(list.items, (*value).isObject) {
		return nil
	}
	out.drop("type")
	out.members = slices.Insert(out.members, 0, member{"type", str("object")})
	for _, key := range []string{"anyOf", "oneOf"} {
		branches := out.get(key)
		if branches == nil {
			continue
		}
		out.drop(key)
		one := f.hull(branches.items, f.origin[out])
		if one == nil {
			return nil
		}
		if out = f.both(out, one, f.origin[out]); out.kind == 'f' {
			return nil
		}
		if text := string(branches.json()); len(text) <= maxHint {
			describe(out, map[string]string{"anyOf": "At least", "oneOf": "Exactly"}[key]+" one of these must hold: "+text+".")
		}
	}
	return out
}

// hull is one object schema that accepts what any of the branches accepts. A
// property that one branch describes and another leaves open has to stay open.
func (f *flattener) hull(branches []*value, ptr string) *value {
	var list []*value
	for _, b := range branches {
		if b = f.objectOnly(b); b != nil {
			list = append(list, b)
		}
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	f.widen(ptr, "a union at the root became one object that accepts each of its forms")

	var names, required []string
	closed := true
	for i, b := range list {
		names = unionOf(names, b.get("properties").names())
		if own := b.get("required").strings(); i == 0 {
			required = own
		} else {
			required = slices.DeleteFunc(slices.Clone(required), func(n string) bool { return !slices.Contains(own, n) })
		}
		rest := b.get("additionalProperties")
		closed = closed && rest != nil && rest.kind == 'f' && b.get("patternProperties") == nil
	}
	props := object()
	m := merge{flattener: f}
	for _, name := range names {
		if v := f.anyOf(apply(list, func(b *value) *value { return m.property(b, name) }), ptr); v != nil {
			props.members = append(props.members, member{name, v})
		}
	}
	out := f.new(ptr, member{"properties", props})
	if len(required) > 0 {
		out.set("required", strs(required))
	}
	if closed {
		out.set("additionalProperties", boolean(false))
	}
	return out
}

// anyOf joins schemas of one property, of which nil is an open one; nil if
// none accepts anything.
func (f *flattener) anyOf(list []*value, ptr string) *value {
	var distinct []*value
	open := false
	for _, v := range list {
		switch {
		case v == nil || v.kind == 't':
			open = true
		case v.kind == 'f', slices.ContainsFunc(distinct, v.equal):
		default:
			distinct = append(distinct, v)
		}
	}
	switch {
	case open:
		out := f.new(ptr)
		for _, v := range distinct {
			if text := v.get("description"); text.isString() && out.get("description") == nil {
				out.set("description", text)
			}
		}
		return out
	case len(distinct) == 0:
		return nil
	case len(distinct) == 1:
		return distinct[0]
	}
	if list := onlyValues(distinct); list != nil {
		return f.new(f.origin[distinct[0]], member{"enum", list})
	}
	return f.new(f.origin[distinct[0]], member{"anyOf", array(distinct...)})
}

// onlyValues lists the values of schemas that are nothing but a const or an
// enum: the tags of a union.
func onlyValues(list []*value) *value {
	out := array()
	for _, s := range list {
		values := valuesOf(s)
		if values == nil || len(s.members) > 1 {
			return nil
		}
		for _, v := range values.items {
			if !slices.ContainsFunc(out.items, v.equal) {
				out.items = append(out.items, v)
			}
		}
	}
	return out
}

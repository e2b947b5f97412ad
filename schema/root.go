package schema

import "slices"

// maxHint is how long a part may be that is put into a description because
// the dialect has no other place for it.
const maxHint = 400

// maxForms is how many branches a root may have, those of branches counted in.
const maxForms = 1 << 12

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
		if text, ok := brief(v); ok {
			describe(out, map[string]string{"enum": "One of: ", "const": "Always: ", "not": "But not: "}[key]+text+".")
		}
	}
	return out, nil
}

// empty reports whether the root, before it was put into a dialect, takes no
// properties: it names none and asks for none. One that says that it takes any
// is not empty.
func (f *flattener) empty(root *value) bool {
	return !f.cut && !f.union && !slices.ContainsFunc(root.members, func(m member) bool {
		switch m.name {
		case "type", "maxProperties":
			return false
		case "properties":
			return slices.ContainsFunc(m.value.members, func(p member) bool { return p.value.kind != 'f' })
		case "additionalProperties":
			return m.value.kind != 'f'
		}
		return !remark(m.name)
	})
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
		if text, ok := brief(branches); ok {
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
		// Branches share parts, so that walking all can take exponential time.
		if f.forms++; f.forms > maxForms {
			return f.open(nil, ptr, "more than %d forms of the root; they are left open", maxForms)
		}
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
	f.union = true

	var names []string
	known := map[string]bool{}
	required := list[0].get("required").strings()
	closed := true
	for _, b := range list {
		for _, name := range b.get("properties").names() {
			if !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
		own := set(b.get("required").strings()...)
		required = slices.DeleteFunc(required, func(n string) bool { return !own[n] })
		rest := b.get("additionalProperties")
		closed = closed && rest != nil && rest.kind == 'f' && b.get("patternProperties") == nil
		f.toil(len(known) + len(own))
	}
	props := object()
	find := apply(list, propertiesOf)
	for _, name := range names {
		if f.toil(len(list)); f.work > maxWork {
			return f.open(nil, ptr, "the forms of the root are too large; they are left open")
		}
		if v := f.anyOf(apply(find, func(of func(string) *value) *value { return of(name) }), ptr); v != nil {
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

// anyOf joins schemas of one property or item of what stands at parent, of
// which nil is an open one; nil if none accepts anything.
func (f *flattener) anyOf(list []*value, parent string) *value {
	ptr := parent
	var distinct []*value
	open := false
	for _, v := range list {
		if at, ok := f.origin[v]; ok && ptr == parent {
			ptr = at
		}
		switch {
		case v == nil || v.kind == 't':
			open = true
		case v.kind == 'f', slices.ContainsFunc(distinct, func(w *value) bool { return f.same(v, w) }):
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
	out, known := array(), map[string]bool{}
	for _, s := range list {
		values := valuesOf(s)
		if values == nil || len(s.members) > 1 {
			return nil
		}
		for _, v := range values.items {
			if text := canonical(v); !known[text] {
				known[text] = true
				out.items = append(out.items, v)
			}
		}
	}
	return out
}

package schema

import (
	"slices"
	"strconv"
)

// alternatives expands anyOf and oneOf. Branches that accept nothing are left
// out. A oneOf whose branches accept more than they did would accept less, so
// it becomes an anyOf.
func (e *expansion) alternatives(name string, list []*value) error {
	before := e.widened
	branches := array()
	if err := e.each(list, name, func(sub *value) {
		if sub.kind != 'f' {
			branches.items = append(branches.items, sub)
		}
	}); err != nil {
		return err
	}
	switch {
	case len(branches.items) == 0:
		e.more = append(e.more, boolean(false))
		return nil
	case len(branches.items) == 1:
		e.more = append(e.more, branches.items[0])
		return nil
	}
	if name == "oneOf" && (!e.dialect.has("oneOf") || e.widened != before) {
		e.widen(e.ptr, "oneOf became anyOf")
		name = "anyOf"
	}
	e.more = append(e.more, e.new(e.ptr, member{name, branches}))
	return nil
}

// not expands what a value must not be; if that accepts more than it did, it
// is left out.
func (e *expansion) not(v *value) error {
	before := e.widened
	sub, err := e.expand(v, e.beside(pointer("not")))
	switch {
	case err != nil:
		return err
	case e.widened != before:
		e.widen(e.ptr, "removed not: what it excludes cannot be said exactly")
	case sub.kind == 't' || sub.isObject() && len(sub.members) == 0:
		e.more = append(e.more, boolean(false))
	case sub.kind != 'f':
		e.out.set("not", sub)
	}
	return nil
}

// condition expands if, then and else; if the condition holds for more than it
// did, all three are left out.
func (e *expansion) condition(v *value) error {
	before := e.widened
	sub, err := e.expand(v, e.beside(pointer("if")))
	if err != nil {
		return err
	}
	broken := e.widened != before
	parts := []member{{"if", sub}}
	for _, key := range []string{"then", "else"} {
		branch := e.schema.get(key)
		if branch == nil {
			continue
		}
		if sub, err = e.expand(branch, e.beside(pointer(key))); err != nil {
			return err
		}
		parts = append(parts, member{key, sub})
	}
	switch {
	case broken:
		e.widen(e.ptr, "removed if: its condition cannot be said exactly")
	case len(parts) > 1:
		for _, m := range parts {
			e.out.set(m.name, m.value)
		}
	default:
		e.looks = true
	}
	return nil
}

func (e *expansion) contains(v *value) error {
	before := e.widened
	sub, err := e.expand(v, e.inside(pointer("contains")))
	if err != nil {
		return err
	}
	e.out.set("contains", sub)
	for _, key := range []string{"minContains", "maxContains"} {
		n := e.schema.get(key)
		switch {
		case n == nil || !vocabulary[key].knows(e.res.draft):
		case countShape.fits(n) != "":
			return &DefinitionError{Pointer: e.ptr + pointer(key), Reason: countShape.fits(n)}
		case key == "maxContains" && e.widened != before:
			e.widen(e.ptr, "removed maxContains: what it counts cannot be said exactly")
		default:
			e.out.set(key, n)
		}
	}
	return nil
}

// items expands items; a list of them is the older form of prefixItems, with
// additionalItems for the rest.
func (e *expansion) items(v *value) error {
	if !v.isArray() {
		sub, err := e.expand(v, e.inside(pointer("items")))
		e.out.set("items", sub)
		return err
	}
	list := array()
	for i, item := range v.items {
		sub, err := e.expand(item, e.inside(pointer("items", strconv.Itoa(i))))
		if err != nil {
			return err
		}
		list.items = append(list.items, sub)
	}
	if len(list.items) > 0 {
		e.out.set("prefixItems", list)
	}
	if rest := e.schema.get("additionalItems"); rest != nil {
		sub, err := e.expand(rest, e.inside(pointer("additionalItems")))
		e.out.set("items", sub)
		return err
	}
	return nil
}

// dependencies expands the older form of dependentRequired and
// dependentSchemas.
func (e *expansion) dependencies(v *value) error {
	required, schemas := object(), object()
	for _, m := range v.members {
		if m.value.isArray() {
			required.members = append(required.members, m)
			continue
		}
		sub, err := e.expand(m.value, e.beside(pointer("dependencies", m.name)))
		if err != nil {
			return err
		}
		schemas.members = append(schemas.members, member{m.name, sub})
	}
	for _, m := range []member{{"dependentRequired", required}, {"dependentSchemas", schemas}} {
		if len(m.value.members) > 0 {
			e.more = append(e.more, e.new(e.ptr, m))
		}
	}
	return nil
}

// exclusive4 turns the boolean of draft 4 into the bound itself.
func (e *expansion) exclusive4(name string, v *value) error {
	bound := e.schema.get(map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[name])
	switch {
	case !v.isBool():
		return &DefinitionError{Pointer: e.ptr + pointer(name), Reason: flagShape.fits(v)}
	case v.kind == 't' && bound.isNumber():
		e.out.set(name, bound)
	}
	return nil
}

// unevaluated applies to what no other part has looked at. Where the schema is
// not composed any more, that is what additionalProperties and items apply to;
// elsewhere it is left out.
func (e *expansion) unevaluated(out *value) (*value, error) {
	lost := e.widened != e.before || e.looks
	for _, pair := range [][2]string{{"unevaluatedProperties", "additionalProperties"}, {"unevaluatedItems", "items"}} {
		key, plain := pair[0], pair[1]
		v := e.schema.get(key)
		if v == nil || !vocabulary[key].knows(e.res.draft) {
			continue
		}
		composed := slices.ContainsFunc([]string{"anyOf", "oneOf", "if", "dependentSchemas", "contains"}, func(k string) bool { return out.get(k) != nil })
		switch {
		case out.get(plain) != nil: // it looks at everything
		case composed || lost:
			e.widen(e.ptr, "removed %s: what it leaves over cannot be said exactly", key)
		default:
			sub, err := e.expand(v, e.inside(pointer(key)))
			if err != nil {
				return nil, err
			}
			out.set(plain, sub)
		}
	}
	return out, nil
}

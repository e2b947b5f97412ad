package schema

import (
	"slices"
	"strconv"
)

// maxNesting is how deep schemas may be nested once references are written
// out.
const maxNesting = 64

// expand is a schema with its references written out, its allOf merged and
// its older forms rewritten to those of 2020-12.
func (f *flattener) expand(s *value, sc scope) (*value, error) {
	if s.isBool() {
		v := boolean(s.kind == 't')
		f.origin[v] = sc.ptr
		return v, nil
	}
	if !s.isObject() {
		return nil, &DefinitionError{Pointer: sc.ptr, Reason: "got " + clip(string(s.json()), 40) + ", want a schema"}
	}
	f.toil(len(s.members) + len(sc.ptr)/16)
	sc.ptr = shortPlace(sc.ptr)
	if !f.spend() {
		return f.open(s, sc.ptr, "more than %d subschemas; the rest is left open", maxSubschemas), nil
	}
	if sc.depth > maxNesting {
		f.full = true
		return f.open(s, sc.ptr, "nested more than %d deep; the rest is left open", maxNesting), nil
	}
	if home := f.homes[s]; home != nil {
		sc.res = home
	}
	e := expansion{flattener: f, schema: s, scope: sc, out: f.new(sc.ptr), before: f.widened}
	return e.run()
}

// expansion is the expansion of one schema. What applies to the same value is
// gathered in more and merged at the end, so that the schema's own words come
// first.
type expansion struct {
	*flattener
	scope
	schema *value
	out    *value
	more   []*value
	before int  // widened, when it began
	looks  bool // an if that decides nothing still looks at parts of the value
}

func (e *expansion) run() (*value, error) {
	// Before 2019-09 a reference hides what stands beside it. A description
	// says what the reference is for here, and changes no verdict.
	hidden := e.res.draft < 2019 && e.schema.get("$ref") != nil
	for _, m := range e.schema.members {
		if hidden && m.name != "title" && m.name != "description" {
			continue
		}
		if err := e.keyword(m.name, m.value); err != nil {
			return nil, err
		}
	}
	refs := []string{"$ref"}
	if e.res.draft >= 2020 {
		refs = append(refs, "$dynamicRef")
	} else if e.res.draft == 2019 {
		refs = append(refs, "$recursiveRef")
	}
	for i, key := range refs {
		if e.schema.get(key) == nil {
			continue
		}
		v, err := e.deref(e.schema, key, e.scope)
		if err != nil {
			return nil, err
		}
		e.more = slices.Insert(e.more, min(i, len(e.more)), v)
	}
	out := e.out
	for _, part := range e.more {
		out = e.both(out, part, e.ptr)
	}
	if hidden || out.isBool() {
		return out, nil
	}
	return e.unevaluated(out)
}

// keyword adds one keyword to the result.
func (e *expansion) keyword(name string, v *value) error {
	w, known := vocabulary[name]
	switch {
	case slices.Contains(reference, name) && !known:
		return nil
	case !known:
		e.note(e.ptr, "removed %s, which is no keyword of JSON Schema", clip(name, maxShown))
		return nil
	case (name == "exclusiveMinimum" || name == "exclusiveMaximum") && e.res.draft == 4:
		return e.exclusive4(name, v)
	case !w.knows(e.res.draft):
		// Some readers heed it all the same.
		e.widen(e.ptr, "removed %s, which this draft does not know", name)
		return nil
	}
	e.toil(len(v.items) + len(v.members))
	if wrong := w.shape.fits(v); wrong != "" {
		return &DefinitionError{Pointer: e.ptr + pointer(name), Reason: wrong}
	}
	switch name {
	case "unevaluatedItems", "unevaluatedProperties", "then", "else", "additionalItems", "minContains", "maxContains":
		return nil // by those that they belong to
	case "allOf":
		return e.each(v.items, name, func(sub *value) { e.more = append(e.more, sub) })
	case "anyOf", "oneOf":
		return e.alternatives(name, v.items)
	case "not":
		return e.not(v)
	case "if":
		return e.condition(v)
	case "contains":
		return e.contains(v)
	case "items":
		return e.items(v)
	case "dependencies":
		return e.dependencies(v)
	case "format":
		if e.res.draft < 2019 {
			e.widened++ // an assertion then, a remark since
		}
	}
	switch w.shape {
	case schemaShape:
		sub, err := e.expand(v, e.inside(pointer(name)))
		e.out.set(name, sub)
		return err
	case schemasShape: // prefixItems
		list := array()
		e.out.set(name, list)
		for i, item := range v.items {
			sub, err := e.expand(item, e.inside(pointer(name, strconv.Itoa(i))))
			if err != nil {
				return err
			}
			list.items = append(list.items, sub)
		}
	case schemaMapShape:
		subs := object()
		e.out.set(name, subs)
		for _, m := range v.members {
			sc := e.inside(pointer(name, m.name))
			if name == "dependentSchemas" {
				sc = e.beside(pointer(name, m.name))
			}
			sub, err := e.expand(m.value, sc)
			if err != nil {
				return err
			}
			subs.members = append(subs.members, member{m.name, sub})
		}
	default:
		e.out.set(name, v)
	}
	return nil
}

// each expands a list of schemas that apply to the same value.
func (e *expansion) each(list []*value, name string, fn func(*value)) error {
	for i, item := range list {
		sub, err := e.expand(item, e.beside(pointer(name, strconv.Itoa(i))))
		if err != nil {
			return err
		}
		fn(sub)
	}
	return nil
}

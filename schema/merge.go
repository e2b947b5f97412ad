package schema

import "slices"

// maxProduct is how many pairs of branches two anyOf may be multiplied out to.
const maxProduct = 16

// both is a schema that accepts every value that a and b both accept, and as
// little else as can be said. Where they exclude each other a stands alone:
// the model gets further with it than with a schema that nothing satisfies.
func (f *flattener) both(a, b *value, ptr string) *value {
	v := f.conj(a, b)
	switch {
	case v != nil:
		return v
	case a.kind == 'f' || b.kind == 'f':
		v = boolean(false)
		f.origin[v] = ptr
		return v
	}
	f.widen(ptr, "parts of a composition exclude each other; the first stands")
	return a
}

// conj is both, but nil where nothing satisfies a and b.
func (f *flattener) conj(a, b *value) *value {
	switch {
	case a.kind == 'f' || b.kind == 'f':
		return nil
	case a.kind == 't':
		return b
	case b.kind == 't':
		return a
	case !f.spend():
		return f.openMerge(a)
	}
	m := merge{flattener: f, a: a, b: b, ptr: f.origin[a]}
	m.out = &value{kind: '{', members: slices.Clone(a.members)}
	f.toil(len(a.members) + len(b.members))
	f.origin[m.out] = m.ptr
	for _, kw := range b.members {
		if !m.keyword(kw.name, kw.value) {
			return nil
		}
	}
	if !m.values() {
		return nil
	}
	m.objects()
	m.arrays()
	if m.only != nil {
		return f.conj(m.out, m.only)
	}
	return m.out
}

func (f *flattener) openMerge(a *value) *value {
	f.cut = true
	f.widen(f.origin[a], "more than %d subschemas; the rest is left open", maxSubschemas)
	return a
}

// merge is the merging of two schemas that apply to the same value.
type merge struct {
	*flattener
	a, b, out *value
	ptr       string
	only      *value // what is left of two anyOf, if it is one branch
}

// keyword merges one keyword of b into the result; false means that nothing
// satisfies both.
func (m *merge) keyword(name string, theirs *value) bool {
	mine := m.out.get(name)
	switch name {
	case "enum", "const", "properties", "patternProperties", "additionalProperties", "items", "prefixItems":
		return true // together, later
	case "contains", "minContains", "maxContains":
		return m.group(name, theirs, "contains")
	case "if", "then", "else":
		return m.group(name, theirs, "if")
	}
	if mine == nil {
		m.out.set(name, theirs)
		return true
	}
	switch name {
	case "type":
		common := commonTypes(typesOf(mine), typesOf(theirs))
		m.out.set(name, typeValue(common))
		return len(common) > 0
	case "required":
		m.toil(len(mine.items) + len(theirs.items))
		m.out.set(name, strs(unionOf(mine.strings(), theirs.strings())))
	case "dependentRequired":
		m.out.set(name, m.named(mine, theirs, func(a, b *value) *value {
			m.toil(len(a.items) + len(b.items))
			return strs(unionOf(a.strings(), b.strings()))
		}))
	case "dependentSchemas":
		m.out.set(name, m.named(mine, theirs, func(a, b *value) *value { return m.both(a, b, m.ptr) }))
	case "propertyNames":
		m.out.set(name, m.both(mine, theirs, m.ptr))
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
		m.tightest(name, mine, theirs, 1)
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
		m.tightest(name, mine, theirs, -1)
	case "multipleOf":
		m.multiple(mine, theirs)
	case "uniqueItems":
		m.out.set(name, boolean(mine.kind == 't' || theirs.kind == 't'))
	case "pattern", "format":
		if !mine.equal(theirs) {
			m.widen(m.ptr, "removed the second %s of a composition: %s", name, clip(theirs.text, maxShown))
		}
	case "not":
		m.out.set(name, m.new(m.ptr, member{"anyOf", array(slices.Concat(excluded(mine), excluded(theirs))...)}))
	case "anyOf":
		return m.alternatives(mine, theirs)
	case "oneOf":
		m.widen(m.ptr, "the second oneOf of a composition became anyOf")
		if mine = m.out.get("anyOf"); mine != nil {
			return m.alternatives(mine, theirs)
		}
		m.out.set("anyOf", theirs)
	}
	return true // of descriptions and the like the first stands
}

// named merges two objects member by member.
func (m *merge) named(mine, theirs *value, join func(a, b *value) *value) *value {
	m.toil(len(mine.members) + len(theirs.members))
	place := make(map[string]int, len(mine.members))
	out := object(slices.Clone(mine.members)...)
	for i, own := range out.members {
		place[own.name] = i
	}
	for _, other := range theirs.members {
		if i, ok := place[other.name]; ok {
			out.members[i].value = join(out.members[i].value, other.value)
			continue
		}
		out.members = append(out.members, other)
	}
	return out
}

// group takes keywords that belong together from one side only.
func (m *merge) group(name string, theirs *value, head string) bool {
	switch {
	case m.a.get(head) == nil:
		m.out.set(name, theirs)
	case name == head && !m.sameGroup(head):
		m.widen(m.ptr, "removed the second %s of a composition", head)
	}
	return true
}

func (m *merge) sameGroup(head string) bool {
	keys := []string{"if", "then", "else"}
	if head == "contains" {
		keys = []string{"contains", "minContains", "maxContains"}
	}
	return !slices.ContainsFunc(keys, func(k string) bool {
		a, b := m.a.get(k), m.b.get(k)
		return (a == nil) != (b == nil) || a != nil && b != nil && !m.same(a, b)
	})
}

// excluded lists what a not excludes.
func excluded(not *value) []*value {
	if list := not.get("anyOf"); list.isArray() && len(not.members) == 1 {
		return list.items
	}
	return []*value{not}
}

// alternatives multiplies out two lists of branches.
func (m *merge) alternatives(mine, theirs *value) bool {
	if m.same(mine, theirs) {
		return true
	}
	if len(mine.items)*len(theirs.items) > maxProduct {
		m.widen(m.ptr, "removed the second anyOf of a composition: %d times %d branches", len(mine.items), len(theirs.items))
		return true
	}
	list := array()
	for _, a := range mine.items {
		for _, b := range theirs.items {
			if v := m.conj(a, b); v != nil {
				list.items = append(list.items, v)
			}
		}
	}
	if len(list.items) == 1 {
		m.out.drop("anyOf")
		m.only = list.items[0]
		return true
	}
	m.out.set("anyOf", list)
	return len(list.items) > 0
}

func (m *merge) tightest(name string, mine, theirs *value, sign int) {
	a, aok := parseDecimal(mine.text)
	b, bok := parseDecimal(theirs.text)
	c, ok := 0, false
	if aok && bok {
		c, ok = b.compare(a)
	}
	switch {
	case !ok && mine.text != theirs.text:
		m.widen(m.ptr, "removed the second %s of a composition: %s", name, clip(theirs.text, maxShown))
	case c*sign > 0:
		m.out.set(name, theirs)
	}
}

func (m *merge) multiple(mine, theirs *value) {
	a, aok := parseDecimal(mine.text)
	b, bok := parseDecimal(theirs.text)
	if aok && bok {
		if yes, ok := a.multipleOf(b); ok && yes {
			return
		}
		if yes, ok := b.multipleOf(a); ok && yes {
			m.out.set("multipleOf", theirs)
			return
		}
	}
	m.widen(m.ptr, "removed the second multipleOf of a composition: %s", clip(theirs.text, maxShown))
}

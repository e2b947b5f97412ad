package schema

import "slices"

// objects merges properties, patternProperties and additionalProperties, which
// say together what a property may be.
func (m *merge) objects() {
	keys := []string{"properties", "patternProperties", "additionalProperties"}
	if !hasAny(m.b, keys) {
		return
	}
	if !hasAny(m.a, keys) {
		for _, kw := range m.b.members {
			if slices.Contains(keys, kw.name) {
				m.out.set(kw.name, kw.value)
			}
		}
		return
	}

	rest := m.either("additionalProperties")
	patterns := object(slices.Clone(m.a.get("patternProperties").list())...)
	for _, p := range m.b.get("patternProperties").list() {
		if old := patterns.get(p.name); old != nil {
			p.value = m.both(old, p.value, m.ptr)
		}
		patterns.set(p.name, p.value)
	}
	// A name that matches a pattern of one side only is no longer held to the
	// other side's additionalProperties.
	for _, side := range [][2]*value{{m.a, m.b}, {m.b, m.a}} {
		if len(side[0].get("patternProperties").names()) > 0 && restricts(side[1].get("additionalProperties")) {
			m.widen(m.ptr, "additionalProperties beside patternProperties of another part of the composition applies to fewer names")
		}
	}

	props := object()
	for _, name := range unionOf(m.a.get("properties").names(), m.b.get("properties").names()) {
		mine, theirs := m.property(m.a, name), m.property(m.b, name)
		var v *value
		switch {
		case mine == nil:
			v = theirs
		case theirs == nil:
			v = mine
		default:
			v = m.both(mine, theirs, m.originOf(mine, theirs))
		}
		if v.kind == 'f' && rest != nil && rest.kind == 'f' && len(patterns.members) == 0 {
			continue // additionalProperties says so
		}
		props.members = append(props.members, member{name, v})
	}

	for _, kw := range []member{{"properties", props}, {"patternProperties", patterns}} {
		if len(kw.value.members) > 0 || m.a.get(kw.name) != nil {
			m.out.set(kw.name, kw.value)
		} else {
			m.out.drop(kw.name)
		}
	}
	if rest != nil {
		m.out.set("additionalProperties", rest)
	}
}

// property is what a schema says of the property called name; nil is nothing.
func (m *merge) property(s *value, name string) *value {
	if v := s.get("properties").get(name); v != nil {
		return v
	}
	rest := s.get("additionalProperties")
	if restricts(rest) && len(s.get("patternProperties").names()) > 0 {
		return nil // it may match a pattern; said in objects
	}
	return rest
}

// either merges a keyword that holds a schema, which one side may not have.
func (m *merge) either(name string) *value {
	a, b := m.a.get(name), m.b.get(name)
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	v := m.conj(a, b)
	if v == nil {
		v = boolean(false)
		m.origin[v] = m.ptr
	}
	return v
}

func (m *merge) originOf(a, b *value) string {
	if ptr, ok := m.origin[a]; ok {
		return ptr
	}
	return m.origin[b]
}

// arrays merges prefixItems and items, which say together what an item may be.
func (m *merge) arrays() {
	keys := []string{"prefixItems", "items"}
	if !hasAny(m.b, keys) {
		return
	}
	rest := m.either("items")
	prefix := array()
	for i := range max(len(m.a.get("prefixItems").elements()), len(m.b.get("prefixItems").elements())) {
		mine, theirs := itemAt(m.a, i), itemAt(m.b, i)
		switch {
		case mine == nil && theirs == nil:
			mine = m.new(m.ptr)
		case mine == nil:
			mine = theirs
		case theirs != nil:
			mine = m.both(mine, theirs, m.originOf(mine, theirs))
		}
		prefix.items = append(prefix.items, mine)
	}
	if len(prefix.items) > 0 {
		m.out.set("prefixItems", prefix)
	}
	if rest != nil {
		m.out.set("items", rest)
	}
}

// itemAt is what a schema says of the item at i; nil is nothing.
func itemAt(s *value, i int) *value {
	if list := s.get("prefixItems").elements(); i < len(list) {
		return list[i]
	}
	return s.get("items")
}

func (v *value) list() []member {
	if v == nil {
		return nil
	}
	return v.members
}

func (v *value) elements() []*value {
	if v == nil {
		return nil
	}
	return v.items
}

func hasAny(s *value, keys []string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return s.get(k) != nil })
}

// restricts reports whether a schema refuses anything.
func restricts(s *value) bool {
	return s != nil && s.kind != 't' && (!s.isObject() || len(s.members) > 0)
}

// values merges enum and const, each a set of values.
func (m *merge) values() bool {
	a, b := valuesOf(m.a), valuesOf(m.b)
	if b == nil {
		return true
	}
	if a == nil {
		for _, key := range []string{"enum", "const"} {
			if v := m.b.get(key); v != nil {
				m.out.set(key, v)
			}
		}
		return true
	}
	common := array()
	for _, v := range a.items {
		if slices.ContainsFunc(b.items, func(w *value) bool { return v.equal(w) || inexact(v) && v.kind == w.kind }) {
			common.items = append(common.items, v)
		}
	}
	m.out.drop("const")
	m.out.set("enum", common)
	return len(common.items) > 0
}

// valuesOf lists the values that enum and const leave, or nil for any.
func valuesOf(s *value) *value {
	list, one := s.get("enum"), s.get("const")
	switch {
	case one == nil:
		return list
	case list == nil:
		return array(one)
	}
	out := array()
	for _, v := range list.items {
		if v.equal(one) || inexact(v) {
			out.items = append(out.items, v)
		}
	}
	return out
}

// inexact reports whether a value holds numbers that equal cannot compare.
func inexact(v *value) bool {
	if v.isNumber() {
		_, ok := parseDecimal(v.text)
		return !ok
	}
	return slices.ContainsFunc(v.items, inexact) || slices.ContainsFunc(v.members, func(m member) bool { return inexact(m.value) })
}

// typesOf lists the names of a type; nil means any.
func typesOf(v *value) []string {
	if v.isString() {
		return []string{v.text}
	}
	return v.strings()
}

func typeValue(names []string) *value {
	if len(names) == 1 {
		return str(names[0])
	}
	return strs(names)
}

// commonTypes intersects two lists of types. An integer is a number.
func commonTypes(a, b []string) []string {
	var out []string
	for _, t := range a {
		switch {
		case slices.Contains(b, t), t == "integer" && slices.Contains(b, "number"):
			out = append(out, t)
		case t == "number" && slices.Contains(b, "integer") && !slices.Contains(a, "integer"):
			out = append(out, "integer")
		}
	}
	return out
}

func unionOf(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

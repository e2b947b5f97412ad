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
	patterns := m.named(object(m.a.get("patternProperties").list()...), object(m.b.get("patternProperties").list()...),
		func(a, b *value) *value { return m.both(a, b, m.ptr) })
	// A name that matches a pattern of one side only is no longer held to the
	// other side's additionalProperties.
	for _, side := range [][2]*value{{m.a, m.b}, {m.b, m.a}} {
		if len(side[0].get("patternProperties").list()) > 0 && restricts(side[1].get("additionalProperties")) {
			m.widen(m.ptr, "additionalProperties beside patternProperties of another part of the composition applies to fewer names")
		}
	}

	props := object()
	names := unionOf(m.a.get("properties").names(), m.b.get("properties").names())
	m.toil(len(names))
	ofMine, ofTheirs := propertiesOf(m.a), propertiesOf(m.b)
	for _, name := range names {
		mine, theirs := ofMine(name), ofTheirs(name)
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

// propertiesOf finds what a schema says of a property by its name; nil is
// nothing.
func propertiesOf(s *value) func(name string) *value {
	named, rest := finder(s.get("properties")), s.get("additionalProperties")
	if restricts(rest) && len(s.get("patternProperties").list()) > 0 {
		rest = nil // it may match a pattern; said in objects
	}
	return func(name string) *value {
		if v := named(name); v != nil {
			return v
		}
		return rest
	}
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

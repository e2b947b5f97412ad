package schema

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

func (s *structured) object(out, in *value, path string, level int) {
	ptr := s.origin[in]
	props, rest := in.get("properties"), in.get("additionalProperties")
	names := props.names()
	switch {
	case level > strictLevels:
		s.refuse(ptr, "nested more than %d deep", strictLevels)
		return
	case rest != nil && rest.kind != 'f':
		s.refuse(ptr, "takes properties that it does not name")
		return
	case rest == nil && len(names) == 0:
		s.refuse(ptr, "names no property and so takes any")
		return
	}
	required, named := set(in.get("required").strings()...), set(names...)
	s.toil(len(required) + len(named))
	for _, name := range in.get("required").strings() {
		if !named[name] {
			s.refuse(ptr, "requires %q without describing it", clip(name, maxShown))
			return
		}
	}
	written := object()
	for _, m := range props.list() {
		if m.value.kind == 'f' {
			continue // it must not be there, and closed says so
		}
		s.properties++
		s.chars += utf8.RuneCountInString(m.name)
		s.toil(len(path) / 16)
		at := path + pointer(m.name)
		if m.name == "*" {
			at = path + "/~2"
		}
		sub := s.schema(m.value, at, level)
		switch null := acceptsNull(sub); {
		case required[m.name]:
			s.own[at] = s.own[at] || null
		case null:
			s.own[at] = true
			s.note(s.origin[m.value], "made required; it may be null")
		default:
			addNull(sub)
			if _, ok := s.added[at]; !ok {
				s.added[at] = s.origin[m.value]
				s.paths = append(s.paths, at)
			}
			s.note(s.origin[m.value], "made required, with null for not given")
		}
		written.members = append(written.members, member{m.name, sub})
	}
	if rest == nil {
		s.note(ptr, "closed to properties that it does not name")
	}
	out.set("properties", written)
	out.set("required", strs(written.names()))
	out.set("additionalProperties", boolean(false))
}

func (s *structured) array(out, in *value, path string, level int) {
	ptr := s.origin[in]
	prefix, rest := in.get("prefixItems").elements(), in.get("items")
	if level > strictLevels {
		s.refuse(ptr, "nested more than %d deep", strictLevels)
		return
	}
	if len(prefix) > 0 {
		for _, item := range prefix[1:] {
			if !s.same(item, prefix[0]) {
				s.refuse(ptr, "its items differ by position")
				return
			}
		}
		switch {
		case rest != nil && rest.kind == 'f':
			limit := number(strconv.Itoa(len(prefix)))
			if old := in.get("maxItems"); old == nil {
				out.set("maxItems", limit)
			} else {
				(&merge{flattener: s.flattener, out: out, ptr: ptr}).tightest("maxItems", old, limit, -1)
			}
			rest = prefix[0]
		case rest == nil || !s.same(rest, prefix[0]):
			s.refuse(ptr, "its items differ by position")
			return
		}
	}
	if rest == nil {
		s.refuse(ptr, "accepts any items")
		return
	}
	out.set("items", s.schema(rest, path+"/*", level))
}

func (s *structured) enum(out, list *value, ptr string) {
	chars := 0
	for _, v := range list.items {
		switch v.kind {
		case '{', '[':
			s.refuse(ptr, "its enum has objects or lists")
			return
		case '"':
			chars += utf8.RuneCountInString(v.text)
		default:
		}
	}
	s.enums += len(list.items)
	s.chars += chars
	if len(list.items) > strictLongEnum && chars > strictEnumChars || len(list.items) == 0 {
		s.refuse(ptr, "its enum has %d values of %d characters", len(list.items), chars)
		return
	}
	s.copy(out, member{"enum", list})
}

// acceptsNull reports whether a written schema accepts null.
func acceptsNull(s *value) bool {
	if list := s.get("anyOf"); list != nil {
		return slices.ContainsFunc(list.items, acceptsNull)
	}
	isNull := func(v *value) bool { return v.kind == 'n' }
	if list := s.get("enum"); list != nil && !slices.ContainsFunc(list.items, isNull) {
		return false
	}
	return slices.Contains(typesOf(s.get("type")), "null")
}

// addNull lets a schema accept null that refuses it by type, enum or anyOf
// only.
func addNull(s *value) {
	null := &value{kind: 'n'}
	if list := s.get("enum"); list.isArray() && !slices.ContainsFunc(list.items, null.equal) {
		s.set("enum", array(append(slices.Clip(list.items), null)...))
	}
	if t := s.get("type"); t != nil {
		s.set("type", typeValue(unionOf(typesOf(t), []string{"null"})))
	}
	branch := object(member{"type", str("null")})
	if list := s.get("anyOf"); list.isArray() && !slices.ContainsFunc(list.items, branch.equal) {
		s.set("anyOf", array(append(slices.Clip(list.items), branch)...))
	}
}

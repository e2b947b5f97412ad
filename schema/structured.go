package schema

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// What a strict schema may be (OpenAI, "Structured Outputs", "Supported
// schemas"). The page does not say whether arrays count as levels; they do
// here.
const (
	strictProperties = 5000
	strictLevels     = 10
	strictEnum       = 1000
	strictLongEnum   = 250 // an enum of more may have
	strictEnumChars  = 15_000
	strictChars      = 120_000 // of names and enum values
)

// flattenStrict writes a strict schema, or says why there is none and writes
// the plain one.
func flattenStrict(tree *value, d *dialect) (Flat, error) {
	f := newFlattener(tree, d, maxRecursion)
	root, err := f.core(tree)
	if err != nil {
		return Flat{}, err
	}
	s := structured{flattener: f, added: map[string]bool{}, own: map[string]bool{}}
	var out *value
	switch {
	case f.recursive:
		s.refuse(f.place, "refers to what it is inside of")
	case f.cut:
		s.refuse(f.place, "had to be cut")
	default:
		out = s.schema(root, "", 0)
	}
	if s.reason == "" {
		s.limits(out)
	}
	if s.reason == "" {
		flat := Flat{Schema: out.json(), Strict: true, Changes: f.changes}
		for _, path := range s.paths {
			if !s.own[path] {
				flat.Nullable = append(flat.Nullable, path)
			}
		}
		return flat, nil
	}
	flat, err := flatten(tree, dialectOf(OpenAI))
	flat.Reason = s.reason
	return flat, err
}

// structured writes a schema of the first stage as Structured Outputs want it:
// every property required and no other accepted. Unlike the other dialects the
// result may accept less than the original, never much more.
type structured struct {
	*flattener
	reason string // why it cannot be, the first found

	paths []string        // of properties that got a null, in order
	added map[string]bool // those
	own   map[string]bool // properties that may be null by themselves

	properties, enums, chars int
}

func (s *structured) refuse(ptr, format string, args ...any) *value {
	if s.reason == "" {
		if ptr == "" {
			ptr = "(root)"
		}
		s.reason = ptr + ": " + fmt.Sprintf(format, args...)
	}
	return object()
}

func (s *structured) limits(out *value) {
	parts, refs := 0, 0
	out.count(&parts, &refs)
	switch {
	case s.properties > strictProperties:
		s.refuse("", "%d properties, want at most %d", s.properties, strictProperties)
	case s.enums > strictEnum:
		s.refuse("", "%d enum values, want at most %d", s.enums, strictEnum)
	case s.chars > strictChars:
		s.refuse("", "%d characters of names and enum values, want at most %d", s.chars, strictChars)
	case parts > maxSchemaParts:
		s.refuse("", "%d subschemas, want at most %d", parts, maxSchemaParts)
	}
}

// schema writes one schema. Path is where its value is in the arguments.
func (s *structured) schema(in *value, path string, level int) *value {
	ptr := s.origin[in]
	switch {
	case s.reason != "":
		return object()
	case in.kind == 't':
		return s.refuse(ptr, "accepts any value")
	case in.kind == 'f':
		return s.refuse(ptr, "accepts no value")
	}
	w := writing{flattener: s.flattener, ptr: ptr, in: s.new(ptr, slices.Clone(in.members)...)}
	w.enums() // const becomes enum
	if types := inferredTypes(w.in); w.in.get("type") == nil && len(types) > 0 {
		w.in.set("type", typeValue(types))
	}
	types := typesOf(w.in.get("type"))
	if slices.Contains(types, "number") && slices.Contains(types, "integer") {
		types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "integer" })
		w.in.set("type", typeValue(types))
	}
	switch {
	case w.in.get("anyOf") != nil:
		return s.union(&w, w.distribute(), path, level)
	case len(types) == 0:
		return s.refuse(ptr, "accepts any value")
	case len(types) > 2, len(types) == 2 && !slices.Contains(types, "null"):
		return s.union(&w, w.split(), path, level)
	}

	out := object()
	for _, m := range w.in.members {
		switch m.name {
		case "properties", "required", "additionalProperties", "items", "prefixItems":
		case "title", "description", "type":
			out.set(m.name, m.value)
		case "enum":
			s.enum(out, m.value, ptr)
		case "format":
			if slices.Contains(s.dialect.formats["string"], m.value.text) {
				out.set(m.name, m.value)
			} else {
				w.drop(out, m)
			}
		case "patternProperties":
			return s.refuse(ptr, "has patternProperties")
		default:
			if s.dialect.has(m.name) {
				out.set(m.name, m.value)
			} else {
				w.drop(out, m)
			}
		}
	}
	if slices.Contains(types, "object") {
		s.object(out, w.in, path, level+1)
	}
	if slices.Contains(types, "array") {
		s.array(out, w.in, path, level+1)
	}
	return out
}

// inferredTypes are the types that a schema is about, if it does not say.
func inferredTypes(in *value) []string {
	var types []string
	if list := in.get("enum"); list != nil {
		for _, v := range list.items {
			types = unionOf(types, []string{typeOf(v)})
		}
		return types
	}
	for _, m := range in.members {
		if t := typeOfKeyword(m.name); t != "" {
			types = unionOf(types, []string{t})
		}
	}
	return types
}

// union writes the branches of an anyOf.
func (s *structured) union(w *writing, branches []*value, path string, level int) *value {
	out, list := object(), array()
	for _, m := range w.in.members {
		switch {
		case m.name == "title" || m.name == "description":
			out.set(m.name, m.value)
		case remark(m.name):
			w.drop(out, m)
		}
	}
	for _, b := range branches {
		list.items = append(list.items, s.schema(b, path, level))
	}
	out.set("anyOf", list)
	return out
}

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
	required := in.get("required").strings()
	for _, name := range required {
		if !slices.Contains(names, name) {
			s.refuse(ptr, "requires %q without describing it", name)
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
		at := path + pointer(m.name)
		sub := s.schema(m.value, at, level)
		switch null := acceptsNull(sub); {
		case slices.Contains(required, m.name):
			s.own[at] = s.own[at] || null
		case null:
			s.own[at] = true
			s.note(s.origin[m.value], "made required; it may be null")
		default:
			s.addNull(sub)
			if !s.added[at] {
				s.added[at] = true
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
			if !item.equal(prefix[0]) {
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
		case rest == nil || !rest.equal(prefix[0]):
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
	out.set("enum", list)
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

// addNull lets a written schema accept null.
func (s *structured) addNull(out *value) {
	if list := out.get("anyOf"); list != nil {
		out.set("anyOf", array(append(slices.Clone(list.items), object(member{"type", str("null")}))...))
		return
	}
	if list := out.get("enum"); list != nil {
		out.set("enum", array(append(slices.Clone(list.items), &value{kind: 'n'})...))
	}
	out.set("type", typeValue(unionOf(typesOf(out.get("type")), []string{"null"})))
}

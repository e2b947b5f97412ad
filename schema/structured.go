package schema

import (
	"fmt"
	"slices"
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
	strictSchemas    = 2 * strictProperties
)

// flattenStrict writes a strict schema, or says why there is none and writes
// the plain one.
func flattenStrict(tree *value, d *dialect) (Flat, error) {
	f := newFlattener(tree, d, maxRecursion)
	root, err := f.core(tree)
	if err != nil {
		return Flat{}, err
	}
	s := structured{flattener: f, added: map[string]string{}, own: map[string]bool{}}
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
		return Flat{Schema: out.json(), Strict: true, Changes: f.listed(), Nullable: s.paths, Empty: f.empty(root)}, nil
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

	paths []string          // of properties that got a null, in order
	added map[string]string // those, and where they stand in the schema
	own   map[string]bool   // properties that may be null by themselves

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
	// Whoever gets the arguments cannot tell the two nulls apart.
	for _, path := range s.paths {
		if s.own[path] {
			s.refuse(s.added[path], "where it is not given it would have to be null, which another form gives a meaning")
			return
		}
	}
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
	case s.tooLarge():
		return s.refuse("", "too large")
	}
	s.values++
	w := writing{flattener: s.flattener, ptr: ptr, in: s.new(ptr, slices.Clone(in.members)...)}
	w.enums() // const becomes enum
	if !s.typed(w.in) {
		return s.refuse(ptr, "none of the values of its enum has its type")
	}
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
			s.copy(out, m)
		case "enum":
			s.enum(out, m.value, ptr)
		case "format":
			if slices.Contains(s.dialect.formats["string"], m.value.text) {
				s.copy(out, m)
			} else {
				w.drop(out, m)
			}
		case "patternProperties":
			return s.refuse(ptr, "has patternProperties")
		default:
			if s.dialect.has(m.name) {
				s.copy(out, m)
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

// tooLarge reports whether there is too much to go on. Schemas of the first
// stage share parts: written out they can be as large as anything.
func (s *structured) tooLarge() bool {
	return s.values > strictSchemas || s.bytes > maxFlatBytes || s.chars > maxFlatBytes || s.work > maxWork
}

// copy takes a keyword as it is.
func (s *structured) copy(out *value, m member) {
	s.bytes += size(m.value).bytes + len(m.name)
	out.set(m.name, m.value)
}

// typed leaves in an enum what has the type that stands beside it, and reports
// whether that is anything.
func (s *structured) typed(in *value) bool {
	list, types := in.get("enum"), typesOf(in.get("type"))
	if list == nil || types == nil {
		return true
	}
	s.toil(len(list.items))
	list = ofTypes(list, types)
	in.set("enum", list)
	return len(list.items) > 0
}

// inferredTypes are the types that a schema is about, if it does not say.
func inferredTypes(in *value) []string {
	var types []string
	if list := in.get("enum"); list != nil {
		return valueTypes(list)
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
			s.copy(out, m)
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

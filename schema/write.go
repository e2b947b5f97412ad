package schema

import (
	"fmt"
	"slices"
	"strings"
)

// write is the second stage: a schema of the first in the dialect. Depth is
// that of the JSON written so far.
func (f *flattener) write(s *value, depth int) *value {
	if s.isBool() {
		return f.writeBool(s)
	}
	if depth > maxFlatDepth || f.values > maxFlatValues || f.bytes > maxFlatBytes || f.work > maxWork {
		f.full = true
		return f.tooLarge(s)
	}
	f.values++
	w := writing{flattener: f, ptr: f.origin[s], depth: depth, in: f.new(f.origin[s], slices.Clone(s.members)...)}
	w.bounds()
	w.tuples()
	w.enums()
	if out := w.unions(); out != nil {
		return out
	}
	return w.keywords()
}

// tooLarge stands for a schema that has no place in the result. It keeps a
// short description while there is room.
func (f *flattener) tooLarge(s *value) *value {
	out := f.open(nil, f.origin[s], "the schema is too large; the rest is left open")
	if text := s.get("description"); text.isString() && len(text.text) <= maxHint && f.bytes <= maxFlatBytes {
		out.set("description", text)
		f.bytes += len(quote(text.text))
	}
	return out
}

func (f *flattener) writeBool(s *value) *value {
	f.values++
	out := object()
	switch {
	case s.kind == 't':
	case f.dialect.has("not") && f.reserve(1):
		out.set("not", object())
	default:
		f.widen(f.origin[s], "a part that accepts nothing is left open")
	}
	return out
}

// writing is the writing of one schema: in is rewritten step by step until the
// dialect has all of it.
type writing struct {
	*flattener
	ptr   string
	depth int
	in    *value
	lost  []member // what the dialect does not have
	free  bool     // maxContains counts on a contains that accepts more than it did
}

// keywords writes what is left, keyword by keyword.
func (w *writing) keywords() *value {
	inside := 1 // the dialect may want items
	eachChild(w.in, func(string, *value) { inside++ })
	if !w.reserve(inside) {
		return w.tooLarge(w.in)
	}
	out := object()
	for _, m := range w.in.members {
		if w.dialect.has(m.name) {
			w.keyword(out, m)
		} else {
			w.lost = append(w.lost, m)
		}
	}
	if w.free && out.drop("maxContains") {
		w.widen(w.ptr, "removed maxContains: what it counts cannot be said exactly")
	}
	for _, m := range w.lost {
		w.drop(out, m)
	}
	types := typesOf(w.in.get("type"))
	if w.dialect.items && slices.Contains(types, "array") && out.get("items") == nil {
		out.set("items", object())
		w.values++
	}
	if w.dialect.named && slices.Contains(types, "object") && out.get("properties") == nil {
		out.set("properties", object())
		w.values++
	}
	if w.dialect.required {
		w.knownRequired(out)
	}
	return out
}

func (w *writing) keyword(out *value, m member) {
	switch vocabulary[m.name].shape {
	case schemaShape, itemsShape:
		w.one(out, m)
	case schemasShape:
		before := w.widened
		list := array()
		w.values++
		for _, item := range m.value.items {
			list.items = append(list.items, w.write(item, w.depth+2))
		}
		if m.name == "oneOf" && w.widened != before {
			w.widen(w.ptr, "oneOf became anyOf")
			if m.name = "anyOf"; w.in.get("anyOf") != nil {
				return
			}
		}
		out.set(m.name, list)
	case schemaMapShape:
		w.named(out, m)
	default:
		if m.name == "format" && !w.formatKnown(m.value.text) || m.name == "enum" && w.dialect.textEnum && !w.texts(m.value) || w.dialect.oneType && beyondInt64(m) {
			w.lost = append(w.lost, m)
			return
		}
		n, likely, refs := size(m.value), 0, 0
		w.toil(n.values)
		m.value.count(&likely, &refs) // Compile counts what looks like a schema
		if w.depth+n.depth > maxFlatDepth || refs > 0 || !w.reserve(likely) {
			w.lost = append(w.lost, m)
			return
		}
		w.values, w.bytes = w.values+n.values, w.bytes+n.bytes+len(m.name)
		out.set(m.name, m.value)
	}
}

// one writes a keyword that holds one schema.
func (w *writing) one(out *value, m member) {
	before := w.widened
	if m.value.isBool() && (m.name == "additionalProperties" || m.name == "items") {
		out.set(m.name, m.value)
		w.values++
		return
	}
	sub := w.write(m.value, w.depth+1)
	// What must not accept more than it did.
	switch {
	case w.widened == before || m.name != "not" && m.name != "if" && m.name != "contains":
		out.set(m.name, sub)
	case m.name == "contains":
		w.free = true
		out.set(m.name, sub)
	default:
		w.widen(w.ptr, "removed %s: it cannot be said exactly", m.name)
	}
}

// named writes properties and other objects of schemas. A property that must
// not be there is left out.
func (w *writing) named(out *value, m member) {
	subs := object()
	w.values++
	for _, named := range m.value.members {
		if m.name == "properties" {
			if named.value.kind == 'f' {
				w.widen(w.origin[named.value], "removed a property that is never accepted")
				continue
			}
			if keys := w.dialect.keys; keys != nil && !keys.MatchString(named.name) {
				w.note(w.origin[named.value], "the provider refuses this property name: want %s", keys)
				w.refused = unionOf(w.refused, []string{shortPlace(w.origin[named.value])})
			}
		}
		w.bytes += len(quote(named.name)) + 4
		subs.members = append(subs.members, member{named.name, w.write(named.value, w.depth+2)})
	}
	if len(subs.members) == 0 && !w.dialect.named && w.dialect.required {
		return // an empty list of properties is refused
	}
	out.set(m.name, subs)
}

// knownRequired drops from required what properties does not name.
func (w *writing) knownRequired(out *value) {
	list := out.get("required")
	if list == nil {
		return
	}
	find := finder(out.get("properties"))
	var known, unknown []string
	for _, name := range list.strings() {
		if find(name) != nil {
			known = append(known, name)
		} else {
			unknown = append(unknown, name)
		}
	}
	if out.drop("required"); len(known) > 0 {
		out.set("required", strs(known))
	}
	if len(unknown) > 0 {
		names := listNames(unknown)
		w.widen(w.ptr, "%s required but not described", names)
		describe(out, names+" required.")
		w.bytes += len(names)
	}
}

// listNames lists names, as many as a description has place for, and "is" or
// "are".
func listNames(names []string) string {
	shown, length := apply(names[:1], func(s string) string { return string(quote(clip(s, maxShown))) }), 0
	for _, name := range names[1:] {
		text := string(quote(name))
		if length += len(text); length > maxHint {
			break
		}
		shown = append(shown, text)
	}
	text := strings.Join(shown, ", ")
	switch rest := len(names) - len(shown); {
	case rest > 0:
		return fmt.Sprintf("%s and %d more are", text, rest)
	case len(names) > 1:
		return text + " are"
	}
	return text + " is"
}

// finish sees to it that the root says it is an object even where all of it
// was cut.
func (f *flattener) finish(out *value) {
	if out.get("type") == nil {
		out.members = slices.Insert(out.members, 0, member{"type", str("object")})
	}
}

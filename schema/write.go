package schema

import (
	"fmt"
	"slices"
	"strconv"
)

// write is the second stage: a schema of the first in the dialect. Depth is
// that of the JSON written so far.
func (f *flattener) write(s *value, depth int) *value {
	if s.isBool() {
		return f.writeBool(s)
	}
	if depth > maxFlatDepth || f.values > maxFlatValues || f.bytes > maxFlatBytes {
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

// bounds turns exclusive bounds into inclusive ones where the dialect has only
// those.
func (w *writing) bounds() {
	whole := slices.Equal(typesOf(w.in.get("type")), []string{"integer"})
	for _, b := range []struct {
		exclusive, inclusive string
		step                 int64
		words                string
	}{{"exclusiveMinimum", "minimum", 1, "Greater than"}, {"exclusiveMaximum", "maximum", -1, "Less than"}} {
		v := w.in.get(b.exclusive)
		if v == nil || w.dialect.has(b.exclusive) {
			continue
		}
		w.in.drop(b.exclusive)
		n, err := strconv.ParseInt(v.text, 10, 64)
		if whole && err == nil && n+b.step > n == (b.step > 0) {
			v = number(strconv.FormatInt(n+b.step, 10))
			w.note(w.ptr, "%s became %s", b.exclusive, b.inclusive)
		} else {
			w.widen(w.ptr, "%s became %s", b.exclusive, b.inclusive)
			describe(w.in, b.words+" "+v.text+".")
		}
		m := merge{flattener: w.flattener, out: w.in, ptr: w.ptr}
		if old := w.in.get(b.inclusive); old != nil {
			m.tightest(b.inclusive, old, v, int(b.step))
		} else {
			w.in.set(b.inclusive, v)
		}
	}
}

// tuples turns prefixItems into items that are any of them.
func (w *writing) tuples() {
	prefix, rest := w.in.get("prefixItems"), w.in.get("items")
	if prefix == nil || w.dialect.has("prefixItems") {
		return
	}
	w.widen(w.ptr, "items that differ by position became items of any of these kinds")
	w.in.drop("prefixItems")
	w.in.drop("items")
	list := slices.Clone(prefix.items)
	if rest != nil && rest.kind == 'f' {
		limit := number(strconv.Itoa(len(list)))
		if old := w.in.get("maxItems"); old != nil {
			(&merge{flattener: w.flattener, out: w.in, ptr: w.ptr}).tightest("maxItems", old, limit, -1)
		} else {
			w.in.set("maxItems", limit)
		}
	} else if !within(w.in.get("maxItems"), len(list)) {
		list = append(list, rest) // nil: open
	}
	if one := w.anyOf(list, w.ptr); one != nil {
		w.in.set("items", one)
	}
}

// within reports whether a limit is given and at most so high.
func within(limit *value, most int) bool {
	if limit == nil {
		return false
	}
	n, ok := parseDecimal(limit.text)
	c, sure := n.compare(decimal{digits: int64(most)})
	return ok && sure && c <= 0
}

// enums turns const into enum, and drops an enum that the dialect cannot hold;
// the description then says the values. An enum says the types of its values,
// so they are written out where the dialect wants types.
func (w *writing) enums() {
	if w.in.get("const") != nil && !w.dialect.has("const") {
		w.in.set("enum", valuesOf(w.in))
		w.in.drop("const")
	}
	list := w.in.get("enum")
	if list == nil || !w.dialect.textEnum {
		return
	}
	if len(list.items) == 0 {
		w.in.drop("enum")
		w.widen(w.ptr, "removed an enum without values")
		return
	}
	var types []string
	for _, v := range list.items {
		types = unionOf(types, []string{typeOf(v)})
	}
	if own := typesOf(w.in.get("type")); own == nil {
		w.in.set("type", typeValue(types))
	} else if both := commonTypes(types, own); len(both) > 0 {
		// Only values of these types can occur.
		w.in.set("type", typeValue(both))
	}
}

// typeOf is the narrowest type of a value.
func typeOf(v *value) string {
	switch v.kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '0':
		if d, ok := parseDecimal(v.text); ok && d.isInteger() {
			return "integer"
		}
		return "number"
	case '"':
		return "string"
	case '[':
		return "array"
	}
	return "object"
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
	var known []string
	for _, name := range list.strings() {
		if out.get("properties").get(name) != nil {
			known = append(known, name)
		} else {
			w.widen(w.ptr, "%q is required but not described", name)
			describe(out, fmt.Sprintf("%s is required.", quote(name)))
		}
	}
	if out.drop("required"); len(known) > 0 {
		out.set("required", strs(known))
	}
}

// finish sees to it that the root says it is an object even where all of it
// was cut.
func (f *flattener) finish(out *value) {
	if out.get("type") == nil {
		out.members = slices.Insert(out.members, 0, member{"type", str("object")})
	}
}

package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (w *writing) formatKnown(format string) bool {
	if w.dialect.formats == nil {
		return true
	}
	types := typesOf(w.in.get("type"))
	return len(types) == 1 && slices.Contains(w.dialect.formats[types[0]], format)
}

// texts reports whether an enum has nothing but strings, none of them empty,
// and stands beside the type of strings.
func (w *writing) texts(list *value) bool {
	return slices.Equal(typesOf(w.in.get("type")), []string{"string"}) && len(list.items) > 0 &&
		!slices.ContainsFunc(list.items, func(v *value) bool { return !v.isString() || v.text == "" })
}

// beyondInt64 reports whether a count is too large for a wire format with
// integers of 64 bits.
func beyondInt64(m member) bool {
	if vocabulary[m.name].shape != countShape {
		return false
	}
	text := m.value.text
	if t, ok := integerText(text); ok {
		text = t
	}
	_, err := strconv.ParseInt(text, 10, 64)
	return err != nil
}

// remarks say in words what a dialect has no keyword for. Each keyword that
// refuses something and is dropped widens; the others only lose a remark.
//
//nolint:gochecknoglobals // a constant in all but form
var remarks = map[string]string{
	"default": "Default: %s.", "format": "Format: %s.", "pattern": "Matches %s.", "enum": "One of: %s.",
	"minLength": "Length at least %s.", "maxLength": "Length at most %s.", "multipleOf": "A multiple of %s.",
	"minItems": "At least %s items.", "maxItems": "At most %s items.", "uniqueItems": "No item twice.",
	"minProperties": "At least %s keys.", "maxProperties": "At most %s keys.", "not": "But not: %s.",
}

// drop leaves out a keyword that the dialect does not have.
func (w *writing) drop(out *value, m member) {
	switch m.name {
	case "title":
		if w.in.get("description") == nil && out.get("description") == nil {
			out.set("description", m.value)
		}
		w.note(w.ptr, "removed title")
		return
	case "default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType":
		w.note(w.ptr, "removed %s", m.name)
	default:
		w.widen(w.ptr, "removed %s", m.name)
	}
	text := string(m.value.json())
	if m.value.isString() && m.name != "default" {
		text = m.value.text
	}
	if m.value.isArray() {
		text = strings.Join(apply(m.value.items, func(v *value) string { return string(v.json()) }), ", ")
	}
	words := remarks[m.name]
	if words == "" || m.value.kind == 'f' && m.name == "uniqueItems" || m.value.kind == 'n' || len(text) > maxHint {
		return
	}
	if strings.Contains(words, "%s") {
		words = fmt.Sprintf(words, text)
	}
	w.bytes += len(quote(words))
	describe(out, words)
}

// extent is how large a JSON value is when it is written.
type extent struct{ values, bytes, depth int }

func size(v *value) extent {
	e := extent{values: 1, bytes: len(v.text) + 1, depth: 1}
	if v.isString() {
		e.bytes = len(quote(v.text)) + 1
	}
	add := func(v *value) {
		n := size(v)
		e = extent{e.values + n.values, e.bytes + n.bytes + 1, max(e.depth, n.depth+1)}
	}
	for _, item := range v.items {
		add(item)
	}
	for _, m := range v.members {
		add(m.value)
		e.bytes += len(quote(m.name)) + 1
	}
	return e
}

// describe joins a sentence to a schema's description.
func describe(s *value, sentence string) {
	old := s.get("description")
	if !old.isString() || strings.TrimSpace(old.text) == "" {
		s.set("description", str(sentence))
		return
	}
	if strings.Contains(old.text, sentence) {
		return
	}
	text := strings.TrimSpace(old.text)
	if !strings.ContainsAny(text[len(text)-1:], ".!?:;") {
		text += "."
	}
	s.set("description", str(text+" "+sentence))
}

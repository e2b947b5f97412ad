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
	"additionalProperties": "Other keys take values like %s.", "propertyNames": "Each key is like %s.",
	"patternProperties": "Keys by pattern: %s.", "dependentRequired": "Keys that need others: %s.",
	"dependentSchemas": "Keys that ask for more: %s.",
}

// drop leaves out a keyword that the dialect does not have.
func (w *writing) drop(out *value, m member) {
	switch m.name {
	case "title":
		if w.in.get("description") == nil && out.get("description") == nil {
			out.set("description", m.value)
			w.bytes += len(m.value.text)
		}
		w.note(w.ptr, "removed title")
		return
	case "default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType":
		w.note(w.ptr, "removed %s", m.name)
	default:
		w.widen(w.ptr, "removed %s", m.name)
	}
	if words := w.inWords(m); words != "" {
		w.bytes += len(quote(words))
		describe(out, words)
	}
}

// inWords says a keyword in words, or "" where it says nothing or too much.
func (w *writing) inWords(m member) string {
	switch {
	case m.name == "if":
		return w.conditionInWords()
	case m.name == "contains":
		return w.containsInWords()
	case m.value.kind == 'n', m.value.isBool() && m.name != "default" && (m.name != "uniqueItems" || m.value.kind == 'f'):
		return ""
	case m.name == "additionalProperties" && !restricts(m.value):
		return ""
	}
	words := remarks[m.name]
	if !strings.Contains(words, "%s") {
		return words
	}
	text, ok := m.value.text, len(m.value.text) <= maxHint
	if !m.value.isString() || m.name == "default" {
		text, ok = brief(m.value)
	}
	if !ok {
		return ""
	}
	if m.value.isArray() {
		text = strings.Join(apply(m.value.items, func(v *value) string { return string(v.json()) }), ", ")
	}
	return fmt.Sprintf(words, text)
}

func (w *writing) conditionInWords() string {
	var parts []string
	for _, part := range [][2]string{{"if", "If it is like "}, {"then", "then like "}, {"else", "else like "}} {
		v := w.in.get(part[0])
		if v == nil {
			continue
		}
		text, ok := brief(v)
		if !ok {
			return ""
		}
		parts = append(parts, part[1]+text)
	}
	return strings.Join(parts, ", ") + "."
}

func (w *writing) containsInWords() string {
	text, ok := brief(w.in.get("contains"))
	if !ok {
		return ""
	}
	least, most := "1", ""
	if v := w.in.get("minContains"); v != nil {
		least = v.text
	}
	if v := w.in.get("maxContains"); v != nil {
		most = " and at most " + v.text
	}
	if most == "" && zero(least) {
		return ""
	}
	return fmt.Sprintf("At least %s%s of its items like %s.", least, most, text)
}

// brief is the JSON of a value, if it has a place in a description. Parts of
// schemas are shared, so that writing all of one can take exponential time.
func brief(v *value) (string, bool) {
	b, ok := appendBrief(nil, v)
	return string(b), ok
}

func appendBrief(b []byte, v *value) ([]byte, bool) {
	ok := true
	switch {
	case v.isArray() || v.isObject():
		b = append(b, byte(v.kind))
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = appendBrief(b, item); !ok {
				return b, false
			}
		}
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = appendBrief(b, str(m.name)); !ok {
				return b, false
			}
			if b, ok = appendBrief(append(b, ':'), m.value); !ok {
				return b, false
			}
		}
		b = append(b, byte(v.kind)+2) // ] and }
	case len(v.text) > maxHint:
		return b, false
	default:
		b = append(b, v.json()...)
	}
	return b, len(b) <= maxHint
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

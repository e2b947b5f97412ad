package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// values mends enum.
func (n *normaliser) values(s *value, ptr string) {
	list := s.get("enum")
	if list == nil || list.isArray() && len(list.items) > 0 {
		return
	}
	s.drop("enum")
	n.note(ptr, "removed enum %s: want a list of values", clip(string(list.json()), 40))
}

// itemValues moves an enum of an array, none of whose values is one, to the
// items that it is meant for.
func (n *normaliser) itemValues(s *value, ptr string) {
	list, items := s.get("enum"), s.get("items")
	isList := func(v *value) bool { return v.isArray() }
	if !slices.Equal(typesOf(s.get("type")), []string{"array"}) || list == nil || slices.ContainsFunc(list.items, isList) {
		return
	}
	if items == nil {
		items = object()
		s.set("items", items)
	}
	s.drop("enum")
	if items.isObject() && items.get("enum") == nil {
		items.set("enum", list)
		n.note(ptr, "enum of an array became the enum of its items")
		return
	}
	n.note(ptr, "removed enum: no array is one of its values")
}

// shapes removes keywords whose value has no meaning.
func (n *normaliser) shapes(s *value, ptr string) {
	for _, m := range slices.Clone(s.members) {
		w, known := vocabulary[m.name]
		if m.name == "$defs" || m.name == "definitions" {
			w, known = word{shape: schemaMapShape}, true
		}
		if !known || !w.knows(n.draft) && m.name != "dependencies" || n.draft == 4 && strings.HasPrefix(m.name, "exclusive") {
			continue
		}
		if v := plainNumber(w.shape, m.value); v != nil {
			s.set(m.name, v)
			n.note(ptr+pointer(m.name), "%s became a number", m.value.json())
			m.value = v
		}
		wrong := w.shape.fits(m.value)
		switch {
		case wrong != "" || m.name == "type": // mended above
		case m.name == "pattern":
			wrong = n.badPattern(m.value.text)
		case m.name == "multipleOf" && (strings.HasPrefix(m.value.text, "-") || zero(m.value.text)):
			wrong = "want a number above 0"
		case w.shape == countShape && fraction(m.value.text):
			wrong = "want a whole number"
		case (w.shape == namesShape || m.name == "enum" && n.draft < 2019) && !unique(m.value):
			wrong = "values stand twice"
		}
		if wrong != "" {
			s.drop(m.name)
			n.note(ptr, "removed %s: %s", m.name, wrong)
		}
	}
	if props := s.get("patternProperties"); props != nil {
		bad := map[string]bool{}
		for _, name := range props.names() {
			if wrong := n.badPattern(name); wrong != "" {
				bad[name] = true
				n.note(ptr+pointer("patternProperties", name), "removed %s", strings.TrimPrefix(wrong, "got "))
			}
		}
		props.members = slices.DeleteFunc(props.members, func(m member) bool { return bad[m.name] })
	}
}

// plainNumber is the number in a text, where a number is wanted.
func plainNumber(want shape, v *value) *value {
	if want != numberShape && want != countShape || !v.isString() || len(v.text) > 20 {
		return nil
	}
	if text := strings.TrimSpace(v.text); json.Valid([]byte(text)) && boundedNumber(text) && strings.ContainsAny(text[:1], "-0123456789") {
		return number(text)
	}
	return nil
}

// badPattern says what is wrong with a pattern, or "". All patterns of a schema
// share what Compile has for them.
func (n *normaliser) badPattern(p string) string {
	_, err := n.patterns.compile(p)
	switch {
	case err == nil:
		return ""
	case n.patterns.size > maxPatternSize:
		return "got a pattern too many: they are too large together"
	}
	return "got a pattern that is not RE2"
}

func zero(text string) bool {
	d, ok := parseDecimal(text)
	return ok && d.digits == 0
}

func fraction(text string) bool {
	d, ok := parseDecimal(text)
	return ok && !d.isInteger()
}

package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// value is a JSON value that keeps the order of members: the order in which a
// schema names its properties is part of what a model reads, and it predicts
// the order in which the model sends them.
type value struct {
	kind    jsontext.Kind // 'n' null, 't' and 'f' booleans, '0' number, '"' string, '[' array, '{' object
	text    string        // a number as written, a string decoded
	items   []*value
	members []member
}

type member struct {
	name  string
	value *value
}

// object, array, text and friends make values; get and set see an object's
// members.

func object(members ...member) *value { return &value{kind: '{', members: members} }
func array(items ...*value) *value    { return &value{kind: '[', items: items} }
func str(s string) *value             { return &value{kind: '"', text: s} }
func number(text string) *value       { return &value{kind: '0', text: text} }
func boolean(b bool) *value           { return &value{kind: map[bool]jsontext.Kind{true: 't', false: 'f'}[b]} }
func strs(list []string) *value       { return array(apply(list, str)...) }
func apply[A, B any](l []A, f func(A) B) []B {
	out := make([]B, len(l))
	for i, a := range l {
		out[i] = f(a)
	}
	return out
}

func (v *value) isObject() bool { return v != nil && v.kind == '{' }
func (v *value) isArray() bool  { return v != nil && v.kind == '[' }
func (v *value) isString() bool { return v != nil && v.kind == '"' }
func (v *value) isNumber() bool { return v != nil && v.kind == '0' }
func (v *value) isBool() bool   { return v != nil && (v.kind == 't' || v.kind == 'f') }

// get returns the member called name, or nil; on nil and on anything but an
// object it is nil.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for _, m := range v.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// set replaces the member called name in its place, or appends it.
func (v *value) set(name string, to *value) {
	for i, m := range v.members {
		if m.name == name {
			v.members[i].value = to
			return
		}
	}
	v.members = append(v.members, member{name, to})
}

// drop removes the member called name and reports whether it was there.
func (v *value) drop(name string) bool {
	n := len(v.members)
	v.members = slices.DeleteFunc(v.members, func(m member) bool { return m.name == name })
	return len(v.members) < n
}

// names lists the members of an object in their order.
func (v *value) names() []string {
	if v == nil {
		return nil
	}
	return apply(v.members, func(m member) string { return m.name })
}

// strings lists the strings of an array; other items are left out.
func (v *value) strings() []string {
	var out []string
	if v != nil {
		for _, item := range v.items {
			if item.isString() {
				out = append(out, item.text)
			}
		}
	}
	return out
}

func (v *value) clone() *value {
	if v == nil {
		return nil
	}
	c := *v
	c.items = apply(v.items, (*value).clone)
	c.members = apply(v.members, func(m member) member { return member{m.name, m.value.clone()} })
	return &c
}

// equal compares two values as JSON Schema does: members in any order, numbers
// by value where their texts are short, else by text.
func (v *value) equal(w *value) bool {
	if v.kind != w.kind || len(v.items) != len(w.items) || len(v.members) != len(w.members) {
		return false
	}
	switch v.kind {
	case '"':
		return v.text == w.text
	case '0':
		a, aok := parseDecimal(v.text)
		b, bok := parseDecimal(w.text)
		if aok && bok {
			c, ok := a.compare(b)
			return ok && c == 0
		}
		return v.text == w.text
	}
	for i, item := range v.items {
		if !item.equal(w.items[i]) {
			return false
		}
	}
	for _, m := range v.members {
		other := w.get(m.name)
		if other == nil || !m.value.equal(other) {
			return false
		}
	}
	return true
}

// at follows a JSON Pointer's tokens; nil when they lead nowhere.
func (v *value) at(tokens ...string) *value {
	for _, tok := range tokens {
		switch {
		case v.isObject():
			v = v.get(tok)
		case v.isArray():
			i, err := strconv.Atoi(tok)
			if err != nil || i < 0 || i >= len(v.items) {
				return nil
			}
			v = v.items[i]
		default:
			return nil
		}
	}
	return v
}

// tree is the value in the form that the full library takes.
func (v *value) tree() any {
	switch v.kind {
	case 't':
		return true
	case 'f':
		return false
	case '0':
		return json.Number(v.text)
	case '"':
		return v.text
	case '[':
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = item.tree()
		}
		return out
	case '{':
		out := make(map[string]any, len(v.members))
		for _, m := range v.members {
			out[m.name] = m.value.tree()
		}
		return out
	}
	return nil
}

// json is the value as compact text.
func (v *value) json() json.RawMessage {
	var b bytes.Buffer
	v.write(&b)
	return b.Bytes()
}

func (v *value) write(b *bytes.Buffer) {
	switch v.kind {
	case 't':
		b.WriteString("true")
	case 'f':
		b.WriteString("false")
	case '0':
		b.WriteString(v.text)
	case '"':
		b.Write(quote(v.text))
	case '[':
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	case '{':
		b.WriteByte('{')
		for i, m := range v.members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quote(m.name))
			b.WriteByte(':')
			m.value.write(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString("null")
	}
}

func quote(s string) []byte {
	// AppendQuote fails only on invalid UTF-8, and still writes a valid string.
	b, _ := jsontext.AppendQuote(nil, s)
	return b
}

// pointer writes tokens as a JSON Pointer; the root is "".
func pointer(tokens ...string) string {
	var b strings.Builder
	for _, tok := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscaper.Replace(tok))
	}
	return b.String()
}

//nolint:gochecknoglobals // a constant in all but form
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// clip cuts s to n characters and says that it did.
func clip(s string, n int) string {
	if i := 0; len(s) > n {
		for pos := range s {
			if i++; i > n {
				return s[:pos] + "…"
			}
		}
	}
	return s
}

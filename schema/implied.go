package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Implying is a Decoder that reads only what fits the schema of arguments, so
// that what it has read needs no other check; nil: the schema says more about
// values than the Go type does, or says it in a way that is not known here.
func (d *Decoder) Implying(schema json.RawMessage) *Decoder {
	s, err := parseSchema(string(schema))
	if err != nil || d.plan == nil || d.plan.kind != reflect.Struct {
		return nil
	}
	p := d.plan.implying(s)
	if p == nil {
		return nil
	}
	return &Decoder{p}
}

// Read reads the text into what v points to, a zero value, in one pass. False:
// the text must be checked and decoded, and v may be half filled.
func (d *Decoder) Read(text string, v any) bool {
	if len(text) > maxTextBytes {
		return false
	}
	w := walker{s: text, levels: maxFastDepth}
	w.space()
	if !d.plan.read(&w, reflect.ValueOf(v).Elem()) {
		return false
	}
	w.space()
	return w.i == len(text)
}

// implying is a plan that reads no more than s allows; nil: there is none.
func (p *plan) implying(s *value) *plan {
	if p == nil || !s.isObject() {
		return nil
	}
	c := *p
	c.strict = true
	types := typesOf(s.get("type"))
	if p.kind == reflect.Pointer {
		if c.elem = p.elem.implying(s); c.elem == nil || !slices.Contains(types, "null") {
			return nil
		}
		return &c
	}
	for _, m := range s.members {
		switch m.name {
		case "type", "description", "title", "default", "examples", "additionalProperties":
		case "properties", "required":
			if p.kind != reflect.Struct {
				return nil
			}
		case "items":
			if p.kind != reflect.Slice {
				return nil
			}
		case "minimum", "maximum":
			if least, most := p.bounds(); m.value.text != least && m.name == "minimum" || m.value.text != most && m.name == "maximum" {
				return nil
			}
		default:
			return nil
		}
	}
	switch p.kind {
	case reflect.String:
		return c.of(types, "string")
	case reflect.Bool:
		return c.of(types, "boolean")
	case reflect.Float32, reflect.Float64:
		return c.of(types, "number")
	case reflect.Slice:
		if c.elem = p.elem.implying(s.get("items")); c.elem == nil {
			return nil
		}
		return c.of(types, "array")
	case reflect.Struct:
		return c.implyingStruct(s, types)
	default:
		return c.of(types, "integer")
	}
}

// bounds are those of the Go type, as numbers are written.
func (p *plan) bounds() (least, most string) {
	switch {
	case p.bits == 0 || p.kind == reflect.Float32 || p.kind == reflect.Float64:
		return "", ""
	case p.kind >= reflect.Uint:
		return "0", strconv.FormatUint(1<<p.bits-1, 10)
	default:
		return strconv.FormatInt(-1<<(p.bits-1), 10), strconv.FormatInt(1<<(p.bits-1)-1, 10)
	}
}

func (p *plan) of(types []string, want string) *plan {
	if !slices.Contains(types, want) {
		return nil
	}
	return p
}

func (p *plan) implyingStruct(s *value, types []string) *plan {
	properties := s.get("properties")
	if !properties.isObject() {
		return nil
	}
	p.fields = slices.Clone(p.fields)
	names := make(map[string]int, len(p.fields))
	for i := range p.fields {
		f := &p.fields[i]
		names[f.quoted] = i
		f.plan = f.plan.implying(properties.get(strings.Trim(f.quoted, `"`))) // nil: what stands there must be checked
	}
	for _, name := range s.get("required").orNull().items {
		at, ok := names[string(quote(name.text))]
		if !ok {
			return nil
		}
		p.must |= 1 << at
	}
	return p.of(types, "object")
}

package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is one member of a struct's JSON.
type field struct {
	reflect.StructField
	name     string
	optional bool
	quoted   bool // numbers in quotes
	depth    int  // of embedding
}

// structure writes the schema of a struct.
func (in *inferrer) structure(t reflect.Type, path string) (*value, error) {
	list, err := structFields(t, path, 0, nil)
	if err != nil {
		return nil, err
	}
	props, required := object(), []string{}
	for _, f := range list {
		at := path + "." + f.Name
		s, err := in.schema(f.Type, at)
		if err != nil {
			return nil, err
		}
		if f.quoted {
			if s, err = quotedNumber(s, at); err != nil {
				return nil, err
			}
		}
		s, asked, err := annotate(s, f.StructField)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		props.set(f.name, s)
		if asked == "required" || !f.optional && asked != "optional" {
			required = append(required, f.name)
		}
	}
	s := object(member{"type", str("object")}, member{"properties", props})
	if len(required) > 0 {
		s.set("required", strs(required))
	}
	return s, nil
}

// structFields lists the fields that JSON sees: those of embedded structs too,
// unless a shallower one has the name.
func structFields(t reflect.Type, path string, depth int, seen []reflect.Type) ([]field, error) {
	if slices.Contains(seen, t) {
		return nil, fmt.Errorf("%s: %s embeds itself", path, t)
	}
	seen = append(seen, t)
	var all []field
	for sf := range t.Fields() {
		at := path + "." + sf.Name
		tag, tagged := sf.Tag.Lookup("json")
		if tag == "-" || !sf.IsExported() && !sf.Anonymous {
			continue
		}
		name, rest, _ := strings.Cut(tag, ",")
		f := field{StructField: sf, name: name, depth: depth}
		for option := range strings.SplitSeq(rest, ",") {
			switch option {
			case "":
			case "omitempty", "omitzero":
				f.optional = true
			case "string":
				f.quoted = true
			default:
				return nil, fmt.Errorf("%s: json tag option %q: want omitempty, omitzero or string", at, option)
			}
		}
		elem := sf.Type
		if elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		if sf.Anonymous && name == "" && elem.Kind() == reflect.Struct && (!tagged || rest == "") {
			if !sf.IsExported() && sf.Type.Kind() == reflect.Pointer {
				return nil, fmt.Errorf("%s: an embedded pointer to an unexported struct cannot be decoded", at)
			}
			inner, err := structFields(elem, at, depth+1, seen)
			if err != nil {
				return nil, err
			}
			if sf.Type.Kind() == reflect.Pointer {
				for i := range inner {
					inner[i].optional = true
				}
			}
			all = append(all, inner...)
			continue
		}
		if !sf.IsExported() {
			continue
		}
		if f.name == "" {
			f.name = sf.Name
		}
		all = append(all, f)
	}
	return shallowest(all, path)
}

// shallowest keeps, of fields with one name, the least embedded.
func shallowest(all []field, path string) ([]field, error) {
	best := map[string]int{}
	for _, f := range all {
		if d, ok := best[f.name]; !ok || f.depth < d {
			best[f.name] = f.depth
		}
	}
	var out []field
	for _, f := range all {
		if f.depth != best[f.name] {
			continue
		}
		if slices.ContainsFunc(out, func(o field) bool { return o.name == f.name }) {
			return nil, fmt.Errorf("%s: two fields are called %q", path, f.name)
		}
		out = append(out, f)
	}
	return out, nil
}

func quotedNumber(s *value, path string) (*value, error) {
	switch typ := s.get("type"); {
	case typ.isString() && typ.text == "integer":
		return object(member{"type", str("string")}, member{"pattern", str(`^-?(0|[1-9][0-9]*)$`)}), nil
	case typ.isString() && typ.text == "number":
		return object(member{"type", str("string")}, member{"pattern", str(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)}), nil
	}
	return nil, fmt.Errorf(`%s: the json tag option "string" is for numbers`, path)
}

// annotate adds what the tags jsonschema and jsonschema_description say. asked
// is "required" or "optional" where a tag overrides what the json tag means.
func annotate(s *value, f reflect.StructField) (out *value, asked string, err error) {
	tag := f.Tag.Get("jsonschema")
	description := f.Tag.Get("jsonschema_description")
	first, _, _ := strings.Cut(tag, ",")
	if !strings.Contains(first, "=") && strings.Contains(strings.TrimSpace(first), " ") {
		description, tag = tag, "" // a sentence, not a list
	}
	// Keywords about the value go inside a union with null; words about it
	// stay outside.
	target := s
	if union := s.get("anyOf"); union.isArray() && len(union.items) == 2 && s.get("type") == nil {
		target = union.items[0]
	}
	element := target
	if items := target.get("items"); items.isObject() {
		element = items
	}
	for _, part := range splitTag(tag) {
		key, val, has := strings.Cut(part, "=")
		switch key {
		case "":
		case "required", "optional":
			asked = key
		case "nullable":
			s = nullable(s)
		case "description", "title":
			s.set(key, str(val))
		case "enum", "examples", "example", "default":
			v, err := typedValue(element, val)
			if key == "default" {
				v, err = typedValue(target, val)
			}
			if err != nil {
				return nil, "", fmt.Errorf("jsonschema tag %s=%s: %w", key, val, err)
			}
			switch key {
			case "default":
				s.set("default", v)
			case "enum":
				appendTo(element, "enum", v)
			default:
				appendTo(s, "examples", v)
			}
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
			if !isOf(element, "integer", "number") {
				return nil, "", fmt.Errorf("jsonschema tag %s: it is for numbers", part)
			}
			if err := Valid(val); err != nil || val == "" || strings.Trim(val[:1], "-0123456789") != "" {
				return nil, "", fmt.Errorf("jsonschema tag %s=%s: want a number", key, val)
			}
			element.set(key, number(val))
		case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
			if n, err := strconv.Atoi(val); err != nil || n < 0 {
				return nil, "", fmt.Errorf("jsonschema tag %s=%s: want a whole number from 0", key, val)
			}
			at, want := target, "array"
			switch {
			case strings.HasSuffix(key, "Length"):
				at, want = element, "string"
			case strings.HasSuffix(key, "Properties"):
				want = "object"
			}
			if !isOf(at, want) {
				return nil, "", fmt.Errorf("jsonschema tag %s: it is for %ss", part, want)
			}
			at.set(key, number(val))
		case "pattern", "format":
			if !isOf(element, "string") {
				return nil, "", fmt.Errorf("jsonschema tag %s: it is for strings", part)
			}
			element.set(key, str(val))
		case "uniqueItems":
			if !isOf(target, "array") {
				return nil, "", fmt.Errorf("jsonschema tag %s: it is for arrays", part)
			}
			target.set(key, boolean(!has || val == "true"))
		default:
			return nil, "", fmt.Errorf(`jsonschema tag: unknown keyword %q (a comma inside a value is written \\,)`, key)
		}
	}
	if enum := element.get("enum"); enum != nil && element.get("type").isArray() && !slices.ContainsFunc(enum.items, func(v *value) bool { return v.kind == 'n' }) {
		enum.items = append(enum.items, &value{kind: 'n'}) // a pointer's null
	}
	if description != "" {
		s.set("description", str(description))
	}
	return s, asked, nil
}

// isOf reports whether s is of one of the types, or of any.
func isOf(s *value, types ...string) bool {
	own := typesOf(s.get("type"))
	return len(own) == 0 || slices.ContainsFunc(own, func(t string) bool { return slices.Contains(types, t) })
}

func appendTo(s *value, key string, v *value) {
	list := s.get(key)
	if list == nil {
		list = array()
		s.set(key, list)
	}
	list.items = append(list.items, v)
}

// splitTag splits at commas; a comma behind a backslash stays.
func splitTag(tag string) []string {
	parts := strings.Split(strings.ReplaceAll(tag, `\,`, "\x00"), ",")
	return apply(parts, func(p string) string { return strings.ReplaceAll(p, "\x00", ",") })
}

// typedValue reads a tag's text as a value of the schema's type.
func typedValue(s *value, text string) (*value, error) {
	types := s.get("type")
	if types.isArray() && len(types.items) > 0 {
		types = types.items[0]
	}
	if types.isString() && types.text == "string" {
		return str(text), nil
	}
	v, err := parse(text, limits{bytes: 4096, depth: 16, values: 256})
	if err != nil {
		return nil, fmt.Errorf("want a JSON value of type %s", json.RawMessage(types.orNull().json()))
	}
	return v, nil
}

func (v *value) orNull() *value {
	if v == nil {
		return &value{kind: 'n'}
	}
	return v
}

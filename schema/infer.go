package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// InferInput writes the schema of the JSON that Decode reads into a Go type.
// A field is required unless its json tag says omitempty or omitzero, a
// pointer also takes null, and the tag jsonschema adds what the type cannot
// say; see the package documentation.
func InferInput(t reflect.Type) (json.RawMessage, error) { return infer(t, false) }

// InferOutput writes the schema of the JSON that encoding/json writes for a Go
// type. Nil slices and maps are null there.
func InferOutput(t reflect.Type) (json.RawMessage, error) { return infer(t, true) }

func infer(t reflect.Type, out bool) (json.RawMessage, error) {
	in := inferrer{out: out, defs: object(), names: map[reflect.Type]string{t: "#"}}
	if t == nil {
		return nil, fmt.Errorf("infer: got no type, want one: an interface value has none")
	}
	s, err := in.schema(t, t.String())
	if err != nil {
		return nil, fmt.Errorf("infer: %w", err)
	}
	if len(in.defs.members) > 0 {
		s.set("$defs", in.defs)
	}
	if !out {
		// The decoder has its own reading of tags; what it refuses is refused
		// here, not at the first call.
		if err := jsonv2.Unmarshal([]byte("null"), reflect.New(t).Interface()); err != nil {
			return nil, fmt.Errorf("infer: %s: %w", t, err)
		}
		if t.Kind() == reflect.Struct && !implements(t, unmarshalers()...) {
			if err := jsonv2.Unmarshal([]byte("{}"), reflect.New(t).Interface()); err != nil {
				return nil, fmt.Errorf("infer: %s: %w", t, err)
			}
		}
	}
	return s.json(), nil
}

// inferrer walks a type. Types that contain themselves become $defs; all
// others are written where they stand, because that is what models read best.
type inferrer struct {
	out   bool
	open  []reflect.Type          // being walked
	names map[reflect.Type]string // references to types that contain themselves
	defs  *value
}

// schemaer is a type that writes its own schema.
type schemaer interface{ JSONSchema() json.RawMessage }

func unmarshalers() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[jsonv2.Unmarshaler](), reflect.TypeFor[jsonv2.UnmarshalerFrom]()}
}

func marshalers() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[json.Marshaler]()}
}

func implements(t reflect.Type, list ...reflect.Type) bool {
	return slices.ContainsFunc(list, func(i reflect.Type) bool { return t.Implements(i) || reflect.PointerTo(t).Implements(i) })
}

func (in *inferrer) schema(t reflect.Type, path string) (*value, error) {
	if t.Kind() == reflect.Pointer {
		s, err := in.schema(t.Elem(), path)
		return nullable(s), err
	}
	if implements(t, reflect.TypeFor[schemaer]()) {
		s, _ := reflect.TypeAssert[schemaer](reflect.New(t))
		tree, err := parseSchema(string(s.JSONSchema()))
		if err != nil {
			return nil, fmt.Errorf("%s: JSONSchema: %w", path, err)
		}
		if mentions(tree, "$ref") || mentions(tree, "$dynamicRef") {
			return nil, fmt.Errorf("%s: JSONSchema: want it without references: it becomes part of another schema", path)
		}
		if tree.kind == 't' {
			tree = object() // has room for a description
		}
		return tree, nil
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return object(member{"type", str("string")}, member{"format", str("date-time")}), nil
	case reflect.TypeFor[json.RawMessage]():
		return object(), nil
	case reflect.TypeFor[json.Number]():
		return nil, fmt.Errorf("%s: json.Number has no single JSON form here: use float64 or json.RawMessage", path)
	case reflect.TypeFor[time.Duration]():
		if !in.out {
			return nil, fmt.Errorf("%s: time.Duration has no JSON form: use a number and say the unit in its name", path)
		}
	}
	own, text := unmarshalers(), reflect.TypeFor[encoding.TextUnmarshaler]()
	if in.out {
		own, text = marshalers(), reflect.TypeFor[encoding.TextMarshaler]()
	}
	if implements(t, own...) {
		return object(), nil // it reads and writes what it likes
	}
	if implements(t, text) {
		if in.out && !t.Implements(text) {
			return object(), nil // the method counts only where there is a pointer
		}
		return object(member{"type", str("string")}), nil
	}
	return in.kind(t, path)
}

func (in *inferrer) kind(t reflect.Type, path string) (*value, error) {
	simple := func(name string, more ...member) (*value, error) {
		return object(append([]member{{"type", str(name)}}, more...)...), nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return simple("boolean")
	case reflect.String:
		return simple("string")
	case reflect.Float32, reflect.Float64:
		return simple("number")
	case reflect.Int, reflect.Int64:
		return simple("integer")
	case reflect.Int8, reflect.Int16, reflect.Int32:
		top := int64(1)<<(t.Bits()-1) - 1
		return simple("integer", member{"minimum", number(fmt.Sprint(-top - 1))}, member{"maximum", number(fmt.Sprint(top))})
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return simple("integer", member{"minimum", number("0")})
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return simple("integer", member{"minimum", number("0")}, member{"maximum", number(fmt.Sprint(uint64(1)<<t.Bits() - 1))})
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return object(), nil
		}
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		return in.composite(t, path)
	}
	return nil, fmt.Errorf("%s: %s has no JSON form", path, t)
}

func (in *inferrer) composite(t reflect.Type, path string) (*value, error) {
	if slices.Contains(in.open, t) {
		return object(member{"$ref", str(in.name(t))}), nil
	}
	in.open = append(in.open, t)
	s, err := in.fields(t, path)
	in.open = in.open[:len(in.open)-1]
	if err != nil {
		return nil, err
	}
	if name := in.names[t]; name != "" && name != "#" {
		in.defs.set(strings.TrimPrefix(name, "#/$defs/"), s)
		return object(member{"$ref", str(name)}), nil
	}
	if in.out && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		return nullable(s), nil
	}
	return s, nil
}

// name is the reference to a type that contains itself.
func (in *inferrer) name(t reflect.Type) string {
	if name := in.names[t]; name != "" {
		return name
	}
	base := t.Name()
	if i := strings.IndexByte(base, '['); i >= 0 {
		base = base[:i]
	}
	if base == "" {
		base = "Type"
	}
	name := "#/$defs/" + base
	taken := func(name string) bool {
		for _, other := range in.names {
			if other == name {
				return true
			}
		}
		return false
	}
	for i := 2; taken(name); i++ {
		name = fmt.Sprintf("#/$defs/%s%d", base, i)
	}
	in.names[t] = name
	return name
}

func (in *inferrer) fields(t reflect.Type, path string) (*value, error) {
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && !implements(t.Elem(), unmarshalers()...) {
			if !in.out && t.Elem() != reflect.TypeFor[byte]() {
				return nil, fmt.Errorf("%s: %s has no single JSON form: use []byte", path, t)
			}
			return object(member{"type", str("string")}, member{"contentEncoding", str("base64")}), nil
		}
		items, err := in.schema(t.Elem(), path+"[]")
		return object(member{"type", str("array")}, member{"items", items}), err
	case reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil, fmt.Errorf("%s: %s has no single JSON form: use []byte", path, t)
		}
		items, err := in.schema(t.Elem(), path+"[]")
		n := number(fmt.Sprint(t.Len()))
		return object(member{"type", str("array")}, member{"items", items}, member{"minItems", n}, member{"maxItems", n}), err
	case reflect.Map:
		switch k := t.Key(); {
		case k.Kind() == reflect.String, implements(k, reflect.TypeFor[encoding.TextUnmarshaler]()):
		case reflect.Int <= k.Kind() && k.Kind() <= reflect.Uint64:
		default:
			return nil, fmt.Errorf("%s: %s: keys must be strings or integers", path, t)
		}
		elem, err := in.schema(t.Elem(), path+"{}")
		s := object(member{"type", str("object")}, member{"additionalProperties", elem})
		if k := t.Key().Kind(); reflect.Int <= k && k <= reflect.Uint64 && !implements(t.Key(), reflect.TypeFor[encoding.TextUnmarshaler]()) {
			s.set("propertyNames", object(member{"pattern", str(`^-?(0|[1-9][0-9]*)$`)}))
		}
		return s, err
	}
	return in.structure(t, path)
}

// nullable makes a schema also take null.
func nullable(s *value) *value {
	if s == nil || len(s.members) == 0 {
		return s // {} takes null
	}
	if typ := s.get("type"); typ.isString() && s.get("enum") == nil && s.get("const") == nil {
		s.set("type", array(typ, str("null")))
		return s
	}
	if types := s.get("type"); types.isArray() && s.get("enum") == nil && s.get("const") == nil {
		if !slices.Contains(types.strings(), "null") {
			types.items = append(types.items, str("null"))
		}
		return s
	}
	return object(member{"anyOf", array(s, object(member{"type", str("null")}))})
}

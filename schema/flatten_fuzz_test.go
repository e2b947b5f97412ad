package schema

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// loose lists the profiles whose schemas accept at least what the original
// accepts.
func loose() []Profile { return []Profile{Anthropic, OpenAI, Gemini, MCP} }

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// widens fails if a flattened form of the schema refuses an object that the
// schema accepts, although nothing was cut.
func widens(t fataler, text, instance string) (accepted bool) {
	t.Helper()
	original, err := Compile([]byte(text), Options{})
	if err != nil {
		return false
	}
	accepted = strings.HasPrefix(strings.TrimSpace(instance), "{") && original.Check(instance) == nil
	for _, p := range loose() {
		flat, err := Flatten([]byte(text), p)
		if err != nil {
			if accepted {
				t.Fatalf("%s: schema %s accepts %s and is not flattened: %v", p, text, instance, err)
			}
			continue
		}
		got, err := Compile(flat.Schema, Options{})
		if err != nil {
			t.Fatalf("%s: schema %s became %s: %v", p, text, flat.Schema, err)
		}
		if wrong := outside(flat.Schema, p); wrong != "" {
			t.Fatalf("%s: schema %s became %s: %s", p, text, flat.Schema, wrong)
		}
		if !accepted || flat.Cut {
			continue
		}
		if err := got.Check(instance); err != nil {
			t.Fatalf("%s: schema %s accepts %s, flattened %s refuses it: %v", p, text, instance, flat.Schema, err)
		}
	}
	flat, err := Flatten([]byte(text), OpenAIStrict)
	if err != nil && accepted {
		t.Fatalf("schema %s as strict: %v", text, err)
	}
	if err == nil && flat.Strict {
		if got, err := Compile(flat.Schema, Options{}); err != nil || got == nil {
			t.Fatalf("strict: schema %s became %s: %v", text, flat.Schema, err)
		}
		if wrong := outside(flat.Schema, OpenAIStrict); wrong != "" {
			t.Fatalf("strict: schema %s became %s: %s", text, flat.Schema, wrong)
		}
	}
	return accepted
}

// outside says what in a flattened schema is not of its dialect, or "".
func outside(text []byte, p Profile) string {
	tree, err := parseSchema(string(text))
	if err != nil {
		return err.Error()
	}
	d, wrong := dialectOf(p), ""
	var walk func(s *value, ptr string)
	walk = func(s *value, ptr string) {
		for _, name := range s.names() {
			if !d.has(name) {
				wrong = ptr + ": " + name
			}
		}
		types := typesOf(s.get("type"))
		switch names := s.get("properties").names(); {
		case d.oneType && len(types) > 1:
			wrong = ptr + ": more than one type"
		case d.loneAnyOf && s.get("anyOf") != nil && len(s.members) > 1:
			wrong = ptr + ": something beside anyOf"
		case d.textEnum && s.get("enum") != nil && (len(s.get("enum").strings()) < len(s.get("enum").items) || !slices.Equal(types, []string{"string"})):
			wrong = ptr + ": enum of other than strings"
		case d.items && slices.Contains(types, "array") && s.get("items") == nil:
			wrong = ptr + ": array without items"
		case p == OpenAIStrict && slices.Contains(types, "object") &&
			(!slices.Equal(names, s.get("required").strings()) || s.get("additionalProperties") == nil || s.get("additionalProperties").kind != 'f'):
			wrong = ptr + ": object not closed"
		}
		eachChild(s, func(at string, sub *value) { walk(sub, ptr+at) })
	}
	walk(tree, "")
	for _, key := range append(d.notAtRoot, "anyOf", "oneOf", "allOf") {
		if tree.get(key) != nil {
			wrong = "root: " + key
		}
	}
	return wrong
}

func FuzzFlatten(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]}}}`, `{"a":null}`},
		{`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"integer","exclusiveMinimum":0}}}`, `{"a":1}`},
		{`{"allOf":[{"properties":{"a":{"type":"number"}},"additionalProperties":false},{"required":["a"]}]}`, `{"a":1.5}`},
		{`{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"integer"}},"required":["b"]}]}`, `{"a":5,"b":1}`},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}],"not":{"required":["c"]}}`, `{"b":1}`},
		{`{"properties":{"n":{"$ref":"#"}},"unevaluatedProperties":false}`, `{"n":{"n":{}}}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"t":{"items":[{"type":"string"},{"const":3}],"additionalItems":false}}}`, `{"t":["a",3]}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"b":2}`},
		{`{"properties":{"t":{"prefixItems":[{"type":"string"}],"items":{"type":"integer"},"contains":{"const":1},"maxContains":1}}}`, `{"t":["a",1,2]}`},
		{`{"if":{"properties":{"k":{"const":1}},"required":["k"]},"then":{"required":["v"]},"else":{"maxProperties":2}}`, `{"k":2}`},
		{`{"patternProperties":{"^x":{"type":"string"}},"additionalProperties":{"type":"integer"},"allOf":[{"patternProperties":{"y$":{"minLength":2}}}]}`, `{"xy":"ab","z":1}`},
		{`{"$id":"https://a.example/s","properties":{"a":{"$ref":"t#q"}},"$defs":{"t":{"$id":"t","$defs":{"q":{"$anchor":"q","type":"boolean"}}}}}`, `{"a":true}`},
		{`{"properties":{"a":{"anyOf":[{"minimum":5},{"type":"string"}],"oneOf":[{"type":"integer"},{"maxLength":3}]}}}`, `{"a":7}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, instance []byte) { widens(t, string(schema), string(instance)) })
}

// TestFlattenWidens meets what bytes at random seldom do: a valid schema with
// references and compositions, and a value that it accepts.
func TestFlattenWidens(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t: t}
		s := g.root()
		for range 4 {
			if widens(t, string(s.json()), string(g.object().json())) {
				accepted++
			}
		}
	})
	if accepted == 0 {
		t.Error("no generated schema accepted a generated value: the test says nothing")
	}
}

// generator draws schemas and values over few names and few values, so that
// they often meet.
type generator struct {
	t *rapid.T
}

func (g generator) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(g.t, label) }

// name draws one of few names, of which two differ only in case.
func (g generator) name() string { return []string{"a", "b", "c", "a", "b", "A"}[g.pick("name", 6)] }

// long are numbers that no int64 and no float64 holds.
func long() []string {
	return []string{"1" + strings.Repeat("1234567890", 4), "1.000000000000000000001"}
}

// object draws arguments; now and then they are nested deeper than the schema.
func (g generator) object() *value {
	if g.pick("deep", 8) == 0 {
		return g.value(5, true)
	}
	return g.value(3, true)
}

func (g generator) root() *value {
	s := g.schema(3)
	if !s.isObject() {
		s = object(member{"properties", object(member{"a", s})})
	}
	if g.pick("draft", 4) == 0 {
		s.set("$schema", str("http://json-schema.org/draft-07/schema#"))
	}
	// References may also lead below a keyword that JSON Schema does not know.
	for _, keyword := range []string{"$defs", "x-defs"} {
		defs := object()
		for _, name := range []string{"d0", "d1"} {
			defs.set(name, g.schema(2))
		}
		s.set(keyword, defs)
	}
	return s
}

func (g generator) schemas(depth int) *value {
	list := array()
	for range 1 + g.pick("length", 3) {
		list.items = append(list.items, g.schema(depth))
	}
	return list
}

func (g generator) schemaMap(depth int) *value {
	out := object()
	for range g.pick("size", 3) {
		out.set(g.name(), g.schema(depth))
	}
	return out
}

func (g generator) schema(depth int) *value {
	if k := g.pick("bool", 14); k < 2 {
		return boolean(k == 0)
	}
	s := object()
	for range g.pick("keywords", 4) {
		g.keyword(s, depth)
	}
	return s
}

func (g generator) keyword(s *value, depth int) {
	flat := []string{"type", "types", "enum", "const", "minimum", "exclusiveMinimum", "maximum", "multipleOf", "maxLength", "pattern", "required", "maxItems", "uniqueItems", "maxProperties", "format"}
	deep := []string{"properties", "properties", "additionalProperties", "patternProperties", "items", "prefixItems", "oldItems", "contains", "allOf", "anyOf", "oneOf", "not", "if", "propertyNames", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems", "$ref"}
	names := flat
	if depth > 0 {
		names = append(names, deep...)
	}
	small := func() *value {
		return number(append([]string{"0", "1", "2", "1.5", "0", "1"}, long()...)[g.pick("n", 8)])
	}
	count := func() *value { return number([]string{"0", "1", "2"}[g.pick("n", 3)]) }
	switch name := names[g.pick("keyword", len(names))]; name {
	case "type":
		s.set("type", str(typeNames[g.pick("type", 7)]))
	case "types":
		s.set("type", strs(unionOf([]string{typeNames[g.pick("type", 7)]}, []string{typeNames[g.pick("type", 7)]})))
	case "enum":
		s.set("enum", array(g.value(1, false), g.value(0, false)))
	case "const":
		s.set("const", g.value(1, false))
	case "minimum", "exclusiveMinimum", "maximum":
		s.set(name, small())
	case "multipleOf":
		s.set(name, number([]string{"1", "2", "0.5"}[g.pick("n", 3)]))
	case "maxLength", "maxItems", "maxProperties":
		s.set(name, count())
	case "pattern":
		s.set(name, str([]string{"^x", "y"}[g.pick("p", 2)]))
	case "format":
		s.set(name, str("ipv4"))
	case "required":
		s.set(name, strs([]string{[]string{g.name(), g.name(), g.name(), "z"}[g.pick("required", 4)]}))
	case "uniqueItems":
		s.set(name, boolean(true))
	case "properties", "dependentSchemas":
		s.set(name, g.schemaMap(depth-1))
	case "patternProperties":
		s.set(name, object(member{[]string{"a", "[bc]", "^A$"}[g.pick("p", 3)], g.schema(depth - 1)}))
	case "dependencies":
		s.set(name, object(member{g.name(), g.schema(depth - 1)}, member{"z", strs([]string{"a"})}))
	case "prefixItems", "allOf", "anyOf", "oneOf":
		s.set(name, g.schemas(depth-1))
	case "oldItems":
		s.set("items", g.schemas(depth-1))
		s.set("additionalItems", g.schema(depth-1))
	case "if":
		s.set("if", g.schema(depth-1))
		s.set("then", g.schema(depth-1))
		s.set("else", g.schema(depth-1))
	case "contains":
		s.set(name, g.schema(depth-1))
		s.set("maxContains", count())
	case "$ref":
		s.set(name, str([]string{"#/$defs/d0", "#/$defs/d1", "#/x-defs/d0", "#/x-defs/d1"}[g.pick("ref", 4)]))
	default:
		s.set(name, g.schema(depth-1))
	}
}

func (g generator) value(depth int, isObject bool) *value {
	k := g.pick("kind", 9)
	if isObject {
		k = 8
	}
	switch {
	case k == 8 && depth > 0:
		out := object()
		for range g.pick("size", 4) {
			out.set(g.name(), g.value(depth-1, false))
		}
		return out
	case k == 7 && depth > 0:
		out := array()
		for range g.pick("size", 3) {
			out.items = append(out.items, g.value(depth-1, false))
		}
		return out
	case k == 6:
		return &value{kind: 'n'}
	case k == 5:
		return boolean(g.pick("bool", 2) == 0)
	case k >= 3:
		return str([]string{"", "x", "xy", "abc"}[g.pick("text", 4)])
	}
	return number(append([]string{"0", "1", "2", "1.5", "3", "0", "1", "2"}, long()...)[g.pick("number", 10)])
}

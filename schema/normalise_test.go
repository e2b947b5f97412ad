package schema

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestNormalise(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		changes          []Change
	}{
		{
			"S7 a schema without faults is left alone",
			`{"type":"object","properties":{"type":{"type":"string","default":"dict"},"k":{"enum":["float"],"const":"str","examples":["int"]}},"required":["type"]}`,
			`{"type":"object","properties":{"type":{"type":"string","default":"dict"},"k":{"enum":["float"],"const":"str","examples":["int"]}},"required":["type"]}`,
			nil,
		},
		{
			"S7 names at any depth",
			`{"type":"dict","properties":{"a":{"type":"list","items":{"type":"float"}},"b":{"anyOf":[{"type":"Str"},{"type":"None"}]}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"number"}},"b":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`,
			[]Change{
				{"", `type "dict" became "object"`},
				{"/properties/a", `type "list" became "array"`},
				{"/properties/a/items", `type "float" became "number"`},
				{"/properties/b/anyOf/0", `type "Str" became "string"`},
				{"/properties/b/anyOf/1", `type "None" became "null"`},
			},
		},
		{
			"S7 any type",
			`{"properties":{"a":{"type":"any","description":"x"}}}`, `{"properties":{"a":{"description":"x"}}}`,
			[]Change{{"/properties/a", `removed type "any": any value is accepted`}},
		},
		{
			"S7 an unknown name",
			`{"type":"Widget"}`, `{}`,
			[]Change{{"", `removed type "Widget", which is unknown: any value is accepted`}},
		},
		{
			"S7 a list of names",
			`{"type":["str","None","String"]}`, `{"type":["string","null"]}`,
			[]Change{{"", `type ["str","None","String"] became ["string","null"]`}},
		},
		{
			"S7 a tuple with a list of items",
			`{"type":"tuple","items":[{"type":"int"},"str"],"additionalItems":false}`,
			`{"type":"array","items":false,"prefixItems":[{"type":"integer"},{"type":"string"}]}`,
			[]Change{
				{"", `type "tuple" became "array"`},
				{"/items/1", `"str" became a schema`},
				{"/items", "a list became prefixItems"},
				{"/items/0", `type "int" became "integer"`},
			},
		},
		{
			"S7 enum as a type",
			`{"type":"enum","enum":["a"]}`, `{"enum":["a"]}`,
			[]Change{{"", `removed type "enum": the enum says it`}},
		},
		{
			"S7 required on a property",
			`{"properties":{"a":{"type":"string","required":true},"b":{"required":false}},"required":["c"]}`,
			`{"properties":{"a":{"type":"string"},"b":{}},"required":["c","a"]}`,
			[]Change{
				{"/properties/a", "removed required: true, which belongs to the object"},
				{"/required", `added "a"`},
				{"/properties/b", "removed required: false, which belongs to the object"},
			},
		},
		{
			"S7 optional on a property",
			`{"properties":{"a":{"optional":"True"}},"required":["a","b"]}`, `{"properties":{"a":{}},"required":["b"]}`,
			[]Change{{"/properties/a", `removed optional: "True", which is no keyword`}, {"/required", `removed "a", which is optional`}},
		},
		{
			"S7 a property called optional or required",
			`{"properties":{"optional":{"type":"boolean"},"required":{"type":"string"}}}`,
			`{"properties":{"optional":{"type":"boolean"},"required":{"type":"string"}}}`, nil,
		},
		{
			"S7 null for nothing",
			`{"type":"array","required":null,"properties":null,"items":null,"enum":null}`, `{"type":"array"}`,
			[]Change{
				{"", "removed enum null: want a list of values"},
				{"", "removed required: got null, want a list of strings"},
				{"", "removed properties: got null, want an object of schemas"},
				{"", "removed items: got null, want a schema or a list of schemas"},
			},
		},
		{
			"S7 booleans of draft 4",
			`{"minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}`, `{"maximum":9,"exclusiveMinimum":0}`,
			[]Change{{"", "minimum with exclusiveMinimum: true became exclusiveMinimum: 0"}, {"", "removed exclusiveMaximum: false"}},
		},
		{
			"S7 nullable",
			`{"type":"str","nullable":true,"enum":["a"]}`, `{"type":["string","null"],"enum":["a",null]}`,
			[]Change{{"", `type "str" became "string"`}, {"", "nullable: true became the type null"}},
		},
		{
			"S7 nullable beside a reference, in any draft",
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/d","nullable":true,"description":"A","type":"int"}},"definitions":{"d":{"type":"string"}}}`,
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"description":"A","anyOf":[{"$ref":"#/definitions/d","type":"integer"},{"type":"null"}]}},"definitions":{"d":{"type":"string"}}}`,
			[]Change{{"/properties/a", `type "int" became "integer"`}, {"/properties/a", "nullable: true became an anyOf with the type null"}},
		},
		{
			"S7 nullable beside const, oneOf and allOf",
			`{"properties":{"a":{"const":"x","type":"string","nullable":true},"b":{"oneOf":[{},{"minimum":1}],"nullable":true},"c":{"allOf":[{"type":"dict"}],"nullable":true}}}`,
			`{"properties":{"a":{"anyOf":[{"const":"x","type":"string"},{"type":"null"}]},"b":{"anyOf":[{"oneOf":[{},{"minimum":1}]},{"type":"null"}]},"c":{"anyOf":[{"allOf":[{"type":"object"}]},{"type":"null"}]}}}`,
			[]Change{
				{"/properties/a", "nullable: true became an anyOf with the type null"},
				{"/properties/b", "nullable: true became an anyOf with the type null"},
				{"/properties/c", "nullable: true became an anyOf with the type null"},
				{"/properties/c/allOf/0", `type "dict" became "object"`},
			},
		},
		{
			"S7 nullable where a reference leads inside",
			`{"properties":{"a":{"allOf":[{"type":"string"}],"nullable":true},"b":{"$ref":"#/properties/a/allOf/0"}}}`,
			`{"properties":{"a":{"allOf":[{"type":"string"}]},"b":{"$ref":"#/properties/a/allOf/0"}}}`,
			[]Change{{"/properties/a", "removed nullable: true: a reference leads into what it is about"}},
		},
		{
			"S7 required as a text on a property",
			`{"properties":{"a":{"type":"string","required":"true"},"b":{"required":"False"},"c":{"type":"object","properties":{"no":{}},"required":"no"}},"required":"yes"}`,
			`{"properties":{"a":{"type":"string"},"b":{},"c":{"type":"object","properties":{"no":{}},"required":["no"]}},"required":["a"]}`,
			[]Change{
				{"/properties/a", `removed required: "true", which belongs to the object`},
				{"/required", `added "a"`},
				{"/properties/b", `removed required: "False", which belongs to the object`},
				{"/properties/c/required", `"no" became a list`},
			},
		},
		{
			"S7 required as a text at the root",
			`{"properties":{"a":{}},"required":"true"}`, `{"properties":{"a":{}}}`,
			[]Change{{"", `removed required: "true", which names no property`}},
		},
		{
			"S7 types that may be more than one thing",
			`{"properties":{"t":{"type":"timestamp"},"j":{"type":"json"}}}`, `{"properties":{"t":{},"j":{}}}`,
			[]Change{{"/properties/t", `removed type "timestamp": any value is accepted`}, {"/properties/j", `removed type "json": any value is accepted`}},
		},
		{
			"S7 a default of null",
			`{"type":"string","default":null}`, `{"type":["string","null"],"default":null}`,
			[]Change{{"", "default: null became the type null"}},
		},
		{
			"S7 an enum of an array that is meant for its items",
			`{"type":"array","items":{"type":"string"},"enum":["a","b"]}`, `{"type":"array","items":{"type":"string","enum":["a","b"]}}`,
			[]Change{{"", "enum of an array became the enum of its items"}},
		},
		{
			"S7 values of the wrong kind",
			`{"minLength":"2","maxLength":"many","description":7,"pattern":"(?=x)","required":["a","a",1],"properties":{"a":"int","b":null}}`,
			`{"minLength":2,"required":["a"],"properties":{"a":{"type":"integer"},"b":{}}}`,
			[]Change{
				{"/properties/a", `"int" became a schema`},
				{"/properties/b", "null is no schema: any value is accepted"},
				{"/required", "removed what is no name or stands twice"},
				{"/minLength", `"2" became a number`},
				{"", `removed maxLength: got "many", want a whole number from 0`},
				{"", "removed description: got 7, want a string"},
				{"", "removed pattern: got a pattern that is not RE2"},
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, changes, err := Normalise([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want || !slices.Equal(changes, tt.changes) {
				t.Errorf("Normalise(%s)\n got %s %q\nwant %s %q", tt.text, got, changes, tt.want, tt.changes)
			}
			if _, err := Compile(got, Options{}); err != nil {
				t.Errorf("Normalise(%s) = %s: %v", tt.text, got, err)
			}
		})
	}
}

// TestNormaliseBounds meets what is large, but not refused.
func TestNormaliseBounds(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		changes    int // at least
	}{
		{"S6 S7 patterns", `{"properties":{` + each(1000, `"a%[1]d":{"pattern":"(a{1,100}){1,9}%[1]d"}`) + `}}`, 900},
		{"S6 S7 patterns of properties", `{"patternProperties":{` + each(1000, `"(a{1,100}){1,9}%d":{}`) + `}}`, 900},
		{"S6 S7 names", `{"required":[` + each(10_000, `"a%d"`) + `]}`, 0},
		{"S6 S7 names that are optional", `{"required":[` + each(10_000, `"a%d"`) + `],"optional":[` + each(9_000, `"a%d"`) + `]}`, 1},
		{"S6 S7 properties that say that they are required", `{"properties":{` + each(1900, `"a%d":{"required":true}`) + `},"required":[` + each(10_000, `"b%d"`) + `]}`, 3800},
		{"S6 S7 values", `{"$schema":"http://json-schema.org/draft-07/schema#","enum":[` + each(10_000, `"a%d"`) + `]}`, 0},
		{"S6 S7 types", `{"type":[` + each(10_000, `"list[x%d]"`) + `]}`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []byte
			var changes []Change
			var err error
			if n := allocated(func() { got, changes, err = Normalise([]byte(tt.text)) }); n > 60<<20 {
				t.Errorf("%d MB were allocated, want at most 60", n>>20)
			}
			if err != nil || len(changes) < tt.changes || tt.changes == 0 && len(changes) > 0 {
				t.Fatalf("%d changes, %v, want at least %d", len(changes), err, tt.changes)
			}
			if _, err := Compile(got, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTypeNames(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"HashMap", `{"type":"object"}`},
		{"java.lang.String", `{"type":"string"}`},
		{"list[str]", `{"type":"array","items":{"type":"string"}}`},
		{"List<String>", `{"type":"array","items":{"type":"string"}}`},
		{"string[]", `{"type":"array","items":{"type":"string"}}`},
		{"int[][]", `{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`},
		{"array of strings", `{"type":"array","items":{"type":"string"}}`},
		{"Optional[int]", `{"type":["integer","null"]}`},
		{"int?", `{"type":["integer","null"]}`},
		{"str | None", `{"type":["string","null"]}`},
		{"integer or null", `{"type":["integer","null"]}`},
		{"string, number", `{"type":["string","number"]}`},
		{"dict[str, int]", `{"type":"object","additionalProperties":{"type":"integer"}}`},
		{"Map<String, List<Double>>", `{"type":"object","additionalProperties":{"type":"array","items":{"type":"number"}}}`},
		{"Dict[str, Any]", `{"type":"object"}`},
		{"tuple[int, str]", `{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}]}`},
		{"tuple[int, ...]", `{"type":"array","items":{"type":"integer"}}`},
		{"Optional[List[int]]", `{"type":["array","null"],"items":{"type":"integer"}}`},
		{"Union[list[int], list[str]]", `{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"array","items":{"type":"string"}}]}`},
		{"varchar(255)", `{"type":"string"}`},
		{"datetime", `{"type":"string","format":"date-time"}`},
		{"timestamp", `{}`},
		{"json[]", `{"type":"array"}`},
		{"Any", `{}`},
		{"str | Any", `{}`},
	} {
		t.Run("S7 "+tt.name, func(t *testing.T) {
			got := readType(tt.name, 0)
			if got == nil || string(got.json()) != tt.want {
				t.Errorf("readType(%q) = %v, want %s", tt.name, got, tt.want)
			}
		})
	}
	for _, name := range []string{"", "Widget", "list[", strings.Repeat("list[", 20) + "int" + strings.Repeat("]", 20), strings.Repeat("x", 300)} {
		if got := readType(name, 0); got != nil && got.get("items").get("items") == nil {
			t.Errorf("readType(%q) = %s, want nothing", name, got.json())
		}
	}
}

func TestNormaliseRefuses(t *testing.T) {
	for _, text := range []string{``, `[]`, `true`, `"dict"`, `{"type":}`, `{"a":1,"a":2}`} {
		if got, _, err := Normalise([]byte(text)); err == nil {
			t.Errorf("Normalise(%q) = %s, want an error", text, got)
		}
	}
}

// FuzzNormalise gives any text: a second time changes nothing, and what refers
// to nothing compiles.
func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{
		`{"type":"dict","properties":{"a":{"type":"list[str]","required":true},"b":"int"},"optional":["a"]}`,
		`{"type":"tuple","items":[{"type":"float"},null],"nullable":true,"enum":[1]}`,
		`{"exclusiveMinimum":true,"minimum":"3","multipleOf":0,"pattern":"(","patternProperties":{"[":{}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[],"dependencies":{"a":1}}`,
		`{"type":["any","str"],"default":null,"anyOf":[],"not":3,"definitions":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		once, _, err := Normalise(text)
		if err != nil {
			return
		}
		twice, changes, err := Normalise(once)
		if err != nil || len(changes) > 0 || !bytes.Equal(once, twice) {
			t.Fatalf("Normalise(%s) = %s, again %s %q %v", text, once, twice, changes, err)
		}
		if !strings.ContainsAny(string(once), "$") && !bytes.Contains(once, []byte(`"id"`)) {
			if _, err := Compile(once, Options{}); err != nil {
				t.Fatalf("Normalise(%s) = %s: %v", text, once, err)
			}
		}
	})
}

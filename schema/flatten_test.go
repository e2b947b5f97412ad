package schema

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Most rules are the same in every dialect; MCP's changes least.
func TestFlattenRefs(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{
			"S5 a definition is written out where it is used",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/c"},"b":{"$ref":"#/$defs/c"}},"$defs":{"c":{"enum":["x","y"]}}}`,
			`{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"enum":["x","y"]}}}`,
		},
		{
			"S5 a pointer is decoded",
			`{"properties":{"a":{"$ref":"#/$defs/a~1b%25~0"}},"$defs":{"a/b%~":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`,
		},
		{
			"S5 anchors and embedded resources",
			`{"$id":"https://x.example/s/root","properties":{"a":{"$ref":"#n"},"b":{"$ref":"item#n"},"c":{"$ref":"/s/item"},"d":{"$dynamicRef":"#n"}},
			  "$defs":{"n":{"$anchor":"n","type":"null"},"i":{"$id":"item","type":"string","$defs":{"n":{"$anchor":"n","type":"number"}}}}}`,
			`{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"number"},"c":{"type":"string"},"d":{"type":"null"}}}`,
		},
		{
			"S5 what stands beside a reference counts",
			`{"properties":{"a":{"description":"here","minLength":1,"$ref":"#/$defs/s"}},"$defs":{"s":{"description":"there","type":"string","minLength":3}}}`,
			`{"type":"object","properties":{"a":{"description":"here","minLength":3,"type":"string"}}}`,
		},
		{
			"S5 before 2019-09 only the description counts",
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"description":"here","minLength":1,"$ref":"#s"}},"definitions":{"s":{"$id":"#s","type":"string"}}}`,
			`{"type":"object","properties":{"a":{"description":"here","type":"string"}}}`,
		},
		{
			"S5 forms of draft 7",
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"t":{"items":[{"type":"string"}],"additionalItems":false}},"dependencies":{"a":["b"],"c":{"required":["d"]}}}`,
			`{"type":"object","properties":{"t":{"prefixItems":[{"type":"string"}],"items":false}},"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}}}`,
		},
		{
			"S5 a property called $ref is a property",
			`{"properties":{"$ref":{"type":"string"},"allOf":{"type":"integer"}}}`,
			`{"type":"object","properties":{"$ref":{"type":"string"},"allOf":{"type":"integer"}}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) { flatAs(t, tt.text, MCP, tt.want) })
	}
}

func TestFlattenMerges(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		changes          []Change
	}{
		{
			"S5 properties and required are united",
			`{"allOf":[{"properties":{"a":{"type":"number"}},"required":["a"]},{"properties":{"a":{"type":"integer","description":"A"},"b":{}},"required":["b"]}]}`,
			`{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer","description":"A"},"b":{}}}`, nil,
		},
		{
			"S5 a closed part closes the whole",
			`{"allOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}}}]}`,
			`{"type":"object","properties":{"a":{}},"additionalProperties":false}`, nil,
		},
		{
			"S5 unevaluatedProperties sees the whole",
			`{"properties":{"a":{}},"allOf":[{"properties":{"b":{}}}],"unevaluatedProperties":false}`,
			`{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false}`, nil,
		},
		{
			"S5 a condition that decides nothing still looks at properties",
			`{"if":{"patternProperties":{"foo":{"type":"string"}}},"unevaluatedProperties":false}`,
			`{"type":"object"}`,
			[]Change{{"", "removed unevaluatedProperties: what it leaves over cannot be said exactly"}},
		},
		{
			"S5 the tightest bounds stand",
			`{"properties":{"a":{"allOf":[{"minimum":1,"maximum":9,"multipleOf":2},{"minimum":0.5,"maximum":5,"multipleOf":4}]}}}`,
			`{"type":"object","properties":{"a":{"minimum":1,"maximum":5,"multipleOf":4}}}`, nil,
		},
		{
			"S5 enum and const are intersected",
			`{"properties":{"a":{"allOf":[{"enum":["x","y"]},{"enum":["y","z"]}]},"b":{"enum":[1,2],"allOf":[{"const":2.0}]}}}`,
			`{"type":"object","properties":{"a":{"enum":["y"]},"b":{"enum":[2]}}}`, nil,
		},
		{
			"S5 two unions are multiplied out",
			`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}],"allOf":[{"anyOf":[{"type":"number"},{"type":"null"}]}]}}}`,
			`{"type":"object","properties":{"a":{"type":"integer"}}}`, nil,
		},
		{
			"S5 two exclusions are one",
			`{"properties":{"a":{"not":{"const":1},"allOf":[{"not":{"const":2}}]}}}`,
			`{"type":"object","properties":{"a":{"not":{"anyOf":[{"const":1},{"const":2}]}}}}`, nil,
		},
		{
			"S5 tuples are merged item by item",
			`{"properties":{"a":{"allOf":[{"prefixItems":[{"type":"number"}]},{"items":{"minimum":0}}]}}}`,
			`{"type":"object","properties":{"a":{"prefixItems":[{"type":"number","minimum":0}],"items":{"minimum":0}}}}`, nil,
		},
		{
			"S5 a second pattern is left out and said",
			`{"properties":{"a":{"allOf":[{"pattern":"^a"},{"pattern":"b$"}]}}}`,
			`{"type":"object","properties":{"a":{"pattern":"^a"}}}`,
			[]Change{{"/properties/a", "removed the second pattern of a composition: b$"}},
		},
		{
			"S5 of parts that exclude each other the first stands",
			`{"properties":{"a":{"allOf":[{"type":"string"},{"type":"integer"}]}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`,
			[]Change{{"/properties/a", "parts of a composition exclude each other; the first stands"}},
		},
		{
			"S5 an exclusion that would exclude more is left out",
			`{"properties":{"a":{"not":{"allOf":[{"pattern":"^a"},{"pattern":"b$"}]}}}}`,
			`{"type":"object","properties":{"a":{}}}`,
			[]Change{
				{"/properties/a/not", "removed the second pattern of a composition: b$"},
				{"/properties/a", "removed not: what it excludes cannot be said exactly"},
			},
		},
		{
			"S5 a union at the root becomes one object",
			`{"oneOf":[{"properties":{"k":{"const":"x"},"n":{"type":"integer"}},"required":["k","n"],"additionalProperties":false},{"properties":{"k":{"const":"y"}},"required":["k"],"additionalProperties":false}]}`,
			`{"type":"object","required":["k"],"properties":{"k":{"enum":["x","y"]},"n":{"type":"integer"}},"additionalProperties":false,"description":"Exactly one of these must hold: [{\"properties\":{\"k\":{\"const\":\"x\"},\"n\":{\"type\":\"integer\"}},\"required\":[\"k\",\"n\"],\"additionalProperties\":false},{\"properties\":{\"k\":{\"const\":\"y\"}},\"required\":[\"k\"],\"additionalProperties\":false}]."}`,
			[]Change{{"", "a union at the root became one object that accepts each of its forms"}},
		},
		{
			"S5 a property that one form leaves open stays open",
			`{"anyOf":[{"properties":{"a":{"type":"string","description":"A"}}},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"description":"A"}},"description":"At least one of these must hold: [{\"properties\":{\"a\":{\"type\":\"string\",\"description\":\"A\"}}},{\"required\":[\"b\"]}]."}`,
			[]Change{{"", "a union at the root became one object that accepts each of its forms"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			flat := flatAs(t, tt.text, MCP, tt.want)
			if !slices.Equal(flat.Changes, tt.changes) {
				t.Errorf("changes %q, want %q", flat.Changes, tt.changes)
			}
		})
	}
}

func flatAs(t *testing.T, text string, p Profile, want string) Flat {
	t.Helper()
	flat, err := Flatten([]byte(text), p)
	if err != nil {
		t.Fatalf("Flatten(%s, %s): %v", text, p, err)
	}
	if string(flat.Schema) != want {
		t.Errorf("Flatten(%s, %s)\n got %s\nwant %s", text, p, flat.Schema, want)
	}
	if _, err := Compile(flat.Schema, Options{}); err != nil {
		t.Errorf("Flatten(%s, %s) = %s: %v", text, p, flat.Schema, err)
	}
	return flat
}

func TestFlattenDialects(t *testing.T) {
	const text = `{
	  "type": "object", "title": "T",
	  "properties": {
	    "s": {"type": ["string","null"], "description": "S", "format": "uri", "minLength": 1},
	    "n": {"type": "integer", "exclusiveMinimum": 0, "default": 3},
	    "x": {"type": "number", "exclusiveMaximum": 1.5},
	    "e": {"enum": [1, 2, null]},
	    "k": {"const": "only"},
	    "t": {"type": "array", "prefixItems": [{"type":"string"},{"type":"boolean"}], "items": false},
	    "l": {"type": "array"},
	    "o": {"oneOf": [{"type":"string"},{"type":"array","items":{"type":"string"}}], "description": "O"},
	    "a b": {"type": "object", "additionalProperties": {"type":"string"}}
	  },
	  "required": ["s", "ghost"], "not": {"required": ["z"]}, "x-order": 1
	}`
	for _, tt := range []struct {
		profile Profile
		want    string
		changes []string
	}{
		{
			Anthropic,
			`{"type":"object","title":"T","properties":{"s":{"type":["string","null"],"description":"S","format":"uri","minLength":1},"n":{"type":"integer","exclusiveMinimum":0,"default":3},"x":{"type":"number","exclusiveMaximum":1.5},"e":{"enum":[1,2,null]},"k":{"const":"only"},"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}],"items":false},"l":{"type":"array"},"o":{"description":"O","oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},"a b":{"type":"object","additionalProperties":{"type":"string"}}},"required":["s","ghost"],"not":{"required":["z"]}}`,
			[]string{" removed x-order, which is no keyword of JSON Schema", "/properties/a b the provider refuses this property name: want ^[a-zA-Z0-9_.-]{1,64}$"},
		},
		{
			OpenAI,
			`{"type":"object","title":"T","properties":{"s":{"type":["string","null"],"description":"S","format":"uri","minLength":1},"n":{"type":"integer","exclusiveMinimum":0,"default":3},"x":{"type":"number","exclusiveMaximum":1.5},"e":{"enum":[1,2,null]},"k":{"const":"only"},"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}],"items":false},"l":{"type":"array","items":{}},"o":{"description":"O","oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},"a b":{"type":"object","additionalProperties":{"type":"string"},"properties":{}}},"required":["s","ghost"],"description":"But not: {\"required\":[\"z\"]}."}`,
			[]string{" removed x-order, which is no keyword of JSON Schema", " removed not, which the root may not have"},
		},
		{
			Gemini,
			`{"type":"object","properties":{"s":{"anyOf":[{"type":"string","minLength":1,"description":"S. Format: uri."},{"type":"null"}]},"n":{"type":"integer","minimum":1,"description":"Default: 3."},"x":{"type":"number","description":"Less than 1.5.","maximum":1.5},"e":{"anyOf":[{"type":"integer","description":"One of: 1, 2."},{"type":"null"}]},"k":{"enum":["only"],"type":"string"},"t":{"type":"array","maxItems":2,"items":{"anyOf":[{"type":"string"},{"type":"boolean"}]}},"l":{"type":"array","items":{}},"o":{"anyOf":[{"type":"string","description":"O"},{"type":"array","items":{"type":"string"}}]},"a b":{"type":"object","description":"Other keys take values like {\"type\":\"string\"}."}},"description":"T. But not: {\"required\":[\"z\"]}. \"ghost\" is required.","required":["s"]}`,
			[]string{
				"/properties/o oneOf became anyOf", " removed x-order, which is no keyword of JSON Schema",
				"/properties/s removed format", "/properties/n exclusiveMinimum became minimum", "/properties/n removed default",
				"/properties/x exclusiveMaximum became maximum", "/properties/e removed enum",
				"/properties/t items that differ by position became items of any of these kinds",
				"/properties/a b removed additionalProperties", " removed title", " removed not", ` "ghost" is required but not described`,
			},
		},
		{
			MCP,
			`{"type":"object","title":"T","properties":{"s":{"type":["string","null"],"description":"S","format":"uri","minLength":1},"n":{"type":"integer","exclusiveMinimum":0,"default":3},"x":{"type":"number","exclusiveMaximum":1.5},"e":{"enum":[1,2,null]},"k":{"const":"only"},"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}],"items":false},"l":{"type":"array"},"o":{"description":"O","oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},"a b":{"type":"object","additionalProperties":{"type":"string"}}},"required":["s","ghost"],"not":{"required":["z"]}}`,
			[]string{" removed x-order, which is no keyword of JSON Schema"},
		},
	} {
		t.Run("S5 "+string(tt.profile), func(t *testing.T) {
			flat := flatAs(t, text, tt.profile, tt.want)
			if got := apply(flat.Changes, func(c Change) string { return c.Pointer + " " + c.What }); !slices.Equal(got, tt.changes) {
				t.Errorf("changes\n got %q\nwant %q", got, tt.changes)
			}
		})
	}
}

func TestFlattenStrict(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		nullable         []string
	}{
		{
			"S5 every property is required, and null where it was not",
			`{"type":"object","properties":{"a":{"type":"string","minLength":2},"b":{"enum":["F","C"]},"c":{"type":["integer","null"]},"d":{"anyOf":[{"type":"string","format":"email"},{"type":"boolean"}]}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"Length at least 2."},"b":{"enum":["F","C",null],"type":["string","null"]},"c":{"type":["integer","null"]},"d":{"anyOf":[{"type":"string","format":"email"},{"type":"boolean"},{"type":"null"}]}},"required":["a","b","c","d"],"additionalProperties":false}`,
			[]string{"/b", "/d"},
		},
		{
			"S5 objects in arrays",
			`{"properties":{"f":{"type":"array","maxItems":3,"items":{"type":"object","properties":{"u":{"type":"string"}}}}},"required":["f"]}`,
			`{"type":"object","properties":{"f":{"type":"array","maxItems":3,"items":{"type":"object","properties":{"u":{"type":["string","null"]}},"required":["u"],"additionalProperties":false}}},"required":["f"],"additionalProperties":false}`,
			[]string{"/f/*/u"},
		},
		{
			"S5 a property called * is no item",
			`{"properties":{"*":{"type":"string"},"f":{"type":"array","items":{"type":"object","properties":{"*":{"type":"string"},"a*":{"type":"string"}},"required":["a*"]}}},"required":["f"]}`,
			`{"type":"object","properties":{"*":{"type":["string","null"]},"f":{"type":"array","items":{"type":"object","properties":{"*":{"type":["string","null"]},"a*":{"type":"string"}},"required":["*","a*"],"additionalProperties":false}}},"required":["*","f"],"additionalProperties":false}`,
			[]string{"/~2", "/f/*/~2"},
		},
		{
			"S5 values of another type leave the enum",
			`{"properties":{"s":{"type":"string","enum":[1,"a"]},"i":{"type":["integer","null"],"enum":["x",1.5,2.0,null]},"n":{"type":"number","enum":[1,1.5,true]}},"required":["s","i","n"]}`,
			`{"type":"object","properties":{"s":{"type":"string","enum":["a"]},"i":{"type":["integer","null"],"enum":[2.0,null]},"n":{"type":"number","enum":[1,1.5]}},"required":["s","i","n"],"additionalProperties":false}`,
			nil,
		},
		{
			"S5 what strict has no keyword for is said",
			`{"properties":{"l":{"type":"array","items":{"type":"string"},"contains":{"const":"x"}}},"required":["l"],"dependentRequired":{"a":["b"]}}`,
			`{"type":"object","description":"Keys that need others: {\"a\":[\"b\"]}.","properties":{"l":{"type":"array","description":"At least 1 of its items like {\"const\":\"x\"}.","items":{"type":"string"}}},"required":["l"],"additionalProperties":false}`,
			nil,
		},
		{
			"S5 types with keywords of their own become branches",
			`{"properties":{"f":{"type":["string","array"],"items":{"type":"string"},"description":"F"}},"required":["f"]}`,
			`{"type":"object","properties":{"f":{"description":"F","anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}},"required":["f"],"additionalProperties":false}`,
			nil,
		},
		{
			"S5 a pair of the same kind",
			`{"properties":{"p":{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}],"items":false}},"required":["p"]}`,
			`{"type":"object","properties":{"p":{"type":"array","maxItems":2,"items":{"type":"number"}}},"required":["p"],"additionalProperties":false}`,
			nil,
		},
		{
			"S5 no arguments at all",
			`{"type":"object","properties":{},"additionalProperties":false}`,
			`{"type":"object","properties":{},"required":[],"additionalProperties":false}`, nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			flat := flatAs(t, tt.text, OpenAIStrict, tt.want)
			if !flat.Strict || flat.Reason != "" || !slices.Equal(flat.Nullable, tt.nullable) {
				t.Errorf("strict %v %q nullable %q, want strict, nullable %q", flat.Strict, flat.Reason, flat.Nullable, tt.nullable)
			}
		})
	}
}

func TestFlattenNotStrict(t *testing.T) {
	many := func(n int, each string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"p%d":%s`, i, each)
		}
		return `{"type":"object","properties":{` + b.String()[1:] + `}}`
	}
	for _, tt := range []struct{ name, text, reason string }{
		{"S5 an object that names nothing", `{"type":"object"}`, "(root): names no property and so takes any"},
		{"S5 an object with an empty list of properties", `{"type":"object","properties":{}}`, "(root): names no property and so takes any"},
		{"S5 a map", `{"properties":{"m":{"type":"object","additionalProperties":{"type":"string"}}}}`, "/properties/m: takes properties that it does not name"},
		{"S5 an open object", `{"properties":{"m":{"type":"string"}},"additionalProperties":true}`, "(root): takes properties that it does not name"},
		{"S5 names by pattern", `{"properties":{"m":{"type":"object","properties":{"a":{"type":"string"}},"patternProperties":{"^x":{}}}}}`, "/properties/m: has patternProperties"},
		{"S5 any value", `{"properties":{"m":{"description":"anything"}}}`, "/properties/m: accepts any value"},
		{"S5 any items", `{"properties":{"m":{"type":"array"}}}`, "/properties/m: accepts any items"},
		{"S5 a tuple", `{"properties":{"m":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}}}`, "/properties/m: its items differ by position"},
		{"S5 recursion", `{"properties":{"m":{"$ref":"#"}}}`, "/properties/m: refers to what it is inside of"},
		{"S5 what is required but not described", `{"properties":{"m":{"type":"string"}},"required":["x"]}`, `(root): requires "x" without describing it`},
		{
			"S5 a null that means something in one form, and not given in another",
			`{"properties":{"f":{"anyOf":[{"type":"object","properties":{"k":{"const":"a"},"x":{"type":["string","null"]}},"required":["k","x"]},{"type":"object","properties":{"k":{"const":"b"},"x":{"type":"string"}},"required":["k"]}]}},"required":["f"]}`,
			"/properties/f/anyOf/1/properties/x: where it is not given it would have to be null, which another form gives a meaning",
		},
		{"S5 an enum without values of its type", `{"properties":{"m":{"type":"string","enum":[1,2]}}}`, "/properties/m: none of the values of its enum has its type"},
		{"S5 an enum of objects", `{"properties":{"m":{"enum":[{"a":1}]}}}`, "/properties/m: its enum has objects or lists"},
		{"S5 too many properties", strings.TrimSuffix(many(100, `{"$ref":"#/$defs/d"}`), "}") + `,"$defs":{"d":` + many(50, `{"type":"string"}`) + `}}`, "(root): 5100 properties, want at most 5000"},
		{"S5 too many values", many(501, `{"enum":["a","b"]}`), "(root): 1002 enum values, want at most 1000"},
		{"S5 nested too deep", strings.Repeat(`{"type":"object","properties":{"a":`, 11) + `{"type":"string"}` + strings.Repeat(`}}`, 11), "/properties/a" + strings.Repeat("/properties/a", 9) + ": nested more than 10 deep"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			flat, err := Flatten([]byte(tt.text), OpenAIStrict)
			if err != nil {
				t.Fatal(err)
			}
			if flat.Strict || flat.Reason != tt.reason {
				t.Errorf("strict %v, reason %q, want reason %q", flat.Strict, flat.Reason, tt.reason)
			}
			loose, err := Flatten([]byte(tt.text), OpenAI)
			if err != nil {
				t.Fatal(err)
			}
			if loose.Reason = flat.Reason; !reflect.DeepEqual(flat, loose) {
				t.Errorf("got %s, want what OpenAI gets: %s", flat.Schema, loose.Schema)
			}
		})
	}
}

func TestFlattenRecursion(t *testing.T) {
	t.Run("S5 recursion is cut at depth 4 and said", func(t *testing.T) {
		flat := flatAs(t,
			`{"properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"description":"N","properties":{"n":{"$ref":"#/$defs/n"}}}}}`, Anthropic,
			`{"type":"object","properties":{"n":{"description":"N","properties":{"n":{"description":"N","properties":{"n":{"description":"N","properties":{"n":{"description":"N","properties":{"n":{"description":"N"}}}}}}}}}}}`)
		want := []Change{{"/$defs/n/properties/n", `recursion of "#/$defs/n" is cut at depth 4; what is deeper is left open`}}
		if !flat.Cut || !slices.Equal(flat.Changes, want) {
			t.Errorf("cut %v, changes %q, want cut, %q", flat.Cut, flat.Changes, want)
		}
	})
	t.Run("S5 recursion in many places is cut earlier", func(t *testing.T) {
		var b strings.Builder
		for i := range 30 {
			fmt.Fprintf(&b, `,"p%d":{"$ref":"#"}`, i)
		}
		flat, err := Flatten([]byte(`{"type":"object","properties":{`+b.String()[1:]+`}}`), MCP)
		if err != nil {
			t.Fatal(err)
		}
		if !flat.Cut || len(flat.Schema) > 60_000 || !strings.Contains(flat.Changes[0].What, "at depth 1") {
			t.Errorf("cut %v, %d bytes, %q, want cut at depth 1 and less than 60,000 bytes", flat.Cut, len(flat.Schema), flat.Changes[0])
		}
	})
}

func TestFlattenBounds(t *testing.T) {
	fan := func(levels int, in string) string {
		defs := `"d0":{"type":"string"}`
		for i := 1; i <= levels; i++ {
			ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i-1)
			defs += fmt.Sprintf(`,"d%d":%s`, i, strings.ReplaceAll(in, "REF", ref))
		}
		return fmt.Sprintf(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"}},"$defs":{%s}}`, levels, defs)
	}
	shared := func(levels int, in string) string {
		s := `{}`
		for range levels {
			s = strings.ReplaceAll(in, "NEXT", s)
		}
		return s
	}
	eight := each(8, `{"properties":{"b%[1]d":{}},"required":["b%[1]d"]}`)
	long := strings.Repeat("x", 300_000)
	for _, tt := range []struct{ name, text string }{
		{"S5 S6 2^18 properties", fan(18, `{"type":"object","properties":{"a":REF,"b":REF}}`)},
		{"S5 S6 2^18 parts", fan(18, `{"allOf":[REF,REF]}`)},
		{"S5 S6 2^18 branches", fan(18, `{"anyOf":[REF,REF]}`)},
		{"S5 S6 a chain of references", fan(100, `{"type":"array","items":REF}`)},
		{"S5 S6 a long text many times", `{"properties":{"a":{"$ref":"#/$defs/l"},"b":{"$ref":"#/$defs/l"},"c":{"$ref":"#/$defs/l"}},"$defs":{"l":{"description":"` + long + `"}}}`},
		{"S5 S6 a long title many times", `{"type":"object","properties":{` + each(400, `"p%d":{"$ref":"#/$defs/l"}`) + `},"$defs":{"l":{"type":"string","minLength":1,"title":"` + long + `"}}}`},
		{"S5 S6 unions of unions", `{"properties":{"a":{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"anyOf":[{"minimum":1},{"maxLength":1},{"maxItems":1},{"maxProperties":1}]},`, 12), ",") + `]}}}`},
		{"S5 S6 branches that share parts", shared(7, `{"type":"object","allOf":[{"anyOf":[{"properties":{"x":NEXT}},{"properties":{"t":{"type":"string"}},"required":["t"]}]},{"anyOf":[`+eight+`]}]}`)},
		{"S5 S6 branches that share branches", shared(12, `{"type":"object","allOf":[{"anyOf":[NEXT,{"properties":{"t":{"type":"string"}},"required":["t"]}]},{"anyOf":[`+eight+`]}]}`)},
		{"S5 S6 closed branches that share parts", `{"properties":{"p":` + shared(9, `{"type":"object","allOf":[{"anyOf":[{"properties":{"x":NEXT}},{"required":["t"]}]},{"anyOf":[`+eight+`]}]}`) + `}}`},
		{"S5 S6 10,000 names that are required only", `{"type":"object","required":[` + each(10_000, `"r%d"`) + `]}`},
		{"S5 S6 an enum of 1,500 values in many places", `{"properties":{` + each(400, `"p%d":{"$ref":"#/$defs/e"}`) + `},"$defs":{"e":{"enum":[` + each(1500, `%d`) + `]}}}`},
		{"S5 S6 20 recursive properties", `{"type":"object","properties":{` + each(20, `"p%d":{"$ref":"#"}`) + `}}`},
		{"S5 S6 400 references to 150 properties", `{"properties":{"a":{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/d"},`, 400), ",") + `]}},"$defs":{"d":{"type":"object","properties":{` + each(150, `"p%d":{"type":"string"}`) + `}}}}`},
	} {
		for _, p := range Profiles() {
			t.Run(tt.name+" "+string(p), func(t *testing.T) {
				var flat Flat
				var err error
				// What is never written cannot take long.
				if n := allocated(func() { flat, err = Flatten([]byte(tt.text), p) }); n > 120<<20 {
					t.Errorf("%d MB were allocated, want at most 120", n>>20)
				}
				if err != nil {
					t.Fatal(err)
				}
				if len(flat.Schema) > maxSchemaBytes {
					t.Errorf("%d bytes, want at most %d", len(flat.Schema), maxSchemaBytes)
				}
				if _, err := Compile(flat.Schema, Options{}); err != nil {
					t.Errorf("%.200s…: %v", flat.Schema, err)
				}
			})
		}
	}
	t.Run("S5 S6 two long enums are compared as sets", func(t *testing.T) {
		tree, err := parseSchema(`{"properties":{"a":{"allOf":[{"enum":[` + each(10_000, `"a%d"`) + `]},{"enum":[` + each(10_000, `"b%d"`) + `,"a7"]}]}}}`)
		if err != nil {
			t.Fatal(err)
		}
		f := newFlattener(tree, dialectOf(MCP), maxRecursion)
		root, err := f.expand(tree, scope{res: f.root})
		if err != nil || string(root.json()) != `{"properties":{"a":{"enum":["a7"]}}}` || f.work > 50_000 {
			t.Errorf("got %s, %v with %d values looked at, want the value in both and at most 50,000 looked at", root.json(), err, f.work)
		}
	})
	for _, tt := range []struct{ name, text string }{
		{"S5 S6 recursion stops early where it will be cut", `{"type":"object","properties":{` + each(20, `"p%d":{"$ref":"#"}`) + `}}`},
		{"S5 S6 what cannot be written is not expanded", `{"properties":{"a":{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/d"},`, 400), ",") + `]}},"$defs":{"d":{"type":"object","properties":{` + each(150, `"p%d":{"type":"string"}`) + `}}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree, err := parseSchema(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			f := newFlattener(tree, dialectOf(MCP), maxRecursion)
			if _, err := f.core(tree); err != nil || f.looked > 20_000 {
				t.Errorf("%d schemas were looked at, %v, want at most 20,000", f.looked, err)
			}
		})
	}
	t.Run("S5 what is required but not described is said in one sentence", func(t *testing.T) {
		flat := flatAs(t, `{"type":"object","required":["a","b"]}`, Gemini, `{"type":"object","description":"\"a\", \"b\" are required."}`)
		if want := []Change{{"", `"a", "b" are required but not described`}}; !slices.Equal(flat.Changes, want) {
			t.Errorf("changes %q, want %q", flat.Changes, want)
		}
		flat, err := Flatten([]byte(`{"type":"object","required":[`+each(10_000, `"r%d"`)+`]}`), Gemini)
		if err != nil || len(flat.Schema) > 1000 || !strings.Contains(string(flat.Schema), "more are required.") {
			t.Errorf("%v, %d bytes %.100s…, want less than 1,000 that say how many more", err, len(flat.Schema), flat.Schema)
		}
	})
}

// each writes n texts with their number in them, with commas.
func each(n int, format string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, ",")
}

// allocated is how many bytes a function allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What the model is to know and the dialect has no keyword for stands in the
// description.
func TestFlattenRemarks(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a typed map", `{"type":"object","additionalProperties":{"type":"string"}}`, `Other keys take values like {"type":"string"}.`},
		{"an open object", `{"type":"object","additionalProperties":true}`, ``},
		{"a closed object", `{"type":"object","additionalProperties":false}`, ``},
		{"names of keys", `{"type":"object","propertyNames":{"pattern":"^x"}}`, `Each key is like {"pattern":"^x"}.`},
		{"keys by pattern", `{"type":"object","patternProperties":{"^x":{"type":"integer"}}}`, `Keys by pattern: {"^x":{"type":"integer"}}.`},
		{"keys that need keys", `{"type":"object","dependentRequired":{"a":["b"]}}`, `Keys that need others: {"a":["b"]}.`},
		{"keys that need more", `{"type":"object","dependentSchemas":{"a":{"required":["b"]}}}`, `Keys that ask for more: {"a":{"required":["b"]}}.`},
		{"an item", `{"type":"array","items":{},"contains":{"const":1}}`, `At least 1 of its items like {"const":1}.`},
		{"some items", `{"type":"array","items":{},"contains":{"const":1},"minContains":0,"maxContains":2}`, `At least 0 and at most 2 of its items like {"const":1}.`},
		{"a condition", `{"type":"object","if":{"required":["a"]},"then":{"required":["b"]},"else":{"maxProperties":1}}`, `If it is like {"required":["a"]}, then like {"required":["b"]}, else like {"maxProperties":1}.`},
		{"what is too long to say", `{"type":"object","propertyNames":{"enum":[` + each(100, `"n%d"`) + `]}}`, ``},
	} {
		t.Run("S5 Gemini is told of "+tt.name, func(t *testing.T) {
			flat, err := Flatten([]byte(`{"properties":{"p":`+tt.text+`}}`), Gemini)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := parseSchema(string(flat.Schema))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if d := tree.at("properties", "p", "description"); d != nil {
				got = d.text
			}
			if got != tt.want {
				t.Errorf("%s is described as %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestFlattenEmpty(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{`{}`, true},
		{`{"type":"object"}`, true},
		{`{"type":"object","properties":{},"additionalProperties":false,"title":"T"}`, true},
		{`{"type":"object","properties":{"a":false}}`, true},
		{`{"type":"object","properties":{"a":{}}}`, false},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, false},
		{`{"type":"object","additionalProperties":true}`, false},
		{`{"type":"object","patternProperties":{"^x":{}}}`, false},
		{`{"type":"object","required":["a"]}`, false},
		{`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, false},
	} {
		t.Run("S5 no parameters "+tt.text, func(t *testing.T) {
			for _, p := range Profiles() {
				if flat, err := Flatten([]byte(tt.text), p); err != nil || flat.Empty != tt.want {
					t.Errorf("%s: empty %v, %v, want %v", p, flat.Empty, err, tt.want)
				}
			}
		})
	}
}

func TestFlattenLists(t *testing.T) {
	t.Run("S5 property names that Anthropic refuses", func(t *testing.T) {
		const text = `{"properties":{"a b":{"$ref":"#/$defs/d"},"ok":{"$ref":"#/$defs/d"}},"$defs":{"d":{"properties":{"é":{}}}},"anyOf":[{"properties":{"c/d":{"type":"string"}}},{"required":["ok"]}]}`
		for _, p := range Profiles() {
			flat, err := Flatten([]byte(text), p)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if p == Anthropic {
				want = []string{"/properties/a b", "/$defs/d/properties/é", "/anyOf/0/properties/c~1d"}
			}
			if !slices.Equal(flat.Refused, want) {
				t.Errorf("%s: refused %q, want %q", p, flat.Refused, want)
			}
		}
	})
	t.Run("S5 changes beyond the limit are counted", func(t *testing.T) {
		flat, err := Flatten([]byte(`{"type":"object",`+each(maxChanges+20, `"x-%d":1`)+`}`), MCP)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(flat.Changes); n != maxChanges+1 || flat.Changes[n-1] != (Change{What: "and 20 more changes"}) {
			t.Errorf("%d changes, the last %q, want 1,001, the last says 20 more", n, flat.Changes[n-1])
		}
	})
}

func TestFlattenRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, ptr, reason string }{
		{"S5 a reference that leads nowhere", `{"properties":{"a":{"$ref":"#/$defs/no"}}}`, "/properties/a", `reference "#/$defs/no" leads nowhere`},
		{"S5 S6 a reference to a file", `{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "/properties/a", `reference "file:///etc/passwd" leads out of the schema; nothing is loaded`},
		{"S5 a reference to no schema", `{"properties":{"a":{"$ref":"#/required"}},"required":["a"]}`, "/properties/a", `reference "#/required" leads to ["a"], want a schema`},
		{"S5 S6 a reference to itself", `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, "/$defs/a/anyOf/0", "refers to itself without an end"},
		{"S5 a root that accepts no object", `{"type":"string"}`, "", "accepts no object, and arguments are one"},
		{"S5 a root that accepts nothing", `{"allOf":[false]}`, "", "accepts no object, and arguments are one"},
		{"S5 a keyword of the wrong shape", `{"properties":{"a":{"exclusiveMinimum":true}}}`, "/properties/a/exclusiveMinimum", "got true, want a number"},
		{"S5 no schema", `[1]`, "", ""},
	} {
		for _, p := range Profiles() {
			t.Run(tt.name+" "+string(p), func(t *testing.T) {
				flat, err := Flatten([]byte(tt.text), p)
				var def *DefinitionError
				if !errors.As(err, &def) {
					t.Fatalf("Flatten(%s) = %s, %v, want a *DefinitionError", tt.text, flat.Schema, err)
				}
				if def.Pointer != tt.ptr || tt.reason != "" && def.Reason != tt.reason {
					t.Errorf("got %q %q, want %q %q", def.Pointer, def.Reason, tt.ptr, tt.reason)
				}
			})
		}
	}
	if _, err := Flatten([]byte(`{}`), "cohere"); err == nil {
		t.Error("an unknown profile was accepted")
	}
}

package schema

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// FuzzCheckAgrees holds the two engines to one verdict: what the one-pass
// engine accepts, the full library accepts too. What it cannot say is passed
// on and counted, so that a fuzz run shows how much it serves.
func FuzzCheckAgrees(f *testing.F) {
	for _, s := range agreeSchemas() {
		for _, v := range agreeValues() {
			f.Add(s, v)
		}
	}
	var count verdicts
	f.Cleanup(func() { f.Log(count) })
	f.Fuzz(func(t *testing.T, definition, text string) { agrees(t, definition, text, &count) })
}

// verdicts counts who had the last word.
type verdicts struct{ accepted, fast, passedOn int }

func (v verdicts) String() string {
	return fmt.Sprintf("of %d accepted values one pass took %d; %d more were of schemas it serves, and passed on", v.accepted, v.fast, v.passedOn)
}

// agrees fails if the engines differ on text, or if a schema read for arguments
// accepts what it refuses as it is.
func agrees(t fataler, definition, text string, count *verdicts) {
	t.Helper()
	for _, o := range []Options{{}, {Arguments: true}, {Arguments: true, Open: true}, {Draft7: true}, {Draft7: true, Arguments: true}} {
		s, err := Compile([]byte(definition), o)
		if err != nil {
			continue
		}
		full := s.fullCheck(text)
		fast := s.fast != nil && s.fast.accepts(text, s.cost.depth)
		if fast && full != nil {
			t.Fatalf("%+v: %s accepts %q in one pass, the library says %v", o, definition, text, full)
		}
		if full == nil {
			count.accepted++
			switch {
			case fast:
				count.fast++
			case s.Fast():
				count.passedOn++ // served, but not this text
			}
		}
		if !o.Arguments || full != nil {
			continue
		}
		plain, err := Compile([]byte(definition), Options{Draft7: o.Draft7})
		if err != nil {
			t.Fatalf("%s compiles for arguments, but not as it is: %v", definition, err)
		}
		if err := plain.Check(text); err != nil {
			t.Fatalf("%+v: %s accepts %q as arguments, but not as it is: %v", o, definition, text, err)
		}
	}
}

// TestEnginesAgree draws schemas and values that often meet.
func TestEnginesAgree(t *testing.T) {
	t.Run("S1 what one pass accepts, the library accepts", func(t *testing.T) {
		var count verdicts
		rapid.Check(t, func(t *rapid.T) {
			g := generator{t: t}
			s := string(g.root().json())
			for range 4 {
				agrees(t, s, string(g.object().json()), &count)
			}
		})
		t.Log(count)
		if count.fast == 0 {
			t.Error("one pass accepted nothing: the test says nothing")
		}
	})
}

// TestOnePassServes shows what the one-pass engine does not pass on: an engine
// that passed everything on would agree with the library, too.
func TestOnePassServes(t *testing.T) {
	for _, tt := range []struct{ name, schema, text string }{
		{"types", `{"properties":{"s":{"type":"string"},"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"},"z":{"type":"null"},"a":{"type":"array"},"o":{"type":"object"}}}`, `{"s":"x","i":1,"n":1.5,"b":true,"z":null,"a":[1,"x",{}],"o":{"k":[]}}`},
		{"keys in another order, and space", `{"properties":{"a":{},"b":{},"c":{}},"required":["a","c"]}`, "{ \"c\" : 1 ,\n\t\"a\" : 2 }"},
		{"more than eight properties", `{"properties":{"a":{},"b":{},"c":{},"d":{},"e":{},"f":{},"g":{},"h":{},"i":{}},"required":["i"]}`, `{"i":1,"a":2}`},
		{"listed strings, numbers and constants", `{"prefixItems":[{"enum":["x","y"]},{"enum":[1,2]},{"const":"k"},{"const":null}]}`, `["y",2.0,"k",null]`},
		{"more than eight listed strings", `{"enum":["a","b","c","d","e","f","g","h","i"]}`, `"i"`},
		{"lengths", `{"minLength":2,"maxLength":3}`, `"éa"`},
		{"lengths with escapes", `{"maxLength":3}`, `"\u00e9\n\""`},
		{"a pattern", `{"pattern":"^[a-z]+$"}`, `"abc"`},
		{"bounds of numbers", `{"minimum":-1.5,"exclusiveMaximum":100,"multipleOf":0.5}`, `99.5`},
		{"an integer with a fraction of nothing", `{"type":"integer","maximum":100}`, `1e2`},
		{"items", `{"items":{"type":"string"},"minItems":1,"maxItems":2}`, `["a","b"]`},
		{"prefix items and the rest", `{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`, `["a",1,2]`},
		{"other properties by schema", `{"properties":{"a":{}},"additionalProperties":{"type":"string"}}`, `{"a":1,"b":"x","c":"y"}`},
		{"numbers of properties", `{"minProperties":1,"maxProperties":2}`, `{"x":1}`},
		{"a list of types", `{"type":["string","null"]}`, `null`},
		{"a union with null", `{"anyOf":[{"type":"object","properties":{"a":{}}},{"type":"null"}]}`, `{"a":1}`},
		{"a union of branches of one type", `{"anyOf":[{"type":"string","maxLength":1},{"type":"string","pattern":"^x"}]}`, `"xyz"`},
		{"one of several types", `{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `1`},
		{"references", `{"properties":{"p":{"$ref":"#/$defs/p"}},"$defs":{"p":{"type":"object","properties":{"x":{"type":"number"}}}}}`, `{"p":{"x":1}}`},
		{"a reference in allOf", `{"properties":{"p":{"allOf":[{"$ref":"#/$defs/p"}],"description":"d"}},"$defs":{"p":{"type":"object","properties":{"x":{}}}}}`, `{"p":{"x":1}}`},
		{"recursion", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}}}}}`, `{"n":{"n":{}}}`},
		{"required ones in a union beside properties", `{"properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"b":1}`},
		{"draft 7 references", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"p":{"$ref":"#/definitions/p"}},"definitions":{"p":{"type":"object","properties":{"x":{}}}}}`, `{"p":{"x":1}}`},
	} {
		t.Run("S1 one pass serves "+tt.name, func(t *testing.T) {
			for _, o := range []Options{{}, {Arguments: true}} {
				if o.Arguments && tt.text[0] != '{' {
					continue // arguments are objects
				}
				s, err := Compile([]byte(tt.schema), o)
				if err != nil {
					t.Fatal(err)
				}
				if !s.Fast() || !s.fast.accepts(tt.text, s.cost.depth) {
					t.Errorf("%+v: served %v, and %s is passed on", o, s.Fast(), tt.text)
				}
				if n := testing.AllocsPerRun(100, func() { _ = s.Check(tt.text) }); n != 0 {
					t.Errorf("%+v: %v allocations, want 0", o, n)
				}
			}
		})
	}
}

func agreeSchemas() []string {
	return []string{
		`true`, `false`, `{}`,
		`{"type":"object","properties":{"path":{"type":"string","minLength":1},"limit":{"type":"integer","minimum":1,"maximum":100},"deep":{"type":"object","properties":{"a":{"type":"boolean"}}}},"required":["path"]}`,
		`{"type":"object","properties":{"a":{"enum":["x","y",1,null,true]},"b":{"const":1.0}},"additionalProperties":{"type":"number"}}`,
		`{"type":"array","items":{"type":["string","null"],"maxLength":3},"minItems":1,"maxItems":3}`,
		`{"prefixItems":[{"type":"integer"},{"type":"string"}],"items":false}`,
		`{"items":[{"type":"integer"}],"additionalItems":false}`,
		`{"anyOf":[{"type":"string"},{"type":"null"},{"type":"integer","multipleOf":0.5}]}`,
		`{"oneOf":[{"type":"object","properties":{"k":{"const":"a"},"v":{"type":"string"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]}`,
		`{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"number","exclusiveMaximum":1e2}}}},"$ref":"#/$defs/n"}`,
		`{"type":"object","properties":{"a":{"type":"string","pattern":"^[a-z]+$"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
		`{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]}`,
		`{"not":{"properties":{"a":{"type":"object","properties":{"b":{}}}}}}`,
		`{"type":"object","properties":{"x":{"oneOf":[{"properties":{"p":{"properties":{"a":{}}}}},{"properties":{"p":{"properties":{"b":{}}}}}]}}}`,
		`{"type":"object","minProperties":1,"maxProperties":2,"required":["z"]}`,
	}
}

func agreeValues() []string {
	return []string{
		`{}`, `null`, `[]`, `""`, `0`, `-0`, `1.0`, `1e2`, `-1.5e-3`, `true`, ` { "path" : "x" } `,
		`{"path":"a","limit":5}`, `{"limit":1e1,"path":"é"}`, `{"path":"a","path":"b"}`, `{"Path":"a"}`, `{"path":"a","deep":{"a":true}}`,
		`{"a":"x","b":1,"c":2.5}`, `{"a":null}`, `["a",null,"\u00e9\n"]`, `["\ud83d\ude00"]`, `[1,"a"]`, `[1,"a",2]`,
		`{"k":"a","v":"s"}`, `{"next":{"next":{"v":99.5}}}`, `{"a":"abc"}`, `{"a":"s","b":"t"}`, `{"z":1,"y":2}`, `{"x":{"p":{"a":1}}}`,
		"\"\x00\"", "\"\xff\"", `"a`, `{"a":1,}`, `01`, `1.`, `[1 2]`,
	}
}

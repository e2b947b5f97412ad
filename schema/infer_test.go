package schema_test

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/schema"
)

type level struct{}

func (level) JSONSchema() json.RawMessage { return json.RawMessage(`{"enum":["low","high"]}`) }

type own struct{}

func (*own) UnmarshalJSON([]byte) error { return nil }

type node struct {
	Name string  `json:"name"`
	Kids []*node `json:"kids,omitempty"`
}

type octet byte

type refers struct{}

func (refers) JSONSchema() json.RawMessage { return json.RawMessage(`{"$ref":"#/$defs/q"}`) }

type word struct{ text string }

func (w *word) MarshalText() ([]byte, error) { return []byte(w.text), nil }

type either struct{}

func (either) JSONSchema() json.RawMessage { return json.RawMessage(`{"type":["string","integer"]}`) }

type base struct {
	ID string `json:"id"`
}

func TestInfer(t *testing.T) {
	for _, tt := range []struct {
		name    string
		typ     any
		in, out string // out "": the same
	}{
		{"kinds", struct {
			S string  `json:"s"`
			B bool    `json:"b"`
			I int     `json:"i"`
			J int8    `json:"j"`
			U uint    `json:"u"`
			W uint16  `json:"w"`
			F float64 `json:"f"`
		}{}, `{"type":"object","properties":{"s":{"type":"string"},"b":{"type":"boolean"},"i":{"type":"integer"},"j":{"type":"integer","minimum":-128,"maximum":127},"u":{"type":"integer","minimum":0},"w":{"type":"integer","minimum":0,"maximum":65535},"f":{"type":"number"}},"required":["s","b","i","j","u","w","f"]}`, ""},
		{"what may be left out", struct {
			A string `json:"a,omitempty"`
			B int    `json:"b,omitzero"`
			C string `json:"-"`
			D string
			e string
		}{e: ""}, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},"D":{"type":"string"}},"required":["D"]}`, ""},
		{
			"slices, maps, pointers: nil is null on the way out",
			struct {
				L []string       `json:"l"`
				M map[string]int `json:"m"`
				P *int           `json:"p,omitempty"`
				B []byte         `json:"b"`
				A [2]bool        `json:"a"`
			}{},
			`{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}},"m":{"type":"object","additionalProperties":{"type":"integer"}},"p":{"type":["integer","null"]},"b":{"type":"string","contentEncoding":"base64"},"a":{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2}},"required":["l","m","b","a"]}`,
			`{"type":"object","properties":{"l":{"type":["array","null"],"items":{"type":"string"}},"m":{"type":["object","null"],"additionalProperties":{"type":"integer"}},"p":{"type":["integer","null"]},"b":{"type":["string","null"],"contentEncoding":"base64"},"a":{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2}},"required":["l","m","b","a"]}`,
		},
		{"types with a form of their own", struct {
			T time.Time       `json:"t"`
			R json.RawMessage `json:"r"`
			N netip.Addr      `json:"n"`
			L level           `json:"l"`
			A any             `json:"a"`
		}{}, `{"type":"object","properties":{"t":{"type":"string","format":"date-time"},"r":{},"n":{"type":"string"},"l":{"enum":["low","high"]},"a":{}},"required":["t","r","n","l","a"]}`, ""},
		{
			"a type that contains itself",
			node{},
			`{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}},"required":["name"]}`,
			`{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":["array","null"],"items":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}},"required":["name"]}`,
		},
		{
			"one below the root",
			struct {
				Tree node `json:"tree"`
			}{},
			`{"type":"object","properties":{"tree":{"$ref":"#/$defs/node"}},"required":["tree"],"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}}},"required":["name"]}}}`,
			`{"type":"object","properties":{"tree":{"$ref":"#/$defs/node"}},"required":["tree"],"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":["array","null"],"items":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}}},"required":["name"]}}}`,
		},
		{"embedded structs", struct {
			base
			ID   int    `json:"id"`
			Name string `json:"name"`
		}{}, `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id","name"]}`, ""},
		{"numbers in quotes", struct {
			N int `json:"n,string"`
		}{}, `{"type":"object","properties":{"n":{"type":"string","pattern":"^-?(0|[1-9][0-9]*)$"}},"required":["n"]}`, ""},
		{
			"tags",
			struct {
				A string   `json:"a" jsonschema:"description=one\\, two,minLength=1,pattern=^a,title=A"`
				B *string  `json:"b,omitempty" jsonschema:"enum=x,enum=y"`
				C []int    `json:"c,omitempty" jsonschema:"minimum=1,maxItems=3,uniqueItems"`
				D float64  `json:"d,omitempty" jsonschema:"default=1.5,required"`
				E string   `json:"e" jsonschema:"a whole sentence, with a comma"`
				F string   `json:"f" jsonschema:"optional,example=x" jsonschema_description:"words"`
				G []string `json:"g,omitempty" jsonschema:"enum=p,enum=q"`
			}{},
			`{"type":"object","properties":{"a":{"type":"string","description":"one, two","minLength":1,"pattern":"^a","title":"A"},"b":{"type":["string","null"],"enum":["x","y",null]},"c":{"type":"array","items":{"type":"integer","minimum":1},"maxItems":3,"uniqueItems":true},"d":{"type":"number","default":1.5},"e":{"type":"string","description":"a whole sentence, with a comma"},"f":{"type":"string","examples":["x"],"description":"words"},"g":{"type":"array","items":{"type":"string","enum":["p","q"]}}},"required":["a","d","e"]}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"one, two","minLength":1,"pattern":"^a","title":"A"},"b":{"type":["string","null"],"enum":["x","y",null]},"c":{"type":["array","null"],"items":{"type":"integer","minimum":1},"maxItems":3,"uniqueItems":true},"d":{"type":"number","default":1.5},"e":{"type":"string","description":"a whole sentence, with a comma"},"f":{"type":"string","examples":["x"],"description":"words"},"g":{"type":["array","null"],"items":{"type":"string","enum":["p","q"]}}},"required":["a","d","e"]}`,
		},
		{"a pointer to a type of several types", struct {
			E *either `json:"e"`
		}{}, `{"type":"object","properties":{"e":{"type":["string","integer","null"]}},"required":["e"]}`, ""},
		{"a map with integer keys", struct {
			M map[int]bool `json:"m,omitempty"`
		}{}, `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"boolean"},"propertyNames":{"pattern":"^-?(0|[1-9][0-9]*)$"}}}}`, `{"type":"object","properties":{"m":{"type":["object","null"],"additionalProperties":{"type":"boolean"},"propertyNames":{"pattern":"^-?(0|[1-9][0-9]*)$"}}}}`},
		{"nothing", struct{}{}, `{"type":"object","properties":{}}`, ""},
		{"a map at the root", map[string]string{}, `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":["object","null"],"additionalProperties":{"type":"string"}}`},
	} {
		t.Run("T2 "+tt.name, func(t *testing.T) {
			typ := reflect.TypeOf(tt.typ)
			if tt.out == "" {
				tt.out = tt.in
			}
			if got, err := schema.InferInput(typ); string(got) != tt.in || err != nil {
				t.Errorf("input\n got %s, %v\nwant %s", got, err, tt.in)
			}
			if got, err := schema.InferOutput(typ); string(got) != tt.out || err != nil {
				t.Errorf("output\n got %s, %v\nwant %s", got, err, tt.out)
			}
			if _, err := schema.Compile([]byte(tt.in), schema.Options{Arguments: true}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestInferRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		typ  any
		want string
	}{
		{"a channel", struct{ C chan int }{}, ".C: chan int has no JSON form"},
		{"a function, deep inside", struct{ L []struct{ F func() } }{}, ".L[].F: func() has no JSON form"},
		{"a duration", struct{ D time.Duration }{}, "time.Duration"},
		{"a json.Number", struct{ N json.Number }{}, "json.Number"},
		{"an array of bytes", struct{ B [4]byte }{}, "use []byte"},
		{"a slice of another byte", struct{ B []octet }{}, "use []byte"},
		{"a bound on a string", struct {
			A string `jsonschema:"minimum=1"`
		}{}, "it is for numbers"},
		{"a length on a number", struct {
			A int `jsonschema:"maxLength=1"`
		}{}, "it is for strings"},
		{"a count on a string", struct {
			A string `jsonschema:"maxItems=1"`
		}{}, "it is for arrays"},
		{"a schema of its own with references", struct{ R refers }{}, "without references"},
		{"a map with struct keys", struct{ M map[struct{}]int }{}, "keys must be"},
		{"an interface with methods", struct{ E error }{}, "has no JSON form"},
		{"an unknown tag option", struct {
			A int `json:"a,inline"`
		}{}, `json tag option "inline"`},
		{"an unknown keyword", struct {
			A int `jsonschema:"minimun=1"`
		}{}, `unknown keyword "minimun"`},
		{"a bound that is no number", struct {
			A int `jsonschema:"minimum=x"`
		}{}, "want a number"},
		{"a default of another type", struct {
			A int `jsonschema:"default=x"`
		}{}, "want a JSON value"},
		{"two fields of one name", reflect.Zero(reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"x"`}, {Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
		})).Interface(), `two fields are called "x"`},
	} {
		t.Run("T2 refused: "+tt.name, func(t *testing.T) {
			_, err := schema.InferInput(reflect.TypeOf(tt.typ))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
	t.Run("T2 a type that reads itself may be anything", func(t *testing.T) {
		got, err := schema.InferInput(reflect.TypeFor[struct{ O own }]())
		if want := `{"type":"object","properties":{"O":{}},"required":["O"]}`; string(got) != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	})
}

func TestInferOutputOfMethodsOnPointers(t *testing.T) {
	t.Run("T2 a method that only a pointer has may or may not be used", func(t *testing.T) {
		got, err := schema.InferOutput(reflect.TypeFor[struct{ W word }]())
		if want := `{"type":"object","properties":{"W":{}},"required":["W"]}`; string(got) != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	})
}

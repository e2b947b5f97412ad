package schema_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/ferrule-dev/ferrule/schema"
)

type impliedIn struct {
	Path  string   `json:"path"`
	N     int8     `json:"n,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Maybe *float64 `json:"maybe,omitempty"`
}

func TestImplying(t *testing.T) {
	t.Parallel()
	inferred, err := schema.InferInput(reflect.TypeFor[impliedIn]())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, schema string
		takes        []string // what is read in one pass
		leaves       []string // what is left to the check
	}{
		{
			"S2 what is inferred from a type says no more than the type", string(inferred),
			[]string{`{"path":"a"}`, ` {"n":-128, "path":"é","tags":["x"],"maybe":null} `, `{"path":"","maybe":2.5}`},
			[]string{`{}`, `{"n":1}`, `{"path":1}`, `{"path":"a","n":128}`, `{"path":"a","n":1.5}`, `{"path":"a","path":"b"}`, `{"path":"a","other":1}`, `{"path":"a"`, `{"path":"a"}x`, `{"path":"\u0061"}`, `{"path":"a","maybe":1e9}`, `{"path":"a","tags":null}`, `{"path":"a","tags":[1]}`, `[]`, ``},
		},
		{
			"S2 a property that says more is left to the check", `{"type":"object","properties":{"path":{"type":"string","minLength":2},"n":{"type":"integer"}}}`,
			[]string{`{}`, `{"n":1}`},
			[]string{`{"path":"a"}`, `{"path":"abc"}`, `{"tags":[]}`},
		},
		{
			"S2 bounds within those of the type are left to the check", `{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer","minimum":-128,"maximum":5}}}`,
			[]string{`{"path":"a"}`},
			[]string{`{"n":1}`, `{"n":6}`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := schema.DecoderFor(reflect.TypeFor[impliedIn]()).Implying(json.RawMessage(tt.schema))
			if d == nil {
				t.Fatal("got none")
			}
			for _, text := range tt.takes {
				if !d.Read(text, new(impliedIn)) {
					t.Errorf("%s is left to the check", text)
				}
			}
			for _, text := range tt.leaves {
				if d.Read(text, new(impliedIn)) {
					t.Errorf("%s is taken", text)
				}
			}
		})
	}
	for _, text := range []string{
		`{`, `true`, `{}`, `{"type":"object"}`, `{"type":"object","properties":{},"minProperties":1}`, `{"type":"object","properties":{},"required":["other"]}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{}}}`, `{"type":"string","properties":{}}`, `{"properties":{}}`,
	} {
		t.Run("S2 no decoder implies "+text, func(t *testing.T) {
			t.Parallel()
			if schema.DecoderFor(reflect.TypeFor[impliedIn]()).Implying(json.RawMessage(text)) != nil {
				t.Error("got one")
			}
		})
	}
}

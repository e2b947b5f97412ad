package web

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestForm(t *testing.T) {
	t.Parallel()
	// What becomes of the texts of a form, as the schema says.
	for _, tt := range []struct {
		name, property string
		text           string
		want           string // as JSON; "": it is left out; an error begins with !
	}{
		{"a text", `{"type":"string"}`, `1`, `"1"`},
		{"a text with quotes and lines", `{"type":"string"}`, "a \"b\"\n</script>", `"a \"b\"\n\u003c/script\u003e"`},
		{"a text that is empty", `{"type":"string"}`, "", ""},
		{"a text that may be null", `{"type":["string","null"]}`, "null", `"null"`},
		{"a text, or null, in another way", `{"anyOf":[{"type":"null"},{"type":"string"}]}`, "x", `"x"`},
		{"a whole number", `{"type":"integer"}`, " 12 ", `12`},
		{"a number that is too long for others", `{"type":"integer"}`, "9007199254740993", `9007199254740993`},
		{"a number", `{"type":"number"}`, "-1.5e3", `-1.5e3`},
		{"what is no number", `{"type":"number"}`, "true", `!got "true", want a number`},
		{"a boolean", `{"type":"boolean"}`, "false", `false`},
		{"one of some", `{"enum":["a",1,null]}`, `"a"`, `"a"`},
		{"a list", `{"type":"array","items":{"type":"string"}}`, `["a"]`, `["a"]`},
		{"an object", `{"type":"object"}`, `{"a":1}`, `{"a":1}`},
		{"what is no JSON", `{"type":"object"}`, `{a}`, `!got what is no JSON`},
		{"a reference", `{"$ref":"#/$defs/n"}`, "3", `3`},
		{"a reference that leads round", `{"$ref":"#/$defs/round"}`, `"x"`, `"x"`},
		{"what says nothing", `true`, `[1]`, `[1]`},
		{"what is no schema", `7`, `{}`, `{}`},
		{"several kinds", `{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"7"`, `"7"`},
		{"wrong words", `{"type":"string","minLength":"x"}`, `"y"`, `"y"`},
	} {
		t.Run("S2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			in := trial{Fields: map[string]string{"x": tt.text}}
			got, err := in.args(json.RawMessage(`{"type":"object","properties":{"x":` + tt.property + `},"$defs":{"n":{"type":"integer"},"round":{"$ref":"#/$defs/round"}}}`))
			want := `{"x":` + tt.want + `}`
			if tt.want == "" {
				want = `{}`
			}
			if no, ok := strings.CutPrefix(tt.want, "!"); ok {
				if err == nil || !strings.Contains(err.Error(), no) {
					t.Errorf("got %s, %v, want an error with %q", got, err, no)
				}
				return
			}
			if err != nil || string(got) != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
	t.Run("S2 what must be is not sent empty, and what was not in the form is not made up", func(t *testing.T) {
		t.Parallel()
		schema := json.RawMessage(`{"properties":{"a":{"type":"string"},"b":{"type":"string"},"n":{"type":"integer"}},"required":["a","n"]}`)
		for _, fields := range []map[string]string{{"a": ""}, {"a": "x", "n": " "}} {
			in := trial{Fields: fields}
			if got, err := in.args(schema); err == nil || !strings.Contains(err.Error(), "it is required") {
				t.Errorf("%v: got %s, %v, want that it is required", fields, got, err)
			}
		}
		in := trial{Fields: map[string]string{"a": " ", "b": ""}}
		if got, err := in.args(schema); err != nil || string(got) != `{"a":" "}` {
			t.Errorf("got %s, %v", got, err)
		}
		in = trial{Raw: `{"a":""}`, Fields: map[string]string{"a": ""}}
		if got, err := in.args(schema); err != nil || string(got) != `{"a":""}` {
			t.Errorf("as JSON: got %s, %v", got, err)
		}
		in = trial{Fields: map[string]string{"c": "x"}}
		if got, err := in.args(schema); err == nil {
			t.Errorf("got %s, want that c is no argument", got)
		}
	})
	t.Run("S2 JSON counts before the fields, and must be an object", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct {
			in   trial
			want string
		}{
			{trial{Raw: ` {"a": 9007199254740993} `, Fields: map[string]string{"x": "1"}}, `{"a": 9007199254740993}`},
			{trial{Arguments: json.RawMessage(`{"b":1}`), Raw: `{}`}, `{"b":1}`},
			{trial{}, `{}`},
			{trial{Raw: `[1]`}, ""},
			{trial{Raw: `null`}, ""},
			{trial{Arguments: json.RawMessage(`"x"`)}, ""},
		} {
			if got, err := tt.in.args(nil); string(got) != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("%+v: got %s, %v, want %s", tt.in, got, err, tt.want)
			}
		}
	})
	t.Run("S2 what must be stands first, the rest as it was written", func(t *testing.T) {
		t.Parallel()
		var names []string
		for _, f := range formOf(json.RawMessage(`{"properties":{"z":{},"b":{},"a":{},"c":{}},"required":["a","b"]}`)).Fields {
			names = append(names, f.Name)
		}
		if want := []string{"b", "a", "z", "c"}; !slices.Equal(names, want) {
			t.Errorf("got %q, want %q", names, want)
		}
	})
	t.Run("S2 defaults stand in the form, but for those that nobody would see", func(t *testing.T) {
		t.Parallel()
		got := make(map[string]string)
		for _, f := range formOf(json.RawMessage(`{"properties":{"text":{"type":"string","default":"a\nb"},"n":{"type":"integer","default":3},"e":{"enum":["x","y"],"default":"y"},
			"b":{"type":"boolean","default":true},"o":{"type":"object","default":{"k":1}},"hidden":{"type":"string","default":"a\u202eb"},"wrong":{"type":"string","default":3},"other":{"enum":["x"],"default":"z"}}}`)).Fields {
			got[f.Name] = f.Value
		}
		if want := map[string]string{"text": "a\nb", "n": "3", "e": `"y"`, "b": "true", "o": "{\n  \"k\": 1\n}", "hidden": "", "wrong": "", "other": ""}; !maps.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("S2 the arguments of a call fill the form, or stand as JSON where they do not fit", func(t *testing.T) {
		t.Parallel()
		schema := json.RawMessage(`{"properties":{"s":{"type":"string","default":"d"},"n":{"type":"number"},"e":{"enum":["x"]}}}`)
		b := formOf(schema)
		b.fillAll(json.RawMessage(`{"n": 2, "e": "x"}`))
		texts := make(map[string]string)
		for _, f := range b.Fields {
			texts[f.Name] = f.Value
		}
		in := trial{Fields: texts}
		if got, err := in.args(schema); err != nil || string(got) != `{"e":"x","n":2}` || b.Raw != "" {
			t.Errorf("got %s, %v and %q, want the same arguments", got, err, b.Raw)
		}
		for _, args := range []string{`{"s": 1}`, `{"other": 1}`, `{"e": "y"}`} {
			b := formOf(schema)
			if b.fillAll(json.RawMessage(args)); b.Raw == "" {
				t.Errorf("%s: got no JSON", args)
			}
		}
	})
	t.Run("S2 what a form cannot express is said", func(t *testing.T) {
		t.Parallel()
		many := `{"properties":{"a0":{}` + strings.Repeat(`,"a":{}`, maxFields) + `}}`
		for _, schema := range []string{`3`, many, `{"oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{},"b":{}}}`, `{"$ref":"#/$defs/x"}`} {
			if b := formOf(json.RawMessage(schema)); b.Beyond == "" {
				t.Errorf("%.60s: got %+v", schema, b)
			}
		}
		if b := formOf(nil); b.Beyond != "" || len(b.Fields) > 0 {
			t.Errorf("got %+v of no schema, want an empty form", b)
		}
	})
}

func FuzzForm(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"type":"string","default":"x"},"b":{"enum":[1]},"c":{"$ref":"#/$defs/c"}},"$defs":{"c":{"anyOf":[{"type":"null"},{"type":"integer"}]}}}`), "1")
	f.Add([]byte(`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/a"}}}`), "{}")
	f.Fuzz(func(t *testing.T, schema []byte, text string) {
		b := formOf(schema)
		in := trial{Fields: make(map[string]string)}
		for _, field := range b.Fields {
			in.Fields[field.Name] = text
		}
		if got, err := in.args(schema); err == nil && !json.Valid(got) {
			t.Errorf("got %q, want JSON", got)
		}
		b.fillAll([]byte(text))
	})
}

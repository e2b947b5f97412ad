package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// wide has a field of every kind. omitzero and not omitempty: what is empty but
// there is written again.
type wide struct {
	Text   string          `json:"text"`
	Int    int             `json:"int,omitzero"`
	Int8   int8            `json:"int8,omitzero"`
	Int32  int32           `json:"int32,omitzero"`
	Uint   uint            `json:"uint,omitzero"`
	Uint16 uint16          `json:"uint16,omitzero"`
	Float  float64         `json:"float,omitzero"`
	Float3 float32         `json:"float32,omitzero"`
	Yes    bool            `json:"yes,omitzero"`
	Maybe  *int            `json:"maybe,omitzero"`
	Perhap *wideItem       `json:"perhaps,omitzero"`
	Tags   []string        `json:"tags,omitzero"`
	Ints   []int64         `json:"ints,omitzero"`
	Three  [3]int          `json:"three,omitzero"`
	Item   wideItem        `json:"item,omitzero"`
	Items  []wideItem      `json:"items,omitzero"`
	Counts map[string]int  `json:"counts,omitzero"`
	Keyed  map[int8]string `json:"keyed,omitzero"`
	Any    any             `json:"any,omitzero"`
	Raw    json.RawMessage `json:"raw,omitzero"`
	When   time.Time       `json:"when,omitzero"`
	Bytes  []byte          `json:"bytes,omitzero"`
	Quoted int             `json:"quoted,string,omitzero"`
	Limits int             `json:"limits,omitzero" jsonschema:"minimum=1,maximum=9"`
}

type wideItem struct {
	Name string    `json:"name"`
	N    uint8     `json:"n,omitzero"`
	F    []float64 `json:"f,omitzero"`
	Next *wideItem `json:"next,omitzero"`
}

// narrow has only what the decoder reads in one pass.
type narrow struct {
	Text  string   `json:"text"`
	Int   int      `json:"int"`
	Int8  int8     `json:"int8"`
	Uint  uint     `json:"uint"`
	Float float64  `json:"float"`
	F32   float32  `json:"float32"`
	Yes   bool     `json:"yes"`
	Maybe *int     `json:"maybe"`
	Tags  []string `json:"tags"`
	Ints  [][]int  `json:"ints"`
	Item  struct {
		Name string `json:"name"`
		Last *bool  `json:"last"`
	} `json:"item"`
	Items []struct {
		A string `json:"a"`
		B uint8  `json:"b"`
	} `json:"items"`
}

// sparse leaves out what is empty.
type sparse struct {
	Text  string    `json:"text"`
	Int   int16     `json:"int,omitempty"`
	Uint  uint32    `json:"uint,omitempty"`
	Float float64   `json:"float,omitempty"`
	Yes   bool      `json:"yes,omitempty"`
	Maybe *int      `json:"maybe,omitempty"`
	Tags  []string  `json:"tags,omitempty"`
	Item  *labelled `json:"item,omitempty"`
}

type labelled struct {
	Name string `json:"name"`
}

func fuzzSeeds() []string {
	return []string{
		``, ` `, `{}`, `[]`, `null`, `5`, `"text"`, `{"text":"a"}`, ` { "text" : "a" } `, `{"text":"a"`, `{"text":"a"}}`, `{"text":"a","text":"b"}`, `{"Text":"a"}`,
		`{"text":"é\n\u00e9\ud83d\ude00<&>\u2028"}`, "{\"text\":\"\xff\"}", `{"text":"\ud800"}`, "{\"text\":\"\x00\"}",
		`{"text":"","int":1.0,"int8":-1.28e2,"int32":-0,"uint":1e1,"uint16":65535,"float":-0.0,"float32":1e-45,"yes":true}`,
		`{"text":"","int":9223372036854775807,"uint":18446744073709551615}`, `{"text":"","int":1e100000000}`, `{"text":"","float":1e400}`, `{"text":"","uint":-0}`,
		`{"text":"","float":1.7976931348623157e308,"float32":3.4028236e38}`, `{"text":"","int8":128}`, `{"text":"","int":1.5}`,
		`{"text":"","maybe":null,"perhaps":{"name":"p","n":3,"f":[1,2.5],"next":{"name":"q","next":null}}}`, `{"text":"","maybe":7}`,
		`{"text":"","tags":[],"ints":[1,2.0,-3e0],"three":[1,2,3],"item":{"name":""},"items":[{"name":"x"},{"name":"y","f":[]}]}`, `{"text":"","three":[1,2]}`, `{"text":"","tags":null}`,
		`{"text":"","counts":{"a":1,"b":-2,"":0},"keyed":{"1":"one","-128":"low"}}`, `{"text":"","keyed":{"01":"a","1":"b"}}`, `{"text":"","keyed":{"1.0":"a"}}`, `{"text":"","keyed":{"300":"a"}}`,
		`{"text":"","any":{"a":[1,"b",null,true,{"c":1e2}]},"raw":{"z": 1.0, "a": "<\/&>"}}`, `{"text":"","any":null,"raw":null}`, `{"text":"","int":1.0,"any":1.0,"raw":[1e2, 1.50]}`, `{"text":"","raw":1e400,"int":1e0}`,
		`{"text":"","when":"2006-01-02T15:04:05.999999999+07:00"}`, `{"text":"","when":"0001-01-01T00:00:00Z"}`, `{"text":"","when":"2006-01-02T15:04:05,5Z"}`, `{"text":"","when":"9999-12-31T23:59:59-23:59"}`, `{"text":"","when":"2006-01-02"}`, `{"text":"","when":"2006-01-02T24:00:00+24:00"}`,
		`{"text":"","bytes":""}`, `{"text":"","bytes":"aGk="}`, `{"text":"","bytes":"aGk"}`, `{"text":"","bytes":"aG\nk="}`, `{"text":"","bytes":"aGl="}`,
		`{"text":"","quoted":"12"}`, `{"text":"","quoted":"-0"}`, `{"text":"","quoted":12}`, `{"text":"","quoted":"1e2"}`, `{"text":"","limits":10}`, `{"text":"","limits":9.0}`,
		`{"text":"a","int":-1,"int8":7,"uint":1,"float":1.5,"float32":0.1,"yes":false,"maybe":null,"tags":["a","b"],"ints":[[1],[],[2,3]],"item":{"name":"x","last":true},"items":[{"a":"b","b":255},{"a":"","b":0}]}`,
		`{"items":[{"a":"b","b":256}]}`, `{"ints":[[1.0]]}`, `{"item":{"last":null,"name":"\\"}}`, `{"text":"a","extra":[1,{"b":2}]}`, `{"text":"a",}`, `{"text":"a" "int":1}`, `{"maybe":nul}`, `{"yes":truee}`,
		`{"text":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`,
	}
}

// FuzzDecode gives any bytes to a typed tool. What is accepted can be written
// by encoding/json, is accepted again, and then means the same. And the decoder
// that reads in one pass says nothing that the slow one would not say.
func FuzzDecode(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add([]byte(seed))
	}
	var got wide
	tl, err := tool.New(info(), func(_ context.Context, in wide) (string, error) { got = in; return "", nil })
	if err != nil {
		f.Fatal(err)
	}
	run := func(t *testing.T, text []byte) (wide, error) {
		args, err := tl.Admit(text)
		if err != nil {
			return wide{}, err
		}
		if _, err := tl.Run(context.Background(), args); err != nil {
			t.Fatalf("%q was admitted and not run: %v", text, err)
		}
		return got, nil
	}
	writeNarrow, writeSparse := echo[narrow](f), echo[sparse](f)
	admits := []func(*testing.T, string){admitted[narrow](f), admitted[sparse](f), admitted[wide](f), admitted[bounded](f)}
	f.Fuzz(func(t *testing.T, text []byte) {
		agree[wide](t, string(text))
		writeNarrow(t, agree[narrow](t, string(text)))
		writeSparse(t, agree[sparse](t, string(text)))
		for _, f := range admits {
			f(t, string(text))
		}
		first, err := run(t, text)
		if err != nil {
			if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Kind != tool.InvalidInput || !strings.HasPrefix(e.Text, "InputValidationError: ") {
				t.Fatalf("%q: got %T %v, want invalid_input", text, err, err)
			}
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("%q was read as %+v, which cannot be written: %v", text, first, err)
		}
		second, err := run(t, written)
		if err != nil {
			t.Fatalf("%q was written as %s, which is refused: %v", text, written, err)
		}
		if !same(first, second) {
			t.Fatalf("%q was read as %+v, written as %s and read as %+v", text, first, written, second)
		}
	})
}

// bounded has bounds that its Go type does not have.
type bounded struct {
	Text string  `json:"text" jsonschema:"description=A text."`
	Int  int     `json:"int,omitempty" jsonschema:"minimum=1"`
	Int8 int8    `json:"int8,omitempty"`
	Uint uint    `json:"uint,omitempty" jsonschema:"maximum=9"`
	F    float64 `json:"float,omitempty" jsonschema:"enum=1,enum=2.5"`
	Item struct {
		Name string `json:"name" jsonschema:"minLength=2"`
	} `json:"item,omitzero"`
}

// admitted holds what a typed tool admits to what its schema and its decoder
// take, one after the other.
func admitted[T any](tb testing.TB) func(*testing.T, string) {
	tb.Helper()
	tl, err := tool.New(info(), func(_ context.Context, in T) (string, error) { return "", nil })
	if err != nil {
		tb.Fatal(err)
	}
	s, err := schema.Compile(tl.Input, schema.Options{Arguments: true})
	if err != nil {
		tb.Fatal(err)
	}
	return func(t *testing.T, text string) {
		t.Helper()
		_, got := tl.Admit(json.RawMessage(text))
		if strings.Trim(text, " \t\r\n") == "" {
			text = "{}"
		}
		want := s.Check(text)
		if want == nil {
			want = schema.Decode(text, new(T))
		}
		if (got == nil) != (want == nil) {
			t.Fatalf("%T: %q is admitted: %v, by schema and decoder: %v", *new(T), text, got, want)
		}
	}
}

// echo holds what a typed tool returns to what Encode makes of it.
func echo[T any](tb testing.TB) func(*testing.T, T) {
	tb.Helper()
	var out T
	tl, err := tool.New(info(), func(context.Context, struct{}) (T, error) { return out, nil })
	if err != nil {
		tb.Fatal(err)
	}
	args, err := tl.Admit(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return func(t *testing.T, v T) {
		t.Helper()
		out = v
		got, gotErr := tl.Run(context.Background(), args)
		want, wantErr := tool.Encode(v)
		if !reflect.DeepEqual(got.Content, want) || (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("%+v is returned as\n%s (%v), encoded as\n%s (%v)", v, tool.TextOf(got.Content), gotErr, tool.TextOf(want), wantErr)
		}
	}
}

// agree holds the decoder for a type to the function that it stands for.
func agree[T any](t *testing.T, text string) T {
	t.Helper()
	var quick, slow T
	quickErr := schema.DecoderFor(reflect.TypeFor[T]()).Decode(text, &quick)
	slowErr := schema.Decode(text, &slow)
	if quickErr == nil && slowErr != nil {
		t.Fatalf("%T: %q is read in one pass as %+v, but Decode says %v", quick, text, quick, slowErr)
	}
	if quickErr == nil && !reflect.DeepEqual(quick, slow) {
		t.Fatalf("%T: %q is read in one pass as %+v, by Decode as %+v", quick, text, quick, slow)
	}
	if quickErr != nil && slowErr == nil {
		t.Fatalf("%T: %q is refused (%v), but Decode reads it as %+v", quick, text, quickErr, slow)
	}
	return slow
}

// same compares what was read with what was read again. Times are equal as
// moments; raw JSON is equal as a value, because encoding/json writes it in
// other bytes.
func same(a, b wide) bool {
	if !a.When.Equal(b.When) || !sameJSON(a.Raw, b.Raw) {
		return false
	}
	a.When, a.Raw = b.When, b.Raw
	return reflect.DeepEqual(a, b)
}

func sameJSON(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	read := func(raw json.RawMessage) (v any, err error) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber() // 1e400 is a number too
		err = d.Decode(&v)
		return v, err
	}
	x, errX := read(a)
	y, errY := read(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

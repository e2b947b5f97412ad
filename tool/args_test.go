package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

func searchTool(t testing.TB) *tool.Tool {
	t.Helper()
	return must(tool.New(info(), func(_ context.Context, in search) (string, error) { return in.Path, nil }))(t)
}

// refused admits what must be refused and returns the error, which is always of
// one type and kind.
func refused(t testing.TB, tl *tool.Tool, input string) *tool.Error {
	t.Helper()
	args, err := tl.Admit(json.RawMessage(input))
	if err == nil {
		t.Fatalf("%.100q was admitted as %s", input, args.Text())
	}
	var e *tool.Error
	if !errors.As(err, &e) || e.Kind != tool.InvalidInput {
		t.Fatalf("%.100q: got %T %v, want a *tool.Error of kind invalid_input", input, err, err)
	}
	if args != (tool.Args{}) {
		t.Errorf("%.100q: arguments came with the error: %s", input, args.Text())
	}
	return e
}

// TestBadArguments has the words a model reads, in full: whoever changes them
// sees it here.
func TestBadArguments(t *testing.T) {
	const (
		syntax  = "InputValidationError: the arguments are not valid JSON: "
		invalid = "InputValidationError: "
		names   = `want only "at", "count", "limit", "path", "small", "tags"`
		noPath  = `(root): got no "path", want "path" (string)`
	)
	tests := []struct{ name, input, want string }{
		{"S3 truncated", `{"path":"a"`, syntax + `the text ends too early (not closed, or cut off) at byte 11 (line 1, column 12)`},
		{"S3 truncated in a string", `{"path":"a`, syntax + `the text ends too early (not closed, or cut off) at byte 10 (line 1, column 11, in /path)`},
		{"S3 truncated on a later line", "{\n  \"path\": ", syntax + `the text ends too early (not closed, or cut off) at byte 12 (line 2, column 11, in /path)`},
		{"S3 no JSON at all", `path=a`, syntax + `invalid character 'p' at start of value at byte 0 (line 1, column 1)`},
		{"S3 single quotes", `{'path':'a'}`, syntax + `a single quote where a double quote is wanted at byte 1 (line 1, column 2)`},
		{"S3 a comma too many", `{"path":"a",}`, syntax + `a comma with nothing after it at byte 11 (line 1, column 12)`},
		{"S3 not a number", `{"path":NaN}`, syntax + `invalid character 'N' at start of value at byte 8 (line 1, column 9, in /path)`},
		{"S3 a number with a plus", `{"path":"a","limit":+1}`, syntax + `invalid character '+' at start of value at byte 20 (line 1, column 21, in /limit)`},
		{"S3 a raw line break", "{\"path\":\"a\nb\"}", syntax + `invalid character '\n' in string (expecting non-control character) at byte 10 (line 1, column 11, in /path)`},
		{"S3 a zero byte", "\x00", syntax + `invalid character '\x00' at start of value at byte 0 (line 1, column 1)`},
		{"S3 a zero byte in a string", "{\"path\":\"\x00\"}", syntax + `invalid character '\x00' in string (expecting non-control character) at byte 9 (line 1, column 10, in /path)`},
		{"S3 a zero byte behind the object", "{\"path\":\"a\"}\x00", syntax + `text after the JSON value at byte 12 (line 1, column 13)`},
		{"S3 a byte order mark", "\ufeff{\"path\":\"a\"}", syntax + `invalid character '\ufeff' at start of value at byte 0 (line 1, column 1)`},
		{"S3 a space that JSON does not know", "\u00a0", syntax + `invalid character '\u00a0' at start of value at byte 0 (line 1, column 1)`},
		{"S3 columns count characters", `{"path":"üü" x`, syntax + `invalid character 'x' after object value (expecting ',' or '}') at byte 15 (line 1, column 14)`},

		{"S2 trailing bytes", `{"path":"a"} x`, syntax + `text after the JSON value at byte 13 (line 1, column 14)`},
		{"S2 a second object", `{"path":"a"}{}`, syntax + `text after the JSON value at byte 12 (line 1, column 13)`},
		{"S2 a duplicate key", `{"path":"a","path":"b"}`, syntax + `duplicate key "path" at byte 12 (line 1, column 13, in /path)`},
		{"S2 a duplicate key, escaped", `{"path":"a","p\u0061th":"b"}`, syntax + `duplicate key "path" at byte 12 (line 1, column 13, in /path)`},
		{"S2 a duplicate key further down", `{"path":"a","at":{"line":1,"line":2}}`, syntax + `duplicate key "line" at byte 27 (line 1, column 28, in /at/line)`},
		{"S2 invalid UTF-8", "{\"path\":\"\xff\"}", syntax + `invalid UTF-8 at byte 9 (line 1, column 10, in /path)`},
		{"S2 half a surrogate pair", `{"path":"\ud800"}`, syntax + "invalid surrogate pair `\\ud800\"}` in string at byte 9 (line 1, column 10, in /path)"},
		{"S2 a key in another case", `{"Path":"a"}`, invalid + `(root): got unknown "Path", ` + names + ` ("Path": did you mean "path"?); ` + noPath},
		{"S2 a key in another case beside the right one", `{"path":"a","PATH":"b"}`, invalid + `(root): got unknown "PATH", ` + names + ` ("PATH": did you mean "path"?)`},
		{"S2 an unknown key with a near one", `{"path":"a","limits":5}`, invalid + `(root): got unknown "limits", ` + names + ` ("limits": did you mean "limit"?)`},
		{"S2 an unknown key near to nothing", `{"path":"a","recursive":true}`, invalid + `(root): got unknown "recursive", ` + names},
		{"S2 two unknown keys", `{"path":"a","tag":"x","zzz":1}`, invalid + `(root): got unknown "tag", "zzz", ` + names + ` ("tag": did you mean "tags"?)`},
		{"S2 an unknown key further down", `{"path":"a","at":{"line":1,"column":2}}`, invalid + `/at: got unknown "column", want only "line"`},
		{"S2 an empty key", `{"path":"a","":1}`, invalid + `(root): got unknown "", ` + names},

		{"S4 nothing of what is required", `{}`, invalid + noPath},
		{"S4 the wrong type", `{"path":5}`, invalid + `/path: got number 5, want string`},
		{"S4 null is not left out", `{"path":null}`, invalid + `/path: got null, want string`},
		{"S4 an item of the wrong type", `{"path":"a","tags":["x",5,null]}`, invalid + `/tags/1: got number 5, want string; /tags/2: got null, want string`},
		{"S4 every violation at once", `{"path":5,"limit":"x","tags":{}}`, invalid + `/limit: got string "x", want integer; /path: got number 5, want string; /tags: got object with 0 members, want array`},
		{"S4 something missing further down", `{"path":"a","at":{}}`, invalid + `/at: got no "line", want "line" (integer)`},
		{"S4 a fraction for an integer", `{"path":"a","limit":1.5}`, invalid + `/limit: got number 1.5, want integer`},
		{"S4 a little more than an integer", `{"path":"a","limit":1e-400}`, invalid + `/limit: got number 1e-400, want integer`},
		{"S4 too much for 8 bits", `{"path":"a","small":128}`, invalid + `/small: got number 128, want at most 127`},
		{"S4 too little for 8 bits", `{"path":"a","small":-1.29e2}`, invalid + `/small: got number -1.29e2, want at least -128`},
		{"S4 too much for 64 bits", `{"path":"a","limit":9223372036854775808}`, invalid + `/limit: got number 9223372036854775808, want a whole number of 64 bits`},
		{"S4 far too much for 64 bits", `{"path":"a","limit":1e400}`, invalid + `/limit: got number 1e400, want a whole number of 64 bits`},
		{"S4 less than nothing", `{"path":"a","count":-1}`, invalid + `/count: got number -1, want at least 0`},
		{"S4 more than 64 bits without sign", `{"path":"a","count":18446744073709551616}`, invalid + `/count: got number 18446744073709551616, want a whole number from 0, of 64 bits`},
		{"S4 an array", `[{"path":"a"}]`, invalid + `(root): got array of 1 item, want object`},
		{"S4 a string", `"{\"path\":\"a\"}"`, invalid + `(root): got string "{\"path\":\"a\"}", want object itself, not inside a string`},
		{"S4 a number", `5`, invalid + `(root): got number 5, want object`},
		{"S4 a boolean", `true`, invalid + `(root): got boolean true, want object`},
		{"S4 null", `null`, invalid + `(root): got null, want object`},

		{"S6 a number that would fill the memory", `{"path":"a","limit":1e100000000}`, syntax + `number 1e100000000 is out of bounds: want at most 1000 characters and an exponent within ±1000 at byte 31 (line 1, column 32, in /limit)`},
		{"S6 a number that would fill the memory, negative", `{"path":"a","limit":-1e-100000000}`, syntax + `number -1e-100000000 is out of bounds: want at most 1000 characters and an exponent within ±1000 at byte 33 (line 1, column 34, in /limit)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := refused(t, searchTool(t), tt.input).Text; got != tt.want {
				t.Errorf("%q\ngot  %s\nwant %s", tt.input, got, tt.want)
			}
		})
	}
	for _, blank := range []string{"", " ", "\t\r\n "} {
		t.Run("S3 blank text is an object without members", func(t *testing.T) {
			if got := refused(t, searchTool(t), blank).Text; got != invalid+noPath {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestHostileArguments(t *testing.T) {
	deep := 100_000
	for name, input := range map[string]string{
		"S6 arrays without end":           strings.Repeat("[", deep),
		"S6 objects without end":          strings.Repeat(`{"path":`, deep),
		"S6 deep arrays":                  `{"path":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + `}`,
		"S6 deep objects in another type": `{"path":"a","tags":` + strings.Repeat(`{"a":`, deep) + `1` + strings.Repeat("}", deep) + `}`,
		"S6 closing brackets":             strings.Repeat("]", deep),
		"S6 a million digits":             `{"path":"a","limit":` + strings.Repeat("9", 1_000_000) + `}`,
		"S6 a million zeros":              `{"path":"a","limit":0.` + strings.Repeat("0", 1_000_000) + `1}`,
		"S6 a long unknown key":           `{"path":"a","` + strings.Repeat("k", 1_000_000) + `":1}`,
		"S6 a long string for a number":   `{"path":"a","limit":"` + strings.Repeat("k", 1_000_000) + `"}`,
		"S6 a million backslashes":        `{"path":"` + strings.Repeat(`\`, 1_000_001),
		"S6 a megabyte of zero bytes":     strings.Repeat("\x00", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			e := refused(t, searchTool(t), input)
			if !strings.HasPrefix(e.Text, "InputValidationError: ") {
				t.Errorf("got %.200s", e.Text)
			}
			if len(e.Text) > 2000 {
				t.Errorf("the model is to read %d bytes about it: %.200s…", len(e.Text), e.Text)
			}
		})
	}
	t.Run("S6 any schema refuses them", func(t *testing.T) {
		tl := must(untyped(`{}`).Check())(t)
		for _, input := range []string{`{"a":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + `}`, `{"a":1e100000000}`, `{"a":1,"a":2}`, "{\"a\":\"\xff\"}", `{} {}`} {
			if e := refused(t, tl, input); e.Text == "" {
				t.Errorf("%.100q: no words for the model", input)
			}
		}
	})
}

func TestGoodArguments(t *testing.T) {
	tests := []struct {
		name, input string
		want        search
	}{
		{"S2 as it is", `{"path":"a","limit":3,"tags":["x","y"],"at":{"line":7}}`, search{Path: "a", Limit: 3, Tags: []string{"x", "y"}, At: place{7}}},
		{"S2 in any order", `{"at":{"line":7},"limit":3,"path":"a"}`, search{Path: "a", Limit: 3, At: place{7}}},
		{"S2 with space around everything", " \r\n{ \"path\" :\t\"a\" , \"tags\" : [ ] } \n", search{Path: "a", Tags: []string{}}},
		{"S2 escapes", `{"p\u0061th":"\u00e9\n\ud83d\ude00\u0000"}`, search{Path: "é\n😀\x00"}},
		{"S2 1.0 is an integer", `{"path":"a","limit":1.0}`, search{Path: "a", Limit: 1}},
		{"S2 1e2 is an integer", `{"path":"a","limit":1e2,"small":1.2E+1,"count":100e-2}`, search{Path: "a", Limit: 100, Small: 12, Count: 1}},
		{"S2 integers further down", `{"path":"a","at":{"line":-2.50e1}}`, search{Path: "a", At: place{-25}}},
		{"S2 minus nothing", `{"path":"a","limit":-0,"small":-0.0}`, search{Path: "a"}},
		{"S2 minus nothing without sign", `{"path":"a","count":-0.0}`, search{Path: "a"}},
		{"S2 minus nothing without sign, as an integer", `{"path":"a","count":-0}`, search{Path: "a"}},
		{"S2 the last of 64 bits", `{"path":"a","limit":-9223372036854775808,"count":18446744073709551615}`, search{Path: "a", Limit: -1 << 63, Count: 1<<64 - 1}},
		{"S2 the first of 64 bits with an exponent", `{"path":"a","limit":-9.223372036854775808e18}`, search{Path: "a", Limit: -1 << 63}},
		{"S2 the last of 64 bits with a fraction", `{"path":"a","limit":9223372036854775807.0}`, search{Path: "a", Limit: 1<<63 - 1}},
		{"S2 the last of 64 bits without sign, with a fraction", `{"path":"a","count":18446744073709551615.0}`, search{Path: "a", Count: 1<<64 - 1}},
		{"S2 numbers in strings stay strings", `{"path":"1.0 \" 1e2","limit":1.0}`, search{Path: `1.0 " 1e2`, Limit: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got search
			s := tool.Spec[search, string]{Info: info(), Run: func(_ context.Context, in search) (string, error) {
				got = in
				return "", nil
			}}
			tl := must(s.Tool())(t)
			args := admit(t, tl, tt.input)
			must(tl.Run(t.Context(), args))(t)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s\nRun got %+v, want %+v", tt.input, got, tt.want)
			}
			var again search
			if err := args.Decode(&again); err != nil || !reflect.DeepEqual(again, tt.want) {
				t.Errorf("%s\nDecode got %+v, %v, want %+v", tt.input, again, err, tt.want)
			}
			if args.Received() != tt.input {
				t.Errorf("received = %q, want %q", args.Received(), tt.input)
			}
			if strings.TrimSpace(args.Text()) != strings.TrimSpace(tt.input) {
				t.Errorf("text = %q, want %q", args.Text(), tt.input)
			}
		})
	}
}

func TestStrictArguments(t *testing.T) {
	const (
		nested = `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}}}}}`
		free   = `{"type":"object","properties":{"a":{"type":"object"}}}`
		joined = `{"type":"object","properties":{"a":{}},"allOf":[{"properties":{"b":{}}}]}`
		said   = `{"type":"object","properties":{"a":{}},"additionalProperties":{"type":"integer"}}`
	)
	for _, tt := range []struct {
		name, schema string
		open         bool
		input        string
		ok           bool
	}{
		{"S2 names properties: closed", nested, false, `{"x":1}`, false},
		{"S2 closed at any depth", nested, false, `{"a":{"x":1}}`, false},
		{"S2 names none: open", free, false, `{"a":{"x":1}}`, true},
		{"S2 composition counts as a whole", joined, false, `{"a":1,"b":2}`, true},
		{"S2 composition closes as a whole", joined, false, `{"a":1,"c":2}`, false},
		{"S2 not silent on others: as it says", said, false, `{"x":1}`, true},
		{"S2 not silent on others: as it says, refused", said, false, `{"x":"1"}`, false},
		{"S2 a tool can opt out", nested, true, `{"x":1,"a":{"y":2}}`, true},
		{"S2 opting out is not for wrong-case keys", nested, true, `{"A":1}`, false},
		{"S2 opting out is not for duplicate keys", nested, true, `{"x":1,"x":2}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			def := untyped(tt.schema)
			def.Open = tt.open
			_, err := must(def.Check())(t).Admit(json.RawMessage(tt.input))
			if (err == nil) != tt.ok {
				t.Errorf("%s for %s: %v, want admitted: %v", tt.input, tt.schema, err, tt.ok)
			}
		})
	}
	t.Run("S4 what stands at the root is named where the schema has no type", func(t *testing.T) {
		for input, found := range map[string]string{`[1]`: "array", `null`: "null", `"x"`: "string", `5`: "number 5", `true`: "boolean"} {
			e := refused(t, must(untyped(`{}`).Check())(t), input)
			if !strings.HasPrefix(e.Text, "InputValidationError: (root): got ") || !strings.Contains(e.Text, found) || !strings.Contains(e.Text, "object") {
				t.Errorf("%s: %s, want it to say %s and object", input, e.Text, found)
			}
		}
	})
}

func TestArgsCannotChange(t *testing.T) {
	t.Run("S2 changing the bytes after Admit changes nothing", func(t *testing.T) {
		input := json.RawMessage(`{"path":"abc","tags":["def"]}`)
		tl := searchTool(t)
		args := must(tl.Admit(input))(t)
		for i := range input {
			input[i] = 'x'
		}
		const want = `{"path":"abc","tags":["def"]}`
		if args.Text() != want || args.Received() != want {
			t.Errorf("text %s, received %s", args.Text(), args.Received())
		}
		if res := must(tl.Run(t.Context(), args))(t); res.String() != "abc" {
			t.Errorf("the tool got %q, want abc", res)
		}
	})
	t.Run("S2 no arguments are no text", func(t *testing.T) {
		var none tool.Args
		if none.Text() != "" || none.Received() != "" || none.Mended() != nil {
			t.Errorf("zero Args: %q, %q, %v", none.Text(), none.Received(), none.Mended())
		}
		var v map[string]any
		if err := none.Decode(&v); err == nil {
			t.Errorf("zero Args were decoded into %v", v)
		}
	})
}

func TestArgsDecode(t *testing.T) {
	args := admit(t, must(untyped(`{}`).Check())(t), `{"a":1.0,"b":[1e1]}`)
	t.Run("O9 into a type of one's own", func(t *testing.T) {
		var v struct {
			A int   `json:"a"`
			B []int `json:"b"`
		}
		if err := args.Decode(&v); err != nil || v.A != 1 || len(v.B) != 1 || v.B[0] != 10 {
			t.Errorf("Decode = %+v, %v", v, err)
		}
	})
	t.Run("O9 into a map", func(t *testing.T) {
		var v map[string]any
		if err := args.Decode(&v); err != nil || !reflect.DeepEqual(v, map[string]any{"a": 1.0, "b": []any{10.0}}) {
			t.Errorf("Decode = %+v, %v", v, err)
		}
	})
	t.Run("O9 what does not fit says so in words", func(t *testing.T) {
		var v struct {
			A string `json:"a"`
		}
		err := args.Decode(&v)
		if err == nil || err.Error() != "/a: got number 1.0, want a string" {
			t.Errorf("Decode = %v", err)
		}
	})
	t.Run("O9 a target that cannot be filled is an error", func(t *testing.T) {
		for _, v := range []any{nil, 5, search{}, (*search)(nil)} {
			if err := args.Decode(v); err == nil {
				t.Errorf("Decode(%T) went well", v)
			}
		}
	})
	t.Run("O9 how a number is written does not change what stood there before", func(t *testing.T) {
		for _, input := range []string{`{"limit":1}`, `{"limit":1.0}`} {
			v := search{Path: "default"}
			if err := admit(t, must(untyped(`{}`).Check())(t), input).Decode(&v); err != nil || v.Path != "default" || v.Limit != 1 {
				t.Errorf("%s over a default: %+v, %v", input, v, err)
			}
		}
	})
}

func TestErrorKeepsCause(t *testing.T) {
	tl := searchTool(t)
	t.Run("L4 of text that is no JSON", func(t *testing.T) {
		var cause *schema.SyntaxError
		if !errors.As(refused(t, tl, `{"path":`), &cause) || cause.Offset != 8 {
			t.Errorf("cause = %+v", cause)
		}
	})
	t.Run("L4 of JSON that does not fit", func(t *testing.T) {
		var cause *schema.InvalidError
		if !errors.As(refused(t, tl, `{"path":5,"limit":"x"}`), &cause) || len(cause.Violations) != 2 {
			t.Errorf("cause = %+v", cause)
		}
	})
}

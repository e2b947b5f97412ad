package tool_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"S2 nothing to do", `{"a":1}`, `{"a":1}`},
		{"S2 no blanks", " {\n\t\"a\" : [ 1 , 2 ] ,\r \"b\" : { } } ", `{"a":[1,2],"b":{}}`},
		{"S2 names in order", `{"b":1,"a":2,"":3,"B":4}`, `{"":3,"B":4,"a":2,"b":1}`},
		{"S2 names in order within", `{"l":[{"b":1,"a":2}]}`, `{"l":[{"a":2,"b":1}]}`},
		{"S2 names in the order of UTF-16", "{\"\ufffd\":1,\"\U0001f600\":2}", "{\"\U0001f600\":2,\"\ufffd\":1}"},
		{"S2 escaped names are in their order", `{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
		{"S2 lists keep theirs", `[3,1,2]`, `[3,1,2]`},
		{"S2 as few escapes as can be", `"\u0061\u00e9\u2028\/\u003c\ud83d\ude00"`, "\"aé\u2028/<😀\""},
		{"S2 what must be escaped is, in one way", `"\u0022\u005c\u000a\u0008\u001f\u007f"`, `"\"\\\n\b\u001f` + "\x7f\""},
		{"S2 hex digits in one case", `"\u001F"`, `"\u001f"`},
		{"S2 composed and decomposed are two", "[\"é\",\"e\u0301\"]", "[\"é\",\"e\u0301\"]"},
		{"S2 numbers keep their digits", `[9007199254740993,9007199254740992,1.0,1,1e2,1E2,100,-0,0,0.10]`, `[9007199254740993,9007199254740992,1.0,1,1e2,1E2,100,-0,0,0.10]`},
		{"S2 a number longer than any machine's", `[123456789012345678901234567890.1e999]`, `[123456789012345678901234567890.1e999]`},
		{"S2 words", `[true,false,null]`, `[true,false,null]`},
		{"S2 no JSON stays as it is", `{a: 1} `, `{a: 1} `},
		{"S2 a name twice stays as it is", `{"b":1, "a":1, "a":2}`, `{"b":1, "a":1, "a":2}`},
		{"S2 half a character stays as it is", `[ "\ud800" ]`, `[ "\ud800" ]`},
		{"S2 not UTF-8 stays as it is", "[ \"\xff\" ]", "[ \"\xff\" ]"},
		{"S2 two values stay as they are", `{} {}`, `{} {}`},
		{"S2 nothing stays nothing", ``, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := schema.Canonical(tt.text)
			if got != tt.want {
				t.Errorf("Canonical(%q) = %q, want %q", tt.text, got, tt.want)
			}
			if again := schema.Canonical(got); again != got {
				t.Errorf("Canonical(%q) = %q, want the same", got, again)
			}
		})
	}
	t.Run("S2 the arguments of a call", func(t *testing.T) {
		tl, _ := factsTool(t, nil)
		one, two := must(tl.Admit(json.RawMessage(`{"b":"\u0078", "a":1}`)))(t), must(tl.Admit(json.RawMessage(`{"a":1,"b":"x"}`)))(t)
		if want := `{"a":1,"b":"x"}`; one.Canonical() != want || two.Canonical() != want {
			t.Errorf("got %s and %s, want %s", one.Canonical(), two.Canonical(), want)
		}
		if got := must(tl.Admit(nil))(t).Canonical() + (tool.Args{}).Canonical(); got != "{}" {
			t.Errorf("no arguments: got %q, want {} and, of no tool, nothing", got)
		}
	})
}

// jsonValues are values as encoding/json decodes them with UseNumber.
func jsonValues(depth int) *rapid.Generator[any] {
	number := rapid.SampledFrom([]string{"0", "-0", "1", "1.0", "1e0", "10", "1e1", "9007199254740992", "9007199254740993", "0.1", "0.10"})
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(number, func(s string) any { return json.Number(s) }),
		rapid.Map(oddStrings(), func(s string) any { return s }),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	return rapid.OneOf(append(leaves,
		rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return jsonValues(depth - 1) }), 0, 3), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(oddStrings(), rapid.Deferred(func() *rapid.Generator[any] { return jsonValues(depth - 1) }), 0, 4), func(m map[string]any) any { return m }),
	)...)
}

func oddStrings() *rapid.Generator[string] {
	runes := rapid.SampledFrom([]rune("ab\"\\/<\x00\n\x1f\x7fé\u0301\u2028\ufffd\U0001f600"))
	return rapid.Map(rapid.SliceOfN(runes, 0, 4), func(r []rune) string { return string(r) })
}

// spelled is a value as JSON text in one of its many spellings.
func spelled(r *rand.Rand, v any) string {
	blank := func() string { return []string{"", "", " ", "\n\t"}[r.IntN(4)] }
	var parts []string
	open, end := "", ""
	switch v := v.(type) {
	case nil:
		return "null"
	case bool, json.Number:
		return fmt.Sprint(v)
	case string:
		return spelledString(r, v)
	case []any:
		open, end = "[", "]"
		for _, item := range v {
			parts = append(parts, blank()+spelled(r, item)+blank())
		}
	case map[string]any:
		open, end = "{", "}"
		for name, item := range v { // in another order each time
			parts = append(parts, blank()+spelledString(r, name)+blank()+":"+blank()+spelled(r, item)+blank())
		}
	}
	return open + blank() + strings.Join(parts, ",") + end
}

func spelledString(r *rand.Rand, s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c < 0x20 || c == '"' || c == '\\' || r.IntN(3) == 0:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[r.IntN(2)], unit)
			}
		case c == '/' && r.IntN(2) == 0:
			b.WriteString(`\/`)
		default:
			b.WriteRune(c)
		}
	}
	return `"` + b.String() + `"`
}

func TestCanonicalIsOne(t *testing.T) {
	t.Parallel()
	t.Run("S2 all spellings of a value have one form, and no two values have the same", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			a, b := jsonValues(3).Draw(t, "a"), jsonValues(3).Draw(t, "b")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "spelling"), 0))
			one, other := spelled(r, a), spelled(r, a)
			form := schema.Canonical(one)
			if again := schema.Canonical(other); again != form {
				t.Fatalf("%q is %q, but %q is %q", one, form, other, again)
			}
			if again := schema.Canonical(form); again != form {
				t.Fatalf("the form %q has the form %q", form, again)
			}
			if got := decodeExact(t, form); !reflect.DeepEqual(got, a) {
				t.Fatalf("%q became %q, another value", one, form)
			}
			if second := spelled(r, b); (schema.Canonical(second) == form) != reflect.DeepEqual(a, b) {
				t.Fatalf("%q and %q have the forms %q and %q", one, second, form, schema.Canonical(second))
			}
		})
	})
}

type failer interface {
	Fatalf(format string, args ...any)
}

// decodeExact decodes JSON without a loss.
func decodeExact(t failer, text string) (v any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// Two texts have one form exactly when they are one value.
func FuzzCanonical(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":1,"b":"x"}`, `{ "b":"\u0078","a":1 }`},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`},
		{`{"n":1.0}`, `{"n":1}`},
		{`{"a":1,"a":2}`, `{"a":2}`},
		{`["\ud83d\ude00"]`, `["😀"]`},
		{`["\ud800"]`, `["\ufffd"]`},
		{`{"a":{"b":[]}}`, `{"a":{"b":{}}}`},
		{"", " "},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		one, other := schema.Canonical(a), schema.Canonical(b)
		if again := schema.Canonical(one); again != one {
			t.Errorf("the form %q of %q has the form %q", one, a, again)
		}
		if one != a && !json.Valid([]byte(a)) {
			t.Errorf("%q is not JSON, and became %q", a, one)
		}
		if !hasOneReading(a) {
			return
		}
		value := decodeExact(t, a)
		if got := decodeExact(t, one); !reflect.DeepEqual(got, value) {
			t.Errorf("%q became %q, another value", a, one)
		}
		text, err := json.Marshal(value) // in other words
		if err != nil {
			t.Fatal(err)
		}
		if again := schema.Canonical(string(text)); again != one {
			t.Errorf("%q is %q, but %q is %q", a, one, text, again)
		}
		if hasOneReading(b) && (one == other) != reflect.DeepEqual(value, decodeExact(t, b)) {
			t.Errorf("%q and %q have the forms %q and %q", a, b, one, other)
		}
	})
}

// hasOneReading reports whether text is a JSON value as arguments may be.
func hasOneReading(text string) bool {
	_, err := schema.Arguments(text)
	return err == nil && strings.TrimSpace(text) != ""
}

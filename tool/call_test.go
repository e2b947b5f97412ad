package tool_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/tool"
)

// A call that was saved is the same call: its arguments are compared as they were
// received.
func TestCallAsJSON(t *testing.T) {
	t.Parallel()
	back := func(t interface{ Fatal(args ...any) }, c tool.Call, indented bool) tool.Call {
		text, err := json.Marshal(c)
		if indented {
			text, err = json.MarshalIndent(map[string]tool.Call{"call": c}, " ", "\t")
		}
		if err != nil {
			t.Fatal(err)
		}
		var got tool.Call
		if indented {
			var in map[string]tool.Call
			err = json.Unmarshal(text, &in)
			got = in["call"]
		} else {
			err = json.Unmarshal(text, &got)
		}
		if err != nil {
			t.Fatal(err, string(text))
		}
		return got
	}
	for _, input := range []string{
		``, `{}`, `{"a": 1}`, `{"a":"<b> & c"}`, `{"a":"\u003cb"}`, "{\"a\":\"\u2028\"}", `{"a":`, "\xff{", `null`, ` `, `"x"`, `{"a":"\\u003c <"}`, "{\n}",
	} {
		t.Run("S2 "+input, func(t *testing.T) {
			t.Parallel()
			for _, indented := range []bool{false, true} {
				if got := back(t, tool.Call{ID: "1", Name: "n", Input: json.RawMessage(input)}, indented); string(got.Input) != input || got.ID != "1" || got.Name != "n" {
					t.Errorf("got %+q, want %q", got, input)
				}
			}
		})
	}
	t.Run("S2 any text", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			value := rapid.SliceOf(rapid.SampledFrom([]string{"<", ">", "&", `\u003c`, `\\`, "u003c", "\u2028", `\u2028`, " ", "x", `\"`, "é"})).Draw(t, "text")
			input := `{"a":"`
			for _, v := range value {
				input += v
			}
			input += rapid.SampledFrom([]string{`"}`, `" }`, ``}).Draw(t, "end")
			if got := back(t, tool.Call{Name: "n", Input: json.RawMessage(input)}, rapid.Bool().Draw(t, "indented")); string(got.Input) != input {
				t.Fatalf("got %q, want %q", got.Input, input)
			}
		})
	})
}

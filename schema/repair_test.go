package schema

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestRepair(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		changes          []string
	}{
		{"S8 valid text is left alone", ` {"a": [1, "x", null]} `, ` {"a": [1, "x", null]} `, nil},
		{"S8 valid text with a repeated key is left alone", `{"a":1,"a":2}`, `{"a":1,"a":2}`, nil},
		{"S8 a code fence", "```json\n{\"a\":1}\n```\n", "{\"a\":1}\n", []string{"removed a code fence"}},
		{"S8 a code fence that does not end", "```\n{\"a\":1}", `{"a":1}`, []string{"removed a code fence"}},
		{"S8 a byte order mark", "\ufeff{}", `{}`, []string{"removed a byte order mark"}},
		{"S8 trailing commas", `{"a":[1,2,],}`, `{"a":[1,2]}`, []string{"removed a trailing comma (2 times)"}},
		{"S8 missing commas between lines", "{\"a\":1\n \"b\":2}", "{\"a\":1,\n \"b\":2}", []string{"added a missing comma"}},
		{"S8 single quotes", `{'a':'say "x"'}`, `{"a":"say \"x\""}`, []string{"wrote single quotes as double quotes (2 times)"}},
		{"S8 keys without quotes", `{a:1, b-c: 2}`, `{"a":1, "b-c": 2}`, []string{"put a key in quotes (2 times)"}},
		{
			"S8 Python's literals", `{"a":True,"b":False,"c":None}`, `{"a":true,"b":false,"c":null}`,
			[]string{"wrote True as true", "wrote False as false", "wrote None as null"},
		},
		{"S8 raw line breaks and tabs", "{\"a\":\"x\n\ty\"}", `{"a":"x\u000a\u0009y"}`, []string{"escaped a control character in a string (2 times)"}},
		{
			"S8 wrong escapes", `{"a":"it\'s \x41 \d"}`, `{"a":"it's \u0041 \\d"}`,
			[]string{"removed a wrong escape", `wrote \x as \u`, "escaped a backslash"},
		},
		{"S8 comments", "{ // one\n\"a\":1 /* two */, # three\n\"b\":2}", "{ \n\"a\":1 , \n\"b\":2}", []string{"removed a comment (3 times)"}},
		{"S8 brackets that do not end", `{"a":[1,{"b":"c"`, `{"a":[1,{"b":"c"}]}`, []string{"closed what was left open at the end (3 times)"}},
		{"S8 brackets that do not end after a number", `{"a":[1 `, `{"a":[1 ]}`, []string{"closed what was left open at the end (2 times)"}},
		{"S8 brackets that do not end before a fence", "```\n{\"a\":1```", `{"a":1}`, []string{"removed a code fence", "closed what was left open at the end"}},
		{"S8 a bracket forgotten before the last", `{"a":[1,2}`, `{"a":[1,2]}`, []string{"closed what was left open at the end"}},
		{"S8 a closing bracket too many", `{"a":1}}`, `{"a":1}`, []string{"removed a closing bracket too many"}},
		{"S8 an object in a string", `"{\"a\":1}"`, `{"a":1}`, []string{"took the object out of a string"}},
		{"S8 a broken object in a string", `"{'a':1}"`, `{"a":1}`, []string{"took the object out of a string", "wrote single quotes as double quotes"}},
		{"S8 a string that holds no object stays", `"a {b}"`, `"a {b}"`, nil},
		{"S8 a repeated key is not mended", `{"a":1,"a":2,}`, `{"a":1,"a":2}`, []string{"removed a trailing comma"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, changes, err := Repair(tt.text)
			if err != nil {
				t.Fatalf("Repair(%q): %v", tt.text, err)
			}
			if got != tt.want || !slices.Equal(changes, tt.changes) {
				t.Errorf("Repair(%q) = %q, %q, want %q, %q", tt.text, got, changes, tt.want, tt.changes)
			}
		})
	}
}

func TestRepairRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, text, reason string
		offset             int
	}{
		{"S8 NaN", `{"a":NaN}`, "NaN is no value", 5},
		{"S8 a path with backslashes", `{"p":"C:\Users\new"}`, "write each as", 18},
		{"S8 a pattern with backslashes", `{"re":"\d+\b"}`, "write each as", 12},
		{"S8 infinity", `{"a":-Infinity}`, "-Infinity is no number", 5},
		{"S8 a value that is missing", `{"a":`, "the text ends where a value is wanted", 5},
		{"S8 half a literal", `{"a": tru`, "cut off within a word", 9},
		{"S8 a literal at the end", `{"a": true`, "cut off within a word", 10},
		{"S8 half a command", `{"command":"rm -rf /home/user/tm`, "cut off within a string", 32},
		{"S8 half a command in single quotes", `{'command':'rm -rf /`, "cut off within a string", 20},
		{"S8 a string cut off in an escape", `{"a":"b\`, "cut off within a string", 8},
		{"S8 half a key", `{"a":1,"b`, "cut off within a string", 9},
		{"S8 half a number", `{"amount":100`, "cut off within a number", 13},
		{"S8 half a number in a fence without end", "```\n{\"a\":1", "cut off within a number", 10},
		{"S8 a member that is missing", `{"a":1, `, "cut off behind a comma", 8},
		{"S8 prose around the text", `Sure: {"a":1}`, "Sure is no value", 0},
		{"S8 text after the value", `{"a":1} ok`, "text after the value", 8},
		{"S8 two brackets too many", `{"a":1}}}`, "text after the value", 8},
		{"S8 a missing comma on one line", `{"a":1 "b":2}`, "want a comma", 7},
		{"S8 a missing colon", "{\n\"a\" 1}", "want a colon", 6},
		{"S8 the wrong bracket in the middle", `{"a":[1},"b":2}`, `want ']'`, 7},
		{"S8 a number of Python", `{"a":1_000}`, "want a comma", 6},
		{"S8 a comment without end", `{/* x`, "a comment does not end", 1},
		{"S8 nothing", ``, "the text ends where a value is wanted", 0},
		{"S8 invalid UTF-8", "{a:\"\xff\"}", "invalid", 1},
		{"S8 too deep", strings.Repeat("[", 100_000), "nested more than 500 deep", 501},
		{"S8 too large", strings.Repeat(" ", maxRepairBytes+1), "want at most", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := Repair(tt.text)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("Repair(%.40q) = %q, %v, want a *SyntaxError", tt.text, got, err)
			}
			if !strings.Contains(syntax.Reason, tt.reason) || syntax.Offset != tt.offset {
				t.Errorf("Repair(%.40q): %q at byte %d, want %q at byte %d", tt.text, syntax.Reason, syntax.Offset, tt.reason, tt.offset)
			}
		})
	}
}

// FuzzRepair gives any text: what comes back is JSON, and needs no second
// repair.
func FuzzRepair(f *testing.F) {
	for _, seed := range []string{`{'a':[1,2,`, "```json\n{a:True}\n```", `"{\"a\":1}"`, "{\"a\":\"x\ny\"}}", `{"a":1 // x` + "\n}", `{"a":"\x41\'\q"}`, "\ufeff[,]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, changes, err := Repair(text)
		if err != nil {
			return
		}
		if !json.Valid([]byte(got)) {
			t.Fatalf("Repair(%q) = %q, which is not JSON", text, got)
		}
		if len(changes) == 0 && got != text {
			t.Fatalf("Repair(%q) = %q without a change", text, got)
		}
		if Valid(text) == nil && !strings.HasPrefix(strings.TrimSpace(text), `"`) && got != text {
			t.Fatalf("Repair(%q) = %q, although the text is valid", text, got)
		}
	})
}

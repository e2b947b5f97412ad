package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/schema"
)

func compile(t *testing.T, text string, o schema.Options) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(text), o)
	if err != nil {
		t.Fatalf("compile %s: %v", text, err)
	}
	return s
}

// The official suite is run by eval on data from outside; these are the places
// where the two drafts part.
func TestDrafts(t *testing.T) {
	const d7, d2020 = `"$schema":"http://json-schema.org/draft-07/schema#"`, `"$schema":"https://json-schema.org/draft/2020-12/schema"`
	for _, tt := range []struct {
		name, schema, text string
		want               bool
	}{
		{"2020-12: prefixItems, items is the rest", `{` + d2020 + `,"prefixItems":[{"type":"string"}],"items":false}`, `["a",1]`, false},
		{"draft 7: items is a list, additionalItems is the rest", `{` + d7 + `,"items":[{"type":"string"}],"additionalItems":false}`, `["a",1]`, false},
		{"draft 7: prefixItems is unknown", `{` + d7 + `,"prefixItems":[{"type":"string"}]}`, `[1]`, true},
		{"2020-12: what stands beside $ref counts", `{` + d2020 + `,"$defs":{"s":{"type":"string"}},"$ref":"#/$defs/s","maxLength":1}`, `"ab"`, false},
		{"draft 7: what stands beside $ref does not", `{` + d7 + `,"definitions":{"s":{"type":"string"}},"$ref":"#/definitions/s","maxLength":1}`, `"ab"`, true},
		{"2020-12: unevaluatedProperties sees through allOf", `{` + d2020 + `,"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`, false},
		{"draft 7: dependencies", `{` + d7 + `,"dependencies":{"a":["b"]}}`, `{"a":1}`, false},
		{"2020-12: dependentRequired", `{` + d2020 + `,"dependentRequired":{"a":["b"]}}`, `{"a":1}`, false},
		{"no $schema is 2020-12", `{"prefixItems":[{"type":"string"}]}`, `[1]`, false},
		{"1.0 is an integer", `{"type":"integer"}`, `1.0`, true},
		{"1e2 is an integer", `{"type":"integer"}`, `1e2`, true},
		{"1.5 is none", `{"type":"integer"}`, `1.5`, false},
		{"numbers are exact", `{"multipleOf":0.01}`, `4.35`, true},
		{"and large ones too", `{"maximum":9007199254740992}`, `9007199254740993`, false},
		{"length counts characters", `{"maxLength":2}`, `"éé"`, true},
		{"an escape is one character", `{"maxLength":1}`, `"\u00e9"`, true},
		{"a surrogate pair is one character", `{"maxLength":1}`, `"\ud83d\ude00"`, true},
		{"equal numbers are one constant", `{"const":1}`, `1.0`, true},
		{"duplicate keys: the last one counts", `{"properties":{"a":{"type":"string"}}}`, `{"a":1,"a":"x"}`, true},
	} {
		t.Run("S1 "+tt.name, func(t *testing.T) {
			err := compile(t, tt.schema, schema.Options{}).Check(tt.text)
			if (err == nil) != tt.want {
				t.Errorf("%s against %s: got %v, want valid %v", tt.text, tt.schema, err, tt.want)
			}
		})
	}
}

func TestArgumentsAreStrict(t *testing.T) {
	const refs = `{"type":"object","properties":{"p":{"$ref":"#/$defs/point"},"q":{"anyOf":[{"$ref":"#/$defs/point"},{"type":"null"}]}},"$defs":{"point":{"type":"object","properties":{"x":{"type":"number"}}}}}`
	for _, tt := range []struct {
		name, schema, text string
		open               bool
		want               string // "" is valid; else part of the refusal
	}{
		{"an object that names properties is closed", `{"properties":{"a":{}}}`, `{"a":1,"b":2}`, false, `unknown "b", want only "a"`},
		{"one that names none stays open", `{"type":"object"}`, `{"b":2}`, false, ""},
		{"and so does an empty list of properties", `{"type":"object","properties":{}}`, `{"b":2}`, false, ""},
		{"one that speaks about the rest is left alone", `{"properties":{"a":{}},"additionalProperties":true}`, `{"a":1,"b":2}`, false, ""},
		{"and a schema for the rest too", `{"properties":{"a":{}},"additionalProperties":{"type":"string"}}`, `{"b":2}`, false, "want string"},
		{"at any depth", `{"properties":{"a":{"items":{"properties":{"b":{}}}}}}`, `{"a":[{"b":1},{"c":1}]}`, false, `/a/1: got unknown "c"`},
		{"a tool can opt out", `{"properties":{"a":{}}}`, `{"a":1,"b":2}`, true, ""},
		{"allOf counts as a whole", `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, `{"a":1,"b":2}`, false, ""},
		{"and is closed as a whole", `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, `{"a":1,"c":2}`, false, `unknown "c", want only "a", "b"`},
		{"the branch that fits names what may stand", `{"anyOf":[{"properties":{"k":{"const":1},"a":{}},"required":["k"]},{"properties":{"k":{"const":2},"b":{}},"required":["k"]}]}`, `{"k":2,"a":1}`, false, `got "a", want it left out`},
		{"an object behind $ref is closed", refs, `{"p":{"x":1,"y":2}}`, false, `/p: got unknown "y", want only "x"`},
		{"and one that may be null", refs, `{"q":{"y":2}}`, false, `unknown "y"`},
		{"and is taken when it is right", refs, `{"p":{"x":1},"q":null}`, false, ""},
		{"draft 7 too, across references", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"p":{"$ref":"#/definitions/point"}},"definitions":{"point":{"properties":{"x":{}}}}}`, `{"p":{"y":1}}`, false, `unknown "y"`},
		{"draft 7 formats are still asserted then", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"p":{"allOf":[{"properties":{"x":{"format":"ipv4"}}}]}}}`, `{"p":{"x":"no"}}`, false, "format ipv4"},
		{"draft 7 references lead where they led", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"t":{"items":[{"properties":{"x":{}}}]},"u":{"$ref":"#/properties/t/items/0"}}}`, `{"t":[{"x":1}],"u":{"y":1}}`, false, `/u: got unknown "y"`},
		{"draft 7 does not know the keywords of 2020-12", `{"$schema":"http://json-schema.org/draft-07/schema#","allOf":[{"properties":{"a":{}}}],"dependentRequired":{"a":["b"]}}`, `{"a":1}`, false, ""},
		{"references inside an embedded resource", `{"properties":{"p":{"$ref":"http://x.invalid/point"}},"$defs":{"point":{"$id":"http://x.invalid/point","$ref":"#/$defs/inner","$defs":{"inner":{"properties":{"x":{}}}}}}}`, `{"p":{"y":1}}`, false, `unknown "y"`},
		{"places that only a reference leads to", `{"properties":{"pet":{"$ref":"#/components/schemas/Pet"}},"components":{"schemas":{"Pet":{"type":"object","properties":{"owner":{"type":"object","properties":{"name":{}}}}}}}}`, `{"pet":{"owner":{"name":1,"zz":2}}}`, false, `/pet/owner: got unknown "zz"`},
		{"and references between them", `{"$ref":"#/components/a","components":{"a":{"$ref":"#/components/b"},"b":{"type":"object","properties":{"x":{}}}}}`, `{"x":1,"y":2}`, false, `unknown "y"`},
		{"draft 7 references into such places", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/x/items/0"},"b":{"$ref":"#/x"}},"x":{"items":[{"properties":{"k":{}}}]}}`, `{"a":{"k":1,"l":2}}`, false, `/a: got unknown "l"`},
		{"a union with any object stays open", `{"properties":{"f":{"anyOf":[{"$ref":"#/$defs/M"},{"type":"object"}]}},"$defs":{"M":{"type":"object","properties":{"a":{}}}}}`, `{"f":{"foo":1}}`, false, ""},
		{"a union with anything too", `{"properties":{"f":{"anyOf":[{"type":"object","properties":{"a":{}}},{}]}}}`, `{"f":{"foo":1}}`, false, ""},
		{"one of required lists keeps it closed", `{"properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1,"c":1}`, false, `unknown "c"`},
		{"what is required may be given", `{"properties":{"a":{}},"required":["a","b"]}`, `{"a":1,"b":2}`, false, ""},
		{"what is required in a composition may be given", `{"allOf":[{"properties":{"a":{}}},{"required":["b"]}]}`, `{"a":1,"b":2}`, false, ""},
		{"names in a condition do not close", `{"type":"object","if":{"properties":{"k":{"const":1}},"required":["k"]},"then":{"required":["v"]}}`, `{"k":2}`, false, ""},
		{"wrong case behind a reference of an open tool", `{"properties":{"p":{"$ref":"#/$defs/point"}},"$defs":{"point":{"properties":{"x":{}}}}}`, `{"p":{"X":1}}`, true, `want "x"`},
		{"wrong case in a composition that is open", `{"additionalProperties":true,"allOf":[{"properties":{"path":{}}}]}`, `{"PATH":1}`, false, `want "path"`},
		{"wrong case beside patterns", `{"properties":{"path":{}},"patternProperties":{"^x-":{}},"additionalProperties":true}`, `{"x-path":1,"PATH":1}`, false, `want "path"`},
		{"another case that a pattern takes", `{"properties":{"path":{}},"patternProperties":{"^P":{}},"additionalProperties":true}`, `{"Path":1}`, false, ""},
		{"a required name in another case", `{"properties":{"path":{}},"required":["PATH"],"additionalProperties":true}`, `{"PATH":1}`, false, `want "path"`},
		{"arguments are an object", `{}`, `[1]`, false, `got array of 1 item, want object`},
		{"where anything would do", `true`, `5`, false, `got number 5, want object`},
		{"a condition is not closed", `{"properties":{"a":{}},"not":{"properties":{"a":{"properties":{"b":{}}}}}}`, `{"a":{"c":1}}`, false, "not"},
		{"closing a branch of oneOf lets nothing more through", `{"oneOf":[{"properties":{"p":{"properties":{"a":{}}}}},{"properties":{"p":{"properties":{"b":{}}}}}]}`, `{"p":{"a":1}}`, false, "exactly one"},
		{"duplicate keys", `{"properties":{"a":{}}}`, `{"a":1,"a":2}`, false, `duplicate key "a"`},
		{"duplicate keys where nothing is named", `{}`, `{"x":{"b":1,"b":2}}`, false, `duplicate key "b"`},
		{"duplicate keys, one of them escaped", `{}`, `{"b":1,"\u0062":2}`, false, `duplicate key "b"`},
		{"wrong case", `{"properties":{"path":{}}}`, `{"Path":1}`, false, `did you mean "path"`},
		{"wrong case where the rest is open", `{"properties":{"path":{}},"additionalProperties":true}`, `{"PATH":1}`, false, `got unknown "PATH", want "path"`},
		{"wrong case in a tool that opted out", `{"properties":{"path":{}}}`, `{"Path":1}`, true, `want "path"`},
		{"both cases where both are named", `{"properties":{"a":{},"A":{}}}`, `{"a":1,"A":2}`, true, ""},
		{"invalid UTF-8", `{}`, "{\"a\":\"\xff\"}", false, "UTF-8"},
		{"half a surrogate pair", `{}`, `{"a":"\ud800"}`, false, "invalid"},
		{"trailing bytes", `{}`, `{} {}`, false, "at byte 3"},
		{"a number longer than any number", `{"properties":{"n":{"type":"number"}}}`, `{"n":1.` + strings.Repeat("0", 2000) + `}`, false, "out of bounds"},
		{"and a bounded one", `{"properties":{"n":{"type":"integer","minimum":0}}}`, `{"n":1` + strings.Repeat("0", 2000) + `}`, false, "out of bounds"},
	} {
		t.Run("S2 "+tt.name, func(t *testing.T) {
			err := compile(t, tt.schema, schema.Options{Arguments: true, Open: tt.open}).Check(tt.text)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v, want valid", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want a refusal with %q", err, tt.want)
			}
		})
	}
}

func TestArgumentText(t *testing.T) {
	for _, tt := range []struct{ name, text, want, err string }{
		{"empty text is {}", "", "{}", ""},
		{"blank text is {}", " \t\r\n", "{}", ""},
		{"an object stays as it is", ` {"a": 1} `, ` {"a": 1} `, ""},
		{"a place is named", "{\n  \"a\": ]}", "", "at byte 9 (line 2, column 8"},
		{"a truncated text", `{"a":`, "", "at byte 5"},
		{"no-break space is not blank", "\u00a0", "", "at byte 0"},
		{"not JSON at all", "please", "", "at byte 0 (line 1, column 1)"},
	} {
		t.Run("S3 "+tt.name, func(t *testing.T) {
			got, err := schema.Arguments(tt.text)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Arguments(%q) = %q, %v, want %q, %q", tt.text, got, err, tt.want, tt.err)
			}
		})
	}
}

func TestEveryViolationIsExplained(t *testing.T) {
	const files = `{"type":"object","properties":{"path":{"type":"string","minLength":1},"limit":{"type":"integer","minimum":1,"maximum":100},"mode":{"enum":["fast","full"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":2,"uniqueItems":true},"when":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["path"]}`
	for _, tt := range []struct {
		name, schema, text string
		want               []string
	}{
		{"a missing property, with its type", files, `{}`, []string{`(root): got no "path", want "path" (string)`}},
		{"a wrong type", files, `{"path":7}`, []string{`/path: got number 7, want string`}},
		{"several at once, in the order of places", files, `{"limit":0,"mode":"slow","path":""}`, []string{
			`/limit: got number 0, want at least 1`,
			`/mode: got string "slow", want one of "fast", "full"`,
			`/path: got 0 characters, want at least 1`,
		}},
		{"inside an array", files, `{"path":"a","tags":["x",2]}`, []string{`/tags/1: got number 2, want string`}},
		{"counts and repeats", files, `{"path":"a","tags":["x","x","y"]}`, []string{
			`/tags: got 3 items, want at most 2`,
			`/tags: got equal items at 0 and 1, want each item once`,
		}},
		{"a union of types says all of them", files, `{"path":"a","when":1}`, []string{`/when: got number 1, want null or string`}},
		{"a misspelled name, the nearest and all valid ones", files, `{"paht":"a"}`, []string{
			`(root): got unknown "paht", want only "limit", "mode", "path", "tags", "when" ("paht": did you mean "path"?)`,
			`(root): got no "path", want "path" (string)`,
		}},
		{"the branch that was meant", `{"anyOf":[{"properties":{"kind":{"const":"a"},"n":{"type":"integer"}},"required":["kind"]},{"properties":{"kind":{"const":"b"}},"required":["kind"]}]}`, `{"kind":"a","n":"x"}`, []string{
			`/n: got string "x", want integer`,
		}},
		{"the branch with the right constant", `{"properties":{"p":{"oneOf":[{"properties":{"kind":{"const":"cat"},"mood":{"enum":["a","b"]}},"required":["kind"]},{"properties":{"kind":{"const":"dog"}},"required":["kind"]}]}}}`, `{"p":{"kind":"cat","mood":"c"}}`, []string{
			`/p/mood: got string "c", want one of "a", "b"`,
		}},
		{"constants of several branches", `{"properties":{"v":{"anyOf":[{"const":"a"},{"const":"b"},{"enum":["c","d"]}]}}}`, `{"v":"x"}`, []string{
			`/v: got string "x", want one of "a", "b", "c", "d"`,
		}},
		{"a constant or another type", `{"properties":{"v":{"anyOf":[{"type":"array"},{"const":"all"}]}}}`, `{"v":"some"}`, []string{
			`/v: got string "some", want "all" or array`,
		}},
		{"several ways, the simplest first", `{"properties":{"v":{"anyOf":[{"required":["a","b"]},{"required":["c"]}]}}}`, `{"v":{}}`, []string{
			`/v: got object with 0 members, want one of these put right: (1) /v: got no "c", want "c"; (2) /v: got no "a", "b", want "a", "b"`,
		}},
		{"a constant that no branch has", `{"properties":{"s":{"oneOf":[{"type":"object","properties":{"kind":{"const":"circle"},"r":{}},"required":["kind","r"]},{"type":"object","properties":{"kind":{"const":"rect"}},"required":["kind"]}]}}}`, `{"s":{"kind":"triangle"}}`, []string{
			`/s/kind: got string "triangle", want one of "circle", "rect"`,
		}},
		{"a missing property, with its values", `{"properties":{"mode":{"enum":["fast","slow"]},"op":{"const":"x"}},"required":["mode","op"]}`, `{}`, []string{
			`(root): got no "mode", "op", want "mode" (one of "fast", "slow"), "op" ("x")`,
		}},
		{"an array written into a string", `{"properties":{"l":{"type":"array"}}}`, `{"l":"[1,2]"}`, []string{
			`/l: got string "[1,2]", want array itself, not inside a string`,
		}},
		{"an optional object, with everything that is wrong in it", `{"properties":{"f":{"anyOf":[{"type":"object","properties":{"op":{"enum":["eq","ne"]},"v":{"type":"number"}},"required":["op"]},{"type":"null"}]}}}`, `{"f":{"op":"=","v":true}}`, []string{
			`/f/op: got string "=", want one of "eq", "ne"`,
			`/f/v: got boolean true, want number`,
		}},
		{"what is excluded", `{"properties":{"v":{"not":{"type":"string"}}}}`, `{"v":"x"}`, []string{
			`/v: got string "x", want a value that does not fit {"type":"string"}`,
		}},
		{"what must be contained", `{"properties":{"v":{"contains":{"const":1}}}}`, `{"v":[2]}`, []string{
			`/v: got array of 1 item, want an item that fits {"const":1}`,
		}},
		{"a name that does not fit, where it stands", `{"properties":{"x":{"additionalProperties":{"additionalProperties":{"propertyNames":{"maxLength":3}}}}}}`, `{"x":{"a":{"m":{"long":1},"z":{}},"b":{},"c":{}}}`, []string{
			`/x/a/m: got the name "long", want a name that is at most 3`,
		}},
		{"unknown names of one object together", `{"properties":{"p":{"$ref":"#/$defs/p"}},"$defs":{"p":{"type":"object","properties":{"x":{}}}}}`, `{"p":{"b":1,"a":2}}`, []string{
			`/p: got unknown "a", "b", want only "x"`,
		}},
		{"a name with a slash and a tilde", `{"properties":{"a/b~c":{"type":"null"}}}`, `{"a/b~c":1}`, []string{`/a~1b~0c: got number 1, want null`}},
		{"bounds that are left out", `{"properties":{"v":{"exclusiveMinimum":1.5,"multipleOf":0.25}}}`, `{"v":1.1}`, []string{
			`/v: got number 1.1, want more than 1.5`,
			`/v: got number 1.1, want a multiple of 0.25`,
		}},
		{"a pattern", `{"properties":{"v":{"pattern":"^[a-z]+$"}}}`, `{"v":"A1"}`, []string{`/v: got string "A1", want a string that matches ^[a-z]+$`}},
		{"nothing may stand there", `{"properties":{"a":false}}`, `{"a":1}`, []string{`/a: got number 1, want nothing there`}},
		{"too many items of a tuple", `{"properties":{"v":{"prefixItems":[{}],"items":false}}}`, `{"v":[1,2]}`, []string{`/v/1: got number 2, want nothing there`}},
		{"long values are clipped", `{"properties":{"v":{"type":"null"}}}`, `{"v":"` + strings.Repeat("é", 100) + `"}`, []string{`/v: got string "` + strings.Repeat("é", 60) + `…", want null`}},
	} {
		t.Run("S4 "+tt.name, func(t *testing.T) {
			err := compile(t, tt.schema, schema.Options{Arguments: true}).Check(tt.text)
			var got []string
			if invalid, ok := errors.AsType[*schema.InvalidError](err); ok {
				for _, v := range invalid.Violations {
					got = append(got, v.String())
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%s\n got %q\nwant %q (%v)", tt.text, got, tt.want, err)
			}
		})
	}
}

func TestManyViolationsAreCapped(t *testing.T) {
	many := func(n int, form string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(form, i)
		}
		return strings.Join(parts, ",")
	}
	props := `{"type":"object","properties":{` + many(500, `"p%d":{}`) + `}}`
	tree := `{"properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"anyOf":[{"properties":{"c":{"$ref":"#/$defs/n"},"a":{"const":1}},"required":["a"]},{"properties":{"c":{"$ref":"#/$defs/n"},"b":{"const":1}},"required":["b"]}]}}}`
	for _, tt := range []struct{ name, schema, text, want string }{
		{"many wrong items", `{"properties":{"l":{"items":{"type":"string"}}}}`, `{"l":[` + many(10_000, "%d") + `]}`, "and 9980 more"},
		{"many unknown names", props, `{` + many(1000, `"q%d":1`) + `}`, `(1000 in all)`},
		{"many unknown names behind a reference", `{"properties":{"o":{"$ref":"#/$defs/o"}},"$defs":{"o":` + props + `}}`, `{"o":{` + many(1000, `"q%d":1`) + `}}`, `(500 in all)`},
		{"many patterns", `{"properties":{"l":{"items":{"anyOf":[` + many(200, `{"pattern":"^x%d$"}`) + `]}}}}`, `{"l":[` + many(100, `"%d"`) + `]}`, "or 195 other ways"},
		{"a union in a union in a union", tree, `{"n":` + strings.Repeat(`{"c":`, 10) + `{}` + strings.Repeat(`}`, 10) + `}`, "one of its 2 forms"},
		{"a long pattern", `{"properties":{"s":{"pattern":"^` + strings.Repeat("ab", 3000) + `$"}}}`, `{"s":"x"}`, "…"},
		{"a long duplicate key", `{}`, `{"` + strings.Repeat("k", 100_000) + `":1,"` + strings.Repeat("k", 100_000) + `":2}`, "duplicate key"},
		{"a great bound", `{"properties":{"n":{"maximum":1e999}}}`, `{"n":2e999}`, "…"},
	} {
		t.Run("S4 "+tt.name, func(t *testing.T) {
			err := compile(t, tt.schema, schema.Options{Arguments: true}).Check(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 20_000 {
				t.Errorf("got %d bytes: %.3000v, want at most 20,000 with %q", len(fmt.Sprint(err)), err, tt.want)
			}
		})
	}
}

func TestBadSchemas(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no text", ``, "schema (root): not a JSON text"},
		{"no JSON", `{"type":}`, "schema /type: not a JSON text"},
		{"an array", `[]`, "schema (root): got an array, want an object, true or false"},
		{"a type that does not exist", `{"properties":{"a":{"type":"dict"}}}`, "schema /properties/a/type"},
		{"a bound of the wrong type", `{"properties":{"a":{"minimum":"1"}}}`, "schema /properties/a/minimum: got string, want number"},
		{"a boolean exclusiveMinimum", `{"items":{"exclusiveMinimum":true}}`, "schema /items/exclusiveMinimum: got boolean, want number"},
		{"a pattern that is none", `{"properties":{"a":{"pattern":"("}}}`, "schema /properties/a/pattern"},
		{"a pattern with look-ahead", `{"pattern":"^(?!a)"}`, "RE2"},
		{"a reference that leads nowhere", `{"properties":{"a":{"$ref":"#/$defs/b"}}}`, `"#/$defs/b" leads nowhere`},
		{"a duplicate key", `{"type":"string","type":"number"}`, `duplicate key "type"`},
		{"a length that nobody can count to", `{"items":{"minLength":9223372036854775808}}`, "schema /items/minLength: got 9223372036854775808, want at most 1e15"},
		{"a maximum that nobody can count to", `{"maxItems":1e30}`, "schema /maxItems"},
	} {
		t.Run("S6 "+tt.name, func(t *testing.T) {
			_, err := schema.Compile([]byte(tt.text), schema.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

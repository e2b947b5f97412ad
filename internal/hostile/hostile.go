// Package hostile holds schemas that are made to hurt whoever compiles them.
// Tests show that each is refused, the bench how soon.
package hostile

import (
	"fmt"
	"strings"
)

// Schema is one attack.
type Schema struct {
	Name string
	Text []byte
	Want string // what the refusal must say
}

// Schemas lists the attacks.
func Schemas() []Schema {
	return []Schema{
		{"10 MB of schema", big(10 << 20), "bytes"},
		{"depth 100,000", []byte(strings.Repeat(`{"not":`, 100_000) + `{}` + strings.Repeat(`}`, 100_000)), "deep"},
		{"depth 100,000 of arrays", []byte(`{"enum":` + strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000) + `}`), "deep"},
		{"200,000 properties", wide(200_000), "bytes"},
		{"60,000 small subschemas", many(60_000), "values"},
		{"20,000 small subschemas", many(20_000), "subschemas"},
		{"15,000 properties", wide(15_000), "subschemas"},
		{"subschemas where only a reference finds them", []byte(`{"$ref":"#/x","x":` + string(many(20_000)) + `}`), "subschemas"},
		{"a name of 400 KB", []byte(`{"properties":{"` + strings.Repeat("n", 400_000) + `":{"anyOf":[` + strings.Repeat(`{},`, 1000) + `{}]}}}`), "a name of"},
		{"number 1e100000000", []byte(`{"maximum":1e100000000}`), "out of bounds"},
		{"number 1e-100000000", []byte(`{"multipleOf":1e-100000000}`), "out of bounds"},
		{"number of 5,000 digits", []byte(`{"const":` + strings.Repeat("9", 5000) + `}`), "out of bounds"},
		{"2^18 fan-out in place", doubling(18, `{"allOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%d"}]}`), "fan out"},
		{"2^18 fan-out through parts", doubling(18, `{"properties":{"a":{"$ref":"#/$defs/%d"},"b":{"$ref":"#/$defs/%d"}}}`), "fan out"},
		{"2^60 fan-out", doubling(60, `{"anyOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%d"}]}`), "fan out"},
		{"a reference to itself", []byte(`{"$ref":"#"}`), "itself"},
		{"a loop of references", []byte(`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`), "itself"},
		{"a loop through allOf and not", []byte(`{"$defs":{"a":{"allOf":[{"not":{"$ref":"#/$defs/a"}}]}},"properties":{"x":{"$ref":"#/$defs/a"}}}`), "itself"},
		{"a loop of dynamic references", []byte(`{"$dynamicAnchor":"n","$dynamicRef":"#n"}`), "itself"},
		{"10,000 references one after another", chain(10_000), "want at most"},
		{"a thousand patterns that grow", []byte(`{"anyOf":[` + strings.Repeat(`{"pattern":"`+strings.Repeat("(a{1,500}b)?", 80)+`"},`, 1000) + `{}]}`), "steps"},
		{"500 references one after another", chain(499), "one inside another"},
		{"500 references of references in composition", doubling(249, `{"oneOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%d"}]}`), ""},
	}
}

func big(n int) []byte {
	return []byte(`{"description":"` + strings.Repeat("a", n) + `"}`)
}

func wide(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"properties":{`)
	for i := range n {
		fmt.Fprintf(&b, `"p%d":{"type":"string"},`, i)
	}
	b.WriteString(`"last":{}}}`)
	return []byte(b.String())
}

func many(n int) []byte {
	return []byte(`{"anyOf":[` + strings.Repeat(`{},`, n) + `{}]}`)
}

// doubling is n definitions of which each leads to the next twice.
func doubling(n int, form string) []byte {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":`+form+`,`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"%d":{"type":"string"}}}`, n)
	return []byte(b.String())
}

func chain(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"$ref":"#/$defs/%d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"%d":{}}}`, n)
	return []byte(b.String())
}

// Value is a schema that may be compiled, and a text that is made to be slow
// to check against it.
type Value struct {
	Name   string
	Schema []byte
	Text   string
}

// Values lists them.
func Values() []Value {
	object := func(props string) []byte { return []byte(`{"type":"object","properties":{` + props + `}}`) }
	filter := `{"properties":{"c":{"$ref":"#/$defs/n"},"%s":{"const":1}},"required":["%[1]s"]}`
	return []Value{
		{"40,000 members", []byte(`{"type":"object"}`), `{` + list(40_000, `"m%d":%[1]d`) + `}`},
		{"40,000 wrong members", []byte(`{"type":"object","additionalProperties":{"type":"string"}}`), `{` + list(40_000, `"m%d":%[1]d`) + `}`},
		{"1,000 unknown names beside 1,000 known", object(list(1000, `"a_rather_long_name_%d":{}`)), `{` + list(1000, `"another_long_name_%d":1`) + `}`},
		{"10,000 wrong items", object(`"l":{"items":{"type":"string"}}`), `{"l":[` + list(10_000, "%d") + `]}`},
		{"1,000 alternatives for 100 items", object(`"l":{"items":{"anyOf":[` + list(1000, `{"pattern":"^x%d$"}`) + `]}}`), `{"l":[` + list(100, `"%d"`) + `]}`},
		{"2,000 listed numbers for 2,000 items", object(`"l":{"items":{"enum":[` + list(2000, `%d.5`) + `]}}`), `{"l":[` + list(2000, `%d`) + `]}`},
		{"a recursive union, deep and wrong", []byte(`{"properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"anyOf":[` + fmt.Sprintf(filter, "a") + `,` + fmt.Sprintf(filter, "b") + `]}}}`), `{"n":` + strings.Repeat(`{"c":`, 15) + `{}` + strings.Repeat(`}`, 15) + `}`},
		{"equal items", object(`"l":{"uniqueItems":true}`), `{"l":[` + list(5000, `{"a":[%d]}`) + `,{"a":[1]}]}`},
		{"depth 4,000", []byte(`{}`), `{"a":` + strings.Repeat(`[`, 4000) + strings.Repeat(`]`, 4000) + `}`},
	}
}

// list writes form for each number below n, with commas between.
func list(n int, form string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}

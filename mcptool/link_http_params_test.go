package mcptool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestHeaderParams(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"plain":{"type":"string"},
		"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"Deep-N"}}},
		"flag":{"type":"boolean","x-mcp-header":"Flag"}}}`)
	params, err := headerParamsOf(schema)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ arguments, want string }{
		{`{}`, ``},
		{`null`, ``},
		{`[1]`, ``},
		{`{"region":"eu","plain":"x","flag":false,"deep":{"n":7}}`, `Deep-N=7 Flag=false Region=eu`},
		{`{"region":null,"deep":{"n":1e3}}`, `Deep-N=1000`},
		{`{"region":{"a":1},"deep":[],"flag":[]}`, ``},
		{`{"deep":{"n":1.5}}`, ``},
		{`{"deep":{"n":9007199254740992}}`, ``},
		{`{"deep":{"n":-9007199254740991}}`, `Deep-N=-9007199254740991`},
		{`{"region":" a"}`, `Region==?base64?IGE=?=`},
		{`{"region":"a\nb"}`, `Region==?base64?YQpi?=`},
		{`{"region":"süd"}`, `Region==?base64?c8O8ZA==?=`},
		{`{"region":"=?base64?YQ==?="}`, `Region==?base64?PT9iYXNlNjQ/WVE9PT89?=`},
		{`{"region":"a b"}`, `Region=a b`},
	} {
		var got []string
		for name, values := range params.of(json.RawMessage(tt.arguments)) {
			got = append(got, fmt.Sprintf("%s=%s", strings.TrimPrefix(name, "Mcp-Param-"), values[0]))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, want %q", tt.arguments, got, tt.want)
		}
	}
}

func TestHeaderParamsRefused(t *testing.T) {
	for _, tt := range []struct{ properties, want string }{
		{`{"a":{"type":"string"}}`, ""},
		{`{"a":true,"b":{"x-mcp-header":"B","type":"string"}}`, ""},
		{`{"a":{"type":"number","x-mcp-header":"A"}}`, `x-mcp-header of a: got type "\"number\"", want string, integer or boolean`},
		{`{"a":{"type":["string","null"],"x-mcp-header":"A"}}`, `x-mcp-header of a: got type "[\"string\",\"null\"]", want string, integer or boolean`},
		{`{"a":{"type":"string","x-mcp-header":"a b"}}`, `x-mcp-header of a: got "\"a b\"", want a name of a header`},
		{`{"a":{"type":"string","x-mcp-header":""}}`, `x-mcp-header of a: got "\"\"", want a name of a header`},
		{`{"a":{"type":"string","x-mcp-header":5}}`, `x-mcp-header of a: got "5", want a name of a header`},
		{`{"a":{"type":"string","x-mcp-header":"K"},"b":{"properties":{"c":{"type":"string","x-mcp-header":"k"}}}}`, `x-mcp-header of b.c: "k" stands in the schema twice`},
	} {
		_, err := headerParamsOf(json.RawMessage(`{"properties":` + tt.properties + `}`))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.properties, got, tt.want)
		}
	}
}

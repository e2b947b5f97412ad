package mcptool

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
)

// nested is a tool with annotations that are n deep.
func nested(name, open, end string, n int) string {
	return `{"name":"` + name + `","description":"d","inputSchema":{"type":"object"},"annotations":{"é":` + strings.Repeat(open, n) + "1" + strings.Repeat(end, n) + `}}`
}

func TestDeepDefinitions(t *testing.T) {
	t.Parallel()
	long := `{"` + strings.Repeat("k", 60) + `":`
	for _, tt := range []struct{ name, def, want string }{
		{"lists as deep as a schema may be", nested("a", "[", "]", 126), "+a"},
		{"lists", nested("a", "[", "]", maxDefinitionDepth), "-a"},
		{"lists, half a megabyte of them", nested("a", "[", "]", 500_000), "-a"},
		{"objects with long names", nested("a", long, "}", 15_000), "-a"},
		{"brackets in a text are none", saysThat("a", strings.Repeat(`[{"\`, 1000)), "+a"},
	} {
		t.Run("M4 "+tt.name, func(t *testing.T) {
			s := pinnedServer(t, t.TempDir(), new(policy.Memory), plainTool("b"), tt.def)
			began := time.Now()
			start(t, s.h)
			s.want(tt.want + " +b")
			if took := time.Since(began); took > 10*time.Second { // generous: it takes some milliseconds
				t.Errorf("it took %s", took)
			}
			if why := s.why("a"); tt.want == "-a" && !strings.Contains(why, "nested more than 160 deep") {
				t.Errorf("got %q, want how deep it may be", why)
			}
		})
	}
	t.Run("M4 many values far down are shown, and cost little", func(t *testing.T) {
		open, end := strings.Repeat(long, 120), strings.Repeat("}", 120)
		was := json.RawMessage(`{"annotations":` + open + "[" + strings.Repeat("1,", 5_000) + "1]" + end + "}")
		is := json.RawMessage(strings.Replace(string(was), "1]", "2]", 1))
		got := diffOf(was, is, math.MaxInt)
		if !strings.HasPrefix(got, "annotations.kkk") || !strings.HasSuffix(got, "…\n- 1\n+ 2") || len(got) > 300 {
			t.Errorf("got %q, want the one value that is another, and the beginning of the way there", got)
		}
		if got := diffOf(nil, is, 1000); len(got) > 2000 {
			t.Errorf("got %d bytes, want about 1000", len(got))
		}
	})
}

func TestDiffShowsAll(t *testing.T) {
	for _, tt := range []struct{ name, was, is, want string }{
		{
			"names with dots", `{"inputSchema":{"properties":{"to":{"type":"string"}}}}`, `{"inputSchema":{"properties":{"to.type":"string"}}}`,
			"inputSchema.properties.\"to.type\"\n+ \"string\"\ninputSchema.properties.to.type\n- \"string\"",
		},
		{"a name like a place in a list", `{"inputSchema":{"required":["to"]}}`, `{"inputSchema":{"required.0":"to"}}`, "inputSchema.\"required.0\"\n+ \"to\"\ninputSchema.required[0]\n- \"to\""},
		{"a number as a name", `{"inputSchema":{"x":["to"]}}`, `{"inputSchema":{"x":{"0":"to"}}}`, "inputSchema.x.0\n+ \"to\"\ninputSchema.x[0]\n- \"to\""},
		{"a name with quotes", `{}`, `{"inputSchema":{"a\".\"b":1,"":2}}`, "inputSchema.\"a\\\".\\\"b\"\n+ 1\ninputSchema.\"\"\n+ 2"},
		{"a text that was a number", `{"inputSchema":{"description":5}}`, `{"inputSchema":{"description":"5"}}`, "inputSchema.description\n- \"5\"\n+ \"\\\"5\\\"\""},
		{"what is written as it is shown", `{"description":"a<U+200B>"}`, "{\"description\":\"a\u200b\"}", "description\n- \"\\\"a<U+200B>\\\"\"\n+ \"\\\"a\\u200b\\\"\""},
		{"long names that begin the same", `{"inputSchema":{"` + strings.Repeat("k", 70) + `a":1}}`, `{"inputSchema":{"` + strings.Repeat("k", 70) + `b":1}}`, "inputSchema." + strings.Repeat("k", 59) + "…\n+ 1\ninputSchema." + strings.Repeat("k", 59) + "…\n- 1"},
		{"nothing that is a part", `{"name":"a"}`, `{"name":"a","other":1}`, "- {\"name\":\"a\"}\n+ {\"name\":\"a\",\"other\":1}"},
	} {
		t.Run("M4 "+tt.name, func(t *testing.T) {
			if got := diffOf(json.RawMessage(tt.was), json.RawMessage(tt.is), math.MaxInt); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

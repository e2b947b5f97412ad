package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/internal/hostile"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestQuarantine(t *testing.T) {
	t.Parallel()
	tests := []struct{ rule, definition, want string }{
		{"S6 no object", `"tool"`, "definition: got a string, want an object"},
		{"T6 no name", `{"inputSchema":{"type":"object"}}`, "name: got nothing, want a string"},
		{"T6 a name that is a number", `{"name":7,"inputSchema":{"type":"object"}}`, "name: got a number, want a string"},
		{"T6 an empty name", plainTool(""), "no name"},
		{"T6 a name with a space", plainTool("get user"), `got ' '`},
		{"T6 a name with a slash", plainTool("a/b"), `got '/'`},
		{"T6 a name that is too long", plainTool(strings.Repeat("n", 129)), "want at most 128"},
		{"T6 a name that is there twice", `{"name":"a","name":"b","inputSchema":{"type":"object"}}`, `"name" is there twice`},
		{"S6 no schema", `{"name":"x"}`, "inputSchema: got none"},
		{"S6 null for a schema", `{"name":"x","inputSchema":null}`, "want an object"},
		{"S6 a schema of a list", `{"name":"x","inputSchema":{"type":"array"}}`, `got type "array" at the root`},
		{"S6 a schema that leads to a file", `{"name":"x","inputSchema":{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}}`, "input schema"},
		{"S6 a schema that leads to itself", `{"name":"x","inputSchema":{"type":"object","$ref":"#"}}`, "itself"},
		{"T6 a name that another tool has", plainTool("good"), "another tool of the server has the same name"},
	}
	t.Run("S6 hostile schemas", func(t *testing.T) {
		s := newServer(&Hub{}, Server{Name: "s"})
		for _, h := range hostile.Schemas() {
			if len(h.Text) > 64<<10 {
				continue // they cost seconds with the race detector; package schema shows that they are refused
			}
			got := s.listed(json.RawMessage(`{"name":"x","inputSchema":`+string(h.Text)+`}`), nil)
			mended := got.tool != nil && len(got.tool.Input) < len(h.Text)/2
			if h.Want != "" && got.tool != nil && !mended {
				t.Errorf("%s: got a tool, want it quarantined, or without what is hostile", h.Name)
			}
		}
	})
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			s := serverOf(t, &testServer{methods: map[string]method{"tools/list": lists(plainTool("good"), tt.definition)}})
			st := s.status()
			if st.State != "ready" || st.Tools != 1 {
				t.Fatalf("got %+v, want it ready with the other tool", st)
			}
			if len(st.Quarantined) != 1 || !strings.Contains(st.Quarantined[0].Why, tt.want) {
				t.Errorf("got %.300v, want one with %q", st.Quarantined, tt.want)
			}
		})
	}
	t.Run("T6 of two tools with a name one stays, however often they are listed", func(t *testing.T) {
		s := newServer(&Hub{Runtime: &ferrule.Runtime{Guard: unguarded()}}, Server{Name: "s"})
		var first *tool.Tool
		for range 3 {
			c := s.catalogue(t.Context(), []json.RawMessage{json.RawMessage(plainTool("t")), json.RawMessage(plainTool("t"))})
			if _, err := s.register(c); err != nil {
				t.Fatal(err)
			}
			made := c.offered()
			if len(made) != 1 || first != nil && made[0] != first || len(c.bad) != 1 {
				t.Fatalf("got %d tools and %v, want the very same one each time", len(made), c.bad)
			}
			first = made[0]
		}
	})
	t.Run("S6 tools that there is no time to check wait for the next time", func(t *testing.T) {
		s := newServer(&Hub{Runtime: &ferrule.Runtime{Guard: unguarded()}}, Server{Name: "s"})
		over, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("no time is left"))
		defs := []json.RawMessage{json.RawMessage(plainTool("t"))}
		c := s.catalogue(over, defs)
		if _, err := s.register(c); err != nil || len(c.bad) != 1 || c.bad[0] != (Quarantined{"t", "no time is left"}) {
			t.Fatalf("got %v, %v, want t quarantined", c.bad, err)
		}
		if c := s.catalogue(t.Context(), defs); len(c.offered()) != 1 {
			t.Errorf("got %v, want t offered", c.bad)
		}
	})
	t.Run("R4 tools without a prefix", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": lists(plainTool("t"))}}})
		h.Servers[0].Unprefixed, h.Servers[0].Trust = true, tool.Own
		start(t, h)
		if r, ok := h.Runtime.Find("t"); !ok || r.Source.Trust != tool.Own {
			t.Errorf("R3: got %+v, want tool t of trust own", r)
		}
	})
	t.Run("R4 a tool that the runtime refuses is quarantined alone", func(t *testing.T) {
		h := hubOf(t, map[string]*testServer{
			"a": {methods: map[string]method{"tools/list": lists(plainTool("x"))}},
			"b": {methods: map[string]method{"tools/list": lists(plainTool("u"), plainTool("v"), plainTool("x"), plainTool("w"))}},
		})
		h.Runtime = &ferrule.Runtime{Guard: unguarded(), Collisions: ferrule.Refuse}
		slices.SortFunc(h.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
		first := h.Servers[:1:1]
		all := h.Servers
		h.Servers = first
		start(t, h)
		second := hubOf(t, nil)
		second.Runtime, second.dial, second.Servers = h.Runtime, h.dial, all[1:]
		start(t, second)
		st := second.Status()[0]
		if st.Tools != 3 || len(st.Quarantined) != 1 || st.Quarantined[0].Tool != "x" {
			t.Errorf("got %+v, want x quarantined and 3 tools", st)
		}
		if got, want := toolNames(h.Runtime), []string{"u", "v", "w", "x"}; !slices.Equal(got, want) {
			t.Errorf("tools: got %q, want %q", got, want)
		}
	})
}

func TestDefinition(t *testing.T) {
	const input = `"inputSchema":{"type":"object"}`
	tests := []struct{ name, definition, tidy, description string }{
		{"as it is", `{"name":"x", "description":"d",` + input + `,"_meta":{"vendor":[1 ,2]}}`, "", "d"},
		{"members that the protocol does not have", `{"name":"x", "description":"d",` + input + `,"Description":"e","vendor":[1 ,2]}`, `{"name":"x", "description":"d",` + input + `}`, "d"},
		{"no description", `{"name":"x",` + input + `}`, "", "x"},
		{"a title", `{"name":"x","title":"T","description":"  ",` + input + `}`, "", "T"},
		{"a title among the hints", `{"name":"x","annotations":{"title":"A"},` + input + `}`, "", "A"},
		{"a description that is none", `{"name":"x","description":5,` + input + `}`, `{"name":"x",` + input + `}`, "x"},
		{"hints that are none", `{"name":"x","annotations":{"readOnlyHint":"yes","title":"A"},` + input + `}`, `{"name":"x","annotations":{"title":"A"},` + input + `}`, "A"},
		{"an output schema of no use", `{"name":"x","outputSchema":{"$ref":"#"},` + input + `}`, `{"name":"x",` + input + `}`, "x"},
		{"no type at the root", `{"name":"x","inputSchema":{"properties":{}}}`, `{"name":"x","inputSchema":{"properties":{},"type":"object"}}`, "x"},
		{"two types at the root", `{"name":"x","inputSchema":{"type":["object","null"]}}`, `{"name":"x","inputSchema":{"type":"object"}}`, "x"},
		{"a type of another language", `{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":"str"}}}}`, `{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, "x"},
	}
	for _, tt := range tests {
		t.Run("M1 "+tt.name, func(t *testing.T) {
			s := serverOf(t, &testServer{methods: map[string]method{"tools/list": lists(tt.definition)}})
			want := tt.tidy
			if want == "" {
				want = tt.definition
			}
			if got := string(s.definition("x")); got != want {
				t.Errorf("definition: got %s, want %s (%v)", got, want, s.status().Quarantined)
			}
			if r, _ := s.hub.Runtime.Find("s__x"); r.Info.Description != tt.description {
				t.Errorf("description: got %q, want %q", r.Info.Description, tt.description)
			}
		})
	}
}

func TestClaims(t *testing.T) {
	tests := []struct {
		name, hints string
		want        tool.Claims
	}{
		{"nothing said", ``, tool.Claims{}},
		{"no hints", `"annotations":{},`, tool.Claims{}},
		{"reads only", `"annotations":{"readOnlyHint":true},`, tool.Claims{ReadOnly: true}},
		{"writes", `"annotations":{"readOnlyHint":false},`, tool.Claims{}},
		{"does not destroy", `"annotations":{"destructiveHint":false},`, tool.Claims{Reversible: true}},
		{"destroys", `"annotations":{"destructiveHint":true},`, tool.Claims{}},
		{"a closed world", `"annotations":{"openWorldHint":false},`, tool.Claims{Local: true}},
		{"an open world", `"annotations":{"openWorldHint":true},`, tool.Claims{}},
		{"idempotent", `"annotations":{"idempotentHint":true},`, tool.Claims{Idempotent: true}},
		{"not idempotent", `"annotations":{"idempotentHint":false},`, tool.Claims{}},
		{"wrong types", `"annotations":{"readOnlyHint":"true","destructiveHint":0,"openWorldHint":null,"idempotentHint":1},`, tool.Claims{}},
		{"wrong case", `"annotations":{"ReadOnlyHint":true},`, tool.Claims{}},
		{"said twice", `"annotations":{"readOnlyHint":false,"readOnlyHint":true},`, tool.Claims{}},
		{"hints that are a list", `"annotations":[{"readOnlyHint":true}],`, tool.Claims{}},
		{"all of it", `"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false,"idempotentHint":true},`, tool.Claims{ReadOnly: true, Reversible: true, Local: true, Idempotent: true}},
	}
	for _, tt := range tests {
		t.Run("T5 "+tt.name, func(t *testing.T) {
			definition := fmt.Sprintf(`{"name":"x",%s"inputSchema":{"type":"object"}}`, tt.hints)
			for _, believed := range []bool{false, true} {
				h := hubOf(t, map[string]*testServer{"s": {methods: map[string]method{"tools/list": lists(definition)}}})
				h.Runtime.Believe = h.Believes
				if believed {
					h.Servers[0].Believe = []string{"x"}
				}
				start(t, h)
				r, ok := h.Runtime.Find("s__x")
				if !ok {
					t.Fatalf("got %+v, want the tool", h.Status())
				}
				if fmt.Sprint(r.Info.Claims) != fmt.Sprint(tt.want) {
					t.Errorf("claims: got %+v, want %+v", r.Info.Claims, tt.want)
				}
				want := tt.want
				if !believed {
					want = tool.Claims{}
				}
				if fmt.Sprint(r.Claims) != fmt.Sprint(want) {
					t.Errorf("believed: got %+v, want %+v", r.Claims, want)
				}
			}
		})
	}
	t.Run("T5 who believes whom", func(t *testing.T) {
		h := &Hub{Servers: []Server{{Name: "a", Believe: []string{"x"}}, {Name: "b", BelieveAll: true}, {Name: "c"}}}
		for name, want := range map[string]bool{"a x": true, "a y": false, "b y": true, "c x": false, "d x": false} {
			from, of, _ := strings.Cut(name, " ")
			if got := h.Believes(tool.Source{Name: from}, &tool.Info{Name: of}); got != want {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
	})
}

func TestPages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		page  func(cursor string) string
		items int
		left  string
	}{
		{"all pages", func(cursor string) string {
			return map[string]string{
				"":  `{"prompts":[1,2],"nextCursor":"a"}`,
				"a": `{"prompts":[],"nextCursor":"b"}`,
				"b": `{"prompts":[3]}`,
			}[cursor]
		}, 3, ""},
		{"a cursor that repeats", func(string) string { return `{"prompts":[1],"nextCursor":"a"}` }, 2, "same cursor"},
		{"too many pages", func(cursor string) string { return `{"prompts":[],"nextCursor":"` + cursor + `x"}` }, 0, "1000 pages"},
		{"too many items", func(string) string { return `{"prompts":[1` + strings.Repeat(",1", maxItems) + `]}` }, maxItems, "10000 items"},
	}
	for _, tt := range tests {
		t.Run("M1 "+tt.name, func(t *testing.T) {
			s := &testServer{methods: map[string]method{"prompts/list": func(c *testCall) (json.RawMessage, error) {
				return json.RawMessage(tt.page(textMember(c.params, "cursor"))), nil
			}}}
			p, err := listAll(t.Context(), s.connect(t, oldEra, listener{}), "prompts/list")
			if err != nil {
				t.Fatal(err)
			}
			if len(p.items) != tt.items || (p.left == "") != (tt.left == "") || !strings.Contains(p.left, tt.left) {
				t.Errorf("got %d items and %q, want %d and %q", len(p.items), p.left, tt.items, tt.left)
			}
		})
	}
	t.Run("M1 a list is kept until it changes", func(t *testing.T) {
		conns := make(chan *testCall, 9)
		ts := &testServer{old: true, capabilities: `{"prompts":{"listChanged":true}}`}
		ts.methods = map[string]method{"prompts/list": func(c *testCall) (json.RawMessage, error) {
			conns <- c
			return json.RawMessage(`{"prompts":[{"name":"p"}]}`), nil
		}}
		s := serverOf(t, ts)
		told := make(chan string, 1)
		s.hub.watch(func(_, what string) { told <- what })
		for range 3 {
			got, err := s.list(t.Context(), "prompts/list")
			if err != nil || len(got) != 1 || string(got[0]) != `{"name":"p"}` {
				t.Fatalf("got %s, %v, want one prompt", got, err)
			}
		}
		c := <-conns
		c.notify("notifications/prompts/list_changed", "{}")
		if what := <-told; what != "prompts" {
			t.Errorf("got %q, want prompts", what)
		}
		if _, err := s.list(t.Context(), "prompts/list"); err != nil {
			t.Fatal(err)
		}
		if n := len(ts.heard("prompts/list")); n != 2 {
			t.Errorf("asked %d times, want 2", n)
		}
		if got, err := s.list(t.Context(), "resources/list"); err != nil || got != nil {
			t.Errorf("resources: got %s, %v, want none: the server has none", got, err)
		}
	})
}

func TestAlikeTools(t *testing.T) {
	define := func(n int, schema string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"name":"t%d","inputSchema":%s}`, n, schema))
	}
	const one = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"integer"}}}}`
	s := serverOf(t, &testServer{methods: map[string]method{"tools/list": lists()}})
	t.Run("M1 tools that take the same are compiled once", func(t *testing.T) {
		allocs := func(schema func(n int) string) float64 {
			var all []json.RawMessage
			for n := range 20 {
				all = append(all, define(n, schema(n)))
			}
			return testing.AllocsPerRun(3, func() { s.catalogue(t.Context(), all) })
		}
		same := allocs(func(int) string { return one })
		others := allocs(func(n int) string { return strings.ReplaceAll(one, `"a"`, fmt.Sprintf(`"a%d"`, n)) })
		if same > others/2 {
			t.Errorf("got %.0f allocations, and %.0f for 20 others, want half at most", same, others)
		}
	})
	t.Run("M1 and are tools of their own", func(t *testing.T) {
		all := s.catalogue(t.Context(), []json.RawMessage{
			define(1, one), define(2, one), json.RawMessage(`{"name":"t3","inputSchema":` + one + `,"outputSchema":{"type":"object"}}`), define(4, one),
			define(5, `{"properties":{"a":{"type":"str"}}}`), define(6, `{"properties":{"a":{"type":"str"}}}`), define(7, `{"type":"array"}`),
		})
		var got []string
		for _, made := range all.offered() {
			_, err := made.Admit(json.RawMessage(`{"a":1}`))
			got = append(got, fmt.Sprintf("%s %d %v", made.Name, len(made.Output), err != nil))
		}
		want := []string{"t1 0 true", "t2 0 true", "t3 17 true", "t4 0 true", "t5 0 true", "t6 0 true"}
		if !slices.Equal(got, want) || len(all.bad) != 1 {
			t.Errorf("got %q and %v, want %q", got, all.bad, want)
		}
		args, err := all.offered()[0].Admit(json.RawMessage(`{"a":"x"}`))
		if err != nil || all.offered()[1].Admitted(args) {
			t.Errorf("S2: got %v, or arguments that another tool took", err)
		}
	})
}

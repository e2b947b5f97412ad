package ferrule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// arguments is a schema with so many arguments, of which the first are needed.
func arguments(all, needed int, description string) json.RawMessage {
	properties, required := make(map[string]any), []string{}
	for i := range all {
		name := fmt.Sprintf("argument_%d", i)
		properties[name] = map[string]any{"type": "string", "description": description}
		if i < needed {
			required = append(required, name)
		}
	}
	text, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	if err != nil {
		panic(err)
	}
	return text
}

// exemplary is a tool about which there is nothing to say.
func exemplary(change ...func(*tool.Tool)) *tool.Tool {
	return answering("search_notes", "x", append([]func(*tool.Tool){func(d *tool.Tool) {
		d.Description = "Find the notes that hold all the given words."
		d.Claims = tool.Claims{ReadOnly: true, Local: true}
		d.Limit = tool.Limit{Chars: 8000}
		d.Input = arguments(13, 1, "A word to look for.")
		d.Examples = slices.Repeat([]tool.Example{{Input: json.RawMessage(`{"argument_0":"tea"}`)}}, 5)
	}}, change...)...)
}

func input(text string) func(*tool.Tool) {
	return func(d *tool.Tool) { d.Input, d.Examples = json.RawMessage(text), nil }
}

func TestFindings(t *testing.T) {
	t.Parallel()
	key := func(d *tool.Tool) {
		d.Key = func(context.Context, tool.Args) (string, error) { return "key", nil }
	}
	for _, tt := range []struct {
		name   string
		change func(*tool.Tool)
		want   string // part of the one finding; "": none
	}{
		{"R11 nothing to say", func(*tool.Tool) {}, ""},
		{"R11 no claims", func(d *tool.Tool) {
			d.Claims = tool.Claims{}
			key(d)
		}, "no claims"},
		{"R11 claims by a function are claims", func(d *tool.Tool) {
			d.Claims = tool.Claims{}
			d.ClaimsOf = func(tool.Args) (tool.Claims, error) { return tool.Claims{ReadOnly: true}, nil }
			key(d)
		}, ""},
		{"R11 a writer without key", claiming(tool.Claims{Local: true, Reversible: true}), "key"},
		{"R11 a writer with key", func(d *tool.Tool) {
			d.Claims = tool.Claims{Local: true}
			key(d)
		}, ""},
		{"R11 Unlimited: time", func(d *tool.Tool) { d.Timeout = tool.Unlimited }, "no time limit"},
		{"R11 Unlimited: characters", func(d *tool.Tool) { d.Limit = tool.Limit{Chars: tool.Unlimited} }, "no limit"},
		{"R11 Unlimited: tokens", func(d *tool.Tool) { d.Limit = tool.Limit{Chars: 8000, Tokens: tool.Unlimited} }, "no limit"},
		{"R11 no limit set", func(d *tool.Tool) { d.Limit = tool.Limit{Cut: "head"} }, "no limit set"},
		{"R11 a limit in tokens is a limit", func(d *tool.Tool) { d.Limit = tool.Limit{Tokens: 100} }, ""},
		{"R11 more than 5 examples", func(d *tool.Tool) { d.Examples = append(d.Examples, d.Examples[0]) }, "got 6 examples"},
		{"R11 an argument without description", input(`{"type":"object","properties":{"good":{"type":"string","description":"A word."},"bare":{"type":"string"}}}`), "without description: bare"},
		{"R11 an argument that is only a name", input(`{"type":"object","properties":{"bare":true}}`), "without description: bare"},
		{"R11 an argument described where it is defined", input(`{"type":"object","properties":{"word":{"$ref":"#/$defs/word"}},"$defs":{"word":{"type":"string","description":"A word."}}}`), ""},
		{"R11 an argument described nowhere", input(`{"type":"object","properties":{"bare":{"$ref":"#/$defs/word"}},"$defs":{"word":{"type":"string"}}}`), "without description: bare"},
		{"R11 an argument described where it is defined, in draft 7", input(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"word":{"$ref":"#/definitions/word"}},"definitions":{"word":{"type":"string","description":"A word."}}}`), ""},
		{"R11 an argument described nowhere, in draft 7", input(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"bare":{"$ref":"#/definitions/word"}},"definitions":{"word":{"type":"string"}}}`), "without description: bare"},
		{"R11 an argument without description beside a definition that is only a name", input(`{"type":"object","properties":{"bare":{"type":"string"},"any":{"$ref":"#/$defs/any"}},"$defs":{"any":true}}`), "without description: any, bare"},
		{"R11 12 optional arguments", func(d *tool.Tool) { d.Input = arguments(12, 0, "A word.") }, ""},
		{"R11 more than 12 optional arguments", func(d *tool.Tool) { d.Input, d.Examples = arguments(15, 2, "A word."), nil }, "got 13 optional arguments"},
		{"R11 a name too short to choose by", func(d *tool.Tool) { d.Name = "s" }, "a name of 1 character is"},
		{"R11 a name of two characters", func(d *tool.Tool) { d.Name = "ls" }, "a name of 2 characters is"},
		{"R11 a description too short to choose by", func(d *tool.Tool) { d.Description = "Search." }, "a description of 1 word is"},
		{"R11 a description of two words", func(d *tool.Tool) { d.Description = "Search notes." }, "a description of 2 words is"},
		{"R11 a description in a script without spaces", func(d *tool.Tool) { d.Description = "查找包含所有给定单词的笔记。" }, ""},
		{"R11 a description in such a script, too short to choose by", func(d *tool.Tool) { d.Description = "搜索" }, "a description of 1 word is"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var seen events
			rt := lenient()
			rt.Observe = seen.observe
			d := exemplary(tt.change)
			done(t, rt.Add(d)) // a finding never refuses
			r, ok := rt.Find(d.Name)
			if !ok {
				t.Fatal("it is not there")
			}
			var want []string
			if tt.want != "" {
				if len(r.Findings) != 1 || !strings.Contains(r.Findings[0], tt.want) {
					t.Fatalf("findings = %q, want one with %q", r.Findings, tt.want)
				}
				want = []string{d.Name + ": " + r.Findings[0]}
			} else if len(r.Findings) > 0 {
				t.Errorf("findings = %q, want none", r.Findings)
			}
			if got := seen.of(audit.Found); !slices.Equal(got, want) {
				t.Errorf("events = %q, want %q", got, want)
			}
			var listed []string
			for _, f := range rt.Findings() {
				listed = append(listed, f.Name+": "+f.Text)
			}
			if !slices.Equal(listed, want) {
				t.Errorf("Findings() = %q, want %q", listed, want)
			}
		})
	}
	t.Run("R11 a tool may have many, and works", func(t *testing.T) {
		rt := holding(t, answering("x", "ran", func(d *tool.Tool) {
			d.Description, d.Input, d.Timeout = "Do.", arguments(13, 0, ""), tool.Unlimited
			d.Examples = slices.Repeat([]tool.Example{{Input: json.RawMessage(`{}`)}}, 6)
		}))
		if r, _ := rt.Find("x"); len(r.Findings) < 8 {
			t.Errorf("findings = %q, want all of them", r.Findings)
		}
		wantSaid(t, viewOf(t, rt), "x", "ran")
	})
	t.Run("R11 a hook for a tool that is not there", func(t *testing.T) {
		rt := lenient()
		rt.Hooks = []ferrule.Hook{{Name: "guard", Security: true, Only: ferrule.Filter{Names: []string{"search_notes", "serach_notes", "old"}}}, {Name: "all"}}
		done(t, rt.Add(exemplary(alias("old")))) // a hook knows a tool by its name only
		var got []string
		for _, f := range rt.Findings() {
			got = append(got, f.Name+": "+f.Text)
		}
		if want := []string{`hook guard: it is for the tool "serach_notes", and there is none of that name`, `hook guard: it is for the tool "old", and there is none of that name`}; !slices.Equal(got, want) {
			t.Errorf("findings = %q, want %q", got, want)
		}
	})
	t.Run("R11 the same for tools of other sources", func(t *testing.T) {
		rt := lenient()
		done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.MCP}, exemplary(func(d *tool.Tool) { d.Description = "Search." })))
		if got := rt.Findings(); len(got) != 1 || got[0].Name != "gh__search_notes" || !strings.Contains(got[0].Text, "description") {
			t.Errorf("findings = %q", got)
		}
	})
}

func TestFindingsAreSaidOnce(t *testing.T) {
	t.Parallel()
	short := func(name string) *tool.Tool {
		return exemplary(func(d *tool.Tool) { d.Name, d.Description = name, "Search." })
	}
	t.Run("R11 once per tool, at registration", func(t *testing.T) {
		var seen events
		rt := lenient()
		rt.Observe = seen.observe
		done(t, rt.Add(short("one")))
		done(t, rt.Add(short("two")))
		for range 2 {
			s := rt.Session(tool.Caller{})
			definitions(t, s.View(t.Context()))
			s.Call(t.Context(), "one", `{"argument_0":"x"}`)
			done(t, s.Refresh(t.Context()))
			rt.Findings()
			rt.Find("one")
		}
		rt.Remove("two")
		got := seen.of(audit.Found)
		if len(got) != 2 || !strings.HasPrefix(got[0], "one: ") || !strings.HasPrefix(got[1], "two: ") {
			t.Errorf("events = %q, want one for each tool", got)
		}
	})
	t.Run("R11 what is not taken is not said", func(t *testing.T) {
		var seen events
		rt := lenient()
		rt.Observe = seen.observe
		if rt.Add(short("one"), nil) == nil {
			t.Error("a nil tool was taken")
		}
		if got := seen.of(audit.Found); len(got) != 0 || len(rt.Findings()) != 0 {
			t.Errorf("events = %q, findings = %q, want none", got, rt.Findings())
		}
	})
	t.Run("R11 a new definition is a new tool", func(t *testing.T) {
		var seen events
		rt := lenient()
		rt.Observe = seen.observe
		done(t, rt.Add(short("one")))
		done(t, rt.Replace(short("one")))
		if got := seen.of(audit.Found); len(got) != 2 {
			t.Errorf("events = %q, want one for each definition", got)
		}
	})
	t.Run("R11 a tool that stays in a refreshed set is not said again", func(t *testing.T) {
		var seen events
		one, two := short("one"), short("two")
		set := []*tool.Tool{one}
		rt := lenient()
		rt.Observe = seen.observe
		rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) { return set, nil }
		done(t, rt.Add(one))
		s := rt.Session(tool.Caller{})
		s.View(t.Context()).Do(t.Context())
		set = []*tool.Tool{one, two}
		s.View(t.Context()).Do(t.Context())
		got := seen.of(audit.Found)
		if len(got) != 2 || !strings.HasPrefix(got[0], "one: ") || !strings.HasPrefix(got[1], "two: ") {
			t.Errorf("events = %q, want one for each tool", got)
		}
	})
}

func TestAlwaysLoad(t *testing.T) {
	t.Parallel()
	always := func(i int) *tool.Tool {
		return exemplary(func(d *tool.Tool) { d.Name, d.AlwaysLoad = fmt.Sprintf("always_%d", i), true })
	}
	filled := func(t *testing.T, n int) (*ferrule.Runtime, *events) {
		seen := new(events)
		rt := lenient()
		rt.Observe = seen.observe
		for i := range n {
			done(t, rt.Add(always(i)))
		}
		return rt, seen
	}
	t.Run("R11 10 always-load tools", func(t *testing.T) {
		if rt, _ := filled(t, 10); len(rt.Findings()) != 0 {
			t.Errorf("findings = %q, want none", rt.Findings())
		}
	})
	t.Run("R11 more than 10 always-load tools, from wherever", func(t *testing.T) {
		rt, _ := filled(t, 10)
		done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.MCP}, always(10)))
		if got := rt.Findings(); len(got) != 1 || !strings.Contains(got[0].Text, "got 11 tools") {
			t.Errorf("findings = %q, want one about 11 tools", got)
		}
		if n := len(viewOf(t, rt).Names()); n != 11 {
			t.Errorf("%d tools are offered, want 11: a finding never refuses", n)
		}
	})
	t.Run("R11 more than 10 always-load tools are said when they are registered", func(t *testing.T) {
		if _, seen := filled(t, 11); len(seen.of(audit.Found)) != 1 {
			t.Errorf("events = %q, want one", seen.of(audit.Found))
		}
	})
	t.Run("R11 more than 10 always-load tools that come at once are said once", func(t *testing.T) {
		rt, seen := filled(t, 0)
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if err := rt.Add(always(i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := seen.of(audit.Found); len(got) != 1 || !strings.Contains(got[0], "got 11 tools") {
			t.Errorf("events = %q, want one about 11 tools", got)
		}
	})
	t.Run("R11 always-load tools that come and go are counted as they are", func(t *testing.T) {
		rt, seen := filled(t, 10)
		for range 5 {
			if err := rt.Set(tool.Source{}, always(0), always(0)); err == nil {
				t.Error("two tools of one name were taken")
			}
			rt.Remove("always_0")
			done(t, rt.Add(always(0)))
			done(t, rt.Replace(always(0)))
		}
		if got := seen.of(audit.Found); len(got) != 0 {
			t.Errorf("events = %q, want none for 10 tools", got)
		}
	})
}

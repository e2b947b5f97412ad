package ferrule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestPick(t *testing.T) {
	t.Parallel()
	rt := &ferrule.Runtime{Policy: denying("git__commit")}
	s := shop(t, rt)
	done(t, rt.Add(answering("soar", "soared", alias("fly"), deferredTool)))
	for _, tt := range []struct {
		rule, text string
		n          int
		pinned     []string
		want       []string
	}{
		{"Q3 the best for a text, behind those that are always loaded", "send a letter", 1, nil, []string{"clock", "mail__send"}},
		{"Q3 what is pinned stays, whatever the text", "send a letter", 1, []string{"git__log", "note"}, []string{"clock", "git__log", "note", "mail__send"}},
		{"Q3 a pinned tool that is among the best stands there once", "send a letter", 1, []string{"mail__send"}, []string{"clock", "mail__send"}},
		{"Q3 a deferred tool is picked too", "push", 1, nil, []string{"clock", "git__push"}},
		{"Q3 a pinned alias is that tool, of a deferred one too", "zebra", 1, []string{"jot", "fly"}, []string{"clock", "note", "soar"}},
		{"Q3 nothing fits", "zebra", 3, []string{"note"}, []string{"clock", "note"}},
		{"Q3 none are wanted", "send a letter", 0, []string{"note"}, []string{"clock", "note"}},
		{"Q3 what the rules deny is not picked, nor what is not there", "commit changes", 1, []string{"git__commit", "zebra"}, []string{"clock", "git__push"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			v := s.View(t.Context()).Pick(t.Context(), tt.text, tt.n, tt.pinned...)
			if got := v.Names(); !slices.Equal(got, tt.want) {
				t.Errorf("offered %q, want %q", got, tt.want)
			}
			for _, name := range v.Names() {
				if res := v.Do(t.Context(), ask(name, "{}"))[0]; res.Err != nil {
					t.Errorf("%s: %v", name, res.Err)
				}
			}
		})
	}
	t.Run("Q3 the same choice is the same bytes, and the others can be called", func(t *testing.T) {
		t.Parallel()
		a, b := s.View(t.Context()).Pick(t.Context(), "send a letter", 1), s.View(t.Context()).Pick(t.Context(), "a letter to send", 1)
		first, second := definitions(t, a), definitions(t, b)
		if start(first) != start(second) || a.Key() != b.Key() {
			t.Errorf("got %s\nand %s", first, second)
		}
		if res := a.Do(t.Context(), ask("git__log", "{}"))[0]; res.Err != nil {
			t.Error(res.Err)
		}
	})
	t.Run("Q3 of a deferred view, and of a part", func(t *testing.T) {
		t.Parallel()
		v := s.View(t.Context())
		want := []string{"tool_search", "tool_describe", "tool_call", "clock", "mail__send"}
		for _, picked := range []*ferrule.View{
			v.Defer(ferrule.DeferOptions{}).Pick(t.Context(), "send a letter", 1),
			v.Pick(t.Context(), "send a letter", 1).Defer(ferrule.DeferOptions{}),
			v.Pick(t.Context(), "push", 1).Pick(t.Context(), "send a letter", 1).Defer(ferrule.DeferOptions{}),
		} {
			if got := picked.Names(); !slices.Equal(got, want) {
				t.Errorf("offered %q, want %q", got, want)
			}
		}
		part := v.Pick(t.Context(), "send a letter", 1, "git__log").Only(ferrule.Filter{Sources: []string{"git"}})
		if got := part.Names(); !slices.Equal(got, []string{"git__log"}) {
			t.Errorf("a part offers %q", got)
		}
	})
}

func TestLoadFound(t *testing.T) {
	t.Parallel()
	load := ferrule.DeferOptions{Load: true}
	t.Run("Q2 what is found can be called from the next turn on, and only appends", func(t *testing.T) {
		t.Parallel()
		rt := new(ferrule.Runtime)
		s := shop(t, rt)
		v := s.View(t.Context()).Defer(load)
		names := []string{"tool_search", "clock"}
		before := string(definitions(t, v))
		for _, tt := range []struct {
			query string
			loads []string
		}{
			{"send a letter", []string{"mail__send", "git__push"}},
			{"select:note,git__log", []string{"note", "git__log"}},
			{"zebra", nil},
			{"letter", nil},
			{"select:nobody", nil},
		} {
			old := s.View(t.Context()).Defer(load)
			res := old.Do(t.Context(), ask("tool_search", fmt.Sprintf(`{"query":%q}`, tt.query)))[0]
			if res.Err != nil || strings.Contains(res.String(), "from the next turn on") != (tt.loads != nil || tt.query == "letter") {
				t.Errorf("%s: %q, %v", tt.query, res, res.Err)
			}
			if !slices.Equal(old.Names(), names) {
				t.Errorf("%s: this turn sees %q", tt.query, old.Names())
			}
			v := s.View(t.Context()).Defer(load)
			if names = append(names, tt.loads...); !slices.Equal(v.Names(), names) {
				t.Errorf("%s: offered %q, want %q", tt.query, v.Names(), names)
			}
			now := string(definitions(t, v))
			if !strings.HasPrefix(now, strings.TrimSuffix(before, "]")) {
				t.Errorf("%s changed what stands before it:\nwas %s\nis  %s", tt.query, before, now)
			}
			before = now
		}
		if res := s.View(t.Context()).Defer(load).Do(t.Context(), ask("git__push", "{}"))[0]; res.Err != nil || res.String() != "pushed" {
			t.Errorf("call = %q, %v", res, res.Err)
		}
		other := rt.Session(tool.Caller{Session: "other"}).View(t.Context()).Defer(load)
		if got := other.Names(); !slices.Equal(got, []string{"tool_search", "clock"}) {
			t.Errorf("another session is offered %q", got)
		}
	})
	t.Run("Q2 what stands first stays, whatever sources do", func(t *testing.T) {
		t.Parallel()
		for _, o := range []ferrule.DeferOptions{load, {Load: true, Names: true}} {
			rt := new(ferrule.Runtime)
			s := shop(t, rt)
			git := ferrule.Filter{Sources: []string{"git"}}
			view := func() *ferrule.View { return s.View(t.Context()).Defer(o) }
			before, part := string(definitions(t, view())), string(definitions(t, view().Only(git)))
			if strings.Contains(part, "mail") {
				t.Errorf("a part speaks of more: %s", part)
			}
			now := func(s *ferrule.Session) string {
				return string(definitions(t, s.View(t.Context()).Defer(ferrule.DeferOptions{Names: o.Names})))
			}
			follows := now(s)
			for _, change := range []func() error{
				func() error {
					return rt.Set(tool.Source{Name: "zoo", Trust: tool.MCP}, answering("feed", "", about("Feed a zebra.")))
				},
				func() error {
					return rt.Set(tool.Source{Name: "git", Trust: tool.MCP}, answering("log", "logged", about("Show what was committed.")))
				},
				func() error { return rt.Set(tool.Source{Name: "mail", Trust: tool.MCP}) },
			} {
				done(t, change())
				if got := string(definitions(t, view())); got != before {
					t.Errorf("was %s\nis  %s", before, got)
				}
				if got := string(definitions(t, view().Only(git))); got != part {
					t.Errorf("a part was %s\nis  %s", part, got)
				}
				if got := now(s); got == follows {
					t.Errorf("without Load it does not follow the sources: %s", got)
				} else {
					follows = got
				}
			}
			if got := string(definitions(t, rt.Session(tool.Caller{Session: "new"}).View(t.Context()).Defer(o))); got == before || strings.Contains(got, "mail") {
				t.Errorf("a new session is offered %s", got)
			}
			if res := view().Do(t.Context(), ask("tool_search", `{"query":"zebra"}`))[0]; res.Err != nil || !strings.HasPrefix(res.String(), "zoo__feed(") {
				t.Errorf("found %q, %v", res, res.Err)
			}
			if got := string(definitions(t, view())); !strings.HasPrefix(got, strings.TrimSuffix(before, "]")) || got == before {
				t.Errorf("was %s\nis  %s", before, got)
			}
		}
	})
	t.Run("Q2 no more than so many are loaded, and the others can be called", func(t *testing.T) {
		t.Parallel()
		const most = 64
		rt := lenient()
		var tools []*tool.Tool
		var names []string
		for i := range most + 10 {
			name := fmt.Sprintf("tool_%02d", i)
			tools, names = append(tools, answering(name, "ran "+name, about("Do "+name, "word"))), append(names, "many__"+name)
		}
		tools[most+1].Input = json.RawMessage(`{"type":"object","description":"` + strings.Repeat("long ", 8000) + `"}`)
		done(t, rt.Set(tool.Source{Name: "many", Trust: tool.MCP}, tools...))
		done(t, rt.Add(answering("clock", "noon", alwaysLoad)))
		s := rt.Session(tool.Caller{Session: "s"})
		selects := func(names ...string) string {
			v := s.View(t.Context()).Defer(load)
			return v.Do(t.Context(), ask("tool_search", fmt.Sprintf(`{"query":"select:%s"}`, strings.Join(names, ","))))[0].String()
		}
		const next, full = "They can be called from the next turn on.", "64 tools are loaded, which is the most."
		for _, tt := range []struct {
			names      []string
			next, full bool
			loaded     int
		}{
			{names[:50], true, false, 50},
			{names[40 : most-1], true, false, most - 1},
			{append([]string{"clock"}, names[most-1:most+2]...), true, true, most},
			{names[most : most+1], false, true, most},
			{names[:1], true, false, most},
		} {
			got := selects(tt.names...)
			if strings.Contains(got, next) != tt.next || strings.Contains(got, full) != tt.full {
				t.Errorf("%q: %s", tt.names, got)
			}
			if got, want := s.View(t.Context()).Defer(load).Names(), slices.Concat([]string{"tool_search", "clock"}, names[:tt.loaded]); !slices.Equal(got, want) {
				t.Errorf("%q: offered %q, want %q", tt.names, got, want)
			}
		}
		got := selects(names[most : most+2]...)
		want := full + " These are not, and are called by name all the same; their input schemas:\n" +
			names[most] + `: {"type":"object","properties":{"word":{"type":"string"}}}` + "\n" + names[most+1] + ": too long to be shown here"
		if !strings.HasSuffix(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
		if res := s.View(t.Context()).Defer(load).Do(t.Context(), ask(names[most], "{}"))[0]; res.Err != nil || res.String() != "ran tool_64" {
			t.Errorf("call = %q, %v", res, res.Err)
		}
		done(t, rt.Set(tool.Source{Name: "many", Trust: tool.MCP}, tools[10:]...))
		if got := selects(names[most]); !strings.Contains(got, next) {
			t.Errorf("what is gone takes room: %s", got)
		}
	})
	t.Run("Q2 each agent of a session reads of what it has itself", func(t *testing.T) {
		t.Parallel()
		rt := new(ferrule.Runtime)
		shop(t, rt)
		done(t, rt.Add(answering("cook", "", func(d *tool.Tool) {
			d.Enabled = func(_ context.Context, c tool.Caller) (bool, error) { return c.Agent == "chef", nil }
		})))
		for agent, want := range map[string]string{"chef": "this program 2,", "guest": "this program 1,"} {
			v := rt.Session(tool.Caller{Session: "s", Agent: agent}).View(t.Context()).Defer(load)
			if got := string(definitions(t, v)); !strings.Contains(got, want) {
				t.Errorf("%s is offered %s, want %q", agent, got, want)
			}
		}
	})
}

func TestExamplesShown(t *testing.T) {
	t.Parallel()
	shown := answering("send", "sent", about("Send a letter.", "to"), func(d *tool.Tool) {
		for i := range 7 {
			d.Examples = append(d.Examples, tool.Example{Input: json.RawMessage(fmt.Sprintf(`{"to":"example %d"}`, i))})
		}
	})
	rt := lenient()
	done(t, rt.Add(shown))
	v := rt.Session(tool.Caller{}).View(t.Context())
	found := func(o ferrule.DeferOptions, name, arguments string) string {
		return v.Defer(o).Do(t.Context(), ask(name, arguments))[0].String()
	}
	plain, err := v.Definitions(ferrule.JSON{})
	done(t, err)
	bare, err := v.Definitions(ferrule.JSON{NoExamples: true})
	done(t, err)
	for _, tt := range []struct {
		rule, text string
		want       int
	}{
		{"T8 five are shown with the tool", string(plain), 5},
		{"T8 none, where the format says so", string(bare), 0},
		{"T8 none of a deferred tool that is found", found(ferrule.DeferOptions{}, "tool_search", `{"query":"letter"}`), 0},
		{"T8 unless it is forced", found(ferrule.DeferOptions{Examples: true}, "tool_search", `{"query":"letter"}`), 5},
		{"T8 all that are used, where it is read", found(ferrule.DeferOptions{}, "tool_describe", `{"name":"send"}`), 5},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := strings.Count(tt.text, `{"to":"example `); got != tt.want {
				t.Errorf("%d examples, want %d in %s", got, tt.want, tt.text)
			}
		})
	}
}

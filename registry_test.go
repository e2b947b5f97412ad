package ferrule_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

const anyObject = `{"type":"object"}`

// answering is a tool that answers every call with one text, so that a test
// sees which tool a name led to.
func answering(name, answer string, change ...func(*tool.Tool)) *tool.Tool {
	d := tool.Tool{
		Info: tool.Info{Name: name, Description: "Answer every call with one text.", Input: json.RawMessage(anyObject)},
		Run: func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.Text(answer)}}, nil
		},
	}
	for _, c := range change {
		c(&d)
	}
	made, err := d.Check()
	if err != nil {
		panic(err)
	}
	return made
}

func alias(names ...string) func(*tool.Tool) {
	return func(d *tool.Tool) { d.Aliases = names }
}

func claiming(c tool.Claims) func(*tool.Tool) { return func(d *tool.Tool) { d.Claims = c } }

func deferredTool(d *tool.Tool) { d.Deferred = true }

// lenient is a runtime in which every call may run.
func lenient() *ferrule.Runtime {
	return &ferrule.Runtime{Guard: unguarded(), Policy: policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: tool.Allow} })}
}

// holding is a lenient runtime with these tools of the program.
func holding(t testing.TB, own ...*tool.Tool) *ferrule.Runtime {
	t.Helper()
	rt := lenient()
	done(t, rt.Add(own...))
	return rt
}

func done(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// viewOf is what a new session of rt is offered.
func viewOf(t testing.TB, rt *ferrule.Runtime) *ferrule.View {
	t.Helper()
	return rt.Session(tool.Caller{}).View(t.Context())
}

// said is what came of one call, as a model reads it, behind its kind if it
// went wrong.
func said(t testing.TB, v *ferrule.View, name string) string {
	t.Helper()
	res := v.Do(t.Context(), tool.Call{Name: name})
	if len(res) != 1 {
		t.Fatalf("got %d results of one call", len(res))
	}
	if res[0].Err != nil {
		return string(res[0].Err.Kind) + ": " + res[0].String()
	}
	return res[0].String()
}

func wantSaid(t testing.TB, v *ferrule.View, name, want string) {
	t.Helper()
	if got := said(t, v, name); got != want {
		t.Errorf("call of %s: got %q, want %q", name, got, want)
	}
}

// answers are the visible names of a runtime and what a call of each says.
func answers(t testing.TB, rt *ferrule.Runtime) map[string]string {
	t.Helper()
	all := make(map[string]string)
	v := viewOf(t, rt)
	for _, name := range v.Names() {
		if _, twice := all[name]; twice {
			t.Errorf("the name %s is there twice", name)
		}
		all[name] = said(t, v, name)
	}
	return all
}

// events keeps what an observer was told, as far as tests look at it.
type events struct {
	mu  sync.Mutex
	all []audit.Event
}

func (e *events) observe(v audit.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, audit.Event{Kind: v.Kind, Name: v.Name, By: v.By, Text: v.Text})
}

// of are the events of one kind, each as name: text.
func (e *events) of(kind audit.Kind) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []string
	for _, v := range e.all {
		if v.Kind == kind {
			list = append(list, v.Name+": "+v.Text)
		}
	}
	return list
}

// wait blocks as a function does that ignores its context: for an hour, or until
// the test ends.
func wait(stop <-chan struct{}) {
	select {
	case <-stop:
	case <-time.After(time.Hour):
	}
}

// permutations calls f with every order of n things.
func permutations(n int, f func(order []int)) {
	var extend func(order []int)
	extend = func(order []int) {
		if len(order) == n {
			f(order)
			return
		}
		for i := range n {
			if !slices.Contains(order, i) {
				extend(append(slices.Clip(order), i))
			}
		}
	}
	extend(nil)
}

func TestSources(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source tool.Source
		name   string // as models call it
	}{
		{tool.Source{Trust: tool.Own}, "read"},
		{tool.Source{Name: "fs", Trust: tool.BuiltIn}, "read"},
		{tool.Source{Name: "fs", Trust: tool.SkillTrusted}, "fs__read"},
		{tool.Source{Name: "fs", Trust: tool.SkillUntrusted}, "fs__read"},
		{tool.Source{Name: "fs", Trust: tool.MCP}, "fs__read"},
		{tool.Source{Name: "fs", Trust: tool.Web}, "fs__read"},
	} {
		t.Run("R1 a tool keeps its source: "+tt.source.Trust.String(), func(t *testing.T) {
			var seen []tool.Source
			rt := &ferrule.Runtime{Guard: unguarded(), Policy: policy.Func(func(r *tool.Request) tool.Decision {
				seen = append(seen, r.Source)
				return tool.Decision{Verdict: tool.Deny}
			})}
			done(t, rt.Set(tt.source, answering("read", "x")))
			found, ok := rt.Find(tt.name)
			if !ok || found.Name != tt.name || found.Source != tt.source {
				t.Errorf("Find(%s) = %s of %+v, %v", tt.name, found.Name, found.Source, ok)
			}
			said(t, viewOf(t, rt), tt.name)
			if len(seen) == 0 || seen[0] != tt.source {
				t.Errorf("the rules saw the source %+v, want %+v", seen, tt.source)
			}
		})
	}
	t.Run("R1 one tool of two sources is two tools", func(t *testing.T) {
		rt := lenient()
		one := answering("read", "x")
		done(t, rt.Add(one))
		done(t, rt.Set(tool.Source{Name: "a", Trust: tool.MCP}, one))
		done(t, rt.Set(tool.Source{Name: "b", Trust: tool.Web}, one))
		for name, want := range map[string]tool.Source{"read": {Trust: tool.Own}, "a__read": {Name: "a", Trust: tool.MCP}, "b__read": {Name: "b", Trust: tool.Web}} {
			if got, _ := rt.Find(name); got.Source != want {
				t.Errorf("source of %s = %+v, want %+v", name, got.Source, want)
			}
		}
	})
	t.Run("R1 what has no name of a source is the program's own, whatever trust it is given", func(t *testing.T) {
		rt := lenient()
		done(t, rt.Set(tool.Source{Trust: tool.Web}, answering("read", "x")))
		if got, _ := rt.Find("read"); got.Source != (tool.Source{Trust: tool.Own}) {
			t.Errorf("source = %+v, want the program's own", got.Source)
		}
	})
}

// reader claims what is worth most to who wants to run unasked.
func reader(name, answer string, change ...func(*tool.Tool)) *tool.Tool {
	return answering(name, answer, append([]func(*tool.Tool){claiming(tool.Claims{ReadOnly: true, Local: true})}, change...)...)
}

func TestTrust(t *testing.T) {
	t.Parallel()
	const unchanged = tool.Trust(200)
	for _, tt := range []struct {
		name          string
		set, operator tool.Trust
		want          tool.Trust
		class         string
		allowed       bool // where no rule speaks
	}{
		{"R3 built-in is believed", tool.BuiltIn, unchanged, tool.BuiltIn, "read-only", true},
		{"R3 a trusted skill is believed", tool.SkillTrusted, unchanged, tool.SkillTrusted, "read-only", false},
		{"T5 an untrusted skill claims nothing", tool.SkillUntrusted, unchanged, tool.SkillUntrusted, "unsafe", false},
		{"T5 an MCP server claims nothing", tool.MCP, unchanged, tool.MCP, "unsafe", false},
		{"T5 the web claims nothing", tool.Web, unchanged, tool.Web, "unsafe", false},
		{"T5 what came in by no tool claims nothing", tool.Inbound, unchanged, tool.Inbound, "unsafe", false},
		{"T5 what is no class claims nothing", tool.Trust(99), unchanged, tool.Inbound, "unsafe", false},
		{"R3 raised to own", tool.MCP, tool.Own, tool.Own, "read-only", true},
		{"R3 raised to a trusted skill", tool.Web, tool.SkillTrusted, tool.SkillTrusted, "read-only", false},
		{"R3 raised, but not out of the untrusted", tool.Web, tool.MCP, tool.MCP, "unsafe", false},
		{"R3 lowered", tool.SkillTrusted, tool.Web, tool.Web, "unsafe", false},
		{"R3 a built-in source lowered", tool.BuiltIn, tool.MCP, tool.MCP, "unsafe", false},
		{"R3 lowered to what is no class", tool.BuiltIn, tool.Trust(99), tool.Inbound, "unsafe", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := &ferrule.Runtime{}
			if tt.operator != unchanged {
				rt.Trust = map[string]tool.Trust{"src": tt.operator, "other": tool.BuiltIn}
			}
			done(t, rt.Set(tool.Source{Name: "src", Trust: tt.set}, reader("read", "ran")))
			got := slices.Collect(rt.All())
			if len(got) != 1 || got[0].Source.Trust != tt.want || got[0].Class != tt.class {
				t.Fatalf("All() = %+v, want trust %s and class %s", got, tt.want, tt.class)
			}
			if out := said(t, viewOf(t, rt), got[0].Name); (out == "ran") != tt.allowed {
				t.Errorf("a call says %q, want it allowed: %v", out, tt.allowed)
			}
		})
	}
	t.Run("T6 a raised source keeps the names of its tools", func(t *testing.T) {
		rt := &ferrule.Runtime{Trust: map[string]tool.Trust{"gh": tool.Own}}
		done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.MCP}, answering("read", "x")))
		if !rt.Has("gh__read") || rt.Has("read") {
			t.Errorf("names = %v, want gh__read", viewOf(t, rt).Names())
		}
	})
	t.Run("T5 every call of an untrusted source is alone, destructive and external", func(t *testing.T) {
		var seen tool.Claims
		rt := &ferrule.Runtime{Guard: unguarded(), Policy: policy.Func(func(r *tool.Request) tool.Decision {
			seen = r.Claims
			return tool.Decision{Verdict: tool.Allow}
		})}
		asked := 0
		done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.MCP}, reader("constant", "x"), answering("function", "x", func(d *tool.Tool) {
			d.ClaimsOf = func(tool.Args) (tool.Claims, error) {
				asked++
				return tool.Claims{ReadOnly: true, Local: true}, nil
			}
		})))
		for _, name := range []string{"gh__constant", "gh__function"} {
			seen = tool.Claims{ReadOnly: true}
			wantSaid(t, viewOf(t, rt), name, "x")
			if !reflect.DeepEqual(seen, tool.Claims{}) {
				t.Errorf("%s: the rules saw the claims %+v, want none", name, seen)
			}
		}
		if asked != 0 {
			t.Errorf("the function was asked for its claims %d times, want never", asked)
		}
	})
}

// A source that the operator lowers is what he says it is: it was set as
// built-in by somebody whom he believes less.
func TestLoweredBuiltIn(t *testing.T) {
	t.Parallel()
	lowered := func(t *testing.T, c ferrule.Collisions) *ferrule.Runtime {
		rt := lenient()
		rt.Collisions, rt.Trust = c, map[string]tool.Trust{"pack": tool.Web}
		done(t, rt.Set(tool.Source{Name: "pack", Trust: tool.BuiltIn}, answering("read", "the pack's", alias("cat"))))
		return rt
	}
	t.Run("R3 a lowered built-in source has its name in front", func(t *testing.T) {
		if rt := lowered(t, ferrule.Prefix); rt.Has("read") || !rt.Has("pack__read") {
			t.Errorf("names = %v, want pack__read", viewOf(t, rt).Names())
		}
	})
	t.Run("R5 a lowered built-in source has no aliases", func(t *testing.T) {
		if out := said(t, viewOf(t, lowered(t, ferrule.Prefix)), "cat"); out == "the pack's" {
			t.Error("the alias of a source of trust web led to its tool")
		}
	})
	t.Run("R4 priority: a lowered built-in source stands where it was lowered to", func(t *testing.T) {
		rt := lowered(t, ferrule.Priority)
		done(t, rt.Set(tool.Source{Name: "skill", Trust: tool.SkillTrusted}, answering("read", "the skill's")))
		wantSaid(t, viewOf(t, rt), "read", "the skill's")
	})
}

func TestBelieve(t *testing.T) {
	t.Parallel()
	mcp := tool.Source{Name: "gh", Trust: tool.MCP}
	for _, tt := range []struct {
		name    string
		believe func(tool.Source, *tool.Info) bool
		want    string // classes of list and drop
	}{
		{"T5 nobody is asked: nothing is believed", nil, "unsafe unsafe"},
		{"T5 believed for a tool", func(_ tool.Source, i *tool.Info) bool { return i.Name == "list" }, "read-only unsafe"},
		{"T5 believed for a source", func(s tool.Source, _ *tool.Info) bool { return s == mcp }, "read-only read-only"},
		{"T5 a panic believes nothing", func(tool.Source, *tool.Info) bool { panic("broken") }, "unsafe unsafe"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := &ferrule.Runtime{Believe: tt.believe}
			done(t, rt.Set(mcp, reader("list", "x"), reader("drop", "x")))
			list, _ := rt.Find("gh__list")
			drop, _ := rt.Find("gh__drop")
			if got := list.Class + " " + drop.Class; got != tt.want {
				t.Errorf("classes = %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("T5 who is asked whether to believe and does not answer believes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			defer close(stop)
			rt := &ferrule.Runtime{Believe: func(tool.Source, *tool.Info) bool {
				wait(stop)
				return true
			}}
			began := time.Now()
			done(t, rt.Set(mcp, reader("list", "x")))
			if took := time.Since(began); took > 62*time.Second {
				t.Errorf("registering took %s, want the 60 s that a function of the host has", took)
			}
			if got, _ := rt.Find("gh__list"); got.Class != "unsafe" {
				t.Errorf("class = %s, want unsafe", got.Class)
			}
		})
	})
}

// loading is one step of filling a registry: the program's tools if it has no
// source.
type loading struct {
	source string
	trust  tool.Trust
	tools  []*tool.Tool
	bare   bool
}

func (l loading) into(rt *ferrule.Runtime) error {
	if l.source == "" {
		return rt.Add(l.tools...)
	}
	return rt.Set(tool.Source{Name: l.source, Trust: l.trust, Bare: l.bare}, l.tools...)
}

// has is what a source brings: each tool answers with its source and name.
func has(source string, trust tool.Trust, names ...string) loading {
	l := loading{source: source, trust: trust}
	for _, n := range names {
		t := *answering(n, source+"/"+n)
		if trust == tool.SkillUntrusted {
			t.Isolation = "process" // else it does not run
		}
		l.tools = append(l.tools, &t)
	}
	return l
}

// bare is a source whose tools have no prefix.
func bare(source string, trust tool.Trust, names ...string) loading {
	l := has(source, trust, names...)
	l.bare = true
	return l
}

func TestCollisions(t *testing.T) {
	t.Parallel()
	dotted, long := tool.WireName("", "a.b"), strings.Repeat("n", 70)
	for _, tt := range []struct {
		name    string
		mode    ferrule.Collisions
		raised  map[string]tool.Trust
		sources []loading
		want    map[string]string // visible names and whose tool they lead to
		hidden  int
	}{
		{
			"R4 prefix: two sources with one name both have it", ferrule.Prefix, nil,
			[]loading{has("a", tool.MCP, "x"), has("b", tool.MCP, "x"), has("c", tool.SkillTrusted, "x")},
			map[string]string{"a__x": "a/x", "b__x": "b/x", "c__x": "c/x"},
			0,
		},
		{
			"R4 prefix: the program's own and a source's", ferrule.Prefix, nil,
			[]loading{has("", tool.Own, "x"), has("a", tool.MCP, "x")},
			map[string]string{"x": "/x", "a__x": "a/x"},
			0,
		},
		{
			"R4 prefix: the program's own wins a name that looks like a source's", ferrule.Prefix, nil,
			[]loading{has("", tool.Own, "a__x"), has("a", tool.MCP, "x", "y")},
			map[string]string{"a__x": "/a__x", "a__y": "a/y"},
			1,
		},
		{
			"R4 prefix: the program's own beats what is built in", ferrule.Prefix, nil,
			[]loading{has("", tool.Own, "x"), has("fs", tool.BuiltIn, "x", "y")},
			map[string]string{"x": "/x", "y": "fs/y"},
			1,
		},
		{
			"R4 prefix: of two built-in sources the first by name", ferrule.Prefix, nil,
			[]loading{has("net", tool.BuiltIn, "x"), has("fs", tool.BuiltIn, "x")},
			map[string]string{"x": "fs/x"},
			1,
		},
		{
			"R4 prefix: changed and long names", ferrule.Prefix, nil,
			[]loading{has("", tool.Own, "a.b", dotted), has("a", tool.MCP, "b.c", "b_c", long), has("a_", tool.MCP, "b_c"), has("a-", tool.MCP, long)},
			map[string]string{
				dotted: "/a.b", tool.WireName("", dotted): "/" + dotted,
				tool.WireName("a", "b.c"): "a/b.c", "a__b_c": "a/b_c", tool.WireName("a", long): "a/" + long,
				tool.WireName("a_", "b_c"): "a_/b_c", tool.WireName("a-", long): "a-/" + long,
			},
			0,
		},
		{
			"R4 priority: bare names, the most trusted source first", ferrule.Priority, nil,
			[]loading{has("a", tool.Web, "x", "only_a"), has("b", tool.MCP, "x", "only_b"), has("c", tool.SkillUntrusted, "x"), has("z", tool.SkillTrusted, "x", "only_z")},
			map[string]string{"x": "z/x", "only_a": "a/only_a", "only_b": "b/only_b", "only_z": "z/only_z"},
			3,
		},
		{
			"R4 priority: then by the name of the source", ferrule.Priority, nil,
			[]loading{has("b", tool.MCP, "x"), has("a", tool.MCP, "x"), has("c", tool.MCP, "x")},
			map[string]string{"x": "a/x"},
			2,
		},
		{
			"R4 priority: the program's own always wins, then what is built in", ferrule.Priority, nil,
			[]loading{has("a", tool.SkillTrusted, "x", "y"), has("fs", tool.BuiltIn, "x", "y"), has("", tool.Own, "x")},
			map[string]string{"x": "/x", "y": "fs/y"},
			3,
		},
		{
			"R4 priority: by the trust that the operator gives", ferrule.Priority,
			map[string]tool.Trust{"b": tool.Own, "a": tool.Web},
			[]loading{has("a", tool.SkillTrusted, "x"), has("b", tool.MCP, "x"), has("c", tool.SkillTrusted, "x")},
			map[string]string{"x": "b/x"},
			2,
		},
		{
			"R4 priority: what is no class of trust comes last", ferrule.Priority, nil,
			[]loading{has("a", tool.Trust(99), "x"), has("b", tool.MCP, "x"), has("c", tool.Web, "x")},
			map[string]string{"x": "b/x"},
			2,
		},
		{
			"R4 refuse: bare names that do not collide", ferrule.Refuse, nil,
			[]loading{has("a", tool.MCP, "x"), has("b", tool.MCP, "y"), has("", tool.Own, "z")},
			map[string]string{"x": "a/x", "y": "b/y", "z": "/z"},
			0,
		},
		{
			"R4 bare: no prefix, beside sources that have one", ferrule.Prefix, nil,
			[]loading{bare("a", tool.MCP, "x", "b.c"), has("b", tool.MCP, "x"), has("", tool.Own, "y")},
			map[string]string{"x": "a/x", tool.WireName("", "b.c"): "a/b.c", "b__x": "b/x", "y": "/y"},
			0,
		},
		{
			"R4 bare: the most trusted source first, then by its name", ferrule.Prefix, nil,
			[]loading{bare("a", tool.Web, "x"), bare("b", tool.MCP, "x", "y"), bare("c", tool.MCP, "x", "y"), has("d", tool.SkillTrusted, "x")},
			map[string]string{"x": "b/x", "y": "b/y", "d__x": "d/x"},
			3,
		},
		{
			"R4 bare: the program's own always wins, then what is built in", ferrule.Prefix, nil,
			[]loading{bare("a", tool.SkillTrusted, "x", "y"), has("fs", tool.BuiltIn, "x", "y"), has("", tool.Own, "x")},
			map[string]string{"x": "/x", "y": "fs/y"},
			3,
		},
		{
			"R4 bare: by the trust that the operator gives", ferrule.Prefix,
			map[string]tool.Trust{"b": tool.Own, "a": tool.Web},
			[]loading{bare("a", tool.SkillTrusted, "x"), bare("b", tool.MCP, "x"), bare("c", tool.SkillTrusted, "x")},
			map[string]string{"x": "b/x"},
			2,
		},
		{
			"T6 bare: a name that looks like one of another source keeps its prefix", ferrule.Prefix, nil,
			[]loading{bare("a", tool.MCP, "b__x", "b._y", "x_"), has("b", tool.MCP, "z")},
			map[string]string{"a__b__x": "a/b__x", tool.WireName("a", "b._y"): "a/b._y", "x_": "a/x_", "b__z": "b/z"},
			0,
		},
		{
			"R4 priority: bare or not, names are bare", ferrule.Priority, nil,
			[]loading{bare("a", tool.Web, "x", "y"), has("b", tool.MCP, "x")},
			map[string]string{"x": "b/x", "y": "a/y"},
			1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			permutations(len(tt.sources), func(order []int) {
				rt := lenient()
				rt.Collisions, rt.Trust = tt.mode, tt.raised
				for _, i := range order {
					done(t, tt.sources[i].into(rt))
				}
				if got := answers(t, rt); !reflect.DeepEqual(got, tt.want) {
					t.Errorf("loaded in the order %v:\ngot  %v\nwant %v", order, got, tt.want)
				}
				hidden := 0
				for r := range rt.All() {
					if r.Hidden != "" {
						hidden++
					}
				}
				if hidden != tt.hidden {
					t.Errorf("loaded in the order %v: %d tools are hidden, want %d", order, hidden, tt.hidden)
				}
			})
		})
	}
}

func TestRefusedCollisions(t *testing.T) {
	t.Parallel()
	t.Run("R4 two own tools of one name are an error", func(t *testing.T) {
		for _, mode := range []ferrule.Collisions{ferrule.Prefix, ferrule.Priority, ferrule.Refuse} {
			rt := lenient()
			rt.Collisions = mode
			done(t, rt.Add(answering("x", "first")))
			if err := rt.Add(answering("y", "y"), answering("x", "second")); err == nil {
				t.Errorf("%q: a second tool x was taken", mode)
			}
			if err := rt.Add(answering("z", "first"), answering("z", "second")); err == nil {
				t.Errorf("%q: two tools z at once were taken", mode)
			}
			if got, want := answers(t, rt), map[string]string{"x": "first"}; !reflect.DeepEqual(got, want) {
				t.Errorf("%q: got %v, want %v", mode, got, want)
			}
		}
	})
	t.Run("R4 two tools of one name in one source are an error", func(t *testing.T) {
		rt := lenient()
		if err := rt.Set(tool.Source{Name: "a", Trust: tool.MCP}, answering("x", "1"), answering("x", "2")); err == nil {
			t.Error("two tools x of one source were taken")
		}
		if got := viewOf(t, rt).Names(); len(got) != 0 {
			t.Errorf("names = %v, want none", got)
		}
	})
	t.Run("R4 one tool given twice is two tools of one name", func(t *testing.T) {
		a, always := answering("a", "a"), exemplary(func(d *tool.Tool) { d.AlwaysLoad = true })
		rt := holding(t, a)
		for _, s := range []tool.Source{{}, {Name: "gh", Trust: tool.MCP}, {Name: "fs", Trust: tool.BuiltIn}} {
			if err := rt.Set(s, a, always, a); err == nil || !strings.Contains(err.Error(), `two tools of the name "a"`) {
				t.Errorf("Set(%q, a, a): err = %v", s.Name, err)
			}
		}
		if got, want := answers(t, rt), map[string]string{"a": "a"}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	t.Run("R4 refuse: the second source with a name, whole", func(t *testing.T) {
		permutations(2, func(order []int) {
			rt := lenient()
			rt.Collisions = ferrule.Refuse
			both := []loading{has("a", tool.MCP, "x", "only_a"), has("b", tool.SkillTrusted, "x", "only_b")}
			first, second := both[order[0]], both[order[1]]
			done(t, first.into(rt))
			err := second.into(rt)
			if err == nil || !strings.Contains(err.Error(), `"x"`) || !strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"b"`) {
				t.Errorf("err = %v, want one that says the name and both sources", err)
			}
			want := map[string]string{"x": first.source + "/x", "only_" + first.source: first.source + "/only_" + first.source}
			if got := answers(t, rt); !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	})
	t.Run("R4 refuse: a source may be set again with its own names", func(t *testing.T) {
		rt := lenient()
		rt.Collisions = ferrule.Refuse
		done(t, has("a", tool.MCP, "x").into(rt))
		done(t, has("a", tool.MCP, "x", "y").into(rt))
		if got, want := answers(t, rt), map[string]string{"x": "a/x", "y": "a/y"}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	t.Run("R4 refuse: the program's own wins in either order", func(t *testing.T) {
		permutations(2, func(order []int) {
			rt := lenient()
			rt.Collisions = ferrule.Refuse
			both := []loading{has("", tool.Own, "x"), has("a", tool.MCP, "x")}
			for _, i := range order {
				if err := both[i].into(rt); err != nil && both[i].source == "" {
					t.Errorf("order %v: the program's own tool was refused: %v", order, err)
				}
			}
			if got, want := answers(t, rt), map[string]string{"x": "/x"}; !reflect.DeepEqual(got, want) {
				t.Errorf("order %v: got %v, want %v", order, got, want)
			}
		})
	})
	t.Run("R4 who is hidden comes back when the other goes", func(t *testing.T) {
		rt := lenient()
		rt.Collisions = ferrule.Priority
		done(t, has("a", tool.MCP, "x").into(rt))
		done(t, has("", tool.Own, "x").into(rt))
		wantSaid(t, viewOf(t, rt), "x", "/x")
		if !rt.Remove("x") {
			t.Error("Remove(x) = false")
		}
		wantSaid(t, viewOf(t, rt), "x", "a/x")
	})
	t.Run("R4 a hidden tool is said, once, whoever came first", func(t *testing.T) {
		both := []loading{has("", tool.Own, "a__x"), has("a", tool.MCP, "x")}
		permutations(2, func(order []int) {
			var seen events
			rt := lenient()
			rt.Observe = seen.observe
			for _, i := range order {
				done(t, both[i].into(rt))
			}
			done(t, rt.Replace(answering("a__x", "new")))
			done(t, rt.Add(answering("other", "x")))
			isIt := func(text string) bool {
				return strings.Contains(text, `"x" of source "a" is not seen: "a__x" of the program`)
			}
			if !slices.ContainsFunc(rt.Findings(), func(f ferrule.Finding) bool { return f.Name == "a__x" && isIt(f.Text) }) {
				t.Errorf("findings = %v, want one about the tool of a that is not seen", rt.Findings())
			}
			if told := slices.DeleteFunc(seen.of(audit.Found), func(s string) bool { return !isIt(s) }); len(told) != 1 {
				t.Errorf("order %v: told %d times, want once: %q", order, len(told), told)
			}
		})
	})
}

// crowd draws sources with tools whose names are alike: few letters,
// underscores and dots everywhere, long ones, and ones made to look like what
// another becomes.
func crowd() *rapid.Generator[[]loading] {
	part := rapid.OneOf(
		rapid.StringMatching(`[ab_.]{1,3}`),
		rapid.StringMatching(`[ab]__?[ab]`),
		rapid.StringMatching(`a{60,64}[ab_.]{0,4}`),
		rapid.StringMatching(`[ab]_x[a2]{10}`),
	)
	trust := rapid.SampledFrom([]tool.Trust{tool.Web, tool.MCP, tool.SkillUntrusted, tool.SkillTrusted, tool.BuiltIn})
	return rapid.Custom(func(t *rapid.T) []loading {
		sources := rapid.SliceOfNDistinct(part.Filter(func(s string) bool { return tool.Source{Name: s}.Check() == nil }), 1, 4, rapid.ID).Draw(t, "sources")
		var all []loading
		var wires []string
		for _, s := range sources {
			names := rapid.SliceOfNDistinct(part, 1, 3, rapid.ID).Draw(t, "names of "+s)
			for _, n := range names {
				wires = append(wires, tool.WireName(s, n), tool.WireName("", n))
			}
			all = append(all, has(s, trust.Draw(t, "trust of "+s), names...))
		}
		own := rapid.SliceOfNDistinct(rapid.OneOf(part, rapid.SampledFrom(wires)), 0, 4, rapid.ID).Draw(t, "own")
		return append(all, has("", tool.Own, own...))
	})
}

func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	for _, mode := range []ferrule.Collisions{ferrule.Prefix, ferrule.Priority} {
		title := string(mode)
		if title == "" {
			title = "prefix"
		}
		t.Run("R4 "+title+": every visible name is one tool's and leads to it, whatever came first", func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				all := crowd().Draw(rt, "crowd")
				var before map[string]string
				for _, order := range [][]loading{all, rapid.Permutation(all).Draw(rt, "order")} {
					r := lenient()
					r.Collisions = mode
					for _, l := range order {
						if err := l.into(r); err != nil {
							rt.Fatal(err)
						}
					}
					now := leadTo(rt, r, mode)
					if before != nil && !reflect.DeepEqual(before, now) {
						rt.Fatalf("names depend on the order:\none     %v\nanother %v", before, now)
					}
					before = now
				}
			})
		})
	}
}

// leadTo are the visible names and what each leads to. It fails where one leads
// elsewhere than it says, or where a tool is missing without a reason.
func leadTo(t *rapid.T, r *ferrule.Runtime, mode ferrule.Collisions) map[string]string {
	base := func(s tool.Source) bool { return s.Name == "" || s.Trust == tool.BuiltIn }
	owner := make(map[string]tool.Source)
	lead := make(map[string]string)
	v := r.Session(tool.Caller{}).View(context.Background())
	for f := range r.All() {
		whose := f.Source.Name + "/" + f.Info.Name
		if f.Hidden != "" {
			o, ok := owner[f.Name]
			switch {
			case !ok:
				t.Fatalf("%s is hidden, but nobody has its name %s", whose, f.Name)
			case f.Source.Name == "":
				t.Fatalf("%s is the program's own and hidden by one of %q", whose, o.Name)
			case mode == ferrule.Prefix && !base(o):
				t.Fatalf("%s was given the name %s, which one of %q has", whose, f.Name, o.Name)
			}
			continue
		}
		if _, twice := owner[f.Name]; twice {
			t.Fatalf("two tools have the name %s", f.Name)
		}
		owner[f.Name], lead[f.Name] = f.Source, whose
		if res := v.Do(context.Background(), tool.Call{Name: f.Name}); res[0].String() != whose {
			t.Fatalf("a call of %s, which is %s, says %q", f.Name, whose, res[0].String())
		}
	}
	if names := v.Names(); len(names) != len(lead) {
		t.Fatalf("the view has the names %q, want %v", names, lead)
	}
	return lead
}

func TestAliases(t *testing.T) {
	t.Parallel()
	builtIn, mcp := tool.Source{Name: "fs", Trust: tool.BuiltIn}, tool.Source{Name: "gh", Trust: tool.MCP}
	own := func(tools ...*tool.Tool) loading { return loading{tools: tools} }
	from := func(s tool.Source, tools ...*tool.Tool) loading {
		return loading{source: s.Name, trust: s.Trust, tools: tools}
	}
	for _, tt := range []struct {
		name     string
		one, two loading
		refused  bool
	}{
		{"R5 an alias that is a name of the program", own(answering("a", "a", alias("b"))), own(answering("b", "b")), true},
		{"R5 an alias that is an alias of the program", own(answering("a", "a", alias("old"))), own(answering("b", "b", alias("older", "old"))), true},
		{"R5 an alias that is a built-in name", own(answering("a", "a", alias("read"))), from(builtIn, answering("read", "r")), true},
		{"R5 a built-in alias that is a name of the program", own(answering("a", "a")), from(builtIn, answering("read", "r", alias("a"))), true},
		{"R5 an alias that is a built-in alias", own(answering("a", "a", alias("cat"))), from(builtIn, answering("read", "r", alias("cat"))), true},
		{"R5 an alias that a tool of another source has as a name", own(answering("a", "a", alias("x"))), from(mcp, answering("x", "x")), false},
		{"R5 a name that an outside tool claims as its alias", own(answering("a", "a")), from(mcp, answering("x", "x", alias("a"))), false},
		{"R5 an alias that an outside tool claims too", own(answering("a", "a", alias("old"))), from(mcp, answering("x", "x", alias("old"))), false},
		{"R5 aliases that differ", own(answering("a", "a", alias("old_a"))), own(answering("b", "b", alias("old_b"))), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, order := range [][]loading{{tt.one, tt.two}, {tt.two, tt.one}} {
				rt := lenient()
				done(t, order[0].into(rt))
				before := answers(t, rt)
				err := order[1].into(rt)
				if (err != nil) != tt.refused {
					t.Errorf("after %q, %q: err = %v, want refused: %v", order[0].tools[0].Name, order[1].tools[0].Name, err, tt.refused)
				}
				if now := answers(t, rt); err != nil && !reflect.DeepEqual(now, before) {
					t.Errorf("refused, but the tools are %v, want %v", now, before)
				}
			}
		})
	}
	t.Run("R5 two that belong together are refused together", func(t *testing.T) {
		if err := lenient().Add(answering("a", "a", alias("b")), answering("b", "b")); err == nil {
			t.Error("an alias that is the name of a tool beside it was taken")
		}
	})
	t.Run("R5 an alias answers, and the rules see the tool by its name", func(t *testing.T) {
		var seen []string
		rt := &ferrule.Runtime{Guard: unguarded(), Policy: policy.Func(func(r *tool.Request) tool.Decision {
			seen = append(seen, r.Tool.Name)
			return tool.Decision{Verdict: tool.Allow}
		})}
		done(t, rt.Add(answering("read_file", "text", alias("cat", "fs.read"))))
		v := viewOf(t, rt)
		for _, name := range []string{"read_file", "cat", "fs.read"} {
			wantSaid(t, v, name, "text")
		}
		if !slices.Contains(seen, "read_file") || slices.ContainsFunc(seen, func(s string) bool { return s != "read_file" }) {
			t.Errorf("the rules saw %q, want read_file only", seen)
		}
		if got := v.Names(); !slices.Equal(got, []string{"read_file"}) {
			t.Errorf("names = %q: an alias is not offered", got)
		}
	})
	t.Run("R5 aliases of other sources do not answer", func(t *testing.T) {
		for _, trust := range []tool.Trust{tool.Web, tool.MCP, tool.SkillUntrusted, tool.SkillTrusted} {
			for _, mode := range []ferrule.Collisions{ferrule.Prefix, ferrule.Priority, ferrule.Refuse} {
				rt := lenient()
				rt.Collisions = mode
				done(t, rt.Set(tool.Source{Name: "gh", Trust: trust}, answering("x", "taken over", alias("cat", "bash"))))
				if got := said(t, viewOf(t, rt), "cat"); !strings.HasPrefix(got, "unknown_tool: ") {
					t.Errorf("%s, %q: the alias led to %q", trust, mode, got)
				}
			}
		}
	})
	t.Run("R5 nobody takes over a name or an alias by claiming it as an alias", func(t *testing.T) {
		rt := holding(t, answering("read", "the program's", alias("cat")))
		done(t, rt.Set(mcp, answering("x", "taken over", alias("read", "cat"))))
		v := viewOf(t, rt)
		wantSaid(t, v, "read", "the program's")
		wantSaid(t, v, "cat", "the program's")
	})
	t.Run("R5 a name beats an alias", func(t *testing.T) {
		rt := holding(t, answering("a", "by the alias", alias("gh__x")))
		done(t, rt.Set(mcp, answering("x", "by the name")))
		v := viewOf(t, rt)
		wantSaid(t, v, "gh__x", "by the name")
		wantSaid(t, v.Only(ferrule.Filter{Sources: []string{""}}), "gh__x", "by the alias")
	})
	t.Run("R5 an alias leads only to a tool of this view", func(t *testing.T) {
		rt := holding(t, answering("a", "a", alias("old")), answering("b", "b"))
		if got := said(t, viewOf(t, rt).Only(ferrule.Filter{Names: []string{"b"}}), "old"); !strings.HasPrefix(got, "unknown_tool: ") {
			t.Errorf("the alias led out of the view: %q", got)
		}
	})
	t.Run("R5 the alias of a tool that another one hides does not answer", func(t *testing.T) {
		rt := holding(t, answering("read", "the program's"))
		done(t, rt.Set(builtIn, answering("read", "hidden", alias("cat"))))
		if got := said(t, viewOf(t, rt), "cat"); !strings.HasPrefix(got, "unknown_tool: ") {
			t.Errorf("the alias led to a hidden tool: %q", got)
		}
	})
	t.Run("R5 what a removed tool had is free again", func(t *testing.T) {
		rt := holding(t, answering("a", "a", alias("old")), answering("b", "b"))
		rt.Remove("a")
		done(t, rt.Add(answering("c", "c", alias("a", "old"))))
		wantSaid(t, viewOf(t, rt), "old", "c")
		wantSaid(t, viewOf(t, rt), "a", "c")
	})
	t.Run("R5 a name of the base stays taken while one of the sources that have it does", func(t *testing.T) {
		sources := []string{"", "s1", "s2", "s3"}
		permutations(len(sources), func(order []int) {
			rt := lenient()
			for _, s := range sources {
				done(t, rt.Set(tool.Source{Name: s, Trust: tool.BuiltIn}, answering("read", s)))
			}
			left := slices.Clone(sources)
			for _, i := range order {
				wantSaid(t, viewOf(t, rt), "read", cmp.Or(left[0], "(tool ran successfully with no output)"))
				if err := rt.Set(tool.Source{Name: "other", Trust: tool.BuiltIn}, answering("other", "o", alias("read"))); err == nil {
					t.Fatalf("removed in the order %v: the alias read was taken while %q have the name", order, left)
				}
				done(t, rt.Set(tool.Source{Name: sources[i]}))
				left = slices.DeleteFunc(left, func(s string) bool { return s == sources[i] })
			}
			done(t, rt.Set(tool.Source{Name: "other", Trust: tool.BuiltIn}, answering("other", "o", alias("read"))))
			wantSaid(t, viewOf(t, rt), "read", "o")
		})
	})
	t.Run("R5 a replacement is held to the same", func(t *testing.T) {
		rt := holding(t, answering("a", "a", alias("old")), answering("b", "b"))
		if err := rt.Replace(answering("b", "new b", alias("old"))); err == nil {
			t.Error("a replacement with an alias of another tool was taken")
		}
		wantSaid(t, viewOf(t, rt), "b", "b")
		done(t, rt.Replace(answering("a", "new a", alias("old"))))
		wantSaid(t, viewOf(t, rt), "old", "new a")
	})
}

func TestBadRegistration(t *testing.T) {
	t.Parallel()
	good := answering("good", "x")
	run := good.Run
	object := json.RawMessage(anyObject)
	for _, tt := range []struct {
		name string
		tool *tool.Tool
		want string // part of the error
	}{
		{"R10 no tool", nil, "got nil: the error of tool.New was not checked"},
		{"R10 the zero tool", &tool.Tool{}, "no name"},
		{"R10 a tool without Run", &tool.Tool{Info: tool.Info{Name: "a", Description: "Do a thing.", Input: object}}, "no Run"},
		{"R10 not made by Check, without a description", &tool.Tool{Info: tool.Info{Name: "a", Input: object}, Run: run}, "no description"},
		{"R10 not made by Check, without a schema", &tool.Tool{Info: tool.Info{Name: "a", Description: "Do a thing."}, Run: run}, "no input schema"},
		{"R10 not made by Check, with a schema that is none", &tool.Tool{Info: tool.Info{Name: "a", Description: "Do a thing.", Input: json.RawMessage(`{"type":`)}, Run: run}, "input"},
		{"R10 the same alias twice", &tool.Tool{Info: tool.Info{Name: "a", Description: "Do a thing.", Input: object, Aliases: []string{"b", "b"}}, Run: run}, "twice"},
		{"R10 its own name as an alias", &tool.Tool{Info: tool.Info{Name: "a", Description: "Do a thing.", Input: object, Aliases: []string{"a"}}, Run: run}, "alias"},
		{"T4 claims that contradict each other", &tool.Tool{Info: tool.Info{Name: "a", Description: "Do a thing.", Input: object, Claims: tool.Claims{ReadOnly: true, Touches: []tool.Access{{Resource: "file:/a", Write: true}}}}, Run: run}, "read-only"},
		{"T2 a good tool that was changed to a bad one", func() *tool.Tool {
			d := answering("a", "x")
			d.Description = ""
			return d
		}(), "no description"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := holding(t, answering("before", "still there"))
			mcp := tool.Source{Name: "gh", Trust: tool.MCP}
			done(t, rt.Set(mcp, answering("before", "still there too")))
			want := answers(t, rt)
			for what, err := range map[string]error{
				"Add": rt.Add(good, tt.tool), "Replace": rt.Replace(tt.tool), "Set": rt.Set(mcp, good, tt.tool),
			} {
				switch {
				case err == nil:
					t.Errorf("%s took it", what)
				case what != "Replace" && !strings.Contains(err.Error(), tt.want):
					t.Errorf("%s: err = %v, want it to say %q", what, err, tt.want)
				}
			}
			if got := answers(t, rt); !reflect.DeepEqual(got, want) {
				t.Errorf("refused, but the tools are %v, want %v", got, want)
			}
		})
	}
	for _, name := range []string{"a__b", "__", "a b", "a/b", "é", strings.Repeat("s", 129)} {
		t.Run("T6 a source of the name "+strings.ReplaceAll(name, "/", "slash"), func(t *testing.T) {
			rt := lenient()
			if err := rt.Set(tool.Source{Name: name, Trust: tool.MCP}, good); err == nil {
				t.Errorf("the source %q was taken", name)
			}
		})
	}
	t.Run("T2 a good tool need not be made by Check", func(t *testing.T) {
		rt := holding(t, &tool.Tool{Info: tool.Info{Name: "raw", Description: "Do a thing.", Input: object}, Run: run})
		wantSaid(t, viewOf(t, rt), "raw", "x")
	})
	t.Run("T2 the registry keeps its own copy", func(t *testing.T) {
		d := answering("a", "x", alias("old"), func(d *tool.Tool) { d.Tags = []string{"calm"} })
		rt := holding(t, d)
		d.Name, d.Description, d.Tags[0], d.Aliases[0] = "b", "Changed.", "wild", "new"
		copy(d.Input, `{"type":"array" }`)
		d.Run = nil
		v := viewOf(t, rt)
		wantSaid(t, v, "old", "x")
		if got, ok := rt.Find("a"); !ok || got.Info.Description != "Answer every call with one text." || got.Info.Tags[0] != "calm" || string(got.Info.Input) != anyObject {
			t.Errorf("Find(a) = %+v, %v", got.Info, ok)
		}
	})
	t.Run("R10 an empty set takes a source away, and nothing from nothing is nothing", func(t *testing.T) {
		rt := holding(t, answering("a", "a"))
		gh := tool.Source{Name: "gh", Trust: tool.MCP}
		done(t, rt.Set(gh))
		done(t, rt.Add())
		done(t, rt.Set(gh, answering("x", "x")))
		done(t, rt.Set(gh))
		if got := viewOf(t, rt).Names(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("names = %q, want a", got)
		}
		done(t, rt.Set(tool.Source{}))
		if got := viewOf(t, rt).Names(); len(got) != 0 {
			t.Errorf("names = %q, want none", got)
		}
	})
}

func TestRegistryChanges(t *testing.T) {
	t.Parallel()
	t.Run("R10 replace keeps the place and says when there is nothing to replace", func(t *testing.T) {
		rt := holding(t, answering("a", "a"), answering("b", "b"), answering("c", "c"))
		done(t, rt.Replace(answering("b", "new")))
		v := viewOf(t, rt)
		wantSaid(t, v, "b", "new")
		if got := v.Names(); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("names = %q", got)
		}
		if err := rt.Replace(answering("d", "d")); err == nil || rt.Has("d") || err.Error() != `replace: there is no own tool "d"` {
			t.Errorf("Replace of no tool: err = %v, has it: %v", err, rt.Has("d"))
		}
	})
	t.Run("R10 who adds a tool that is there is told how to replace it", func(t *testing.T) {
		rt := holding(t, answering("a", "a"))
		if err := rt.Add(answering("a", "new")); err == nil || err.Error() != `register: a tool "a" is there already: use Replace` {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("R10 remove by an alias removes nothing", func(t *testing.T) {
		rt := holding(t, answering("a", "a", alias("old")))
		if !rt.Has("old") || rt.Remove("old") || !rt.Has("a") {
			t.Error("a tool was removed by its alias, or is not there by it")
		}
	})
	t.Run("R10 remove says whether it was there", func(t *testing.T) {
		rt := holding(t, answering("a", "a"))
		done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.MCP}, answering("x", "x"), answering("y", "y")))
		for _, step := range []struct {
			name string
			want bool
		}{{"a", true}, {"a", false}, {"x", false}, {"gh__x", true}, {"gh__x", false}, {"", false}, {"nobody", false}} {
			if got := rt.Remove(step.name); got != step.want {
				t.Errorf("Remove(%q) = %v, want %v", step.name, got, step.want)
			}
			if rt.Has(step.name) {
				t.Errorf("%q is still there", step.name)
			}
		}
		if got := viewOf(t, rt).Names(); !slices.Equal(got, []string{"gh__y"}) {
			t.Errorf("names = %q, want gh__y", got)
		}
	})
	t.Run("R10 all in an order that does not depend on loading", func(t *testing.T) {
		sources := []loading{has("b", tool.SkillTrusted, "z", "y"), has("a", tool.MCP, "x"), has("fs", tool.BuiltIn, "read"), has("", tool.Own, "own_2", "own_1")}
		want := []string{"own_2", "own_1", "read", "a__x", "b__z", "b__y"}
		permutations(len(sources), func(order []int) {
			rt := lenient()
			for _, i := range order {
				done(t, sources[i].into(rt))
			}
			var all []string
			for r := range rt.All() {
				all = append(all, r.Name)
			}
			if names := viewOf(t, rt).Names(); !slices.Equal(all, want) || !slices.Equal(names, want) {
				t.Errorf("loaded in the order %v:\nall   %q\nnames %q\nwant  %q", order, all, names, want)
			}
		})
	})
	t.Run("R10 who looks at all may stop early and change the registry meanwhile", func(t *testing.T) {
		rt := holding(t, answering("a", "a"), answering("b", "b"))
		for r := range rt.All() {
			if !rt.Remove(r.Name) {
				t.Errorf("Remove(%s) = false", r.Name)
			}
			break
		}
		if rt.Has("a") || !rt.Has("b") {
			t.Error("want a gone and b there")
		}
	})
	t.Run("R10 an event for each tool that comes or goes", func(t *testing.T) {
		var seen events
		rt := lenient()
		rt.Observe = seen.observe
		done(t, rt.Add(answering("a", "a")))
		done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.MCP}, answering("x", "x")))
		done(t, rt.Replace(answering("a", "new")))
		rt.Remove("gh__x")
		if err := rt.Add(answering("b", "b"), nil); err == nil {
			t.Error("a nil tool was taken")
		}
		if got, want := seen.of(audit.Registered), []string{"a: ", "gh__x: ", "a: "}; !slices.Equal(got, want) {
			t.Errorf("registered %q, want %q", got, want)
		}
		if got, want := seen.of(audit.Removed), []string{"a: ", "gh__x: "}; !slices.Equal(got, want) {
			t.Errorf("removed %q, want %q", got, want)
		}
	})
}

// A cap belongs to the tool that is there. Whoever else comes with its name,
// and is not taken, leaves it as it is.
func TestCapsStay(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	capped := func(atOnce int) *tool.Tool {
		return reader("one", "", func(d *tool.Tool) {
			d.AtOnce = atOnce
			d.Run = func(context.Context, tool.Args) (tool.Result, error) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return tool.Result{}, nil
			}
		})
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, rt *ferrule.Runtime)
		want   int32
	}{
		{"D3 a cap", func(*testing.T, *ferrule.Runtime) {}, 1},
		{"R10 a tool that is refused leaves the cap of the one that is there", func(t *testing.T, rt *ferrule.Runtime) {
			if rt.Add(capped(3)) == nil || rt.Set(tool.Source{}, capped(3), nil) == nil || rt.Add(capped(2), capped(3)) == nil {
				t.Error("it was taken")
			}
		}, 1},
		{"R10 a replacement that is refused leaves it", func(t *testing.T, rt *ferrule.Runtime) {
			done(t, rt.Add(answering("other", "x", alias("old"))))
			wider := capped(3)
			wider.Aliases = []string{"old"}
			if rt.Replace(wider) == nil {
				t.Error("it was taken")
			}
		}, 1},
		{"R10 a replacement has its own", func(t *testing.T, rt *ferrule.Runtime) { done(t, rt.Replace(capped(2))) }, 2},
		{"R6 what a fallback supplies under that name leaves it", func(t *testing.T, rt *ferrule.Runtime) {
			rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) { return capped(3), nil })
			viewOf(t, rt).Do(t.Context(), tool.Call{Name: "unknown"})
			most.Store(0)
		}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				most.Store(0)
				rt := holding(t, capped(1))
				tt.change(t, rt)
				viewOf(t, rt).Do(t.Context(), slices.Repeat([]tool.Call{{Name: "one"}}, 5)...)
				if got := most.Load(); got != tt.want {
					t.Errorf("%d calls ran at once, want %d", got, tt.want)
				}
			})
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	full := func(d *tool.Tool) {
		d.Claims = tool.Claims{Local: true, Reversible: true, Touches: []tool.Access{{Resource: "file:/a", Write: true}}}
		d.Examples = []tool.Example{{Input: json.RawMessage(`{"n":1}`), Output: json.RawMessage(`"one"`)}}
		d.Model, d.Deferred = "smart", true
		d.Tags, d.Aliases = []string{"files"}, []string{"old"}
		d.Key = func(context.Context, tool.Args) (string, error) { return "key", nil }
	}
	t.Run("R10 find gives the resolved tool", func(t *testing.T) {
		rt := &ferrule.Runtime{Trust: map[string]tool.Trust{"gh": tool.SkillTrusted}}
		done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.MCP}, answering("x", "x", full), answering("plain", "x")))
		got, ok := rt.Find("gh__x")
		if !ok {
			t.Fatal("Find(gh__x) = false")
		}
		for what, is := range map[string]bool{
			"name":        got.Name == "gh__x" && got.Info.Name == "x",
			"definition":  got.Info.Description == "Answer every call with one text." && string(got.Info.Input) == anyObject && slices.Equal(got.Info.Tags, []string{"files"}),
			"source":      got.Source.Name == "gh",
			"trust":       got.Source.Trust == tool.SkillTrusted,
			"claims":      reflect.DeepEqual(got.Claims, tool.Claims{Local: true, Reversible: true, Touches: []tool.Access{{Resource: "file:/a", Write: true}}}),
			"class":       got.Class == "write",
			"side effect": got.SideEffect == "side-effecting",
			"deferral":    got.Deferred,
			"key":         got.Keyed,
			"examples":    len(got.Info.Examples) == 1 && string(got.Info.Examples[0].Input) == `{"n":1}`,
			"model hint":  got.Info.Model == "smart",
		} {
			if !is {
				t.Errorf("%s is wrong: %+v", what, got)
			}
		}
		if plain, _ := rt.Find("gh__plain"); plain.Keyed || plain.Deferred || plain.Class != "unsafe" || plain.SideEffect != "external-stateful" {
			t.Errorf("Find(gh__plain) = %+v", plain)
		}
		if _, ok := rt.Find("x"); ok {
			t.Error("Find(x) found a tool by a name that models do not use")
		}
	})
	t.Run("T4 claims by a function count as none where there is no input", func(t *testing.T) {
		rt := holding(t, answering("a", "a", func(d *tool.Tool) {
			d.ClaimsOf = func(tool.Args) (tool.Claims, error) { return tool.Claims{ReadOnly: true}, nil }
		}))
		if got, _ := rt.Find("a"); got.Class != "unsafe" || !reflect.DeepEqual(got.Claims, tool.Claims{}) {
			t.Errorf("class %s, claims %+v, want unsafe and none", got.Class, got.Claims)
		}
	})
	t.Run("R10 has and find by an alias", func(t *testing.T) {
		rt := holding(t, answering("a", "a", full))
		if got, ok := rt.Find("old"); !ok || got.Name != "a" {
			t.Errorf("Find(old) = %s, %v, want a", got.Name, ok)
		}
	})
	t.Run("T2 what find gives is a copy", func(t *testing.T) {
		rt := holding(t, answering("a", "a", full))
		before, _ := rt.Find("a")
		before.Info, before.Findings = before.Info.Clone(), slices.Clone(before.Findings)
		changed, _ := rt.Find("a")
		changed.Info.Description, changed.Info.Tags[0] = "Changed.", "changed"
		changed.Info.Aliases[0], changed.Info.Examples[0].Input[0] = "changed", 'x'
		changed.Info.Claims.Touches[0].Resource = "file:/changed"
		changed.Findings[0] = "changed"
		if after, _ := rt.Find("a"); !reflect.DeepEqual(before.Info, after.Info) || !slices.Equal(before.Findings, after.Findings) {
			t.Errorf("changed from outside:\ngot  %+v\nwant %+v", after.Info, before.Info)
		}
	})
	t.Run("T2 nobody changes what a tool claims by changing what find gave", func(t *testing.T) {
		rt := holding(t, answering("a", "a", full))
		changed, _ := rt.Find("a")
		changed.Claims.Touches[0] = tool.Access{Resource: "file:/changed"}
		after, _ := rt.Find("a")
		if want := (tool.Access{Resource: "file:/a", Write: true}); after.Claims.Touches[0] != want {
			t.Errorf("it now claims to touch %+v, want %+v", after.Claims.Touches[0], want)
		}
	})
}

var errOfGate = errors.New("not good enough")

func TestOneCall(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	deny := policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: tool.Deny} })
	for _, tt := range []struct {
		name   string
		input  string
		tool   func(*tool.Tool)
		host   func(*ferrule.Runtime)
		want   tool.Kind
		passes bool
	}{
		{name: "R10 one call by name and JSON text", input: `{"n":1}`, passes: true},
		{name: "R10 one call passes the schema", input: `{"n":"1"}`, want: tool.InvalidInput},
		{name: "R10 one call with text that is not JSON", input: `{"n":`, want: tool.InvalidInput},
		{name: "R10 one call without a text has no arguments", input: ``, want: tool.InvalidInput},
		{
			name: "R10 one call passes Validate", input: `{"n":1}`, want: tool.InvalidValue,
			tool: func(d *tool.Tool) {
				d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) { return nil, errOfGate }
			},
		},
		{name: "R10 one call passes the rules", input: `{"n":1}`, want: tool.Denied, host: func(rt *ferrule.Runtime) { rt.Policy = deny }},
		{
			name: "R10 one call passes the host", input: `{"n":1}`, want: tool.Denied,
			host: func(rt *ferrule.Runtime) {
				rt.Decide = func(context.Context, *tool.Request) (tool.Decision, error) { return tool.Decision{}, nil }
			},
		},
		{
			name: "R10 one call passes Permit", input: `{"n":1}`, want: tool.Denied,
			tool: func(d *tool.Tool) {
				d.Permit = func(context.Context, tool.Args) (tool.Decision, error) { return tool.Decision{}, nil }
			},
		},
		{
			name: "R10 one call passes a person", input: `{"n":1}`, want: tool.Rejected,
			tool: func(d *tool.Tool) { d.Approval = tool.AskAlways },
			host: func(rt *ferrule.Runtime) {
				rt.Answer = func(context.Context, policy.Question) (policy.Answer, error) { return policy.Answer{}, nil }
			},
		},
		{
			name: "R10 one call passes the hooks", input: `{"n":1}`, want: tool.HookBlocked,
			host: func(rt *ferrule.Runtime) {
				rt.Hooks = []ferrule.Hook{{Name: "stop", Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
					return ferrule.Change{Block: "no"}, nil
				}}}
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ran := 0
			rt := lenient()
			if tt.host != nil {
				tt.host(rt)
			}
			done(t, rt.Add(answering("count", "", func(d *tool.Tool) {
				d.Input = json.RawMessage(schema)
				d.Run = func(_ context.Context, a tool.Args) (tool.Result, error) {
					ran++
					return tool.Result{Content: []tool.Content{tool.Text(a.Text())}}, nil
				}
				if tt.tool != nil {
					tt.tool(d)
				}
			})))
			res := rt.Session(tool.Caller{}).Call(t.Context(), "count", tt.input)
			switch {
			case tt.passes && (res.Err != nil || res.String() != tt.input || ran != 1):
				t.Errorf("result = %q, %v, ran %d times", res, res.Err, ran)
			case !tt.passes && (res.Err == nil || res.Err.Kind != tt.want || ran != 0):
				t.Errorf("result = %q, %v, ran %d times, want kind %s", res, res.Err, ran, tt.want)
			}
		})
	}
	t.Run("R10 one call of an unknown name", func(t *testing.T) {
		res := lenient().Session(tool.Caller{}).Call(t.Context(), "nobody", `{}`)
		if res.Err == nil || res.Err.Kind != tool.UnknownTool {
			t.Errorf("result = %q, %v", res, res.Err)
		}
	})
}

// The race detector is the judge here, and the second law: as many results as
// calls, each from the tool that its view had or from none.
func TestChangesWhileTurnsRun(t *testing.T) {
	t.Parallel()
	t.Run("R10 the registry changes while turns run", func(t *testing.T) {
		rt := lenient()
		rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) { return nil, errOfGate }
		done(t, rt.Add(reader("stays", "stays"), answering("changes", "old")))
		gh := tool.Source{Name: "gh", Trust: tool.MCP}
		newer, extra, outside := answering("changes", "new"), answering("extra", "extra"), answering("x", "x", deferredTool)
		change := []func(){
			func() { _ = rt.Replace(newer) }, // it may be gone just now
			func() { _ = rt.Add(extra) },     // or there
			func() { rt.Remove("extra") },
			func() {
				if err := rt.Set(gh, outside); err != nil {
					t.Error(err)
				}
			},
			func() { rt.Remove("gh__x") },
			func() {
				rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) { return extra, nil })
			},
			func() { rt.SetFallback(nil) },
			func() { rt.Findings() },
			func() { rt.Has("changes") },
		}
		var all sync.WaitGroup
		stop := make(chan struct{})
		for _, f := range change {
			all.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						f()
					}
				}
			})
		}
		for i := range 100 {
			v := rt.Session(tool.Caller{Session: "one", Run: fmt.Sprint(i)}).View(t.Context())
			if _, err := v.Definitions(ferrule.JSON{}); err != nil {
				t.Error(err)
			}
			res := v.Do(t.Context(), tool.Call{Name: "stays"}, tool.Call{Name: "changes"}, tool.Call{Name: "extra"}, tool.Call{Name: "gh__x"})
			if len(res) != 4 || res[0].String() != "stays" || res[1].String() != "old" && res[1].String() != "new" {
				t.Errorf("results = %v", res)
			}
		}
		close(stop)
		all.Wait()
	})
	t.Run("R10 of many who remove a tool one did", func(t *testing.T) {
		rt := holding(t, answering("a", "a"))
		said := make(chan bool, 8)
		for range cap(said) {
			go func() { said <- rt.Remove("a") }()
		}
		yes := 0
		for range cap(said) {
			if <-said {
				yes++
			}
		}
		if yes != 1 {
			t.Errorf("%d of %d heard that it was there, want 1", yes, cap(said))
		}
	})
	t.Run("R10 of many who add a tool of one name one can", func(t *testing.T) {
		rt := lenient()
		said := make(chan error, 8)
		for i := range cap(said) {
			go func() { said <- rt.Add(answering("a", fmt.Sprint(i))) }()
		}
		yes := 0
		for range cap(said) {
			if <-said == nil {
				yes++
			}
		}
		if yes != 1 {
			t.Errorf("%d of %d were added, want 1", yes, cap(said))
		}
	})
}

func TestGoneToolsAreForgotten(t *testing.T) {
	for _, tt := range []struct {
		name   string
		loaded bool
		change func(*tool.Tool)
	}{
		{"R10 a session keeps no tool that was replaced", false, func(*tool.Tool) {}},
		{"R10 a session that has loaded a tool keeps no other that was replaced", true, func(*tool.Tool) {}},
		{"R10 a session keeps no tool that was replaced and had a form for it", false, func(d *tool.Tool) {
			d.DescriptionOf = func(context.Context, tool.Caller) (string, error) { return "Answer with one text.", nil }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := holding(t, answering("a", "a", tt.change), answering("d", "d", deferredTool))
			s := rt.Session(tool.Caller{})
			if tt.loaded {
				said(t, s.View(t.Context()), "d")
			}
			var old []weak.Pointer[tool.Tool] // what was given, which the registry knows it by
			for range 10 {
				given := answering("a", "a", tt.change)
				old = append(old, weak.Make(given))
				done(t, rt.Replace(given))
				definitions(t, s.View(t.Context()))
			}
			runtime.GC()
			runtime.GC()
			kept := 0
			for _, w := range old {
				if w.Value() != nil {
					kept++
				}
			}
			if kept > 1 {
				t.Errorf("%d of 10 are kept, want the one that is there", kept)
			}
			runtime.KeepAlive(s)
			runtime.KeepAlive(rt)
		})
	}
}

func TestAliasIsNoWayRound(t *testing.T) {
	t.Parallel()
	t.Run("R5 a rule about a tool holds whatever alias it is called by", func(t *testing.T) {
		old := tool.Tool{
			Info: tool.Info{Name: "now", Aliases: []string{"old"}, Description: "Say that it ran.", Input: json.RawMessage(`{"type":"object"}`), Claims: tool.Claims{ReadOnly: true, Local: true}},
			Run:  func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil },
		}
		rt := &ferrule.Runtime{Guard: unguarded(), Policy: policy.Func(func(r *tool.Request) tool.Decision {
			if r.Name == "now" {
				return tool.Decision{Reason: "called as " + r.CalledAs}
			}
			return tool.Decision{Verdict: tool.Allow}
		})}
		if err := rt.Add(&old); err != nil {
			t.Fatal(err)
		}
		res := rt.Session(tool.Caller{}).Call(t.Context(), "old", "{}")
		if res.Err == nil || res.Err.Kind != tool.Denied || res.Err.Text != "called as old" {
			t.Errorf("got %v", res)
		}
	})
}

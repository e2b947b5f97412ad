package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
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

// offered is what a model is shown by a view.
func offered(t testing.TB, v *ferrule.View) []tool.Definition {
	t.Helper()
	var list []tool.Definition
	done(t, json.Unmarshal(definitions(t, v), &list))
	return list
}

func definitions(t testing.TB, v *ferrule.View) json.RawMessage {
	t.Helper()
	text, err := v.Definitions(ferrule.JSON{})
	done(t, err)
	return text
}

func wantNames(t testing.TB, v *ferrule.View, want ...string) {
	t.Helper()
	if got := v.Names(); !slices.Equal(got, want) {
		t.Errorf("names = %q, want %q", got, want)
	}
	var shown []string
	for _, d := range offered(t, v) {
		shown = append(shown, d.Name)
	}
	if !slices.Equal(shown, want) {
		t.Errorf("definitions of %q, want %q", shown, want)
	}
}

func wantUnknown(t testing.TB, v *ferrule.View, names ...string) {
	t.Helper()
	for _, n := range names {
		if got := said(t, v, n); !strings.HasPrefix(got, "unknown_tool: Tool not found: "+n) {
			t.Errorf("call of %s: got %q, want unknown_tool", n, got)
		}
	}
}

func tagged(tags ...string) func(*tool.Tool) { return func(d *tool.Tool) { d.Tags = tags } }

// household is a registry with something for each part of a filter.
func household(t testing.TB) *ferrule.Runtime {
	rt := holding(t,
		answering("plain", "plain"),
		reader("look", "look", tagged("files", "fast")),
		answering("write", "write", tagged("files"), claiming(tool.Claims{Local: true, Reversible: true, Idempotent: true})),
		answering("both", "both", claiming(tool.Claims{Parallel: true})),
		answering("depends", "depends", func(d *tool.Tool) {
			d.ClaimsOf = func(tool.Args) (tool.Claims, error) { return tool.Claims{ReadOnly: true, Local: true}, nil }
		}),
	)
	done(t, rt.Set(tool.Source{Name: "fs", Trust: tool.BuiltIn}, reader("stat", "stat")))
	done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.MCP}, reader("issues", "issues", tagged("fast"))))
	return rt
}

func TestFilters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		filter ferrule.Filter
		want   string
	}{
		{"R2 no filter", ferrule.Filter{}, "plain look write both depends stat gh__issues"},
		{"R2 by name", ferrule.Filter{Names: []string{"write", "gh__issues", "nobody"}}, "write gh__issues"},
		{"R2 by name: as models call it", ferrule.Filter{Names: []string{"issues"}}, ""},
		{"R2 by name: none", ferrule.Filter{Names: []string{}}, ""},
		{"R2 by tag: any of them", ferrule.Filter{Tags: []string{"files", "fast"}}, "look write gh__issues"},
		{"R2 by tag: none", ferrule.Filter{Tags: []string{}}, ""},
		{"R2 by source", ferrule.Filter{Sources: []string{"gh", "fs"}}, "stat gh__issues"},
		{"R2 by source: the program itself", ferrule.Filter{Sources: []string{""}}, "plain look write both depends"},
		{"R2 by constant claim: read-only, as far as it is believed", ferrule.Filter{Claims: tool.Claims{ReadOnly: true}}, "look stat"},
		{"R2 by constant claim: parallel, which read-only implies", ferrule.Filter{Claims: tool.Claims{Parallel: true}}, "look both stat"},
		{"R2 by constant claim: reversible", ferrule.Filter{Claims: tool.Claims{Reversible: true}}, "write"},
		{"R2 by constant claim: idempotent", ferrule.Filter{Claims: tool.Claims{Idempotent: true}}, "write"},
		{"R2 by constant claim: each that is set", ferrule.Filter{Claims: tool.Claims{ReadOnly: true, Local: true, Idempotent: true}}, ""},
		{"R2 by constant claim: local", ferrule.Filter{Claims: tool.Claims{Local: true}}, "look write stat"},
		{"R2 by all at once", ferrule.Filter{Tags: []string{"fast"}, Sources: []string{"", "gh"}, Claims: tool.Claims{ReadOnly: true}}, "look"},
		{"R2 turned round", ferrule.Filter{Tags: []string{"files", "fast"}, Not: true}, "plain both depends stat"},
		{"R2 turned round: all but the readers", ferrule.Filter{Claims: tool.Claims{ReadOnly: true}, Not: true}, "plain write both depends gh__issues"},
		{"R2 turned round: no filter chooses all, its reverse none", ferrule.Filter{Not: true}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := viewOf(t, household(t))
			some := all.Only(tt.filter)
			want := strings.Fields(tt.want)
			wantNames(t, some, want...)
			for _, n := range all.Names() {
				if slices.Contains(want, n) {
					wantSaid(t, some, n, strings.TrimPrefix(n, "gh__"))
				} else {
					wantUnknown(t, some, n)
				}
			}
			wantNames(t, all, "plain", "look", "write", "both", "depends", "stat", "gh__issues")
		})
	}
	t.Run("R2 only narrows, never widens", func(t *testing.T) {
		all := viewOf(t, household(t))
		some := func(words ...string) *rapid.Generator[[]string] {
			return rapid.OneOf(rapid.Just([]string(nil)), rapid.SliceOfN(rapid.SampledFrom(words), 0, 3))
		}
		filter := rapid.Custom(func(t *rapid.T) ferrule.Filter {
			return ferrule.Filter{
				Names: some(append(all.Names(), "nobody")...).Draw(t, "names"), Tags: some("files", "fast", "x").Draw(t, "tags"), Sources: some("", "fs", "gh").Draw(t, "sources"),
				Claims: tool.Claims{ReadOnly: rapid.Bool().Draw(t, "read-only"), Local: rapid.Bool().Draw(t, "local")},
				Not:    rapid.Bool().Draw(t, "not"),
			}
		})
		rapid.Check(t, func(t *rapid.T) {
			v := all
			for range rapid.IntRange(1, 3).Draw(t, "times") {
				f := filter.Draw(t, "filter")
				next := v.Only(f)
				names := v.Names()
				for _, n := range next.Names() {
					if !slices.Contains(names, n) {
						t.Fatalf("%+v brought %s into a view of %q", f, n, names)
					}
				}
				v = next
			}
			for _, n := range all.Names() {
				res := v.Do(context.Background(), tool.Call{Name: n})
				if ok := slices.Contains(v.Names(), n); ok != (res[0].Err == nil) {
					t.Fatalf("view of %q: call of %s: %v", v.Names(), n, res[0].Err)
				}
			}
		})
	})
	t.Run("R2 a filter that is changed afterwards changes nothing", func(t *testing.T) {
		names := []string{"look"}
		v := viewOf(t, household(t)).Only(ferrule.Filter{Names: names})
		names[0] = "write"
		wantNames(t, v, "look")
		v.Names()[0] = "write"
		wantNames(t, v, "look")
	})
}

func TestEnabled(t *testing.T) {
	t.Parallel()
	enabled := func(f func(context.Context, tool.Caller) (bool, error)) func(*tool.Tool) {
		return func(d *tool.Tool) { d.Enabled = f }
	}
	for _, tt := range []struct {
		name string
		f    func(context.Context, tool.Caller) (bool, error)
		want bool
	}{
		{"R2 enabled", func(context.Context, tool.Caller) (bool, error) { return true, nil }, true},
		{"R2 not enabled", func(context.Context, tool.Caller) (bool, error) { return false, nil }, false},
		{"R2 enabled for this caller", func(_ context.Context, c tool.Caller) (bool, error) { return c.Principal == "ann", nil }, true},
		{"R2 not enabled for this caller", func(_ context.Context, c tool.Caller) (bool, error) { return c.Principal == "bob", nil }, false},
		{"R2 failing is not enabled", func(context.Context, tool.Caller) (bool, error) { return true, errOfGate }, false},
		{"R2 a panic is not enabled", func(context.Context, tool.Caller) (bool, error) { panic("broken") }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := holding(t, answering("a", "a"), answering("b", "b", enabled(tt.f), alias("old")))
			done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.MCP}, answering("x", "x", enabled(tt.f))))
			v := rt.Session(tool.Caller{Principal: "ann"}).View(t.Context())
			if tt.want {
				wantNames(t, v, "a", "b", "gh__x")
				wantSaid(t, v, "old", "b")
				return
			}
			wantNames(t, v, "a")
			wantUnknown(t, v, "b", "old", "gh__x")
		})
	}
	t.Run("R2 who does not answer is not enabled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			rt := holding(t, answering("a", "a"), answering("b", "b", enabled(func(context.Context, tool.Caller) (bool, error) {
				wait(stop)
				return true, nil
			})))
			began := time.Now()
			wantNames(t, viewOf(t, rt), "a")
			if took := time.Since(began); took < 60*time.Second || took > 62*time.Second {
				t.Errorf("the view took %s, want the 60 s that each function has", took)
			}
			close(stop)
			synctest.Wait()
		})
	})
	t.Run("R2 a view under an ended context does not decide for those after it", func(t *testing.T) {
		s := holding(t, answering("b", "b", enabled(func(context.Context, tool.Caller) (bool, error) { return true, nil }))).Session(tool.Caller{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.View(ctx)
		wantNames(t, s.View(t.Context()), "b")
	})
	t.Run("R8 enabled for one agent of a session is not for another", func(t *testing.T) {
		rt := holding(t, answering("drop", "dropped", enabled(func(_ context.Context, c tool.Caller) (bool, error) { return c.Agent == "boss", nil })))
		boss := rt.Session(tool.Caller{Session: "s", Agent: "boss"}).View(t.Context())
		worker := rt.Session(tool.Caller{Session: "s", Agent: "worker"}).View(t.Context())
		wantNames(t, boss, "drop")
		wantNames(t, worker)
	})
}

func TestViewsStay(t *testing.T) {
	t.Parallel()
	gh := tool.Source{Name: "gh", Trust: tool.MCP}
	for _, tt := range []struct {
		name   string
		change func(*testing.T, *ferrule.Runtime)
		want   map[string]string // what the next view has
	}{
		{
			"R2 a tool was added", func(t *testing.T, rt *ferrule.Runtime) { done(t, rt.Add(answering("b", "b"))) },
			map[string]string{"a": "old", "b": "b", "gh__x": "old"},
		},
		{
			"R2 a tool was replaced", func(t *testing.T, rt *ferrule.Runtime) { done(t, rt.Replace(answering("a", "new"))) },
			map[string]string{"a": "new", "gh__x": "old"},
		},
		{
			"R2 a tool was removed", func(_ *testing.T, rt *ferrule.Runtime) { rt.Remove("a") },
			map[string]string{"gh__x": "old"},
		},
		{
			"R2 a source was set anew", func(t *testing.T, rt *ferrule.Runtime) {
				done(t, rt.Set(gh, answering("x", "new"), answering("y", "y")))
			},
			map[string]string{"a": "old", "gh__x": "new", "gh__y": "y"},
		},
		{
			"R2 a source is gone", func(t *testing.T, rt *ferrule.Runtime) { done(t, rt.Set(gh)) },
			map[string]string{"a": "old"},
		},
		{
			"R2 a change was refused", func(t *testing.T, rt *ferrule.Runtime) {
				if rt.Set(gh, nil) == nil {
					t.Error("a nil tool was taken")
				}
			},
			map[string]string{"a": "old", "gh__x": "old"},
		},
	} {
		t.Run(tt.name+": a view made before keeps what it had", func(t *testing.T) {
			rt := holding(t, answering("a", "old"))
			done(t, rt.Set(gh, answering("x", "old")))
			before := viewOf(t, rt)
			part := before.Only(ferrule.Filter{Names: []string{"a"}})
			bytes := slices.Clone(definitions(t, before))
			turn := before.Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(tool.Call{Name: "a"})
			tt.change(t, rt)
			turn.Add(tool.Call{Name: "a"}, tool.Call{Name: "gh__x"}, tool.Call{Name: "b"})
			var got []string
			for _, r := range turn.Wait() {
				got = append(got, r.String())
			}
			if len(got) != 4 || !slices.Equal(got[:3], []string{"old", "old", "old"}) || !strings.HasPrefix(got[3], "Tool not found: b") {
				t.Errorf("the turn that runs: %q", got)
			}
			wantNames(t, before, "a", "gh__x")
			wantNames(t, part, "a")
			wantSaid(t, before, "gh__x", "old")
			wantSaid(t, part, "a", "old")
			wantUnknown(t, before, "b", "gh__y")
			if now := definitions(t, before); string(now) != string(bytes) {
				t.Errorf("definitions were %s, now %s", bytes, now)
			}
			if now := answers(t, rt); !maps.Equal(now, tt.want) {
				t.Errorf("the next view: got %v, want %v", now, tt.want)
			}
		})
	}
}

func TestTwoViews(t *testing.T) {
	t.Parallel()
	t.Run("R8 coordinator and worker use one registry through different views", func(t *testing.T) {
		rt := household(t)
		coordinator := rt.Session(tool.Caller{Session: "s", Agent: "coordinator"}).View(t.Context())
		worker := rt.Session(tool.Caller{Session: "s", Agent: "worker"}).View(t.Context()).Only(ferrule.Filter{Claims: tool.Claims{ReadOnly: true}})
		wantNames(t, worker, "look", "stat")
		wantUnknown(t, worker, "write", "gh__issues")
		wantSaid(t, coordinator, "write", "write")
		wantNames(t, coordinator, "plain", "look", "write", "both", "depends", "stat", "gh__issues")
		wantSaid(t, worker, "look", "look")
	})
	t.Run("R8 both at once", func(t *testing.T) {
		rt := household(t)
		var all sync.WaitGroup
		for _, names := range [][]string{{"look", "stat"}, {"plain"}, {"write", "gh__issues"}} {
			all.Go(func() {
				for range 20 {
					v := viewOf(t, rt).Only(ferrule.Filter{Names: names})
					if got := v.Names(); !slices.Equal(got, names) {
						t.Errorf("names = %q, want %q", got, names)
					}
					wantSaid(t, v, names[0], names[0])
					wantUnknown(t, v, "depends")
				}
			})
		}
		all.Wait()
	})
	t.Run("R8 a change reaches the next view of both", func(t *testing.T) {
		rt := holding(t, answering("a", "a"))
		one, two := rt.Session(tool.Caller{Principal: "ann"}), rt.Session(tool.Caller{Principal: "bob"})
		wantNames(t, one.View(t.Context()), "a")
		done(t, rt.Add(answering("b", "b")))
		wantNames(t, one.View(t.Context()), "a", "b")
		wantNames(t, two.View(t.Context()), "a", "b")
	})
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	rt := holding(t, answering("read_file", "x"), answering("write_file", "x"), answering("calendar_create_event", "x", deferredTool))
	v := viewOf(t, rt)
	for _, tt := range []struct{ name, call, near, far string }{
		{"R6 a letter too many", "read_files", "read_file", "write_file"},
		{"R6 another case", "Read_File", "read_file", ""},
		{"R6 a letter missing", "rite_file", "write_file", ""},
		{"R6 nothing near", "zzzzzzzzzzzz", "", "file"},
		{"R6 the nearest of what can be found", "calendar_create_events", "calendar_create_event", "read_file"},
		{"R6 no name", "", "", ""},
		{"R6 a very long name", strings.Repeat("é", 100_000), "", "file"},
		{"R6 a name that is no text", "read\xff\x00file", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := v.Do(t.Context(), tool.Call{Name: tt.call})[0]
			text := res.String()
			if res.Err == nil || res.Err.Kind != tool.UnknownTool || !strings.HasPrefix(text, "Tool not found: ") {
				t.Fatalf("result = %q, %v", text, res.Err)
			}
			rest := strings.TrimPrefix(text, "Tool not found: "+tt.call)
			if !strings.Contains(rest, tt.near) || tt.far != "" && strings.Contains(rest, tt.far) {
				t.Errorf("text = %q, want it to name %q and not %q", text, tt.near, tt.far)
			}
			if len(text) > 1000 {
				t.Errorf("the text has %d bytes", len(text))
			}
		})
	}
	t.Run("R6 the nearest names are those of this view", func(t *testing.T) {
		if got := said(t, v.Only(ferrule.Filter{Names: []string{"write_file"}}), "read_files"); strings.Contains(got, "read_file,") || strings.Contains(got, "read_file?") {
			t.Errorf("text = %q names a tool of another view", got)
		}
	})
	t.Run("R6 every unknown name of a turn has its result, and the others run", func(t *testing.T) {
		res := v.Do(t.Context(), tool.Call{ID: "1", Name: "no"}, tool.Call{ID: "1", Name: "read_file"}, tool.Call{Name: "nono"})
		if len(res) != 3 || res[0].Err == nil || res[1].Err != nil || res[2].Err == nil || res[0].CallID != "1" || res[1].CallID != "1" {
			t.Errorf("results = %+v", res)
		}
	})
}

func TestFallback(t *testing.T) {
	t.Parallel()
	supply := func(tl *tool.Tool, err error) ferrule.Fallback {
		return func(context.Context, tool.Caller, string) (*tool.Tool, error) { return tl, err }
	}
	t.Run("R6 name, then alias, then fallback", func(t *testing.T) {
		rt := holding(t, answering("a", "by name", alias("old")))
		var asked []string
		rt.SetFallback(func(_ context.Context, c tool.Caller, name string) (*tool.Tool, error) {
			asked = append(asked, c.Principal+" "+name)
			return answering(name, "by fallback"), nil
		})
		v := rt.Session(tool.Caller{Principal: "ann"}).View(t.Context())
		wantSaid(t, v, "a", "by name")
		wantSaid(t, v, "old", "by name")
		wantSaid(t, v, "other", "by fallback")
		if !slices.Equal(asked, []string{"ann other"}) {
			t.Errorf("the fallback was asked for %q, want other only, for ann", asked)
		}
		wantNames(t, v, "a")
		if rt.Has("other") {
			t.Error("what a fallback supplied is in the registry")
		}
	})
	t.Run("R6 setting and unsetting counts from the next view on", func(t *testing.T) {
		rt := holding(t, answering("a", "a"))
		none := viewOf(t, rt)
		rt.SetFallback(supply(answering("x", "first"), nil))
		first := viewOf(t, rt)
		rt.SetFallback(supply(answering("x", "second"), nil))
		second := viewOf(t, rt)
		rt.SetFallback(nil)
		wantUnknown(t, none, "x")
		wantSaid(t, first, "x", "first")
		wantSaid(t, first.Only(ferrule.Filter{Names: []string{}}), "x", "first")
		wantSaid(t, second, "x", "second")
		wantUnknown(t, viewOf(t, rt), "x")
	})
	for _, tt := range []struct {
		name string
		f    ferrule.Fallback
	}{
		{"R6 a fallback that has none either", supply(nil, nil)},
		{"R6 a failing fallback", supply(answering("near", "x"), errOfGate)},
		{"R6 a panicking fallback", func(context.Context, tool.Caller, string) (*tool.Tool, error) { panic("broken") }},
		{"R6 a fallback that supplies the zero tool", supply(&tool.Tool{}, nil)},
		{"R6 a fallback that supplies a tool without Run", supply(&tool.Tool{Info: answering("near", "x").Info}, nil)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := holding(t, answering("near", "x"))
			rt.SetFallback(tt.f)
			got := said(t, viewOf(t, rt), "neat")
			if !strings.HasPrefix(got, "unknown_tool: Tool not found: neat") || !strings.Contains(got, "near") || strings.Contains(got, errOfGate.Error()) || strings.Contains(got, "broken") {
				t.Errorf("got %q, want that it was not found, the nearest name, and nothing of the fault", got)
			}
		})
	}
	t.Run("R6 a hanging fallback", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			rt := holding(t, answering("near", "x"))
			rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) {
				wait(stop)
				return answering("neat", "late"), nil
			})
			began := time.Now()
			if got := said(t, viewOf(t, rt), "neat"); !strings.HasPrefix(got, "unknown_tool: Tool not found: neat") || !strings.Contains(got, "near") {
				t.Errorf("got %q", got)
			}
			if took := time.Since(began); took < 60*time.Second || took > 62*time.Second {
				t.Errorf("it took %s, want the 60 s that each function has", took)
			}
			close(stop)
			synctest.Wait()
		})
	})
	t.Run("R6 a hanging fallback holds up no other call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			var began time.Time
			rt := holding(t, answering("good", "", func(d *tool.Tool) {
				d.Run = func(context.Context, tool.Args) (tool.Result, error) {
					began = time.Now()
					return tool.Result{}, nil
				}
			}))
			rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) {
				wait(stop)
				return nil, nil
			})
			asked := time.Now()
			viewOf(t, rt).Do(t.Context(), tool.Call{Name: "good"}, tool.Call{Name: "missing"})
			if late := began.Sub(asked); late > 0 {
				t.Errorf("a call that waits for nothing began after %s", late)
			}
			close(stop)
			synctest.Wait()
		})
	})
	t.Run("L4 what a fallback failed with stays the cause", func(t *testing.T) {
		rt := lenient()
		rt.SetFallback(supply(nil, errOfGate))
		res := viewOf(t, rt).Do(t.Context(), tool.Call{Name: "x"})[0]
		if !errors.Is(res.Err, errOfGate) {
			t.Errorf("error = %v, want the fallback's for errors.Is", res.Err)
		}
	})
}

func TestFallbackPassesEveryGate(t *testing.T) {
	t.Parallel()
	verdict := func(v tool.Verdict) policy.Policy {
		return policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: v} })
	}
	for _, tt := range []struct {
		name  string
		tool  func(*tool.Tool)
		host  func(*ferrule.Runtime)
		input string
		want  tool.Kind
	}{
		{name: "R6 of a fallback: allowed", want: ""},
		{name: "R6 of a fallback: the schema", tool: func(d *tool.Tool) {
			d.Input = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
		}, input: `{"n":"one"}`, want: tool.InvalidInput},
		{name: "R6 of a fallback: Validate", tool: func(d *tool.Tool) {
			d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) { return nil, errOfGate }
		}, want: tool.InvalidValue},
		{name: "R6 of a fallback: the rules", host: func(rt *ferrule.Runtime) { rt.Policy = verdict(tool.Deny) }, want: tool.Denied},
		{name: "R6 of a fallback: nobody spoke and nobody can be asked", host: func(rt *ferrule.Runtime) { rt.Policy = nil }, want: tool.Denied},
		{name: "R6 of a fallback: Permit", tool: func(d *tool.Tool) {
			d.Permit = func(context.Context, tool.Args) (tool.Decision, error) { return tool.Decision{}, nil }
		}, want: tool.Denied},
		{name: "R6 of a fallback: a person", host: func(rt *ferrule.Runtime) {
			rt.Policy = verdict(tool.Ask)
			rt.Answer = func(context.Context, policy.Question) (policy.Answer, error) { return policy.Answer{}, nil }
		}, want: tool.Rejected},
		{name: "R6 of a fallback: hooks", host: func(rt *ferrule.Runtime) {
			rt.Hooks = []ferrule.Hook{{Name: "stop", Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
				return ferrule.Change{Block: "no"}, nil
			}}}
		}, want: tool.HookBlocked},
		{name: "R6 of a fallback: its output", tool: func(d *tool.Tool) { d.Output = json.RawMessage(anyObject) }, want: tool.InvalidOutput},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := lenient()
			if tt.host != nil {
				tt.host(rt)
			}
			rt.SetFallback(func(_ context.Context, _ tool.Caller, name string) (*tool.Tool, error) {
				if tt.tool == nil {
					return answering(name, "ran"), nil
				}
				return answering(name, "ran", tt.tool), nil
			})
			res := viewOf(t, rt).Do(t.Context(), tool.Call{Name: "x", Input: json.RawMessage(tt.input)})[0]
			switch {
			case tt.want == "" && res.String() != "ran":
				t.Errorf("result = %q", res)
			case tt.want != "" && (res.Err == nil || res.Err.Kind != tt.want):
				t.Errorf("result = %q, %v, want kind %s", res, res.Err, tt.want)
			}
		})
	}
	t.Run("R6 of a fallback: how many of its calls may run at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var now, most atomic.Int32
			one := answering("x", "", claiming(tool.Claims{ReadOnly: true, Local: true}), func(d *tool.Tool) {
				d.AtOnce = 1
				d.Run = func(context.Context, tool.Args) (tool.Result, error) {
					most.Store(max(most.Load(), now.Add(1)))
					<-time.After(time.Second)
					now.Add(-1)
					return tool.Result{}, nil
				}
			})
			rt := lenient()
			rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) { return one, nil })
			viewOf(t, rt).Do(t.Context(), tool.Call{Name: "x"}, tool.Call{Name: "x"}, tool.Call{Name: "x"})
			if most.Load() != 1 {
				t.Errorf("%d of its calls ran at once, want 1", most.Load())
			}
		})
	})
}

func TestDeferred(t *testing.T) {
	t.Parallel()
	const notLoaded = "not_loaded: Tool %s was not loaded. It is now: call it again."
	wantNotLoaded := func(t *testing.T, v *ferrule.View, name string) {
		t.Helper()
		got := said(t, v, name)
		if !strings.HasPrefix(got, fmt.Sprintf(notLoaded, name)) || !strings.Contains(got, anyObject) {
			t.Errorf("call of %s: got %q, want that it was not loaded, and its schema", name, got)
		}
	}
	later := func(name string) *tool.Tool { return answering(name, name, deferredTool, alias("old_"+name)) }
	t.Run("R6 a call of a deferred tool loads it for the next turn", func(t *testing.T) {
		s := holding(t, later("d"), answering("a", "a"), answering("b", "b")).Session(tool.Caller{})
		v := s.View(t.Context())
		wantNames(t, v, "a", "b")
		wantNotLoaded(t, v, "d")
		wantNotLoaded(t, v, "d") // this turn never sees it
		wantNames(t, v, "a", "b")
		next := s.View(t.Context())
		wantNames(t, next, "a", "b", "d")
		wantSaid(t, next, "d", "d")
	})
	t.Run("R6 by an alias too", func(t *testing.T) {
		s := holding(t, later("d")).Session(tool.Caller{})
		wantNotLoaded(t, s.View(t.Context()), "old_d")
		wantNames(t, s.View(t.Context()), "d")
		wantSaid(t, s.View(t.Context()), "old_d", "d")
	})
	t.Run("R6 whatever the input: nothing of the call is looked at", func(t *testing.T) {
		s := holding(t, later("d")).Session(tool.Caller{})
		res := s.View(t.Context()).Do(t.Context(), tool.Call{Name: "d", Input: json.RawMessage(`{"broken`)})
		if res[0].Err == nil || res[0].Err.Kind != tool.NotLoaded {
			t.Errorf("result = %v, want not_loaded", res[0].Err)
		}
	})
	t.Run("R6 loading only appends: what was shown stays, byte for byte", func(t *testing.T) {
		s := holding(t, later("d1"), answering("a", "a"), later("d2"), later("d3"), answering("b", "b")).Session(tool.Caller{})
		names := []string{"a", "b"}
		before := string(definitions(t, s.View(t.Context())))
		for _, d := range []string{"d3", "d1", "d2"} {
			wantNotLoaded(t, s.View(t.Context()), d)
			names = append(names, d)
			wantNames(t, s.View(t.Context()), names...)
			now := string(definitions(t, s.View(t.Context())))
			if !strings.HasPrefix(now, strings.TrimSuffix(before, "]")) {
				t.Errorf("loading %s changed what stands before it:\nwas %s\nis  %s", d, before, now)
			}
			before = now
		}
	})
	t.Run("R6 calls of one turn each load their tool, once", func(t *testing.T) {
		s := holding(t, later("d1"), later("d2"), answering("a", "a")).Session(tool.Caller{})
		res := s.View(t.Context()).Do(t.Context(), tool.Call{Name: "d2"}, tool.Call{Name: "a"}, tool.Call{Name: "d1"}, tool.Call{Name: "d2"})
		if len(res) != 4 || res[1].String() != "a" || res[3].Err == nil {
			t.Errorf("results = %v", res)
		}
		wantNames(t, s.View(t.Context()), "a", "d2", "d1")
	})
	t.Run("R6 loaded is loaded for all agents of the session", func(t *testing.T) {
		rt := holding(t, later("d"))
		wantNotLoaded(t, rt.Session(tool.Caller{Session: "s", Agent: "one"}).View(t.Context()), "d")
		wantNames(t, rt.Session(tool.Caller{Session: "s", Agent: "two"}).View(t.Context()), "d")
	})
	for _, tt := range []struct {
		name string
		a, b tool.Caller
	}{
		{"R6 and not for another session", tool.Caller{Session: "s"}, tool.Caller{Session: "t"}},
		{"R6 and not for another principal", tool.Caller{Session: "s", Principal: "ann"}, tool.Caller{Session: "s", Principal: "bob"}},
		{"R6 and not for another tenant", tool.Caller{Session: "s", Tenant: "one"}, tool.Caller{Session: "s", Tenant: "two"}},
		{"R6 and not for who chose a name that looks like another tenant's", tool.Caller{Tenant: "one", Principal: "x\x00ann", Session: "s"}, tool.Caller{Tenant: "one\x00x", Principal: "ann", Session: "s"}},
		{"R6 and not for a session of which nobody said the name", tool.Caller{}, tool.Caller{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := holding(t, later("d"))
			wantNotLoaded(t, rt.Session(tt.a).View(t.Context()), "d")
			wantNames(t, rt.Session(tt.b).View(t.Context()))
		})
	}
	t.Run("R2 a view may find only what it has", func(t *testing.T) {
		s := holding(t, later("d"), answering("a", "a")).Session(tool.Caller{})
		narrow := s.View(t.Context()).Only(ferrule.Filter{Names: []string{"a"}})
		wantUnknown(t, narrow, "d")
		wantNames(t, s.View(t.Context()), "a")
		wantNotLoaded(t, s.View(t.Context()), "d")
		wantNames(t, s.View(t.Context()).Only(ferrule.Filter{Names: []string{"a"}}), "a")
		wantNames(t, s.View(t.Context()).Only(ferrule.Filter{Names: []string{"d"}}), "d")
	})
	t.Run("R6 a loaded tool that is removed is gone", func(t *testing.T) {
		rt := holding(t, later("d"), answering("a", "a"))
		s := rt.Session(tool.Caller{})
		wantNotLoaded(t, s.View(t.Context()), "d")
		rt.Remove("d")
		wantNames(t, s.View(t.Context()), "a")
		wantUnknown(t, s.View(t.Context()), "d")
	})
	t.Run("R6 a loaded tool stays when another comes", func(t *testing.T) {
		rt := holding(t, later("d"), answering("a", "a"))
		s := rt.Session(tool.Caller{})
		wantNotLoaded(t, s.View(t.Context()), "d")
		done(t, rt.Add(answering("b", "b")))
		wantNames(t, s.View(t.Context()), "a", "b", "d")
	})
	t.Run("R6 a loaded tool stays when its source is set again", func(t *testing.T) {
		rt := holding(t, answering("a", "a"))
		gh := tool.Source{Name: "gh", Trust: tool.MCP}
		d := later("d")
		done(t, rt.Set(gh, d))
		s := rt.Session(tool.Caller{})
		wantNotLoaded(t, s.View(t.Context()), "gh__d")
		done(t, rt.Set(gh, d, later("e"))) // a server told that its list has grown
		wantNames(t, s.View(t.Context()), "a", "gh__d")
	})
	t.Run("R6 a tool that changed since the view was made is loaded as it is now", func(t *testing.T) {
		rt := holding(t, later("d"))
		s := rt.Session(tool.Caller{})
		v := s.View(t.Context())
		done(t, rt.Replace(later("d")))
		wantNotLoaded(t, v, "d")
		wantNames(t, s.View(t.Context()), "d")
	})
	t.Run("R6 a loaded tool stays when the session is refreshed", func(t *testing.T) {
		rt := holding(t, answering("d", "d", deferredTool, func(d *tool.Tool) {
			d.DescriptionOf = func(context.Context, tool.Caller) (string, error) { return "Say what fits this session.", nil }
		}))
		s := rt.Session(tool.Caller{})
		wantNotLoaded(t, s.View(t.Context()), "d")
		wantNames(t, s.View(t.Context()), "d")
		done(t, s.Refresh(t.Context()))
		wantNames(t, s.View(t.Context()), "d")
	})
}

func TestKindsOfLookUp(t *testing.T) {
	t.Parallel()
	t.Run("L4 an unknown name and a tool that is not loaded can be tried again", func(t *testing.T) {
		v := viewOf(t, holding(t, answering("d", "d", deferredTool)))
		for name, want := range map[string]tool.Kind{"nobody": tool.UnknownTool, "d": tool.NotLoaded} {
			res := v.Do(t.Context(), tool.Call{ID: "call_1", Name: name})[0]
			e := (*tool.Error)(nil)
			if !errors.As(error(res.Err), &e) || e.Kind != want || !e.Kind.Known() || !e.Kind.Again() || e.Kind.Hint() == "" {
				t.Errorf("%s: error = %+v, want kind %s", name, e, want)
			}
			if res.CallID != "call_1" || res.ID == "" || res.ID == res.CallID {
				t.Errorf("%s: ids = %q and %q, want the provider's and one of our own", name, res.CallID, res.ID)
			}
		}
	})
	t.Run("L4 what a tool returned stays the cause", func(t *testing.T) {
		v := viewOf(t, holding(t, answering("a", "", func(d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) {
				return tool.Result{}, fmt.Errorf("deep: %w", errOfGate)
			}
		})))
		res := v.Do(t.Context(), tool.Call{Name: "a"})[0]
		if res.Err == nil || res.Err.Kind != tool.Failed || !errors.Is(res.Err, errOfGate) {
			t.Errorf("error = %v", res.Err)
		}
	})
}

// start is where a slice keeps its bytes.
func start(b []byte) *byte { return &b[:1][0] }

func TestRefresh(t *testing.T) {
	a, b := answering("a", "a"), answering("b", "b")
	t.Run("R7 after all results the host may supply a new set, which the next turn sees", func(t *testing.T) {
		var ran, ranBefore int
		var caller tool.Caller
		count := answering("count", "", func(d *tool.Tool) {
			d.Run = func(context.Context, tool.Args) (tool.Result, error) {
				ran++
				return tool.Result{}, nil
			}
		})
		rt := lenient()
		rt.Refresh = func(_ context.Context, c tool.Caller) ([]*tool.Tool, error) {
			caller, ranBefore = c, ran
			return []*tool.Tool{b}, nil
		}
		done(t, rt.Add(count))
		done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.MCP}, answering("x", "x")))
		s := rt.Session(tool.Caller{Principal: "ann"})
		v := s.View(t.Context())
		turn := v.Begin(t.Context(), ferrule.TurnOptions{})
		turn.Add(tool.Call{Name: "count"}, tool.Call{Name: "count"})
		wantNames(t, s.View(t.Context()), "count", "gh__x")
		turn.Add(tool.Call{Name: "b"})
		res := turn.Wait()
		if len(res) != 3 || res[2].Err == nil || res[2].Err.Kind != tool.UnknownTool {
			t.Errorf("results = %v: this turn never sees the new set", res)
		}
		if ranBefore != 2 || caller.Principal != "ann" {
			t.Errorf("the host was asked for %q after %d of 2 calls", caller.Principal, ranBefore)
		}
		wantNames(t, v, "count", "gh__x")
		wantNames(t, s.View(t.Context()), "b", "gh__x")
	})
	for _, tt := range []struct {
		name   string
		tools  []*tool.Tool
		err    error
		want   []string
		events int
		fault  string
	}{
		{"R7 nil keeps the set", nil, nil, []string{"a"}, 0, ""},
		{"R7 an empty set is a set", []*tool.Tool{}, nil, nil, 1, ""},
		{"R7 a failing refresh keeps the set and is recorded", []*tool.Tool{b}, errOfGate, []string{"a"}, 1, errOfGate.Error()},
		{"R7 a set with a nil tool is refused whole and recorded", []*tool.Tool{b, nil}, nil, []string{"a"}, 1, "nil"},
		{"R7 a set with two tools of a name is refused whole and recorded", []*tool.Tool{b, b}, nil, []string{"a"}, 1, "b"},
		{"R7 a new set", []*tool.Tool{b, a}, nil, []string{"b", "a"}, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var seen events
			rt := lenient()
			rt.Observe = seen.observe
			rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) { return tt.tools, tt.err }
			done(t, rt.Add(a))
			s := rt.Session(tool.Caller{})
			wantSaid(t, s.View(t.Context()), "a", "a")
			wantNames(t, s.View(t.Context()), tt.want...)
			got := seen.of(audit.Refreshed)
			if len(got) != tt.events || tt.events > 0 && !strings.Contains(got[0], tt.fault) || tt.events > 0 && tt.fault == "" && got[0] != ": " {
				t.Errorf("events = %q, want %d that say %q", got, tt.events, tt.fault)
			}
		})
	}
	t.Run("R7 a panicking refresh keeps the set and is recorded", func(t *testing.T) {
		var seen events
		rt := lenient()
		rt.Observe = seen.observe
		rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) { panic("broken") }
		done(t, rt.Add(a))
		s := rt.Session(tool.Caller{})
		wantSaid(t, s.View(t.Context()), "a", "a")
		wantNames(t, s.View(t.Context()), "a")
		if got := seen.of(audit.Refreshed); len(got) != 1 || !strings.Contains(got[0], "broken") {
			t.Errorf("events = %q, want one with the panic", got)
		}
	})
	t.Run("R7 a hanging refresh keeps the set, is recorded, and comes too late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen events
			stop := make(chan struct{})
			rt := lenient()
			rt.Observe = seen.observe
			rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) {
				wait(stop)
				return []*tool.Tool{b}, nil
			}
			done(t, rt.Add(a))
			s := rt.Session(tool.Caller{})
			began := time.Now()
			wantSaid(t, s.View(t.Context()), "a", "a")
			if took := time.Since(began); took < 60*time.Second || took > 62*time.Second {
				t.Errorf("it took %s, want the 60 s that each function has", took)
			}
			close(stop)
			synctest.Wait()
			wantNames(t, s.View(t.Context()), "a")
			if got := seen.of(audit.Refreshed); len(got) != 1 || got[0] == ": " {
				t.Errorf("events = %q, want one that says what went wrong", got)
			}
		})
	})
	t.Run("R7 a turn that the host stopped is refreshed too", func(t *testing.T) {
		rt := lenient()
		rt.Refresh = func(ctx context.Context, _ tool.Caller) ([]*tool.Tool, error) { return []*tool.Tool{b}, ctx.Err() }
		done(t, rt.Add(a))
		s := rt.Session(tool.Caller{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if res := s.View(t.Context()).Do(ctx, tool.Call{Name: "a"}); res[0].Err == nil || res[0].Err.Kind != tool.Aborted {
			t.Errorf("result = %v", res[0])
		}
		wantNames(t, s.View(t.Context()), "b")
	})
	t.Run("R7 an unchanged set keeps the same bytes, and nothing comes or goes", func(t *testing.T) {
		var seen events
		rt := lenient()
		rt.Observe = seen.observe
		rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) { return []*tool.Tool{a, b}, nil }
		done(t, rt.Add(a, b))
		one, two := rt.Session(tool.Caller{}), rt.Session(tool.Caller{})
		before := definitions(t, one.View(t.Context()))
		wantSaid(t, one.View(t.Context()), "a", "a")
		if now := definitions(t, one.View(t.Context())); start(now) != start(before) {
			t.Error("the definitions were written anew")
		}
		if now := definitions(t, two.View(t.Context())); start(now) != start(before) {
			t.Error("the definitions were written anew for another session")
		}
		if n := len(seen.of(audit.Registered)); n != 2 || len(seen.of(audit.Removed)) != 0 {
			t.Errorf("%d registered, %d removed, want 2 and 0", n, len(seen.of(audit.Removed)))
		}
	})
	t.Run("R7 definitions that are there cost no allocation", func(t *testing.T) {
		v := viewOf(t, household(t))
		definitions(t, v)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := v.Definitions(ferrule.JSON{}); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%v allocations, want 0", n)
		}
	})
	t.Run("R7 the same filter in the next turn keeps the same bytes", func(t *testing.T) {
		s := household(t).Session(tool.Caller{})
		f := ferrule.Filter{Claims: tool.Claims{ReadOnly: true}}
		before := definitions(t, s.View(t.Context()).Only(f))
		if now := definitions(t, s.View(t.Context()).Only(f)); start(now) != start(before) {
			t.Error("the set is the same, but its definitions were written anew")
		}
	})
	t.Run("R7 loaded tools stay loaded when the host adds one", func(t *testing.T) {
		d := answering("d", "d", deferredTool)
		set := []*tool.Tool{a, d}
		rt := lenient()
		rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) { return set, nil }
		done(t, rt.Add(set...))
		s := rt.Session(tool.Caller{})
		said(t, s.View(t.Context()), "d")
		wantNames(t, s.View(t.Context()), "a", "d")
		set = []*tool.Tool{a, d, b}
		wantSaid(t, s.View(t.Context()), "a", "a")
		wantNames(t, s.View(t.Context()), "a", "b", "d")
	})
}

// many are n tools that differ in their names only, not checked yet.
func many(n int) []*tool.Tool {
	model := answering("x", "x", claiming(tool.Claims{ReadOnly: true, Local: true}), func(d *tool.Tool) { d.Cooperative = true })
	all := make([]*tool.Tool, n)
	for i := range all {
		d := *model
		d.Name = fmt.Sprintf("tool_%d", i)
		all[i] = &d
	}
	return all
}

func TestManyTools(t *testing.T) {
	// The cost of what a turn does, by the number of tools.
	costs := func(n int) map[string]float64 {
		rt := lenient()
		all := many(n)
		all[1].Enabled = func(context.Context, tool.Caller) (bool, error) { return true, nil }
		all[2].Deferred = true
		all[n-1].Repeatable = true
		done(t, rt.Add(all...))
		s := rt.Session(tool.Caller{})
		said(t, s.View(t.Context()), "tool_2")
		ctx, last := t.Context(), fmt.Sprintf("tool_%d", n-1)
		call := tool.Call{Name: last}
		some := ferrule.Filter{Names: []string{"tool_0", last}}
		show := func(v *ferrule.View) {
			if text, err := v.Definitions(ferrule.JSON{}); err != nil || len(text) < 100 {
				t.Errorf("definitions = %s, %v", text, err)
			}
		}
		return map[string]float64{
			"R9 a view and its definitions": testing.AllocsPerRun(20, func() { show(s.View(ctx)) }),
			"R9 a turn": testing.AllocsPerRun(20, func() {
				if res := s.View(ctx).Do(ctx, call); res[0].Err != nil {
					t.Error(res[0].Err)
				}
			}),
			"R9 finding one": testing.AllocsPerRun(20, func() {
				if !rt.Has(last) || rt.Has("nobody") {
					t.Error("a tool is not found, or nobody is")
				}
			}),
			"R9 a view of some and its definitions": testing.AllocsPerRun(20, func() { show(s.View(ctx).Only(some)) }),
			"R10 taking a tool away and adding it": testing.AllocsPerRun(20, func() {
				if gone := rt.Remove(last) && !rt.Has(last); !gone || rt.Add(all[n-1]) != nil {
					t.Error("it was not there, is still there, or cannot be added")
				}
			}),
		}
	}
	few, lots := costs(10), costs(10_000)
	for _, what := range slices.Sorted(maps.Keys(few)) {
		t.Run(what+" costs the same with 10,000 tools as with 10", func(t *testing.T) {
			if lots[what] > few[what]+1 { // one more is no cost that grows
				t.Errorf("%v allocations with 10 tools, %v with 10,000", few[what], lots[what])
			}
		})
	}
}

// badFormat is a format that writes a text of its own, or fails, for one tool.
type badFormat struct {
	text string
	fail func() error
}

func (f *badFormat) Render(d tool.Definition) ([]byte, error) {
	if d.Name == "bad" {
		return []byte(f.text), f.fail()
	}
	return json.Marshal(d.Name)
}

// wideFormat holds something that cannot be compared although its type can.
type wideFormat struct{ options any }

func (wideFormat) Render(d tool.Definition) ([]byte, error) { return json.Marshal(d.Name) }

// bufferFormat writes each definition over the one before.
type bufferFormat struct{ buffer []byte }

func (f *bufferFormat) Render(d tool.Definition) ([]byte, error) {
	f.buffer = strconv.AppendQuote(f.buffer[:0], d.Name)
	return f.buffer, nil
}

// sliceFormat cannot be compared at all.
type sliceFormat []string

func (sliceFormat) Render(d tool.Definition) ([]byte, error) { return json.Marshal(d.Name) }

func TestDefinitions(t *testing.T) {
	t.Parallel()
	t.Run("T16 a model sees name, description, tags, examples and schema, and nothing else", func(t *testing.T) {
		rt := lenient()
		done(t, rt.Set(tool.Source{Name: "gh", Trust: tool.SkillTrusted}, reader("x", "x", tagged("fast"), func(d *tool.Tool) {
			d.Approval, d.AskReason, d.Secrets, d.Aliases, d.Model = tool.AskAlways, "hush", []string{"hush"}, []string{"hush"}, "hush"
			d.Examples = []tool.Example{{Input: json.RawMessage(`{"n":1}`)}}
		})))
		got := string(definitions(t, viewOf(t, rt)))
		want := `[{"name":"gh__x","description":"Answer every call with one text.","input_schema":{"type":"object"},"tags":["fast"],"examples":[{"input":{"n":1}}]}]`
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("T8 up to 5 examples, of a deferred tool once it is loaded", func(t *testing.T) {
		examples := func(d *tool.Tool) {
			for i := range 7 {
				d.Examples = append(d.Examples, tool.Example{Input: fmt.Appendf(nil, `{"n":%d}`, i)})
			}
		}
		s := holding(t, answering("a", "a", examples), answering("d", "d", examples, deferredTool)).Session(tool.Caller{})
		if got := offered(t, s.View(t.Context())); len(got) != 1 || len(got[0].Examples) != 5 || string(got[0].Examples[4].Input) != `{"n":4}` {
			t.Errorf("before: %+v, want a with its first 5 examples", got)
		}
		if got := said(t, s.View(t.Context()), "d"); strings.Contains(got, `{"n":`) {
			t.Errorf("the examples are shown before it is loaded: %q", got)
		}
		if got := offered(t, s.View(t.Context())); len(got) != 2 || len(got[1].Examples) != 5 {
			t.Errorf("after: %+v, want d with 5 examples too", got)
		}
	})
	t.Run("R7 no tools are an empty list", func(t *testing.T) {
		if got := string(definitions(t, viewOf(t, lenient()))); got != `[]` {
			t.Errorf("definitions = %s, want []", got)
		}
	})
	t.Run("R7 without a format there are no definitions", func(t *testing.T) {
		if _, err := viewOf(t, household(t)).Definitions(nil); err == nil {
			t.Error("err = nil")
		}
	})
	for name, fail := range map[string]func() error{
		"R7 a tool that the format cannot write is left out and named":          func() error { return errOfGate },
		"R7 a tool at which the format panics is left out and named, each time": func() error { panic("broken") },
		"R7 a tool for which the format writes nothing is left out and named":   func() error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			v := viewOf(t, holding(t, answering("a", "a"), answering("bad", "b"), answering("c", "c")))
			f := &badFormat{"", fail}
			for range 2 {
				got, err := v.Definitions(f)
				if string(got) != `["a","c"]` || err == nil || !strings.Contains(err.Error(), "bad") {
					t.Errorf("got %s, %v", got, err)
				}
			}
			wantSaid(t, v, "bad", "b")
		})
	}
	for _, text := range []string{"", " ", "{", "{}{}", "1,2", "name"} {
		t.Run(fmt.Sprintf("R7 a definition that is no JSON is left out and named: %q", text), func(t *testing.T) {
			v := viewOf(t, holding(t, answering("bad", "b"), answering("c", "c")))
			got, err := v.Definitions(&badFormat{text, func() error { return nil }})
			if string(got) != `["c"]` || err == nil || !strings.Contains(err.Error(), "definition of bad") {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	t.Run("R7 who appends to definitions changes nobody else's", func(t *testing.T) {
		v := viewOf(t, household(t))
		for _, f := range []ferrule.Format{ferrule.JSON{}, sliceFormat{}} {
			one, _ := v.Definitions(f)
			two, _ := v.Definitions(f)
			one, two = append(one, "one"...), append(two, "two"...)
			if !strings.HasSuffix(string(one), "one") || !strings.HasSuffix(string(two), "two") {
				t.Errorf("%T: …%s and …%s, want one and two", f, one[len(one)-3:], two[len(two)-3:])
			}
		}
	})
	t.Run("R7 a format may use its buffer again", func(t *testing.T) {
		s := holding(t, answering("a", "a"), answering("b", "b"), answering("c", "c", deferredTool)).Session(tool.Caller{})
		f := new(bufferFormat)
		for _, want := range []string{`["a","b"]`, `["a","b","c"]`} {
			if got, err := s.View(t.Context()).Definitions(f); string(got) != want || err != nil {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
			said(t, s.View(t.Context()), "c") // which loads it
		}
	})
	t.Run("R7 of formats that are made anew each time the last ones are kept", func(t *testing.T) {
		v := viewOf(t, household(t))
		var old []weak.Pointer[badFormat]
		for range 20 {
			f := &badFormat{}
			old = append(old, weak.Make(f))
			if _, err := v.Definitions(f); err != nil {
				t.Error(err)
			}
		}
		runtime.GC()
		kept := 0
		for _, w := range old {
			if w.Value() != nil {
				kept++
			}
		}
		if kept > 4 {
			t.Errorf("%d of 20 are kept, with what was written in them; want at most 4", kept)
		}
		runtime.KeepAlive(v)
	})
	t.Run("R7 a few more filters than are kept do not all cost anew", func(t *testing.T) {
		v := viewOf(t, household(t))
		before := make([]*byte, 70)
		again := 0
		for round := range 3 {
			for i := range before {
				now := start(definitions(t, v.Only(ferrule.Filter{Names: []string{"plain", fmt.Sprint(i)}})))
				if round > 0 && now != before[i] {
					again++
				}
				before[i] = now
			}
		}
		if again > len(before) {
			t.Errorf("%d of %d were written anew, want few", again, 2*len(before))
		}
	})
	for name, f := range map[string]ferrule.Format{
		"R7 a format that cannot be compared": sliceFormat{"x"}, "R7 a format that holds what cannot be compared": wideFormat{[]string{"x"}},
	} {
		t.Run(name+" is not kept, and works", func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("panic: %v", r)
				}
			}()
			v := viewOf(t, holding(t, answering("a", "a"), answering("c", "c")))
			for range 2 {
				if got, err := v.Definitions(f); string(got) != `["a","c"]` || err != nil {
					t.Errorf("got %s, %v", got, err)
				}
			}
		})
	}
}

// changing is a tool whose description and schema are functions.
func changing(name string, describe func(tool.Caller) (string, error), input func(tool.Caller) (string, error)) *tool.Tool {
	return answering(name, "ran", func(d *tool.Tool) {
		d.Description = "The static form of it."
		if describe != nil {
			d.DescriptionOf = func(_ context.Context, c tool.Caller) (string, error) { return describe(c) }
		}
		if input != nil {
			d.InputOf = func(_ context.Context, c tool.Caller) (json.RawMessage, error) {
				text, err := input(c)
				return json.RawMessage(text), err
			}
		}
	})
}

const wantsN = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`

func TestSessionForms(t *testing.T) {
	t.Parallel()
	describe := func(c tool.Caller) (string, error) {
		return "What " + c.Principal + " wants: " + c.Prompt + ".", nil
	}
	form := func(t *testing.T, s *ferrule.Session) string {
		t.Helper()
		list := offered(t, s.View(t.Context()))
		if len(list) != 1 {
			t.Fatalf("got %d definitions, want 1", len(list))
		}
		return list[0].Description + " " + string(list[0].Input)
	}
	t.Run("T7 of the session and its prompt", func(t *testing.T) {
		rt := holding(t, changing("a", describe, nil))
		for caller, want := range map[[2]string]string{
			{"ann", "tea"}: "What ann wants: tea. " + anyObject, {"bob", "rest"}: "What bob wants: rest. " + anyObject,
		} {
			if got := form(t, rt.Session(tool.Caller{Principal: caller[0], Prompt: caller[1]})); got != want {
				t.Errorf("definition = %s, want %s", got, want)
			}
		}
		if got, _ := rt.Find("a"); got.Info.Description != "The static form of it." {
			t.Errorf("the registry has %q, want the static form", got.Info.Description)
		}
	})
	t.Run("T7 evaluated once for each session, so that it stays as it is", func(t *testing.T) {
		var asked atomic.Int32
		count := func(tool.Caller) (string, error) { return fmt.Sprintf("Asked for %d times.", asked.Add(1)), nil }
		rt := holding(t, changing("a", count, nil))
		s := rt.Session(tool.Caller{Session: "s"})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { s.View(t.Context()).Names() })
		}
		all.Wait()
		before := definitions(t, s.View(t.Context()))
		done(t, rt.Add(answering("b", "b")))
		said(t, s.View(t.Context()), "a")
		rt.Remove("b")
		again := rt.Session(tool.Caller{Session: "s", Prompt: "another"})
		if got := definitions(t, again.View(t.Context())); asked.Load() != 1 || string(got) != string(before) {
			t.Errorf("asked %d times, definitions %s, want once and %s", asked.Load(), got, before)
		}
		form(t, rt.Session(tool.Caller{Session: "t"}))
		if asked.Load() != 2 {
			t.Errorf("asked %d times for two sessions", asked.Load())
		}
	})
	t.Run("T7 a definition of a session is kept as bytes", func(t *testing.T) {
		s := holding(t, changing("a", describe, nil)).Session(tool.Caller{})
		before := definitions(t, s.View(t.Context()))
		if now := definitions(t, s.View(t.Context())); start(now) != start(before) {
			t.Error("the definitions were written anew")
		}
	})
	for _, tt := range []struct {
		name     string
		describe func(tool.Caller) (string, error)
		input    func(tool.Caller) (string, error)
		want     string
	}{
		{"T7 both", describe, func(tool.Caller) (string, error) { return wantsN, nil }, "What ann wants: tea. " + wantsN},
		{"T7 a failing description: the static form stands", func(tool.Caller) (string, error) { return "Half of it", errOfGate }, nil, "The static form of it. " + anyObject},
		{"T7 a panicking description: the static form stands", func(tool.Caller) (string, error) { panic("broken") }, nil, "The static form of it. " + anyObject},
		{"T7 no description: the static form stands", func(tool.Caller) (string, error) { return " ", nil }, nil, "The static form of it. " + anyObject},
		{"T7 a description that is no text: the static form stands", func(tool.Caller) (string, error) { return "a\xff", nil }, nil, "The static form of it. " + anyObject},
		{"T7 a failing schema: the static form stands", nil, func(tool.Caller) (string, error) { return wantsN, errOfGate }, "The static form of it. " + anyObject},
		{"T7 a panicking schema: the static form stands", nil, func(tool.Caller) (string, error) { panic("broken") }, "The static form of it. " + anyObject},
		{"T7 an invalid schema: the static form stands", nil, func(tool.Caller) (string, error) { return `{"type":"nonsense"}`, nil }, "The static form of it. " + anyObject},
		{"T7 a schema that is not JSON: the static form stands", nil, func(tool.Caller) (string, error) { return `{`, nil }, "The static form of it. " + anyObject},
		{"T7 no schema: the static form stands", nil, func(tool.Caller) (string, error) { return "", nil }, "The static form of it. " + anyObject},
		{"T7 one fails, the other stands", describe, func(tool.Caller) (string, error) { panic("broken") }, "What ann wants: tea. " + anyObject},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := holding(t, changing("a", tt.describe, tt.input))
			s := rt.Session(tool.Caller{Principal: "ann", Prompt: "tea"})
			if got := form(t, s); got != tt.want {
				t.Errorf("definition = %s, want %s", got, tt.want)
			}
			if res := s.Call(t.Context(), "a", `{"n":1}`); res.String() != "ran" {
				t.Errorf("a call says %q", res)
			}
		})
	}
	t.Run("T7 a hanging description: the static form stands", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			asked := 0
			s := holding(t, changing("a", func(tool.Caller) (string, error) {
				asked++
				wait(stop)
				return "Too late to be shown.", nil
			}, func(tool.Caller) (string, error) { return wantsN, nil })).Session(tool.Caller{})
			began := time.Now()
			if got, want := form(t, s), "The static form of it. "+wantsN; got != want {
				t.Errorf("definition = %s, want %s", got, want)
			}
			if took := time.Since(began); took < 60*time.Second || took > 62*time.Second {
				t.Errorf("it took %s, want the 60 s that each function has", took)
			}
			close(stop)
			synctest.Wait()
			began = time.Now()
			if got, want := form(t, s), "The static form of it. "+wantsN; got != want || asked != 1 || time.Since(began) > 0 {
				t.Errorf("later: definition = %s, asked %d times, took %s", got, asked, time.Since(began))
			}
		})
	})
	t.Run("T7 a description that takes its time holds up no call of the session", func(t *testing.T) {
		rt := holding(t, answering("a", "a"))
		s := rt.Session(tool.Caller{})
		v := s.View(t.Context())
		asked, stop, ran := make(chan struct{}), make(chan struct{}), make(chan struct{})
		done(t, rt.Add(changing("slow", func(tool.Caller) (string, error) {
			close(asked)
			<-stop
			return "What was long in coming.", nil
		}, nil)))
		var all sync.WaitGroup
		all.Go(func() { s.View(t.Context()) })
		<-asked
		all.Go(func() {
			v.Do(t.Context(), tool.Call{Name: "a"})
			close(ran)
		})
		select {
		case <-ran:
		case <-time.After(2 * time.Second):
			t.Error("a call through a view that is there waits for the description of another tool")
		}
		close(stop)
		all.Wait()
	})
	t.Run("T7 arguments are checked against the schema of the session", func(t *testing.T) {
		rt := holding(t, changing("a", nil, func(c tool.Caller) (string, error) {
			if c.Principal == "ann" {
				return wantsN, nil
			}
			return `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, nil
		}))
		ann, bob := rt.Session(tool.Caller{Principal: "ann"}), rt.Session(tool.Caller{Principal: "bob"})
		for _, tt := range []struct {
			s     *ferrule.Session
			input string
			ok    bool
		}{{ann, `{"n":1}`, true}, {ann, `{"text":"x"}`, false}, {ann, `{}`, false}, {bob, `{"text":"x"}`, true}, {bob, `{"n":1}`, false}} {
			res := tt.s.Call(t.Context(), "a", tt.input)
			if ok := res.Err == nil; ok != tt.ok || !ok && res.Err.Kind != tool.InvalidInput {
				t.Errorf("%s: %q, want it accepted: %v", tt.input, res, tt.ok)
			}
		}
	})
	t.Run("T7 a deferred tool says the schema of the session", func(t *testing.T) {
		d := changing("a", nil, func(tool.Caller) (string, error) { return wantsN, nil })
		d.Deferred = true
		if got := said(t, viewOf(t, holding(t, d)), "a"); !strings.Contains(got, wantsN) {
			t.Errorf("got %q, want the schema %s", got, wantsN)
		}
	})
	t.Run("T7 not for tools of outside sources", func(t *testing.T) {
		for _, trust := range []tool.Trust{tool.Web, tool.MCP, tool.SkillUntrusted, tool.SkillTrusted} {
			asked := 0
			rt := lenient()
			outside := changing("a", func(tool.Caller) (string, error) {
				asked++
				return "Another description.", nil
			}, func(tool.Caller) (string, error) {
				asked++
				return wantsN, nil
			})
			outside.Enabled = func(context.Context, tool.Caller) (bool, error) { return true, nil } // which counts
			done(t, rt.Set(tool.Source{Name: "gh", Trust: trust}, outside))
			if got := form(t, rt.Session(tool.Caller{})); got != "The static form of it. "+anyObject || asked != 0 {
				t.Errorf("%s: definition = %s, asked %d times", trust, got, asked)
			}
		}
	})
	t.Run("T7 for tools of built-in sources", func(t *testing.T) {
		rt := lenient()
		done(t, rt.Set(tool.Source{Name: "fs", Trust: tool.BuiltIn}, changing("a", describe, nil)))
		if got := form(t, rt.Session(tool.Caller{Principal: "ann", Prompt: "tea"})); got != "What ann wants: tea. "+anyObject {
			t.Errorf("definition = %s", got)
		}
	})
	t.Run("T7 a refresh evaluates anew, for the next view", func(t *testing.T) {
		asked := 0
		rt := holding(t, changing("a", func(tool.Caller) (string, error) {
			asked++
			return fmt.Sprintf("Asked for %d times.", asked), nil
		}, nil))
		s := rt.Session(tool.Caller{})
		before := s.View(t.Context())
		done(t, s.Refresh(t.Context()))
		if got := offered(t, before)[0].Description; got != "Asked for 1 times." {
			t.Errorf("the view made before says %q", got)
		}
		if got := offered(t, s.View(t.Context()))[0].Description; got != "Asked for 2 times." {
			t.Errorf("the next view says %q", got)
		}
	})
	t.Run("T7 a refresh that fails leaves everything as it was", func(t *testing.T) {
		asked := 0
		rt := lenient()
		rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) { return nil, errOfGate }
		done(t, rt.Add(changing("a", func(tool.Caller) (string, error) {
			asked++
			return "Asked for the first time.", nil
		}, nil)))
		s := rt.Session(tool.Caller{})
		before := definitions(t, s.View(t.Context()))
		if err := s.Refresh(t.Context()); !errors.Is(err, errOfGate) {
			t.Errorf("Refresh() = %v, want the host's error", err)
		}
		if now := definitions(t, s.View(t.Context())); start(now) != start(before) || asked != 1 {
			t.Errorf("definitions = %s, asked %d times", now, asked)
		}
	})
	t.Run("T7 what a person is asked about is bound to the static form", func(t *testing.T) {
		var digests []string
		rt := &ferrule.Runtime{Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
			digests = append(digests, q.Digest)
			return policy.Answer{Allow: true}, nil
		}}
		done(t, rt.Add(changing("a", func(c tool.Caller) (string, error) { return "What is wanted: " + c.Prompt + ".", nil }, nil)))
		for _, prompt := range []string{"tea", "rest"} {
			if res := rt.Session(tool.Caller{Prompt: prompt}).Call(t.Context(), "a", `{}`); res.Err != nil {
				t.Error(res.Err)
			}
		}
		if len(digests) != 2 || digests[0] != digests[1] {
			t.Errorf("digests = %q, want two that are equal", digests)
		}
	})
}

// A turn in which the first call runs until it is let go, so that a test sees
// what was done for the second on its arrival.
// stubborn is a tool whose functions for a session ignore their context until
// stop is closed, and are counted.
func stubborn(name string, stop <-chan struct{}, asked *atomic.Int32) *tool.Tool {
	wait := func() {
		asked.Add(1)
		wait(stop)
	}
	return answering(name, name, func(d *tool.Tool) {
		d.Description = "The static form of it."
		d.DescriptionOf = func(context.Context, tool.Caller) (string, error) {
			wait()
			return "The form of a session.", nil
		}
		d.InputOf = func(context.Context, tool.Caller) (json.RawMessage, error) {
			wait()
			return json.RawMessage(wantsN), nil
		}
	})
}

func disabledUntil(stop <-chan struct{}) func(*tool.Tool) {
	return func(d *tool.Tool) {
		d.Enabled = func(context.Context, tool.Caller) (bool, error) {
			wait(stop)
			return true, nil
		}
	}
}

func TestFormsAreBounded(t *testing.T) {
	t.Parallel()
	// tools are some that do not answer, and one that does.
	tools := func(stop <-chan struct{}, asked *atomic.Int32) []*tool.Tool {
		return []*tool.Tool{
			stubborn("a", stop, asked), stubborn("b", stop, asked), answering("plain", "plain"),
			answering("c", "c", disabledUntil(stop)), answering("d", "d", disabledUntil(stop)), answering("e", "e", disabledUntil(stop)),
		}
	}
	described := func(v *ferrule.View) string {
		var all []string
		for _, d := range offered(t, v) {
			all = append(all, d.Name+": "+d.Description)
		}
		return strings.Join(all, "; ")
	}
	const (
		static = "a: The static form of it.; b: The static form of it.; plain: Answer every call with one text."
		formed = "a: The form of a session.; b: The form of a session.; plain: Answer every call with one text.; c: Answer every call with one text.; d: Answer every call with one text.; e: Answer every call with one text."
	)
	for _, tt := range []struct {
		name  string
		limit time.Duration // of the context; 0: it has ended
		took  time.Duration // at most
		again string        // what a later view shows
	}{
		{"T7 functions that do not return are waited for side by side", time.Hour, 62 * time.Second, static},
		{"T7 a view waits no longer than its context", 5 * time.Second, 6 * time.Second, formed},
		{"T7 a view under an ended context asks nobody", 0, 0, formed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stop := make(chan struct{})
				s := holding(t, tools(stop, new(atomic.Int32))...).Session(tool.Caller{})
				ctx, cancel := context.WithTimeout(t.Context(), tt.limit)
				defer cancel()
				began := time.Now()
				v := s.View(ctx)
				if took := time.Since(began); took > tt.took {
					t.Errorf("the view took %s, want at most %s", took, tt.took)
				}
				if got := described(v); got != static {
					t.Errorf("it shows %s\nwant %s", got, static)
				}
				close(stop)
				synctest.Wait()
				if got := described(s.View(t.Context())); got != tt.again {
					t.Errorf("a later one shows %s\nwant %s", got, tt.again)
				}
			})
		})
	}
	t.Run("T7 of views that are made at once one asks, and the others wait as long as they may", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop, asked := make(chan struct{}), new(atomic.Int32)
			rt := holding(t, tools(stop, asked)...)
			var all sync.WaitGroup
			for i := range 6 {
				s := rt.Session(tool.Caller{Session: "s", Agent: fmt.Sprint(i % 2)})
				all.Go(func() {
					if got := described(s.View(t.Context())); got != formed {
						t.Errorf("it shows %s\nwant %s", got, formed)
					}
				})
			}
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if got := described(rt.Session(tool.Caller{Session: "s", Agent: "hasty"}).View(ctx)); got != static {
				t.Errorf("one that cannot wait shows %s\nwant %s", got, static)
			}
			close(stop)
			all.Wait()
			if n := asked.Load(); n != 4 {
				t.Errorf("two tools were asked %d times for description and schema, want 4", n)
			}
		})
	})
	t.Run("T7 a function that heeds its context ends with the view's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ended := 0
			s := holding(t, answering("a", "a", func(d *tool.Tool) {
				d.Enabled = func(ctx context.Context, _ tool.Caller) (bool, error) {
					<-ctx.Done()
					ended++
					return false, ctx.Err()
				}
			})).Session(tool.Caller{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			s.View(ctx)
			if took := time.Since(began); took != time.Second || ended != 1 {
				t.Errorf("the view took %s, want 1 s; %d functions have ended, want 1", took, ended)
			}
		})
	})
	t.Run("T7 what was asked for before a refresh does not count after it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			n := new(atomic.Int32)
			s := holding(t, changing("a", func(tool.Caller) (string, error) {
				mine := n.Add(1)
				if mine == 1 {
					wait(stop)
				}
				return fmt.Sprintf("Asked for %d times.", mine), nil
			}, nil)).Session(tool.Caller{})
			go s.View(t.Context())
			synctest.Wait()
			done(t, s.Refresh(t.Context()))
			const want = "a: Asked for 2 times."
			if got := described(s.View(t.Context())); got != want {
				t.Errorf("after it: %s, want %s", got, want)
			}
			close(stop)
			synctest.Wait()
			if got := described(s.View(t.Context())); got != want {
				t.Errorf("when the first answer has come: %s, want %s", got, want)
			}
		})
	})
	t.Run("T7 a view that was cut short costs other agents nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			defer close(stop)
			rt := holding(t, answering("a", "a", func(d *tool.Tool) {
				d.Enabled = func(_ context.Context, c tool.Caller) (bool, error) {
					if c.Agent == "slow" {
						wait(stop)
					}
					return true, nil
				}
			}))
			quick := rt.Session(tool.Caller{Session: "s", Agent: "quick"})
			before := definitions(t, quick.View(t.Context()))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			wantNames(t, rt.Session(tool.Caller{Session: "s", Agent: "slow"}).View(ctx))
			if now := definitions(t, quick.View(t.Context())); start(now) != start(before) {
				t.Error("the definitions of another agent were written anew")
			}
		})
	})
}

func TestArrival(t *testing.T) {
	t.Parallel()
	type parts struct {
		turn            *ferrule.Turn
		inbox           *policy.Memory
		validated, runs *atomic.Int32
		letGo           func()
	}
	begin := func(t *testing.T, rt *ferrule.Runtime, second ...func(*tool.Tool)) parts {
		p := parts{inbox: new(policy.Memory), validated: new(atomic.Int32), runs: new(atomic.Int32)}
		stop := make(chan struct{})
		p.letGo = sync.OnceFunc(func() { close(stop) })
		t.Cleanup(p.letGo)
		rt.Inbox = p.inbox
		first := answering("first", "first", func(d *tool.Tool) {
			d.Approval = tool.AskNever
			d.Run = func(context.Context, tool.Args) (tool.Result, error) {
				<-stop
				return tool.Result{}, nil
			}
		})
		change := append([]func(*tool.Tool){func(d *tool.Tool) {
			d.Validate = func(context.Context, tool.Args) (json.RawMessage, error) {
				p.validated.Add(1)
				return nil, nil
			}
			d.Run = func(context.Context, tool.Args) (tool.Result, error) {
				p.runs.Add(1)
				return tool.Result{}, nil
			}
		}}, second...)
		done(t, rt.Add(first, answering("second", "", change...)))
		p.turn = viewOf(t, rt).Begin(t.Context(), ferrule.TurnOptions{})
		p.turn.Add(tool.Call{Name: "first"})
		synctest.Wait()
		return p
	}
	pending := func(t *testing.T, p parts) []policy.Question {
		t.Helper()
		synctest.Wait()
		list, err := p.inbox.Pending(t.Context())
		done(t, err)
		return list
	}
	says := func(v tool.Verdict) policy.Policy {
		return policy.Func(func(r *tool.Request) tool.Decision {
			if r.Name == "first" {
				return tool.Decision{Verdict: tool.Silent}
			}
			return tool.Decision{Verdict: v}
		})
	}
	t.Run("L9 on arrival: name, schema, claims and rules, and nothing that is not pure", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen []tool.Claims
			rt := &ferrule.Runtime{Guard: unguarded(), Policy: policy.Func(func(r *tool.Request) tool.Decision {
				if r.Name == "second" {
					seen = append(seen, r.Claims)
				}
				return tool.Decision{Verdict: tool.Allow}
			})}
			p := begin(t, rt, func(d *tool.Tool) {
				d.ClaimsOf = func(tool.Args) (tool.Claims, error) { return tool.Claims{Local: true}, nil }
			})
			p.turn.Add(tool.Call{Name: "second"})
			if len(seen) != 1 || !seen[0].Local {
				t.Errorf("the rules saw %+v, want the call with its claims", seen)
			}
			synctest.Wait()
			if p.validated.Load() != 0 || p.runs.Load() != 0 {
				t.Errorf("validated %d times, ran %d times, before its turn", p.validated.Load(), p.runs.Load())
			}
			p.letGo()
			if res := p.turn.Wait(); res[1].Err != nil || p.validated.Load() != 1 || p.runs.Load() != 1 {
				t.Errorf("result = %v, validated %d times, ran %d times", res[1].Err, p.validated.Load(), p.runs.Load())
			}
		})
	})
	for _, tt := range []struct {
		name  string
		host  func(*ferrule.Runtime)
		tool  func(*tool.Tool)
		early bool
	}{
		{"L9 the rules ask: on arrival", func(rt *ferrule.Runtime) { rt.Policy = says(tool.Ask) }, nil, true},
		{"L9 all are silent and nobody could allow it: on arrival", nil, nil, true},
		{"L9 its tool always asks: on arrival", func(rt *ferrule.Runtime) { rt.Policy = says(tool.Allow) }, func(d *tool.Tool) { d.Approval = tool.AskAlways }, true},
		{"L9 the rules ask, whatever the host will say: on arrival", func(rt *ferrule.Runtime) {
			rt.Policy = says(tool.Ask)
			rt.Decide = func(context.Context, *tool.Request) (tool.Decision, error) {
				return tool.Decision{Verdict: tool.Allow}, nil
			}
		}, nil, true},
		{"L9 the host may allow it: when it is ready", func(rt *ferrule.Runtime) {
			rt.Decide = func(context.Context, *tool.Request) (tool.Decision, error) {
				return tool.Decision{Verdict: tool.Silent}, nil
			}
		}, nil, false},
		{"L9 only its tool may ask: when it is ready", func(rt *ferrule.Runtime) { rt.Policy = says(tool.Allow) }, func(d *tool.Tool) {
			d.AskIf = func(context.Context, tool.Args) (bool, error) { return true, nil }
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := new(ferrule.Runtime)
				if tt.host != nil {
					tt.host(rt)
				}
				var change []func(*tool.Tool)
				if tt.tool != nil {
					change = append(change, tt.tool)
				}
				p := begin(t, rt, change...)
				p.turn.Add(tool.Call{Name: "second"})
				early := pending(t, p)
				switch {
				case tt.early && (len(early) != 1 || early[0].Note != "earlier calls have not run yet"):
					t.Errorf("questions = %+v, want one that says that earlier calls have not run", early)
				case !tt.early && len(early) != 0:
					t.Errorf("questions = %+v, want none yet", early)
				}
				p.letGo()
				ready := pending(t, p)
				if len(ready) != 1 || tt.early && len(early) == 1 && ready[0].ID != early[0].ID || !tt.early && ready[0].Note != "" {
					t.Fatalf("when it is ready: questions = %+v, want one, asked once", ready)
				}
				done(t, p.inbox.Answer(t.Context(), ready[0].ID, policy.Answer{Allow: true}))
				if res := p.turn.Wait(); res[1].Err != nil || p.runs.Load() != 1 {
					t.Errorf("result = %v, ran %d times", res[1].Err, p.runs.Load())
				}
			})
		})
	}
	t.Run("L9 what has other input when it is ready is asked for again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			rt := &ferrule.Runtime{Hooks: []ferrule.Hook{{Name: "change", Input: func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
				if r.Name == "first" {
					return ferrule.Change{}, nil
				}
				return ferrule.Change{Input: json.RawMessage(`{"n":2}`)}, nil
			}}}}
			p := begin(t, rt)
			p.turn.Add(tool.Call{Name: "second", Input: json.RawMessage(`{"n":1}`)})
			early := pending(t, p)
			if len(early) != 1 || early[0].Input != `{"n":1}` {
				t.Fatalf("questions = %+v", early)
			}
			done(t, p.inbox.Answer(t.Context(), early[0].ID, policy.Answer{Allow: true}))
			p.letGo()
			again := pending(t, p)
			if p.runs.Load() != 0 || len(again) != 1 || again[0].Input != `{"n":2}` {
				t.Fatalf("ran %d times, questions = %+v, want one about the new input", p.runs.Load(), again)
			}
			done(t, p.inbox.Answer(t.Context(), again[0].ID, policy.Answer{Allow: true}))
			if res := p.turn.Wait(); res[1].Err != nil || p.runs.Load() != 1 {
				t.Errorf("result = %v, ran %d times", res[1].Err, p.runs.Load())
			}
		})
	})
	t.Run("L9 what has another preview when it is ready is asked for again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var state atomic.Value
			state.Store("before")
			p := begin(t, new(ferrule.Runtime), func(d *tool.Tool) {
				d.Preview = func(context.Context, tool.Args) (string, error) { return "would change " + state.Load().(string), nil }
			})
			p.turn.Add(tool.Call{Name: "second"})
			early := pending(t, p)
			if len(early) != 1 || early[0].Preview != "would change before" {
				t.Fatalf("questions = %+v", early)
			}
			done(t, p.inbox.Answer(t.Context(), early[0].ID, policy.Answer{Allow: true}))
			state.Store("after")
			p.letGo()
			again := pending(t, p)
			if p.runs.Load() != 0 || len(again) != 1 || again[0].Preview != "would change after" {
				t.Fatalf("ran %d times, questions = %+v, want one about what it would do now", p.runs.Load(), again)
			}
			done(t, p.inbox.Answer(t.Context(), again[0].ID, policy.Answer{}))
			if res := p.turn.Wait(); res[1].Err == nil || res[1].Err.Kind != tool.Rejected {
				t.Errorf("result = %v", res[1].Err)
			}
		})
	})
	t.Run("L9 a waiting call holds no slot: later ones that do not conflict go on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			inbox := new(policy.Memory)
			rt := &ferrule.Runtime{Inbox: inbox, Limit: 1}
			asks := func(d *tool.Tool) { d.Approval = tool.AskAlways }
			ran := make(map[string]bool)
			run := func(d *tool.Tool) {
				name := d.Name
				d.Run = func(context.Context, tool.Args) (tool.Result, error) {
					ran[name] = true
					return tool.Result{}, nil
				}
			}
			touch := func(file string) func(*tool.Tool) {
				return claiming(tool.Claims{Local: true, Touches: []tool.Access{{Resource: "file:/" + file, Write: true}}})
			}
			done(t, rt.Add(
				answering("waits", "", asks, run, touch("a")),
				answering("behind", "", run, touch("a"), func(d *tool.Tool) { d.Approval = tool.AskNever }),
				answering("beside", "", run, touch("b"), func(d *tool.Tool) { d.Approval = tool.AskNever }),
			))
			turn := viewOf(t, rt).Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(tool.Call{Name: "waits"}, tool.Call{Name: "behind"}, tool.Call{Name: "beside"})
			synctest.Wait()
			if !reflect.DeepEqual(ran, map[string]bool{"beside": true}) {
				t.Errorf("ran %v while one waits, want beside", ran)
			}
			list, err := inbox.Pending(t.Context())
			if err != nil || len(list) != 1 || list[0].Note != "" {
				t.Fatalf("questions = %+v, %v, want one without a remark: nothing stands before it", list, err)
			}
			done(t, inbox.Answer(t.Context(), list[0].ID, policy.Answer{Allow: true}))
			for _, res := range turn.Wait() {
				if res.Err != nil {
					t.Error(res.Err)
				}
			}
			if len(ran) != 3 {
				t.Errorf("ran %v, want all", ran)
			}
		})
	})
}

func TestWhatACallCarries(t *testing.T) {
	t.Parallel()
	t.Run("Words: a tool sees whose call it is, with both ids and the arguments as received", func(t *testing.T) {
		var got tool.Request
		rt := holding(t, answering("a", "", alias("old"), func(d *tool.Tool) {
			d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				got = tool.From(ctx).Request()
				return tool.Result{}, nil
			}
		}))
		caller := tool.Caller{Session: "s", Client: "c", Tenant: "t", Agent: "x", Run: "r", Attended: true, Prompt: "tea", Values: map[string]any{"k": 1}}
		v := rt.Session(caller).View(t.Context())
		res := v.Do(t.Context(), tool.Call{Name: "nobody"}, tool.Call{ID: "call_1", Name: "old", Input: json.RawMessage(" {} ")})
		caller.Principal = "local" // the default
		if !reflect.DeepEqual(got.Caller, caller) {
			t.Errorf("caller = %+v, want %+v", got.Caller, caller)
		}
		if got.CallID != "call_1" || got.ID == "" || got.ID != res[1].ID || got.Turn != 1 || got.Index != 1 || got.Name != "a" || got.CalledAs != "old" || got.Tool.Name != "a" || got.Args.Received() != " {} " {
			t.Errorf("request = %+v", got)
		}
	})
	t.Run("Words: ids are unique, whatever the provider's are", func(t *testing.T) {
		rt := holding(t, answering("a", "a"))
		seen := make(map[string]bool)
		for range 3 {
			for _, s := range []*ferrule.Session{rt.Session(tool.Caller{Session: "s"}), rt.Session(tool.Caller{})} {
				for _, res := range s.View(t.Context()).Do(t.Context(), tool.Call{ID: "x", Name: "a"}, tool.Call{ID: "x", Name: "a"}, tool.Call{Name: "nobody"}) {
					if res.ID == "" || seen[res.ID] {
						t.Errorf("the id %q is empty or was there before", res.ID)
					}
					seen[res.ID] = true
				}
			}
		}
	})
}

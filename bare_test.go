package ferrule_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestBareNamesInRules(t *testing.T) {
	t.Parallel()
	allowing := func(text string) policy.Policy {
		r, err := policy.ParseRule(text, "")
		if err != nil {
			t.Fatal(err)
		}
		return policy.Func(func(q *tool.Request) tool.Decision {
			if r.Covers(q) {
				return tool.Decision{Verdict: tool.Allow}
			}
			return tool.Decision{Verdict: tool.Deny}
		})
	}
	for _, tt := range []struct {
		rule, allow, tool string
		call              string
		runs              bool
	}{
		{"T6 a rule names a bare tool as models do", "search", "search", "search", true},
		{"T6 a rule with the source in front does not", "box__search", "search", "search", false},
		{"T6 a rule for another source is not fooled by a name like its tools'", "github__*", "github__search", "box__github__search", false},
		{"T6 nor by one that becomes like theirs", "github__*", "github._search", tool.WireName("box", "github._search"), false},
		{"T6 nor is one that goes by the own name", "github__db.drop", "github__db.drop", tool.WireName("box", "github__db.drop"), false},
		{"T6 the own name of a bare tool has no source", "db.drop", "db.drop", tool.WireName("", "db.drop"), true},
		{"T6 all of the source", "source:box", "search", "search", true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			rt := &ferrule.Runtime{Guard: unguarded(), Policy: allowing(tt.allow)}
			done(t, bare("box", tool.MCP, tt.tool).into(rt))
			res := rt.Session(tool.Caller{}).Call(t.Context(), tt.call, "{}")
			if tt.runs {
				if got := res.String(); res.Err != nil || got != "box/"+tt.tool {
					t.Errorf("result = %q, %v, want that of the tool", got, res.Err)
				}
			} else {
				wantFailure(t, res, tool.Denied, "")
			}
		})
	}
}

func TestOffered(t *testing.T) {
	t.Run("R10 all that is known of what is offered, in the order of the definitions", func(t *testing.T) {
		rt := lenient()
		done(t, has("b", tool.MCP, "x").into(rt))
		done(t, bare("a", tool.MCP, "y").into(rt))
		done(t, rt.Add(answering("own", "1"), answering("later", "2", deferredTool)))
		s := rt.Session(tool.Caller{})
		s.Call(t.Context(), "later", "{}") // loads it
		v := s.View(t.Context())
		var names []string
		for r := range v.Offered() {
			names = append(names, r.Name)
			if want, _ := rt.Find(r.Name); fmt.Sprint(r) != fmt.Sprint(want) {
				t.Errorf("got  %v\nwant %v", r, want)
			}
		}
		if want := v.Names(); !slices.Equal(names, want) || len(want) != 4 {
			t.Errorf("got %q, want %q", names, want)
		}
		for range v.Offered() {
			break // who leaves early is not called again
		}
	})
}

func TestOfferedCosts(t *testing.T) {
	uncounted(t)
	t.Run("R9 to ask again for 1,000 costs next to nothing", func(t *testing.T) {
		rt := lenient()
		for i := range 1000 {
			done(t, rt.Add(answering(fmt.Sprintf("tool_%d", i), "")))
		}
		v := rt.Session(tool.Caller{}).View(t.Context())
		n := 0
		count := func() {
			for range v.Offered() {
				n++
			}
		}
		count()
		if a := testing.AllocsPerRun(5, count); a > 2 || n != 7000 {
			t.Errorf("%g allocations for %d tools, want at most 2", a, n)
		}
	})
}

package ferrule_test

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// listed is a policy that says one word of each tool, whatever the arguments;
// those that are not listed it decides by the call, and allows.
type listed struct {
	words         map[string]tool.Verdict
	asked, stated atomic.Int64
	broken        bool
}

func (l *listed) Decide(r *tool.Request) tool.Decision {
	l.asked.Add(1)
	if v, ok := l.words[r.Name]; ok {
		return tool.Decision{Verdict: v, Reason: "listed", Message: "Not this one."}
	}
	return tool.Decision{Verdict: tool.Allow}
}

func (l *listed) Fixed(r *tool.Request) (tool.Decision, bool) {
	if l.stated.Add(1); l.broken {
		panic("broken")
	}
	v, ok := l.words[r.Name]
	return tool.Decision{Verdict: v, Reason: "listed", Message: "Not this one."}, ok
}

func TestHiddenByPolicy(t *testing.T) {
	t.Parallel()
	rules := func() *listed {
		return &listed{words: map[string]tool.Verdict{"no": tool.Deny, "yes": tool.Allow, "maybe": tool.Ask}}
	}
	no := writerTool("no")
	no.Aliases = []string{"nay"}
	tools := []tool.Tool{no, writerTool("yes"), writerTool("maybe"), writerTool("other")}

	t.Run("R2 what policy denies for every input is not offered", func(t *testing.T) {
		v := viewWith(t, &ferrule.Runtime{Policy: rules()}, tools...)
		got := slices.Sorted(slices.Values(v.Names()))
		if !slices.Equal(got, []string{"maybe", "other", "yes"}) {
			t.Errorf("offered: %q, want all but no", got)
		}
		text, err := v.Definitions(ferrule.JSON{})
		if err != nil || strings.Contains(string(text), `"no"`) || !strings.Contains(string(text), `"maybe"`) {
			t.Errorf("definitions: %s, %v", text, err)
		}
	})
	t.Run("R6 hidden by policy is denied, by its alias too, and the rule says why", func(t *testing.T) {
		for _, name := range []string{"no", "nay"} {
			rt := &ferrule.Runtime{Policy: rules()}
			res := viewWith(t, rt, tools...).Do(t.Context(), tool.Call{Name: name, Input: json.RawMessage("not JSON")})[0]
			wantFailure(t, res, tool.Denied, "Not this one.")
			if !strings.Contains(res.Err.Detail, "listed") {
				t.Errorf("detail = %q, want the reason of the rule", res.Err.Detail)
			}
		}
	})
	t.Run("R6 hidden by policy is not among the nearest names", func(t *testing.T) {
		res := viewWith(t, &ferrule.Runtime{Policy: rules()}, tools...).Do(t.Context(), tool.Call{Name: "noo"})[0]
		if wantFailure(t, res, tool.UnknownTool, ""); strings.Contains(res.Err.Text, "no,") || strings.HasSuffix(res.Err.Text, " no") {
			t.Errorf("text = %q", res.Err.Text)
		}
	})
	t.Run("R6 a fallback does not supply what policy hides", func(t *testing.T) {
		rt := &ferrule.Runtime{Policy: rules()}
		rt.SetFallback(func(context.Context, tool.Caller, string) (*tool.Tool, error) {
			return checkedTool(t, readerTool("spare")), nil
		})
		wantFailure(t, viewWith(t, rt, tools...).Do(t.Context(), tool.Call{Name: "no"})[0], tool.Denied, "Not this one.")
	})
	t.Run("R6 hidden by policy is denied in a stream too, by name and by alias", func(t *testing.T) {
		d, runs := counted(no)
		var kinds []string
		v := viewWith(t, &ferrule.Runtime{Policy: rules()}, append([]tool.Tool{d}, tools[1:]...)...)
		for res, err := range v.Stream(t.Context(), spoken(0, "no", "yes", "nay", "other")) {
			if err != nil {
				t.Fatal(err)
			}
			if kinds = append(kinds, cmp.Or(string(kindOf(res)), "ran")); res.Err != nil && res.Err.Text != "Not this one." {
				t.Errorf("text = %q", res.Err.Text)
			}
		}
		if got := strings.Join(kinds, " "); got != "denied ran denied ran" || runs.Load() != 0 {
			t.Errorf("got %s; the hidden one ran %d times", got, runs.Load())
		}
	})
	t.Run("R6 a tool with an alias that is the name of a hidden one does not run in its place", func(t *testing.T) {
		local, runs := counted(readerTool("local"))
		local.Aliases = []string{"srv__no", "spare"}
		rt := &ferrule.Runtime{Policy: &listed{words: map[string]tool.Verdict{"srv__no": tool.Deny}}}
		if err := rt.Set(tool.Source{Name: "srv", Trust: tool.MCP}, checkedTool(t, writerTool("no"))); err != nil {
			t.Fatal(err)
		}
		v := viewWith(t, rt, local)
		res := v.Do(t.Context(), tool.Call{Name: "srv__no"}, tool.Call{Name: "spare"})
		if wantFailure(t, res[0], tool.Denied, "Not this one."); res[1].Err != nil || runs.Load() != 1 {
			t.Errorf("by its other alias: %v; it ran %d times, want once", res[1].Err, runs.Load())
		}
	})
	t.Run("R2 what a filter leaves out is not there, hidden or not", func(t *testing.T) {
		v := viewWith(t, &ferrule.Runtime{Policy: rules()}, tools...).Only(ferrule.Filter{Names: []string{"yes"}})
		wantFailure(t, v.Do(t.Context(), tool.Call{Name: "no"})[0], tool.UnknownTool, "")
	})
	t.Run("P1 what does not depend on the arguments is decided once", func(t *testing.T) {
		r := rules()
		v := viewWith(t, &ferrule.Runtime{Policy: r}, tools...)
		for range 3 {
			if res := v.Do(t.Context(), tool.Call{Name: "yes", Input: json.RawMessage(textArg("a"))})[0]; res.Err != nil {
				t.Fatal(res.Err)
			}
		}
		if n := r.asked.Load(); n != 0 {
			t.Errorf("the rules were asked %d times about calls, want 0", n)
		}
		stated := r.stated.Load()
		v = ferrule.SessionOf(v).View(t.Context())
		if v.Do(t.Context(), tool.Call{Name: "other"}); r.asked.Load() == 0 || r.stated.Load() != stated {
			t.Errorf("asked about a call that depends on its arguments %d times, and about tools once more %d times", r.asked.Load(), r.stated.Load()-stated)
		}
	})
	t.Run("P1 rules that fail beforehand are asked about each call", func(t *testing.T) {
		r := rules()
		r.broken = true
		v := viewWith(t, &ferrule.Runtime{Policy: r}, tools...)
		if res := v.Do(t.Context(), tool.Call{Name: "yes"})[0]; res.Err != nil {
			t.Error(res.Err)
		}
		wantFailure(t, v.Do(t.Context(), tool.Call{Name: "no"})[0], tool.Denied, "Not this one.")
	})
	t.Run("U1 that it was denied is on the record, with its tool", func(t *testing.T) {
		var rec recorder
		var named bool
		rt := &ferrule.Runtime{Policy: rules(), Observe: func(e audit.Event) {
			if rec.observe(e); e.Kind == audit.Decided && e.Request.Tool != nil && e.Request.Tool.Name == "no" {
				named = true
			}
		}}
		viewWith(t, rt, tools...).Do(t.Context(), tool.Call{ID: "call_1", Name: "no"})
		if got := rec.kinds("call_1"); got != "requested decided ended" || !named {
			t.Errorf("events: %s; the tool is named: %v", got, named)
		}
	})
}

// What holds beforehand may depend on the caller and the mode, so these have
// views of their own.
type byCaller struct{}

func (byCaller) Decide(r *tool.Request) tool.Decision {
	if r.Caller.Agent == "clerk" || policy.Mode(r.Mode) == policy.ModeAuto {
		return tool.Decision{Verdict: tool.Allow}
	}
	return tool.Decision{Verdict: tool.Deny, Message: "Clerks only."}
}

func (p byCaller) Fixed(r *tool.Request) (tool.Decision, bool) { return p.Decide(r), true }

// byValues denies by what the host says of a caller.
type byValues struct{}

func (byValues) Decide(r *tool.Request) tool.Decision {
	if blocked, _ := r.Caller.Values["blocked"].(bool); blocked {
		return tool.Decision{Reason: "blocked"}
	}
	return tool.Decision{Verdict: tool.Allow}
}

func (p byValues) Fixed(r *tool.Request) (tool.Decision, bool) { return p.Decide(r), true }

func TestStandingAfterChange(t *testing.T) {
	t.Parallel()
	rules := &listed{words: map[string]tool.Verdict{"s__no": tool.Deny, "s__yes": tool.Allow, "s__late": tool.Deny}}
	rt := &ferrule.Runtime{Policy: rules}
	one := func(name string) *tool.Tool { return checkedTool(t, writerTool(name)) }
	source, had := tool.Source{Name: "s", Trust: tool.MCP}, []*tool.Tool{one("no"), one("yes"), one("other")}
	session := rt.Session(tool.Caller{Session: "s"})
	for _, step := range []struct {
		name   string
		tools  []*tool.Tool
		asked  int64
		denied []string
	}{
		{"R2 all are asked about", had, 3, []string{"s__no"}},
		{"R2 then only those that are new", append(slices.Clone(had), one("late"), one("more")), 2, []string{"s__late", "s__no"}},
		{"R2 and none where some are gone", had[1:], 0, nil},
		{"R2 but those that come back", had, 1, []string{"s__no"}},
	} {
		if err := rt.Set(source, step.tools...); err != nil {
			t.Fatal(err)
		}
		before := rules.stated.Load()
		names := session.View(t.Context()).Names()
		if n := rules.stated.Load() - before; n != step.asked {
			t.Errorf("%s: asked %d times, want %d", step.name, n, step.asked)
		}
		for _, d := range step.tools {
			wire := "s__" + d.Name
			if slices.Contains(names, wire) == slices.Contains(step.denied, wire) {
				t.Errorf("%s: offered %q, want all but %q", step.name, names, step.denied)
			}
		}
	}
}

func TestHiddenFromSome(t *testing.T) {
	t.Parallel()
	t.Run("R2 agents of one session see what policy lets each", func(t *testing.T) {
		rt := &ferrule.Runtime{Policy: byCaller{}}
		viewWith(t, rt, readerTool("books"))
		for agent, want := range map[string]int{"clerk": 1, "guest": 0} {
			for range 2 {
				if got := rt.Session(tool.Caller{Session: "s", Agent: agent}).View(t.Context()).Names(); len(got) != want {
					t.Errorf("%s is offered %q, want %d tools", agent, got, want)
				}
			}
		}
	})
	t.Run("P2 what holds beforehand may depend on the values of the host", func(t *testing.T) {
		d, runs := counted(writerTool("books"))
		rt := &ferrule.Runtime{Policy: byValues{}}
		viewWith(t, rt, d)
		for _, blocked := range []bool{true, false, true} {
			s := rt.Session(tool.Caller{Session: "s", Values: map[string]any{"blocked": blocked}})
			before := runs.Load()
			res := s.Call(t.Context(), "books", "{}")
			if ran := runs.Load() > before; ran == blocked || blocked != (kindOf(res) == tool.Denied) {
				t.Errorf("blocked %v: %v, ran: %v", blocked, res.Err, ran)
			}
		}
	})
	t.Run("P10 a mode that changes within a turn counts for what is not decided yet", func(t *testing.T) {
		rt := &ferrule.Runtime{Policy: byCaller{}}
		viewWith(t, rt, readerTool("books"))
		s := rt.Session(tool.Caller{Session: "s", Agent: "clerk"})
		guest := rt.Session(tool.Caller{Session: "s", Agent: "guest"})
		if err := s.SetMode(t.Context(), policy.ModeAuto); err != nil {
			t.Fatal(err)
		}
		v := guest.View(t.Context())
		if len(v.Names()) != 1 {
			t.Fatal("in mode auto the guest is offered nothing")
		}
		if err := s.SetMode(t.Context(), policy.ModeAsk); err != nil {
			t.Fatal(err)
		}
		wantFailure(t, v.Do(t.Context(), tool.Call{Name: "books"})[0], tool.Denied, "Clerks only.")
	})
}

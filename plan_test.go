package ferrule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// planText writes a plan as the tables below do: for each call what it waits for.
func planText(plan []Planned) string {
	var all []string
	for _, p := range plan {
		var one []string
		for _, w := range p.Waits {
			one = append(one, strings.TrimSuffix(fmt.Sprintf("%d:%s", w.Call, strings.TrimPrefix(w.Resource, "file:")), ":"))
		}
		text := strings.Join(one, ",")
		if p.Err != nil {
			text += " " + string(p.Err.Kind)
		}
		if p.Asks {
			text += " asks"
		}
		all = append(all, strings.TrimSpace(text))
	}
	return strings.Join(all, " | ")
}

// doer is a tool with constant claims.
func doer(t *testing.T, name, claims string, run func(context.Context) error) *tool.Tool {
	t.Helper()
	made, err := tool.New(tool.Info{Name: name, Description: "Do it.", Claims: claimsFrom(claims)}, func(ctx context.Context, _ struct{}) (string, error) {
		return "", run(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestViewPlan(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, claims, want string }{
		{"D1 reads run side by side", "read-only; read-only", " | "},
		{"D1 what claims nothing runs alone", "read-only; read-only; nothing; read-only", " |  | 0,1 | 2"},
		{"D2 writes of different files run side by side", "!/a; !/b", " | "},
		{"D2 a read waits for the write of what it reads", "!/a; /a; /b", " | 0:/a | "},
		{"D2 a folder covers what is in it", "!/a/b; !/a; /a/c", " | 0:/a/b | 1:/a/c"},
		{"D1 who waits for a call that waits for another does not wait for both", "!/a; !/a; !/a", " | 0:/a | 1:/a"},
		{"D1 many calls that say nothing and one that writes", "parallel; parallel; parallel; !/a", " |  |  | 0,1,2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := &Runtime{Policy: policy.AllowOwn{}}
			var calls []tool.Call
			for i, claims := range strings.Split(tt.claims, "; ") {
				name := fmt.Sprintf("do%d", i)
				if err := rt.Add(doer(t, name, claims, func(context.Context) error { return nil })); err != nil {
					t.Fatal(err)
				}
				calls = append(calls, tool.Call{Name: name})
			}
			session := rt.Session(tool.Caller{})
			if got := planText(session.View(t.Context()).Plan(t.Context(), calls...)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("D4 what will not run is said, runs nothing and leaves no event", func(t *testing.T) {
		t.Parallel()
		var events []audit.Event
		rt := &Runtime{Inbox: new(policy.Memory), Policy: policy.Func(func(r *tool.Request) tool.Decision {
			if r.Name == "no" {
				return tool.Decision{Verdict: tool.Deny}
			}
			return tool.Decision{Verdict: tool.Silent}
		}), Observe: func(e audit.Event) { events = append(events, e) }}
		run := func(context.Context) error { t.Error("it ran"); return nil }
		if err := rt.Add(doer(t, "no", "nothing", run), doer(t, "may", "!/a", run)); err != nil {
			t.Fatal(err)
		}
		view := rt.Session(tool.Caller{}).View(t.Context())
		before := len(events)
		got := planText(view.Plan(t.Context(), tool.Call{Name: "may"}, tool.Call{Name: "no"}, tool.Call{Name: "may"}, tool.Call{Name: "nobody"}, tool.Call{Name: "may", Input: []byte(`[1]`)}))
		if want := "asks | denied | 0:/a asks | 0,2 unknown_tool | 3 invalid_input"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if len(events) != before {
			t.Errorf("got %d events, want none", len(events)-before)
		}
	})
	t.Run("D4 claims that never come are none", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			stuck := make(chan struct{})
			slow, err := tool.Spec[struct{}, string]{
				Info:     tool.Info{Name: "slow", Description: "Never say."},
				ClaimsOf: func(struct{}) tool.Claims { <-stuck; return tool.Claims{ReadOnly: true} },
				Run:      func(context.Context, struct{}) (string, error) { return "", nil },
			}.Tool()
			if err != nil {
				t.Fatal(err)
			}
			rt := &Runtime{Policy: policy.AllowOwn{}}
			if err := rt.Add(slow); err != nil {
				t.Fatal(err)
			}
			plan := rt.Session(tool.Caller{}).View(t.Context()).Plan(t.Context(), tool.Call{Name: "slow"}, tool.Call{Name: "slow"})
			close(stuck)
			synctest.Wait()
			if got := planText(plan); got != " | 0" {
				t.Errorf("got %q, want that the second waits", got)
			}
		})
	})
}

// TestViewPlanKinds compares why calls will not run by the plan with what becomes of
// them, and looks for traces of planning.
func TestViewPlanKinds(t *testing.T) {
	t.Parallel()
	log := new(audit.Memory)
	rt := &Runtime{Inbox: new(policy.Memory), Log: log, Rates: []policy.Rate{{Calls: 3}}, Policy: policy.Func(func(r *tool.Request) tool.Decision {
		verdict := map[string]tool.Verdict{"may": tool.Allow, "late": tool.Allow, "no": tool.Deny, "late_no": tool.Deny}[r.Name]
		return tool.Decision{Verdict: verdict}
	})}
	for _, info := range []tool.Info{
		{Name: "may", Aliases: []string{"old"}},
		{Name: "asked"},
		{Name: "no"},
		{Name: "late", Deferred: true},
		{Name: "late_no", Deferred: true},
		{Name: "person", NeedsUser: true},
	} {
		info.Description = "Do it."
		made, err := tool.New(info, func(context.Context, struct{}) (string, error) { return "", nil })
		if err == nil {
			err = rt.Add(made)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	bad := []byte("[1]")
	calls := []tool.Call{
		{Name: "may"},
		{Name: "old"},
		{Name: "may", Input: bad},
		{Name: "no"},
		{Name: "no", Input: bad},
		{Name: "late"},
		{Name: "late", Input: bad},
		{Name: "late_no"},
		{Name: "late_no", Input: bad},
		{Name: "person"},
		{Name: "nobody"},
		{Name: ""},
		{Name: "may", Input: []byte("{")},
		{Name: "asked"},
	}
	session := rt.Session(tool.Caller{})
	view := session.View(t.Context())
	rows := func() (n int) {
		for range log.Rows() {
			n++
		}
		return n
	}
	before := rows()
	var plan []Planned
	for range 10 { // nothing of it is counted, by the rates or as a loop
		plan = view.Plan(t.Context(), calls...)
	}
	if after := rows(); after != before {
		t.Errorf("planning left %d rows on the record", after-before)
	}
	turn := view.Begin(t.Context(), TurnOptions{HandBack: true})
	if turn.Number() != 1 {
		t.Errorf("got turn %d, want the first", turn.Number())
	}
	turn.Add(calls...)
	for i, res := range turn.Wait() {
		kind := func(e *tool.Error) tool.Kind {
			if e == nil {
				return ""
			}
			return e.Kind
		}
		t.Run(fmt.Sprintf("D4 call %d of %q ends as the plan says", i, calls[i].Name), func(t *testing.T) {
			want := kind(plan[i].Err)
			if plan[i].Asks {
				want = tool.Suspended
			}
			if got := kind(res.Err); got != want {
				t.Errorf("input %s: got %q, want %q (%s)", calls[i].Input, got, want, res)
			}
		})
	}
}

// TestViewPlanHolds runs random calls and looks, each time that one has ended, whether
// just those run whose waits are over by the plan.
func TestViewPlanHolds(t *testing.T) {
	t.Parallel()
	t.Run("D1 what the plan says is what happens", func(t *testing.T) {
		t.Parallel()
		kinds := []string{"nothing", "parallel", "read-only", "-", "/a", "!/a", "/a/b", "!/a/b", "!/c", "+ /a", "+!/a/b", "!/a !/c", "/a/b !/d", "table:x", "!table:x"}
		for seed := range uint64(200) {
			synctest.Test(t, func(t *testing.T) { holds(t, kinds, rand.New(rand.NewPCG(seed, 1))) })
		}
	})
}

func holds(t *testing.T, kinds []string, random *rand.Rand) {
	t.Helper()
	rt := &Runtime{Policy: policy.AllowOwn{}, Limit: 100}
	n := 2 + random.IntN(7)
	running, ended := make([]bool, n), make([]bool, n)
	release := make([]chan struct{}, n)
	calls := make([]tool.Call, n)
	var claims []string
	for i := range n {
		claims = append(claims, kinds[random.IntN(len(kinds))])
		release[i], calls[i].Name = make(chan struct{}), fmt.Sprintf("do%d", i)
		if err := rt.Add(doer(t, calls[i].Name, claims[i], func(context.Context) error {
			running[i] = true
			<-release[i]
			return nil
		})); err != nil {
			t.Fatal(err)
		}
	}
	session := rt.Session(tool.Caller{})
	view := session.View(t.Context())
	plan := view.Plan(t.Context(), calls...)
	done := make(chan []tool.Result, 1)
	go func() { done <- view.Do(t.Context(), calls...) }()
	for range n {
		synctest.Wait()
		var now []int
		for i, p := range plan {
			may := !slices.ContainsFunc(p.Waits, func(w Wait) bool { return !ended[w.Call] })
			if running[i] != may {
				t.Errorf("%s: plan %s: call %d: got running %v, want %v", strings.Join(claims, "; "), planText(plan), i, running[i], may)
			}
			if running[i] && !ended[i] {
				now = append(now, i)
			}
		}
		if len(now) == 0 {
			t.Fatalf("%s: nothing runs", strings.Join(claims, "; "))
		}
		one := now[random.IntN(len(now))]
		ended[one] = true
		close(release[one])
	}
	if results := <-done; len(results) != n {
		t.Errorf("got %d results, want %d", len(results), n)
	}
	if err := session.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestPlannedRequest(t *testing.T) {
	t.Parallel()
	rt := &Runtime{Inbox: new(policy.Memory)}
	made, err := tool.Tool{
		Info:  tool.Info{Name: "put", Description: "Put it.", Input: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		Facts: func(tool.Args) (tool.Facts, error) { return tool.Facts{Paths: []string{"/work/a"}}, nil },
		Run:   func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil },
	}.Check()
	if err == nil {
		err = rt.Add(made)
	}
	if err != nil {
		t.Fatal(err)
	}
	plan := rt.Session(tool.Caller{}).View(t.Context()).Plan(t.Context(),
		tool.Call{Name: "put", Input: []byte(`{"path":"a"}`)}, tool.Call{Name: "put", Input: []byte(`{"other":1}`)}, tool.Call{Name: "none"})
	t.Run("D4 a call that is planned is shown as the rules see it", func(t *testing.T) {
		q := plan[0].Request
		if q == nil || q.Name != "put" || q.Args.Text() != `{"path":"a"}` {
			t.Fatalf("got %+v, want the call", q)
		}
		if facts, err := q.Args.Facts(); err != nil || !slices.Equal(facts.Paths, []string{"/work/a"}) {
			t.Errorf("got %+v, %v, want what it is about", facts, err)
		}
	})
	t.Run("D4 what the rules are not asked about has none", func(t *testing.T) {
		if plan[1].Request != nil || plan[2].Request != nil {
			t.Errorf("got %+v and %+v, want none", plan[1].Request, plan[2].Request)
		}
	})
}

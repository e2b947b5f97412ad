package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestIsolated(t *testing.T) {
	t.Parallel()
	text := func(rec *recorder, kind audit.Kind) string {
		for _, e := range rec.events {
			if e.Kind == kind {
				return e.Text
			}
		}
		return ""
	}
	t.Run("N2 a function that claims nothing runs in process, and the record says so", func(t *testing.T) {
		for _, tt := range []struct {
			claims tool.Claims
			level  string
			want   bool
		}{
			{tool.Claims{}, "", true},
			{tool.Claims{Local: true}, "", false},
			{tool.Claims{}, "process", false}, // it says itself how
		} {
			var rec recorder
			d := writerTool("w")
			d.Claims, d.Isolation = tt.claims, tt.level
			if res := callOne(t, &ferrule.Runtime{Policy: allowAll, Observe: rec.observe}, d, "{}"); res.Err != nil {
				t.Fatal(res.Err)
			}
			if got := strings.HasPrefix(text(&rec, audit.Started), "in-process"); got != tt.want {
				t.Errorf("claims %+v, isolation %q: started says %q", tt.claims, tt.level, text(&rec, audit.Started))
			}
		}
	})
	t.Run("N3 what was really applied is on the record", func(t *testing.T) {
		log := new(audit.Memory)
		d := doing(writerTool("sh"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			tool.From(ctx).Isolated("process: landlock 7")
			return sayText("ran"), nil
		})
		d.Isolation = "process"
		if res := callOne(t, &ferrule.Runtime{Policy: allowAll, Log: log}, d, "{}"); res.Err != nil {
			t.Fatal(res.Err)
		}
		if lines := strings.Join(linesOf(t, log), "\n"); !strings.Contains(lines, `"kind":"isolated"`) || !strings.Contains(lines, "process: landlock 7") {
			t.Errorf("on the record:\n%s", lines)
		}
	})
	t.Run("N2 a function of an untrusted skill does not run", func(t *testing.T) {
		for _, tt := range []struct {
			trust tool.Trust
			level string
			runs  int64
		}{
			{tool.SkillUntrusted, "", 0},
			{tool.SkillUntrusted, "process", 1},
			{tool.SkillTrusted, "", 1},
			{tool.MCP, "", 1}, // runs in its own process, or elsewhere
		} {
			d, runs := counted(writerTool("x"))
			d.Isolation = tt.level
			rt := &ferrule.Runtime{Policy: allowAll}
			if err := rt.Set(tool.Source{Name: "s", Trust: tt.trust}, checkedTool(t, d)); err != nil {
				t.Fatal(err)
			}
			res := rt.Session(tool.Caller{}).Call(t.Context(), "s__x", "{}")
			if tt.runs == 0 {
				wantFailure(t, res, tool.Sandbox, "")
			}
			if runs.Load() != tt.runs {
				t.Errorf("%s, isolation %q: ran %d times, want %d (%s)", tt.trust, tt.level, runs.Load(), tt.runs, res)
			}
		}
	})
	t.Run("P10 auto: what destroys runs unasked only where it is confined", func(t *testing.T) {
		for _, tt := range []struct {
			name  string
			facts func(tool.Args) (tool.Facts, error)
			trust tool.Trust
			allow bool
		}{
			{"says nothing", nil, tool.BuiltIn, false},
			{"is not confined", func(tool.Args) (tool.Facts, error) { return tool.Facts{}, nil }, tool.BuiltIn, false},
			{"is confined", func(tool.Args) (tool.Facts, error) { return tool.Facts{Confined: true}, nil }, tool.BuiltIn, true},
			{"fails", func(tool.Args) (tool.Facts, error) { return tool.Facts{Confined: true}, errBroken }, tool.BuiltIn, false},
			{"is not believed", func(tool.Args) (tool.Facts, error) { return tool.Facts{Confined: true}, nil }, tool.MCP, false},
		} {
			for _, rules := range []policy.Policy{nil, policy.Func(func(*tool.Request) tool.Decision { return tool.Decision{Verdict: tool.Silent} })} {
				d, runs := counted(writerTool("x"))
				d.Facts = tt.facts
				rt := &ferrule.Runtime{Mode: policy.ModeAuto, Policy: rules, Answer: says(policy.Answer{})}
				if err := rt.Set(tool.Source{Name: "s", Trust: tt.trust}, checkedTool(t, d)); err != nil {
					t.Fatal(err)
				}
				rt.Session(tool.Caller{}).Call(t.Context(), nameOf(t, rt), "{}")
				if got := runs.Load() == 1; got != tt.allow {
					t.Errorf("a tool that %s: ran %v, want %v", tt.name, got, tt.allow)
				}
			}
		}
	})
}

// nameOf is the name of the only tool.
func nameOf(t *testing.T, rt *ferrule.Runtime) string {
	t.Helper()
	names := rt.Session(tool.Caller{}).View(t.Context()).Names()
	if len(names) != 1 {
		t.Fatalf("tools: %q, want one", names)
	}
	return names[0]
}

// linesOf are the lines of a log.
func linesOf(t *testing.T, log *audit.Memory) []string {
	t.Helper()
	var lines []string
	for r, err := range log.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, r.Line)
	}
	return lines
}

func TestBackground(t *testing.T) {
	t.Parallel()
	t.Run("B3 the call ends at once, and an event says under which name it goes on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var rec recorder
			goesOn := doing(writerTool("sh"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				env := tool.From(ctx)
				select {
				case <-env.Background():
					env.WentOn("p1")
					return sayText("so far"), nil
				case <-ctx.Done():
					return tool.Result{}, ctx.Err()
				}
			})
			v := viewWith(t, &ferrule.Runtime{Policy: allowAll, Observe: rec.observe}, goesOn)
			turn := v.Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(tool.Call{ID: "c", Name: "sh", Input: json.RawMessage("{}")})
			synctest.Wait()
			id := rec.started()
			if turn.Background("other") || !turn.Background(id) || !turn.Background(id) {
				t.Error("a call that runs cannot be moved, or one that is none can")
			}
			res := turn.Wait()
			if got := res[0].String(); got != "so far" {
				t.Errorf("result = %q", got)
			}
			if turn.Background(id) {
				t.Error("a call that has ended was moved")
			}
			if i := slices.IndexFunc(rec.events, func(e recorded) bool { return e.Kind == audit.WentOn }); i < 0 || rec.events[i].Text != "p1" {
				t.Errorf("no event says that it went on: %v", rec.kinds("c"))
			}
		})
	})
	t.Run("B3 a call whose tool cannot is not moved", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var rec recorder
			turn := viewWith(t, &ferrule.Runtime{Policy: allowAll, Observe: rec.observe}, slowTool("slow", time.Second)).Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(tool.Call{Name: "slow", Input: json.RawMessage("{}")})
			synctest.Wait()
			if turn.Background(rec.started()) {
				t.Error("it was moved")
			}
			turn.Wait()
		})
	})
}

func TestOutsideAfterwards(t *testing.T) {
	t.Parallel()
	t.Run("B3 a call whose tool has returned is not moved", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var rec recorder
			could := doing(writerTool("sh"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				tool.From(ctx).Background()
				return sayText("done"), nil
			})
			looks := make(chan struct{})
			late := ferrule.Hook{Name: "late", Output: func(context.Context, *tool.Request, tool.Result, tool.Result) (*tool.Result, error) {
				<-looks
				return nil, nil
			}}
			turn := viewWith(t, &ferrule.Runtime{Policy: allowAll, Observe: rec.observe, Hooks: []ferrule.Hook{late}}, could).Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(tool.Call{Name: "sh", Input: json.RawMessage("{}")})
			synctest.Wait()
			if id := rec.started(); id == "" || turn.Background(id) {
				t.Errorf("call %q: it was moved, and nothing is left to go on", id)
			}
			close(looks)
			turn.Wait()
		})
	})
	t.Run("L6 who keeps what a call had beyond its end gets nothing of it", func(t *testing.T) {
		var kept *tool.Env
		d := readerTool("keep")
		d.Cooperative, d.Repeatable = true, true // so that its turn is used again
		v := viewWith(t, &ferrule.Runtime{Policy: allowAll}, doing(d, func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			kept = tool.From(ctx)
			return sayText("kept"), nil
		}))
		for range 3 {
			if res := v.Do(t.Context(), tool.Call{Name: "keep", Input: json.RawMessage("{}")}); res[0].Err != nil {
				t.Fatal(res[0].Err)
			}
			kept.Isolated("process")
			kept.WentOn("p1")
			if kept.Background() != nil || kept.AtEnd(func() { t.Error("it was done") }) {
				t.Error("a call that has ended can still leave something behind")
			}
		}
	})
}

func TestAtEnd(t *testing.T) {
	t.Parallel()
	// leaving registers what is to be done at the end of its session.
	leaving := func(f func()) tool.Tool {
		d := readerTool("leave")
		d.Repeatable = true
		return doing(d, func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			if !tool.From(ctx).AtEnd(f) {
				return tool.Result{}, errBroken
			}
			return sayText("left"), nil
		})
	}
	for name, closes := range map[string]func(*ferrule.Runtime, *ferrule.Session, context.Context) error{
		"B3 it is done when the session is closed": func(_ *ferrule.Runtime, s *ferrule.Session, ctx context.Context) error { return s.Close(ctx) },
		"B3 it is done when the runtime is closed": func(rt *ferrule.Runtime, _ *ferrule.Session, ctx context.Context) error { return rt.Close(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			done := 0
			rt := &ferrule.Runtime{}
			viewWith(t, rt, leaving(func() { done++ }))
			s := rt.Session(tool.Caller{})
			for range 2 {
				if res := s.Call(t.Context(), "leave", "{}"); res.Err != nil {
					t.Fatal(res.Err)
				}
			}
			if done != 0 {
				t.Error("it was done before the end")
			}
			if err := errors.Join(closes(rt, s, t.Context()), closes(rt, s, t.Context())); err != nil {
				t.Fatal(err)
			}
			if done != 2 {
				t.Errorf("done %d times, want 2: each once", done)
			}
		})
	}
	t.Run("B3 also when a call does not end, and one that panics leaves the rest", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			done := 0
			rt := &ferrule.Runtime{Policy: allowAll}
			viewWith(t, rt, leaving(func() { done++; panic("broken") }), slowTool("slow", time.Minute))
			s := rt.Session(tool.Caller{})
			s.Call(t.Context(), "leave", "{}")
			s.Call(t.Context(), "leave", "{}")
			over := make(chan struct{})
			go func() { defer close(over); s.Call(t.Context(), "slow", "{}") }()
			synctest.Wait()
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			if err := s.Close(ctx); err == nil || !strings.Contains(err.Error(), "slow") || !strings.Contains(err.Error(), "panic") {
				t.Errorf("close says %v", err)
			}
			if done != 2 {
				t.Errorf("done %d times, want 2", done)
			}
			<-over
		})
	})
	t.Run("B3 what does not return is not waited for, and named", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stuck := make(chan struct{})
			rt := &ferrule.Runtime{}
			viewWith(t, rt, leaving(func() { <-stuck }))
			s := rt.Session(tool.Caller{})
			s.Call(t.Context(), "leave", "{}")
			if err := s.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "has not ended within 15s") {
				t.Errorf("close says %v", err)
			}
			close(stuck)
		})
	})
	t.Run("B3 who closes the session too waits for it as well", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			rt := &ferrule.Runtime{}
			done := false
			viewWith(t, rt, leaving(func() { <-time.After(time.Second); done = true }))
			s := rt.Session(tool.Caller{})
			s.Call(t.Context(), "leave", "{}")
			first := make(chan error, 1)
			go func() { first <- s.Close(t.Context()) }()
			synctest.Wait()
			if err := rt.Close(t.Context()); err != nil || !done {
				t.Errorf("closed with %v, done %v, want that it was waited for", err, done)
			}
			if err := <-first; err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("B3 without a session nothing is begun", func(t *testing.T) {
		if res, err := leaving(func() {}).Run(t.Context(), tool.Args{}); err == nil {
			t.Errorf("it ran: %v", res)
		}
	})
}

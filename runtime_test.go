package ferrule_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestCloseAll(t *testing.T) {
	t.Parallel()
	t.Run("D8 closing closes every session at once and waits for each", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rt := lenient()
			done(t, rt.Add(checkedTool(t, slowTool("slow", 20*time.Second)), checkedTool(t, readerTool("read"))))
			all := make([]*ferrule.Session, 10)
			for i := range all {
				all[i] = rt.Session(tool.Caller{Session: fmt.Sprint(i)})
			}
			for _, s := range all[:3] {
				go s.Call(t.Context(), "slow", "{}")
			}
			time.Sleep(time.Second)
			closed := make(chan error)
			go func() { closed <- rt.Close(t.Context()) }()
			time.Sleep(time.Second)
			for i, s := range all {
				if res := s.Call(t.Context(), "read", "{}"); res.Err == nil || res.Err.Kind != tool.Aborted {
					t.Errorf("session %d: a call after Close says %s", i, res)
				}
			}
			began := time.Now()
			if err := <-closed; err != nil || time.Since(began) != 18*time.Second {
				t.Errorf("Close() = %v after %s, want nil after the 18 s that the calls still take", err, time.Since(began))
			}
		})
	})
}

// otherPolicy is a policy that cannot be compared.
type otherPolicy []tool.Verdict

func (p otherPolicy) Decide(*tool.Request) tool.Decision { return tool.Decision{Verdict: p[0]} }

func (otherPolicy) Fixed(*tool.Request) (d tool.Decision, ok bool) { return d, false }

// A field that is set too late is not used. Who sets one, a rule that denies say,
// must hear of it.
func TestFieldsSetLate(t *testing.T) {
	t.Parallel()
	for field, set := range map[string]func(*ferrule.Runtime){
		"Policy": func(rt *ferrule.Runtime) { rt.Policy = otherPolicy{tool.Deny} },
		"Decide": func(rt *ferrule.Runtime) {
			rt.Decide = func(context.Context, *tool.Request) (d tool.Decision, err error) { return }
		},
		"AskReads":     func(rt *ferrule.Runtime) { rt.AskReads = true },
		"Inbox":        func(rt *ferrule.Runtime) { rt.Inbox = new(policy.Memory) },
		"Answer":       func(rt *ferrule.Runtime) { rt.Answer = says(policy.Answer{}) },
		"Expiry":       func(rt *ferrule.Runtime) { rt.Expiry = time.Hour },
		"Hooks":        func(rt *ferrule.Runtime) { rt.Hooks = append(rt.Hooks, ferrule.Hook{Name: "guard", Security: true}) },
		"Observe":      func(rt *ferrule.Runtime) { rt.Observe = func(audit.Event) {} },
		"Limit":        func(rt *ferrule.Runtime) { rt.Limit = 3 },
		"SourceLimits": func(rt *ferrule.Runtime) { rt.SourceLimits = map[string]int{"gh": 1} },
		"TenantLimits": func(rt *ferrule.Runtime) { rt.TenantLimits = map[string]int{"acme": 1} },
		"Siblings":     func(rt *ferrule.Runtime) { rt.Siblings = ferrule.StopAlways },
		"Collisions":   func(rt *ferrule.Runtime) { rt.Collisions = ferrule.Refuse },
		"Trust":        func(rt *ferrule.Runtime) { rt.Trust["other"] = tool.Web },
		"Believe":      func(rt *ferrule.Runtime) { rt.Believe = func(tool.Source, *tool.Info) bool { return true } },
		"Repair":       func(rt *ferrule.Runtime) { rt.Repair = func(string) (string, []string, error) { return "", nil, nil } },
		"Refresh": func(rt *ferrule.Runtime) {
			rt.Refresh = func(context.Context, tool.Caller) ([]*tool.Tool, error) { return nil, nil }
		},
	} {
		for _, before := range []policy.Policy{nil, allowAll, otherPolicy{tool.Allow, tool.Allow}} {
			t.Run(fmt.Sprintf("L8 %s set late, after a policy %T, is told and refused", field, before), func(t *testing.T) {
				var seen events
				rt := &ferrule.Runtime{Policy: before, Observe: seen.observe, Trust: map[string]tool.Trust{"gh": tool.Web}}
				done(t, rt.Add(exemplary()))
				rt.Session(tool.Caller{})
				done(t, rt.Replace(exemplary()))
				set(rt)
				name := "Runtime." + field
				want := ferrule.Finding{Name: name, Text: name + " was set after the first Add or Session and is not used: set it before"}
				for range 2 {
					rt.Session(tool.Caller{})
				}
				if got := rt.Findings(); len(got) != 1 || got[0] != want {
					t.Errorf("findings = %q, want %q", got, want)
				}
				if got := seen.of(audit.Found); len(got) != 1 || got[0] != name+": "+want.Text {
					t.Errorf("events = %q, want one", got)
				}
				for what, err := range map[string]error{"Add": rt.Add(answering("a", "a")), "Set": rt.Set(tool.Source{Name: "gh"}), "Replace": rt.Replace(exemplary())} {
					if err == nil || err.Error() != want.Text {
						t.Errorf("%s: err = %v, want %s", what, err, want.Text)
					}
				}
			})
		}
	}
	t.Run("R3 the operator's trust and names are those of the first registration", func(t *testing.T) {
		rt := lenient()
		rt.Trust = map[string]tool.Trust{"src": tool.Web}
		done(t, rt.Add(answering("own", "x")))
		rt.Trust["src"] = tool.BuiltIn
		done(t, rt.Set(tool.Source{Name: "src", Trust: tool.MCP}, answering("one", "x")))
		if r, ok := rt.Find("src__one"); !ok || r.Source.Trust != tool.Web {
			t.Errorf("got %v, %v", r.Source, ok)
		}
	})
	t.Run("H1 nobody takes a hook off its tool by changing its filter later", func(t *testing.T) {
		names, tags, sources := []string{"danger"}, []string{"wild"}, []string{""}
		rt := lenient()
		rt.Hooks = []ferrule.Hook{{
			Name: "guard", Security: true, Only: ferrule.Filter{Names: names, Tags: tags, Sources: sources},
			Input: func(context.Context, *tool.Request) (ferrule.Change, error) { return ferrule.Change{Block: "no"}, nil },
		}}
		done(t, rt.Add(answering("danger", "ran", tagged("wild"))))
		names[0], tags[0], sources[0] = "other", "calm", "gh"
		wantSaid(t, viewOf(t, rt), "danger", "hook_blocked: no")
	})
}

func TestLimitIsToldOf(t *testing.T) {
	for _, tt := range []struct {
		name, env string
		limit     int
		want      string
	}{
		{"D3 a limit", "", 4, ""},
		{"D3 a bad variable that nobody reads", "x", 4, ""},
		{"D3 a bad variable is told", "x", 0, `FERRULE_MAX_CONCURRENCY: got "x", want a whole number from 1 on: calls run one at a time`},
		{"D3 a variable that is too large is told", "99999999999999999999", 0, `FERRULE_MAX_CONCURRENCY: got "99999999999999999999", want a whole number from 1 on: calls run one at a time`},
		{"D3 a negative limit is told", "7", -3, "Runtime.Limit: got -3, want a whole number from 1 on, or 0: calls run one at a time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("FERRULE_MAX_CONCURRENCY", tt.env)
			var seen events
			rt := &ferrule.Runtime{Limit: tt.limit}
			rt.Observe = func(e audit.Event) {
				seen.observe(e)
				rt.Findings() // an observer may look
			}
			rt.Session(tool.Caller{})
			done(t, rt.Add(exemplary()))
			if got := strings.Join(seen.of(audit.Found), "; "); got != tt.want {
				t.Errorf("events = %q, want %q", got, tt.want)
			}
			var found string
			for _, f := range rt.Findings() {
				found += f.Name + ": " + f.Text
			}
			if found != tt.want {
				t.Errorf("findings = %q, want %q", found, tt.want)
			}
		})
	}
}

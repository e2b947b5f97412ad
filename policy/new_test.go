package policy_test

import (
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestNewTools(t *testing.T) {
	t.Parallel()
	exactly := policy.Voice{By: policy.ByPolicy, Decision: tool.Decision{Verdict: tool.Allow, Exact: true}}
	wildcard := says(policy.ByPolicy, tool.Allow, "")
	undoable := tool.Claims{Reversible: true, Local: true, Touches: []tool.Access{{Resource: "file:/work/a", Write: true}}}
	tests := []struct {
		name   string
		claims tool.Claims
		mode   policy.Mode
		voices []policy.Voice
		want   tool.Verdict
	}{
		{"a wildcard does not allow it", tool.Claims{}, policy.ModeAsk, []policy.Voice{wildcard}, tool.Ask},
		{"the host's allow does not either", tool.Claims{}, policy.ModeAsk, []policy.Voice{says(policy.ByHost, tool.Allow, "")}, tool.Ask},
		{"a rule that names it allows it", tool.Claims{}, policy.ModeAsk, []policy.Voice{exactly}, tool.Allow},
		{"a rule that names it allows it beside a wildcard", tool.Claims{}, policy.ModeAsk, []policy.Voice{wildcard, exactly}, tool.Allow},
		{"a rule that names it does not beat one that denies", tool.Claims{}, policy.ModeAsk, []policy.Voice{exactly, says(policy.ByHost, tool.Deny, "no")}, tool.Deny},
		{"reading is no reason to allow it", reads, policy.ModeAsk, nil, tool.Ask},
		{"mode auto asks", reads, policy.ModeAuto, []policy.Voice{wildcard}, tool.Ask},
		{"mode auto asks where a rule asks", reads, policy.ModeAuto, []policy.Voice{says(policy.ByPolicy, tool.Ask, "")}, tool.Ask},
		{"mode edit asks", undoable, policy.ModeEdit, nil, tool.Ask},
		{"mode observe lets it run, and says so", tool.Claims{}, policy.ModeObserve, []policy.Voice{wildcard}, tool.Allow},
		{"mode read lets it read what a rule names", reads, policy.ModeRead, []policy.Voice{exactly}, tool.Allow},
	}
	for _, tt := range tests {
		t.Run("M4 a tool that nobody has accepted: "+tt.name, func(t *testing.T) {
			t.Parallel()
			c := policy.Case{Name: "x", Claims: tt.claims, Trust: tool.Own, Mode: tt.mode, Workspace: "/work", Person: true}
			before := policy.Combine(c, tt.voices...)
			c.New = true
			r := policy.Combine(c, tt.voices...)
			if r.Verdict != tt.want {
				t.Errorf("got %s (%s), want %s", r.Verdict, r.Reason, tt.want)
			}
			if before.Verdict < r.Verdict {
				t.Errorf("got %s for a new tool and %s for one that is accepted, want it no milder", r.Verdict, before.Verdict)
			}
			if r.Asks() && !r.Firm {
				t.Error("got a question that a mode may answer, want it firm")
			}
		})
	}
	t.Run("M4 nobody to ask: what would change it", func(t *testing.T) {
		t.Parallel()
		r := policy.Combine(policy.Case{Name: "s__x", Trust: tool.MCP, New: true}, wildcard)
		if r.Verdict != tool.Deny || !strings.Contains(r.Reason, "accept the tool") || !strings.Contains(r.Reason, "add a rule that allows s__x") {
			t.Errorf("got %+v, want a denial that says to accept the tool or to name it", r)
		}
	})
}

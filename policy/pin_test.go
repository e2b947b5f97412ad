package policy_test

import (
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestPinnedGrant(t *testing.T) {
	t.Parallel()
	ada := policy.Asker{Principal: "ada"}
	call := func(change func(*tool.Request)) *tool.Request {
		r := &tool.Request{
			Caller: tool.Caller{Principal: "ada", Session: "s1"}, Source: tool.Source{Name: "bank", Trust: tool.MCP},
			Tool: &tool.Info{Name: "pay", Pin: "sha256:1"}, Name: "bank__pay",
		}
		if change != nil {
			change(r)
		}
		return r
	}
	pinned := policy.Grant{Rule: "bank__pay", Caller: ada, Source: "bank", Pin: "sha256:1"}
	with := func(change func(*policy.Grant)) policy.Grant {
		g := pinned
		change(&g)
		return g
	}
	tests := []struct {
		name  string
		grant policy.Grant
		call  *tool.Request
		want  bool
	}{
		{"T5 it is for calls that may destroy something", pinned, call(nil), true},
		{"T5 and for others", pinned, call(func(r *tool.Request) { r.Claims.ReadOnly = true }), true},
		{"P5 without a pin it is not", with(func(g *policy.Grant) { g.Pin = "" }), call(nil), false},
		{"T5 a changed definition loses it", pinned, call(func(r *tool.Request) { r.Tool.Pin = "sha256:2" }), false},
		{"T5 of one's own server too", pinned, call(func(r *tool.Request) { r.Tool.Pin, r.Source.Trust = "sha256:2", tool.Own }), false},
		{"T5 a tool without a pin has none", pinned, call(func(r *tool.Request) { r.Tool.Pin = "" }), false},
		{"T5 what is no tool has none", pinned, call(func(r *tool.Request) { r.Tool = nil }), false},
		{"T5 another source is another", pinned, call(func(r *tool.Request) { r.Source.Name = "shop" }), false},
		{"T5 another principal is another", pinned, call(func(r *tool.Request) { r.Caller.Principal = "bob" }), false},
		{"T5 another name is another", pinned, call(func(r *tool.Request) { r.Name, r.Tool.Name = "bank__take", "take" }), false},
		{"T5 it names one tool, never some", with(func(g *policy.Grant) { g.Rule = "bank__*" }), call(nil), false},
		{"T5 nor a source", with(func(g *policy.Grant) { g.Rule = "source:bank" }), call(nil), false},
		{"T5 nor some of its calls", with(func(g *policy.Grant) { g.Rule = "bank__pay(path: /a/**)" }), call(nil), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.grant.Answers(tt.call, ""); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	t.Run("T5 it is another rule than one without a pin, and than one for another", func(t *testing.T) {
		t.Parallel()
		names := map[string]bool{pinned.Name(): true, with(func(g *policy.Grant) { g.Pin = "" }).Name(): true, with(func(g *policy.Grant) { g.Pin = "sha256:2" }).Name(): true}
		if len(names) != 3 {
			t.Errorf("got %d names, want 3", len(names))
		}
	})
}

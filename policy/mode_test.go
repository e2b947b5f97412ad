package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

var allModes = []policy.Mode{policy.ModeAsk, policy.ModeEdit, policy.ModeRead, policy.ModeAuto, policy.ModeObserve, policy.ModeDryRun, "yolo"}

func touching(c tool.Claims, resources ...string) tool.Claims {
	c.Touches = []tool.Access{}
	for _, r := range resources {
		c.Touches = append(c.Touches, tool.Access{Resource: r, Write: !c.ReadOnly})
	}
	return c
}

// Each row is one call, and what becomes of it in each mode: a for allow, ? for
// ask, d for deny.
func TestModes(t *testing.T) {
	none := tool.Claims{}
	edit := touching(tool.Claims{Reversible: true, Local: true}, "file:/work/a", "file:/work/b/c")
	outside := touching(tool.Claims{Reversible: true, Local: true}, "file:/work/a", "file:/etc/passwd")
	beside := touching(tool.Claims{Reversible: true, Local: true}, "file:/workshop")
	table := touching(tool.Claims{Reversible: true, Local: true}, "table:orders")
	nothing := touching(tool.Claims{Reversible: true, Local: true})
	unsure := tool.Claims{Reversible: true, Local: true} // touches everything
	lasting := touching(tool.Claims{Local: true}, "file:/work/a")
	remote := tool.Claims{ReadOnly: true}
	allow, ask, deny := tool.Allow, tool.Ask, tool.Deny
	voice := func(by policy.Speaker, v tool.Verdict) []policy.Voice { return []policy.Voice{says(by, v, "said")} }
	tests := []struct {
		name     string
		claims   tool.Claims
		trust    tool.Trust
		voices   []policy.Voice
		confined bool
		//    ask edit read auto observe dry-run none
		want string
	}{
		{"P10 nobody spoke, it claims nothing", none, tool.Own, nil, false, "? ? d ? a a d"},
		{"P10 nobody spoke, it claims nothing, but is confined", none, tool.BuiltIn, nil, true, "? ? d a a a d"},
		{"P10 nobody spoke, it reads here", reads, tool.Own, nil, false, "a a a a a a a"},
		{"P10 nobody spoke, it reads elsewhere", remote, tool.Own, nil, false, "? ? ? a a a ?"},
		{"P10 nobody spoke, a server's tool reads here", reads, tool.MCP, nil, false, "? ? ? a a a ?"},
		{"P10 nobody spoke, it edits in the workspace", edit, tool.Own, nil, false, "? a d a a a d"},
		{"P10 nobody spoke, a built-in tool edits in the workspace", edit, tool.BuiltIn, nil, false, "? a d a a a d"},
		{"P10 nobody spoke, a skill edits in the workspace", edit, tool.SkillTrusted, nil, false, "? ? d a a a d"},
		{"P10 nobody spoke, a server's tool edits in the workspace", edit, tool.MCP, nil, false, "? ? d a a a d"},
		{"P10 nobody spoke, it edits outside", outside, tool.Own, nil, false, "? ? d a a a d"},
		{"P10 nobody spoke, it edits beside a workspace of a like name", beside, tool.Own, nil, false, "? ? d a a a d"},
		{"P10 nobody spoke, it changes the rules", touching(tool.Claims{Reversible: true, Local: true}, "file:/work/ferrule.yaml"), tool.Own, nil, false, "? ? d ? a a d"},
		{"P10 nobody spoke, it changes the state", touching(tool.Claims{Reversible: true, Local: true}, "file:/work/.ferrule/ferrule.db"), tool.Own, nil, false, "? ? d ? a a d"},
		{"P10 nobody spoke, it changes all of the workspace", touching(tool.Claims{Reversible: true, Local: true}, "file:/work"), tool.Own, nil, false, "? ? d ? a a d"},
		{"P10 nobody spoke, it changes what is protected", touching(tool.Claims{Reversible: true, Local: true}, "file:/work/rules/a.cedar"), tool.Own, nil, false, "? ? d ? a a d"},
		{"P10 nobody spoke, it changes a table", table, tool.Own, nil, false, "? ? d a a a d"},
		{"P10 nobody spoke, it touches nothing", nothing, tool.Own, nil, false, "? a d a a a d"},
		{"P10 nobody spoke, it does not say what it touches", unsure, tool.Own, nil, false, "? ? d a a a d"},
		{"P10 nobody spoke, it writes in the workspace for good", lasting, tool.Own, nil, false, "? ? d ? a a d"},

		{"P10 a rule allows what destroys", none, tool.MCP, voice(policy.ByPolicy, allow), false, "a a d a a a d"},
		{"P10 a rule allows what reads", remote, tool.MCP, voice(policy.ByPolicy, allow), false, "a a a a a a a"},
		{"P10 a rule asks for an edit", edit, tool.Own, voice(policy.ByPolicy, ask), false, "? ? d a a a d"},
		{"P10 a rule asks for what destroys", none, tool.Own, voice(policy.ByPolicy, ask), false, "? ? d ? a a d"},
		{"P10 a rule asks for what destroys, confined", none, tool.Own, voice(policy.ByPolicy, ask), true, "? ? d a a a d"},
		{"P10 a rule asks for what reads", reads, tool.Own, voice(policy.ByPolicy, ask), false, "? ? ? a a a ?"},
		{"P10 a rule denies", reads, tool.Own, voice(policy.ByPolicy, deny), true, "d d d d d d d"},
		{"P10 the host asks for an edit", edit, tool.Own, voice(policy.ByHost, ask), false, "? ? d a a a d"},
		{"P10 Permit asks for an edit", edit, tool.Own, voice(policy.ByPermit, ask), false, "? ? d ? a a d"},
		{"P10 Permit asks, and a rule before it", edit, tool.Own, []policy.Voice{says(policy.ByPolicy, ask, "r"), says(policy.ByPermit, ask, "p")}, false, "? ? d ? a a d"},
		{"P10 Permit asks, confined", none, tool.Own, voice(policy.ByPermit, ask), true, "? ? d ? a a d"},
		{"P10 the approval rule asks", edit, tool.Own, voice(policy.ByApproval, ask), false, "? ? d ? a a d"},
		{"P10 the flow of data asks", edit, tool.Own, voice(policy.ByFlow, ask), true, "? ? d ? a a d"},
		{"P10 the flow of data asks about what reads", reads, tool.Own, voice(policy.ByFlow, ask), true, "? ? ? ? a a ?"},
		{"P10 a denial that a person may overrule", edit, tool.Own, []policy.Voice{unless(policy.ByPermit, "root")}, true, "? ? d ? d d d"},
		{"P10 a rule's denial that a person may overrule", reads, tool.Own, []policy.Voice{unless(policy.ByPolicy, "root")}, true, "? ? ? ? d d ?"},
		{"P10 the tool allows itself", edit, tool.Own, voice(policy.ByApproval, allow), false, "a a d a a a d"},
	}
	letters := map[tool.Verdict]string{allow: "a", ask: "?", deny: "d"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got, alone []string
			for _, m := range allModes {
				c := policy.Case{Name: "x", Claims: tt.claims, Trust: tt.trust, Mode: m, Workspace: "/work", Protected: []string{"/work/rules"}, Confined: tt.confined, Person: true}
				r := policy.Combine(c, tt.voices...)
				got = append(got, letters[r.Verdict])
				c.Person = false
				alone = append(alone, letters[policy.Combine(c, tt.voices...).Verdict])
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
			if s := strings.Join(alone, " "); s != strings.ReplaceAll(tt.want, "?", "d") {
				t.Errorf("with nobody to ask: got %s, want %s with d for each ?", s, tt.want)
			}
		})
	}
	t.Run("P10 without a workspace nothing lies in it", func(t *testing.T) {
		if r := policy.Combine(policy.Case{Name: "x", Claims: edit, Trust: tool.Own, Mode: policy.ModeEdit, Person: true}); !r.Asks() {
			t.Errorf("got %s", r.Verdict)
		}
	})
	t.Run("P10 what would have been asked is recorded, and who says yes is the mode", func(t *testing.T) {
		r := policy.Combine(policy.Case{Name: "x", Claims: edit, Trust: tool.Own, Mode: policy.ModeObserve}, says(policy.ByPermit, ask, "root"))
		if r.By != policy.ByMode || r.Reason != "would ask: root" || r.Rule != "mode observe" {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("P10 no mode allows what is denied without one, and read never allows what does not read", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			c := policy.Case{
				Name: "x", Workspace: "/work", Person: rapid.Bool().Draw(r, "person"), Confined: rapid.Bool().Draw(r, "confined"),
				Trust:  tool.Trust(rapid.IntRange(0, 8).Draw(r, "trust")),
				Claims: rapid.SampledFrom([]tool.Claims{none, edit, outside, nothing, unsure, lasting, remote, reads}).Draw(r, "claims"),
			}
			voices := drawVoices().Draw(r, "voices")
			denied := false
			for _, v := range voices {
				denied = denied || v.Verdict == tool.Deny && !v.Override || v.Verdict > tool.Silent
			}
			for _, m := range allModes {
				c.Mode = m
				got := policy.Combine(c, voices...).Verdict
				if denied && got != deny {
					r.Errorf("mode %s: %s, although a voice denies", m, got)
				}
				if (m == policy.ModeRead || m == "yolo") && !c.Claims.ReadOnly && got != deny {
					r.Errorf("mode %s: %s for what does not only read", m, got)
				}
			}
		})
	})
}

func TestModeWords(t *testing.T) {
	for _, m := range allModes[:6] {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back policy.Mode
		if err := json.Unmarshal(text, &back); err != nil || back != m || !m.Known() {
			t.Errorf("%s: became %q, %v", text, string(back), err)
		}
	}
	t.Run("P10 what is no mode is an error that lists them", func(t *testing.T) {
		m := policy.ModeAuto
		err := json.Unmarshal([]byte(`"yolo"`), &m)
		if err == nil || !strings.Contains(err.Error(), "observe") || m != policy.ModeAuto || policy.Mode("yolo").Known() {
			t.Errorf("got %v, and the mode %s", err, m)
		}
	})
}

package policy_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

func says(by policy.Speaker, v tool.Verdict, reason string) policy.Voice {
	return policy.Voice{By: by, Decision: tool.Decision{Verdict: v, Reason: reason}}
}

// unless is a deny that a person may overrule.
func unless(by policy.Speaker, reason string) policy.Voice {
	return policy.Voice{By: by, Decision: tool.Decision{Verdict: tool.Deny, Reason: reason, Override: true}}
}

var (
	reads   = tool.Claims{ReadOnly: true, Local: true}
	writer  = policy.Case{Name: "send", Trust: tool.Own, Person: true}
	reader  = policy.Case{Name: "look", Trust: tool.Own, Claims: reads, Person: true}
	unasked = policy.Case{Name: "send", Trust: tool.Own}
)

func TestCombine(t *testing.T) {
	const noSuchVerdict = tool.Silent + 1
	allow, ask, deny, silent := tool.Allow, tool.Ask, tool.Deny, tool.Silent
	tests := []struct {
		name   string
		c      policy.Case
		voices []policy.Voice
		want   tool.Verdict
		by     policy.Speaker
		reason string // that of the ruling; "": not looked at
	}{
		{"P1 one allow", writer, []policy.Voice{says(policy.ByPolicy, allow, "")}, allow, policy.ByPolicy, ""},
		{"P1 one ask", writer, []policy.Voice{says(policy.ByHost, ask, "new")}, ask, policy.ByHost, "new"},
		{"P1 one deny", writer, []policy.Voice{says(policy.ByFlow, deny, "leak")}, deny, policy.ByFlow, "leak"},
		{"P1 ask beats allow", writer, []policy.Voice{says(policy.ByPolicy, allow, ""), says(policy.ByApproval, ask, "always")}, ask, policy.ByApproval, "always"},
		{"P1 deny beats ask beats allow", writer, []policy.Voice{
			says(policy.ByPolicy, allow, ""), says(policy.ByHost, ask, "new"), says(policy.ByFlow, deny, "leak"),
		}, deny, policy.ByFlow, "leak"},
		{"P1 deny beats ask beats allow, the other way round", writer, []policy.Voice{
			says(policy.ByFlow, deny, "leak"), says(policy.ByHost, ask, "new"), says(policy.ByPolicy, allow, ""),
		}, deny, policy.ByFlow, "leak"},
		{"P1 silence beside an allow is nothing", writer, []policy.Voice{says(policy.ByHost, silent, ""), says(policy.ByPolicy, allow, "")}, allow, policy.ByPolicy, ""},
		{"P1 who says the same gives reasons too", writer, []policy.Voice{says(policy.ByPolicy, ask, "outside"), says(policy.ByHost, ask, "new")}, ask, policy.ByPolicy, "outside; new"},
		{"P1 one reason given twice is one", writer, []policy.Voice{says(policy.ByPolicy, ask, "new"), says(policy.ByHost, ask, "new")}, ask, policy.ByPolicy, "new"},
		{"P1 the reasons of weaker voices are not those of the ruling", writer, []policy.Voice{says(policy.ByPolicy, ask, "outside"), says(policy.ByHost, deny, "bad")}, deny, policy.ByHost, "bad"},
		{"P1 the zero decision denies", reader, []policy.Voice{{By: policy.ByHost}}, deny, policy.ByHost, ""},
		{"P1 the zero decision denies, and the operator reads that it may be forgotten", reader, []policy.Voice{{By: policy.ByPolicy}, {By: policy.ByHost}}, deny, policy.ByPolicy, "a zero Decision denies; where no rule speaks return tool.Silent"},
		{"P1 the zero decision adds nothing to a denial with a reason", reader, []policy.Voice{{By: policy.ByPolicy}, says(policy.ByHost, deny, "odd")}, deny, policy.ByPolicy, "odd"},
		{"P1 what is no verdict denies", reader, []policy.Voice{says(policy.ByPolicy, noSuchVerdict, "odd"), says(policy.ByHost, allow, "")}, deny, policy.ByPolicy, "odd"},
		{"P1 what is no verdict denies, although it may be overruled", reader, []policy.Voice{
			{By: policy.ByPermit, Decision: tool.Decision{Verdict: 255, Override: true}},
		}, deny, policy.ByPermit, ""},

		{"P1 all silent: no voice, and it only reads here", reader, nil, allow, policy.ByDefault, ""},
		{"P1 all silent: each is heard", reader, []policy.Voice{says(policy.ByPolicy, silent, ""), says(policy.ByHost, silent, "")}, allow, policy.ByDefault, ""},
		{"P1 all silent: it writes", writer, nil, ask, policy.ByDefault, ""},
		{"P3 a call that only reads is asked for where a rule says so", reader, []policy.Voice{says(policy.ByPolicy, ask, "private")}, ask, policy.ByPolicy, "private"},
		{"P3 a call that only reads is denied where a rule says so", reader, []policy.Voice{says(policy.ByPolicy, deny, "private")}, deny, policy.ByPolicy, "private"},

		{"T12 Permit's allow counts as nothing", writer, []policy.Voice{says(policy.ByPermit, allow, "harmless")}, ask, policy.ByDefault, ""},
		{"T12 Permit's allow does not undo an ask", writer, []policy.Voice{says(policy.ByPolicy, ask, "new"), says(policy.ByPermit, allow, "")}, ask, policy.ByPolicy, "new"},
		{"T12 Permit's allow takes no allow away", writer, []policy.Voice{says(policy.ByPolicy, allow, ""), says(policy.ByPermit, allow, "")}, allow, policy.ByPolicy, ""},
		{"T12 Permit tightens an allow to an ask", writer, []policy.Voice{says(policy.ByPolicy, allow, ""), says(policy.ByPermit, ask, "root")}, ask, policy.ByPermit, "root"},
		{"T12 Permit tightens an allow to a deny", writer, []policy.Voice{says(policy.ByPolicy, allow, ""), says(policy.ByPermit, deny, "root")}, deny, policy.ByPermit, "root"},
		{"T12 a person cannot overrule a plain deny", writer, []policy.Voice{says(policy.ByPermit, deny, "root")}, deny, policy.ByPermit, "root"},
		{"T12 a deny that may be overruled is an ask where there is a person", writer, []policy.Voice{unless(policy.ByPermit, "root")}, ask, policy.ByPermit, "root"},
		{"T12 a deny that may be overruled is a deny where there is none", unasked, []policy.Voice{unless(policy.ByPermit, "root")}, deny, policy.ByPermit, ""},
		{"T12 of two denies one cannot be overruled", writer, []policy.Voice{unless(policy.ByPermit, "root"), says(policy.ByPolicy, deny, "no")}, deny, policy.ByPolicy, "no"},
		{"T12 a deny that may be overruled still beats an allow", writer, []policy.Voice{says(policy.ByPolicy, allow, ""), unless(policy.ByPermit, "root")}, ask, policy.ByPermit, "root"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := policy.Combine(tt.c, tt.voices...)
			if got.Verdict != tt.want || got.By != tt.by {
				t.Errorf("got %s by %s, want %s by %s", got.Verdict, got.By, tt.want, tt.by)
			}
			if tt.reason != "" && got.Reason != tt.reason {
				t.Errorf("reason: got %q, want %q", got.Reason, tt.reason)
			}
			if got.Asks() != (tt.want == tool.Ask) {
				t.Errorf("Asks() = %v of %s", got.Asks(), got.Verdict)
			}
		})
	}
}

func TestZeroDecision(t *testing.T) {
	t.Run("P1 the model reads nothing of why a denial has no reason", func(t *testing.T) {
		got := policy.Combine(reader, policy.Voice{By: policy.ByPolicy})
		if text := got.Denial(); text != "Tool call was denied." {
			t.Errorf("got %q", text)
		}
	})
}

func TestAllSilent(t *testing.T) {
	trusts := []tool.Trust{tool.Inbound, tool.Web, tool.MCP, tool.SkillUntrusted, tool.SkillTrusted, tool.Own, tool.BuiltIn, tool.BuiltIn + 1}
	everything := tool.Claims{ReadOnly: true, Parallel: true, Reversible: true, Local: true, Idempotent: true, Touches: []tool.Access{}}
	tests := []struct {
		name   string
		claims tool.Claims
		asks   bool // AskReads
		want   []tool.Trust
	}{
		{"P1 all silent: ReadOnly and Local is allowed to built-in and own tools", reads, false, []tool.Trust{tool.Own, tool.BuiltIn}},
		{"P1 all silent: every claim is no more than these two", everything, false, []tool.Trust{tool.Own, tool.BuiltIn}},
		{"P1 all silent: AskReads switches it off", reads, true, nil},
		{"P1 all silent: ReadOnly alone asks", tool.Claims{ReadOnly: true}, false, nil},
		{"P1 all silent: Local alone asks", tool.Claims{Local: true}, false, nil},
		{"P1 all silent: everything but ReadOnly asks", tool.Claims{Parallel: true, Reversible: true, Local: true, Idempotent: true}, false, nil},
		{"P1 all silent: no claim asks", tool.Claims{}, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, trust := range trusts {
				want := tool.Ask
				if slices.Contains(tt.want, trust) {
					want = tool.Allow
				}
				c := policy.Case{Name: "x", Claims: tt.claims, Trust: trust, AskReads: tt.asks, Person: true}
				if got := policy.Combine(c); got.Verdict != want || got.By != policy.ByDefault {
					t.Errorf("%s (%d): got %s by %s, want %s by default", trust, trust, got.Verdict, got.By, want)
				}
			}
		})
	}
}

func TestNobodyToAsk(t *testing.T) {
	t.Run("P8 what would be asked is denied, in these words", func(t *testing.T) {
		for _, voices := range [][]policy.Voice{
			nil,
			{says(policy.ByPolicy, tool.Ask, "outside")},
			{{By: policy.ByPolicy, Decision: tool.Decision{Verdict: tool.Ask, Message: "Ask somebody."}}},
			{says(policy.ByApproval, tool.Ask, ""), says(policy.ByPermit, tool.Allow, "")},
		} {
			got := policy.Combine(policy.Case{Name: "srv__send.mail", Trust: tool.MCP}, voices...)
			const want = "Tool approval required for srv__send.mail, but no approval handler is configured."
			if got.Verdict != tool.Deny || got.Denial() != want {
				t.Errorf("%+v: got %s, %q, want deny, %q", voices, got.Verdict, got.Denial(), want)
			}
		}
	})
	t.Run("P8 what is denied or allowed anyway has its own text", func(t *testing.T) {
		if got := policy.Combine(unasked, says(policy.ByPolicy, tool.Deny, "Not on Sundays.")); got.Denial() != "Not on Sundays." {
			t.Errorf("got %q", got.Denial())
		}
		if got := policy.Combine(unasked, says(policy.ByPolicy, tool.Allow, "")); got.Verdict != tool.Allow {
			t.Errorf("got %s, want allow", got.Verdict)
		}
	})
	t.Run("P1 why it would have been asked is not lost", func(t *testing.T) {
		got := policy.Combine(unasked, policy.Voice{By: policy.ByHost, Decision: tool.Decision{Verdict: tool.Ask, Reason: "looks odd", Rule: "classifier"}})
		if !strings.Contains(got.Reason, "looks odd") || got.Rule != "classifier" || got.By != policy.ByHost {
			t.Errorf("got %+v", got)
		}
	})
}

// remedies are what an operator can do about a denial for want of somebody to
// ask: how the text names it, and what it makes of the case.
var remedies = []struct {
	name  string
	apply func(policy.Case, []policy.Voice) policy.Ruling
}{
	{"a rule", func(c policy.Case, v []policy.Voice) policy.Ruling {
		return policy.Combine(c, instead(v, policy.ByPolicy, tool.Decision{Verdict: tool.Allow})...)
	}},
	{"Approval", func(c policy.Case, v []policy.Voice) policy.Ruling {
		return policy.Combine(c, instead(v, policy.ByApproval, policy.Approval(&tool.Info{Approval: tool.AskNever}, c.Trust))...)
	}},
	{"policy.AllowOwn", func(c policy.Case, v []policy.Voice) policy.Ruling {
		return policy.Combine(c, instead(v, policy.ByPolicy, policy.AllowOwn{}.Decide(&tool.Request{Source: tool.Source{Trust: c.Trust}}))...)
	}},
	{"Runtime.Inbox", func(c policy.Case, v []policy.Voice) policy.Ruling {
		c.Person = true
		return policy.Combine(c, v...)
	}},
}

// instead are the voices, but for one of them that says something else.
func instead(voices []policy.Voice, by policy.Speaker, d tool.Decision) []policy.Voice {
	others := slices.DeleteFunc(slices.Clone(voices), func(v policy.Voice) bool { return v.By == by })
	return append(others, policy.Voice{By: by, Decision: d})
}

func TestOperatorsText(t *testing.T) {
	tests := []struct {
		name   string
		trust  tool.Trust
		voices []policy.Voice
		want   []string // remedies that it must name
	}{
		{"P1 nobody spoke about an own tool", tool.Own, nil, []string{"a rule", "Approval", "policy.AllowOwn", "Runtime.Inbox"}},
		{"P1 nobody spoke about a built-in tool", tool.BuiltIn, nil, []string{"a rule", "Approval", "Runtime.Inbox"}},
		{"P1 nobody spoke about a tool of a server", tool.MCP, nil, []string{"a rule", "Runtime.Inbox"}},
		{"P1 a rule asked", tool.Own, []policy.Voice{says(policy.ByPolicy, tool.Ask, "new")}, []string{"rule", "Runtime.Inbox"}},
		{"P1 the tool's approval asked", tool.Own, []policy.Voice{says(policy.ByApproval, tool.Ask, "new")}, []string{"Runtime.Inbox"}},
		{"P1 Permit asked", tool.Own, []policy.Voice{says(policy.ByPermit, tool.Ask, "root")}, []string{"Runtime.Inbox"}},
		{"P1 Permit denied what a person could overrule", tool.Own, []policy.Voice{unless(policy.ByPermit, "root")}, []string{"Runtime.Inbox"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := policy.Case{Name: "send", Trust: tt.trust}
			got := policy.Combine(c, tt.voices...)
			if got.Verdict != tool.Deny {
				t.Fatalf("got %s, want deny", got.Verdict)
			}
			for _, want := range tt.want {
				if !strings.Contains(got.Reason, want) {
					t.Errorf("the operator reads %q, want it to name %q", got.Reason, want)
				}
			}
			for _, r := range remedies {
				if changed := r.apply(c, tt.voices).Verdict != tool.Deny; strings.Contains(got.Reason, r.name) && !changed {
					t.Errorf("the operator reads %q, but %q would change nothing", got.Reason, r.name)
				}
			}
		})
	}
}

// slowly is what P1, T12 and T13 say, one sentence after the other.
func slowly(c policy.Case, voices []policy.Voice) tool.Verdict {
	said := func(want tool.Verdict) bool {
		return slices.ContainsFunc(voices, func(v policy.Voice) bool {
			overruled := v.Verdict == tool.Deny && v.Override && c.Person
			switch want {
			case tool.Deny:
				known := v.Verdict == tool.Deny || v.Verdict == tool.Ask || v.Verdict == tool.Allow || v.Verdict == tool.Silent
				return !known || v.Verdict == tool.Deny && !overruled
			case tool.Ask:
				return v.Verdict == tool.Ask || overruled
			default:
				return v.Verdict == want && v.By != policy.ByPermit
			}
		})
	}
	ask := tool.Ask
	if !c.Person {
		ask = tool.Deny
	}
	trusted := c.Trust == tool.Own || c.Trust == tool.BuiltIn
	switch {
	case said(tool.Deny):
		return tool.Deny
	case said(tool.Ask):
		return ask
	case said(tool.Allow):
		return tool.Allow
	case c.Claims.ReadOnly && c.Claims.Local && trusted && !c.AskReads:
		return tool.Allow
	}
	return ask
}

func drawCase(t *rapid.T) policy.Case {
	return policy.Case{
		Name: "x", Trust: tool.Trust(rapid.IntRange(0, int(tool.BuiltIn)+1).Draw(t, "trust")),
		Claims: tool.Claims{
			ReadOnly: rapid.Bool().Draw(t, "read-only"), Local: rapid.Bool().Draw(t, "local"),
			Parallel: rapid.Bool().Draw(t, "parallel"), Reversible: rapid.Bool().Draw(t, "reversible"),
		},
		AskReads: rapid.Bool().Draw(t, "ask reads"), Person: rapid.Bool().Draw(t, "person"),
	}
}

func drawVoices() *rapid.Generator[[]policy.Voice] {
	one := rapid.Custom(func(t *rapid.T) policy.Voice {
		return policy.Voice{
			By: rapid.SampledFrom([]policy.Speaker{policy.ByPolicy, policy.ByHost, policy.ByPermit, policy.ByApproval, policy.ByFlow}).Draw(t, "by"),
			Decision: tool.Decision{
				Verdict:  rapid.SampledFrom([]tool.Verdict{tool.Deny, tool.Ask, tool.Allow, tool.Allow, tool.Silent, tool.Silent, tool.Silent + 1, 255}).Draw(t, "verdict"),
				Override: rapid.Bool().Draw(t, "override"),
				Reason:   rapid.SampledFrom([]string{"", "one", "two", "three"}).Draw(t, "reason"),
				Message:  rapid.SampledFrom([]string{"", "no"}).Draw(t, "message"),
			},
		}
	})
	return rapid.SliceOfN(one, 0, 5)
}

func TestCombineProperties(t *testing.T) {
	t.Run("P1 the ruling is what the sentences of the rule say", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c, voices := drawCase(t), drawVoices().Draw(t, "voices")
			if got, want := policy.Combine(c, voices...).Verdict, slowly(c, voices); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		})
	})
	t.Run("P1 the order of the voices does not matter", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c, voices := drawCase(t), drawVoices().Draw(t, "voices")
			other := rapid.Permutation(voices).Draw(t, "other order")
			if a, b := policy.Combine(c, voices...), policy.Combine(c, other...); a.Verdict != b.Verdict {
				t.Fatalf("got %s, in another order %s", a.Verdict, b.Verdict)
			}
		})
	})
	t.Run("P1 a further deny never allows more", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c, voices := drawCase(t), drawVoices().Draw(t, "voices")
			deny := drawVoices().Filter(func(v []policy.Voice) bool { return len(v) > 0 }).Draw(t, "deny")[0]
			deny.Verdict = tool.Deny
			at := rapid.IntRange(0, len(voices)).Draw(t, "at")
			before, after := policy.Combine(c, voices...), policy.Combine(c, slices.Insert(slices.Clone(voices), at, deny)...)
			if after.Verdict > before.Verdict || after.Verdict == tool.Allow {
				t.Fatalf("%s became %s", before.Verdict, after.Verdict)
			}
		})
	})
	t.Run("P1 a ruling is never silence, and never an ask where there is nobody", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c, voices := drawCase(t), drawVoices().Draw(t, "voices")
			got := policy.Combine(c, voices...)
			if got.Verdict > tool.Allow || got.Asks() && !c.Person || got.By == "" {
				t.Fatalf("got %+v", got)
			}
		})
	})
	t.Run("P1 every voice that says what was ruled has its reason in the ruling", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c, voices := drawCase(t), drawVoices().Draw(t, "voices")
			c.Person = true
			got := policy.Combine(c, voices...)
			for _, v := range voices {
				if got.Verdict < tool.Allow && slowly(c, []policy.Voice{v}) == got.Verdict && got.By != policy.ByDefault && v.Verdict != tool.Silent && v.Verdict != tool.Allow &&
					!slices.Contains(strings.Split(got.Reason, "; "), v.Reason) && v.Reason != "" {
					t.Fatalf("the reason %q is not in %q", v.Reason, got.Reason)
				}
			}
		})
	})
	t.Run("T12 Permit's allow is as if it said nothing", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c, voices := drawCase(t), drawVoices().Draw(t, "voices")
			permit := policy.Voice{By: policy.ByPermit, Decision: tool.Decision{Verdict: tool.Allow, Reason: "trust me", Override: rapid.Bool().Draw(t, "override")}}
			at := rapid.IntRange(0, len(voices)).Draw(t, "at")
			if a, b := policy.Combine(c, voices...), policy.Combine(c, slices.Insert(slices.Clone(voices), at, permit)...); a != b {
				t.Fatalf("%+v became %+v", a, b)
			}
		})
	})
	t.Run("T12 without a person it is of no account what may be overruled", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c, voices := drawCase(t), drawVoices().Draw(t, "voices")
			c.Person = false
			plain := slices.Clone(voices)
			for i := range plain {
				plain[i].Override = false
			}
			if a, b := policy.Combine(c, voices...), policy.Combine(c, plain...); a.Verdict != b.Verdict {
				t.Fatalf("%s became %s", b.Verdict, a.Verdict)
			}
		})
	})
}

func TestApproval(t *testing.T) {
	all := []tool.Trust{tool.Inbound, tool.Web, tool.MCP, tool.SkillUntrusted, tool.SkillTrusted, tool.Own, tool.BuiltIn, tool.BuiltIn + 1}
	t.Run("T13 always asks, with the tool's reason", func(t *testing.T) {
		for _, trust := range all {
			got := policy.Approval(&tool.Info{Approval: tool.AskAlways, AskReason: "it is for good"}, trust)
			if got.Verdict != tool.Ask || got.Reason != "it is for good" {
				t.Errorf("%s: got %+v", trust, got)
			}
		}
	})
	t.Run("T13 never allows for built-in and own tools and is silent for others", func(t *testing.T) {
		for _, trust := range all {
			want := tool.Silent
			if trust == tool.Own || trust == tool.BuiltIn {
				want = tool.Allow
			}
			if got := policy.Approval(&tool.Info{Approval: tool.AskNever}, trust); got.Verdict != want {
				t.Errorf("%s (%d): got %s, want %s", trust, trust, got.Verdict, want)
			}
		}
	})
	t.Run("T13 unset is silent", func(t *testing.T) {
		for _, trust := range all {
			if got := policy.Approval(&tool.Info{AskReason: "it is for good"}, trust); got.Verdict != tool.Silent {
				t.Errorf("%s: got %s", trust, got.Verdict)
			}
		}
	})
	t.Run("P1 AllowOwn allows own tools and is silent about others", func(t *testing.T) {
		for _, trust := range all {
			want := tool.Silent
			if trust == tool.Own {
				want = tool.Allow
			}
			if got := (policy.AllowOwn{}).Decide(&tool.Request{Source: tool.Source{Trust: trust}}); got.Verdict != want {
				t.Errorf("%s (%d): got %s, want %s", trust, trust, got.Verdict, want)
			}
		}
	})
}

func TestTexts(t *testing.T) {
	t.Run("P7 the message, else the reason, else the tool's text, else the fixed one", func(t *testing.T) {
		for _, tt := range []struct {
			answer policy.Answer
			tools  string
			want   string
		}{
			{policy.Answer{Message: "Use the other one.", Reason: "wrong place"}, "Not sent.", "Use the other one."},
			{policy.Answer{Reason: "wrong place"}, "Not sent.", "wrong place"},
			{policy.Answer{}, "Not sent.", "Not sent."},
			{policy.Answer{Message: " ", Reason: "\n"}, "Not sent.", "Not sent."},
			{policy.Answer{By: "ada", Text: "never"}, "", "Tool approval was rejected."},
		} {
			if got := tt.answer.Rejection(tt.tools); got != tt.want {
				t.Errorf("%+v.Rejection(%q) = %q, want %q", tt.answer, tt.tools, got, tt.want)
			}
		}
	})
	t.Run("L5 a denial has a text for the model, else its reason", func(t *testing.T) {
		for _, tt := range []struct {
			d    tool.Decision
			want string
		}{
			{tool.Decision{Message: "Not here.", Reason: "rule 3"}, "Not here."},
			{tool.Decision{Reason: "rule 3"}, "rule 3"},
		} {
			if got := (policy.Ruling{Decision: tt.d}).Denial(); got != tt.want {
				t.Errorf("%+v.Denial() = %q, want %q", tt.d, got, tt.want)
			}
		}
		if (policy.Ruling{}).Denial() == "" {
			t.Error("a denial without words says nothing to the model")
		}
	})
}

func TestDigest(t *testing.T) {
	t.Run("P5 the same parts in the same places, and nothing else, have the same digest", func(t *testing.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "ab", "a\x00", "\x00"}), 0, 4)
		rapid.Check(t, func(t *rapid.T) {
			a, b := parts.Draw(t, "a"), parts.Draw(t, "b")
			if same := policy.Digest(a...) == policy.Digest(b...); same != slices.Equal(a, b) {
				t.Fatalf("%q and %q: same digest %v", a, b, same)
			}
		})
	})
}

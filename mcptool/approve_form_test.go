package mcptool

import (
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// What a person reads in the client before they allow a call, and what they can say.
func TestForm(t *testing.T) {
	t.Parallel()
	bank := tool.Source{Name: "bank", Trust: tool.MCP}
	long := strings.Repeat("x", maxShown)
	for _, tt := range []struct {
		name  string
		q     policy.Question
		shows []string
		hides []string
		enum  string
	}{
		{
			"P4 the exact arguments, and what it would do beside them",
			policy.Question{Tool: "pay", Input: `{"to":"mallory"}`, Preview: "pays ada"},
			[]string{"pay wants to run.", `{"to":"mallory"}`, "What it would do, in the tool's words:\npays ada"},
			nil, `["allow","reject"]`,
		},
		{
			"P3 what may destroy something says so",
			policy.Question{Tool: "pay", Source: bank, Input: `{}`},
			[]string{"pay (of bank) wants to run.", "It MAY DESTROY something", "may reach outside this machine", "Source: bank, trust mcp: not trusted"},
			nil, `["allow","reject"]`,
		},
		{
			"P3 what does not, does not",
			policy.Question{Tool: "pay", Source: tool.Source{Name: "own", Trust: tool.Own}, Input: `{}`, Claims: tool.Claims{Reversible: true, Local: true}, Offers: []string{"pay"}},
			[]string{"It changes only what can be undone", "stays on this machine", "Source: own, trust own"},
			[]string{"DESTROY", "not trusted", "outside"},
			`["allow","allow-0","reject"]`,
		},
		{
			"P4 what only reads",
			policy.Question{Tool: "pay", Input: `{}`, Claims: tool.Claims{ReadOnly: true}},
			[]string{"It only reads, and may reach outside this machine.", "Source: the program itself"},
			[]string{"DESTROY"},
			`["allow","reject"]`,
		},
		{
			"P4 why, by which rule, and what is to be known beside it",
			policy.Question{Tool: "pay", Input: `{}`, Reason: "money", Rule: "ask pay", From: []string{"to came from mail__read\u200b"}, Note: policy.NoteEarly},
			[]string{"Why you are asked: money", "Rule: ask pay", "Copied: to came from mail__read<U+200B>", "Note: " + policy.NoteEarly},
			nil, `["allow","reject"]`,
		},
		{
			"P4 nothing is hidden in what is shown",
			policy.Question{Tool: "pay", Input: "{\"to\":\"a\u202eda\"}", Preview: "\u200b", Rule: "a\u200b"},
			[]string{"a<U+202E>da", "<U+200B>", "Rule: a<U+200B>"},
			[]string{"\u202e", "\u200b"},
			`["allow","reject"]`,
		},
		{
			"P4 as much as can be shown can be allowed",
			policy.Question{Tool: "pay", Input: long, Preview: long},
			[]string{long + "\n"},
			[]string{"too long"},
			`["allow","reject"]`,
		},
		{
			"P4 what is too long to be shown cannot be allowed here",
			policy.Question{ID: "q1", Tool: "pay", Input: `{"pad":"` + long + `","to":"mallory"}`, Offers: []string{"pay"}, Claims: tool.Claims{Reversible: true}},
			[]string{"too long to be allowed here", "ferrule approvals show q1", "ferrule approvals allow q1", "… ("},
			[]string{"mallory"},
			`["reject"]`,
		},
		{
			"P4 nor where what it would do is too long",
			policy.Question{ID: "q1", Tool: "pay", Input: `{}`, Preview: long + "x"},
			[]string{"too long to be allowed here"},
			nil, `["reject"]`,
		},
		{
			"P4 what cannot be seen counts as it is shown",
			policy.Question{ID: "q1", Tool: "pay", Input: strings.Repeat("\u202e", maxShown/4)},
			[]string{"too long to be allowed here"},
			nil, `["reject"]`,
		},
		{
			"P4 a question of a tool that is too long is not answered here",
			policy.Question{ID: "q1", Tool: "pay", Wants: long + "x"},
			[]string{"too long to be answered here", "ferrule approvals allow q1 --text"},
			nil, `["reject"]`,
		},
		{
			"M5 what a tool wants to know, and about which call",
			policy.Question{Tool: "pay", Source: bank, Input: `{"to":"ada"}`, Wants: "From which account?"},
			[]string{"pay (of bank) asks:\n\nFrom which account?", `{"to":"ada"}`},
			[]string{"DESTROY"},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			form := formOf(&tt.q)
			text := textMember(form, "message")
			for _, want := range tt.shows {
				if !strings.Contains(text, want) {
					t.Errorf("got %q, want %q in it", text, want)
				}
			}
			for _, not := range tt.hides {
				if strings.Contains(text, not) {
					t.Errorf("got %q, want no %q in it", text, not)
				}
			}
			enum := ""
			if _, rest, ok := strings.Cut(string(form), `"enum":`); ok {
				enum, _, _ = strings.Cut(rest, "]")
				enum += "]"
			}
			if enum != tt.enum {
				t.Errorf("choices: got %s, want %s", enum, tt.enum)
			}
			for _, word := range []string{"allow", "allow-0"} {
				if a, ok := readForm(&tt.q, []byte(`{"action":"accept","content":{"decision":"`+word+`","answer":"x"}}`)); ok && tt.enum != "" && !strings.Contains(enum, `"`+word+`"`) {
					t.Errorf("%s was taken as %+v, and is no choice", word, a)
				}
			}
		})
	}
}

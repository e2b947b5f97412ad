package cedar_test

import (
	"testing"

	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestExact(t *testing.T) {
	t.Parallel()
	short := func(allow ...string) cedar.Rules { return cedar.Rules{Allow: allow, Workspace: "/work"} }
	tests := []struct {
		name  string
		rules cedar.Rules
		text  string
		want  bool
	}{
		{"its name", short("s__x"), "", true},
		{"a wildcard", short("s__*"), "", false},
		{"everything", short("*"), "", false},
		{"a wildcard that fits nothing else", short("s__x*"), "", false},
		{"its source", short("source:box"), "", false},
		{"its tag", short("tag:files"), "", false},
		{"its name beside a wildcard", short("s__*", "s__x"), "", true},
		{"its name for these calls, beside a wildcard", short("s__*", "s__x(path: a/**)"), "", true},
		{"its name for other calls, beside a wildcard", short("s__*", "s__x(path: b/**)"), "", false},
		{"its name in Cedar", short(), `permit(principal, action, resource == Tool::"s__x");`, true},
		{"its name in Cedar, under a condition", short("*"), `permit(principal, action, resource == Tool::"s__x") when { context.args.n == 1 };`, true},
		{"its source in Cedar", short(), `permit(principal, action, resource in Source::"box");`, false},
		{"anything in Cedar", short(), `permit(principal, action, resource);`, false},
	}
	for _, tt := range tests {
		t.Run("M4 an allow by "+tt.name, func(t *testing.T) {
			t.Parallel()
			var texts []string
			if tt.text != "" {
				texts = append(texts, tt.text)
			}
			s := set(t, tt.rules, texts...)
			q := request(t, "s__x", `{"n":1,"Facts":{"Paths":["/work/a/f"]}}`)
			for range 2 { // the second time of what was kept
				if d := s.Decide(q); d.Verdict != tool.Allow || d.Exact != tt.want {
					t.Errorf("got %s, exact %v, want allow, exact %v", d.Verdict, d.Exact, tt.want)
				}
			}
			if d := s.Explain(q).Decision; d.Exact != tt.want {
				t.Errorf("explained: got exact %v, want %v", d.Exact, tt.want)
			}
		})
	}
	t.Run("M4 what asks or denies is not exact: nothing is allowed", func(t *testing.T) {
		t.Parallel()
		s := set(t, cedar.Rules{Allow: []string{"s__x"}, Ask: []string{"s__x"}})
		if d := s.Decide(request(t, "s__x", `{}`)); d.Verdict != tool.Ask || d.Exact {
			t.Errorf("got %s, exact %v, want ask", d.Verdict, d.Exact)
		}
	})
}

package cedar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

// A rule by name fits the tool's own name and that which models use.
func TestOwnNames(t *testing.T) {
	t.Parallel()
	allow := func(text string) cedar.Rules { return cedar.Rules{Allow: []string{text}} }
	deny := func(text string) cedar.Rules { return cedar.Rules{Deny: []string{text}} }
	long := strings.Repeat("x", 80)
	for _, tt := range []struct {
		name         string
		rules        cedar.Rules
		text         string
		source, tool string
		want         string
	}{
		{"a dot", deny("db.drop"), "", "", "db.drop", "deny"},
		{"a dot in a pattern", deny("db.*"), "", "", "db.drop", "deny"},
		{"a pattern without a dot", deny("*drop"), "", "", "db.drop", "deny"},
		{"the name for models", deny(tool.WireName("", "db.drop")), "", "", "db.drop", "deny"},
		{"another", deny("db.dro"), "", "", "db.drop", "silent"},
		{"a dot, allowed", allow("db.drop"), "", "", "db.drop", "allow"},
		{"of a source", deny("box__db.drop"), "", "box", "db.drop", "deny"},
		{"of a source, without it", deny("db.drop"), "", "box", "db.drop", "silent"},
		{"of another source", allow("box__db.drop"), "", "fox", "db.drop", "silent"},
		{"a long one", deny(long), "", "", long, "deny"},
		{"a long one, allowed", allow(long), "", "", long, "allow"},
		{"a source whose end is not clear", deny("a___x"), "", "a_", "x", "deny"},
		{"a source whose end is not clear, allowed", allow("a___x"), "", "a_", "x", "silent"},
		{"a source whose end is not clear, allowed with a dot", allow("a___x.y"), "", "a_", "x.y", "silent"},
		{"a name that looks like another's, allowed", allow(tool.WireName("a", "b.c")), "", "a", tool.WireName("a", "b.c")[len("a__"):], "silent"},
		{"in Cedar", cedar.Rules{}, `forbid (principal, action, resource) when { resource.own_name == "db.drop" };`, "", "db.drop", "deny"},
		{"in Cedar, for models", cedar.Rules{}, `forbid (principal, action, resource == Tool::"` + tool.WireName("", "db.drop") + `");`, "", "db.drop", "deny"},
	} {
		t.Run("P2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := set(t, tt.rules, tt.text)
			q := &tool.Request{Name: tool.WireName(tt.source, tt.tool), Source: tool.Source{Name: tt.source}, Tool: &tool.Info{Name: tt.tool}}
			if got := s.Decide(q); got.Verdict.String() != tt.want {
				t.Errorf("%s: got %+v, want %s", q.Name, got, tt.want)
			}
			if got := set(t, cedar.Rules{}, s.String()).Decide(q); got.Verdict.String() != tt.want {
				t.Errorf("%s: read again: got %+v, want %s", q.Name, got, tt.want)
			}
		})
	}
}

// What is not known fits no rule that allows, and every other one, also where
// that is said with unless.
func TestUnless(t *testing.T) {
	t.Parallel()
	const rm, ls, unknown = `{"Facts":{"Commands":[["rm"]]}}`, `{"Facts":{"Commands":[["ls"]]}}`, `{}`
	for _, tt := range []struct{ rule, args, want string }{
		{`permit (principal, action, resource) unless { context.met.contains("rm*") };`, rm, "silent"},
		{`permit (principal, action, resource) unless { context.met.contains("rm*") };`, ls, "allow"},
		{`permit (principal, action, resource) unless { context.met.contains("rm*") };`, unknown, "silent"},
		{`permit (principal, action, resource) when { context.covered.contains("ls*") };`, ls, "allow"},
		{`permit (principal, action, resource) when { context.covered.contains("ls*") };`, unknown, "silent"},
		{`forbid (principal, action, resource) unless { context.covered.contains("ls*") };`, rm, "deny"},
		{`forbid (principal, action, resource) unless { context.covered.contains("ls*") };`, ls, "silent"},
		{`forbid (principal, action, resource) unless { context.covered.contains("ls*") };`, unknown, "deny"},
		{`forbid (principal, action, resource) when { context.met.contains("rm*") };`, unknown, "deny"},
		{`@ask permit (principal, action, resource) when { context.met.contains("rm*") };`, unknown, "ask"},
		{`@ask permit (principal, action, resource) when { context.met.contains("rm*") };`, ls, "silent"},
		{`@ask permit (principal, action, resource) unless { context.covered.contains("ls*") };`, unknown, "ask"},
		{`permit (principal, action, resource) unless { context.args.x == 1 };`, `{"x":1}`, "silent"},
		{`permit (principal, action, resource) unless { context.args.x == 1 };`, `{"x":2}`, "allow"},
		{`permit (principal, action, resource) unless { context.args.x == 1 };`, `{}`, "deny"},
	} {
		if got := set(t, cedar.Rules{}, tt.rule).Decide(request(t, "a", tt.args)); got.Verdict.String() != tt.want {
			t.Errorf("P2 %s of %s: got %+v, want %s", tt.rule, tt.args, got, tt.want)
		}
	}
}

// Names that look like those of the flat context are names.
func TestArgumentNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"unheld.x", "a.unheld.b", "args.x", "x"} {
		text := fmt.Sprintf(`permit (principal, action, resource); forbid (principal, action, resource) when { context.args has %q && context.args[%q] == 1 };`, name, name)
		q := request(t, "a", fmt.Sprintf(`{%q: 1}`, name))
		if got := set(t, cedar.Rules{}, text).Decide(q); got.Verdict != tool.Deny || got.Rule != "deny-1 (a.cedar:1)" {
			t.Errorf("S2 the argument %s: got %+v, want it found", name, got)
		}
	}
	s := set(t, cedar.Rules{}, `permit (principal, action, resource) when { context.covered.contains("cat unheld.txt") && context.args.x == 1 };`)
	if got := s.Decide(request(t, "a", `{"x":1,"Facts":{"Commands":[["cat","unheld.txt"]]}}`)); got.Verdict != tool.Allow {
		t.Errorf("S2 a pattern with unheld. in it: got %+v, want allow", got)
	}
}

// What is written within each other takes no longer than what stands side by
// side: it would not end if each if doubled it.
func TestNestedConditions(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"if":  strings.Repeat("if ", 200) + "context.args.x" + strings.Repeat(" then true else false", 200),
		"!":   strings.Repeat("!", 4) + "context.args.x",
		"&&":  strings.Repeat("context.args.x && ", 300) + "context.args.x",
		"any": `context.covered.containsAny(["a` + strings.Repeat(`", "a`, 900) + `"]) || context.args.x`,
	} {
		s := set(t, cedar.Rules{}, "permit (principal, action, resource) when { "+text+" };")
		if got := s.Decide(request(t, "a", `{"x":true}`)); got.Verdict != tool.Allow {
			t.Errorf("P2 many %s: got %+v, want allow", what, got)
		}
	}
}

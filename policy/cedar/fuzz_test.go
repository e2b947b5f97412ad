package cedar_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

// checkFaults wants each fault to have a place within what was given.
func checkFaults(t *testing.T, err error, lines func(file string) []string) {
	faults := cedar.Faults(err)
	if len(faults) == 0 {
		t.Fatalf("got %v, want an *Error", err)
	}
	for _, f := range faults {
		text := lines(f.File)
		if f.Text == "" || f.Line < 1 || f.Line > len(text) || f.Column < 1 || f.Column > utf8.RuneCountInString(text[f.Line-1])+1 {
			t.Fatalf("got %v, want a place within %q", f, text)
		}
	}
}

// What can be read decides, and can be read again once it was written.
func checkSet(t *testing.T, s *cedar.Set) {
	q := request(t, "fs_read", `{"path":"/etc/passwd","n":1.5,"Facts":{"Paths":["/etc/passwd"]}}`)
	d := s.Decide(q)
	again, err := cedar.New(cedar.Rules{}, cedar.File{Name: "again", Text: s.String()})
	if err != nil {
		t.Fatalf("%v\n%s", err, s)
	}
	if got := again.Decide(q); got.Verdict != d.Verdict {
		t.Fatalf("got %+v, read again %+v\n%s", d, got, s)
	}
	if e := s.Explain(q); e.Decision != d {
		t.Fatalf("got %+v, explained %+v", d, e.Decision)
	}
	if fixed, ok := s.Fixed(&tool.Request{Name: q.Name, Source: q.Source, Tool: q.Tool}); ok && fixed != d {
		t.Fatalf("got %+v, fixed %+v", d, fixed)
	}
}

func FuzzCedar(f *testing.F) {
	for _, seed := range []string{
		"", "permit (principal, action, resource);", "@ask(\"x\") permit (principal, action, resource) when { context.args.n > 1 };",
		`@id("a") forbid (principal == Principal::"x", action in [Action::"call"], resource is Tool in Tag::"y") unless { context.covered.contains("path: /etc/**") };`,
		`permit (principal, action, resource) when { if context has args then context.args has path.x else -(-1) == 1 + 2 * 3 };`,
		`permit (principal, action, resource) when { resource.tags.containsAny(["a"]) && ip("::1").isLoopback() && {"a": [1, "\u{1F600}"]}["a"] == [] };`,
		"permit (principal, action, resource) when { \"a\\\" };", "// x\n/* y", "permit(principal,action,resource)when{!!!((true))};;", "@", "\xff", "\x00", "permit (principal, action, resource) when { context.met.contains(\"(\") };",
		"permit (principal, action, resource) when { (-1).isEmpty() || 1.a || (-1) has a || -(-1) == 1 };", "permit (principal, action, resource); /*", "\ufeff@Ask permit (principal, action, resource);",
		`forbid (principal, action, resource == Tool::"a.b") when { resource.own_name == "a.b" && context.mode != "x" } unless { context.covered.containsAll(["a", "b"]) };`,
		`permit (principal, action, resource) when { "a" like "\**" } when { principal.hasTag("x") };`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := cedar.New(cedar.Rules{}, cedar.File{Name: "a", Text: text})
		if err != nil {
			checkFaults(t, err, func(string) []string { return strings.Split(text, "\n") })
			return
		}
		checkSet(t, s)
	})
}

func FuzzShortRules(f *testing.F) {
	for _, seed := range []string{"fs_read", "tag:a b", "source:x*", `*(path: "/a, b/**", git*)`, "shell(git", "x(host: [::1]:80)", "tag:\"", "\xff", "a(b)\n"} {
		f.Add(seed, seed, "/work")
	}
	f.Fuzz(func(t *testing.T, deny, allow, workspace string) {
		rules := cedar.Rules{Deny: []string{deny}, Allow: []string{allow}, Workspace: workspace}
		s, err := cedar.New(rules)
		if err != nil {
			checkFaults(t, err, func(file string) []string { return map[string][]string{"deny": {deny}, "allow": {allow}}[file] })
			return
		}
		checkSet(t, s)
	})
}

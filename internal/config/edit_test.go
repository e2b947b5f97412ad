package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/policy"
)

func TestAlways(t *testing.T) {
	t.Parallel()
	const rule = `sh(path: "/a, b/**")`
	add := func(path string) error { return config.AddAlways(path, config.Always{Rule: rule}) }
	remove := func(path string) error { return config.RemoveAlways(path, config.Always{Rule: "b*"}) }
	replace := func(path string) error {
		return config.ReplaceAlways(path, config.Always{Rule: "b*"}, config.Always{Rule: "z"})
	}
	hers := config.Always{Rule: "b(x)", Principal: "ada", Tenant: "a\"b", Source: "s", Definition: "d", Second: true}
	const herItem = `{rule: "b(x)", principal: "ada", tenant: "a\"b", source: "s", definition: "d", second: true}`
	addHers := func(path string) error { return config.AddAlways(path, hers) }
	removeHers := func(path string) error { return config.RemoveAlways(path, hers) }
	replaceHers := func(path string) error {
		return config.ReplaceAlways(path, hers, config.Always{Rule: "z", Principal: "ada"})
	}
	const quoted = `"sh(path: \"/a, b/**\")"`
	tests := []struct {
		name         string
		do           func(string) error
		before, want string
	}{
		{"P5 to no file", add, "", "policy:\n  always:\n    - " + quoted + "\n"},
		{"P5 to a file with comments only", add, "# mine\n", "# mine\n\npolicy:\n  always:\n    - " + quoted + "\n"},
		{"P5 to a file without an end of line", add, "workspace: .", "workspace: .\n\npolicy:\n  always:\n    - " + quoted + "\n"},
		{"P5 behind the last of a list", add, "policy:\n  always: # said by people\n    # ada\n    - a # first\n    - b\n\n  # strict\n  mode: read\n", "policy:\n  always: # said by people\n    # ada\n    - a # first\n    - b\n    - " + quoted + "\n\n  # strict\n  mode: read\n"},
		{"P5 to a list that is not indented", add, "policy:\n  always:\n  - a\n  mode: read\n", "policy:\n  always:\n  - a\n  - " + quoted + "\n  mode: read\n"},
		{"P5 to a list in brackets", add, "policy:\n  always: [a, b] # x\n", "policy:\n  always: [" + quoted + ", a, b] # x\n"},
		{"P5 to an empty list in brackets", add, "policy: {always: [], mode: read}\n", "policy: {always: [" + quoted + "], mode: read}\n"},
		{"P5 to a key without a value", add, "policy:\n  always: # none\n  mode: read\n", "policy:\n  always: # none\n    - " + quoted + "\n  mode: read\n"},
		{"P5 to null", add, "policy:\n  always: null\n", "policy:\n  always: \n    - " + quoted + "\n"},
		{"P5 to a policy without the key", add, "# top\npolicy: # rules\n    # what runs\n    allow: [x]\nworkspace: .\n", "# top\npolicy: # rules\n    always:\n      - " + quoted + "\n    # what runs\n    allow: [x]\nworkspace: .\n"},
		{"P5 to a policy in braces", add, "policy: {allow: [x]}\n", "policy: {always: [" + quoted + "], allow: [x]}\n"},
		{"P5 to an empty policy", add, "policy:\nworkspace: .\n", "policy:\n  always:\n    - " + quoted + "\nworkspace: .\n"},
		{"P5 to a file in braces", add, "{workspace: .}\n", "{policy: {always: [" + quoted + "]}, workspace: .}\n"},
		{"P5 to a file with other ends of line", add, "policy:\r\n  always:\r\n    - a\r\n", "policy:\r\n  always:\r\n    - a\r\n    - " + quoted + "\r\n"},
		{"P5 one that is there", add, "policy:\n  always: [a, 'sh(path: \"/a, b/**\")']\n", "policy:\n  always: [a, 'sh(path: \"/a, b/**\")']\n"},
		{"P5 revoked from a list", remove, "policy:\n  always:\n    - a # one\n    - \"b*\" # two\n    - c # three\n", "policy:\n  always:\n    - a # one\n    - c # three\n"},
		{"P5 revoked as the only one", remove, "policy:\n  always:\n    - 'b*'\n  mode: read\n", "policy:\n  mode: read\n"},
		{"P5 revoked as the only one, and nothing else stands there", remove, "workspace: .\npolicy:\n  always:\n    - 'b*'\n", "workspace: .\n"},
		{"P5 revoked as the only one, where somebody has written something", remove, "policy: # mine\n  always: # these\n    - 'b*'\n", "policy: # mine\n  always: # these\n"},
		{"P5 revoked as the only one, below a comment", remove, "policy:\n  always:\n    # this\n    - 'b*'\n", "policy:\n  always:\n    # this\n"},
		{"P5 revoked where it stands twice", remove, "policy:\n  always:\n    - b*\n    - a\n    - b*", "policy:\n  always:\n    - a\n"},
		{"P5 revoked from brackets, first", remove, "policy: {always: [b*, a]}\n", "policy: {always: [a]}\n"},
		{"P5 revoked from brackets, last", remove, "policy: {always: [ é, \"b*\" ]}\n", "policy: {always: [ é ]}\n"},
		{"P5 revoked from brackets, alone", remove, "policy: {always: [b*]}\n", "policy: {always: []}\n"},
		{"P5 edited", replace, "policy:\n  always:\n    - a\n    - b* # old\n", "policy:\n  always:\n    - a\n    - \"z\" # old\n"},
		{"P5 edited wherever it stands", replace, "policy:\n  always: [b*, a, \"b*\", 'b*']\n", "policy:\n  always: [\"z\", a]\n"},
		{"P5 edited to one that is there", replace, "policy:\n  always:\n    - z\n    - b*\n", "policy:\n  always:\n    - z\n"},
		{"P5 comments of others stay, in brackets", remove, "policy:\n  always: [\n    b*, # two\n    # ada, in March:\n    c, # three\n  ]\n", "policy:\n  always: [\n    # ada, in March:\n    c, # three\n  ]\n"},
		{"P5 comments of others stay, at the end of brackets", remove, "policy:\n  always: [\n    a, # one\n    # keep this\n    b*\n  ]\n", "policy:\n  always: [\n    a, # one\n    # keep this\n  ]\n"},
		{"P5 for somebody, to no file", addHers, "", "policy:\n  always:\n    - " + herItem + "\n"},
		{"P5 for somebody, behind one of several lines", addHers, "policy:\n  always:\n    - rule: a\n      principal: bob\n  mode: read\n", "policy:\n  always:\n    - rule: a\n      principal: bob\n    - " + herItem + "\n  mode: read\n"},
		{"P5 for somebody, beside the same for another", addHers, "policy: {always: [b(x), {rule: b(x), principal: bob}]}\n", "policy: {always: [" + herItem + ", b(x), {rule: b(x), principal: bob}]}\n"},
		{"P5 revoked for somebody only", removeHers, "policy:\n  always:\n    - b(x)\n    - " + herItem + " # hers\n    - {rule: b(x), principal: bob}\n", "policy:\n  always:\n    - b(x)\n    - {rule: b(x), principal: bob}\n"},
		{"P5 revoked where it has several lines", removeHers, "policy:\n  always:\n    - rule: b( x )\n      principal: ada\n      tenant: a\"b\n      source: s\n      definition: d\n      second: true\n    - c\n", "policy:\n  always:\n    - c\n"},
		{"P5 revoked for somebody from brackets", removeHers, "policy: {always: [a, " + herItem + "]}\n", "policy: {always: [a]}\n"},
		{"P5 edited for somebody", replaceHers, "policy:\n  always:\n    - rule: b(x)\n      principal: ada\n      tenant: a\"b\n      source: s\n      definition: d\n      second: true\n    - c\n", "policy:\n  always:\n    - {rule: \"z\", principal: \"ada\"}\n    - c\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before, want := strings.ReplaceAll(tt.before, "é", "tag:é"), strings.ReplaceAll(tt.want, "é", "tag:é")
			path := filepath.Join(t.TempDir(), "ferrule.yaml")
			if before != "" {
				if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := tt.do(path); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != want {
				t.Errorf("got  %q, %v\nwant %q", got, err, want)
			}
			if info, err := os.Stat(path); before != "" && (err != nil || info.Mode().Perm() != 0o600) {
				t.Errorf("got mode %v, %v, want that of the file before", info.Mode(), err)
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".ferrule-*")); err != nil || left != nil {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestAlwaysRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, before, want string
		do                 func(string) error
	}{
		{"P5 a bad rule is not written", "workspace: .\n", `rule "sh(": column 4: got no closing parenthesis, want one`, func(p string) error { return config.AddAlways(p, config.Always{Rule: "sh("}) }},
		{"P5 a file with faults is not touched", "polcy: 1\n", `unknown key "polcy"`, func(p string) error { return config.AddAlways(p, config.Always{Rule: "a"}) }},
		{"P5 a rule in several lines is left to a person", "policy:\n  always:\n    - tag:a\n      b\n      c\n", "by hand", func(p string) error { return config.RemoveAlways(p, config.Always{Rule: "tag:a b c"}) }},
		{"P5 a rule that is not there", "policy: {always: [a]}\n", string(policy.ErrNoGrant), func(p string) error { return config.RemoveAlways(p, config.Always{Rule: "b"}) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "ferrule.yaml")
			if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := tt.do(path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != tt.before {
				t.Errorf("got %q, %v, want the file as it was", got, err)
			}
		})
	}
	t.Run("P5 a rule that is not there is told apart", func(t *testing.T) {
		err := config.RemoveAlways(filepath.Join(t.TempDir(), "f.yaml"), config.Always{Rule: "a"})
		if !errors.Is(err, policy.ErrNoGrant) {
			t.Errorf("got %v, want %v", err, policy.ErrNoGrant)
		}
	})
	t.Run("P5 a link to nothing stays one", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "ferrule.yaml")
		if err := os.Symlink(link+".real", link); err != nil {
			t.Skip(err)
		}
		for name, do := range map[string]func() error{
			"add":    func() error { return config.AddAlways(link, config.Always{Rule: "a"}) },
			"create": func() error { return config.Create(link, true) },
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), "is a link to a file that is not there") {
				t.Errorf("%s: got %v, want a refusal", name, err)
			}
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("got %v, %v, want the link", info, err)
		}
	})
	t.Run("P5 through a link the file itself is changed", func(t *testing.T) {
		dir := t.TempDir()
		file, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "ferrule.yaml")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(file, link); err != nil {
			t.Skip(err)
		}
		if err := config.AddAlways(link, config.Always{Rule: "a"}); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `- "a"`) {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

// FuzzAlways: whatever the file looks like, what is added is there and can be
// taken out again, and nothing else has changed; or nothing was done.
func FuzzAlways(f *testing.F) {
	for _, text := range []string{whole, config.Sample(), "{}", "policy: {}", "policy:\n  always:\n   -\n      a\n", "policy: {always: [\n a,\n b]}", "policy: ~", "...", "policy:\n  always: !!seq\n  - a\n"} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		before, err := config.Parse("f.yaml", dir, text)
		if err != nil {
			return
		}
		file, err := os.CreateTemp(dir, "*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Remove(file.Name()) }()
		if _, err := file.WriteString(text); err != nil || file.Close() != nil {
			t.Fatal(err)
		}
		rule := config.Always{Rule: "added_by_hand(x)", Principal: "ada", Second: true}
		if err := config.AddAlways(file.Name(), rule); err != nil {
			if got, _ := os.ReadFile(file.Name()); string(got) != text {
				t.Errorf("got %q, want it as it was after %v", got, err)
			}
			return
		}
		c, err := config.Load(file.Name())
		if err != nil || !slices.Contains(c.Policy.Always, rule) {
			t.Fatalf("got %+v, %v, want the rule in it", c, err)
		}
		if slices.Contains(before.Policy.Always, rule) || config.RemoveAlways(file.Name(), rule) != nil {
			return
		}
		if c, err := config.Load(file.Name()); err != nil || !slices.Equal(c.Policy.Always, before.Policy.Always) {
			t.Errorf("got %+v, %v, want %v", c, err, before.Policy.Always)
		}
	})
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// try runs the program in a directory.
func try(ctx context.Context, dir string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, dir: dir, now: time.Now, helper: helper}
	code = p.run(ctx, args)
	return out.String(), errs.String(), code
}

// ask puts a question into the store of a directory.
func ask(t *testing.T, dir string, q policy.Question) *store.Store {
	t.Helper()
	home := filepath.Join(dir, ".ferrule")
	if _, err := store.Home(home); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), filepath.Join(home, "ferrule.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	q.Asked, q.Expires = time.Now(), time.Now().Add(time.Hour)
	if err := s.Ask(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestProgram(t *testing.T) {
	t.Parallel()
	t.Run("Y4 a store that cannot be opened is 1", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if _, err := store.Home(filepath.Join(dir, ".ferrule")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".ferrule", "ferrule.db"), []byte("this is no database, and long enough to be looked at"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"approvals", "rules", "doctor"} {
			if _, stderr, code := try(t.Context(), dir, command); code != statusFailed || stderr == "" {
				t.Errorf("%s: got %d and %q, want 1 and why", command, code, stderr)
			}
		}
	})
	t.Run("P4 the list for programs is the questions", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		q := policy.Question{ID: "q1", Digest: "d", Tool: "x", Input: "{\"a\":\"\u202e\u009b\"}"}
		ask(t, dir, q)
		for _, args := range [][]string{{"approvals", "--json"}, {"approvals", "show", "q1", "--json"}} {
			stdout, _, code := try(t.Context(), dir, args...)
			text := strings.TrimSpace(stdout)
			if args[1] == "show" {
				text = "[" + text + "]"
			}
			var got []policy.Question
			if err := json.Unmarshal([]byte(text), &got); err != nil || code != 0 || len(got) != 1 || got[0].ID != "q1" || got[0].Input != q.Input {
				t.Errorf("%v: got %s, %v, %d", args, stdout, err, code)
			}
			if strings.ContainsAny(stdout, "\u202e\u009b") {
				t.Errorf("%v: got %q, want no character that hides or controls", args, stdout)
			}
		}
	})
	t.Run("P5 what was answered is in the store", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Input: "{}"})
		if _, stderr, code := try(t.Context(), dir, "approvals", "allow", "q1", "--args", `{"b":1}`); code != 0 {
			t.Fatalf("got %d, %s", code, stderr)
		}
		a, err := s.Use(t.Context(), "q1", "d")
		if err != nil || !a.Allow || string(a.Input) != `{"b":1}` || a.By != "local" {
			t.Errorf("got %+v, %v, want a yes to other arguments", a, err)
		}
	})
	t.Run("P5 what cannot be arguments does not use the answer up, from wherever it comes", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Input: "{}"})
		p := &program{dir: dir, now: time.Now, helper: helper}
		for _, input := range []string{"null", "[1]", `"x"`, "1", `{"a":1,"a":2}`, "{", ""} {
			if err := p.settle(t.Context(), &config.Config{}, s, "q1", policy.Answer{Allow: true, Input: json.RawMessage(input)}); err == nil {
				t.Errorf("%s: got no error", input)
			}
		}
		if _, err := s.Use(t.Context(), "q1", "d"); !errors.Is(err, policy.ErrWaiting) {
			t.Errorf("got %v, want that it still waits", err)
		}
	})
	t.Run("P5 always without a file makes one", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Input: "{}", Offers: []string{"x(/a b/)", "x"}})
		if _, stderr, code := try(t.Context(), dir, "approvals", "allow", "q1", "--always", "1", "--second-key"); code != 0 {
			t.Fatalf("got %d, %s", code, stderr)
		}
		text, err := os.ReadFile(filepath.Join(dir, "ferrule.yaml"))
		if want := "policy:\n  always:\n    - {rule: \"x(/a b/)\", second: true}\n"; err != nil || string(text) != want {
			t.Errorf("got %q, %v, want %q", text, err, want)
		}
	})
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		t.Run("Y4 completion of "+shell, func(t *testing.T) {
			t.Parallel()
			if stdout, stderr, code := try(t.Context(), t.TempDir(), "completion", shell); code != 0 || !strings.Contains(stdout, "ferrule") {
				t.Errorf("got %d, %s", code, stderr)
			}
		})
	}
	t.Run("P6 ids are completed", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Input: "{}"})
		if stdout, _, _ := try(t.Context(), dir, "__complete", "approvals", "allow", ""); !strings.HasPrefix(stdout, "q1\tx\n") {
			t.Errorf("got %q, want q1", stdout)
		}
	})
	t.Run("P6 an id that nobody could type is not completed", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		ask(t, dir, policy.Question{ID: "q\x1b[2J1", Digest: "d", Tool: "x", Input: "{}"})
		if stdout, _, _ := try(t.Context(), dir, "__complete", "approvals", "show", ""); strings.Contains(stdout, "\x1b") || strings.Contains(stdout, "2J") {
			t.Errorf("got %q, want no id", stdout)
		}
	})
	t.Run("P5 a rule that is revoked before its call runs is gone", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Claims: tool.Claims{Reversible: true}, Input: "{}", Offers: []string{"x"}, Caller: policy.Asker{Principal: "ada", Session: "s1"}})
		if _, stderr, code := try(t.Context(), dir, "approvals", "allow", "q1", "--session", "1"); code != 0 {
			t.Fatalf("got %d, %s", code, stderr)
		}
		grants, err := s.Grants(t.Context(), policy.Asker{})
		if err != nil || len(grants) != 1 || grants[0].Second {
			t.Fatalf("got %+v, %v, want the rule at once, without the second key", grants, err)
		}
		if stdout, stderr, code := try(t.Context(), dir, "rules", "revoke", grants[0].ID); code != 0 || !strings.Contains(stdout, "for ada") {
			t.Errorf("got %d, %s%s", code, stdout, stderr)
		}
		if _, err := s.Use(t.Context(), "q1", "d"); err != nil {
			t.Error(err)
		}
		if grants, err := s.Grants(t.Context(), policy.Asker{}); err != nil || len(grants) != 0 {
			t.Errorf("got %+v, %v, want none", grants, err)
		}
	})
	t.Run("P3 a second key that is not needed is not turned", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Claims: tool.Claims{Reversible: true}, Input: "{}", Offers: []string{"x"}})
		if _, stderr, code := try(t.Context(), dir, "approvals", "allow", "q1", "--always", "1", "--second-key"); code != 0 {
			t.Fatalf("got %d, %s", code, stderr)
		}
		grants, err := s.Grants(t.Context(), policy.Asker{})
		if err != nil || len(grants) != 1 || grants[0].Second {
			t.Errorf("got %+v, %v, want one without the second key", grants, err)
		}
	})
	t.Run("Y4 version", func(t *testing.T) {
		t.Parallel()
		stdout, _, code := try(t.Context(), t.TempDir(), "version", "--json")
		var v version
		if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != 0 || v.Go == "" || v.System == "" {
			t.Errorf("got %s, %v, %d", stdout, err, code)
		}
	})
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		setup  func(t *testing.T, dir string)
		failed []string
	}{
		{"Y4 an empty directory is well", func(*testing.T, string) {}, nil},
		{"Y1 a wrong configuration", func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "ferrule.yaml"), "polcy: 1\n")
		}, []string{"configuration"}},
		{"P2 wrong Cedar", func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "ferrule.yaml"), "policy: {files: [a.cedar]}\n")
			write(t, filepath.Join(dir, "a.cedar"), "permit")
		}, []string{"rules"}},
		{"Y2 a home that is a file", func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, ".ferrule"), "")
		}, []string{"home", "store"}},
		{"Y2 a home that others can read", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Mkdir(filepath.Join(dir, ".ferrule"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, []string{"home"}},
		{"H6 a hook whose program is not there", func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "ferrule.yaml"), "hooks: [{name: a, command: [no-such-program-here]}]\n")
		}, []string{"hooks"}},
		{"Y4 what would control the terminal", func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "ferrule.yaml"), "workspace: !x \"\\e]0;pwn\\a\\e[2J\"\nstore: \"a\\n\\e[2J\"\n")
		}, []string{"configuration"}},
		{"Y2 a workspace that would control the terminal", func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "ferrule.yaml"), "workspace: \"none\\e[2J\"\n")
		}, nil},
		{"Y2 a store that is none", func(t *testing.T, dir string) {
			t.Helper()
			if _, err := store.Home(filepath.Join(dir, ".ferrule")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, ".ferrule", "ferrule.db"), strings.Repeat("no database ", 100))
		}, []string{"store"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tt.setup(t, dir)
			stdout, _, code := try(t.Context(), dir, "doctor", "--json")
			var found []finding
			if err := json.Unmarshal([]byte(stdout), &found); err != nil {
				t.Fatal(err)
			}
			var failed []string
			for _, f := range found {
				if f.State == "failed" {
					failed = append(failed, f.Name)
				}
			}
			if want := min(len(tt.failed), 1); !slices.Equal(failed, tt.failed) || code != want {
				t.Errorf("got %v and %d, want %v and %d:\n%s", failed, code, tt.failed, want, stdout)
			}
			if text, _, again := try(t.Context(), dir, "doctor"); again != code || !strings.Contains(text, "clock") || strings.Contains(text, "\x1b") {
				t.Errorf("got %d and %s", again, text)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

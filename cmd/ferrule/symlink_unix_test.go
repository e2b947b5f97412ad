//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSymlinkedWorkspace(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder, dir := filepath.Join(top, "real"), filepath.Join(top, "link")
	for _, d := range []string{"no", "state"} {
		if err := os.MkdirAll(filepath.Join(folder, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(folder, "ferrule.yaml"), "tools: {shell: false}\npolicy: {allow: [fs_write], deny: ['fs_write(path: no/**)'], files: [rules.cedar]}\n")
	write(t, filepath.Join(folder, "none.yaml"), "tools: {shell: false}\n")
	write(t, filepath.Join(folder, "kept.cedar"), "")
	for name, target := range map[string]string{dir: folder, filepath.Join(folder, "rules.cedar"): "kept.cedar", filepath.Join(top, "home"): filepath.Join(folder, "state")} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		code int
		want string
		args []string
	}{
		{"P2 a rule about a folder of it denies", statusDenied, "denied by policy", []string{"call", "fs_write", `{"path":"no/b","content":"x"}`}},
		{"P10 mode edit does not ask for changes in it", statusDone, "", []string{"call", "fs_write", `{"path":"b","content":"x"}`, "--config", "none.yaml", "--mode", "edit", "--no-wait"}},
		{"P10 the file that a symlink among the rules leads to is protected", statusToolFailed, "protected", []string{"call", "fs_write", `{"path":"kept.cedar","content":"x"}`}},
		{"Y2 the state is hidden by its other name too", statusToolFailed, "hidden", []string{"call", "fs_list", `{"path":"state"}`, "--home", filepath.Join(top, "home")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, code := tryCall(t.Context(), dir, nil, tt.args...)
			if code != tt.code || !strings.Contains(stdout+stderr, tt.want) {
				t.Errorf("got %d, %s%s, want %d and %q", code, stdout, stderr, tt.code, tt.want)
			}
		})
	}
}

func TestLinkedClients(t *testing.T) {
	t.Parallel()
	// linked makes a file a link to another that is not there.
	linked := func(t *testing.T, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("none.json", name); err != nil {
			t.Fatal(err)
		}
	}
	text := func(t *testing.T, name string) string {
		t.Helper()
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	t.Run("M1 a link that leads nowhere stays one", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		name := filepath.Join(dir, ".cursor", "mcp.json")
		linked(t, name)
		if _, said, code := try(t.Context(), dir, "connect", "cursor"); code == statusDone || !strings.Contains(said, "is a link to a file that is not there") {
			t.Errorf("got %d, %s", code, said)
		}
		if to, err := os.Readlink(name); err != nil || to != "none.json" {
			t.Errorf("got %q, %v, want the link", to, err)
		}
	})
	t.Run("M1 a disconnect that failed half-way is made whole by the next", func(t *testing.T) {
		t.Parallel()
		const servers, settings = `{"mcpServers": {"a": {"command": "x"}}}`, `{"model": "opus"}`
		dir := t.TempDir()
		file, rules := filepath.Join(dir, ".mcp.json"), filepath.Join(dir, ".claude", "settings.json")
		write(t, file, servers)
		if err := os.Mkdir(filepath.Dir(rules), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, rules, settings)
		if _, said, code := try(t.Context(), dir, "connect", "claude-code"); code != statusDone {
			t.Fatal(code, said)
		}
		if err := os.Remove(rules); err != nil {
			t.Fatal(err)
		}
		linked(t, rules)
		if _, said, code := try(t.Context(), dir, "disconnect", "claude-code"); code == statusDone {
			t.Fatalf("got %d, %s, want that it cannot be written", code, said)
		}
		if err := os.Remove(rules); err != nil {
			t.Fatal(err)
		}
		if out, said, code := try(t.Context(), dir, "disconnect", "claude-code"); code != statusDone || !strings.Contains(out, "removed a from") {
			t.Errorf("got %d, %s%s", code, out, said)
		}
		if got := text(t, file); got != servers {
			t.Errorf("got %s, want %s", got, servers)
		}
		if got := text(t, rules); got != settings {
			t.Errorf("got %s, want %s", got, settings)
		}
		for _, name := range []string{file, rules} {
			if _, err := os.Lstat(before(name)); err == nil {
				t.Errorf("%s is left", before(name))
			}
		}
	})
}

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

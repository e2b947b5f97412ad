package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a command leaves in the folders that it writes is looked at by the next
// Box, which grants paths by their names.
func TestLinksLeftBehind(t *testing.T) {
	t.Parallel()
	for _, way := range ways() {
		for _, tt := range []struct{ name, swap, link string }{
			{"TMPDIR", `cd "$TMPDIR/.." && rm -rf tmp && ln -s OUTSIDE tmp`, "STATE/tmp"},
			{"HOME", `cd "$HOME/.." && rm -rf home && ln -s OUTSIDE home`, "STATE/home"},
			{"a folder to write", `rm -rf out && ln -s OUTSIDE out`, "WORK/out"},
			{"a folder to read", `rm -rf lib && ln -s OUTSIDE lib`, "WORK/lib"},
			{"a folder of PATH", `rm -rf bin && ln -s OUTSIDE bin`, "WORK/bin"},
			{"a program of PATH", `ln -s OUTSIDE/secret bin/x`, "WORK/bin/x"},
			{"what a program of PATH leads to", `ln -sf OUTSIDE/secret tool`, "WORK/tool"},
		} {
			t.Run("N1 a link in the place of "+tt.name+" opens nothing, "+way.name, func(t *testing.T) {
				t.Parallel()
				state, system := t.TempDir(), t.TempDir()
				project := func(c *Config) {
					work := c.Workspace[0]
					c.State, c.Write, c.Read = state, []string{filepath.Join(work, "out")}, append(c.Read, filepath.Join(work, "lib"))
					c.Env = append(c.Env, "PATH="+strings.Join([]string{os.Getenv("PATH"), filepath.Join(work, "bin"), system}, ":"))
				}
				w := newWorld(t, way.change, project)
				for _, name := range []string{"out", "lib", "bin"} {
					if err := os.MkdirAll(filepath.Join(w.work, name), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Symlink(filepath.Join(w.work, "tool"), filepath.Join(system, "tool")); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(w.outside, 0o755); err != nil {
					t.Fatal(err)
				}
				// Once by a command, as far as it can, and once by force.
				w.bash(strings.ReplaceAll(tt.swap, "OUTSIDE", w.outside))
				link := strings.NewReplacer("STATE", state, "WORK", w.work).Replace(tt.link)
				target := w.outside
				if strings.Contains(tt.swap, "OUTSIDE/secret") {
					target = filepath.Join(w.outside, "secret")
				}
				if err := os.RemoveAll(link); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(target, link); err != nil {
					t.Fatal(err)
				}
				config := Config{Helper: entered, Workspace: []string{w.work}, Network: Loopback, Read: []string{role()[0]}}
				way.change(&config)
				project(&config)
				box, err := New(config)
				if err != nil {
					t.Fatal(err)
				}
				again := *w
				again.box = box
				try := strings.ReplaceAll("exec 2>/dev/null; cat OUTSIDE/secret; echo x > OUTSIDE/new; echo x >> OUTSIDE/secret; echo tried", "OUTSIDE", w.outside)
				for _, only := range []bool{false, true} {
					if o, out := again.do(Command{Args: []string{"bash", "-c", try}, ReadOnly: only}); out != "tried\n" {
						t.Errorf("got %+v and %q, want all refused", o, out)
					}
				}
				if o, out := again.bash(`echo x > "$TMPDIR/x" && cat "$TMPDIR/x" && echo x > /tmp/x; ls "$HOME"`); o.Code != 0 || !strings.HasPrefix(out, "x\n") {
					t.Errorf("got %+v and %q, want folders of its own", o, out)
				}
				if err := box.Close(); err != nil {
					t.Error(err)
				}
				if info, err := os.Stat(w.outside); err != nil || info.Mode().Perm() != 0o755 {
					t.Errorf("got %v, %v: the rights of what the link led to were changed", info.Mode(), err)
				}
				if entries, err := os.ReadDir(w.outside); err != nil || len(entries) != 1 || read(t, filepath.Join(w.outside, "secret")) != "outside\n" {
					t.Errorf("got %v, %v, want secret alone, as it was", entries, err)
				}
			})
		}
	}
	t.Run("N1 a state behind a link in the workspace is refused", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		if err := os.Symlink(w.outside, filepath.Join(w.work, ".ferrule")); err != nil {
			t.Fatal(err)
		}
		_, err := makeState(filepath.Join(w.work, ".ferrule", "sandbox"), []string{w.work})
		if err == nil || !strings.Contains(err.Error(), "symbolic link in the workspace") {
			t.Errorf("got %v, want a refusal", err)
		}
	})
}

func TestStateAndGit(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	for _, way := range ways() {
		t.Run("N1 a state in the workspace is not committed with it, "+way.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, way.change, func(c *Config) {
				c.Hidden, c.State = []string{filepath.Join(c.Workspace[0], ".ferrule")}, filepath.Join(c.Workspace[0], ".ferrule", "sandbox")
			})
			if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", w.work).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if o, out := w.bash(`echo x > "$HOME/x"; echo x > a.txt; git add -A; git status --porcelain`); o.Code != 0 || out != "A  a.txt\n" {
				t.Errorf("got %+v and %q, want a.txt alone", o, out)
			}
		})
	}
}

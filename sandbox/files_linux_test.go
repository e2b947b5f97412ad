package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// guarded are the ways in which paths of the workspace can be protected and
// hidden.
func guarded() []way {
	return slices.DeleteFunc(ways(), func(w way) bool { return strings.Contains(w.name, "without") })
}

// project is a workspace with rules, a repository and the state of a host.
func project(c *Config) {
	dir := c.Workspace[0]
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"ferrule.yaml": "rules\n", ".git/config": "config\n", ".git/hooks/pre-commit": "hook\n", ".git/HEAD": "head\n",
		".ferrule/store": "private\n", "main.go": "package main\n", "deep/er/rules": "deep\n", "secret.txt": "private\n",
		"deep/er/secret": "private\n", "alone/secret": "private\n", "guarded/secret": "private\n", "guarded/shown": "shown\n",
	} {
		if err := os.MkdirAll(filepath.Dir(in(name)), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(in(name), []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
	c.Protected = []string{in("ferrule.yaml"), in(".git/hooks"), in(".git/config"), in("deep/er/rules"), in("guarded"), in("not-yet")}
	c.Hidden = []string{in(".ferrule"), in("secret.txt"), in("deep/er/secret"), in("alone/secret"), in("guarded/secret")}
	c.State = in(".ferrule/sandbox")
}

func TestGuardedPaths(t *testing.T) {
	for _, way := range guarded() {
		t.Run("N1 "+way.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, way.change, project)
			var all strings.Builder
			for _, try := range []string{
				"echo x > ferrule.yaml", "echo x >> ferrule.yaml", "rm -f ferrule.yaml", "mv ferrule.yaml away", "chmod 777 ferrule.yaml",
				"echo x > new && mv -f new ferrule.yaml", "ln ferrule.yaml other && echo x > other", "truncate -s 0 ferrule.yaml",
				"echo x > .git/config", "echo x > .git/hooks/pre-commit", "echo x > .git/hooks/new", "rm -rf .git/hooks",
				"mv .git .git2", "mv .git/hooks .git/old", "mv deep deep2", "mv deep/er deep/er2", "rm -rf deep",
				"ln -s . .git/hooks/x", "cp main.go .git/config.lock && mv .git/config.lock .git/config",
				"cat .ferrule/store", "echo x > .ferrule/store", "echo x > .ferrule/new", "rm -r .ferrule/store", "mv .ferrule away",
				"grep -q private secret.txt", "rm -f secret.txt", "mv secret.txt x && cat x",
				"grep -q private deep/er/secret", "grep -q private alone/secret", "grep -q private guarded/secret", "mv alone alone2", "rm -rf alone",
				"echo x > guarded/shown", "mv guarded guarded2", "rm -f guarded/secret",
				"cat .ferrule/sandbox/../store", "umount .ferrule", "umount -l ferrule.yaml",
			} {
				all.WriteString("( " + try + " ) >/dev/null 2>&1 && echo '" + try + "'\n")
			}
			if o, out := w.bash(all.String() + "echo tried"); out != "tried\n" {
				t.Errorf("got %+v and %q, want all refused", o, out)
			}
			for name, want := range map[string]string{
				"ferrule.yaml": "rules\n", ".git/config": "config\n", ".git/hooks/pre-commit": "hook\n",
				".ferrule/store": "private\n", "deep/er/rules": "deep\n", "secret.txt": "private\n",
				"deep/er/secret": "private\n", "alone/secret": "private\n", "guarded/secret": "private\n", "guarded/shown": "shown\n",
			} {
				if got := read(t, filepath.Join(w.work, name)); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
			// What one command could move away the next would find there.
			if o, out := w.bash("cat alone2/secret guarded2/secret; cat guarded/shown"); !strings.HasSuffix(out, "shown\n") || strings.Contains(out, "private\n") {
				t.Errorf("got %+v and %q, want nothing private", o, out)
			}
			// The rest is writable, and what is protected can be read.
			if o, out := w.bash(`cat ferrule.yaml .git/hooks/pre-commit && echo x > .git/HEAD && echo x > main.go && echo x > deep/er/more && echo x > "$TMPDIR/x" && cat "$TMPDIR/x" && ls -A .ferrule`); o.Code != 0 || out != "rules\nhook\nx\nsandbox\n" {
				t.Errorf("got %+v and %q", o, out)
			}
			if got := read(t, filepath.Join(w.work, ".git/HEAD")); got != "x\n" {
				t.Errorf("got %q", got)
			}
			// What is not there cannot be made either: it is put aside.
			for i, line := range []string{"echo x > not-yet", "mkdir not-yet && echo x > not-yet/x"} {
				o, out := w.bash(line)
				if o.Code != 0 || !slices.Equal(o.Aside, []string{filepath.Join(w.work, "not-yet")}) || exists(filepath.Join(w.work, "not-yet")) {
					t.Errorf("%s: got %+v and %q, want it put aside", line, o, out)
				}
				if name := filepath.Join(w.work, "not-yet.made-by-a-command"+[]string{"", "-2"}[i]); !exists(name) {
					t.Errorf("%s: %s is not there", line, name)
				}
			}
			if o, _ := w.bash("echo x > made; mkdir made-too"); len(o.Aside) > 0 {
				t.Errorf("put aside: %q", o.Aside)
			}
			// What did not exist is protected once it does.
			write(t, filepath.Join(w.work, "not-yet"), "now\n")
			if o, out := w.bash("echo x > not-yet"); o.Code == 0 {
				t.Errorf("got %+v and %q, want it refused", o, out)
			}
			// Nor does a file lose its protection when the host replaces it.
			write(t, filepath.Join(w.work, "new"), "rules of today\n")
			if err := os.Rename(filepath.Join(w.work, "new"), filepath.Join(w.work, "ferrule.yaml")); err != nil {
				t.Fatal(err)
			}
			if o, out := w.bash("cat ferrule.yaml; echo x > ferrule.yaml"); o.Code == 0 || !strings.HasPrefix(out, "rules of today\n") {
				t.Errorf("got %+v and %q, want the new file, and a refusal", o, out)
			}
		})
	}
	t.Run("N1 without namespaces it is said that nothing is guarded", func(t *testing.T) {
		w := newWorld(t, func(c *Config) { c.noNamespaces = "a test" }, project)
		a := w.box.Applied()
		missing := strings.Join(slices.Concat(a.Missing, a.Differs), "\n")
		for _, want := range []string{"there are no user namespaces: a test", "ferrule.yaml can be written", ".ferrule can be read", "the network is off"} {
			if !strings.Contains(missing, want) {
				t.Errorf("got %q, want %q in it", missing, want)
			}
		}
	})
}

// What an editor saves is a new file under the old name, without a cover.
func TestHiddenAnew(t *testing.T) {
	for _, way := range guarded() {
		t.Run("N1 "+way.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, way.change, project, func(c *Config) {
				c.Hidden = append(c.Hidden, filepath.Join(c.Workspace[0], "later"), filepath.Join(c.Workspace[0], "later.txt"))
			})
			look := func(when string) {
				for _, only := range []bool{false, true} {
					_, out := w.do(Command{Args: []string{"bash", "-c", "cat secret.txt later/x later.txt .ferrule/store"}, ReadOnly: only})
					if strings.Contains(out, "private\n") {
						t.Errorf("%s, read-only %v: got %q, want nothing private", when, only, out)
					}
				}
			}
			look("at first")
			write(t, filepath.Join(w.work, "later", "x"), "private\n")
			write(t, filepath.Join(w.work, "later.txt"), "private\n")
			look("when more has come to be")
			for range 2 {
				write(t, filepath.Join(w.work, "new"), "private\n")
				if err := os.Rename(filepath.Join(w.work, "new"), filepath.Join(w.work, "secret.txt")); err != nil {
					t.Fatal(err)
				}
				look("when it was saved anew")
			}
			if o, out := w.bash("cat /proc/self/mountinfo | grep -c secret.txt"); out != "1\n" && way.name == "process" {
				t.Errorf("got %+v and %q mounts, want 1", o, out)
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	for _, way := range ways() {
		t.Run("N1 a command that only reads writes nothing but TMPDIR, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change)
			write(t, filepath.Join(w.work, "file"), "text\n")
			for _, try := range []string{"echo x > new", "echo x > file", "rm file", "mkdir dir", `echo x > "$HOME/x"`, `mkdir "$GOCACHE"`, "truncate -s 0 file"} {
				if o, out := w.do(Command{Args: []string{"bash", "-c", try}, ReadOnly: true}); o.Code == 0 {
					t.Errorf("%s: got %+v and %q, want it refused", try, o, out)
				}
			}
			if o, out := w.do(Command{Args: []string{"bash", "-c", `cat file && echo x > "$TMPDIR/x" && cat "$TMPDIR/x" 2>/dev/null`}, ReadOnly: true}); o.Code != 0 || out != "text\nx\n" {
				t.Errorf("got %+v and %q", o, out)
			}
			if o, out := w.bash("echo x > new && cat new"); o.Code != 0 {
				t.Errorf("one that writes: got %+v and %q", o, out)
			}
		})
	}
}

func TestTemporary(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/var/tmp", "ferrule-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, way := range guarded() {
		t.Run("N1 /tmp is private, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change, func(c *Config) { c.Workspace, c.Read = []string{dir}, nil })
			o, out := w.bash(`echo x > /tmp/x && cat "$TMPDIR/x" && ls -A /tmp && rm /tmp/x`)
			if o.Code != 0 || out != "x\nx\n" {
				t.Errorf("got %+v and %q, want a /tmp with one file", o, out)
			}
			if o, out := w.do(Command{Args: []string{"bash", "-c", `echo x > /tmp/x && rm /tmp/x && ! touch "$HOME/x"`}, ReadOnly: true}); o.Code != 0 {
				t.Errorf("only reading: got %+v and %q", o, out)
			}
		})
	}
}

func TestReadAndWrite(t *testing.T) {
	t.Parallel()
	for _, way := range ways() {
		t.Run("N1 further paths, "+way.name, func(t *testing.T) {
			extra := t.TempDir()
			write(t, filepath.Join(extra, "r/file"), "readable\n")
			write(t, filepath.Join(extra, "w/file"), "writable\n")
			write(t, filepath.Join(extra, "n/file"), "neither\n")
			w := newWorld(t, way.change, func(c *Config) {
				c.Read = append(c.Read, filepath.Join(extra, "r"), filepath.Join(extra, "not there"))
				c.Write = []string{filepath.Join(extra, "w")}
			})
			for try, want := range map[string]bool{
				"cat " + extra + "/r/file": true, "echo x > " + extra + "/r/file": false, "cat " + extra + "/w/file": true,
				"echo x > " + extra + "/w/new": true, "cat " + extra + "/n/file": false, "cat /etc/passwd > /dev/null": true,
				"cat /etc/shadow": false, "cat /etc/ssl/private/*": false,
			} {
				if o, out := w.bash(try); (o.Code == 0) != want {
					t.Errorf("%s: got %+v and %q, want success: %v", try, o, out, want)
				}
			}
			if got := read(t, filepath.Join(extra, "w/new")); got != "x\n" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("FERRULE_TEST_TOKEN", "hunter2")
	t.Setenv("SSH_AUTH_SOCK", "/tmp/agent")
	t.Setenv("LC_TIME", "C")
	for _, way := range append(ways(), way{"in-process", func(c *Config) { c.Level = InProcess }}) {
		t.Run("N1 the environment is clean, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change, func(c *Config) { c.Env = append(c.Env, "OWN=1", "TZ=UTC") })
			_, out := w.do(Command{Args: []string{"env"}, Env: []string{"MORE=2", "OWN=3"}})
			for _, want := range []string{"OWN=3\n", "MORE=2\n", "TZ=UTC\n", "LC_TIME=C\n", "PATH=" + os.Getenv("PATH") + "\n", "HOME=" + w.box.config.State + "/home\n", "GOPROXY=off\n"} {
				if !strings.Contains("\n"+out, "\n"+want) {
					t.Errorf("got %q, want %q in it", out, want)
				}
			}
			for _, bad := range []string{"hunter2", "SSH_AUTH_SOCK", "OWN=1"} {
				if strings.Contains(out, bad) {
					t.Errorf("got %q, want no %q in it", out, bad)
				}
			}
			if info, err := os.Stat(w.box.config.State + "/home"); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the private home: got %v (%v), want mode 0700", info, err)
			}
		})
	}
}

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is in PATH is granted, with what its links lead to. A home is not, whatever
// leads there.
func TestHomeIsNoToolchain(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(t *testing.T, home, dir string) // dir is a folder of PATH
		env  string
	}{
		{"the home in PATH", nil, "PATH=HOME:HOME/bin"},
		{"what holds the home in PATH", nil, "PATH=HOME/..:HOME/bin"},
		{"a link to the home in PATH", func(t *testing.T, home, dir string) { leadTo(t, home, dir+"/x") }, "PATH=DIR/x:HOME/bin"},
		{"a link to the home in a folder of PATH", func(t *testing.T, home, dir string) { leadTo(t, home, dir+"/x") }, "PATH=DIR:HOME/bin"},
		{"a link to what holds the home in a folder of PATH", func(t *testing.T, home, dir string) { leadTo(t, filepath.Dir(home), dir+"/x") }, "PATH=DIR:HOME/bin"},
		{"a home that is a link, and the real one in PATH", func(t *testing.T, home, dir string) {
			leadTo(t, home, dir+"/home")
			t.Setenv("HOME", dir+"/home")
		}, "PATH=HOME:HOME/bin"},
		{"a Go that lies in the home itself", func(t *testing.T, home, _ string) {
			write(t, home+"/src/runtime/x", "")
			write(t, home+"/pkg/tool/x", "")
		}, "PATH=HOME/bin"},
		{"a variable for a toolchain", func(t *testing.T, home, _ string) { t.Setenv("JAVA_HOME", home) }, "PATH=HOME/bin"},
		{"a variable for the modules of Go", func(t *testing.T, home, _ string) { t.Setenv("GOMODCACHE", home) }, "PATH=HOME/bin"},
	} {
		t.Run("N1 "+tt.name+" does not make it readable", func(t *testing.T) {
			home, dir := filepath.Join(t.TempDir(), "ada"), t.TempDir()
			write(t, home+"/.ssh/id", "private\n")
			write(t, home+"/bin/tool", "public\n")
			t.Setenv("HOME", home)
			if tt.make != nil {
				tt.make(t, home, dir)
			}
			env := strings.NewReplacer("HOME", home, "DIR", dir).Replace(tt.env)
			w := newWorld(t, func(c *Config) { c.Env = append(c.Env, env+":/usr/bin:/bin") })
			if _, out := w.bash("cat " + home + "/.ssh/id; cat " + home + "/bin/tool"); strings.Contains(out, "private") || !strings.HasSuffix(out, "public\n") {
				t.Errorf("got %q, want the tool alone", out)
			}
		})
	}
}

func leadTo(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

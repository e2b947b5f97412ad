package sandbox

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// The environment is made once, with the context of the first command.
func TestIdentityStays(t *testing.T) {
	needs(t, "git")
	config := filepath.Join(t.TempDir(), "gitconfig")
	write(t, config, "[user]\n\tname = A\n\temail = a@example.com\n[credential]\n\thelper = secret\n")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Run("N1 a first command that is given up takes the user's name from none of the later ones", func(t *testing.T) {
		w := newWorld(t, func(c *Config) { c.Level = InProcess })
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // as when it ends while git is asked
		if err := w.box.prepare(ctx); err != nil {
			t.Fatal(err)
		}
		if _, out := w.bash("git config user.name; git config user.email; env"); !strings.HasPrefix(out, "A\na@example.com\n") || strings.Contains(out, "secret") {
			t.Errorf("got %q, want the name, the address and nothing else of it", out)
		}
	})
}

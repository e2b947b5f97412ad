package shell_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/shell"
)

func TestGitEnvironment(t *testing.T) {
	t.Parallel()
	env := shell.GitEnvironment()
	t.Run("I2 nothing of the system and the user configures git", func(t *testing.T) {
		t.Parallel()
		for _, want := range []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1"} {
			if !slices.Contains(env, want) {
				t.Errorf("GitEnvironment(): got %q, want %s among them", env, want)
			}
		}
	})
	t.Run("I2 each variable has one value", func(t *testing.T) {
		t.Parallel()
		seen := make(map[string]bool)
		for _, e := range env {
			name, _, _ := strings.Cut(e, "=")
			if seen[name] {
				t.Errorf("GitEnvironment() has %s twice", name)
			}
			seen[name] = true
		}
	})
}

package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a command is given of the environment is a promise.
func TestEnvironmentIsDocumented(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"config.go", filepath.Join("..", "docs", "threat-model.md")} {
		t.Run("N1 "+filepath.Base(file)+" names all that is passed on", func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range slices.Concat(passedOn(), slices.Collect(maps.Keys(places())), []string{"LC_*"}) {
				if !strings.Contains(string(text), key) {
					t.Errorf("%s is passed on, and not named", key)
				}
			}
		})
	}
}

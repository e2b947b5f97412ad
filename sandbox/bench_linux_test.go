package sandbox

import (
	"os/exec"
	"testing"
)

// The bound is that a command in a sandbox takes at most three times as long as
// without.
func BenchmarkNoop(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := exec.CommandContext(b.Context(), "/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("process", func(b *testing.B) {
		box, err := New(Config{Helper: entered, Workspace: []string{b.TempDir()}, Network: Loopback})
		if err != nil {
			b.Fatal(err)
		}
		box.Applied()
		for b.Loop() {
			if o, err := box.Run(b.Context(), Command{Args: []string{"/bin/true"}}); err != nil || o.Code != 0 {
				b.Fatal(o, err)
			}
		}
		if err := box.Close(); err != nil {
			b.Fatal(err)
		}
	})
}

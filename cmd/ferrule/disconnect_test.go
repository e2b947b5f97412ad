package main

import (
	"os"
	"testing"
)

func TestDisconnectFolder(t *testing.T) {
	t.Parallel()
	t.Run("M1 disconnect leaves a project's folder that has nothing else in it", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for _, command := range []string{"connect", "disconnect"} {
			if _, said, code := try(t.Context(), dir, command, "claude-code"); code != statusDone {
				t.Fatalf("%s: got %d, %s, want %d", command, code, said, statusDone)
			}
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 0 {
			t.Errorf("got %v, %v, want an empty folder", left, err)
		}
	})
}

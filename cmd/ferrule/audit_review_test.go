package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAuditTakenAway(t *testing.T) {
	t.Parallel()
	t.Run("U1 a record that was taken away as a whole is not as it was written", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := logged(t, dir, "a", "b")
		if _, _, code := try(t.Context(), dir, "audit", "head", "--out", "head"); code != 0 {
			t.Fatalf("head: got %d", code)
		}
		_ = s
		files, err := filepath.Glob(filepath.Join(dir, ".ferrule", "ferrule.db*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
		// The key is there: heads of something were made here.
		if out, _, code := try(t.Context(), dir, "audit", "verify"); code != 1 {
			t.Errorf("verify: got %d and %q", code, out)
		}
		if _, said, code := try(t.Context(), dir, "audit", "verify", "--head", "head"); code != 1 {
			t.Errorf("verify --head: got %d and %q", code, said)
		}
	})
}

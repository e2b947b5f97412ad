package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAuditTakenAway(t *testing.T) {
	t.Parallel()
	t.Run("U1 a record that was taken away as a whole is not as it was written", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		logged(t, dir, "a", "b")
		if _, _, code := try(t.Context(), dir, "audit", "head", "--out", "head"); code != 0 {
			t.Fatalf("head: got %d", code)
		}
		files, err := filepath.Glob(filepath.Join(dir, ".ferrule", "ferrule.db*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if err := os.RemoveAll(f); err != nil {
				t.Fatal(err)
			}
		}
		// The key is there: heads of something were made here.
		for _, args := range [][]string{{"verify"}, {"verify", "--json"}, {"verify", "--head", "head"}, {"list"}, {"show", "a-1.0"}, {"export"}, {"head"}} {
			if out, said, code := try(t.Context(), dir, append([]string{"audit"}, args...)...); code != statusFailed || !strings.Contains(out+said, "all that was on the record is gone") {
				t.Errorf("%v: got %d and %q, %q", args, code, out, said)
			}
		}
	})
}

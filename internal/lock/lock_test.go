package lock

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                  string
		first, second, wanted bool // the first two: shared
	}{
		{"J1 one has it, and no other", false, false, false},
		{"J1 one has it, and nobody shares it", false, true, false},
		{"J1 it is shared, and nobody has it alone", true, false, false},
		{"J1 it is shared by both", true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "lock")
			take := func(shared, want bool) *os.File {
				f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = f.Close() })
				if got, err := File(f, shared); got != want || err != nil {
					t.Fatalf("shared %v: got %v, %v, want %v", shared, got, err, want)
				}
				return f
			}
			f := take(c.first, true)
			take(c.second, c.wanted)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			take(c.second, true)
		})
	}
}

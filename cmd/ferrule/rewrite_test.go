package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestRewrite(t *testing.T) {
	t.Parallel()
	t.Run("M1 what a client wrote meanwhile stays", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct{ was, text []byte }{
			"changed": {[]byte("old"), []byte("new")},
			"removed": {[]byte("old"), nil},
			"made":    {nil, []byte("new")},
		} {
			path := filepath.Join(t.TempDir(), "mcp.json")
			write(t, path, "its own")
			if err := replace(path, c.was, c.text); !errors.Is(err, errMeanwhile) {
				t.Errorf("%s: got %v, want %v", name, err, errMeanwhile)
			}
			if c.text != nil {
				if err := (&rewrite{path: path, old: c.was, now: c.text}).apply(); !errors.Is(err, errMeanwhile) {
					t.Errorf("%s: got %v, want %v", name, err, errMeanwhile)
				}
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != "its own" {
				t.Errorf("%s: got %q, %v, want what the client wrote", name, text, err)
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
				t.Errorf("%s: got %q, %v, want nothing beside it", name, left, err)
			}
			if _, err := os.Stat(before(path)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: got %v, want no file of what it was", name, err)
			}
		}
	})
}

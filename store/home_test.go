package store_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/store"
)

func TestHome(t *testing.T) {
	t.Parallel()
	t.Run("Y2 a state directory is for its user only, and keeps itself out of git and of searches", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a", ".ferrule")
		for range 2 {
			file, err := store.Home(dir)
			if err != nil || file != filepath.Join(dir, "ferrule.db") {
				t.Fatalf("got %q, %v", file, err)
			}
		}
		info, err := os.Stat(dir)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		for _, name := range []string{".gitignore", ".ignore", ".rgignore"} {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "*\n" {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
	})
	t.Run("Y2 one that others can come into is refused", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("there are no such rights on Windows")
		}
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Home(dir); err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("got %v, want what to do", err)
		}
	})
	t.Run("Y2 a file in its place is an error", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Home(file); err == nil {
			t.Error("got no error")
		}
	})
}

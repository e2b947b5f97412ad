package config_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/config"
)

func TestDiskFull(t *testing.T) {
	t.Parallel()
	t.Run("Y1 on a full disk the old file stays", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
			t.Skipf("mounting needs rights that are not to be had here: %v", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		})
		path, fresh := filepath.Join(dir, "ferrule.yaml"), filepath.Join(dir, "new.yaml")
		write(t, path, "workspace: .\n")
		f, err := os.Create(filepath.Join(dir, "filler"))
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = f.Write(make([]byte, 512))
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		for name, do := range map[string]func() error{
			"add":       func() error { return config.AddAlways(path, config.Always{Rule: "a"}) },
			"overwrite": func() error { return config.Create(path, true) },
			"create":    func() error { return config.Create(fresh, false) },
		} {
			if err := do(); err == nil {
				t.Errorf("%s: got no error, want that the disk is full", name)
			}
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "workspace: .\n" {
			t.Errorf("got %q, %v, want the file as it was", text, err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*.*")); err != nil || len(left) != 1 {
			t.Errorf("got %v, %v, want the file alone", left, err)
		}
	})
}

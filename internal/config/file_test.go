package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/config"
)

func TestTogether(t *testing.T) {
	t.Parallel()
	t.Run("P5 rules that are added at once are all there", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "ferrule.yaml")
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if err := config.AddAlways(path, config.Always{Rule: fmt.Sprintf("tool_%d", i)}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		c, err := config.Load(path)
		if err != nil || len(c.Policy.Always) != 20 {
			t.Errorf("got %+v, %v, want 20 rules", c, err)
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".ferrule*")); err != nil || left != nil {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	t.Run("P5 what is revoked while another is added is gone", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for i := range 30 {
			path := filepath.Join(dir, fmt.Sprintf("%d.yaml", i))
			write(t, path, "policy:\n  always:\n    - wide\n")
			var all sync.WaitGroup
			all.Go(func() {
				if err := config.AddAlways(path, config.Always{Rule: "other"}); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				if err := config.RemoveAlways(path, config.Always{Rule: "wide"}); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "wide") || !strings.Contains(string(text), "other") {
				t.Fatalf("got %q, %v, want other alone", text, err)
			}
		}
	})
	t.Run("P5 a lock that somebody left behind is none", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "ferrule.yaml")
		write(t, filepath.Join(filepath.Dir(path), ".ferrule.yaml.lock"), "")
		if err := config.AddAlways(path, config.Always{Rule: "a"}); err != nil {
			t.Error(err)
		}
	})
}

func TestReplaceFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		before []byte // what was read
		there  string // what is there now; "": nothing
		want   string // what is there then
	}{
		{"P5 as it was read", []byte("old"), "old", "new"},
		{"P5 not there, as before", nil, "", "new"},
		{"P5 an editor saved meanwhile", []byte("old"), "edited", "edited"},
		{"P5 an editor made it meanwhile", nil, "edited", "edited"},
		{"P5 taken away meanwhile", []byte("old"), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "f.yaml")
			if tt.there != "" {
				write(t, path, tt.there)
			}
			err := config.ReplaceFile(path, tt.before, []byte("new"))
			if (err == nil) != (tt.want == "new") {
				t.Errorf("got %v", err)
			}
			if text, _ := os.ReadFile(path); string(text) != tt.want {
				t.Errorf("got %q, want %q", text, tt.want)
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || left != nil {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	t.Run("Y1 it overwrites only if it is told to, and keeps the mode", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "ferrule.yaml")
		write(t, path, "workspace: .\n")
		if err := config.Create(path, false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("got %v, want %v", err, fs.ErrExist)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "workspace: .\n" {
			t.Errorf("got %q, %v, want the file as it was", text, err)
		}
		if err := config.Create(path, true); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(text) != config.Sample() || info.Mode().Perm() != 0o600 {
			t.Errorf("got %.20q, %v, %v, want the sample, for its user only", text, err, info)
		}
	})
	t.Run("Y1 where nothing can be written the old file stays", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := filepath.Join(dir, "ferrule.yaml")
		write(t, path, "workspace: .\n")
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Chmod(dir, 0o700) }()
		if f, err := os.Create(filepath.Join(dir, "x")); err == nil {
			_ = f.Close()
			t.Skip("this user can write everywhere")
		}
		if err := config.Create(path, true); err == nil {
			t.Error("got nothing, want an error")
		}
		if err := config.AddAlways(path, config.Always{Rule: "a"}); err == nil {
			t.Error("got nothing, want an error")
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "workspace: .\n" {
			t.Errorf("got %q, %v, want the file as it was", text, err)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

package audit_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/audit"
)

func TestKey(t *testing.T) {
	t.Parallel()
	t.Run("U1 a key is made once, also by many at once", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "audit.key")
		if _, err := audit.ReadKey(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want that there is none", err)
		}
		var all sync.WaitGroup
		keys := make([]audit.Key, 8)
		for i := range keys {
			all.Go(func() {
				key, err := audit.MakeKey(path)
				if err != nil {
					t.Error(err)
				}
				keys[i] = audit.PublicKey(key)
			})
		}
		all.Wait()
		for _, k := range keys {
			if k != keys[0] || k == (audit.Key{}) {
				t.Errorf("got %s and %s, want one key", k, keys[0])
			}
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("got %v, %v, want a file for its user only", info.Mode(), err)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Errorf("got %v, %v, want the key only", left, err)
		}
		var k audit.Key
		if err := k.UnmarshalText([]byte(keys[0].String())); err != nil || k != keys[0] {
			t.Errorf("got %s, %v, want %s", k, err, keys[0])
		}
	})
	t.Run("U1 a key that is none, or that others can read, is refused", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		good := filepath.Join(dir, "good")
		if _, err := audit.MakeKey(good); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "short"), []byte("AAAA"), 0o600); err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" {
			if err := os.Chmod(good, 0o640); err != nil {
				t.Fatal(err)
			}
			if _, err := audit.MakeKey(good); err == nil {
				t.Error("others can read it: got no error")
			}
		}
		for _, name := range []string{"short", ".", "nowhere/audit.key"} {
			if _, err := audit.MakeKey(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s: got no error", name)
			}
		}
	})
}

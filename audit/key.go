package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// ReadKey reads the key that heads are signed with. A file that others can read
// is refused: they could sign too. Where there is none it is [fs.ErrNotExist].
func ReadKey(path string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("audit: key: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("audit: key: %s: got %s, want a file", path, info.Mode().Type())
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("audit: key: others can read %s (%s), and could sign with it: chmod 600 it if nobody did; else move it away, and a new one is made", path, info.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("audit: key: %w", err)
	}
	seed, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("audit: key: %s: got a file that is no key: put a copy back, or move it away, and a new one is made", path)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// MakeKey is [ReadKey], and makes the key where there is none.
func MakeKey(path string) (ed25519.PrivateKey, error) {
	key, err := ReadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	_, key, err = ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("audit: key: %w", err)
	}
	// It has its name only when it is whole, and only one process can give it.
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // with mode 0600
	if err != nil {
		return nil, fmt.Errorf("audit: key: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(base64.RawURLEncoding.EncodeToString(key.Seed()) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("audit: key: %w", err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("audit: key: %w", err)
	}
	return ReadKey(path)
}

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// fileName is the store's in a state directory.
const fileName = "ferrule.db"

// Home makes a state directory, if it is not there, and gives the file of the
// store in it, for [Open]. The directory is for this user only and keeps itself
// out of git and of searches. One that others can come into is refused: who can write there can
// answer, and make rules. Its rights are not changed: it may be a directory of
// something else.
func Home(dir string) (file string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	if err := Closed(dir); err != nil {
		return "", err
	}
	file = filepath.Join(dir, fileName)
	for _, name := range ignoring() {
		if err := writeNew(filepath.Join(dir, name), "*\n"); err != nil {
			return "", fmt.Errorf("state directory: %w", err)
		}
	}
	return file, nil
}

// ignoring are the files that keep what lies beside them out of git, and out of what
// searches find where there is no git.
func ignoring() []string { return []string{".gitignore", ".ignore", ".rgignore"} }

// writeNew writes a file, unless it is there.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // an empty one would keep nothing out
		return err
	}
	return nil
}

// Closed refuses a state directory that others can come into. One that is not
// there is closed.
func Closed(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("state directory: %w", err)
	case info.IsDir() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return fmt.Errorf("state directory: others can come into %s (%s): look whether what is in it is yours, then chmod 700 it, or name another", dir, info.Mode())
	}
	return nil
}

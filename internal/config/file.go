package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Create writes the sample to a file. One that is there is replaced, at once or
// not at all, if overwrite is true; else it is [fs.ErrExist].
func Create(path string, overwrite bool) error {
	if !overwrite {
		return createFile(path)
	}
	path, err := realFile(path)
	if err != nil {
		return err
	}
	unlock, err := lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	err = error(errChanged)
	for i := 0; i < attempts && errors.Is(err, errChanged); i++ {
		before, readErr := os.ReadFile(path)
		if readErr != nil {
			before = nil
		}
		err = replaceFile(path, before, []byte(sample))
	}
	return err
}

// createFile writes the sample to a file that is not there yet.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a configuration that others may read
	if err != nil {
		return err
	}
	_, err = f.WriteString(sample)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// realFile is the file that a path leads to: one that is there, or that can be
// made.
func realFile(path string) (string, error) {
	to, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return to, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 { // else it was made meanwhile
		return "", fmt.Errorf("%s is a link to a file that is not there: make that file, or take the link away", path)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// refusal is why a file cannot be changed now.
type refusal string

const (
	errChanged refusal = "somebody else has changed it meanwhile"
	errLocked  refusal = "somebody else is changing it"
)

// Error is the text.
func (r refusal) Error() string { return string(r) }

// replaceFile writes a file beside the old one and puts it in its place, with the
// permissions of the old one, if that is still what it was before; nil: not there.
func replaceFile(path string, before, text []byte) (err error) {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".ferrule-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	now, err := Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && before == nil:
	case err != nil:
		return err
	case before == nil || !bytes.Equal(now, before):
		return errChanged
	}
	return os.Rename(f.Name(), path)
}

// How long a lock is waited for, and how often it is tried.
const (
	lockTime = 10 * time.Second
	lockStep = 5 * time.Millisecond
)

// lock keeps other processes of this program from changing a file until unlock
// is called. It is a file beside it, which is gone afterwards.
func lock(path string) (unlock func(), err error) {
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
	for end := time.Now().Add(lockTime); ; time.Sleep(lockStep) {
		unlock, err = tryLock(name)
		switch {
		case err == nil:
			return unlock, nil
		case !errors.Is(err, errLocked):
			return nil, fmt.Errorf("lock: %w", err)
		case time.Now().After(end):
			return nil, fmt.Errorf("%s: another process has been changing it for %s: end that one", path, lockTime)
		}
	}
}

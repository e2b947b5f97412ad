//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package config

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

// tryLock makes a file that must not be there; errLocked while it is. On Windows
// one that a process left behind can be taken away, and one that is held cannot.
func tryLock(name string) (unlock func(), err error) {
	if runtime.GOOS == "windows" {
		_ = os.Remove(name)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist), runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission):
		return nil, errLocked
	case err != nil:
		return nil, err
	}
	return func() {
		_ = f.Close()
		_ = os.Remove(name)
	}, nil
}

//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package undo

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks a file for as long as it is open; false: somebody else has it.
// The system takes the lock away where a process ends, however it does.
func lockFile(f *os.File, shared bool) (bool, error) {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package config

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes a lock that ends with its process, whatever ends that; errLocked
// while another has it.
func tryLock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	// Who had it before has taken the file away: this may be another one.
	mine, err1 := f.Stat()
	there, err2 := os.Stat(name)
	if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
		_ = f.Close()
		return nil, errLocked
	}
	return func() {
		_ = os.Remove(name)
		_ = f.Close()
	}, nil
}

//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file for as long as it is open, for itself or together with others
// who share it. It waits for nobody: false means that somebody else has it. The
// system takes the lock away where a process ends, however it does.
func lock(f *os.File, shared bool) (bool, error) {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		}
		return err == nil, err
	}
}

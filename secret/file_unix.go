//go:build unix

package secret

import (
	"io/fs"
	"syscall"
)

// openNow keeps the opening of a pipe from waiting for who writes to it.
const openNow = syscall.O_NONBLOCK

// closed reports whether only the owner can reach a file of that mode.
func closed(mode fs.FileMode) bool { return mode.Perm()&0o077 == 0 }

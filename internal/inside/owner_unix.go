//go:build unix

package inside

import (
	"io/fs"
	"os"
	"syscall"
)

// openNow keeps the opening of a pipe from waiting for who writes to it.
const openNow = syscall.O_NONBLOCK

// OwnerOf is whose a file is; false: it is not known.
func OwnerOf(info fs.FileInfo) (Owner, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Owner{}, false
	}
	return Owner{UID: int(s.Uid), GID: int(s.Gid), Links: uint64(s.Nlink)}, true //nolint:unconvert,nolintlint // as wide as each system has it
}

func syncFolder(f *os.File) error { return f.Sync() }

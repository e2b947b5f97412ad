//go:build unix

package builtin_test

import (
	"io/fs"
	"syscall"
)

func ownerOf(info fs.FileInfo) (uid, gid uint32) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Uid, s.Gid
}

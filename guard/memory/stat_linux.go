package memory

import (
	"io/fs"
	"syscall"
	"time"
)

// openNow keeps opening what has become a pipe from waiting for its other end.
const openNow = syscall.O_NONBLOCK

// stateOf is what changes when a file does; ok is false where that cannot be told.
func stateOf(info fs.FileInfo) (s state, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return state{}, false
	}
	return state{
		dev: uint64(st.Dev), ino: st.Ino, size: info.Size(), mode: info.Mode(), written: info.ModTime().UnixNano(), //nolint:unconvert,nolintlint // Dev is smaller elsewhere
		changed: time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)).UnixNano(), //nolint:unconvert,nolintlint // they are smaller on some machines
	}, true
}

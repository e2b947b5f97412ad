package builtin

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

// fsLister opens a folder so that listing it asks for names and kinds only. A
// file of an os.Root asks for everything about every entry.
func fsLister(at *os.Root) (*os.File, error) {
	f, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := syscall.Openat(int(f.Fd()), ".", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("openat", err)
	}
	return os.NewFile(uintptr(fd), "."), nil
}

// fsLoad reads a file of a folder that is open, as the loader of other systems
// does, with as few calls to the system as grep. A name without slashes that is
// opened with O_NOFOLLOW leads nowhere else.
func fsLoad(w *fsWalk, at *fsFolder, name string, buf *[]byte) ([]byte, error) {
	flags := syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	fd, err := syscall.Openat(int(at.list.Fd()), name, flags, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd) //nolint:errcheck // it was only read
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&syscall.S_IFMT != syscall.S_IFREG:
		return nil, inside.ErrSpecial
	case w.guard.hidesID(st.Dev, st.Ino):
		return nil, fs.ErrPermission
	case st.Nlink > 1 && int(st.Uid) != os.Geteuid():
		return nil, fs.ErrPermission
	}
	return fsFill(st.Size, buf, func(p []byte) (int, error) { return syscall.Read(fd, p) })
}

func (g fsGuard) hidesID(dev, ino uint64) bool {
	for _, h := range g.hidden {
		if s, ok := h.Sys().(*syscall.Stat_t); ok && s.Dev == dev && s.Ino == ino {
			return true
		}
	}
	return false
}

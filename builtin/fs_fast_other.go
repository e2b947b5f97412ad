//go:build !linux

package builtin

import (
	"io/fs"
	"os"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

// fsLister opens a folder to list it.
func fsLister(at *os.Root) (*os.File, error) { return at.Open(".") }

// fsLoad reads a file of a folder that is open.
func fsLoad(w *fsWalk, at *fsFolder, name string, buf *[]byte) ([]byte, error) {
	f, info, err := inside.Opened(at.Root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if w.guard.hides(info) || fsForeign(name, info) != nil {
		return nil, fs.ErrPermission
	}
	return fsFill(info.Size(), buf, f.Read)
}

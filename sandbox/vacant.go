package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A protected path that is there can be covered. One that is not there cannot, and
// whoever makes ferrule.yaml makes the rules. So what a command leaves at such a
// path is put aside when the command has ended. Only where the folder is there
// already: with a folder that the command made (git init) the path is its own.

// vacant are the protected paths that are not there, in folders that are.
func (b *Box) vacant() []string {
	var paths []string
	for _, path := range cleaned(b.config.Protected) {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && exists(filepath.Dir(path)) {
			paths = append(paths, path)
		}
	}
	return paths
}

// putAside gives what has come to be at these paths another name beside it, and
// says which there were. It does not leave the workspace, whatever another command
// does to the folders meanwhile.
func (b *Box) putAside(paths []string) (aside []string) {
	for _, path := range paths {
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		for _, root := range b.config.Workspace {
			if inside(path, root) && rename(root, path) {
				aside = append(aside, path)
				break
			}
		}
	}
	return aside
}

// mostAside is how many names are tried.
const mostAside = 1000

func rename(root, path string) bool {
	top, err := os.OpenRoot(root)
	if err != nil {
		return false
	}
	defer top.Close()
	name, err := filepath.Rel(root, path)
	if err != nil {
		return false
	}
	for n := 1; n <= mostAside; n++ {
		other := name + ".made-by-a-command"
		if n > 1 {
			other = fmt.Sprintf("%s-%d", other, n)
		}
		if _, err := top.Lstat(other); errors.Is(err, fs.ErrNotExist) {
			return top.Rename(name, other) == nil
		}
	}
	return top.RemoveAll(name) == nil
}

// cleaned are paths whose folder is the real one; themselves they may be links.
func cleaned(paths []string) []string {
	var all []string
	for _, path := range paths {
		path = filepath.Clean(path)
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		all = append(all, path)
	}
	return all
}

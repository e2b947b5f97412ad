package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// exists says whether there is something at a path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// under says whether a path is one of the folders or below one.
func under(path string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return path == dir || inside(path, dir) })
}

// inside says whether a path lies below a folder, and is not the folder itself.
func inside(path, dir string) bool {
	const separator = string(filepath.Separator)
	return len(path) > len(dir) && strings.HasPrefix(path, strings.TrimSuffix(dir, separator)+separator)
}

// between is the folders between a workspace and a path in it, from above.
func between(path string, workspace []string) []string {
	var all []string
	for _, root := range workspace {
		if inside(path, root) {
			for dir := filepath.Dir(path); inside(dir, root); dir = filepath.Dir(dir) {
				all = append(all, dir)
			}
		}
	}
	slices.Sort(all) // a folder stands before what is in it
	return slices.Compact(all)
}

// pins are the folders between the workspace and paths in it that are to stay what
// they are. Whoever mounts them makes each a mount point, which cannot be renamed;
// else a command would move the whole folder away and make a new one in its place.
// A path and what it leads to count both.
func pins(paths, workspace []string) []string {
	var all []string
	for _, path := range paths {
		all = append(all, between(path, workspace)...)
		if actual, err := filepath.EvalSymlinks(path); err == nil {
			all = append(all, between(actual, workspace)...)
		}
	}
	// What a command has made a link in the meantime is no folder to be mounted.
	all = slices.DeleteFunc(all, func(dir string) bool {
		actual, err := filepath.EvalSymlinks(dir)
		return err != nil || actual != dir
	})
	slices.Sort(all)
	return slices.Compact(all)
}

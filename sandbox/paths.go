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

//go:build unix

package sandbox

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lookUp finds a program in the PATH of an environment, as execvp does.
func lookUp(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	for _, entry := range env {
		path, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, folder := range filepath.SplitList(path) {
			if !filepath.IsAbs(folder) {
				continue // a program of the workspace is named with its path
			}
			file := filepath.Join(folder, name)
			var info unix.Stat_t
			if unix.Stat(file, &info) == nil && info.Mode&unix.S_IFMT == unix.S_IFREG && info.Mode&0o111 != 0 {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("exec %q: not found in PATH", name)
}

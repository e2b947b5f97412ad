//go:build !unix

package sandbox

import (
	"os/exec"
	"path/filepath"
	"strings"
)

// lookUp finds a program: one with a path where the command runs, others in the
// PATH of this process, which is the one that commands get.
func lookUp(name, dir string, _ []string) (string, error) {
	if strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return exec.LookPath(name)
}

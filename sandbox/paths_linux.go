package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// defaultReads is what commands may read besides what was given: the system, the
// toolchains in PATH, and the user's module cache. The user's home is not among
// it.
func defaultReads(network Network, env []string) []string {
	paths := []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/snap", "/etc", "/proc",
		"/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm/transparent_hugepage", "/sys/fs/cgroup",
		"/var/lib/dpkg/status", "/run/current-system",
	}
	for _, link := range []string{"/etc/localtime", "/etc/alternatives"} {
		paths = append(paths, target(link)...)
	}
	if network == Open {
		paths = append(paths, target("/etc/resolv.conf")...)
	}
	for _, entry := range env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			for _, dir := range filepath.SplitList(path) {
				paths = append(paths, toolchain(dir, paths)...)
			}
		}
		for _, key := range []string{"PYENV_ROOT=", "RUSTUP_HOME=", "RBENV_ROOT=", "NVM_DIR=", "VOLTA_HOME=", "ASDF_DATA_DIR=", "JAVA_HOME="} {
			if dir, ok := strings.CutPrefix(entry, key); ok {
				paths = append(paths, dir)
			}
		}
	}
	paths = append(paths, moduleCache())
	return resolved(paths)
}

// toolchain is what a folder of PATH needs in order to work: itself, what its
// links lead to, and the libraries beside it. Never a whole home, nor all of a
// folder such as ~/.local or ~/.cargo, where keys are.
func toolchain(dir string, have []string) []string {
	if !filepath.IsAbs(dir) || under(dir, have...) {
		return nil
	}
	paths := []string{dir}
	if base := filepath.Base(dir); base == "bin" || base == "sbin" {
		for _, beside := range []string{"lib", "lib64", "libexec", "include"} {
			paths = append(paths, filepath.Join(filepath.Dir(dir), beside))
		}
	}
	if root := filepath.Dir(dir); exists(filepath.Join(root, "src", "runtime")) && exists(filepath.Join(root, "pkg", "tool")) {
		paths = append(paths, root) // Go itself
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return paths
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		actual, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name()))
		if err != nil || under(actual, have...) || under(actual, paths...) {
			continue
		}
		folder := filepath.Dir(actual)
		if filepath.Base(folder) == "bin" && !isHome(filepath.Dir(folder)) {
			paths = append(paths, toolchain(folder, append(have, paths...))...)
		} else {
			paths = append(paths, actual)
		}
	}
	return paths
}

// isHome says whether a folder is the user's home or holds homes.
func isHome(dir string) bool {
	home, err := os.UserHomeDir()
	return err == nil && under(home, dir)
}

// target is what a link leads to.
func target(link string) []string {
	if actual, err := filepath.EvalSymlinks(link); err == nil {
		return []string{actual}
	}
	return nil
}

// resolved is paths with what they lead to, each once. A path that is a link
// stays in the list: a sandbox that shows only what is named needs the link too.
func resolved(paths []string) []string {
	var all []string
	for _, path := range paths {
		path = filepath.Clean(path)
		if actual, err := filepath.EvalSymlinks(path); err == nil {
			all = append(all, path, actual)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// defaultReads is what commands may read besides what was given: the system, the
// toolchains in PATH, and the user's module cache. The user's home is not among
// it. mine is what commands write: no link in it is followed.
func defaultReads(network Network, env, mine []string) []string {
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
	add := func(more ...string) { paths = append(paths, slices.DeleteFunc(more, isHome)...) }
	for _, entry := range env {
		key, value, _ := strings.Cut(entry, "=")
		if key == "PATH" {
			for _, dir := range filepath.SplitList(value) {
				add(toolchain(dir, mine, paths)...)
			}
		}
		if _, ok := places()[key]; ok {
			add(value)
		}
	}
	add(moduleCache())
	return beside(paths, mine)
}

// toolchain is what a folder of PATH needs in order to work: itself, what its
// links lead to, and the libraries beside it. Never a whole home, nor all of a
// folder such as ~/.local or ~/.cargo, where keys are.
func toolchain(dir string, mine, have []string) []string {
	if !filepath.IsAbs(dir) || under(dir, have...) || under(dir, mine...) || isHome(dir) {
		return nil
	}
	paths := []string{dir}
	if base := filepath.Base(dir); base == "bin" || base == "sbin" {
		for _, beside := range []string{"lib", "lib64", "libexec", "include"} {
			paths = append(paths, filepath.Join(filepath.Dir(dir), beside))
		}
	}
	if root := filepath.Dir(dir); !isHome(root) && exists(filepath.Join(root, "src", "runtime")) && exists(filepath.Join(root, "pkg", "tool")) {
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
		actual, ok := follow(filepath.Join(dir, e.Name()), mine, 0)
		if !ok || under(actual, have...) || under(actual, paths...) || isHome(actual) {
			continue
		}
		folder := filepath.Dir(actual)
		if filepath.Base(folder) == "bin" && !isHome(filepath.Dir(folder)) {
			paths = append(paths, toolchain(folder, mine, append(have, paths...))...)
		} else {
			paths = append(paths, actual)
		}
	}
	return paths
}

// isHome says whether a folder is the user's home or holds it, or is a link to such
// a folder.
func isHome(dir string) bool {
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	dirs := append(target(dir), filepath.Clean(dir))
	return slices.ContainsFunc(append(target(home), filepath.Clean(home)), func(home string) bool { return under(home, dirs...) })
}

// target is what a link leads to.
func target(link string) []string {
	if actual, err := filepath.EvalSymlinks(link); err == nil {
		return []string{actual}
	}
	return nil
}

// writables are the folders that commands write: the workspace, the state and what
// was given beside them.
func writables(c *Config) []string {
	all := append(slices.Clone(c.Workspace), c.State)
	for _, path := range slices.Sorted(slices.Values(c.Write)) {
		all = append(all, beside([]string{path}, all)...)
	}
	return all
}

// beside is resolved for paths that are granted beside those that commands write.
// What lies in these is left out, and what a link in them leads to: a command can
// have made the link.
func beside(paths, mine []string) []string {
	var all []string
	for _, path := range paths {
		if actual, ok := follow(path, mine, 0); ok {
			all = append(all, filepath.Clean(path), actual)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// follow is the real path of what a path leads to, unless it leads through one of
// the folders.
func follow(path string, through []string, links int) (string, bool) {
	const most = 40 // as in the kernel
	path = filepath.Clean(path)
	if path == filepath.Dir(path) {
		return path, filepath.IsAbs(path)
	}
	dir, ok := follow(filepath.Dir(path), through, links)
	path = filepath.Join(dir, filepath.Base(path))
	if !ok || links > most || under(path, through...) {
		return "", false
	}
	target, err := os.Readlink(path)
	if err != nil {
		return path, exists(path)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return follow(target, through, links+1)
}

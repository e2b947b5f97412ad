package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// bubblewrapArgs is the command line that runs a command by bubblewrap. What is
// not named is not there.
func bubblewrapArgs(s *setup, o *wanted) []string {
	args := []string{
		s.Bubblewrap, "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--seccomp", "3",
	}
	if os.Geteuid() == 0 {
		for _, c := range []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"} {
			args = append(args, "--cap-add", c)
		}
	}
	if s.Network != Open {
		args = append(args, "--unshare-net")
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--bind", filepath.Join(s.State, "tmp"), "/tmp")
	// Folders before what is in them; later mounts cover earlier ones.
	type mount struct{ how, path string }
	var all []mount
	for _, path := range readable(s.Read) {
		all = append(all, mount{"--ro-bind-try", path})
	}
	write := "--bind-try"
	if o.ReadOnly {
		write = "--ro-bind-try"
	}
	// The pins stand here, before what lies in them: later they would show again what
	// others have covered.
	for _, path := range slices.Concat(s.Workspace, s.Write, pins(slices.Concat(s.Protected, s.Hidden), s.Workspace), stateFolders(s.State)) {
		all = append(all, mount{write, path})
	}
	all = append(all, mount{"--ro-bind-try", s.State})
	all = append(all, mount{"--bind-try", filepath.Join(s.State, "tmp")})
	slices.SortStableFunc(all, func(a, b mount) int { return strings.Compare(a.path, b.path) })
	var shown string // the last folder that is read-only with all below it
	for _, m := range all {
		if under(m.path, "/proc", "/dev", "/sys") || m.how == "--ro-bind-try" && shown != "" && under(m.path, shown) {
			continue
		}
		if m.how == "--ro-bind-try" {
			shown = m.path
		}
		if target, err := os.Readlink(m.path); err == nil {
			args = append(args, "--symlink", target, m.path)
			continue
		}
		args = append(args, m.how, m.path, m.path)
	}
	// What is hidden may lie in what is protected, and the other way round: the
	// covers are last.
	for _, path := range s.Protected {
		args = append(args, "--ro-bind-try", path, path)
	}
	for _, path := range s.Hidden {
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			args = append(args, "--tmpfs", path)
			if inside(s.State, path) {
				args = append(args, "--ro-bind", s.State, s.State)
				for _, dir := range stateFolders(s.State) {
					args = append(args, write, dir, dir)
				}
				args = append(args, "--bind", filepath.Join(s.State, "tmp"), filepath.Join(s.State, "tmp"))
			}
			args = append(args, "--remount-ro", path)
		default:
			args = append(args, "--ro-bind", "/dev/null", path)
		}
	}
	args = append(args, "--remount-ro", "/", "--chdir", o.Dir, "--")
	return append(args, o.Args...)
}

// filterPipe is a pipe that holds a filter: bubblewrap reads it to its end.
func filterPipe(f filter) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if _, err := w.Write(f.bytes()); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

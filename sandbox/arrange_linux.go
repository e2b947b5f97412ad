package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// arrange does what is done once, before the first command: mounts, limits, rules
// and the thread that starts commands.
func (k *keeper) arrange() (Applied, error) {
	a := Applied{Level: Process, Network: k.setup.Network}
	// If memory ends, commands are to end before the host does.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return a, fmt.Errorf("subreaper: %w", err)
	}
	if err := k.namespaces(&a); err != nil {
		return a, err
	}
	if err := k.limit(); err != nil {
		return a, err
	}
	if os.Geteuid() == 0 && (!k.setup.Namespaces || !ownPidMax()) {
		a.Missing = append(a.Missing, "the kernel does not limit how many processes root has: they are counted, and a command with too many is ended")
	}
	tags, err := newTags()
	if err != nil {
		a.Missing = append(a.Missing, "what a command leaves behind ends with the Box, not with the command, and its memory is not watched: "+err.Error())
	} else {
		k.tags = tags
	}
	// The thread that starts commands has their rights, so that they may do with it
	// what they may do with each other. Not look into the memory that it shares.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return a, fmt.Errorf("not to be traced: %w", err)
	}
	k.internet = a.Network != Off
	if k.filter, err = newFilter(k.allowed(false)); err != nil {
		return a, err
	}
	if k.setup.Bubblewrap != "" {
		// Bubblewrap makes namespaces of its own; what this process may do in its
		// own is none of its business.
		k.writing, err = newLauncher(func() error {
			if os.Geteuid() == 0 {
				return nil
			}
			return dropCapabilities(nil)
		})
		return a, err
	}
	a.Kernel = append(a.Kernel, "seccomp", "no new privileges", "limits")
	version := landlockVersion()
	a.Kernel = append([]string{"landlock " + strconv.Itoa(version)}, a.Kernel...)
	a.Missing = append(a.Missing, landlockMissing(version, !k.setup.Namespaces)...)
	k.rules = func(writable bool) (*ruleset, error) { return k.files(version, k.internet, writable) }
	rules, err := k.rules(true)
	if err != nil {
		return a, err
	}
	k.writing, err = newLauncher((&restriction{rules, k.filter, filesAsRoot()}).apply)
	return a, err
}

// allowed is what the filter of commands lets through.
func (k *keeper) allowed(reading bool) allowed {
	own := k.mounts != nil || k.setup.Bubblewrap != ""
	return allowed{internet: k.internet, messages: own, attributes: own || !reading}
}

// namespaces arranges the namespaces that this process is in, or says what cannot
// be had without.
func (k *keeper) namespaces(a *Applied) error {
	if !k.setup.Namespaces {
		if k.setup.Bubblewrap != "" {
			return nil
		}
		if a.Network == Loopback {
			a.Network = Off
			a.Differs = append(a.Differs, "there is no loopback of one's own without user namespaces: the network is off")
		}
		for _, path := range k.setup.Protected {
			a.Missing = append(a.Missing, path+" can be written by commands: it is protected by user namespaces only")
		}
		for _, path := range k.setup.Hidden {
			a.Missing = append(a.Missing, path+" can be read and written by commands: it is hidden by user namespaces only")
		}
		a.Missing = append(a.Missing, "commands see which processes run on this machine",
			"commands can change the mode, owner, times and attributes of files outside that they find and this user owns, not what is in them")
		a.Differs = append(a.Differs, "/tmp is that of the machine and cannot be written (TMPDIR can)")
		return nil
	}
	k.mounts = &mounts{setup: k.setup, covered: make(map[string]bool)}
	err := k.mounts.arrange(a)
	if err != nil || k.setup.Bubblewrap != "" {
		return err
	}
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		a.Missing = append(a.Missing, "commands are kept from making namespaces by seccomp alone: "+err.Error())
	}
	a.Kernel = append(a.Kernel, "user namespace", "process namespace", "mount namespace")
	if a.Network != Open {
		a.Kernel = append(a.Kernel, "network namespace")
	}
	if a.Network == Loopback {
		return loopbackUp()
	}
	return nil
}

// loopbackUp switches on the loopback of a new network namespace.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	request.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}

// limit sets the limits of all commands on this process, which hands them on.
// Memory is not among them: a limit on addresses or data breaks programs that
// reserve more than they use (race detectors, node, Go).
func (k *keeper) limit() error {
	set := func(name string, resource int, value uint64) error {
		var have syscall.Rlimit
		if err := syscall.Getrlimit(resource, &have); err != nil {
			return fmt.Errorf("limit of %s: %w", name, err)
		}
		value = min(value, have.Max)
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("limit of %s: %w", name, err)
		}
		return nil
	}
	l := k.setup.Limits
	if err := set("core files", unix.RLIMIT_CORE, 0); err != nil {
		return err
	}
	if l.FileSize < none {
		if err := set("file size", unix.RLIMIT_FSIZE, uint64(l.FileSize)); err != nil { //nolint:gosec // not negative
			return err
		}
	}
	if l.Files < 1<<31-1 {
		if err := set("files", unix.RLIMIT_NOFILE, uint64(l.Files)); err != nil { //nolint:gosec // not negative
			return err
		}
	}
	if l.Processes == 1<<31-1 {
		return nil
	}
	// Threads count as well here, and those of the keeper. The exact number of
	// processes is counted by the keeper.
	tasks := 4*l.Processes + 64
	if !k.setup.Namespaces {
		tasks += tasksOfUser()
	} else if os.Geteuid() == 0 && ownPidMax() {
		// No limit of this kind holds for root; that on process numbers does, and
		// belongs to the process namespace. The first 300 numbers are used once.
		_ = os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(tasks+301)), 0) // the processes are counted too
	}
	return set("processes", unix.RLIMIT_NPROC, uint64(tasks)) //nolint:gosec // not negative
}

// ownPidMax says whether the largest process number is each namespace's own. On
// kernels before 6.14 it is that of the machine.
func ownPidMax() bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	var major, minor int
	_, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	return err == nil && (major > 6 || major == 6 && minor >= 14)
}

// tasksOfUser counts the threads of this user.
func tasksOfUser() int {
	n := 0
	for _, pid := range processes() {
		dir := "/proc/" + strconv.Itoa(pid) + "/task"
		var info unix.Stat_t
		if unix.Stat(dir, &info) == nil && int(info.Uid) == os.Geteuid() {
			n += int(info.Nlink) - 2 //nolint:gosec // small
		}
	}
	return n
}

// files are the rules for files.
func (k *keeper) files(version int, internet, writable bool) (*ruleset, error) {
	r, err := newRuleset(version, internet)
	if err != nil {
		return nil, err
	}
	s := k.setup
	type grant struct {
		paths  []string
		rights uint64
	}
	var owned []string
	devices := []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
	if k.mounts != nil {
		owned = k.mounts.shared
		devices = append(devices, k.mounts.terminals...)
	}
	grants := []grant{
		{readable(s.Read), mayRead},
		{owned, mayWrite},
		{devices, mayUse | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_TRUNCATE},
	}
	rights := uint64(mayRead)
	if writable {
		rights = mayWrite
	}
	if err := r.allowState(s.State, rights); err != nil {
		return nil, err
	}
	grants = append(grants, grant{s.Workspace, rights}, grant{s.Write, rights})
	for _, g := range grants {
		for _, path := range g.paths {
			if err := r.allow(path, g.rights); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// readable replaces /etc by what everybody may read of it. For other users than
// root that is what they could read anyway.
func readable(paths []string) []string {
	if os.Geteuid() != 0 {
		return paths
	}
	var all []string
	for _, path := range paths {
		if path == "/etc" {
			all = append(all, forEverybody(path)...)
		} else {
			all = append(all, path)
		}
	}
	return all
}

// forEverybody is the paths below a folder that everybody may read: the folder
// itself if that is all of them.
func forEverybody(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var open []string
	whole := true
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil:
			whole = false
		case info.Mode()&os.ModeSymlink != 0:
			// A link has no rights; what it leads to does.
		case info.IsDir() && info.Mode().Perm()&0o005 == 0o005:
			below := forEverybody(path)
			whole = whole && slices.Equal(below, []string{path})
			open = append(open, below...)
		case info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0:
			open = append(open, path)
		default:
			whole = false
		}
	}
	if whole {
		return []string{dir}
	}
	return open
}

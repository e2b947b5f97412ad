package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

func indexAfter(text []byte, name string) int {
	if i := bytes.Index(text, []byte(name)); i >= 0 {
		return i + len(name)
	}
	return -1
}

// mounts is the keeper's own view of the files: a mount namespace in which a few
// things are covered.
type mounts struct {
	setup *setup
	state int // the folder of the state, opened before anything is covered

	covered map[string]bool // what was hidden
	// What is mounted there is the sandbox's own; nothing where it could not be: what
	// is there then is the machine's.
	terminals, shared []string
	ownTmp            []string // /tmp where it is the private one
}

// arrange covers what commands are not to find. The state may lie below what is
// hidden, and is put back then. What cannot be had is said in a.
func (m *mounts) arrange(a *Applied) (err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of one's own: %w", err)
	}
	// For bubblewrap too: what it shows of /dev is the machine's own.
	if err := onlyReadable(slices.Concat(m.setup.Workspace, m.setup.Write, []string{m.setup.State})); err != nil {
		return fmt.Errorf("what is not to be written: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("a /proc of one's own: %w", err)
	}
	if m.setup.Bubblewrap != "" {
		return nil // which does the rest
	}
	if m.state, err = unix.Open(m.setup.State, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0); err != nil {
		return &os.PathError{Op: "open", Path: m.setup.State, Err: err}
	}
	if err := m.temporary(a); err != nil {
		return err
	}
	if _, err := m.hide(); err != nil {
		return err
	}
	if err := m.pinState(); err != nil {
		return err
	}
	a.Missing = append(a.Missing, m.protect()...)
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		a.Differs = append(a.Differs, "there are no terminals for commands: "+err.Error())
	} else {
		m.terminals = []string{"/dev/ptmx", "/dev/pts"}
	}
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=256m"); err != nil {
		a.Differs = append(a.Differs, "there is no shared memory in /dev/shm for commands: "+err.Error())
	} else {
		m.shared = []string{"/dev/shm"}
	}
	return nil
}

// temporary makes /tmp the private one, since many programs know no other name
// for it. Not where a path that was given lies in it: what may be done in a folder
// may be done below it, so that all of it would become writable.
func (m *mounts) temporary(a *Applied) error {
	for _, path := range slices.Concat(m.setup.Workspace, m.setup.Write, m.setup.Read, []string{m.setup.State}) {
		if under(path, "/tmp") {
			a.Differs = append(a.Differs, "/tmp is that of the machine and cannot be written (TMPDIR can), because "+path+" is in it")
			return nil
		}
	}
	fd, err := unix.Openat(m.state, "tmp", unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: filepath.Join(m.setup.State, "tmp"), Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	m.ownTmp = []string{"/tmp"}
	return putBack(fd, "/tmp")
}

// putBack shows a folder again that was covered.
func putBack(fd int, path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	if err := unix.Mount("/proc/self/fd/"+strconv.Itoa(fd), path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return &os.PathError{Op: "mount", Path: path, Err: err}
	}
	return nil
}

// hide covers what is hidden and not covered yet, and says whether there was
// something. Like protect it is called again before each command: an editor that
// saves a file takes its cover away.
func (m *mounts) hide() (news bool, err error) {
	for _, path := range m.setup.Hidden {
		var info unix.Stat_t
		if err := unix.Stat(path, &info); errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
			continue // there is nothing, or a link that leads nowhere
		}
		actual, err := filepath.EvalSymlinks(path)
		if err != nil {
			return news, err
		}
		if point, err := isMountPoint(actual); err == nil && point && m.covered[actual] {
			continue
		}
		if err := m.hideOne(actual); err != nil {
			return news, err
		}
		m.covered[actual], news = true, true
	}
	if news {
		return true, m.pinState() // the state may have been put back
	}
	return false, nil
}

// hideOne covers a path with nothing.
func (m *mounts) hideOne(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := m.pin(path); err != nil {
		return err
	}
	if !info.IsDir() {
		if err := unix.Mount("/dev/null", path, "", unix.MS_BIND, ""); err != nil {
			return &os.PathError{Op: "hide", Path: path, Err: err}
		}
		return nil
	}
	if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=64k"); err != nil {
		return &os.PathError{Op: "hide", Path: path, Err: err}
	}
	if inside(m.setup.State, path) {
		if err := putBack(m.state, m.setup.State); err != nil {
			return err
		}
	}
	if err := unix.Mount("", path, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		return &os.PathError{Op: "hide", Path: path, Err: err}
	}
	return nil
}

// protect makes paths read-only that are not yet, and says which cannot be. It is
// called again before each command: a path may have come to be, and a file that
// the host replaced (editors write a new one and rename it) has lost its cover.
func (m *mounts) protect() (missing []string) {
	for _, path := range m.setup.Protected {
		actual, err := filepath.EvalSymlinks(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // see vacant.go
		}
		if err == nil && actual != path {
			missing = append(missing, path+" is or lies behind a symbolic link: what it leads to is protected, the link is not")
		}
		if err == nil {
			err = m.protectOne(actual)
		}
		if err != nil {
			missing = append(missing, path+" cannot be protected: "+err.Error())
		}
	}
	return missing
}

func (m *mounts) protectOne(path string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return err
	}
	if fs.Flags&unix.ST_RDONLY != 0 {
		return nil
	}
	if err := m.pin(path); err != nil {
		return err
	}
	if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return unix.Mount("", path, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|keptFlags(fs.Flags), "")
}

// pin makes mount points of the folders between the workspace and a path. A mount
// point cannot be renamed; else a command would move the whole folder away and
// make a new one in its place.
func (m *mounts) pin(path string) error {
	for _, dir := range between(path, m.setup.Workspace) {
		if point, err := isMountPoint(dir); err != nil || point {
			continue
		}
		if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return &os.PathError{Op: "mount", Path: dir, Err: err}
		}
	}
	return nil
}

// pinState makes mount points of the folders of the state: the state may lie in
// the workspace, where Landlock lets them be replaced.
func (m *mounts) pinState() error {
	for _, dir := range stateFolders(m.setup.State) {
		if point, err := isMountPoint(dir); err != nil || point {
			continue
		}
		if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return &os.PathError{Op: "mount", Path: dir, Err: err}
		}
	}
	return nil
}

// isMountPoint says whether something is mounted at a folder.
func isMountPoint(dir string) (bool, error) {
	var info unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW, 0, &info)
	return info.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, err
}

// keptFlags are the flags of a mount that a remount must not lose.
func keptFlags(flags int64) uintptr {
	var all uintptr
	for st, ms := range map[int64]uintptr{
		unix.ST_NOSUID: unix.MS_NOSUID, unix.ST_NODEV: unix.MS_NODEV, unix.ST_NOEXEC: unix.MS_NOEXEC,
		unix.ST_NOATIME: unix.MS_NOATIME, unix.ST_NODIRATIME: unix.MS_NODIRATIME, unix.ST_RELATIME: unix.MS_RELATIME,
	} {
		if flags&st != 0 {
			all |= ms
		}
	}
	return all
}

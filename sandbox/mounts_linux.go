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
	held  map[string]int // descriptors of paths as they were before anything was covered
}

// arrange covers what commands are not to find. The order matters: /tmp may cover
// the workspace, which is then put back, and the state may lie below what is
// hidden.
func (m *mounts) arrange() (missing []string, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("mounts of one's own: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return nil, fmt.Errorf("a /proc of one's own: %w", err)
	}
	if m.setup.Bubblewrap != "" {
		return nil, nil // which does the rest
	}
	m.held = make(map[string]int)
	defer m.release()
	if err := m.temporary(); err != nil {
		return nil, err
	}
	for _, path := range m.setup.Hidden {
		if err := m.hide(path); err != nil {
			return nil, err
		}
	}
	missing = m.protect()
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		missing = append(missing, "there are no terminals for commands: "+err.Error())
	}
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=256m"); err != nil {
		missing = append(missing, "there is no shared memory in /dev/shm for commands: "+err.Error())
	}
	return missing, nil
}

// hold opens a path before it is covered.
func (m *mounts) hold(path string) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	m.held[path] = fd
	return nil
}

func (m *mounts) release() {
	for _, fd := range m.held {
		_ = unix.Close(fd) // nothing was written
	}
}

// temporary makes /tmp the private one, since many programs know no other name
// for it, and puts back what was given and lies in it.
func (m *mounts) temporary() error {
	// Not the folder that is TMPDIR: Landlock gives the right to write there to all
	// that is below, and so would to a workspace in /tmp, also for a command that
	// only reads.
	own := filepath.Join(m.setup.State, "slash-tmp")
	var below []string
	for _, path := range slices.Concat(m.setup.Workspace, m.setup.Write, m.setup.Read, []string{m.setup.State}) {
		if path == "/tmp" {
			return nil // it was asked for as it is
		}
		if inside(path, "/tmp") {
			below = append(below, path)
		}
	}
	slices.Sort(below)
	below = slices.Compact(below)
	for _, path := range below {
		if err := m.hold(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := m.hold(m.setup.State); err != nil {
		return err
	}
	if err := unix.Mount(own, "/tmp", "", unix.MS_BIND, ""); err != nil {
		return &os.PathError{Op: "mount", Path: "/tmp", Err: err}
	}
	// Sorted, a folder stands before what is in it.
	for i, path := range below {
		done := slices.ContainsFunc(below[:i], func(above string) bool { return inside(path, above) })
		if fd, ok := m.held[path]; ok && !done {
			if err := putBack(fd, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// putBack shows a path again that was covered.
func putBack(fd int, path string) error {
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT == unix.S_IFDIR {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	} else if f, err := os.OpenFile(path, os.O_CREATE, 0o600); err != nil {
		return err
	} else {
		f.Close()
	}
	if err := unix.Mount("/proc/self/fd/"+strconv.Itoa(fd), path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return &os.PathError{Op: "mount", Path: path, Err: err}
	}
	return nil
}

// hide covers a path with nothing.
func (m *mounts) hide(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
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
		if err := putBack(m.held[m.setup.State], m.setup.State); err != nil {
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
		real, err := filepath.EvalSymlinks(path)
		if errors.Is(err, os.ErrNotExist) {
			missing = append(missing, path+" does not exist: a command can make it; it is protected from the next command on")
			continue
		}
		if err == nil && real != path {
			missing = append(missing, path+" is or lies behind a symbolic link: what it leads to is protected, the link is not")
		}
		if err == nil {
			err = m.protectOne(real)
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
	for _, root := range m.setup.Workspace {
		if !inside(path, root) {
			continue
		}
		var between []string
		for dir := filepath.Dir(path); inside(dir, root); dir = filepath.Dir(dir) {
			between = append(between, dir)
		}
		for _, dir := range slices.Backward(between) {
			if point, err := isMountPoint(dir); err != nil || point {
				continue
			}
			if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
				return &os.PathError{Op: "mount", Path: dir, Err: err}
			}
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

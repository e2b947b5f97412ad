package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Landlock knows of what a file holds and of names, not of a file's mode, owner,
// times and attributes: whoever owns a file changes those, wherever it is. A
// mount that is read-only refuses that too. So all of the machine's files are
// read-only in the mount namespace of the commands, but for what they may write.

// onlyReadable makes every mount of this thread's namespace read-only, but for
// these paths and what is below them, which stay what they are. It returns an
// error for a path that is there and cannot be kept.
func onlyReadable(but []string) error {
	type tree struct {
		fd   int
		path string
	}
	var kept []tree
	defer func() {
		for _, t := range kept {
			_ = unix.Close(t.fd) // nothing was written
		}
	}()
	for _, path := range outermost(but) {
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return &os.PathError{Op: "open tree", Path: path, Err: err}
		}
		kept = append(kept, tree{fd, path})
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return &os.PathError{Op: "make read-only", Path: "/", Err: err}
	}
	for _, t := range kept {
		if err := unix.MoveMount(t.fd, "", unix.AT_FDCWD, t.path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return &os.PathError{Op: "mount", Path: t.path, Err: err}
		}
	}
	return nil
}

// outermost is what paths lead to, as far as they are there, without those that
// lie below others.
func outermost(paths []string) []string {
	var all []string
	for _, path := range paths {
		if actual, err := filepath.EvalSymlinks(path); err == nil {
			all = append(all, actual)
		}
	}
	slices.Sort(all) // a folder stands before what is in it
	var top []string
	for _, path := range all {
		if !under(path, top...) {
			top = append(top, path)
		}
	}
	return top
}

// apartToRead gives this thread, which must never be used for anything else, a
// copy of the mounts in which only temporary files can be changed.
func (m *mounts) apartToRead() error {
	err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = onlyReadable(slices.Concat([]string{filepath.Join(m.setup.State, "tmp")}, m.ownTmp, m.shared, m.terminals))
	}
	if err != nil {
		return errors.Join(errors.New("mounts of what only reads"), err)
	}
	return nil
}

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights on files, in the words of the rules below.
const (
	mayRead = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_EXECUTE
	// Devices and sockets are not made: nothing that builds software needs to.
	mayWrite = mayRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR
	mayUse = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// What can be said of a path that is no folder.
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockVersion is the version of Landlock that the kernel has, 0 for none.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// handled is all rights that the version can withhold.
func handled(version int) uint64 {
	var all uint64 = 1<<13 - 1
	if version >= 2 {
		all |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		all |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		all |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

// landlockMissing is what an older Landlock cannot do, in sentences. alone says
// that commands see the processes of this machine.
func landlockMissing(version int, alone bool) []string {
	var missing []string
	if version < 2 {
		missing = append(missing, "this kernel's Landlock refuses every rename and link from one folder to another (want Linux 5.19)")
	}
	if version < 3 {
		missing = append(missing, "this kernel's Landlock cannot keep a command from emptying files outside of what it may write (want Linux 6.2)")
	}
	if version < 6 && alone {
		missing = append(missing, "this kernel's Landlock cannot keep a command from sending signals to other processes of the same user (want Linux 6.12)")
	}
	return missing
}

// ruleset is a set of Landlock rules that threads can put themselves under.
type ruleset struct {
	fd      int
	version int
}

// newRuleset makes an empty set, which forbids everything. With internet, TCP is
// left to the network namespace or allowed altogether.
func newRuleset(version int, internet bool) (*ruleset, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled(version)}
	if version >= 4 && !internet {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0) //nolint:gosec // that is how it is called
	if errno != 0 {
		return nil, fmt.Errorf("landlock: %w", errno)
	}
	return &ruleset{fd: int(fd), version: version}, nil
}

// allow gives rights on a path and all below it. A path that does not exist is
// left out.
func (r *ruleset) allow(path string, rights uint64) error {
	return r.allowOpened(path, rights, unix.O_PATH|unix.O_CLOEXEC)
}

// allowFolder is allow for a folder whose name commands may have given to a link,
// which is not followed.
func (r *ruleset) allowFolder(path string, rights uint64) error {
	return r.allowOpened(path, rights, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_DIRECTORY)
}

func (r *ruleset) allowOpened(path string, rights uint64, flags int) error {
	fd, err := unix.Open(path, flags, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENXIO) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "landlock", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return &os.PathError{Op: "landlock", Path: path, Err: err}
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & handled(r.version), Parent_fd: int32(fd)}                                           //nolint:gosec // a descriptor is small
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0) //nolint:gosec // that is how it is called
	if errno != 0 {
		return &os.PathError{Op: "landlock", Path: path, Err: errno}
	}
	return nil
}

// allowState lets commands read the state, write to TMPDIR, and have these rights
// on the other folders in it. A link that a command left in the place of one is
// refused.
func (r *ruleset) allowState(state string, rights uint64) error {
	errs := []error{r.allowFolder(state, mayRead), r.allowFolder(filepath.Join(state, "tmp"), mayWrite)}
	for _, dir := range stateFolders(state) {
		errs = append(errs, r.allowFolder(dir, rights))
	}
	return errors.Join(errs...)
}

// restrict puts the calling thread, and what it starts, under the rules.
func (r *ruleset) restrict() error {
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// roleName as the first argument makes the test program one of the programs
// below.
const roleName = "sandbox-role"

// role is the command line of one.
func role(args ...string) []string {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return append([]string{exe, roleName}, args...)
}

// play tries what it is told to. It prints "done", or why it could not.
func play(name string, args []string) int {
	tries := map[string]func(args []string) error{
		"write":     func(a []string) error { return os.WriteFile(a[0], []byte("escaped\n"), 0o600) },
		"truncate":  func(a []string) error { return os.Truncate(a[0], 0) },
		"remove":    func(a []string) error { return os.Remove(a[0]) },
		"rename":    func(a []string) error { return os.Rename(a[0], a[1]) },
		"mkdir":     func(a []string) error { return os.Mkdir(a[0], 0o700) },
		"chmod":     func(a []string) error { return os.Chmod(a[0], 0o777) },
		"chown":     func(a []string) error { return os.Chown(a[0], os.Getuid(), os.Getgid()) },
		"touch":     func(a []string) error { return os.Chtimes(a[0], time.Unix(1, 0), time.Unix(1, 0)) },
		"keepmode":  tryKeepMode,
		"pair":      tryPair,
		"limit":     tryLimit,
		"strike":    tryStrike,
		"peek":      tryPeek,
		"memory":    tryMemory,
		"read":      tryRead,
		"list":      func(a []string) error { _, err := os.ReadDir(a[0]); return err },
		"hardlink":  tryHardLink,
		"symlink":   trySymlink,
		"dial":      tryDial,
		"signal":    trySignal,
		"seize":     trySeize,
		"traceme":   func([]string) error { return errnoOf(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0) },
		"io_uring":  tryUring,
		"unshare":   tryUserNamespace,
		"mount":     tryMount,
		"sti":       trySti,
		"locks":     tryLocks,
		"syscall":   trySyscall,
		"hog":       tryHog,
		"host":      beHost,
		"nested":    beNested,
		"service":   beService,
		"netlink":   func([]string) error { return trySocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT) },
		"attribute": func(a []string) error { return unix.Setxattr(a[0], "user.escaped", []byte("x"), 0) },
		"flags":     tryFlags,
		"xflags":    tryExtendedFlags,
		"setattr":   trySetAttributes,
		"packet":    func([]string) error { return trySocket(unix.AF_PACKET, unix.SOCK_RAW, 0) },
	}
	try, ok := tries[name]
	if !ok {
		fmt.Println("no such role:", name)
		return 3
	}
	if err := try(args); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("done")
	return 0
}

func errnoOf(number, a, b, c uintptr) error {
	if _, _, errno := unix.RawSyscall(number, a, b, c); errno != 0 {
		return errno
	}
	return nil
}

func tryRead(args []string) error {
	text, err := os.ReadFile(args[0])
	if err == nil && !strings.Contains(string(text), args[1]) {
		return fmt.Errorf("got %q, want %q in it", text, args[1])
	}
	return err
}

// tryHardLink writes to a file through a second name for it.
func tryHardLink(args []string) error {
	if err := os.Link(args[0], args[1]); err != nil {
		return err
	}
	return os.WriteFile(args[1], []byte("escaped\n"), 0o600)
}

// trySymlink writes to a file through a link to its folder.
func trySymlink(args []string) error {
	if err := os.Symlink(filepath.Dir(args[0]), args[1]); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[1], filepath.Base(args[0])), []byte("escaped\n"), 0o600)
}

func tryDial(args []string) error {
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).Dial(args[0], args[1])
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte("escaped"))
	return err
}

func trySignal(args []string) error {
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	return syscall.Kill(pid, 0)
}

// trySeize begins to trace a process. It ends with this one.
func trySeize(args []string) error {
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func tryUring([]string) error {
	var params [120]byte
	fd, _, errno := unix.RawSyscall(unix.SYS_IO_URING_SETUP, 1, addressOf(&params[0]), 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

func tryUserNamespace([]string) error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	return cmd.Run()
}

func tryMount(args []string) error {
	if err := unix.Mount("tmpfs", args[0], "tmpfs", 0, "size=4k"); err != nil {
		return err
	}
	return unix.Unmount(args[0], unix.MNT_DETACH)
}

// trySti pushes a character into a terminal, or tries to: there is none, so that
// only the answer EPERM is a refusal. The kernel does not look at the upper half
// of the number.
func trySti(args []string) error {
	number := uintptr(unix.TIOCSTI)
	if len(args) > 0 {
		number |= 1 << 32
	}
	c := byte('x')
	err := errnoOf(unix.SYS_IOCTL, 0, number, addressOf(&c))
	if errors.Is(err, unix.EPERM) {
		return err
	}
	return nil
}

// tryLocks takes off the mark of this command.
func tryLocks([]string) error {
	return unix.Prlimit(0, unix.RLIMIT_LOCKS, &unix.Rlimit{}, nil)
}

// trySyscall makes system calls with arguments that do nothing, and names those
// that are not refused.
func trySyscall(args []string) error {
	var refused []string
	for _, a := range args {
		number, err := strconv.Atoi(a)
		if err != nil {
			return err
		}
		_, _, errno := unix.RawSyscall6(uintptr(number), ^uintptr(0), 0, 0, 0, 0, 0)
		if errno == unix.EPERM {
			refused = append(refused, a)
		}
	}
	if len(refused) == len(args) {
		return unix.EPERM
	}
	fmt.Println("refused", refused, "of", args)
	return nil
}

// tryHog takes memory, in several processes if told so.
func tryHog(args []string) error {
	size, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	if len(args) > 1 {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		var all []*exec.Cmd
		for range n {
			line := role("hog", args[0])
			cmd := exec.Command(line[0], line[1:]...)
			if err := cmd.Start(); err != nil {
				return err
			}
			all = append(all, cmd)
		}
		for _, cmd := range all {
			_ = cmd.Wait()
		}
		return nil
	}
	const step = 16 << 20
	var held [][]byte
	for taken := 0; taken < size; taken += step {
		block := make([]byte, step)
		for i := 0; i < step; i += 4096 {
			block[i] = 1
		}
		held = append(held, block)
	}
	<-time.After(20 * time.Second) // until it is ended
	return fmt.Errorf("held %d blocks", len(held))
}

func trySocket(domain, kind, protocol int) error {
	fd, err := unix.Socket(domain, kind, protocol)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// beHost is a host that starts a command which hides as well as it can, says so,
// and waits to be killed.
func beHost(args []string) error {
	box, err := New(Config{Helper: entered, Workspace: []string{args[0]}, Env: []string{markName + "=" + args[1]}, noNamespaces: args[2]})
	if err != nil {
		return err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	if _, err := box.Start(context.Background(), Command{Args: []string{"bash", "-c", hiding + "sleep 1000"}, Stdout: in}); err != nil {
		return err
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		return err
	}
	fmt.Println("ready", box.config.State)
	select {}
}

// hiding starts a grandchild in a session of its own whose parent has ended, one
// that ignores SIGTERM and SIGHUP, and one whose environment is empty.
const hiding = `
(setsid bash -c 'setsid sleep 1000 </dev/null >/dev/null 2>&1 & exit' &)
(trap '' TERM HUP; sleep 1000 </dev/null >/dev/null 2>&1 &)
(env -i setsid bash -c 'sleep 1000; :' "$` + markName + `" </dev/null >/dev/null 2>&1 &)
until [ "$(ps -e -o args= | grep -c '^sleep 1000$')" -ge 3 ]; do :; done
echo up
`

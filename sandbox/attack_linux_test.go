package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// tryKeepMode gives a file the mode that it has, which only its owner may.
func tryKeepMode(args []string) error {
	info, err := os.Stat(args[0])
	if err != nil {
		return err
	}
	return os.Chmod(args[0], info.Mode().Perm())
}

// tryPair sends a datagram to an address with one of a pair of sockets.
func tryPair(args []string) error {
	kind, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(pair[0], []byte("escaped"), 0, &unix.SockaddrUnix{Name: args[0]})
}

// tryLimit gives another process the limit that it has. With one on processor
// time it would be killed.
func tryLimit(args []string) error {
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		pid = os.Getppid()
	}
	var have unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_CORE, nil, &have); err != nil {
		return err
	}
	return unix.Prlimit(pid, unix.RLIMIT_CORE, &have, nil)
}

// threads are those of a process.
func threads(pid int) []int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	var all []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// tryStrike leaves a process in a session of its own behind, and ends the keeper
// by that thread of it which has the rights of commands.
func tryStrike([]string) error {
	if err := exec.Command("bash", "-c", "setsid sleep 1000 </dev/null >/dev/null 2>&1 & exit").Run(); err != nil {
		return err
	}
	keeper := os.Getppid()
	for _, thread := range threads(keeper) {
		for _, sig := range []unix.Signal{unix.SIGKILL, unix.SIGSEGV} {
			_ = unix.Tgkill(keeper, thread, sig) // most are out of reach
		}
	}
	return nil
}

// tryPeek reads the memory, the environment and the files of the keeper by one of
// its threads.
func tryPeek([]string) error {
	keeper := os.Getppid()
	all := threads(keeper)
	if len(all) < 2 {
		return fmt.Errorf("got the threads %v of %d, want some", all, keeper)
	}
	for _, thread := range all {
		for _, name := range []string{"mem", "environ", "maps"} {
			file := filepath.Join("/proc", strconv.Itoa(keeper), "task", strconv.Itoa(thread), name)
			if f, err := os.Open(file); err == nil {
				fmt.Println("opened", file)
				return f.Close()
			}
		}
		if _, err := os.Readlink(fmt.Sprintf("/proc/%d/task/%d/fd/0", keeper, thread)); err == nil {
			return nil
		}
	}
	return errors.New("no thread can be looked into")
}

// tryMemory makes shared memory with a number.
func tryMemory(args []string) error {
	key, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	return errnoOf(unix.SYS_SHMGET, uintptr(key), 4096, unix.IPC_CREAT|0o600)
}

// tryFlags changes what chattr changes: the flag that dump is to leave a file out.
func tryFlags(args []string) error {
	const noDump = 0x40
	return change(args[0], unix.FS_IOC_GETFLAGS, unix.FS_IOC_SETFLAGS, 8, noDump)
}

// tryExtendedFlags changes the same flag by a call that knows more of them.
func tryExtendedFlags(args []string) error {
	const get, noDump = 0x801c581f, 0x80
	return change(args[0], get, setExtendedFlags, 28, noDump)
}

// change reads flags of a file, and writes them with one that is different.
func change(path string, get, set uintptr, size int, flag byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	flags := make([]byte, size)
	if err := errnoOf(unix.SYS_IOCTL, f.Fd(), get, addressOf(&flags[0])); err != nil {
		return err
	}
	flags[0] ^= flag
	return errnoOf(unix.SYS_IOCTL, f.Fd(), set, addressOf(&flags[0]))
}

// trySetAttributes changes the same flag by the path of the file.
func trySetAttributes(args []string) error {
	const noDump = 0x80
	var flags [24]byte
	path := append([]byte(args[0]), 0)
	call := func(number uintptr) error {
		here := unix.AT_FDCWD
		_, _, errno := unix.RawSyscall6(number, uintptr(here), addressOf(&path[0]), addressOf(&flags[0]), uintptr(len(flags)), 0, 0)
		if errno != 0 {
			return errno
		}
		return nil
	}
	if err := call(unix.SYS_FILE_GETATTR); err != nil {
		return err
	}
	flags[0] ^= noDump
	return call(unix.SYS_FILE_SETATTR)
}

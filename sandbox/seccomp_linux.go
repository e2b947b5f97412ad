package sandbox

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// filter is an assembled seccomp filter.
type filter []bpf.RawInstruction

// refused are the system calls that no program in a sandbox needs: those that
// look into or change other processes, mount, make namespaces, change the
// machine, or reach parts of the kernel that had more than their share of holes.
func refused() []string {
	return []string{
		"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
		"mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig",
		"fsmount", "fspick", "mount_setattr", "unshare", "setns", "open_by_handle_at", "name_to_handle_at",
		"io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open", "userfaultfd",
		"keyctl", "add_key", "request_key", "fanotify_init", "lookup_dcookie",
		"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "swapon", "swapoff",
		"quotactl", "quotactl_fd", "acct", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "stime",
		"sethostname", "setdomainname", "syslog", "vhangup", "iopl", "ioperm", "modify_ldt", "vm86", "vm86old",
		"nfsservctl", "uselib", "ustat", "sysfs", "_sysctl", "create_module", "get_kernel_syms", "query_module",
		"move_pages", "migrate_pages", "lsm_set_self_attr",
	}
}

// allowed is what a filter lets through that not every command may do. The zero
// value is the strictest.
type allowed struct {
	internet   bool // sockets of IPv4 and IPv6
	messages   bool // shared memory and queues that have numbers or names: in a namespace
	attributes bool // modes, owners, times and attributes of files
}

// messages are the calls for what processes of a user share by its number or name.
// It stays when they end, and Landlock does not know of it.
func messages() []string {
	return []string{
		"shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl",
		"mq_open", "mq_unlink", "ipc",
	}
}

// attributes are the calls that change a file without writing to it, which
// Landlock does not refuse.
func attributes() []string {
	return []string{
		"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "utimensat",
		"setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
	}
}

// unnamed are the numbers of calls that are too new for the library to know their
// names.
func unnamed() map[string]int {
	return map[string]int{"file_setattr": unix.SYS_FILE_SETATTR}
}

// setExtendedFlags is FS_IOC_FSSETXATTR.
const setExtendedFlags = 0x401c5820

// exactly is the conditions under which the lower half of an argument is a
// value. The kernel looks at no more than that half of an int; a comparison with
// the whole would miss calls with something in the other.
func exactly(argument uint32, value uint32) seccomp.ArgumentConditions {
	all := seccomp.ArgumentConditions{{Argument: argument, Operation: seccomp.BitsNotSet, Value: uint64(^value)}}
	for bit := uint32(1); bit != 0; bit <<= 1 {
		if value&bit != 0 {
			all = append(all, seccomp.Condition{Argument: argument, Operation: seccomp.BitsSet, Value: uint64(bit)})
		}
	}
	return all
}

// other is the condition under which an argument is none of the values.
func other(argument uint32, values ...uint64) seccomp.ArgumentConditions {
	var all seccomp.ArgumentConditions
	for _, v := range values {
		all = append(all, seccomp.Condition{Argument: argument, Operation: seccomp.NotEqual, Value: v})
	}
	return all
}

const addrNoRandomize = 0x0040000 // ADDR_NO_RANDOMIZE

// conditions are the calls that are refused with some arguments only.
//
// Unix sockets are never made: whoever listens at a path (a container engine, an
// agent with keys) would act for the command outside. A pair of sockets, which
// leads nowhere else, is a different call and stays; not one of datagrams (nor
// "raw", which is another word for it), each of which can have an address.
func conditions(a allowed) []seccomp.NameWithConditions {
	const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	list := []seccomp.NameWithConditions{
		{Name: "clone", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: namespaces}}},
		// Race detectors and debuggers switch off the shuffling of their own
		// addresses, which is no danger to others.
		{Name: "personality", Conditions: other(0, 0, addrNoRandomize, math.MaxUint32)},
		{Name: "ioctl", Conditions: exactly(1, unix.TIOCSTI)},
		{Name: "ioctl", Conditions: exactly(1, unix.TIOCLINUX)},
		// The number of locks marks the processes of a command: see tag_linux.go.
		{Name: "setrlimit", Conditions: exactly(0, unix.RLIMIT_LOCKS)},
		{Name: "prlimit64", Conditions: append(exactly(1, unix.RLIMIT_LOCKS), other(2, 0)...)},
		// To limit the processor time of another process is to end it.
		{Name: "prlimit64", Conditions: append(other(0, 0), other(2, 0)...)},
		{Name: "socketpair", Conditions: seccomp.ArgumentConditions{{Argument: 1, Operation: seccomp.BitsSet, Value: unix.SOCK_DGRAM & unix.SOCK_RAW}}},
	}
	if !a.attributes {
		list = append(list,
			seccomp.NameWithConditions{Name: "ioctl", Conditions: exactly(1, unix.FS_IOC_SETFLAGS)},
			seccomp.NameWithConditions{Name: "ioctl", Conditions: exactly(1, setExtendedFlags)})
	}
	if a.internet {
		// Of netlink only the part that lists addresses: getaddrinfo and ifconfig
		// need it.
		list = append(list,
			seccomp.NameWithConditions{Name: "socket", Conditions: other(0, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)},
			seccomp.NameWithConditions{Name: "socket", Conditions: append(exactly(0, unix.AF_NETLINK), other(2, unix.NETLINK_ROUTE)...)})
	}
	return list
}

// newFilter assembles the filter.
func newFilter(a allowed) (filter, error) {
	machine, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	known := func(name string) bool {
		_, ok := machine.SyscallNames[name]
		return ok
	}
	deny := seccomp.SyscallGroup{Action: seccomp.ActionErrno}
	names := refused()
	if !a.internet {
		names = append(names, "socket")
	}
	if !a.messages {
		names = append(names, messages()...)
	}
	if !a.attributes {
		names = append(names, attributes()...)
	}
	var numbers []uint32
	for _, name := range names {
		if known(name) {
			deny.Names = append(deny.Names, name)
		} else if n, ok := unnamed()[name]; ok {
			numbers = append(numbers, uint32(n)) //nolint:gosec // small
		} // else this machine has no such call
	}
	for _, c := range conditions(a) {
		if known(c.Name) {
			deny.NamesWithCondtions = append(deny.NamesWithCondtions, c)
		}
	}
	// The arguments of clone3 are in memory, where a filter cannot look. Every C
	// library goes back to clone if it is not there.
	absent := seccomp.SyscallGroup{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}}
	policy := seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{absent, deny}}
	program, err := policy.Assemble()
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	// The library lets the calls of other architectures go to the default, which
	// allows: they would be a way around all of this.
	const numberOffset, archOffset = 0, 4
	first := []bpf.Instruction{
		bpf.LoadAbsolute{Off: archOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(machine.ID), SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		bpf.LoadAbsolute{Off: numberOffset, Size: 4},
	}
	for _, n := range numbers {
		first = append(first,
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: n, SkipFalse: 1},
			bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	raw, err := bpf.Assemble(append(first, program...))
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	return raw, nil
}

// load puts the calling thread, and what it starts, under the filter.
func (f filter) load() error {
	program := unix.SockFprog{Len: uint16(len(f)), Filter: (*unix.SockFilter)(unsafe.Pointer(&f[0]))}                    //nolint:gosec // the two types are one struct of the kernel's, and a filter has at most 4096 steps
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))) //nolint:gosec // that is how it is called
	runtime.KeepAlive(f)
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// bytes is the filter as bubblewrap reads it.
func (f filter) bytes() []byte {
	var b []byte
	for _, i := range f {
		b = binary.NativeEndian.AppendUint16(b, i.Op)
		b = append(b, i.Jt, i.Jf)
		b = binary.NativeEndian.AppendUint32(b, i.K)
	}
	return b
}

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// launcher is a thread of the keeper that has given up its rights, for good, and
// starts commands: a child has the rights of the thread that forked it. To start
// a restricted process for each command, which then restricts itself and executes
// it, would take many times as long as the command.
//
// The thread never goes back to the others. The runtime does not make new threads
// from one that is locked, so that none of them inherits its restrictions.
type launcher struct {
	orders chan launch
}

type launch struct {
	program string
	args    []string
	attr    *syscall.ProcAttr
	pid     chan<- launched
}

type launched struct {
	pid int
	err error
}

// newLauncher starts a thread and has it restrict itself.
func newLauncher(restrict func() error) (*launcher, error) {
	l := &launcher{orders: make(chan launch)}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked
		// Priority is a thread's own too: commands wait for the keeper, which has
		// to end them, and for the host.
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 5) // lower is always allowed
		if err := restrict(); err != nil {
			ready <- err
			return
		}
		ready <- nil
		for o := range l.orders {
			pid, err := syscall.ForkExec(o.program, o.args, o.attr) //nolint:gosec // to run commands is what this is for
			o.pid <- launched{pid, err}
		}
	}()
	return l, <-ready
}

func (l *launcher) start(program string, args []string, attr *syscall.ProcAttr) (int, error) {
	pid := make(chan launched)
	l.orders <- launch{program, args, attr, pid}
	got := <-pid
	return got.pid, got.err
}

// restriction is what the threads of commands put themselves under.
type restriction struct {
	rules  *ruleset
	filter filter
	keep   []uintptr // capabilities
}

func (r *restriction) apply() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	err := r.rules.restrict()
	_ = unix.Close(r.rules.fd) // it was for this thread alone
	if err != nil {
		return err
	}
	if err := dropCapabilities(r.keep); err != nil {
		return err
	}
	return r.filter.load()
}

// filesAsRoot is what root keeps: the right to change files whoever owns them, of
// those that Landlock leaves.
func filesAsRoot() []uintptr {
	if os.Geteuid() != 0 {
		return nil
	}
	return []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID}
}

// dropCapabilities takes all capabilities from the calling thread but those to be
// kept.
func dropCapabilities(keep []uintptr) error {
	var mask uint64
	for _, c := range keep {
		mask |= 1 << c
	}
	for c := uintptr(0); c <= 63; c++ {
		if mask&(1<<c) == 0 {
			// Without the right to do so there is nothing to be gained by exec
			// either; a number that the kernel does not know ends the list.
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
				break
			}
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // a kernel without them has none
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&head, &have[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	for i := range have {
		part := uint32(mask >> (32 * i)) //nolint:gosec // each half in turn
		have[i].Permitted &= part
		have[i].Effective = have[i].Permitted
		have[i].Inheritable = 0
	}
	if err := unix.Capset(&head, &have[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

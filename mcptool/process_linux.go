package mcptool

import (
	"errors"
	"syscall"
)

// waitExit waits until a child has ended and leaves it to be waited for: until
// then its number, and that of its process group, cannot become another's.
func waitExit(pid int) bool {
	const byPid = 1 // P_PID
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, byPid, uintptr(pid), 0, syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if !errors.Is(err, syscall.EINTR) {
			return err == 0
		}
	}
}

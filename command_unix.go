//go:build unix

package ferrule

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup lets a program begin a process group: what it starts belongs to it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends every process of the group, which cannot refuse.
func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

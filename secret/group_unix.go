//go:build unix

package secret

import (
	"os/exec"
	"syscall"
)

// ownGroup lets a program begin a process group: what it starts belongs to it,
// unless it leaves it on purpose, as agents do.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return endGroup(cmd) }
}

// endGroup ends every process of the group.
func endGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// killTogether has a command killed with all that it starts: a worker that hangs
// does not see that the engine is gone.
func killTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

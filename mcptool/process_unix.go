//go:build unix

package mcptool

import (
	"os/exec"
	"syscall"
)

// group is a process group.
type group struct{ pid int }

// prepare lets the child begin a group.
func (g *group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (g *group) started(cmd *exec.Cmd) { g.pid = cmd.Process.Pid }

// terminate asks all of the group to end, and kill ends them. They may be gone.
func (g *group) terminate() { _ = syscall.Kill(-g.pid, syscall.SIGTERM) }
func (g *group) kill()      { _ = syscall.Kill(-g.pid, syscall.SIGKILL) }

func (g *group) release() {}

//go:build unix

package mcptool

import (
	"os/exec"
	"strconv"
	"syscall"
)

// group is a process group, and what has left it, as far as it is marked.
type group struct {
	pid int
	tag uint64 // 0: there is no mark
}

// prepare lets the child begin a group.
func (g *group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (g *group) started(cmd *exec.Cmd) { g.pid, g.tag = cmd.Process.Pid, mark(cmd.Process.Pid) }

// terminate asks all of the group to end.
func (g *group) terminate() { _ = syscall.Kill(-g.pid, syscall.SIGTERM) } // it may be gone

// kill ends all of the group, and all that has left it.
func (g *group) kill() {
	_ = syscall.Kill(-g.pid, syscall.SIGKILL) // it may be gone
	killMarked(g.tag)
}

// watched is what a sentry is told, to end it in our place.
func (g *group) watched() string {
	if g.pid == 0 {
		return "" // others end it
	}
	return strconv.Itoa(g.pid) + ":" + strconv.FormatUint(g.tag, 10)
}

func (g *group) release() {}

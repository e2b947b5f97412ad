package mcptool

import (
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job: it holds the child and all that it starts from then on. What the
// child starts before it is in the job stays outside; that is a moment.
type group struct {
	process *os.Process
	job     windows.Handle // 0: there is none
}

func (g *group) prepare(*exec.Cmd) {}

// started puts the child into a job that ends with its last handle, so that it
// ends with this program too.
func (g *group) started(cmd *exec.Cmd) {
	g.process = cmd.Process
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))) //nolint:gosec // the call wants an address and a size
	if err == nil {
		err = cmd.Process.WithHandle(func(handle uintptr) {
			if windows.AssignProcessToJobObject(job, windows.Handle(handle)) == nil {
				g.job = job
			}
		})
	}
	if err != nil || g.job == 0 {
		g.job = 0
		_ = windows.CloseHandle(job) // nothing is in it
	}
}

// terminate does nothing: a program without a window cannot be asked.
func (g *group) terminate() {}

func (g *group) kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1) // they may be gone
		return
	}
	_ = g.process.Kill() // it may be gone
}

// watched is nothing: the job ends with this program.
func (g *group) watched() string { return "" }

func (g *group) release() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}

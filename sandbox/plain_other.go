//go:build !unix

package sandbox

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// signalGroup ends the process: there are no groups here.
func signalGroup(p *os.Process, _ bool) {
	_ = p.Kill() // it may be gone
}

func signalOf(*os.ProcessState) string { return "" }

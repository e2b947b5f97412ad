//go:build !unix

package ferrule

import "os/exec"

// ownGroup does nothing: there are no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup ends the program, and nothing that it started.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

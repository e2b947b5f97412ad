//go:build !unix

package secret

import "os/exec"

// ownGroup does nothing: there are no process groups.
func ownGroup(*exec.Cmd) {}

// endGroup does nothing: the program itself has ended.
func endGroup(*exec.Cmd) error { return nil }

//go:build !unix

package mcptool

import "os/exec"

// leaveGroup does nothing: there are no sessions.
func leaveGroup(*exec.Cmd) {}

//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// group has the program run in a process group of its own.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
func kill(cmd *exec.Cmd)      { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// quit has a program of Go end with a dump of its goroutines.
func quit(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGQUIT) }

//go:build !unix

package main

import (
	"errors"
	"os/exec"
)

// group does nothing: there are no process groups here.
func group(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
func kill(cmd *exec.Cmd)      { _ = cmd.Process.Kill() }

func quit(*exec.Cmd) error { return errors.ErrUnsupported }

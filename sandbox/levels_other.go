//go:build !linux

package sandbox

import (
	"fmt"
	"runtime"
)

// keep has nothing to do: there is no keeper here.
func keep() {}

// startersFor finds what starts commands at a level.
func startersFor(box *Box, level Level) (starter, error) {
	switch level {
	case InProcess:
		return &plainly{}, nil
	case Container:
		return newContainers(box)
	default:
		return nil, &Unavailable{level, noProcess()}
	}
}

// noProcess says why level Process cannot be had.
func noProcess() string {
	return fmt.Sprintf("it is built on Landlock, seccomp and namespaces of Linux, which %s does not have (level %q works where docker or podman does); %s", runtime.GOOS, Container, allowNone)
}

// bubblewrap says why it cannot be used.
func bubblewrap() (path, why string) { return "", noProcess() }

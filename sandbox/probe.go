package sandbox

import (
	"os"
	"strings"
)

// Probe says of each level whether it can be had here, and why not. It tries what
// it can: that takes some milliseconds.
func Probe(helper Helper) []Support {
	all := []Support{{Level: InProcess, Available: true, Why: "it is no isolation"}}
	all = append(all, probeProcess(helper))
	_, why := bubblewrap()
	all = append(all, Support{Namespace, why == "", why})
	_, why = findEngine()
	return append(all, Support{Container, why == "", why})
}

// probeProcess makes a Box and looks at what its commands would get.
func probeProcess(helper Helper) Support {
	s := Support{Level: Process}
	dir, err := os.MkdirTemp("", "ferrule-probe-")
	if err != nil {
		s.Why = err.Error()
		return s
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is empty
	box, err := New(Config{Helper: helper, Workspace: []string{dir}, Network: Loopback})
	if err != nil {
		s.Why = strings.TrimPrefix(err.Error(), "sandbox: ")
		return s
	}
	a := box.Applied()
	s.Available, s.Why = len(a.Kernel) > 0, strings.Join(a.Missing, "; ")
	if err := box.Close(); err != nil {
		s.Why = err.Error()
	}
	return s
}

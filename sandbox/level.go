package sandbox

import "fmt"

// Level is how much a command is kept apart, from nothing to most.
type Level string

// The levels. Each includes what the ones before it do.
const (
	// InProcess is no isolation: a command is a plain child of this program, with
	// a process group and a clean environment of its own where the system has
	// them.
	InProcess Level = "in-process"
	// Process is Landlock, seccomp, limits, a private HOME, TMPDIR and caches,
	// and namespaces where the kernel gives them.
	Process Level = "process"
	// Namespace is bubblewrap: what a command may not read is not there at all.
	Namespace Level = "namespace"
	// Container is docker or podman: the files of an image, not of this machine.
	Container Level = "container"
)

// AtLeast says whether l isolates at least as much as least. A level that is not
// one of the four isolates nothing, and nothing is enough where one is asked for.
func (l Level) AtLeast(least Level) bool {
	want := least.rank()
	return want >= 0 && l.rank() >= want
}

func (l Level) rank() int {
	switch l {
	case InProcess:
		return 0
	case Process:
		return 1
	case Namespace:
		return 2
	case Container:
		return 3
	}
	return -1
}

// Network is what a command reaches.
type Network string

// The networks. The zero value counts as Off.
const (
	// Off is no network at all: internet sockets cannot be made.
	Off Network = "off"
	// Loopback is a loopback of one's own: commands reach servers that commands
	// of the same Box started, and nothing else.
	Loopback Network = "loopback"
	// Open is the network of this machine, its loopback included.
	Open Network = "open"
)

// Applied is what a command gets, or got.
type Applied struct {
	Level   Level
	Network Network
	// Kernel names what enforces it, such as "landlock 7" or "user namespace".
	Kernel []string
	// Missing says, a sentence each, what was wanted and cannot be enforced here.
	Missing []string
	// Differs says, a sentence each, what is other than a command may expect, and
	// opens nothing to it.
	Differs []string
}

// Support says whether a level can be had on this machine.
type Support struct {
	Level     Level
	Available bool
	// Why says what is missing where the level is not available, and what is
	// weaker than it could be where it is.
	Why string
}

// Unavailable is the error of New where a level cannot be had.
type Unavailable struct {
	Level Level
	Why   string
}

// Error says which level cannot be had, and why.
func (u *Unavailable) Error() string {
	return fmt.Sprintf("sandbox: level %q cannot be had here: %s", u.Level, u.Why)
}

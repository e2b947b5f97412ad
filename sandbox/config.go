package sandbox

import (
	"io"
	"time"
)

// Config is what the commands of a Box may do. Paths are absolute.
type Config struct {
	// Helper is what Enter gave.
	Helper Helper
	// Level is the least that will do. "" means Process.
	Level Level
	// Weaker is the level that will do where Level cannot be had, because the
	// operator wrote that down. "" means that none will. InProcess means that no
	// isolation will do.
	Weaker Level

	// Workspace is the folders that commands read and write. The first is where
	// they run.
	Workspace []string
	// Read and Write are further paths, files or folders. Those that do not exist
	// are left out.
	Read, Write []string
	// Protected is paths in the workspace that commands read and cannot change:
	// what the host obeys or runs later, such as ferrule.yaml or .git/hooks. What
	// comes to be at one that is not there, in a folder that is, is put aside when
	// the command has ended.
	Protected []string
	// Hidden is paths in the workspace that commands cannot even read, such as
	// the host's own state. State may lie below one and stays usable.
	Hidden []string
	// State is the folder of the private HOME, TMPDIR and caches. "" means a
	// temporary one, which Close removes.
	State string

	// Network is what commands reach. "" means Off.
	Network Network
	// Limits are those of every command.
	Limits Limits
	// Image is the image of level Container.
	Image        string
	noNamespaces string // tests: why there are none

	// Env is added to the clean environment, as KEY=value. Of this process's
	// environment nothing else is passed on but PATH, the locale (LANG, LANGUAGE,
	// LC_*), TERM, TZ, where toolchains are (JAVA_HOME, PYENV_ROOT, RUSTUP_HOME,
	// RBENV_ROOT, NVM_DIR, VOLTA_HOME, ASDF_DATA_DIR), and what Windows needs
	// (SystemRoot, ComSpec, PATHEXT). GOMODCACHE and GOPROXY lead to this user's
	// modules, and git is told the user's name and address.
	Env []string
}

// Limits are what a command may use. 0 means the default, -1 no limit.
//
// Files and FileSize are set once for all commands of a Box. The others can be
// given for one command, and only lower what the Box has.
type Limits struct {
	// Time is how long a command may run. 0 means 10 minutes.
	Time time.Duration
	// Memory is the bytes that a command and all its children hold together. It
	// is looked at several times a second: a command that exceeds it is ended.
	// 0 means 4 GiB.
	Memory int64
	// Processes is how many processes a command may have. 0 means 512.
	Processes int
	// Files is how many files a process may have open. 0 means 4096.
	Files int
	// FileSize is how large a file that a process writes may become. 0 means 4 GiB.
	FileSize int64
	// Output is how much a command may print, both streams together. 0 means
	// 64 MiB.
	Output int64
}

// Command is one program to be run.
type Command struct {
	// Args is the program and its arguments. A program without a slash is looked
	// for in the sandbox's PATH.
	Args []string
	// Dir is where it runs. "" means the first folder of the workspace.
	Dir string
	// Env is added to the environment of the Box.
	Env []string
	// Stdin is read by the command. nil means that there is nothing to read. A
	// reader that is no file and never ends holds a goroutine until it does.
	Stdin io.Reader
	// Stdout and Stderr receive what it prints, each in one goroutine. nil throws
	// it away. If both are the same writer, it is one stream, in order.
	Stdout, Stderr io.Writer
	// ReadOnly takes the right to write away: of all files only those in TMPDIR
	// can be written.
	ReadOnly bool
	// Limits lower those of the Box.
	Limits Limits
}

// Outcome is how a command ended.
type Outcome struct {
	// Code is the exit status, or -1 where a signal ended it.
	Code int
	// Signal names the signal that ended it, such as "SIGKILL".
	Signal string
	// Stopped says why it was ended, where it did not end by itself: "time",
	// "memory", "processes", "output", "stopped", "context", or "the sandbox
	// died".
	Stopped string
	// Applied is what it ran with.
	Applied Applied
	// Took is how long it ran.
	Took time.Duration
	// Aside are protected paths that were not there and that have come to be while
	// it ran. What was there has another name now, which begins like the old one.
	Aside []string
	// Peak is the bytes of memory that it held at most, as far as was seen.
	Peak int64
}

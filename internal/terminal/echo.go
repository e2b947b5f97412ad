//go:build linux || darwin

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Silence has a terminal not show what is typed, while something is drawn there: an Enter
// would move it. undo ends that, and forgets what was typed meanwhile: it was meant for
// nothing that comes then. Where in is no terminal, or this program runs in the
// background, both do nothing.
func Silence(in any) (undo func()) {
	if !shows(in, false) {
		return func() {}
	}
	return func() { shows(in, true) }
}

// shows sets whether keys are shown, and reports whether they were not so before.
func shows(in any, keys bool) (changed bool) {
	if !Is(in) {
		return false
	}
	fd := int(in.(*os.File).Fd())
	// To set a terminal from the background would stop this program.
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return false
	}
	state, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil || (state.Lflag&unix.ECHO != 0) == keys {
		return false
	}
	state.Lflag ^= unix.ECHO
	return unix.IoctlSetTermios(fd, setTermios, state) == nil
}

package terminal

import "golang.org/x/sys/unix"

// Setting forgets what was typed and not read.
const getTermios, setTermios = unix.TIOCGETA, unix.TIOCSETAF

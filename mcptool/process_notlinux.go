//go:build !linux

package mcptool

// waitExit cannot be had: what is left of a process group is ended right after
// its first process has been waited for.
func waitExit(int) bool { return false }

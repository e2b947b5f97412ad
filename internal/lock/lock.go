// Package lock locks files between processes.
package lock

import "os"

// File locks a file for as long as it is open, for itself or together with others
// who share it. It waits for nobody: false means that somebody else has it. The
// system takes the lock away where a process ends, however it does.
func File(f *os.File, shared bool) (bool, error) { return lockFile(f, shared) }

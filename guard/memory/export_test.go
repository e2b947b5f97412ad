package memory

import "time"

// Heavy is a folder whose copies are not kept in memory.
func Heavy(path string) *Dir { return &Dir{Path: path, light: 8} }

// Known is how many digests of files are remembered.
func (d *Dir) Known() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.known)
}

// Later has the folder think that what stands there was written an hour ago.
func (d *Dir) Later() { d.ahead = time.Hour }

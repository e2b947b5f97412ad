package undo

// A folder cannot be synced here.
func syncDir(string) error { return nil }

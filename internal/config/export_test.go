package config

// ReplaceFile lets tests put themselves between reading and replacing a file.
func ReplaceFile(path string, before, text []byte) error { return replaceFile(path, before, text) }

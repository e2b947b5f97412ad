package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// makeState makes the private folders and gives their real path. Commands write
// there, and the next Box grants them what lies there by name: a link that one of
// them left in the place of a folder must not be followed.
func makeState(dir string, workspace []string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := ledAway(dir, workspace); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // nothing is written through it
	if err := root.Chmod(".", 0o700); err != nil {
		return "", err
	}
	for _, name := range stateNames() {
		if info, err := root.Lstat(name); err == nil && !info.IsDir() {
			if err := root.Remove(name); err != nil {
				return "", err
			}
		}
		if err := root.MkdirAll(name, 0o700); err != nil {
			return "", err
		}
		if err := root.Chmod(name, 0o700); err != nil {
			return "", err
		}
	}
	if err := keepOutOfGit(root); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// ledAway refuses a folder that a link in the workspace leads to: a command can
// have made the link.
func ledAway(dir string, workspace []string) error {
	for at := filepath.Clean(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err != nil || info.Mode()&os.ModeSymlink == 0 {
			continue
		}
		above, err := filepath.EvalSymlinks(filepath.Dir(at))
		if err != nil {
			return err
		}
		if under(above, workspace...) {
			return fmt.Errorf("got %s, which is a symbolic link in the workspace, want a folder: a command can have made the link", at)
		}
	}
	return nil
}

// keepOutOfGit keeps a state in the workspace from being committed with it. What
// the host has against that is hidden from commands.
func keepOutOfGit(root *os.Root) error {
	f, err := root.OpenFile(".gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// stateFolders are what commands write of a state. The state itself they do not:
// else one could put a link in place of a folder, for the next keeper to follow.
func stateFolders(state string) []string {
	var all []string
	for _, name := range stateNames() {
		all = append(all, filepath.Join(state, name))
	}
	return all
}

func stateNames() []string { return []string{"cache", "config", "data", "home", "tmp"} }

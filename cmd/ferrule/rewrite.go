package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// before is what a file is called that keeps what another was.
func before(path string) string { return path + ".before-ferrule" }

// rewrite is a file of a client that is to be changed.
type rewrite struct {
	path     string
	old, now []byte
}

// clientFile reads a file of a client, which need not be there.
func clientFile(path string) (c rewrite, err error) {
	c = rewrite{path: path}
	if c.old, err = readClient(path); errors.Is(err, fs.ErrNotExist) {
		_, err = target(path)
	}
	return c, err
}

// target is the file that a path leads to, which need not be there. It refuses a
// link that leads to none: written, it would become a file, and the link be lost.
func target(path string) (string, error) {
	to, err := filepath.EvalSymlinks(path)
	if err == nil {
		return to, nil
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", fmt.Errorf("%s is a link to a file that is not there: make that file, or remove the link", path)
	}
	return path, nil
}

// back makes a file what it was, if nobody else has changed it since.
func (c *rewrite) back() error {
	return replace(c.path, c.now, c.old)
}

// errMeanwhile is that a file is not what it was read as.
var errMeanwhile = errors.New("somebody else has changed it meanwhile: try again")

// still reports that a file is not what it was.
func still(path string, was []byte) error {
	is, err := clientFile(path)
	if err == nil && !bytes.Equal(is.old, was) {
		err = fmt.Errorf("%s: %w", path, errMeanwhile)
	}
	return err
}

// apply keeps what files are, and changes them: all, or none.
func (p *program) apply(changes []rewrite, dry bool) error {
	for i, c := range changes {
		if dry {
			p.printf("would change %s:\n%s\n", c.path, bytes.TrimRight(c.now, "\n"))
			continue
		}
		if err := c.apply(); err != nil {
			for _, done := range changes[:i] {
				if failed := done.back(); failed != nil {
					err = errors.Join(err, fmt.Errorf("%s stays changed: %w: put %s back by hand", done.path, failed, before(done.path)))
					continue
				}
				err = errors.Join(err, os.Remove(before(done.path)))
				p.printf("put back %s\n", done.path)
			}
			return err
		}
		p.printf("changed %s; %s is what it was: keep that out of git\n", c.path, filepath.Base(before(c.path)))
	}
	return nil
}

func (c *rewrite) apply() error {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o750); err != nil {
		return err
	}
	// Empty: there was none.
	if err := keepNew(before(c.path), c.old); err != nil {
		return err
	}
	if err := replace(c.path, c.old, c.now); err != nil {
		return errors.Join(err, os.Remove(before(c.path)))
	}
	return nil
}

// keepNew writes a file that is not there, for its user only.
func keepNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path)) // half of it is nothing to come back to
	}
	return nil
}

// replace makes a file another one at once or not at all, if it still is what it was
// read as: clients write theirs while they run. It keeps its permissions, and a link
// stays one. A text that is nil removes it.
func replace(path string, was, text []byte) error {
	if text == nil {
		err := still(path, was)
		if err == nil {
			err = os.Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	path, err := target(path)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".ferrule-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = still(path, was)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

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
		err = nil
	}
	return c, err
}

// back makes a file what it was, if nobody else has changed it since.
func (c *rewrite) back() error {
	is, err := clientFile(c.path)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(is.old, c.now):
		return errors.New("somebody else has changed it meanwhile")
	case c.old == nil:
		return os.Remove(c.path)
	}
	return replace(c.path, c.old)
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
	if err := replace(c.path, c.now); err != nil {
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

// replace writes a file at once or not at all, with the permissions that it had; a
// link stays one.
func replace(path string, text []byte) error {
	mode := fs.FileMode(0o644)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
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
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

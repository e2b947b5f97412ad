package memory

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Restore is for [Snapshot]. Each file is put back whole: what is in the way goes,
// and the copy is written beside it and renamed. Nothing is reached through a link.
func (s *dirSnapshot) Restore(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(s.was) == 0 {
		return removeAll(s.dir.Path)
	}
	r := restoring{s, make(map[string][]*entry)}
	for i := range s.was {
		if e := &s.was[i]; e.path != "." {
			r.in[path.Dir(e.path)] = append(r.in[path.Dir(e.path)], e)
		}
	}
	self, _ := s.was.find(".")
	top, err := s.dir.remake(self.mode)
	if err != nil {
		return err
	}
	defer top.Close()
	return r.all(ctx, top, ".", self.mode)
}

// restoring is a snapshot by folder.
type restoring struct {
	*dirSnapshot
	in map[string][]*entry
}

// removeAll removes a folder that was not there, and no other.
func removeAll(name string) error {
	err := os.RemoveAll(name)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	top, err2 := os.OpenRoot(name)
	if err2 != nil {
		return err
	}
	unlock(top)
	top.Close()
	return os.RemoveAll(name)
}

// remake opens the folder, and makes it if it is no folder any more.
func (d *Dir) remake(mode fs.FileMode) (*os.Root, error) {
	info, err := os.Lstat(d.Path)
	switch {
	case err == nil && !info.IsDir():
		if err := os.Remove(d.Path); err != nil {
			return nil, err
		}
		fallthrough
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(d.Path, 0o700); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case info.Mode()&owner != owner:
		if err := os.Chmod(d.Path, mode&permissions|owner); err != nil {
			return nil, err
		}
	}
	top, _, err := d.top()
	if err == nil && top == nil {
		err = fmt.Errorf("%s: it was exchanged again", d.Path)
	}
	return top, err
}

const (
	permissions = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	owner       = 0o700 // without them a folder cannot be restored
)

// all restores what is in one folder, which lets its owner do so, and then its
// permissions. It does as much as it can.
func (s restoring) all(ctx context.Context, at *os.Root, dir string, mode fs.FileMode) error {
	names, err := namesIn(at, int(^uint(0)>>1)) // all: somebody else has made them
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, ok := s.was.find(path.Join(dir, name)); !ok {
			errs = append(errs, remove(at, name))
		}
	}
	for _, e := range s.in[dir] {
		if err := ctx.Err(); err != nil {
			return err
		}
		errs = append(errs, s.entry(ctx, at, e))
	}
	errs = append(errs, permit(at, mode))
	return errors.Join(errs...)
}

// permit gives a folder its permissions, if it has others.
func permit(at *os.Root, mode fs.FileMode) error {
	info, err := at.Stat(".")
	if err != nil || info.Mode()&permissions == mode&permissions {
		return err
	}
	f, err := at.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Chmod(mode & permissions)
}

// entry restores one file, folder or link.
func (s restoring) entry(ctx context.Context, at *os.Root, e *entry) error {
	name := path.Base(e.path)
	info, err := at.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && info.Mode().Type() != e.mode.Type() {
		if err := remove(at, name); err != nil {
			return err
		}
		info = nil
	}
	if err != nil {
		info = nil
	}
	switch {
	case e.mode.IsDir():
		return s.folder(ctx, at, e, name, info)
	case e.mode.Type() == fs.ModeSymlink:
		if info != nil {
			if target, err := at.Readlink(name); err == nil && target == e.target {
				return nil
			}
			if err := at.Remove(name); err != nil {
				return err
			}
		}
		return at.Symlink(e.target, name)
	}
	if info != nil && info.Mode()&kept == e.mode && info.Size() == e.size {
		if sum, err := s.dir.read(ctx, place{at, name, e.path, info}, io.Discard); err == nil && sum == e.sum {
			return nil
		}
	}
	return replace(at, name, &reader{ctx, s.copy.of(e)}, e.mode)
}

// folder restores a folder with all in it.
func (s restoring) folder(ctx context.Context, at *os.Root, e *entry, name string, info fs.FileInfo) error {
	if info == nil {
		if err := at.Mkdir(name, owner); err != nil {
			return err
		}
	} else if info.Mode()&owner != owner {
		if err := at.Chmod(name, e.mode&permissions|owner); err != nil {
			return err
		}
	}
	info, err := at.Lstat(name)
	if err != nil {
		return err
	}
	next, err := step(at, name, info)
	if err != nil {
		return err
	}
	defer next.Close()
	return s.all(ctx, next, e.path, e.mode)
}

// temporary is how names begin of files that are being written.
const temporary = ".ferrule-tmp-"

// replace gives a name new content, whole or not at all.
func replace(at *os.Root, name string, from io.Reader, mode fs.FileMode) error {
	temp := temporary + strings.ToLower(rand.Text())
	f, err := at.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err == nil {
		err = f.Chmod(mode & permissions)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = at.Rename(temp, name)
	}
	if err != nil {
		_ = at.Remove(temp)
	}
	return err
}

// remove removes what has a name, with all in it, also where its folders say that
// nobody may.
func remove(at *os.Root, name string) error {
	err := at.RemoveAll(name)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if info, err := at.Lstat(name); err == nil && info.IsDir() {
		_ = at.Chmod(name, owner)
		if next, err := step(at, name, info); err == nil {
			unlock(next)
			next.Close()
		}
	}
	return at.RemoveAll(name)
}

// unlock lets the owner remove what is in a folder.
func unlock(at *os.Root) {
	_ = at.Chmod(".", owner)
	names, _ := namesIn(at, maxEntries)
	for _, name := range names {
		info, err := at.Lstat(name)
		if err != nil || !info.IsDir() {
			continue
		}
		_ = at.Chmod(name, owner)
		if next, err := step(at, name, info); err == nil {
			unlock(next)
			next.Close()
		}
	}
}

package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/internal/lock"
)

// owner is a Store that has begun calls, as others know it. While it is there it
// holds the lock of a file near the store, which the system takes away where
// its process ends, however it does, and which it keeps while it is stopped. So
// it never has to be guessed from a clock whether somebody is still there.
type owner struct {
	id   string
	file *os.File
	held
}

// OwnersSuffix makes of the path of a store that of the folder where owners have
// their locks. Who removes one makes running calls look as if they had crashed.
const OwnersSuffix = "-owners"

// ownerDir is that folder: beside the file that a link leads to.
func (s *Store) ownerDir() string { return s.files[0].path + OwnersSuffix }

// ownerFile is where the lock of an owner is.
func (s *Store) ownerFile(id string) string { return filepath.Join(s.ownerDir(), id) }

// isOwner refuses what would lead to another file.
func isOwner(id string) bool {
	return len(id) == len(rand.Text()) && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// owner is who this store is for others, from now on.
func (s *Store) owner() (*owner, error) {
	if o := s.own.Load(); o != nil {
		return o, nil
	}
	s.owning.Lock()
	defer s.owning.Unlock()
	if o := s.own.Load(); o != nil {
		return o, nil
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	for range 10 {
		o, err := s.newOwner(rand.Text())
		if err != nil {
			return nil, writable(s.ownerFile("…"), err)
		}
		if o != nil {
			s.own.Store(o)
			s.sweepOwners()
			return o, nil
		}
	}
	return nil, errors.New("the file of its owner was taken away ten times: see who does that")
}

// newOwner makes and locks the file of an owner; nil: somebody who sweeps was
// quicker.
func (s *Store) newOwner(id string) (_ *owner, err error) {
	name := s.ownerFile(id)
	if err := os.MkdirAll(s.ownerDir(), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	locked, err := lock.File(f, false)
	if err == nil {
		err = f.Chmod(0o600) // the umask may have taken more away
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(name))
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(name))
	}
	o := &owner{id, f, held{name, info}}
	if !locked || o.there() != nil {
		return nil, f.Close()
	}
	return o, nil
}

// there reports that the file is not the owner's any more: then others take it for
// gone.
func (o *owner) there() error {
	if o == nil {
		return nil
	}
	now, err := os.Stat(o.path)
	if err == nil && !os.SameFile(now, o.FileInfo) {
		err = errors.New("it is another file now")
	}
	if err != nil {
		return fmt.Errorf("%s was taken away while it was in use (%w): start again: %w", filepath.Base(o.path), err, durable.ErrStale)
	}
	return nil
}

// leave is the end of an owner.
func (s *Store) leave() error {
	s.owning.Lock()
	defer s.owning.Unlock()
	o := s.own.Load()
	if o == nil {
		return nil
	}
	if o.there() != nil || !s.emptyHanded() {
		return o.file.Close() // what is there now is not ours, or for the next who opens the store
	}
	return remove(o.file, o.path)
}

// remove removes a file that is open and locked, and lets go of it. Not every
// system can remove one that is open.
func remove(f *os.File, name string) error {
	err := os.Remove(name)
	if closing := f.Close(); err != nil {
		err = os.Remove(name)
	} else {
		err = closing
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Writes reports whether a writer of the log is there: the process of one that is not
// has ended, and what it had begun goes on nowhere.
func (s *Store) Writes(writer string) (bool, error) {
	if !isOwner(writer) { // somebody has changed the log, which Verify says
		return false, nil
	}
	there, err := s.alive(writer)
	return there, s.fault(s.life, "look for a writer", err)
}

// alive reports whether an owner is there.
func (s *Store) alive(id string) (bool, error) {
	if o := s.own.Load(); o != nil && o.id == id {
		return true, nil
	}
	if !isOwner(id) {
		return false, &damage{fmt.Sprintf("got the owner %q", id)}
	}
	f, err := os.Open(s.ownerFile(id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	defer f.Close()
	free, err := lock.File(f, true)
	return !free && err == nil, err
}

// sweepOwners removes the files of those who are gone. What it cannot remove
// stays until the next time, and so does what recover is to look at.
func (s *Store) sweepOwners() {
	all, err := os.ReadDir(s.ownerDir())
	if err != nil {
		return
	}
	for _, one := range all {
		id := one.Name()
		if !isOwner(id) || id == s.own.Load().id {
			continue
		}
		f, err := os.OpenFile(s.ownerFile(id), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		info, err := f.Stat()
		if err != nil || info.Size() > 0 {
			f.Close()
			continue
		}
		if free, err := lock.File(f, false); err == nil && free {
			_ = remove(f, s.ownerFile(id))
		} else {
			f.Close()
		}
	}
}

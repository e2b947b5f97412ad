package store

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// prepare sees to it that there is a file that only its user can read.
//
// It never has the file itself open: where a process closes a file, the system
// takes away the locks that it has on it, those of SQLite too.
func prepare(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return err
		}
		info, err = os.Stat(path)
	}
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s: got a directory, want a file: name one in it, such as %s", path, filepath.Join(path, "store.db"))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: got %s, want a file: give another path", path, info.Mode().Type())
	case info.Size() > 0 && info.Size() < smallest: // which SQLite would take for empty
		return fmt.Errorf("%s: got a file that is no database, want a store of Ferrule: give another path", path)
	}
	// Those of an earlier use may be there, and what was asked stands in them too.
	_, err = hold(path)
	return err
}

// beside are the files that SQLite has beside a store that is in use: the log and
// the memory that its processes share.
func beside() []string { return []string{walEnd, "-shm"} }

// walEnd is how the name of the log ends.
const walEnd = "-wal"

// held is a file that is in use.
type held struct {
	path string
	fs.FileInfo
}

// hold says which files a store is, of those that are there, and has only their
// user read them.
func hold(path string) ([]held, error) {
	path, err := filepath.EvalSymlinks(path) // as SQLite does
	if err != nil {
		return nil, err
	}
	var all []held
	for _, end := range append([]string{""}, beside()...) {
		info, err := os.Lstat(path + end)
		switch {
		case end != "" && errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: got %s, want a file: see who made it, and remove it", path+end, info.Mode().Type())
		case runtime.GOOS != "windows" && info.Mode().Perm()&0o177 != 0:
			if err := os.Chmod(path+end, info.Mode().Perm()&0o600); err != nil {
				return nil, fmt.Errorf("others can read %s, and that cannot be changed: %w", path+end, err)
			}
		}
		all = append(all, held{path + end, info})
	}
	return all, nil
}

// moved reports whether the files are not those any more that were opened. Without
// the log, or with another one, nobody else knows what is written here.
//
// It is asked before each commit. A directory says when a file in it last came,
// went or had another name, so that most times it is enough to ask that.
func (s *Store) moved() error {
	if len(s.files) == 0 {
		return nil // it is being opened
	}
	now, was := s.unchanged()
	if was {
		return nil
	}
	if err := s.replaced(); err != nil {
		return err
	}
	s.dir.Store(now)
	return nil
}

// directory is one as it was when all files were found in it.
type directory struct {
	fs.FileInfo
	settled bool // its time is not one that a later change could have too
}

// tick is longer than the steps in which systems write the times of files.
const tick = time.Second

// unchanged reports whether the directory is as it was when it was last looked at
// the files in it; else how it is now, nil where that says nothing.
func (s *Store) unchanged() (*directory, bool) {
	if runtime.GOOS == "windows" || s.path != s.files[0].path {
		return nil, false // it may say so late, or is not that of the link
	}
	info, err := os.Stat(filepath.Dir(s.path))
	if err != nil {
		return nil, false
	}
	was := s.dir.Load()
	if was != nil && was.settled && was.ModTime().Equal(info.ModTime()) && os.SameFile(was.FileInfo, info) {
		return was, true
	}
	return &directory{info, time.Since(info.ModTime()) > tick}, false
}

// replaced looks at each of the files.
func (s *Store) replaced() error {
	for i, f := range s.files {
		name, what := f.path, filepath.Base(f.path)
		if i == 0 {
			name, what = s.path, "the file" // which may be a link, and that another one
		}
		switch now, err := os.Stat(name); {
		case err != nil:
			return fmt.Errorf("%s is gone while it was in use (%w): start again", what, err)
		case !os.SameFile(now, f.FileInfo):
			return fmt.Errorf("%s was replaced while it was in use: start again", what)
		}
	}
	return s.own.Load().there()
}

// smallest is the size of the smallest database, in bytes.
const smallest = 512

// create makes an empty file. It has its name only after it was closed.
func create(path string) error {
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no directory %s: make it first, or give another path", path, dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: %s is no directory: give another path", path, dir)
	}
	f, err := os.CreateTemp(dir, ".new-*") // with mode 0600
	if err != nil {
		return writable(path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil { // the umask may have taken more away
		return writable(path, err)
	}
	err = os.Link(f.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) { // somebody else was first
		return nil
	}
	// Not every file system has links.
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return writable(path, err)
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

func writable(path string, err error) error {
	return fmt.Errorf("%s: a file cannot be made there (%w): see whether this user may write to the directory and the disk has room, or give another path", path, err)
}

// name is how SQLite is told of a file and of how to open it. Options are pairs of a
// name and a value.
func name(path string, options ...string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/a
	}
	set := url.Values{"mode": {"rw"}, "_defensive": {"1"}, "_pragma": {
		"busy_timeout(250)",
		"trusted_schema(OFF)",
		"cell_size_check(ON)",
		"secure_delete(ON)",
	}}
	for pair := range slices.Chunk(options, 2) {
		set.Set(pair[0], pair[1])
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: set.Encode()}
	return u.String()
}

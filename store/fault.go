package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// damage is that the file is not as it was written.
type damage struct{ found string }

// Error says what was found.
func (d *damage) Error() string { return "damaged: " + d.found }

// unsynced is that the disk did not take what was committed.
type unsynced struct{ err error }

// Error says what to do.
func (u *unsynced) Error() string {
	return "the log could not be synced (" + u.err.Error() + "), so it is not known what of it is on the disk: see what the system says about the disk, and start again"
}

// Unwrap gives what the system said.
func (u *unsynced) Unwrap() error { return u.err }

// code is what SQLite says is wrong; 0: nothing, or it is not SQLite who says it.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// kind is the part of a code that says what kind of error it is.
func kind(code int) int { return code & 0xff }

func busy(err error) bool {
	k := kind(code(err))
	return k == lib.SQLITE_BUSY || k == lib.SQLITE_LOCKED
}

// opening is what is done by Open.
const opening = "open"

// fault is an error for who runs the program: what was done, what was wrong, what
// to do. A store whose file is damaged stays refused until it is opened again.
func (s *Store) fault(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if d, ok := errors.AsType[*damage](err); ok {
		s.broken.CompareAndSwap(nil, d)
		return fmt.Errorf("store: %s: %s: the file is damaged (%s): %s", s.path, what, d.found, startAnew)
	}
	n := code(err)
	k := kind(n)
	if k == lib.SQLITE_CORRUPT || k == lib.SQLITE_NOTADB {
		s.broken.CompareAndSwap(nil, &damage{err.Error()})
	} else if cause := context.Cause(ctx); cause != nil && (n != 0 || errors.Is(err, sql.ErrTxDone)) {
		err, n = cause, 0 // what was under way was broken off
	}
	if n == 0 && what != opening {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	if n == 0 {
		return fmt.Errorf("store: %s: %w", s.path, err)
	}
	return fmt.Errorf("store: %s: %s: %s [%w]", s.path, what, s.advice(n), err)
}

const startAnew = "put a copy back, or move it and the files of its name with -wal and -shm away and start with a new one, which knows nothing of what was asked and allowed"

// advice is what a code of SQLite means here, and what to do about it.
func (s *Store) advice(code int) string {
	dir := filepath.Dir(s.path)
	switch code { // those that would be told wrongly by their kind
	case lib.SQLITE_IOERR_SHMSIZE:
		return "the disk is full: make room in " + dir + "; nothing was changed"
	case lib.SQLITE_READONLY_DBMOVED:
		return "the file was moved or removed while it was in use: start again"
	}
	switch kind(code) {
	case lib.SQLITE_FULL:
		return "the disk is full: make room in " + dir + "; nothing was changed"
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return "it cannot be written: see whether this user may write to the file and to " + dir + ", and whether the disk is mounted for reading only"
	case lib.SQLITE_CANTOPEN:
		return "it cannot be opened: see whether this user may read and write the file and " + dir
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Sprintf("another process has kept it locked for %s: see which one uses it, and try again", patience)
	case lib.SQLITE_NOTADB:
		return "got a file that is no database, want a store of Ferrule: give another path"
	case lib.SQLITE_CORRUPT:
		return "the file is damaged: " + startAnew
	case lib.SQLITE_IOERR:
		return "the disk cannot be read or written: see what the system says about it and whether it is full; nothing was changed"
	default:
		return "the database refuses"
	}
}

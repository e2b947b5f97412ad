// Package undo keeps a copy of each file before a tool changes it, lists what was
// changed, and puts it back.
//
// Whoever changes a file says so first and says what it will hold; only then is
// the file written:
//
//	step, err := history.Begin(ctx, undo.Change{Root: "/work", Name: "a.txt", Left: content, Tool: "fs_write"})
//	if err != nil {
//		return err // nothing may be changed that cannot be undone
//	}
//	err = write()
//	return step.End(ctx, err)
//
// The copy and the record are on the disk before Begin returns: a process that is
// killed in the middle leaves a step of which the file itself says whether it
// came to pass. Each content is kept once, however many changes have it, in files
// that only their owner reads. Several processes may use one directory.
//
// Restoring refuses where somebody else has changed the file since, and can be
// made to do it anyway. It is a change itself: restoring that brings back what
// was undone. It never follows a symbolic link, nor leaves the folder that the
// change was bounded by.
package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

// History is what was changed, in a directory. It is safe for concurrent use,
// also by other processes, and holds nothing open between calls.
type History struct {
	dir  string
	keep Keep

	mu    sync.Mutex
	grown int64 // bytes of copies since the last sweep
}

// Keep bounds what is kept; what is oldest goes first.
type Keep struct {
	Age   time.Duration // 0: 30 days
	Bytes int64         // of all copies together; 0: 1 GiB
	// File is the largest file that a copy is made of; a change of a larger one
	// is refused. 0: 256 MiB.
	File int64
}

// Change is what a tool is about to do to one file.
type Change struct {
	// Root is the folder that bounds the change, absolute; Name is the file below
	// it, clean and with slashes.
	Root, Name string
	// Left is what the file will hold.
	Left []byte
	// Folders are those below Root that will be made for the file, the outermost
	// first.
	Folders []string
	// Tool, Call, Session and Principal say who does it; Call is Ferrule's id.
	Tool, Call, Session, Principal string
}

// State is what a file is at one time. Digest "" is no file.
type State struct {
	Digest string      `json:"digest,omitempty"` // SHA-256 in hex
	Size   int64       `json:"size,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	UID    int         `json:"uid,omitempty"`
	GID    int         `json:"gid,omitempty"`
}

// There reports whether there is a file.
func (s State) There() bool { return s.Digest != "" }

// Entry is one change that was made, or begun.
type Entry struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	Root      string    `json:"root"`
	Name      string    `json:"name"`
	Tool      string    `json:"tool,omitempty"`
	Call      string    `json:"call,omitempty"`
	Session   string    `json:"session,omitempty"`
	Principal string    `json:"principal,omitempty"`
	Was       State     `json:"was"`  // before
	Left      State     `json:"left"` // after; its mode is not known before the end
	// Folders were made for the file, below Root, the outermost first.
	Folders []string `json:"folders,omitempty"`
	// Of is the entry that this one has undone; "": it is a change of its own.
	Of string `json:"of,omitempty"`

	// Outcome says whether it came to pass; "" where who began it did not live to
	// say. UndoneBy is the entry that has undone this one.
	Outcome  Outcome `json:"outcome,omitempty"`
	UndoneBy string  `json:"undone_by,omitempty"`
}

// Outcome is what became of a change that was begun.
type Outcome string

// What can become of a change; "" is not known.
const (
	Done   Outcome = "done"
	Failed Outcome = "failed" // the file is as it was
)

// Path is the file, absolute.
func (e Entry) Path() string { return filepath.Join(e.Root, filepath.FromSlash(e.Name)) }

// What is the change in a word: created, changed or removed.
func (e Entry) What() string {
	switch {
	case !e.Was.There():
		return "created"
	case !e.Left.There():
		return "removed"
	}
	return "changed"
}

// Errors that Restore gives back, to be matched. [ChangedError] is the third.
var (
	// ErrUnknown: there is no such entry, or it is no longer kept.
	ErrUnknown = errors.New("no such change")
	// ErrAsItWas: there is nothing to restore.
	ErrAsItWas = errors.New("the file is as it was before the change")
)

// ChangedError says that a file was changed after the change that is to be
// undone, so that restoring would lose that.
type ChangedError struct {
	Path string
	// By is the later change that a tool made; its ID is "" where nobody said so.
	By Entry
}

// Error names the file and who changed it, where known.
func (e *ChangedError) Error() string {
	if e.By.ID == "" {
		return fmt.Sprintf("%s: changed since by somebody else; force restores it all the same", e.Path)
	}
	return fmt.Sprintf("%s: changed since by %s (%s); undo that first, or force", e.Path, e.By.Tool, e.By.ID)
}

// Open opens the history in a directory, which is made if need be and is only its
// owner's. What is too old is forgotten. At most one Keep is given.
func Open(ctx context.Context, dir string, keep ...Keep) (*History, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	h := &History{dir: abs}
	if len(keep) > 0 {
		h.keep = keep[0]
	}
	if h.keep.Age <= 0 {
		h.keep.Age = 30 * 24 * time.Hour
	}
	if h.keep.Bytes <= 0 {
		h.keep.Bytes = 1 << 30
	}
	if h.keep.File <= 0 {
		h.keep.File = 256 << 20
	}
	if err := os.MkdirAll(filepath.Join(abs, "copies"), 0o700); err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	info, err := os.Lstat(abs)
	switch {
	case err != nil:
		return nil, fmt.Errorf("undo: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("undo: %s: want a directory, not a link to one", abs)
	case info.Mode().Perm()&0o077 != 0:
		if err := os.Chmod(abs, 0o700); err != nil { //nolint:gosec // a directory needs the x
			return nil, fmt.Errorf("undo: %s: others could read the copies: %w", abs, err)
		}
	}
	if err := h.Sweep(ctx, time.Now()); err != nil {
		return nil, err
	}
	return h, nil
}

// Dir is the directory of the history, absolute: what is in there is not for
// tools to read.
func (h *History) Dir() string { return h.dir }

// Keep is what bounds the history, without zeros.
func (h *History) Keep() Keep { return h.keep }

// check refuses a change that has no one reading.
func (c Change) check() error {
	switch {
	case !filepath.IsAbs(c.Root) || filepath.Clean(c.Root) != c.Root:
		return fmt.Errorf("root: got %q, want a clean absolute path", c.Root)
	case c.Name == "" || c.Name == "." || path.Clean(c.Name) != c.Name || !filepath.IsLocal(filepath.FromSlash(c.Name)):
		return fmt.Errorf("name: got %q, want a clean path below the root", c.Name)
	}
	return nil
}

// place is the folder that a file is in, held open, and its name there.
type place struct {
	at   *os.Root
	base string
}

// open finds the folder of an entry; at is nil where there is none yet.
func openPlace(root, name string) (place, error) {
	top, err := inside.Open(root)
	if err != nil {
		return place{}, err
	}
	defer top.Close()
	at, err := inside.Folder(top, path.Dir(name), nil)
	if errors.Is(err, fs.ErrNotExist) {
		at, err = nil, nil
	}
	return place{at, name[strings.LastIndexByte(name, '/')+1:]}, err
}

func (p place) close() {
	if p.at != nil {
		p.at.Close()
	}
}

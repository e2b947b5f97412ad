// Package inside reaches files below a folder without ever following a symbolic
// link, and replaces them whole. It is what the file tools and undo stand on.
//
// [os.Root] keeps within a folder, but follows links that stay there. A name
// that leads somewhere else than it says makes claims and rules untrue, so here
// every part of a name is opened first and then compared with what the folder
// says the part is: whoever swaps it in between is found out, as what is held
// open is not what stands there.
package inside

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// LinkError says that a part of a name is a symbolic link.
type LinkError struct {
	Name   string // of the part, as the folder that was asked says it
	Target string // what the link says; "": not known
}

// Error names the link.
func (e *LinkError) Error() string { return fmt.Sprintf("%s: is a symbolic link", e.Name) }

// Errors of names that lead to something that is not touched.
var (
	ErrFolder  = errors.New("is a folder")
	ErrFile    = errors.New("is a file and not a folder")
	ErrSpecial = errors.New("is neither a file nor a folder")
	ErrMoved   = errors.New("was exchanged while it was opened")
)

// Open opens a folder by its absolute name. A link in its last place is refused;
// who can exchange what is above it is trusted.
func Open(folder string) (*os.Root, error) {
	info, err := os.Lstat(folder)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, &LinkError{Name: folder}
	}
	top, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	if held, err := top.Stat("."); err != nil || !os.SameFile(held, info) {
		top.Close()
		return nil, fmt.Errorf("%s: %w", folder, errors.Join(ErrMoved, err))
	}
	return top, nil
}

// See looks at a part of a name: at is the folder that it is in, name the whole
// way there from the top.
type See func(at *os.Root, name string, info fs.FileInfo) error

// Folder opens a folder below top by a clean name with slashes; "." is top
// itself. See is asked about each part on the way and may refuse it; nil: it is
// not asked.
func Folder(top *os.Root, name string, see See) (*os.Root, error) {
	at, err := top.OpenRoot(".")
	if err != nil || name == "." {
		return at, err
	}
	done := ""
	for part := range strings.SplitSeq(name, "/") {
		done = path.Join(done, part)
		next, info, err := Step(at, part)
		if err == nil && see != nil {
			if err = see(at, done, info); err != nil {
				next.Close()
			}
		}
		at.Close()
		if err != nil {
			return nil, within(done, err)
		}
		at = next
	}
	return at, nil
}

// Step opens the folder that has one name within another.
func Step(at *os.Root, part string) (*os.Root, fs.FileInfo, error) {
	// With something behind it the part is opened as a folder or not at all: a
	// pipe would wait for who writes to it.
	next, err := at.OpenRoot(part + "/.")
	if err != nil {
		if info, err2 := at.Lstat(part); err2 == nil && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0 {
			err = ErrFile
		}
		return nil, nil, why(at, part, err)
	}
	info, err := at.Lstat(part)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = link(at, part)
	}
	if err == nil {
		if held, err2 := next.Stat("."); err2 != nil || !os.SameFile(held, info) {
			err = errors.Join(ErrMoved, err2)
		}
	}
	if err != nil {
		next.Close()
		return nil, nil, err
	}
	return next, info, nil
}

// File opens a regular file within a folder for reading. It does not wait for
// whoever is at the other end of a pipe.
func File(at *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := at.Lstat(name)
	if err == nil {
		err = Regular(info)
	}
	if err != nil {
		return nil, nil, why(at, name, err)
	}
	return Opened(at, name)
}

// Opened is File for a name that was just said to be a regular file: what a
// device does when it is opened is not prevented.
func Opened(at *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := at.OpenFile(name, os.O_RDONLY|openNow, 0)
	if err != nil {
		return nil, nil, why(at, name, err)
	}
	held, err := f.Stat()
	if err == nil {
		err = Regular(held)
	}
	var there fs.FileInfo
	if err == nil {
		there, err = at.Lstat(name)
	}
	switch {
	case err != nil:
	case there.Mode()&fs.ModeSymlink != 0:
		err = link(at, name)
	case !os.SameFile(held, there):
		err = ErrMoved
	default:
		return f, held, nil
	}
	f.Close()
	return nil, nil, err
}

// Regular says what is wrong with a file that is none.
func Regular(info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return ErrFolder
	case info.Mode()&fs.ModeSymlink != 0:
		return &LinkError{Name: info.Name()}
	}
	return ErrSpecial
}

// MakeFolders makes what is missing of a folder below top, and says what it
// made, the outermost first: also where it fails.
func MakeFolders(top *os.Root, name string, see See) (made []string, err error) {
	if name == "." {
		return nil, nil
	}
	at, err := top.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	defer func() { at.Close() }()
	done := ""
	for part := range strings.SplitSeq(name, "/") {
		done = path.Join(done, part)
		switch err := at.Mkdir(part, 0o777); {
		case err == nil:
			made = append(made, done)
		case !errors.Is(err, fs.ErrExist):
			return made, within(done, err)
		}
		next, info, err := Step(at, part)
		if err != nil {
			return made, within(done, err)
		}
		if see != nil {
			err = see(at, done, info)
		}
		at.Close()
		if at = next; err != nil {
			return made, within(done, err)
		}
	}
	return made, nil
}

// why turns an error about a name into one about a link, where that is what
// stands there: a link that leads out is said to escape, otherwise.
func why(at *os.Root, name string, err error) error {
	if info, err2 := at.Lstat(name); err2 == nil && info.Mode()&fs.ModeSymlink != 0 {
		return link(at, name)
	}
	return err
}

func link(at *os.Root, name string) error {
	target, err := at.Readlink(name)
	if err != nil {
		target = ""
	}
	return &LinkError{Name: name, Target: target}
}

// within gives an error the whole name.
func within(name string, err error) error {
	if l := (*LinkError)(nil); errors.As(err, &l) {
		return &LinkError{Name: name, Target: l.Target}
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return &fs.PathError{Op: p.Op, Path: name, Err: p.Err}
	}
	return &fs.PathError{Op: "open", Path: name, Err: err}
}

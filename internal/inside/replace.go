package inside

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Temporary is how the names begin of files that are being written. One is left
// behind only where the machine or the process ended in the middle.
const Temporary = ".ferrule-tmp-"

// Owner is whose a file is.
type Owner struct {
	UID, GID int
	Links    uint64 // names that the file has
}

// Keep is what a file that is written has beside its content. The zero value is
// a new file: what the umask leaves of 0666, and one's own.
type Keep struct {
	Like  bool // the fields below count
	Mode  fs.FileMode
	Owner *Owner // nil: one's own
	// Attributes are the extended ones, among them access lists: without its list
	// a file's mode gives its group what the list gave to somebody else.
	Attributes map[string][]byte
}

// KeepOf is what is kept of a file that is replaced: permissions, without setuid
// and its like, owner, and extended attributes. Of a file that cannot be opened, f
// is nil and there are none.
func KeepOf(f *os.File, info fs.FileInfo) (k Keep, err error) {
	k = Keep{Like: true, Mode: info.Mode().Perm()}
	if o, ok := OwnerOf(info); ok {
		k.Owner = &o
	}
	if f != nil {
		k.Attributes, err = AttributesOf(f)
	}
	return k, err
}

// Replace gives a name within a folder new content, whole or not at all, also
// where the machine stops: the content is written beside it, synced, and renamed.
// What was there under other names, or behind a link, stays as it is.
func Replace(at *os.Root, name string, content io.Reader, keep Keep) error {
	mode := fs.FileMode(0o666)
	if keep.Like {
		mode = 0o600 // nobody reads it before it has the mode it will have
	}
	temp := Temporary + strings.ToLower(rand.Text())
	f, err := at.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return bare(err)
	}
	err = fill(f, content, keep)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = at.Rename(temp, name)
	}
	if err != nil {
		_ = at.Remove(temp)
		return bare(err)
	}
	return Sync(at)
}

func fill(f *os.File, content io.Reader, keep Keep) error {
	if _, err := io.Copy(f, content); err != nil {
		return err
	}
	if keep.Like {
		if err := give(f, keep.Owner); err != nil {
			return err
		}
		if err := f.Chmod(keep.Mode.Perm()); err != nil {
			return err
		}
		if err := setAttributes(f, keep.Attributes); err != nil {
			return err
		}
	}
	return f.Sync()
}

// give makes a file somebody's.
func give(f *os.File, owner *Owner) error {
	if owner == nil {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if now, ok := OwnerOf(info); !ok || now.UID == owner.UID && now.GID == owner.GID {
		return nil
	}
	if err := f.Chown(owner.UID, owner.GID); err != nil {
		return fmt.Errorf("keeping owner %d and group %d: %w", owner.UID, owner.GID, err)
	}
	return nil
}

// Sync makes lasting what a folder says about its files.
func Sync(at *os.Root) error {
	f, err := at.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return syncFolder(f)
}

// bare leaves the temporary name out of an error.
func bare(err error) error {
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return fmt.Errorf("%s: %w", l.Op, l.Err)
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
}

package tooltest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// folder is a directory as it was at one moment: all that is in it, itself
// included, by the path from there. Nil: there was none.
type folder map[string]item

type item struct {
	mode   fs.FileMode
	text   string    // of a file; where a link leads
	sealed bool      // it could not be read
	time   time.Time // of a file: put back, but no change
}

// change is how one thing differs.
type change struct {
	name string
	what string
	made bool // a directory that was not there
}

func (c change) String() string { return c.what + " " + c.name }

// look reads a directory. It neither follows links nor opens what is no file.
func look(dir string) (folder, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f := make(folder)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return f.seal(name, err)
		}
		info, err := d.Info()
		if err != nil {
			return f.seal(name, err)
		}
		it := item{mode: info.Mode(), time: info.ModTime()}
		switch it.mode.Type() {
		case 0:
			var text []byte
			text, err = root.ReadFile(name)
			it.text = string(text)
		case fs.ModeSymlink:
			it.text, err = root.Readlink(name)
		default: // a directory, or what has no content
		}
		f[name] = it
		return f.seal(name, err)
	})
	return f, err
}

// seal notes that something could not be read, if that is why. What went while it
// was looked at is not there.
func (f folder) seal(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		delete(f, name)
		return nil
	case errors.Is(err, fs.ErrPermission):
		it := f[name]
		it.sealed = true
		f[name] = it
		return nil
	}
	return err
}

// changes are how a later state differs, by path.
func (f folder) changes(later folder) (all []change) {
	both := maps.Clone(f)
	if both == nil {
		both = make(folder)
	}
	maps.Copy(both, later)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		was, before := f[name]
		is, after := later[name]
		c := change{name: name}
		switch {
		case !before:
			c.what, c.made = "created", is.mode.IsDir()
		case !after && later.hides(name):
			continue
		case !after:
			c.what = "removed"
		case was.mode.Type() != is.mode.Type() || was.text != is.text && !was.sealed && !is.sealed:
			c.what = "changed"
		case was.mode != is.mode || was.sealed != is.sealed:
			c.what = "changed the mode of"
		default:
			continue
		}
		all = append(all, c)
	}
	return all
}

// hides reports whether something stands in a directory that cannot be read.
func (f folder) hides(name string) bool {
	for name != "." {
		name = path.Dir(name)
		if it := f[name]; it.sealed && it.mode.IsDir() {
			return true
		}
	}
	return false
}

// shownChanges is how many changes a fault names.
const shownChanges = 5

func list(all []change) string {
	var words []string
	for _, c := range all[:min(len(all), shownChanges)] {
		words = append(words, c.String())
	}
	if more := len(all) - shownChanges; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

// restore makes a directory what it was. It writes nothing outside, whatever
// links there are now.
func (f folder) restore(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	now, err := look(dir)
	if err != nil {
		return err
	}
	if maps.EqualFunc(f, now, item.equal) {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if now.locked() {
		if now, err = now.unlock(root, dir); err != nil {
			return err
		}
	}
	var errs []error
	for name, is := range now {
		if was, ok := f[name]; !ok || was.mode.Type() != is.mode.Type() {
			errs = append(errs, root.RemoveAll(name))
			delete(now, name)
		}
	}
	names := slices.Sorted(maps.Keys(f)) // a directory stands before what is in it
	for _, name := range names {
		is, there := now[name]
		errs = append(errs, f[name].put(root, name, is, there))
	}
	slices.Reverse(names) // what is in a directory before it is closed
	for _, name := range names {
		if m := f[name].mode; m.IsDir() || m.IsRegular() {
			errs = append(errs, root.Chmod(name, m))
		}
	}
	return errors.Join(errs...)
}

// locked reports whether a directory is closed to its owner.
func (f folder) locked() bool {
	for _, it := range f {
		if it.mode.IsDir() && it.mode.Perm()&0o700 != 0o700 {
			return true
		}
	}
	return false
}

// unlock opens the directories, and those that come to light then.
func (f folder) unlock(root *os.Root, dir string) (folder, error) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if it := f[name]; it.mode.IsDir() && it.mode.Perm()&0o700 != 0o700 {
			if err := root.Chmod(name, it.mode|0o700); err != nil {
				return nil, err
			}
		}
	}
	now, err := look(dir)
	if err == nil && now.locked() {
		return now.unlock(root, dir)
	}
	return now, err
}

// equal reports whether nothing is to be put back.
func (it item) equal(is item) bool { return it.mode == is.mode && it.holds(is) }

// holds is equal but for the mode. Of directories and links no time is put back.
func (it item) holds(is item) bool {
	return it.text == is.text && it.sealed == is.sealed && (!it.mode.IsRegular() || it.time.Equal(is.time))
}

// put brings one thing back; its mode follows.
func (it item) put(root *os.Root, name string, is item, there bool) error {
	switch {
	case it.mode.IsDir() && !there:
		return root.Mkdir(name, 0o700)
	case it.mode.IsDir(), there && it.holds(is):
		return nil
	case it.sealed:
		return fmt.Errorf("%s: it cannot be read, so it cannot be put back", name)
	case it.mode.IsRegular():
		if there {
			if err := root.Chmod(name, 0o600); err != nil {
				return err
			}
		}
		if err := root.WriteFile(name, []byte(it.text), 0o600); err != nil {
			return err
		}
		return root.Chtimes(name, it.time, it.time)
	case it.mode.Type() == fs.ModeSymlink:
		if there {
			if err := root.Remove(name); err != nil {
				return err
			}
		}
		return root.Symlink(it.text, name)
	}
	return fmt.Errorf("%s: it is no file, directory or link, so it cannot be put back", name)
}

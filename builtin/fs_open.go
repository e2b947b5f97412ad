package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

// fsOff is what stands in the way of a call; its text is for the model.
type fsOff string

func (e fsOff) Error() string { return string(e) }

// named refuses what is hidden or protected, by its name alone. Case counts for
// nothing, whatever the file system says.
func (s *fsSet) named(p fsPlace, write bool) error {
	full := filepath.Join(p.root.real, filepath.FromSlash(p.rel))
	// Part by part: letters of one case may take more bytes than those of the other.
	parts := strings.Split(full, string(filepath.Separator))
	under := func(list []string) bool {
		return slices.ContainsFunc(list, func(name string) bool {
			off := strings.Split(name, string(filepath.Separator))
			return len(parts) >= len(off) && slices.EqualFunc(parts[:len(off)], off, strings.EqualFold)
		})
	}
	if p.root.hidden || under(s.hidden) {
		return fsOff(fmt.Sprintf("%s belongs to the program that runs you or was hidden from you: it is not read or changed.", p))
	}
	if !write {
		return nil
	}
	for part := range strings.SplitSeq(p.rel, "/") {
		if strings.EqualFold(part, ".git") {
			return fsOff(fmt.Sprintf("%s belongs to git and is not changed by hand: git runs what stands there.", p))
		}
	}
	if p.root.protected || under(s.protected) {
		return fsOff(fmt.Sprintf("%s is protected: it is not changed by tools. Say what should be changed, and a person can do it.", p))
	}
	return nil
}

// fsGuard refuses what is hidden or protected by what it is, under whatever
// name.
type fsGuard struct {
	hidden, protected []fs.FileInfo
}

// guard looks at what is there now.
func (s *fsSet) guard(write bool) fsGuard {
	look := func(list []string) (infos []fs.FileInfo) {
		for _, name := range list {
			if info, err := os.Lstat(name); err == nil {
				infos = append(infos, info)
			}
			if info, err := os.Stat(name); err == nil {
				infos = append(infos, info)
			}
		}
		return infos
	}
	g := fsGuard{hidden: look(s.hidden)}
	if write {
		g.protected = look(s.protected)
	}
	return g
}

func (g fsGuard) hides(info fs.FileInfo) bool {
	return slices.ContainsFunc(g.hidden, func(h fs.FileInfo) bool { return os.SameFile(h, info) })
}

func (g fsGuard) see(name string, info fs.FileInfo) error {
	if g.hides(info) {
		return fsOff(fmt.Sprintf("%s belongs to the program that runs you or was hidden from you: it is not read or changed.", name))
	}
	if slices.ContainsFunc(g.protected, func(p fs.FileInfo) bool { return os.SameFile(p, info) }) {
		return fsOff(fmt.Sprintf("%s is protected: it is not changed by tools. Say what should be changed, and a person can do it.", name))
	}
	return nil
}

// folder opens a folder of a root.
func (s *fsSet) folder(p fsPlace, g fsGuard) (*os.Root, error) {
	top, err := inside.Open(p.root.real)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	return inside.Folder(top, p.rel, g.part)
}

// part refuses a part of a name also where the folder writes it in another way:
// two spellings would be two resources to rules and claims.
func (g fsGuard) part(at *os.Root, name string, info fs.FileInfo) error {
	if err := g.see(name, info); err != nil {
		return err
	}
	return fsSpelled(at, name, info)
}

// fsSpelled refuses a name that only a file system which does not care for case
// or composition takes for another. On others it costs one look.
func fsSpelled(at *os.Root, name string, info fs.FileInfo) error {
	base := path.Base(name)
	other := strings.Map(func(c rune) rune {
		if unicode.IsUpper(c) {
			return unicode.ToLower(c)
		}
		return unicode.ToUpper(c)
	}, base)
	if other == base && isASCII(base) {
		return nil
	}
	if same, err := at.Lstat(other); other != base && (err != nil || !os.SameFile(same, info)) && isASCII(base) {
		return nil
	}
	list, err := fsNames(at)
	if err != nil {
		return err
	}
	if slices.Contains(list, base) {
		return nil
	}
	for _, n := range list {
		if there, err := at.Lstat(n); err == nil && os.SameFile(there, info) {
			return fsOff(fmt.Sprintf("%s is spelled %s: use that.", name, path.Join(path.Dir(name), n)))
		}
	}
	return inside.ErrMoved
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c > unicode.MaxASCII })
}

// fsNames are the names in a folder, at most fsMostNames of them.
func fsNames(at *os.Root) ([]string, error) {
	f, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(fsMostNames)
}

const fsMostNames = 100_000

// open opens a file for reading.
func (s *fsSet) open(p fsPlace) (*os.File, fs.FileInfo, error) {
	if err := s.named(p, false); err != nil {
		return nil, nil, err
	}
	g := s.guard(false)
	at, err := s.folder(p.below(p.dir()), g)
	if err != nil {
		return nil, nil, err
	}
	defer at.Close()
	f, info, err := inside.File(at, p.base())
	if err != nil {
		return nil, nil, fsWhole(p, err)
	}
	if err = g.see(p.String(), info); err == nil {
		err = fsForeign(p.String(), info)
	}
	if err == nil {
		err = fsSpelled(at, p.rel, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// fsForeign refuses a file with several names that is somebody else's: one of
// the names may be outside, where it is not ours to read. Of a file of one's own
// that cannot be told, and package stores link many.
func fsForeign(name string, info fs.FileInfo) error {
	if o, ok := inside.OwnerOf(info); ok && o.Links > 1 && o.UID != os.Geteuid() {
		return fsOff(fmt.Sprintf("%s belongs to somebody else and has a second name, perhaps outside of the workspace: it is not read.", name))
	}
	return nil
}

// isOff reports whether a text for the model is there already.
func isOff(err error) (fsOff, bool) {
	var off fsOff
	ok := errors.As(err, &off)
	return off, ok
}

// fsWhole gives an error about a link the whole path of it.
func fsWhole(p fsPlace, err error) error {
	if link := (*inside.LinkError)(nil); errors.As(err, &link) {
		return &inside.LinkError{Name: p.rel, Target: link.Target}
	}
	return err
}

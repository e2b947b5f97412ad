package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// clientPlace is a file that a call names.
type clientPlace struct {
	given   string // cleaned, absolute
	real    string // what it leads to
	inside  bool   // that lies in the workspace
	there   bool
	regular bool // it is a file
	written bool
}

// place is the file of a name. It is not named where it has more than one reading, or
// what it leads to cannot be said.
func (k *clientCall) place(name string) (at clientPlace, ok bool) { return k.placeIn(k.dir, name) }

// placeIn is the file that a name leads to from a folder. The client cleans a path
// before it opens it, a command has the system follow links before it goes up; the
// client takes blanks away and puts the home folder for ~ in some tools, and some of
// its versions, only.
func (k *clientCall) placeIn(dir, name string) (at clientPlace, ok bool) {
	if name == "" || strings.ContainsRune(name, 0) || strings.HasPrefix(name, "~") || strings.TrimFunc(name, blank) != name {
		return at, false
	}
	if !filepath.IsAbs(name) {
		name = dir + string(filepath.Separator) + name
	}
	at.given = filepath.Clean(name)
	var err error
	if at.real, err = resolveExisting(at.given); err != nil {
		return at, false
	}
	if slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "..") {
		if followed, err := resolveExisting(name); err != nil || followed != at.real {
			return at, false
		}
	}
	at.inside = below(at.real, k.root)
	if info, err := os.Stat(at.real); err == nil {
		at.there, at.regular = true, info.Mode().IsRegular()
	}
	return at, true
}

// blank reports whether a client takes a character away from the ends of a path.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' }

// maxAbove is how many folders of a path may be missing.
const maxAbove = 256

// resolveExisting is a path without symlinks, as far as it is there: as the system
// follows it, which goes up from where a link leads to.
func resolveExisting(path string) (string, error) {
	rest := ""
	for range maxAbove {
		target, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(target, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if _, err := os.Lstat(path); err == nil {
			return "", fmt.Errorf("%s is a link that leads nowhere", path) // yet
		}
		path = strings.TrimRightFunc(path, separates)
		i := strings.LastIndexFunc(path, separates)
		if i < 0 || path[i+1:] == ".." {
			return "", err
		}
		rest, path = filepath.Join(path[i+1:], rest), path[:i+1]
	}
	return "", errors.New("too many folders are missing")
}

// separates reports whether a character stands between the parts of a path.
func separates(r rune) bool { return r == '/' || r == filepath.Separator }

// below reports whether a path is another or lies below it.
func below(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}

// meets reports whether two paths are one, or one lies below the other: whatever the
// case, which many file systems do not mind.
func meets(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return below(a, b) || below(b, a)
}

// liesIn is below, whatever the case.
func liesIn(path, root string) bool { return below(strings.ToLower(path), strings.ToLower(root)) }

// slash is where the file really is, as rules name it.
func (at clientPlace) slash() string { return filepath.ToSlash(at.real) }

// names are all that rules must speak about: what was named, and what it leads to.
func (at clientPlace) names() []string {
	list := []string{at.slash()}
	if given := filepath.ToSlash(at.given); given != list[0] && !at.inside {
		list = append(list, given)
	}
	return list
}

func (at clientPlace) resource() string {
	name := at.slash()
	if !strings.HasPrefix(name, "/") {
		name = "/" + strings.ToLower(name[:min(len(name), 1)]) + name[min(len(name), 1):] // the letter of a drive
	}
	return "file:" + name
}

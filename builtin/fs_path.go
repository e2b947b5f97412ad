package builtin

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/tool"
)

// fsPlace is a path of a call: one of the roots, and what is below it.
type fsPlace struct {
	root  *fsRoot
	first bool   // of the roots
	rel   string // clean, with slashes; "." is the root
}

// path is the one spelling that rules and claims know.
func (p fsPlace) path() string { return path.Join(p.root.path, p.rel) }

// String is the path as the model is shown it: it can be used as it is.
func (p fsPlace) String() string {
	if p.first {
		return p.rel
	}
	return p.path()
}

// below is a place in the same root.
func (p fsPlace) below(rel string) fsPlace { p.rel = rel; return p }

func (p fsPlace) dir() string  { return path.Dir(p.rel) }
func (p fsPlace) base() string { return path.Base(p.rel) }

const fsLongestPath = 4096 // bytes; no system opens a longer one

// place reads a path: absolute and within a root, or below the first one. It
// looks at no file, so it can be used for claims and facts. As no link is
// followed, a .. means what it says.
func (s *fsSet) place(text string) (fsPlace, error) {
	given := text
	if runtime.GOOS == "windows" {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	switch {
	case len(text) > fsLongestPath:
		return fsPlace{}, fmt.Errorf("path: got %d bytes, want at most %d", len(text), fsLongestPath)
	case !utf8.ValidString(text) || fsUnseen(text):
		return fsPlace{}, fmt.Errorf("path: got %q, want one without characters that cannot be seen", given)
	case strings.Contains(text, `\`):
		return fsPlace{}, fmt.Errorf("path: got %q, want folders separated by /", given)
	case text == "~" || strings.HasPrefix(text, "~/"):
		return fsPlace{}, fmt.Errorf("path: got %q: ~ has no meaning here, want a path %s", given, s.where())
	}
	if path.IsAbs(text) || filepath.IsAbs(text) {
		return s.absolute(given, text)
	}
	p := fsPlace{&s.roots[0], true, path.Clean(text)}
	if p.rel == ".." || strings.HasPrefix(p.rel, "../") {
		return fsPlace{}, fmt.Errorf("path: got %q, which is outside of the workspace, want a path %s", given, s.where())
	}
	return p, p.check(given)
}

func (s *fsSet) absolute(given, text string) (fsPlace, error) {
	text = fsSlashed(path.Clean(text))
	for i := range s.roots {
		r := &s.roots[i]
		for _, top := range []string{r.path, fsSlashed(r.given)} { // the host's name for it is known to the model
			if fsBelow(text, top) {
				p := fsPlace{r, i == 0, path.Clean("." + strings.TrimPrefix(text, top))}
				return p, p.check(given)
			}
		}
	}
	return fsPlace{}, fmt.Errorf("path: got %q, which is outside of the workspace, want a path %s", given, s.where())
}

// check refuses names that the system reads otherwise than they are written.
func (p fsPlace) check(given string) error {
	if !filepath.IsLocal(filepath.FromSlash(p.rel)) || runtime.GOOS == "windows" && fsOddOnWindows(p.rel) {
		return fmt.Errorf("path: got %q, want plain names of files and folders", given)
	}
	return nil
}

// fsOddOnWindows: another stream of a file, or an end that is left out.
func fsOddOnWindows(rel string) bool {
	for part := range strings.SplitSeq(rel, "/") {
		if part != "." && strings.TrimRight(part, ". ") != part || strings.ContainsAny(part, `:*?"<>|`) {
			return true
		}
	}
	return false
}

// file is a place that can be a file.
func (s *fsSet) file(text string) (fsPlace, error) {
	if text == "" {
		return fsPlace{}, errors.New("path: got nothing, want the path of a file")
	}
	p, err := s.place(text)
	if err == nil && (strings.HasSuffix(text, "/") || strings.HasSuffix(text, "/.") || p.rel == ".") {
		err = fmt.Errorf("path: got %q, which is a folder, want a file", text)
	}
	return p, err
}

// where says in words what is inside.
func (s *fsSet) where() string {
	list := make([]string, len(s.roots))
	for i, r := range s.roots {
		list[i] = r.path
	}
	return "in " + strings.Join(list, " or ")
}

func (s *fsSet) facts(text string) (tool.Facts, error) {
	p, err := s.place(text)
	return tool.Facts{Paths: []string{p.rootPath()}, Hosts: []string{}, Commands: [][]string{}}, err
}

func (p fsPlace) rootPath() string {
	if p.root == nil {
		return ""
	}
	return p.path()
}

// scopes are rules for this file, its folder and the folders around that, up to
// the root. A name that would be a pattern has none.
func (s *fsSet) scopes(text string, file bool) ([]string, error) {
	p, err := s.place(text)
	if err != nil {
		return nil, err
	}
	var list []string
	add := func(text string) { list = append(list, "path: "+strconv.Quote(text)) }
	if strings.Contains(p.path(), "*") {
		return nil, nil
	}
	if file {
		add(p.path())
	}
	const folders = 4
	for range folders {
		if p.rel != "." && (file || len(list) > 0) {
			p.rel = path.Dir(p.rel)
		}
		add(p.path() + "/**")
		if p.rel == "." {
			break
		}
	}
	return list, nil
}

// fsBelow reports whether a slashed path is another one or lies below it.
func fsBelow(p, top string) bool { return p == top || strings.HasPrefix(p, top+"/") }

// fsSlashed is an absolute path as rules and claims write it: /c:/a for C:\a.
func fsSlashed(p string) string {
	p = filepath.ToSlash(p)
	if len(p) > 1 && p[1] == ':' {
		p = "/" + p
	}
	if len(p) > 2 && p[2] == ':' {
		p = strings.ToLower(p[:3]) + p[3:]
	}
	return p
}

// fsUnseen reports whether a text has what claims may not: characters that
// cannot be seen, of which two names could differ.
func fsUnseen(text string) bool {
	return strings.ContainsFunc(text, func(c rune) bool { return unicode.Is(unicode.C, c) })
}

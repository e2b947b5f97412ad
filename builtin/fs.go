package builtin

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/undo"
)

//go:embed texts/fs_*.md
var fsTexts embed.FS

// Files are the tools that read and change files in the folders of a workspace.
//
// No symbolic link is followed, not even one that stays inside: what a call is
// said to touch, which is all that rules and other calls know of it, is what it
// touches. The model is told where a link leads and can name that itself. A file
// that has several names is replaced under the one that was given; the others
// keep its content. One that belongs to somebody else is not read where it has
// several names, as it may be a file from outside.
//
// The tools hold nothing open between calls: there is nothing to close.
type Files struct {
	// Roots are the folders. Paths that are not absolute are below the first one.
	// None may lie in another, nor be the whole file system.
	Roots []string
	// Protected are files and folders that are not changed, beside ferrule.yaml
	// and .ferrule in each root and what belongs to git; absolute, or below the
	// first root.
	Protected []string
	// Hidden are those that are not even read, beside .ferrule in each root and
	// the directory of Undo.
	Hidden []string
	// Undo keeps copies of what is changed. Nil: changes cannot be undone, and
	// do not claim so.
	Undo *undo.History
}

// fsSet is Files once they were checked.
type fsSet struct {
	roots             []fsRoot
	protected, hidden []string // absolute, as the system writes them
	undo              *undo.History
}

// fsRoot is one folder of the workspace.
type fsRoot struct {
	given string // as the host named it, absolute
	real  string // where that is
	path  string // real as rules and claims write it
	// A root within something that is protected or hidden is so as a whole.
	protected, hidden bool
}

// Tools makes the tools: fs_read, fs_write, fs_edit, fs_list, fs_glob, fs_grep.
// A root that is not there, or that cannot bound anything, is an error.
func (f Files) Tools() ([]*tool.Tool, error) {
	s, err := f.check()
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	var tools []*tool.Tool
	for _, t := range []func() (*tool.Tool, error){s.readTool, s.writeTool, s.editTool, s.listTool, s.globTool, s.grepTool} {
		made, err := t()
		if err != nil {
			return nil, fmt.Errorf("files: %w", err)
		}
		tools = append(tools, made)
	}
	return tools, nil
}

func (f Files) check() (*fsSet, error) {
	s := &fsSet{undo: f.Undo}
	if len(f.Roots) == 0 {
		return nil, errors.New("got no roots, want at least one folder")
	}
	for _, r := range f.Roots {
		root, err := fsRootOf(r)
		if err != nil {
			return nil, err
		}
		for _, o := range s.roots {
			if fsBelow(root.path, o.path) || fsBelow(o.path, root.path) {
				return nil, fmt.Errorf("roots: got %s and %s, want none within another", o.given, root.given)
			}
		}
		s.roots = append(s.roots, root)
	}
	for _, r := range s.roots {
		s.protected = append(s.protected, filepath.Join(r.real, "ferrule.yaml"), filepath.Join(r.real, ".git"))
		s.hidden = append(s.hidden, filepath.Join(r.real, ".ferrule"))
	}
	for _, list := range []struct {
		to   *[]string
		from []string
	}{{&s.protected, f.Protected}, {&s.hidden, f.Hidden}} {
		for _, name := range list.from {
			if name == "" || strings.ContainsRune(name, 0) {
				return nil, fmt.Errorf("protected and hidden: got %q, want a path", name)
			}
			if !filepath.IsAbs(name) {
				name = filepath.Join(s.roots[0].real, name)
			}
			*list.to = append(*list.to, fsResolved(filepath.Clean(name)))
		}
	}
	if f.Undo != nil {
		s.hidden = append(s.hidden, fsResolved(f.Undo.Dir()))
	}
	for i := range s.roots {
		r := &s.roots[i]
		r.hidden = fsWithin(r.real, s.hidden)
		r.protected = r.hidden || fsWithin(r.real, s.protected)
	}
	return s, nil
}

func fsRootOf(given string) (fsRoot, error) {
	abs, err := filepath.Abs(given)
	if err != nil || given == "" {
		return fsRoot{}, fmt.Errorf("root: got %q, want a folder", given)
	}
	where, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return fsRoot{}, fmt.Errorf("root: %w", err)
	}
	info, err := os.Stat(where)
	if err != nil {
		return fsRoot{}, fmt.Errorf("root: %w", err)
	}
	r := fsRoot{given: abs, real: where, path: fsSlashed(where)}
	first, _, _ := strings.Cut(strings.TrimPrefix(r.path, "/"), "/")
	switch {
	case !info.IsDir():
		return r, fmt.Errorf("root: got %s, want a folder", abs)
	case filepath.Dir(where) == where:
		return r, fmt.Errorf("root: got %s, which bounds nothing: want a folder in it", abs)
	case slices.Contains([]string{"proc", "sys", "dev"}, first) && !strings.HasPrefix(r.path, "/dev/shm/"):
		return r, fmt.Errorf("root: got %s, where files are not only files", abs)
	case strings.HasPrefix(r.path, "//") || fsUnseen(r.path):
		return r, fmt.Errorf("root: got %q, want a path of plain characters on a drive of this machine", abs)
	}
	return r, nil
}

// fsResolved follows the links of as much of a path as is there.
func fsResolved(name string) string {
	rest := ""
	for at := name; ; at = filepath.Dir(at) {
		if where, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(where, rest)
		}
		if filepath.Dir(at) == at {
			return name
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// fsWithin reports whether a folder is one of a list, or lies in one: by name or
// by being the same.
func fsWithin(folder string, list []string) bool {
	for at := folder; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		for _, name := range list {
			if strings.EqualFold(at, name) {
				return true
			}
			if there, err2 := os.Stat(name); err == nil && err2 == nil && os.SameFile(info, there) {
				return true
			}
		}
		if filepath.Dir(at) == at {
			return false
		}
	}
}

// fsText is what a tool says to the model.
func fsText(name string) (string, error) {
	text, err := fsTexts.ReadFile("texts/" + name + ".md")
	return strings.TrimSpace(string(text)), err
}

// fsReader is what the tools that only read have in common.
func fsReader[In any](s *fsSet, name string, where func(In) (file string, ignores bool), check func(In) error, run func(context.Context, In) (tool.Result, error)) (*tool.Tool, error) {
	text, err := fsText(name)
	if err != nil {
		return nil, err
	}
	return tool.Spec[In, tool.Result]{
		Info: tool.Info{
			Name: name, Description: text, Tags: []string{"files"}, Cancel: true, Cooperative: true,
			Claims: tool.Claims{ReadOnly: true, Local: true},
		},
		ClaimsOf: func(in In) tool.Claims {
			c := tool.Claims{Touches: []tool.Access{}}
			file, ignores := where(in)
			p, err := s.place(file)
			if err != nil {
				return c // it is refused before it looks at anything
			}
			c.Touches = append(c.Touches, tool.Access{Resource: "file:" + p.path()})
			for at := p; ignores && at.rel != "."; { // what is ignored is said further up, too
				at.rel = path.Dir(at.rel)
				c.Touches = append(c.Touches, tool.Access{Resource: "file:" + path.Join(at.path(), ".gitignore")})
			}
			return c
		},
		Validate: func(_ context.Context, in In) (json.RawMessage, error) {
			file, _ := where(in)
			p, err := s.place(file)
			if err == nil {
				err = s.named(p, false)
			}
			if err == nil && check != nil {
				err = check(in)
			}
			return nil, err
		},
		Facts:  func(in In) (tool.Facts, error) { file, _ := where(in); return s.facts(file) },
		Scopes: func(in In) ([]string, error) { file, _ := where(in); return s.scopes(file, false) },
		Run:    run,
	}.Tool()
}

// fsWriter is what the tools that change a file have in common.
func fsWriter[In any](s *fsSet, name string, idempotent bool, where func(In) (file string, parents bool), check func(In) error, preview func(context.Context, In) (string, error), run func(context.Context, In) (tool.Result, error)) (*tool.Tool, error) {
	text, err := fsText(name)
	if err != nil {
		return nil, err
	}
	return tool.Spec[In, tool.Result]{
		Info: tool.Info{
			Name: name, Description: text, Tags: []string{"files"}, Cooperative: true,
			Claims: tool.Claims{Local: true, Reversible: s.undo != nil, Idempotent: idempotent},
		},
		ClaimsOf: func(in In) tool.Claims {
			c := tool.Claims{Touches: []tool.Access{}}
			file, parents := where(in)
			if p, err := s.file(file); err == nil {
				c.Touches = append(c.Touches, tool.Access{Resource: "file:" + s.makes(p, parents).path(), Write: true})
			}
			return c
		},
		Validate: func(_ context.Context, in In) (json.RawMessage, error) {
			file, _ := where(in)
			p, err := s.file(file)
			if err == nil {
				err = s.named(p, true)
			}
			if err == nil && check != nil {
				err = check(in)
			}
			return nil, err
		},
		Preview: func(ctx context.Context, in In) (string, error) {
			text, err := preview(ctx, in)
			if own := (*tool.Error)(nil); errors.As(err, &own) {
				return "It would fail: " + own.Text, nil // a person has no use for an error
			}
			return text, err
		},
		Facts: func(in In) (tool.Facts, error) { file, _ := where(in); return s.facts(file) },
		Scopes: func(in In) ([]string, error) {
			file, parents := where(in)
			if p, err := s.file(file); err == nil {
				if top := s.makes(p, parents); top != p { // a narrower rule would not cover the folders
					return s.scopes(top.path(), false)
				}
			}
			return s.scopes(file, true)
		},
		Run: run,
	}.Tool()
}

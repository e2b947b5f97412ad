package builtin

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

// fsWalk goes through a folder in the order of paths. Links are not followed.
type fsWalk struct {
	guard  fsGuard
	all    bool // also .git and what is ignored
	enters func(rel string) bool
	// files is given the files of a folder that stand next to each other in the
	// order of paths; false ends the walk. It releases the folder.
	files func(fsBatch) bool

	top    string // where it begins, from the root
	most   int    // names of one folder; 0: fsMostNames
	closed int    // folders that could not be read
	wide   int    // folders with more names than were looked at
	deep   int    // folders that are too deep to be entered
	stop   bool
}

// fsBatch are files of one folder.
type fsBatch struct {
	at    *fsFolder
	rel   string // the folder, from the root
	names []string
}

// fsFolder is an open folder that several use; the last one closes it.
type fsFolder struct {
	*os.Root
	list  *os.File // the same, to list it
	users atomic.Int32
}

// fsOpenFolder takes over a folder, for one user.
func fsOpenFolder(at *os.Root) (*fsFolder, error) {
	list, err := fsLister(at)
	if err != nil {
		at.Close()
		return nil, err
	}
	d := &fsFolder{Root: at, list: list}
	d.users.Store(1)
	return d, nil
}

func (d *fsFolder) release() {
	if d.users.Add(-1) == 0 {
		d.list.Close()
		d.Close()
	}
}

const (
	fsBatchSize = 64
	fsDeepest   = 200 // folders in each other
)

// walk opens where to begin, collects what is ignored further up, and goes.
func (s *fsSet) walk(ctx context.Context, p fsPlace, w *fsWalk) error {
	if err := s.named(p, false); err != nil {
		return err
	}
	w.guard, w.top = s.guard(false), p.rel
	var ignores []*fsIgnore
	if !w.all && p.rel != "." {
		for _, dir := range fsUpwards(p.dir()) {
			at, err := s.folder(p.below(dir), w.guard)
			if err != nil {
				return err
			}
			if g := fsReadIgnore(at, dir); g != nil {
				ignores = append(ignores, g)
			}
			at.Close()
		}
	}
	at, err := s.folder(p, w.guard)
	if err != nil {
		if s.isFile(p) {
			return w.single(s, p)
		}
		return err
	}
	return w.folder(ctx, at, p.rel, ignores, 0)
}

// single is a walk through one file.
func (w *fsWalk) single(s *fsSet, p fsPlace) error {
	at, err := s.folder(p.below(p.dir()), w.guard)
	if err != nil {
		return err
	}
	d, err := fsOpenFolder(at)
	if err != nil {
		return err
	}
	w.files(fsBatch{d, p.dir(), []string{p.base()}})
	return nil
}

// fsUpwards are a folder and those around it, outermost first.
func fsUpwards(dir string) []string {
	list := []string{"."}
	if dir == "." {
		return list
	}
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		list = append(list, at)
	}
	return list
}

// folder goes through one folder, which it closes.
func (w *fsWalk) folder(ctx context.Context, at *os.Root, rel string, ignores []*fsIgnore, depth int) error {
	var entries []fs.DirEntry
	d, err := fsOpenFolder(at)
	if err == nil {
		defer d.release()
		var whole bool
		if entries, whole, err = fsEntries(ctx, d.list, cmp.Or(w.most, fsMostNames)); err == nil && !whole {
			w.wide++
		}
	}
	if err != nil {
		if ctx.Err() != nil || depth == 0 {
			return err
		}
		w.closed++
		return nil
	}
	if !w.all {
		for _, e := range entries {
			if e.Name() == ".gitignore" {
				if g := fsReadIgnore(at, rel); g != nil {
					ignores = append(slices.Clip(ignores), g)
				}
			}
		}
	}
	var names []string
	flush := func() {
		if len(names) > 0 && !w.stop {
			d.users.Add(1)
			w.stop = !w.files(fsBatch{d, rel, names})
		}
		names = nil
	}
	for _, e := range entries {
		if w.stop {
			return nil
		}
		if ctx.Err() != nil { // a long .gitignore takes its time for each name
			return context.Cause(ctx)
		}
		name := path.Join(rel, e.Name())
		if !w.wants(e, name, ignores) {
			continue
		}
		if !e.IsDir() {
			if names = append(names, e.Name()); len(names) == fsBatchSize {
				flush()
			}
			continue
		}
		if w.enters != nil && !w.enters(name) {
			continue
		}
		if depth == fsDeepest {
			w.deep++
			continue
		}
		flush()
		next, info, err := inside.Step(at, e.Name())
		switch {
		case err != nil:
			w.closed++
		case w.guard.hides(info):
			next.Close()
		default:
			if err := w.folder(ctx, next, name, ignores, depth+1); err != nil {
				return err
			}
		}
	}
	flush()
	return nil
}

// wants says by its name whether an entry is looked at.
func (w *fsWalk) wants(e fs.DirEntry, name string, ignores []*fsIgnore) bool {
	switch {
	case !e.IsDir() && !e.Type().IsRegular(), strings.HasPrefix(e.Name(), inside.Temporary):
		return false
	case w.all:
		return true
	case e.Name() == ".git":
		return false
	}
	return len(ignores) == 0 || !fsIgnored(ignores, name, e.IsDir())
}

// note says what was not looked at.
func (w *fsWalk) note() string {
	var b strings.Builder
	if w.closed > 0 {
		fmt.Fprintf(&b, "[%s could not be read]\n", fsCount(w.closed, "folder"))
	}
	if w.wide > 0 {
		fmt.Fprintf(&b, "[in %s only %d names were looked at; there are more]\n", fsCount(w.wide, "folder"), cmp.Or(w.most, fsMostNames))
	}
	if w.deep > 0 {
		fmt.Fprintf(&b, "[%s more than %d deep not looked at: begin further down with path]\n", fsCount(w.deep, "folder"), fsDeepest)
	}
	return b.String()
}

package builtin

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

const fsMostFound = 1000

type fsGlobIn struct {
	Pattern string `json:"pattern" jsonschema:"description=glob of paths below path such as **/*.go or src/**/*_test.{js\\,ts},minLength=1"`
	Path    string `json:"path,omitempty" jsonschema:"description=folder to look in; the workspace unless set"`
	All     bool   `json:"all,omitempty" jsonschema:"description=also what .gitignore leaves out and what belongs to git"`
}

func (s *fsSet) globTool() (*tool.Tool, error) {
	return fsReader(s, "fs_glob",
		func(in fsGlobIn) (string, bool) { return in.Path, !in.All },
		func(in fsGlobIn) error { _, err := fsParsePattern(in.Pattern); return err },
		s.glob)
}

func (s *fsSet) glob(ctx context.Context, in fsGlobIn) (tool.Result, error) {
	p, err := s.place(in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	pattern, err := fsParsePattern(in.Pattern)
	if err != nil {
		return tool.Result{}, err
	}
	var found strings.Builder
	n, chars := 0, 0
	w := &fsWalk{all: in.All}
	w.enters = func(rel string) bool { return pattern.reaches(fsFrom(p.rel, rel)) }
	w.files = func(b fsBatch) bool {
		defer b.at.release()
		for _, name := range b.names {
			rel := path.Join(b.rel, name)
			if !pattern.matches(fsFrom(p.rel, rel)) {
				continue
			}
			if info, err := b.at.Lstat(name); err != nil || w.guard.hides(info) {
				continue
			}
			line := fsName(p.below(rel).String())
			if n == fsMostFound || chars+len(line) > fsReadText {
				n = -n
				return false
			}
			n, chars = n+1, chars+len(line)+1
			fmt.Fprintln(&found, line)
		}
		return true
	}
	if err := s.walk(ctx, p, w); err != nil {
		return tool.Result{}, s.fail(p, err)
	}
	switch {
	case n == 0:
		more := "; all looks also at what .gitignore leaves out"
		if in.All {
			more = ""
		}
		return fsSaid("(no file fits %s below %s%s)\n%s", in.Pattern, p, more, w.note())
	case n < 0:
		fmt.Fprintf(&found, "[only the first %d; there are more: use a narrower pattern or path]\n", -n)
	}
	return fsSaid("%s", strings.TrimSuffix(found.String()+w.note(), "\n"))
}

// fsFrom is a path from the root as seen from a folder above it. Of a file that is
// looked for in itself it is the name.
func fsFrom(top, rel string) string {
	switch top {
	case ".":
		return rel
	case rel:
		return path.Base(rel)
	}
	return strings.TrimPrefix(strings.TrimPrefix(rel, top), "/")
}

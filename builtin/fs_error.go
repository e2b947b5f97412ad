package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ferrule-dev/ferrule/internal/inside"
	"github.com/ferrule-dev/ferrule/tool"
)

// fail makes an error of two texts: the model reads what to do next, with paths
// of the workspace only; the operator reads what the system said.
func (s *fsSet) fail(p fsPlace, err error) error {
	if own := (*tool.Error)(nil); errors.As(err, &own) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &tool.Error{Kind: tool.Failed, Text: s.explain(p, err), Detail: fmt.Sprintf("%s: %v", p.path(), err), Cause: err}
}

func (s *fsSet) explain(p fsPlace, err error) string {
	if off, ok := isOff(err); ok {
		return string(off)
	}
	var link *inside.LinkError
	var system syscall.Errno
	switch {
	case errors.As(err, &link):
		return s.explainLink(p, link)
	case errors.Is(err, fs.ErrNotExist):
		return s.explainMissing(p)
	case errors.Is(err, inside.ErrFolder):
		return fmt.Sprintf("%s is a folder: fs_list shows what is in it.", p)
	case errors.Is(err, inside.ErrSpecial):
		return fmt.Sprintf("%s is no file: a device, a pipe or a socket.", p)
	case errors.Is(err, inside.ErrMoved):
		return fmt.Sprintf("%s was exchanged while it was opened. Try again.", p)
	case errors.Is(err, inside.ErrFile), errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("%s: a part of the path is a file and not a folder.", p)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%s: permission denied.", p)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("%s: the disk is full. Nothing was changed.", p)
	case errors.As(err, &system):
		return fmt.Sprintf("%s: %s.", p, system)
	}
	return fmt.Sprintf("%s: it cannot be reached.", p)
}

// explainLink says which path to use instead.
func (s *fsSet) explainLink(p fsPlace, link *inside.LinkError) string {
	at := link.Name
	rest := strings.TrimPrefix(p.rel, at)
	text := fmt.Sprintf("%s is a symbolic link, and links are not followed.", p.below(at))
	target := filepath.ToSlash(link.Target)
	switch {
	case target == "":
		return text
	case !path.IsAbs(target):
		target = path.Join(p.root.path, path.Dir(at), target)
	}
	if to, err := s.place(path.Clean(target) + rest); err == nil {
		return fmt.Sprintf("%s Use %s.", text, to)
	}
	return text + " It leads out of the workspace."
}

// explainMissing names what is near.
func (s *fsSet) explainMissing(p fsPlace) string {
	lack := p
	for lack.rel != "." {
		dir := lack.below(lack.dir())
		at, err := s.folder(dir, s.guard(false))
		if errors.Is(err, fs.ErrNotExist) {
			lack = dir
			continue
		}
		if err != nil {
			break
		}
		names, err := fsNames(at)
		at.Close()
		if err != nil {
			break
		}
		text := fmt.Sprintf("There is no %s.", p)
		if lack.rel != p.rel {
			text = fmt.Sprintf("There is no %s: the folder %s is not there.", p, lack)
		}
		var near []string
		for _, n := range fsNearest(lack.base(), names) {
			q := dir.below(path.Join(dir.rel, n))
			if s.named(q, false) == nil {
				near = append(near, q.String())
			}
		}
		if len(near) > 0 {
			return text + " Did you mean " + strings.Join(near, " or ") + "?"
		}
		return text + " fs_list and fs_glob show what there is."
	}
	return fmt.Sprintf("There is no %s.", p)
}

// fsNearest are up to three names that are like one.
func fsNearest(name string, names []string) []string {
	type far struct {
		name string
		d    int
	}
	var list []far
	low := strings.ToLower(name)
	for _, n := range names[:min(len(names), 5000)] {
		other := strings.ToLower(n)
		d := fsDistance(low, other)
		stem := strings.TrimSuffix(low, path.Ext(low))
		if d <= max(len(low), len(other))/3+1 && d < max(len(low), len(other))-1 || len(stem) >= 3 && strings.HasPrefix(other, stem) {
			list = append(list, far{n, d})
		}
	}
	slices.SortFunc(list, func(a, b far) int { return cmp.Or(a.d-b.d, strings.Compare(a.name, b.name)) })
	var near []string
	for _, f := range list[:min(len(list), 3)] {
		near = append(near, f.name)
	}
	return near
}

// fsDistance is how many letters must be changed to make b of a.
func fsDistance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/inside"
	"github.com/ferrule-dev/ferrule/tool"
)

const fsMostListed = 1000

type fsListIn struct {
	Path string `json:"path,omitempty" jsonschema:"description=folder to list; the workspace unless set"`
}

func (s *fsSet) listTool() (*tool.Tool, error) {
	return fsReader(s, "fs_list", func(in fsListIn) (string, bool) { return in.Path, false }, nil, s.list)
}

func (s *fsSet) list(ctx context.Context, in fsListIn) (tool.Result, error) {
	p, err := s.place(in.Path)
	if err == nil {
		err = s.named(p, false)
	}
	if err != nil {
		return tool.Result{}, err
	}
	g := s.guard(false)
	at, err := s.folder(p, g)
	if err != nil {
		if s.isFile(p) {
			err = fsOff(fmt.Sprintf("%s is a file: fs_read shows what is in it.", p))
		}
		return tool.Result{}, s.fail(p, err)
	}
	defer at.Close()
	f, err := fsLister(at)
	if err != nil {
		return tool.Result{}, s.fail(p, err)
	}
	defer f.Close()
	entries, whole, err := fsEntries(ctx, f, fsMostNames)
	if err != nil {
		return tool.Result{}, s.fail(p, err)
	}
	var b strings.Builder
	total, shown := 0, 0
	for _, e := range entries {
		info, err := at.Lstat(e.Name())
		if err != nil || g.hides(info) || strings.HasPrefix(e.Name(), inside.Temporary) {
			continue // it went away, or is not to be seen
		}
		if total++; total > fsMostListed {
			continue
		}
		shown++
		b.WriteString(fsEntryLine(at, info))
	}
	switch {
	case total == 0:
		return fsSaid("(%s is empty)", p)
	case !whole:
		fmt.Fprintf(&b, "[%d of more than %d entries; fs_glob finds names by a pattern]\n", shown, total)
	case shown < total:
		fmt.Fprintf(&b, "[%d of %d entries; fs_glob finds names by a pattern]\n", shown, total)
	}
	return fsSaid("%s", strings.TrimSuffix(b.String(), "\n"))
}

// isFile reports whether a place is a file that may be seen.
func (s *fsSet) isFile(p fsPlace) bool {
	if p.rel == "." {
		return false
	}
	f, _, err := s.open(p)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// fsEntryLine is an entry with what it is: folders end in /, files have a size.
func fsEntryLine(at *os.Root, info fs.FileInfo) string {
	name := fsName(info.Name())
	switch {
	case info.IsDir():
		return name + "/\n"
	case info.Mode().IsRegular():
		return fmt.Sprintf("%s  %s\n", name, fsCount(int(info.Size()), "byte"))
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := at.Readlink(info.Name())
		if err != nil || strings.HasPrefix(target, "/") || strings.Contains(target, "..") {
			return name + "  symbolic link\n" // what is outside is not told
		}
		return fmt.Sprintf("%s  symbolic link to %s\n", name, fsName(target))
	}
	return name + "  no file\n"
}

// fsName quotes a name that would not stay on its line.
func fsName(name string) string {
	if fsUnseen(name) || strings.ToValidUTF8(name, "") != name {
		return strconv.Quote(name)
	}
	return name
}

// fsEntries are what is in a folder, in the order of paths: a folder stands where
// what is in it would. Whole: there are no more than those.
func fsEntries(ctx context.Context, f *os.File, most int) (list []fs.DirEntry, whole bool, err error) {
	for len(list) <= most {
		if err := ctx.Err(); err != nil {
			return nil, false, context.Cause(ctx)
		}
		some, err := f.ReadDir(min(4096, most+1-len(list)))
		list = append(list, some...)
		if errors.Is(err, io.EOF) {
			whole = true
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	list = list[:min(len(list), most)]
	slices.SortFunc(list, fsByPath)
	return list, whole, nil
}

// fsByPath compares as if folders had a / behind them, without making a text.
func fsByPath(a, b fs.DirEntry) int {
	x, y := a.Name(), b.Name()
	n := min(len(x), len(y))
	if c := strings.Compare(x[:n], y[:n]); c != 0 {
		return c
	}
	end := func(name string, d fs.DirEntry) int {
		switch {
		case len(name) > n:
			return int(name[n]) + 1
		case d.IsDir():
			return '/' + 1
		}
		return 0
	}
	return end(x, a) - end(y, b)
}

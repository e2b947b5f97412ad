package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
)

// entry is a file, a folder or a link.
type entry struct {
	path   string // from the top, with slashes; ".": the top
	mode   fs.FileMode
	sum    [sha256.Size]byte // of a file
	target string            // of a link
	size   int64             // of a file
	at     int64             // where its content is in the copy
}

// kept is what is kept of a mode.
const kept = fs.ModeType | fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// folder is all entries of a folder, by path: what contains others comes first. A
// folder that is missing has none.
type folder []entry

// looking is how files are looked at.
type looking func(context.Context, *Dir, place) (sum [sha256.Size]byte, at int64, err error)

// believed reads only files that the system says were touched.
func believed(ctx context.Context, d *Dir, p place) (sum [sha256.Size]byte, at int64, err error) {
	sum, ok := d.sumOf(p)
	if !ok {
		sum, err = d.read(ctx, p, io.Discard)
	}
	return sum, 0, err
}

// exactly reads every file.
func exactly(ctx context.Context, d *Dir, p place) (sum [sha256.Size]byte, at int64, err error) {
	sum, err = d.read(ctx, p, io.Discard)
	return sum, 0, err
}

// walk looks at everything in the folder.
func (d *Dir) walk(ctx context.Context, how looking) (folder, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	top, info, err := d.top()
	switch {
	case err != nil || info == nil:
		return nil, err
	case top == nil:
		return folder{{path: ".", mode: info.Mode().Type()}}, nil
	}
	defer top.Close()
	w := walker{dir: d, how: how}
	w.bytes, w.entries = d.most()
	w.all = folder{{path: ".", mode: info.Mode() & kept}}
	if err := w.in(ctx, top, ".", 0); err != nil {
		return nil, err
	}
	slices.SortFunc(w.all, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	return w.all, nil
}

type walker struct {
	dir     *Dir
	how     looking
	bytes   int64 // that may still come
	entries int
	all     folder
}

// in looks at what is in one folder.
func (w *walker) in(ctx context.Context, at *os.Root, dir string, depth int) error {
	if depth > maxDepth {
		return &LimitError{"levels", maxDepth}
	}
	_, most := w.dir.most()
	names, err := namesIn(at, w.entries)
	if err != nil {
		return err
	}
	if w.entries -= len(names); w.entries < 0 {
		return &LimitError{"entries", int64(most)}
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.look(ctx, at, name, path.Join(dir, name), depth); err != nil {
			return err
		}
	}
	return nil
}

// look looks at one entry.
func (w *walker) look(ctx context.Context, at *os.Root, name, full string, depth int) error {
	info, err := at.Lstat(name)
	if err != nil {
		return err
	}
	e := entry{path: full, mode: info.Mode() & kept}
	switch {
	case info.IsDir():
		w.all = append(w.all, e)
		next, err := step(at, name, info)
		if err != nil {
			return err
		}
		defer next.Close()
		return w.in(ctx, next, full, depth+1)
	case info.Mode()&fs.ModeSymlink != 0:
		e.mode &= fs.ModeType // the rest differs between systems, and means nothing
		e.target, err = at.Readlink(name)
	case info.Mode().IsRegular():
		if w.bytes -= info.Size(); w.bytes < 0 {
			most, _ := w.dir.most()
			return &LimitError{"bytes", most}
		}
		e.size = info.Size()
		e.sum, e.at, err = w.how(ctx, w.dir, place{at, name, full, info})
	}
	w.all = append(w.all, e)
	return err
}

// namesIn are the names in a folder, sorted: more than most only by a few.
func namesIn(at *os.Root, most int) (names []string, err error) {
	f, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for len(names) <= most {
		some, err := f.Readdirnames(256)
		names = append(names, some...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return names, nil
}

// hash is the fingerprint.
func (t folder) hash() string {
	sum := sha256.New()
	for i := range t {
		t[i].add(sum)
	}
	return text(sum.Sum(nil))
}

func (e *entry) add(to hash.Hash) {
	var n [8]byte
	for _, part := range []string{e.path, e.target, string(e.sum[:])} {
		to.Write(binary.BigEndian.AppendUint64(n[:0], uint64(len(part)))) // so that no two folders look alike
		to.Write([]byte(part))
	}
	to.Write(binary.BigEndian.AppendUint32(n[:0], uint32(e.mode)))
}

// same reports whether two entries hold the same.
func (e *entry) same(o *entry) bool {
	return e.mode == o.mode && e.sum == o.sum && e.target == o.target
}

// find is the entry with that path.
func (t folder) find(path string) (*entry, bool) {
	i, ok := slices.BinarySearchFunc(t, path, func(e entry, path string) int { return cmp.Compare(e.path, path) })
	if !ok {
		return nil, false
	}
	return &t[i], true
}

// special is an entry that cannot be kept.
func (t folder) special() error {
	for _, e := range t {
		switch {
		case e.path == "." && !e.mode.IsDir():
			return fmt.Errorf("got %s, want a folder", e.mode.Type())
		case e.mode&fs.ModeType&^(fs.ModeDir|fs.ModeSymlink) != 0:
			return fmt.Errorf("%q: got %s, want a file, a folder or a link", e.path, e.mode.Type())
		}
	}
	return nil
}

package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Dir is a region that is a folder: its files, folders and symbolic links, with
// their permissions. Links are kept as links and never followed. Times, owners and
// extended attributes are not memory. Pipes, sockets and devices cannot be kept: a
// folder with one in it cannot be guarded.
//
// The fingerprint of a file that nobody touched costs a look at its state, with the
// time at which the system last changed it, which programs cannot set; where there
// is none (Windows) it is read.
type Dir struct {
	// Path is the folder. It may be missing, but not be a link; who can exchange
	// what is above it is trusted.
	Path string
	// Bytes is how much its files may hold together. 0: 64 MiB. What is more than
	// 8 MiB is not copied into memory but into a temporary file that has no name,
	// or is removed when no call runs.
	Bytes int64
	// Entries is how many files, folders and links there may be. 0: 10,000.
	Entries int

	light int64         // what a copy in memory may be; 0: 8 MiB
	ahead time.Duration // of the clock of the system, in tests

	mu    sync.Mutex
	known map[string]digest // of files, by name
}

var _ Store = (*Dir)(nil)

// Bounds of folders.
const (
	maxEntries = 10_000
	maxDepth   = 64
)

// state is what the system says of a file. All of it stays the same if the file
// does; changed is a time that programs cannot set.
type state struct {
	dev, ino         uint64
	size             int64
	mode             fs.FileMode
	written, changed int64
}

// digest is what a file held in a state.
type digest struct {
	state state
	sum   [sha256.Size]byte
}

// settled is how long ago a file must have changed for its state to tell of the
// next change: clocks of file systems stand still for some milliseconds.
const settled = 200 * time.Millisecond

// Hash is made of names, permissions, targets of links and digests of files.
func (d *Dir) Hash(ctx context.Context) (string, error) {
	t, err := d.walk(ctx, believed)
	if err != nil {
		return "", err
	}
	return t.hash(), nil
}

func (d *Dir) most() (bytes int64, entries int) {
	bytes, entries = d.Bytes, d.Entries
	if bytes <= 0 {
		bytes = maxBytes
	}
	if entries <= 0 {
		entries = maxEntries
	}
	return bytes, entries
}

// top opens the folder. No folder and no info: it is missing; no folder: it is
// something else.
func (d *Dir) top() (*os.Root, fs.FileInfo, error) {
	if d.Path == "" {
		return nil, nil, errors.New("memory: Dir.Path is not set")
	}
	info, err := os.Lstat(d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case !info.IsDir():
		return nil, info, nil
	}
	top, err := os.OpenRoot(d.Path)
	if err != nil {
		return nil, nil, err
	}
	if err := same(top, info); err != nil {
		top.Close()
		return nil, nil, err
	}
	return top, info, nil
}

// same wants an open folder to be the one that was looked at.
func same(at *os.Root, info fs.FileInfo) error {
	held, err := at.Stat(".")
	if err == nil && !os.SameFile(held, info) {
		err = fmt.Errorf("%s was exchanged while it was opened", info.Name())
	}
	return err
}

// step opens a folder within another, never through a link.
func step(at *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if err := same(next, info); err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// open opens a regular file within a folder, never through a link.
func open(at *os.Root, name string, info fs.FileInfo) (*os.File, error) {
	f, err := at.OpenFile(name, os.O_RDONLY|openNow, 0)
	if err != nil {
		return nil, err
	}
	held, err := f.Stat()
	if err == nil && (!held.Mode().IsRegular() || !os.SameFile(held, info)) {
		err = fmt.Errorf("%s was exchanged while it was opened", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// place is where a file is.
type place struct {
	at   *os.Root // its folder
	name string   // there
	path string   // from the top
	info fs.FileInfo
}

// sumOf is the digest of a file that was read, in this state, before; ok is false
// where it must be read.
func (d *Dir) sumOf(p place) (sum [sha256.Size]byte, ok bool) {
	now, ok := stateOf(p.info)
	if !ok {
		return sum, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	was, ok := d.known[p.path]
	return was.sum, ok && was.state == now
}

// read reads a file to its end.
func (d *Dir) read(ctx context.Context, p place, to io.Writer) (sum [sha256.Size]byte, err error) {
	began := time.Now().Add(d.ahead)
	f, err := open(p.at, p.name, p.info)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, to), &reader{ctx, io.LimitReader(f, p.info.Size()+1)})
	if err == nil && n != p.info.Size() {
		err = fmt.Errorf("%q: it changes while it is read", p.path)
	}
	if err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	if after, err := f.Stat(); err == nil {
		d.learn(p, after, sum, began)
	}
	return sum, nil
}

// learn remembers the digest of a file, if its state will tell of its next change.
func (d *Dir) learn(p place, after fs.FileInfo, sum [sha256.Size]byte, began time.Time) {
	was, ok := stateOf(p.info)
	now, also := stateOf(after)
	if !ok || !also || now != was || now.changed > began.Add(-settled).UnixNano() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, most := d.most()
	if d.known == nil || len(d.known) > 2*most { // names that are gone are not kept for ever
		d.known = make(map[string]digest)
	}
	d.known[p.path] = digest{was, sum}
}

// reader reads as long as its context lasts.
type reader struct {
	ctx context.Context //nolint:containedctx // it lives as long as one reading
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// text is a digest as others see it.
func text(sum []byte) string { return hex.EncodeToString(sum) }

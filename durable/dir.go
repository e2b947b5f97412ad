package durable

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Dir keeps texts as files below a directory, which several processes may use at
// once. For each owner there is a folder, for each text a file in it: a line of
// JSON, then the text as it is. The time of a file is when it was put last.
//
// A file appears whole or not at all. Two texts of two owners are two files even
// if they are equal, so that nothing has to be counted.
type Dir struct {
	root *os.Root // no symbolic link leads out of it
}

var _ Blobs = (*Dir)(nil)

// Names in a folder, beside those of texts.
const (
	tempPrefix  = ".new-" // being written
	asidePrefix = ".old-" // being swept: then the handle, then a random end
)

// OpenDir opens a store, and makes the directory if there is none. Only the user
// of this process can read what is put there.
func OpenDir(name string) (*Dir, error) {
	if name == "" {
		return nil, errors.New("blobs: got no name of a directory")
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("blobs: %s: got a file, want a directory", name)
	}
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	return &Dir{root}, nil
}

// Close ends the use of the store. Texts that are open stay so.
func (d *Dir) Close() error { return d.root.Close() }

// folder is where the texts of an owner are: a name that is safe whatever the
// owner is called.
func folder(owner string) string {
	s := sum{hash: sha256.New()}
	s.text(owner)
	return s.hex()
}

func isFolder(name string) bool { return len(name) == 2*sha256.Size && isHex(name) }

// full is a path for the operator.
func (d *Dir) full(name string) string { return filepath.Join(d.root.Name(), filepath.FromSlash(name)) }

// Put keeps a text. It is on the disk when Put returns.
func (d *Dir) Put(ctx context.Context, owner string, n Note, parts ...string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("blobs: put: %w", err)
	}
	h := header{Version: headerVersion, Note: n}
	for _, p := range parts {
		h.Size += int64(len(p))
	}
	line, err := h.line()
	if err != nil {
		return "", fmt.Errorf("blobs: put: %w", err)
	}
	in, handle := folder(owner), Handle(owner, n, parts...)
	if d.renew(path.Join(in, handle), int64(len(line))+h.Size) {
		return handle, nil
	}
	if err := d.write(ctx, in, handle, line, parts); err != nil {
		return "", fmt.Errorf("blobs: put into %s: %w", d.full(in), errors.Join(d.there(), err))
	}
	return handle, nil
}

// renew makes the time of a file now, and reports whether it is there and has
// that size; if not it has to be written.
//
// It looks at the file after it has set the time: what is there then cannot be
// swept any more, because [Dir.Sweep] looks at the time once more after it took
// the file away.
func (d *Dir) renew(name string, size int64) bool {
	now := time.Now()
	if err := d.root.Chtimes(name, now, now); errors.Is(err, fs.ErrNotExist) {
		return false
	} // else it cannot be written to, and what is there will do
	info, err := d.root.Lstat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// write makes a file under another name and gives it its own when it is whole.
func (d *Dir) write(ctx context.Context, in, handle string, line []byte, parts []string) (err error) {
	f, temp, err := d.create(in)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			err = errors.Join(err, gone(d.root.Remove(temp)))
			_ = d.root.Remove(in) // if nothing else is in it
		}
	}()
	if err := fill(ctx, f, line, parts); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	// The time that a system gives to a file may be some milliseconds behind.
	now := time.Now()
	if err := d.root.Chtimes(temp, now, now); err != nil {
		return err
	}
	if err := d.root.Rename(temp, path.Join(in, handle)); err != nil {
		return err
	}
	d.sync(in)
	return nil
}

// create makes an empty file in a folder, and the folder. A sweep may remove
// that again as long as it is empty.
func (d *Dir) create(in string) (f *os.File, name string, err error) {
	name = path.Join(in, tempPrefix+rand.Text())
	for range 10 {
		if err := d.root.Mkdir(in, 0o700); err == nil {
			d.sync(".")
		} else if !errors.Is(err, fs.ErrExist) {
			return nil, "", err
		}
		f, err = d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return f, name, err
}

// fill writes a file. Long parts go to it as they are, short ones together.
func fill(ctx context.Context, f *os.File, line []byte, parts []string) error {
	const step = 1 << 20 // bytes between two looks at the context
	w := bufio.NewWriterSize(f, 16<<10)
	if _, err := w.Write(line); err != nil {
		return err
	}
	for _, p := range parts {
		for len(p) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(len(p), step)
			if _, err := w.WriteString(p[:n]); err != nil {
				return err
			}
			p = p[n:]
		}
	}
	return w.Flush()
}

// sync makes the names in a folder last. Not every system and file system can:
// then a power cut may cost the texts put last, but never leaves half of one.
func (d *Dir) sync(in string) {
	if f, err := d.root.Open(in); err == nil {
		_ = f.Sync()
		f.Close()
	}
}

// Open gives a text, which is read from its file. A file whose header or size is
// not as it was written is an error that says so; its text is not compared. Where
// the directory itself is gone the error says that.
func (d *Dir) Open(ctx context.Context, owner, handle string) (*Blob, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("blobs: open: %w", err)
	}
	if !isHandle(handle) {
		return nil, ErrNotFound
	}
	f, err := d.find(folder(owner), handle)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.there(); err != nil {
			return nil, fmt.Errorf("blobs: open: %w", err)
		}
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("blobs: open: %w", err)
	}
	b, err := open(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("blobs: open %s: the file is damaged: %w", f.Name(), err)
	}
	return b, nil
}

// there reports that the directory is no longer where it was.
func (d *Dir) there() error {
	now, err := os.Stat(d.root.Name())
	if err != nil {
		return fmt.Errorf("the store is gone: %w", err)
	}
	was, err := d.root.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(now, was) {
		return fmt.Errorf("the store is gone: %s is another directory now", d.root.Name())
	}
	return nil
}

// find opens the file of a text. While a sweep looks at it, it has another name
// for a moment; so who does not find it looks for that, and then once more.
func (d *Dir) find(in, handle string) (*os.File, error) {
	for range 2 {
		if f, err := d.regular(path.Join(in, handle)); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		names, err := d.names(in)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if asideOf(name) != handle {
				continue
			}
			if f, err := d.regular(path.Join(in, name)); !errors.Is(err, fs.ErrNotExist) {
				return f, err
			}
		}
	}
	return nil, fs.ErrNotExist
}

// regular opens a file that is nothing else: opening a pipe would wait.
func (d *Dir) regular(name string) (*os.File, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: got %s, want a file", d.full(name), info.Mode().Type())
	}
	return d.root.Open(name)
}

// open reads the header of a file and takes the rest as the text.
func open(f *os.File) (*Blob, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	h, length, err := readHeader(f)
	if err != nil {
		return nil, err
	}
	if got := info.Size() - length; got != h.Size {
		return nil, fmt.Errorf("got %d bytes of text, want %d", got, h.Size)
	}
	return &Blob{Note: h.Note, Size: h.Size, ReaderAt: &section{f, length, h.Size}, Closer: f}, nil
}

// section is the text in a file. Unlike an [io.SectionReader] it does not take
// the end of a file that was cut meanwhile for the end of the text.
type section struct {
	file     *os.File
	at, size int64
}

// ReadAt is that of [io.ReaderAt].
func (s *section) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errNegative
	}
	if off >= s.size {
		return 0, io.EOF
	}
	rest := s.size - off
	n, err = s.file.ReadAt(p[:min(int64(len(p)), rest)], s.at+off)
	switch {
	case errors.Is(err, io.EOF) && int64(n) < rest:
		return n, io.ErrUnexpectedEOF
	case err == nil && int64(len(p)) > rest:
		return n, io.EOF
	}
	return n, err
}

// Holds reports whether there is anything of an owner.
func (d *Dir) Holds(ctx context.Context, owner string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("blobs: holds: %w", err)
	}
	names, err := d.names(folder(owner))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("blobs: holds: %w", err)
	}
	for _, name := range names {
		if isHandle(name) || asideOf(name) != "" {
			return true, nil
		}
	}
	return false, nil
}

// names lists a folder, in no order.
func (d *Dir) names(in string) ([]string, error) {
	f, err := d.root.Open(in)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// asideOf is the handle of a text that is being swept; "": it is something else.
func asideOf(name string) string {
	rest, ok := strings.CutPrefix(name, asidePrefix)
	handle, _, _ := strings.Cut(rest, "-")
	if !ok || !isHandle(handle) {
		return ""
	}
	return handle
}

// gone is an error, unless it says that the file is not there.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

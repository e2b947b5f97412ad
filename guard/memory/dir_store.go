package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Read is for [Store]: keys are names of files below the folder, with slashes.
func (d *Dir) Read(ctx context.Context, key string) ([]byte, error) {
	at, err := d.reach(ctx, key, false)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	name := path.Base(key)
	info, err := at.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%q: %w", key, ErrNotFound)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q: got %s, want a file", key, info.Mode().Type())
	}
	if most, _ := d.most(); info.Size() > most {
		return nil, &LimitError{"bytes", most}
	}
	var b bytes.Buffer
	_, err = d.read(ctx, place{at, name, key, info}, &b)
	return b.Bytes(), err
}

// Write is for [Store]. A new file is its owner's alone, and so are folders that
// are made for it.
func (d *Dir) Write(ctx context.Context, key string, value []byte) error {
	if err := d.room(ctx, key, int64(len(value))); err != nil {
		return err
	}
	at, err := d.reach(ctx, key, true)
	if err != nil {
		return err
	}
	defer at.Close()
	name, mode := path.Base(key), fs.FileMode(0o600)
	if info, err := at.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%q: got %s, want a file or nothing", key, info.Mode().Type())
		}
		mode = info.Mode()
	}
	return replace(at, name, &reader{ctx, bytes.NewReader(value)}, mode)
}

// room wants what is written to be within the limits: else the region could not be
// guarded from then on.
func (d *Dir) room(ctx context.Context, key string, size int64) error {
	if err := valid(key); err != nil {
		return err
	}
	now, err := d.walk(ctx, func(context.Context, *Dir, place) (sum [32]byte, at int64, err error) { return sum, 0, nil })
	if err != nil {
		return err
	}
	most, entries := d.most()
	for _, e := range now {
		if e.path != key {
			size += e.size
		}
	}
	more := 0
	for name := key; name != "."; name = path.Dir(name) {
		if _, ok := now.find(name); !ok {
			more++
		}
	}
	switch {
	case size > most:
		return &LimitError{"bytes", most}
	case len(now)-1+more > entries:
		return &LimitError{"entries", int64(entries)}
	case strings.Count(key, "/") > maxDepth:
		return &LimitError{"levels", maxDepth}
	}
	return nil
}

// Delete is for [Store]. Folders stay.
func (d *Dir) Delete(ctx context.Context, key string) error {
	at, err := d.reach(ctx, key, false)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.Close()
	name := path.Base(key)
	info, err := at.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%q: got a folder, want a file", key)
	}
	return at.Remove(name)
}

// Keys is for [Store].
func (d *Dir) Keys(ctx context.Context) (keys []string, err error) {
	now, err := d.walk(ctx, func(context.Context, *Dir, place) (sum [32]byte, at int64, err error) { return sum, 0, nil })
	for _, e := range now {
		if e.mode.IsRegular() {
			keys = append(keys, e.path)
		}
	}
	return keys, err
}

func valid(key string) error {
	if !fs.ValidPath(key) || key == "." || strings.ContainsAny(key, "\\:\x00") {
		return fmt.Errorf("key: got %q, want the name of a file, without .. and \\", key)
	}
	return nil
}

// reach opens the folder that a key is in, never through a link. It is made, or
// what is missing is ErrNotFound.
func (d *Dir) reach(ctx context.Context, key string, makes bool) (*os.Root, error) {
	if err := errors.Join(ctx.Err(), valid(key)); err != nil {
		return nil, err
	}
	if makes {
		if _, err := os.Lstat(d.Path); errors.Is(err, fs.ErrNotExist) {
			if err := os.MkdirAll(d.Path, 0o700); err != nil {
				return nil, err
			}
		}
	}
	at, info, err := d.top()
	switch {
	case err != nil:
		return nil, err
	case info == nil:
		return nil, fmt.Errorf("%q: %w", key, ErrNotFound)
	case at == nil:
		return nil, fmt.Errorf("%s: got %s, want a folder", d.Path, info.Mode().Type())
	}
	parts := strings.Split(key, "/")
	for _, part := range parts[:len(parts)-1] {
		next, err := d.enter(at, part, makes)
		at.Close()
		if err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
		at = next
	}
	return at, nil
}

// enter opens a folder within another.
func (d *Dir) enter(at *os.Root, part string, makes bool) (*os.Root, error) {
	info, err := at.Lstat(part)
	if errors.Is(err, fs.ErrNotExist) {
		if !makes {
			return nil, ErrNotFound
		}
		if err = at.Mkdir(part, 0o700); err == nil {
			info, err = at.Lstat(part)
		}
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: got %s, want a folder", part, info.Mode().Type())
	}
	return step(at, part, info)
}

package durable

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// abandoned is how long nothing was written to an unfinished file when its
// process is taken for dead.
const abandoned = time.Hour

// Sweep removes what was last put before that time. It also removes unfinished
// files of processes that ended, and empty folders; those do not count. What it
// cannot remove it leaves, goes on, and says so at the end.
func (d *Dir) Sweep(ctx context.Context, before time.Time) (removed int, err error) {
	folders, err := d.names(".")
	if err != nil {
		return 0, fmt.Errorf("blobs: sweep: %w", err)
	}
	var faults []error
	for _, in := range folders {
		if !isFolder(in) {
			continue
		}
		n, err := d.sweepFolder(ctx, in, before)
		removed += n
		if ctx.Err() != nil {
			return removed, fmt.Errorf("blobs: sweep: %w", ctx.Err())
		}
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return removed, fmt.Errorf("blobs: sweep: %w", err)
	}
	return removed, nil
}

func (d *Dir) sweepFolder(ctx context.Context, in string, before time.Time) (removed int, err error) {
	names, err := d.names(in)
	if err != nil {
		return 0, gone(err)
	}
	var faults []error
	for _, name := range names {
		if ctx.Err() != nil {
			return removed, ctx.Err()
		}
		ok, err := d.sweepFile(in, name, before)
		if ok {
			removed++
		}
		faults = append(faults, gone(err))
	}
	// A folder that is not empty is not removed; that is no fault.
	if err := d.root.Remove(in); !errors.Is(err, fs.ErrExist) {
		faults = append(faults, gone(err))
	}
	return removed, errors.Join(faults...)
}

// sweepFile removes one file if its time has come, and reports whether it was a
// text.
func (d *Dir) sweepFile(in, name string, before time.Time) (removed bool, err error) {
	file := path.Join(in, name)
	switch {
	case strings.HasPrefix(name, tempPrefix):
		if old, err := d.older(file, time.Now().Add(-abandoned)); err != nil || !old {
			return false, err
		}
		return false, d.root.Remove(file)
	case isHandle(name):
		if old, err := d.older(file, before); err != nil || !old {
			return false, err
		}
		aside := path.Join(in, asidePrefix+name+"-"+rand.Text())
		if err := d.root.Rename(file, aside); err != nil {
			return false, err
		}
		return d.sweepAside(in, name, aside, before)
	case asideOf(name) != "": // another sweep is at it, or ended in the middle
		return d.sweepAside(in, asideOf(name), file, before)
	}
	return false, nil // not ours
}

// sweepAside decides about a text that was taken away. Nobody can make it new
// any more, so its time is final: if it was made new before it was taken away,
// it goes back.
func (d *Dir) sweepAside(in, handle, aside string, before time.Time) (removed bool, err error) {
	old, err := d.older(aside, before)
	if err != nil {
		return false, err
	}
	if old {
		if err := d.root.Remove(aside); err != nil {
			return false, err
		}
		return true, nil
	}
	// It may take the place of one that was written meanwhile, which is equal
	// and newer.
	now := time.Now()
	if err := d.root.Chtimes(aside, now, now); err != nil {
		return false, err
	}
	return false, d.root.Rename(aside, path.Join(in, handle))
}

// older reports whether a file was last put before that time.
func (d *Dir) older(name string, before time.Time) (bool, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return false, err
	}
	return info.ModTime().Before(before), nil
}

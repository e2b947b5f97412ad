package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// plainly says what is wrong with a file as somebody would who looks at it. What the
// system called it stays in errors of which no more is known.
func plainly(err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok:
		return err
	case errors.Is(e, fs.ErrNotExist):
		return fmt.Errorf("there is no %s", e.Path)
	case errors.Is(e, syscall.EISDIR):
		return fmt.Errorf("%s is a folder, want a file", e.Path)
	case errors.Is(e, syscall.ENOTDIR):
		return fmt.Errorf("%s lies below a file, or is one, want a folder", e.Path)
	case errors.Is(e, fs.ErrPermission):
		return fmt.Errorf("%s: you have no permission to %s it", e.Path, e.Op)
	case errors.Is(e, syscall.ENOSPC):
		return fmt.Errorf("%s could not be written: no space is left on the disk", e.Path)
	}
	return err
}

// homeError says what to do about a state directory.
func homeError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("state directory: %w", plainly(e))
	}
	return fmt.Errorf("%w; --home and FERRULE_HOME name another directory", err)
}

// noServer is that the configuration has no server of a name.
func noServer(c *config.Config, name string) error {
	var names []string
	for _, s := range c.Servers {
		names = append(names, s.Name)
	}
	listed := "`ferrule servers` lists them"
	if len(names) == 0 {
		listed = "it has none; `ferrule servers add` and `servers import` add some"
	}
	return usage("there is no server %q in %s%s", name, config.Name, orList(nearest(name, names), listed))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/store"
)

// configFile is the file that was named, or the default one; found is false
// where nobody named one and there is none.
func (p *program) configFile() (path string, found bool, err error) {
	if p.config != "" {
		path = p.path(p.config)
		if _, err := os.Stat(path); err != nil {
			return path, false, usage("--config: %w", err)
		}
		return path, true, nil
	}
	path = filepath.Join(p.dir, config.Name)
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return path, false, nil
	case err != nil:
		return path, false, &status{statusUsage, err}
	}
	return path, true, nil
}

// load reads the configuration, or gives the default one.
func (p *program) load() (*config.Config, error) {
	path, found, err := p.configFile()
	if err != nil {
		return nil, err
	}
	if !found {
		return config.Default(p.dir)
	}
	text, err := config.Read(path)
	if err != nil {
		return nil, &status{statusUsage, fmt.Errorf("the configuration cannot be read: %w", err)}
	}
	c, err := config.Parse(p.short(path), filepath.Dir(path), string(text))
	if err != nil {
		return nil, &status{statusUsage, fmt.Errorf("the configuration is wrong:\n%w", err)}
	}
	if p.home != "" && c.Store.Path != "" {
		return nil, usage("--home: got %s, but store.path of %s says that the store is %s: leave one of them out", p.home, p.short(path), c.Store.Path)
	}
	c.File = path
	return c, nil
}

// homeOf is the state directory.
func (p *program) homeOf(c *config.Config) string {
	switch env := p.env("FERRULE_HOME"); {
	case p.home != "":
		return p.path(p.home)
	case env != "":
		return p.path(env)
	}
	return filepath.Join(filepath.FromSlash(c.Workspace), ".ferrule")
}

// storeOf is the file of the store.
func (p *program) storeOf(c *config.Config) string {
	if c.Store.Path != "" {
		return c.Store.Path
	}
	return filepath.Join(p.homeOf(c), "ferrule.db")
}

// makeHome makes the state directory, which is for this user only and not for
// git.
func makeHome(home string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if err := closed(home); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(home, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("state directory: %w", err)
	}
	_, err = f.WriteString("*\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	return nil
}

// closed refuses a state directory that others can come into: who can write there
// can answer, and make rules. One that is not there is closed. Its rights are not
// changed here: it may be a directory of something else.
func closed(home string) error {
	info, err := os.Stat(home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("state directory: %w", err)
	case info.IsDir() && open(info):
		return fmt.Errorf("state directory: others can come into %s (%s): look whether what is in it is yours, then chmod 700 it; or name another with --home", home, info.Mode())
	}
	return nil
}

// open reports whether others than its user have rights at a directory.
func open(dir fs.FileInfo) bool { return dir.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" }

// withStore opens the store and calls f. Where there is none yet, and create is
// false, f is called with nil: nothing has been asked or allowed.
func (p *program) withStore(ctx context.Context, c *config.Config, create bool, f func(*store.Store) error) error {
	path := p.storeOf(c)
	if err := closed(p.homeOf(c)); err != nil {
		return err
	}
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist) && !create:
		return f(nil)
	case errors.Is(err, fs.ErrNotExist):
		if err := makeHome(p.homeOf(c)); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	s, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

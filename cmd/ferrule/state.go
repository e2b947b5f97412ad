package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/store"
)

// configFile is the file that was named, or the default one; found is false
// where nobody named one and there is none.
func (p *program) configFile() (path string, found bool, err error) {
	if p.config != "" {
		path = p.path(p.config)
		if _, err := os.Stat(path); err != nil {
			return path, false, usage("--config: %w; `ferrule init` writes one", plainly(err))
		}
		return path, true, nil
	}
	path = filepath.Join(p.dir, config.Name)
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil { // rules that somebody wrote would be missed
			return path, false, &status{statusUsage, fmt.Errorf("%s is a link that leads nowhere: mend it, or take it away", p.short(path))}
		}
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
		return nil, &status{statusUsage, fmt.Errorf("the configuration cannot be read: %w", plainly(err))}
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

// withStore opens the store and calls f. Where there is none yet, and create is
// false, f is called with nil: nothing has been asked or allowed.
func (p *program) withStore(ctx context.Context, c *config.Config, create bool, f func(*store.Store) error) error {
	path := p.storeOf(c)
	if err := store.Closed(p.homeOf(c)); err != nil {
		return homeError(err)
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
	defer p.busy("reading " + p.short(path))()
	s, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// makeHome makes the state directory. The error says what to do.
func makeHome(dir string) error {
	_, err := store.Home(dir)
	return homeError(err)
}

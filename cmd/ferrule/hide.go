package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// hidden is a value of a client's file that looks like a secret, and where it is
// kept: ferrule.yaml may be committed, and what is no secret there is not scrubbed.
type hidden struct {
	exposed
	path  string
	there bool // it is kept already
}

// secretsDir is where values of clients are kept.
func (p *program) secretsDir(c *config.Config) string {
	dir := filepath.Join(p.homeOf(c), "secrets")
	if target, err := filepath.EvalSymlinks(p.homeOf(c)); err == nil {
		dir = filepath.Join(target, "secrets")
	} else if target, err := filepath.EvalSymlinks(filepath.Dir(p.homeOf(c))); err == nil { // it is still to be made
		dir = filepath.Join(target, filepath.Base(p.homeOf(c)), "secrets")
	}
	return dir
}

// hide puts names of secrets in the place of values of a server that look like some.
// Nothing is written yet.
func (p *program) hide(c *config.Config, s config.Server) (config.Server, []hidden, error) {
	var list []hidden
	s.Env, s.Header = slices.Clone(s.Env), maps.Clone(s.Header)
	taken := make(map[string]bool)
	for _, e := range exposedOf(s) {
		if strings.ContainsAny(e.value, "\x00\r\n") { // which no server can be given: it is refused
			continue
		}
		h := hidden{exposed: e}
		if err := p.place(c, &h, taken); err != nil {
			return s, nil, err
		}
		taken[h.called] = true
		switch h.where {
		case inHeaders:
			s.Header[h.name] = h.filled()
		case inURL:
			s.URL = withPair(s.URL, h.index, h.name+"="+h.filled())
		default:
			s.Env[h.index] = h.name + "=" + h.filled()
		}
		list = append(list, h)
	}
	return s, list, nil
}

// maxNames is how many names are tried for one value.
const maxNames = 100

// place finds a name for a value: one that nothing else has.
func (p *program) place(c *config.Config, h *hidden, taken map[string]bool) error {
	dir, first := p.secretsDir(c), h.called
	for n := 1; n <= maxNames; n++ {
		if h.called = first; n > 1 {
			h.called = fmt.Sprintf("%s_%d", first, n)
		}
		h.path = filepath.Join(dir, h.called)
		if old, known := c.Secrets[h.called]; taken[h.called] || known && old.File != h.path {
			continue
		}
		switch text, err := hiddenAt(h.path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case text == h.bare:
			h.there = true
			return nil
		}
	}
	return fmt.Errorf("%s: got %d secrets called so, want fewer: remove those that nothing names", filepath.Join(dir, first), maxNames)
}

// keep writes values where only their user can read them. made are the files that
// were not there, also with an error.
func (p *program) keep(c *config.Config, list []hidden) (made []string, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	if err := makeHome(p.homeOf(c)); err != nil {
		return nil, err
	}
	if err := os.Mkdir(p.secretsDir(c), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	for _, h := range list {
		if h.there {
			continue
		}
		if err := keepNew(h.path, []byte(h.bare+"\n")); err != nil {
			return made, err
		}
		made = append(made, h.path)
	}
	return made, nil
}

// hiddenAt is a value that keep has written.
func hiddenAt(path string) (string, error) {
	text, err := readClient(path)
	return strings.TrimRight(string(text), "\r\n"), err
}

// forget removes files that were made for nothing.
func forget(made []string) (err error) {
	for _, path := range made {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// unhidden is a server with the values in it that hide has taken out.
func (p *program) unhidden(c *config.Config, s config.Server) config.Server {
	s.Env, s.Header = slices.Clone(s.Env), maps.Clone(s.Header)
	for _, name := range p.hiddenIn(c, s) {
		text, err := hiddenAt(c.Secrets[name].File)
		if err != nil {
			continue // it is another server then
		}
		shown := func(value string) string { return strings.ReplaceAll(value, "${secret:"+name+"}", text) }
		for i := range s.Env {
			s.Env[i] = shown(s.Env[i])
		}
		for key := range s.Header {
			s.Header[key] = shown(s.Header[key])
		}
		s.URL = strings.ReplaceAll(s.URL, "${secret:"+name+"}", url.QueryEscape(text))
	}
	return s
}

// hiddenIn are the secrets of a server that hide has made.
func (p *program) hiddenIn(c *config.Config, s config.Server) []string {
	dir := p.secretsDir(c)
	return slices.DeleteFunc(s.Secrets(), func(name string) bool { return filepath.Dir(c.Secrets[name].File) != dir })
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// restored is a file that is put back.
type restored struct {
	path  string
	was   []byte // up to now
	text  []byte // nil: it is removed, as it was not there
	exact bool   // it is what it was; else it was changed since
}

func (p *program) disconnectClient(_ context.Context, m mcpClient, f connecting) error {
	path, rules := p.files(m, f.user)
	old, err := readClient(before(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage("disconnect: %s is not connected: there is no %s", m.title, before(path))
	case err != nil:
		return fmt.Errorf("disconnect: %w", err)
	}
	list := make([]restored, 0, 2)
	r, err := putBack(path, old, func(now []byte) (back []byte, same bool, err error) { return serversBack(m, now, old) })
	if err != nil {
		return err
	}
	list = append(list, r)
	if rules != "" {
		if was, err := readClient(before(rules)); err == nil {
			r, err := putBack(rules, was, func(now []byte) ([]byte, bool, error) {
				wrote, err := withAllow(was)
				if err == nil && (bytes.Equal(wrote, now) || hooked(wrote, now)) {
					return was, true, nil
				}
				back, err := withoutAllow(now)
				if err == nil {
					back, err = withoutHook(back, was)
				}
				return back, false, err
			})
			if err != nil {
				return err
			}
			list = append(list, r)
		}
	}
	for _, r := range list {
		if err := p.giveBack(r, f.dry); err != nil {
			return fmt.Errorf("disconnect: %w: what was put back is what it was; disconnect again does the rest", err)
		}
	}
	if err := p.release(m, old, f); err != nil || f.dry {
		return err
	}
	for _, r := range slices.Backward(list) { // the first says that there is something to put back
		if err := os.Remove(before(r.path)); err != nil {
			return fmt.Errorf("disconnect: %w", err)
		}
		if dir := filepath.Dir(r.path); r.text == nil && dir != p.dir && dir != p.homeDir() {
			_ = os.Remove(dir) // if it is empty: it was made for it
		}
	}
	return nil
}

// putBack is what a file becomes. back says what of it as it is now.
func putBack(path string, old []byte, back func(now []byte) ([]byte, bool, error)) (r restored, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("disconnect: %s: %w: put %s back by hand", path, err, before(path))
		}
	}()
	r.path = path
	now, err := readClient(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was taken away: what it was comes back
		r.exact = true
	case err != nil:
		return r, err
	case bytes.Equal(now, old): // it is back already
		r.was, r.exact = now, true
	default:
		r.was = now
		if r.text, r.exact, err = back(now); err != nil {
			return r, err
		}
	}
	if r.exact {
		if r.text = old; len(old) == 0 {
			r.text = nil
		}
	}
	return r, nil
}

// serversBack is a client's file with its servers in it again; same: it is what
// connect made of the old one.
func serversBack(m mcpClient, now, old []byte) (back []byte, same bool, err error) {
	plain, comments := withoutComments(now)
	if comments {
		return nil, false, errors.New("it has comments, which would be lost")
	}
	servers, err := rawObject(plain, m.key)
	if err != nil {
		return nil, false, err
	}
	was, err := rawObject(plainOf(old), m.key)
	if err != nil {
		return nil, false, err
	}
	others := false // servers that were not there
	for name, raw := range servers {
		others = others || name != client && !sameJSON(was[name], raw)
	}
	raw, err := value(plain, m.key)
	if err != nil {
		return nil, false, err
	}
	wrote, err := put(plainOf(old), m.key, raw)
	if err == nil && hasInput(plain) {
		wrote, err = withInput(wrote)
	}
	if err == nil && bytes.Equal(wrote, now) && !others {
		return old, true, nil
	}
	if back, err = again(m, plain, plainOf(old)); err != nil || !hasInput(back) {
		return back, false, err
	}
	back, err = withoutInput(back)
	return back, false, err
}

// plainOf is a text without comments.
func plainOf(text []byte) []byte {
	plain, _ := withoutComments(text)
	return plain
}

func hasInput(text []byte) bool {
	raw, err := value(text, "inputs")
	return err == nil && strings.Contains(string(raw), `"`+tokenInput+`"`)
}

// withoutInput has VS Code no longer ask for the token.
func withoutInput(text []byte) ([]byte, error) {
	raw, err := value(text, "inputs")
	if err != nil {
		return nil, err
	}
	var inputs []map[string]any
	if err := json.Unmarshal(raw, &inputs); err != nil {
		return nil, err
	}
	list, err := indented(slices.DeleteFunc(inputs, func(i map[string]any) bool { return i["id"] == tokenInput }))
	if err != nil {
		return nil, err
	}
	return put(text, "inputs", list)
}

// sameJSON reports whether two texts say the same.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return a != nil && json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

func (p *program) giveBack(r restored, dry bool) error {
	word, note := "put back", ""
	if !r.exact {
		note = ": it was changed since connect, and that stays"
	}
	if dry {
		word = "would put back"
	}
	if r.text == nil {
		note = " (removed: it was not there)"
	}
	if !dry {
		if err := replace(r.path, r.was, r.text); err != nil {
			return err
		}
	}
	p.printf("%s %s%s\n", word, r.path, note)
	return nil
}

// release takes the servers of a client out of the configuration, but for those
// that are other ones now, or that another client of the folder has there.
func (p *program) release(m mcpClient, old []byte, f connecting) error {
	if len(bytes.TrimSpace(old)) == 0 {
		return nil
	}
	list, err := p.clientServers(plainOf(old))
	if err != nil {
		return nil //nolint:nilerr // it had none
	}
	c, err := p.load()
	if err != nil {
		return err
	}
	for _, o := range list {
		i := slices.IndexFunc(c.Servers, func(s config.Server) bool {
			return s.Name == o.server.Name && equalServers(p.unhidden(c, s), o.server)
		})
		if o.why != "" || i < 0 {
			continue
		}
		if other := p.alsoOf(m, o); other != "" {
			p.printf("%s stays in %s: %s has it there too\n", o.server.Name, config.Name, other)
			continue
		}
		if f.dry {
			p.printf("would remove %s from %s\n", o.server.Name, p.fileOf(c))
			p.sayKept(c, c.Servers[i])
			continue
		}
		s := c.Servers[i]
		c.Servers = slices.Delete(c.Servers, i, i+1) // another of the list may have become the same one
		if err := config.RemoveServer(p.fileOf(c), s.Name); err != nil {
			p.complain(fmt.Sprintf("ferrule: %s stays in %s: %s", s.Name, config.Name, err))
			continue
		}
		p.printf("removed %s from %s\n", s.Name, p.fileOf(c))
		p.sayKept(c, s)
	}
	if text, err := config.Read(p.fileOf(c)); err == nil && !f.dry && string(text) == "servers:\n" { // connect had made it
		if err := os.Remove(p.fileOf(c)); err != nil {
			return err
		}
		p.printf("removed %s, which was empty\n", p.fileOf(c))
	}
	return nil
}

// sayKept names the secrets of a server that are left when it is taken out.
func (p *program) sayKept(c *config.Config, s config.Server) {
	for _, name := range p.hiddenIn(c, s) {
		p.printf("  its secret %s stays: %s, and its line under secrets of %s\n", name, c.Secrets[name].File, config.Name)
	}
}

// alsoOf is another client that is connected here and had a server of that name.
func (p *program) alsoOf(m mcpClient, o offered) string {
	for _, other := range mcpClients() {
		for _, user := range []bool{false, true} {
			path, _ := p.files(other, user)
			old, err := readClient(before(path))
			if err != nil || other.name == m.name {
				continue
			}
			list, err := p.clientServers(plainOf(old))
			if err == nil && slices.ContainsFunc(list, func(x offered) bool { return x.server.Name == o.server.Name && x.why == "" }) {
				return other.title
			}
		}
	}
	return ""
}

package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/policy"
)

// AddAlways adds a rule to policy.always of a file, which is made if there is
// none. Comments and layout stay; the file is replaced at once or not at all, and
// what others do to it at the same time is not lost. A rule that is there already
// is left as it is.
func AddAlways(path string, a Always) error { return change(path, nil, &a) }

// RemoveAlways takes a rule out of policy.always of a file, as often and however
// it is written there. [policy.ErrNoGrant] where it is not in it.
func RemoveAlways(path string, a Always) error { return change(path, &a, nil) }

// ReplaceAlways puts one rule in the place of another.
func ReplaceAlways(path string, old, a Always) error { return change(path, &old, &a) }

// change takes old out and puts a in, where they are not nil.
func change(path string, old, a *Always) error {
	err := edit(path, "policy.always", func(before []byte, c *Config) ([]byte, *Config, error) {
		if a != nil {
			if err := a.check(c.Workspace); err != nil {
				return nil, nil, fmt.Errorf("policy.always: rule %q: %w", a.Rule, err)
			}
		}
		list := slices.Clone(c.Policy.Always)
		becomes := func(text string) ([]byte, *Config, error) {
			want := *c
			want.Policy.Always = list
			return []byte(text), &want, nil
		}
		e := editor{file: path, text: string(before)}
		find := func(one *Always) int {
			return slices.IndexFunc(list, func(o Always) bool { return o.Grant(c.Workspace).ID == one.Grant(c.Workspace).ID })
		}
		switch {
		case old == nil && find(a) >= 0:
			return before, c, nil
		case old == nil:
			list = append(list, *a)
			return becomes(e.add(a.item()))
		case find(old) < 0:
			return nil, nil, fmt.Errorf("policy.always: %q: %w", old.Rule, policy.ErrNoGrant)
		case a != nil && a.Grant(c.Workspace).ID == old.Grant(c.Workspace).ID:
			return before, c, nil
		case a != nil && find(a) < 0:
			i := find(old)
			e.text, list[i] = e.replace(i, a.item()), *a
		}
		for i := find(old); i >= 0; i = find(old) { // it may stand there twice
			e.text, list = e.remove(i), slices.Delete(list, i, i+1)
		}
		return becomes(e.text)
	})
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}

// attempts is how often an edit is begun anew because somebody who knows nothing
// of the lock has changed the file meanwhile.
const attempts = 5

// edit changes a file if what comes of it loads, and is what is wanted. what is what
// it changes.
func edit(path, what string, f func([]byte, *Config) (text []byte, want *Config, err error)) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	path, err = realFile(abs)
	if err != nil {
		return err
	}
	unlock, err := lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	for range attempts {
		if err = editOnce(path, filepath.Dir(abs), what, f); !errors.Is(err, errChanged) {
			return err
		}
	}
	return fmt.Errorf("%s: %w: try again", path, err)
}

func editOnce(path, dir, what string, f func([]byte, *Config) (text []byte, want *Config, err error)) error {
	before, err := Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := err == nil
	old, err := parse(path, dir, before)
	if err != nil {
		return err
	}
	text, want, err := f(before, old)
	if err != nil {
		return err
	}
	if bytes.Equal(text, before) && old.says(want) {
		return nil
	}
	got, err := parse(path, dir, text)
	if err == nil && !got.says(want) {
		err = errors.New("something else would change")
	}
	if err != nil {
		return fmt.Errorf("%s is laid out in a way that the program cannot change: edit %s by hand (%w)", path, what, err)
	}
	if !there {
		before = nil
	}
	return replaceFile(path, before, text)
}

// says reports whether two configurations say the same, wherever it stands, and in
// which order what has none.
func (c *Config) says(o *Config) bool {
	return maps.Equal(tally(c.Policy.Always), tally(o.Policy.Always)) && reflect.DeepEqual(c.rest(), o.rest())
}

// tally counts how often each stands in a list.
func tally(list []Always) map[Always]int {
	n := make(map[Always]int)
	for _, a := range list {
		n[a]++
	}
	return n
}

// rest is everything but policy.always, without places.
func (c *Config) rest() Config {
	rest := *c
	rest.Policy.Always, rest.Hooks, rest.Servers = nil, slices.Clone(c.Hooks), nil
	for i := range rest.Hooks {
		rest.Hooks[i].Line, rest.Hooks[i].Column = 0, 0
	}
	rest.Tools.Line, rest.Tools.Column = 0, 0
	for _, s := range c.Servers {
		s.Line, s.Column = 0, 0
		rest.Servers = append(rest.Servers, s)
	}
	slices.SortFunc(rest.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return rest
}

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
	err := edit(path, func(before []byte, c *Config) ([]byte, []Always, error) {
		if a != nil {
			if err := a.check(c.Workspace); err != nil {
				return nil, nil, fmt.Errorf("policy.always: rule %q: %w", a.Rule, err)
			}
		}
		list := slices.Clone(c.Policy.Always)
		e := editor{file: path, text: string(before)}
		find := func(one *Always) int {
			return slices.IndexFunc(list, func(o Always) bool { return o.Grant(c.Workspace).ID == one.Grant(c.Workspace).ID })
		}
		switch {
		case old == nil && find(a) >= 0:
			return before, list, nil
		case old == nil:
			return []byte(e.add(a.item())), append(list, *a), nil
		case find(old) < 0:
			return nil, nil, fmt.Errorf("policy.always: %q: %w", old.Rule, policy.ErrNoGrant)
		case a != nil && a.Grant(c.Workspace).ID == old.Grant(c.Workspace).ID:
			return before, list, nil
		case a != nil && find(a) < 0:
			i := find(old)
			e.text, list[i] = e.replace(i, a.item()), *a
		}
		for i := find(old); i >= 0; i = find(old) { // it may stand there twice
			e.text, list = e.remove(i), slices.Delete(list, i, i+1)
		}
		return []byte(e.text), list, nil
	})
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}

// attempts is how often an edit is begun anew because somebody who knows nothing
// of the lock has changed the file meanwhile.
const attempts = 5

// edit changes a file if what comes of it loads, has the wanted list, and is
// otherwise what it was.
func edit(path string, f func([]byte, *Config) (text []byte, want []Always, err error)) error {
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
		if err = editOnce(path, filepath.Dir(abs), f); !errors.Is(err, errChanged) {
			return err
		}
	}
	return fmt.Errorf("%s: %w: try again", path, err)
}

func editOnce(path, dir string, f func([]byte, *Config) (text []byte, want []Always, err error)) error {
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
	if bytes.Equal(text, before) && slices.Equal(want, old.Policy.Always) {
		return nil
	}
	got, err := parse(path, dir, text)
	if err == nil {
		same := maps.Equal(tally(got.Policy.Always), tally(want))
		if !same || !reflect.DeepEqual(got.rest(), old.rest()) {
			err = errors.New("something else would change")
		}
	}
	if err != nil {
		return fmt.Errorf("%s is laid out in a way that the program cannot change: edit policy.always by hand (%w)", path, err)
	}
	if !there {
		before = nil
	}
	return replaceFile(path, before, text)
}

// tally counts how often each stands in a list.
func tally(list []Always) map[Always]int {
	n := make(map[Always]int)
	for _, a := range list {
		n[a]++
	}
	return n
}

// rest is everything but policy.always, wherever it stands.
func (c *Config) rest() Config {
	rest := *c
	rest.Policy.Always, rest.Hooks = nil, slices.Clone(c.Hooks)
	for i := range rest.Hooks {
		rest.Hooks[i].Line, rest.Hooks[i].Column = 0, 0
	}
	return rest
}

package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/ferrule-dev/ferrule/policy"
)

// AddAlways adds a rule to policy.always of a file, which is made if there is
// none. Comments and layout stay; the file is replaced at once or not at all. A
// rule that is there already is left as it is.
func AddAlways(path, rule string) error { return change(path, "", rule) }

// RemoveAlways takes a rule, as it is written there, out of policy.always of a
// file. [policy.ErrNoGrant] where it is not in it.
func RemoveAlways(path, rule string) error { return change(path, rule, "") }

// ReplaceAlways puts one rule in the place of another.
func ReplaceAlways(path, old, rule string) error { return change(path, old, rule) }

// change takes old out and puts rule in, where they are not "".
func change(path, old, rule string) error {
	err := edit(path, func(before []byte, c *Config) ([]byte, []string, error) {
		list := slices.Clone(c.Policy.Always)
		if rule != "" {
			if _, err := policy.ParseRule(rule, c.Workspace); err != nil {
				return nil, nil, fmt.Errorf("policy.always: rule %q: %w", rule, err)
			}
		}
		e := editor{file: path, text: string(before)}
		switch i := slices.Index(list, old); {
		case old == "" && slices.Contains(list, rule):
			return before, list, nil
		case old == "":
			return []byte(e.add(rule)), append(list, rule), nil
		case i < 0:
			return nil, nil, fmt.Errorf("policy.always: %q: %w", old, policy.ErrNoGrant)
		case rule == "":
			for ; i >= 0; i = slices.Index(list, old) { // it may stand there twice
				e.text, list = e.remove(i), slices.Delete(list, i, i+1)
			}
			return []byte(e.text), list, nil
		default:
			list[i] = rule
			return []byte(e.replace(i, rule)), list, nil
		}
	})
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}

// edit changes a file if what comes of it loads, has the wanted list, and is
// otherwise what it was.
func edit(path string, f func([]byte, *Config) (text []byte, want []string, err error)) error {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	mode := fs.FileMode(0o644)
	if info, statErr := os.Stat(path); statErr == nil {
		mode = info.Mode().Perm()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(path)
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
		slices.Sort(want)
		slices.Sort(got.Policy.Always)
		same := slices.Equal(got.Policy.Always, want)
		got.Policy.Always, old.Policy.Always = nil, nil
		if !same || !reflect.DeepEqual(got, old) {
			err = errors.New("something else would change")
		}
	}
	if err != nil {
		return fmt.Errorf("%s is laid out in a way that the program cannot change: edit policy.always by hand (%w)", path, err)
	}
	return replaceFile(path, text, mode)
}

// replaceFile writes a file beside the old one and puts it in its place.
func replaceFile(path string, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".ferrule-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

package main

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/internal/config"
)

// commandOf is the hook that the configuration describes.
func commandOf(h config.Hook) ferrule.Command {
	return ferrule.Command{
		Name: h.Name, Run: h.Command, Dir: h.Dir, Env: h.Env, Timeout: h.Timeout,
		Only:  ferrule.Filter{Names: h.Only.Names, Tags: h.Only.Tags, Sources: h.Only.Sources},
		Input: slices.Contains(h.Events, "input"), Output: slices.Contains(h.Events, "output"),
	}
}

// hookList are the hooks of a configuration. The error says which could not be
// made, and where they stand.
func hookList(c *config.Config) (list []ferrule.Hook, err error) {
	var all config.Errors
	for _, h := range c.Hooks {
		hook, err := commandOf(h).Hook()
		if err != nil {
			all = append(all, &config.Error{File: c.File, Line: h.Line, Column: h.Column, Text: "hooks: " + err.Error()})
		}
		list = append(list, hook)
	}
	if all == nil {
		return list, nil
	}
	return nil, all
}

// hooksOf reports which hooks of a configuration could not be made.
func hooksOf(c *config.Config) error {
	_, err := hookList(c)
	return err
}

// protected are the files that decide what may run: no mode says yes to changes of
// them.
func (p *program) protected(c *config.Config) []string {
	list := append([]string{p.fileOf(c), p.homeOf(c), p.storeOf(c)}, c.Policy.Files...)
	root := filepath.FromSlash(c.Workspace)
	for _, h := range c.Hooks {
		if program, err := programOf(h.Command[0], h.Dir); err == nil {
			list = append(list, program)
		}
		list = append(list, filesAmong(h.Command[1:], cmp.Or(h.Dir, root))...)
	}
	for _, s := range c.Servers {
		if len(s.Command) == 0 {
			continue
		}
		if program, err := programOf(s.Command[0], cmp.Or(s.Dir, root)); err == nil {
			list = append(list, program)
		}
		list = append(list, filesAmong(s.Command[1:], cmp.Or(s.Dir, root))...)
	}
	list = withTargets(list)
	for i, name := range list {
		list[i] = filepath.ToSlash(name)
	}
	return list
}

// filesAmong are the files that arguments name, also behind a flag's =: what an
// interpreter runs is one of them.
func filesAmong(args []string, dir string) (list []string) {
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		if arg == "" {
			continue
		}
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(dir, arg)
		}
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			list = append(list, arg)
		}
	}
	return list
}

// withTargets are paths, and behind them what those that are symlinks, or lie below
// one, lead to: tools name files without symlinks.
func withTargets(list []string) []string {
	for _, name := range slices.Clone(list) {
		if target, err := filepath.EvalSymlinks(name); err == nil && !slices.Contains(list, target) {
			list = append(list, target)
		}
	}
	return list
}

// programOf is the file that a hook or a server runs.
func programOf(name, dir string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("no program")
	case filepath.Base(name) == name:
		return exec.LookPath(name)
	case filepath.IsAbs(name):
		return filepath.Clean(name), nil
	}
	return filepath.Join(dir, name), nil
}

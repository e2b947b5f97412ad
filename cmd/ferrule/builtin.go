package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/undo"
)

// absent is a tool that is not offered, and why.
type absent struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// together names tools that are not offered for the same reason in one breath.
func together(list []absent) (groups []absent) {
	for _, a := range list {
		if last := len(groups) - 1; last >= 0 && groups[last].Why == a.Why {
			groups[last].Name += ", " + a.Name
			continue
		}
		groups = append(groups, a)
	}
	return groups
}

// tools are those that come with the program, as the configuration wants them.
// state is where they keep what outlives a process, names are those that are needed
// (nil: all). What cannot be had on this machine is missing, and says why.
func (p *program) tools(ctx context.Context, c *config.Config, state string, names []string) (list []*tool.Tool, missing []absent, err error) {
	groups := p.toolGroups(ctx, c, state)
	for _, group := range groups {
		if !group.needed(names, groups) {
			continue
		}
		why := ""
		if !c.Tools.Has(group.name) {
			why = "tools." + group.name + " is false in the configuration"
		} else {
			made, err := group.make()
			if err == nil {
				list = append(list, made...)
				continue
			}
			if why = lacking(err); why == "" {
				if _, placed := errors.AsType[*config.Error](err); !placed {
					err = fmt.Errorf("tools.%s: %w", group.name, err)
				}
				return nil, nil, &status{statusUsage, err}
			}
		}
		for _, name := range group.tools {
			missing = append(missing, absent{name, why})
		}
	}
	return list, missing, nil
}

// toolGroup is what one key of the configuration switches on.
type toolGroup struct {
	name  string
	tools []string // their names, where they are not made
	make  func() ([]*tool.Tool, error)
}

// needed reports whether one of names is a tool of the group, or of none: who asks for
// that is to hear what is near. The others are not made, as that takes its time: to say
// what a command would get, one is isolated.
func (g toolGroup) needed(names []string, all []toolGroup) bool {
	return names == nil || slices.ContainsFunc(names, func(name string) bool {
		has := func(g toolGroup) bool { return slices.Contains(g.tools, name) }
		return has(g) || !slices.ContainsFunc(all, has)
	})
}

func (p *program) toolGroups(ctx context.Context, c *config.Config, state string) []toolGroup {
	one := func(t *tool.Tool, err error) ([]*tool.Tool, error) { return []*tool.Tool{t}, err }
	return []toolGroup{
		{"files", []string{"fs_read", "fs_write", "fs_edit", "fs_list", "fs_glob", "fs_grep"}, func() ([]*tool.Tool, error) { return p.fileTools(ctx, c, state) }},
		{"shell", []string{"shell", "process_list", "process_read", "process_stop"}, func() ([]*tool.Tool, error) { return p.shellTools(c, state) }}, //nolint:contextcheck // what looks for an engine bounds itself
		{"fetch", []string{"fetch"}, func() ([]*tool.Tool, error) { return one(fetchTool(c)) }},
		{"think", []string{"think"}, func() ([]*tool.Tool, error) { return one(builtin.Think{}.Tool()) }},
		{"ask_user", []string{"ask_user"}, func() ([]*tool.Tool, error) { return one(builtin.AskUser{}.Tool()) }},
	}
}

// lacking is what this machine lacks for tools that could not be made; "": it is
// the configuration that is wrong.
func lacking(err error) string {
	var level *sandbox.Unavailable
	switch {
	case errors.As(err, &level):
		return fmt.Sprintf("commands cannot be isolated here (level %s): %s; sandbox.weaker in ferrule.yaml says what will do instead", level.Level, level.Why)
	case errors.Is(err, exec.ErrNotFound):
		return "commands need bash, which is not on PATH"
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return err.Error()
	}
	return ""
}

// fetchTool is the tool that opens pages. Its error says where in the configuration
// a host stands that is none.
func fetchTool(c *config.Config) (*tool.Tool, error) {
	t, err := builtin.Fetch{Hosts: c.Tools.Hosts}.Tool()
	if err != nil {
		return nil, &config.Error{File: c.File, Line: c.Tools.Line, Column: c.Tools.Column, Text: "tools.fetch.hosts: " + strings.TrimPrefix(err.Error(), "fetch: hosts: ")}
	}
	return t, nil
}

func (p *program) fileTools(ctx context.Context, c *config.Config, state string) ([]*tool.Tool, error) {
	history, err := undo.Open(ctx, filepath.Join(state, undoDir))
	if err != nil {
		return nil, err
	}
	return builtin.Files{
		Roots: []string{filepath.FromSlash(c.Workspace)}, Protected: p.protected(c), Hidden: p.hidden(c), Undo: history,
	}.Tools()
}

func (p *program) shellTools(c *config.Config, state string) ([]*tool.Tool, error) {
	s := c.Sandbox
	return builtin.Shell{
		Workspace: []string{filepath.FromSlash(c.Workspace)}, Sandbox: p.sandboxOf(c, state), Longest: s.Time, Output: int(s.Output),
	}.Tools()
}

// sandboxOf is how commands are isolated.
func (p *program) sandboxOf(c *config.Config, state string) sandbox.Config {
	s := c.Sandbox
	box := sandbox.Config{
		Helper: p.helper, Level: sandbox.Level(s.Level), Weaker: sandbox.Level(s.Weaker), Network: networkOf(c),
		Read: s.Read, Write: s.Write, Hidden: p.hidden(c), State: filepath.Join(state, "sandbox"), Image: s.Image,
		Limits: sandbox.Limits{Memory: s.Memory, Processes: s.Processes, Files: s.Files},
	}
	root := filepath.FromSlash(c.Workspace)
	// What a person, or this program, obeys or runs later.
	box.Protected = []string{filepath.Join(root, config.Name), filepath.Join(root, ".git", "hooks"), filepath.Join(root, ".git", "config")}
	for _, name := range p.protected(c) {
		name = filepath.FromSlash(name)
		hidden := slices.ContainsFunc(box.Hidden, func(h string) bool { return name == h || strings.HasPrefix(name, h+string(filepath.Separator)) })
		if !hidden && !slices.Contains(box.Protected, name) {
			box.Protected = append(box.Protected, name)
		}
	}
	for _, e := range s.Env {
		if name, _, given := strings.Cut(e, "="); !given {
			value := p.env(name)
			if value == "" {
				continue // it is not set here either
			}
			e = name + "=" + value
		}
		box.Env = append(box.Env, e)
	}
	return box
}

// networkOf is what commands reach. A loopback of their own opens nothing, and
// tests with a server of their own need it.
func networkOf(c *config.Config) sandbox.Network {
	return sandbox.Network(cmp.Or(c.Sandbox.Network, string(sandbox.Loopback)))
}

// hidden are the files that no tool may even read: the state of the program, with
// what was asked and answered, and copies of every file, and the key of its address.
func (p *program) hidden(c *config.Config) []string {
	list := []string{filepath.Join(filepath.FromSlash(c.Workspace), ".ferrule"), p.homeOf(c)}
	if path := p.storeOf(c); filepath.Dir(path) != p.homeOf(c) {
		list = append(list, path, path+"-wal", path+"-shm", path+store.OwnersSuffix)
	}
	if c.Listen.Key != "" {
		list = append(list, c.Listen.Key)
	}
	list = withTargets(list)
	slices.Sort(list)
	return slices.Compact(list)
}

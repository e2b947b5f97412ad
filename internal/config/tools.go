package config

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Tools says which tools of Ferrule's own are offered. The zero value offers all
// of them. A single tool is taken away by a rule that denies it.
type Tools struct {
	// Written: the file says something about them.
	Written bool
	// Without are the groups that are not offered, of files, shell, fetch, think and ask_user.
	Without []string
	// Hosts are those that fetch opens although they are not public. Line and Column
	// are where they stand in the file; 0: they do not.
	Hosts        []string
	Line, Column int
}

// groups are the groups of tools that can be left out.
func groups() []string { return []string{"files", "shell", "fetch", "think", "ask_user"} }

// Has reports whether a group of tools is offered.
func (t Tools) Has(group string) bool { return !slices.Contains(t.Without, group) }

// Sandbox says how commands that models write are isolated. Every zero field is
// the default of package sandbox.
type Sandbox struct {
	// Level is the least that will do: process, namespace or container; "":
	// process. Weaker is what will do where that cannot be had: in-process (which
	// is no isolation), process or namespace; "": nothing.
	Level, Weaker string
	// Network is what commands reach: off, loopback or open; "": the program's default.
	Network string
	// Read and Write are paths beside the workspace, absolute.
	Read, Write []string
	// Time, Memory (bytes), Processes, Files (open ones) and Output (bytes) bound
	// each command.
	Time             time.Duration
	Memory, Output   int64
	Processes, Files int
	// Image is that of level container.
	Image string
	// Env is what commands are given of the environment beside the little that
	// each is given: names of variables, or NAME=value.
	Env []string
	// Workspace is the folder that the process of a server writes, absolute; "": that
	// of the configuration. Commands have that of the configuration always.
	Workspace string
}

func (r *reader) tools(n *yaml.Node, t *Tools) {
	r.fields(n, "tools", groups(), func(key string, v *yaml.Node) {
		what := "tools." + key
		switch {
		case v.Kind == yaml.ScalarNode && v.Tag == "!!null": // as where it is not there
		case key == "fetch" && v.Kind == yaml.MappingNode:
			r.fields(v, what, []string{"hosts"}, func(_ string, v *yaml.Node) {
				t.Hosts, t.Line, t.Column = r.texts(v, what+".hosts"), v.Line, v.Column
			})
		default:
			if !r.yes(v, what) {
				t.Without = append(t.Without, key)
			}
		}
	})
}

func (r *reader) sandbox(n *yaml.Node, s *Sandbox) {
	keys := []string{"level", "weaker", "network", "read", "write", "time", "memory", "processes", "files", "output", "image", "env"}
	levels := []string{"in-process", "process", "namespace", "container"}
	r.fields(n, "sandbox", keys, func(key string, v *yaml.Node) {
		what := "sandbox." + key
		switch {
		case v.Kind == yaml.ScalarNode && v.Tag == "!!null":
			return
		case key == "level":
			s.Level = r.word(v, what, levels[1:]...)
		case key == "weaker":
			s.Weaker = r.word(v, what, levels[:3]...)
		case key == "network":
			s.Network = r.word(v, what, "off", "loopback", "open")
		case key == "read":
			s.Read = r.paths(v, what)
		case key == "write":
			s.Write = r.paths(v, what)
		case key == "time":
			s.Time = r.span(v, what)
		case key == "memory":
			s.Memory = r.size(v, what)
		case key == "output":
			s.Output = r.size(v, what)
		case key == "processes":
			s.Processes = r.positive(v, what)
		case key == "files":
			s.Files = r.positive(v, what)
		case key == "image":
			s.Image = r.said(v, what)
		case key == "env":
			s.Env = r.variables(v, what)
		}
	})
	if level := cmp.Or(s.Level, "process"); s.Weaker != "" && slices.Index(levels, s.Weaker) >= slices.Index(levels, level) {
		_, v := child(n, "weaker")
		r.fault(v, "sandbox.weaker: got %s, want a level below %s, which is the one that is wanted", s.Weaker, level)
	}
}

// word is one of a few texts. YAML reads off as such, and so does a person.
func (r *reader) word(n *yaml.Node, what string, want ...string) string {
	if n.Kind != yaml.ScalarNode || !slices.Contains(want, n.Value) {
		list := strings.Join(want[:len(want)-1], ", ") + " or " + want[len(want)-1]
		r.fault(n, "%s: got %s, want %s", what, kindOf(n), list)
		return ""
	}
	return n.Value
}

// paths is a list of paths, made absolute.
func (r *reader) paths(n *yaml.Node, what string) (list []string) {
	for _, p := range r.texts(n, what) {
		list = append(list, filepath.Clean(r.path(p)))
	}
	return list
}

// positive is a whole number from 1 on.
func (r *reader) positive(n *yaml.Node, what string) int {
	before := len(r.errs)
	v := r.number(n, what)
	if len(r.errs) == before && v < 1 {
		r.fault(n, "%s: got %d, want 1 or more", what, v)
	}
	return v
}

// size is a number of bytes: a whole number, or one with K, M or G behind it.
func (r *reader) size(n *yaml.Node, what string) int64 {
	number, unit := n.Value, int64(1)
	for i, letter := range []string{"K", "M", "G"} {
		if rest, ok := strings.CutSuffix(number, letter); ok {
			number, unit = rest, 1<<(10*(i+1))
			break
		}
	}
	v, err := strconv.ParseInt(number, 10, 64)
	if n.Kind != yaml.ScalarNode || err != nil || v < 1 || v > math.MaxInt64/unit {
		r.fault(n, "%s: got %s, want a number of bytes such as 512M or 2G", what, kindOf(n))
		return 0
	}
	return v * unit
}

// variables is a list of names of variables, or of NAME=value.
func (r *reader) variables(n *yaml.Node, what string) (list []string) {
	for _, item := range r.items(n, what, "names of variables, or NAME=value") {
		s, ok := r.text(item, what)
		switch name, _, _ := strings.Cut(s, "="); {
		case !ok:
		case name == "" || strings.ContainsAny(name, " \t\x00"):
			r.fault(item, "%s: got %q, want the name of a variable, or NAME=value", what, s)
		default:
			list = append(list, s)
		}
	}
	return list
}

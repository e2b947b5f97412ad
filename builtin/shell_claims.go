package builtin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/shell"
	"github.com/ferrule-dev/ferrule/tool"
)

// shellJudge judges a line as it will be run. Where not all commands are known,
// nor is it known how git is run.
func shellJudge(line string) shell.Judgement {
	j := shell.Judge(line)
	if j.ReadOnly && j.Git && (j.Commands == nil || !shellGitPlain(j.Commands)) {
		j.ReadOnly, j.Why = false, "git is not run by its plain name, or may not be, so what its configuration runs cannot be switched off"
	}
	return j
}

// claims are what a line is judged to do. What goes on in the background is more
// than a read: the process outlasts the call.
func (h *shellHost) claims(in shellInput) tool.Claims {
	j := shellJudge(in.Command)
	c := tool.Claims{
		ReadOnly: j.ReadOnly && !in.Background,
		Local:    j.Local && j.ReadOnly || h.shut(),
	}
	if dir, err := h.dir(in.Dir); err == nil && !in.Background {
		c.Touches = h.touches(j, dir)
	}
	if c.Touches == nil && !h.applied.Level.AtLeast(sandbox.Process) {
		c.ReadOnly = false // nothing keeps it from reading a key: only named files of the workspace are read unasked
	}
	return c
}

// shut reports whether commands cannot reach outside this machine.
func (h *shellHost) shut() bool {
	return h.applied.Level.AtLeast(sandbox.Process) && (h.applied.Network == sandbox.Off || h.applied.Network == sandbox.Loopback)
}

// isConfined reports whether commands change nothing but the workspace, less what
// is protected there, and reach nothing.
func (h *shellHost) isConfined(a sandbox.Applied) bool {
	inside := !slices.ContainsFunc(h.config.Write, func(p string) bool { return !shellBelow(filepath.Clean(p), h.roots) })
	return a.Level.AtLeast(sandbox.Process) && (a.Network == sandbox.Off || a.Network == sandbox.Loopback) && len(a.Missing) == 0 && inside
}

// touches are the files that a line reads and writes, where each can be named and
// lies in the workspace; nil: that cannot be said. A folder is not named, because
// what lies in it may lead out of it, nor is a file that is not there yet, unless
// the line makes it.
func (h *shellHost) touches(j shell.Judgement, dir string) []tool.Access {
	if j.Reads == nil || j.Writes == nil && !j.ReadOnly || j.Commands == nil {
		return nil
	}
	list := []tool.Access{}
	for _, p := range j.Reads {
		file, ok := h.file(p, dir, false)
		if !ok {
			return nil
		}
		list = append(list, tool.Access{Resource: "file:" + file})
	}
	for _, p := range j.Writes {
		file, ok := h.file(p, dir, true)
		if !ok {
			return nil
		}
		list = append(list, tool.Access{Resource: "file:" + file, Write: true})
	}
	if (tool.Claims{Touches: list}).Check() != nil {
		return nil // a name that has no one spelling
	}
	return list
}

// file is the one name of a file that a line names, with slashes.
func (h *shellHost) file(given, dir string, made bool) (string, bool) {
	if given == "" || given[0] == '~' {
		return "", false
	}
	if !filepath.IsAbs(given) {
		given = filepath.Join(dir, given)
	}
	target, err := filepath.EvalSymlinks(given)
	if err != nil && made && os.IsNotExist(err) {
		if _, err := os.Lstat(given); err == nil {
			return "", false // a link that leads nowhere yet
		}
		var folder string
		if folder, err = filepath.EvalSymlinks(filepath.Dir(given)); err == nil {
			target = filepath.Join(folder, filepath.Base(given))
		} else {
			return "", false
		}
	} else if err != nil {
		return "", false
	} else if info, err := os.Stat(target); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	return filepath.ToSlash(target), shellBelow(target, h.roots)
}

// facts are what rules match. The commands are all of the line, or not known.
func (h *shellHost) facts(in shellInput) (tool.Facts, error) {
	dir, err := h.dir(in.Dir)
	if err != nil {
		return tool.Facts{}, err
	}
	j := shellJudge(in.Command)
	f := tool.Facts{Commands: j.Commands, Confined: h.confined}
	if h.shut() {
		f.Hosts = []string{}
	}
	for _, t := range h.touches(j, dir) {
		f.Paths = append(f.Paths, strings.TrimPrefix(t.Resource, "file:"))
	}
	return f, nil
}

// scopes are the rules that a person may choose from. A rule must cover the files
// of a call too where they are known, so it names their folder.
func (h *shellHost) scopes(in shellInput) ([]string, error) {
	dir, err := h.dir(in.Dir)
	if err != nil {
		return nil, err
	}
	list := shell.Scopes(in.Command)
	files := h.touches(shellJudge(in.Command), dir)
	if len(files) == 0 {
		return list, nil
	}
	var folders strings.Builder
	for _, root := range h.roots {
		below := func(a tool.Access) bool { return shellBelow(strings.TrimPrefix(a.Resource, "file:"), []string{root}) }
		if slices.ContainsFunc(files, below) {
			folders.WriteString(", path: " + strconv.Quote(filepath.ToSlash(root)+"/**"))
		}
	}
	for i := range list {
		list[i] += folders.String()
	}
	return list, nil
}

// preview is what a person reads before the command runs.
func (h *shellHost) preview(_ context.Context, in shellInput) (string, error) {
	dir, err := h.dir(in.Dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if in.Description != "" {
		fmt.Fprintf(&b, "# %s\n", strings.Join(strings.Fields(in.Description), " "))
	}
	fmt.Fprintf(&b, "%s\nin %s, isolated: %s", in.Command, dir, shellLevel(h.applied))
	for _, gap := range h.applied.Missing {
		b.WriteString("\nnote: " + gap)
	}
	if in.Background {
		b.WriteString("\nit goes on in the background until it ends, is stopped, or the session ends")
	}
	switch j := shellJudge(in.Command); {
	case j.ReadOnly && h.applied.Level.AtLeast(sandbox.Process):
		b.WriteString("\nit only reads: it runs without the right to write")
	case j.ReadOnly:
		b.WriteString("\nit is judged to read only, and nothing here keeps it from writing")
	case j.Why != "":
		b.WriteString("\nit may change something: " + j.Why)
	}
	return b.String(), nil
}

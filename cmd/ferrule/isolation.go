package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/sandbox"
)

// examineIsolation says how commands that models write can be isolated here, and
// which tools there are not because of that. c is nil where the configuration is
// wrong.
func (p *program) examineIsolation(ctx context.Context, c *config.Config) (all []finding) {
	for _, s := range sandbox.Probe(p.helper) { //nolint:contextcheck // it bounds itself
		f := finding{"isolation", "ok", fmt.Sprintf("%s: can be had", s.Level)}
		if !s.Available {
			f.State, f.Text = "missing", fmt.Sprintf("%s: cannot be had", s.Level)
		}
		if s.Why != "" {
			f.Text += ": " + s.Why
		}
		all = append(all, f)
	}
	for _, name := range []string{"bash", "git", "bwrap", "docker", "podman"} {
		f := finding{name, "missing", "not installed"}
		if path, err := exec.LookPath(name); err == nil {
			f.State, f.Text = "ok", path
		}
		all = append(all, f)
	}
	if c == nil {
		return all
	}
	return append(all, p.examineTools(ctx, c)...)
}

// examineCommands says what commands get by the configuration, which may be less
// than what can be had.
func (p *program) examineCommands(c *config.Config, state string) (all []finding) {
	box := p.sandboxOf(c, state)
	box.Workspace = []string{filepath.FromSlash(c.Workspace)}
	made, err := sandbox.New(box)
	if err != nil {
		return nil // the tools that there are not say why
	}
	a := made.Applied()
	if err := made.Close(); err != nil {
		return []finding{{"commands", "failed", err.Error()}}
	}
	f := finding{"commands", "ok", fmt.Sprintf("run at level %s", a.Level)}
	if a.Level == sandbox.InProcess {
		f.State = "missing"
	}
	for _, gap := range a.Missing {
		f.Text += "\nnote: " + gap
	}
	return []finding{f, {"network", "ok", networkText(a.Network)}}
}

// networkText is what commands reach, in words.
func networkText(network sandbox.Network) string {
	switch network {
	case sandbox.Loopback:
		return "loopback: commands reach one another on a loopback of their own, and nothing else"
	case sandbox.Open:
		return "open: commands reach whatever this machine does"
	case sandbox.Off:
	}
	return "off: commands reach nothing"
}

// examineTools says which tools there are, and which not.
func (p *program) examineTools(ctx context.Context, c *config.Config) (all []finding) {
	state, done, err := lookingIn()
	if err != nil {
		return []finding{{"tools", "failed", err.Error()}}
	}
	if c.Tools.Has("shell") {
		all = p.examineCommands(c, state) //nolint:contextcheck // it bounds itself
	}
	list, missing, err := p.tools(ctx, c, state, nil)
	if err := errors.Join(err, done()); err != nil {
		return append(all, finding{"tools", "failed", err.Error()})
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	all = append(all, finding{"tools", "ok", strings.Join(names, ", ")})
	for _, a := range together(missing) {
		all = append(all, finding{"not offered", "missing", a.Name + ": " + a.Why})
	}
	return all
}

// lookingIn is a state directory for who only looks, which done removes.
func lookingIn() (dir string, done func() error, err error) {
	if dir, err = os.MkdirTemp("", "ferrule-"); err != nil {
		return "", nil, err
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

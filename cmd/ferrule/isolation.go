package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/store"
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
	all = append(all, finding{"network", "ok", networkText(c.Sandbox.Network)})
	return append(all, p.examineTools(ctx, c)...)
}

// networkText is what commands reach, in words.
func networkText(network string) string {
	switch sandbox.Network(cmp.Or(network, string(sandbox.Off))) {
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
	state, done, err := lookingIn(p.homeOf(c))
	if err != nil {
		return []finding{{"tools", "failed", err.Error()}}
	}
	list, missing, err := p.tools(ctx, c, state)
	if err := errors.Join(err, done()); err != nil {
		return []finding{{"tools", "failed", err.Error()}}
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	all = append(all, finding{"tools", "ok", strings.Join(names, ", ")})
	for _, a := range missing {
		all = append(all, finding{"tool " + a.Name, "missing", a.Why})
	}
	return all
}

// lookingIn is a state directory for who only looks: the one that is there, else
// one that done removes.
func lookingIn(home string) (dir string, done func() error, err error) {
	if info, err := os.Stat(home); err == nil && info.IsDir() && store.Closed(home) == nil {
		return home, func() error { return nil }, nil
	}
	if dir, err = os.MkdirTemp("", "ferrule-"); err != nil {
		return "", nil, err
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}
